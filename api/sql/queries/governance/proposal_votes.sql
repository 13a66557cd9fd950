-- list: deployment at after limit from to order proposalId
-- of: proposal
-- tag: Governance
-- summary: Votes on a proposal
-- about: By time.
-- answer: ProposalVotes of Vote
--
-- Votes. Ids may be used again: only votes since the id was last proposed count.
SELECT row_to_json(x)::text, e.ledger || '.' || e.tx || '.' || e.op || '.' || e.event
FROM (
    SELECT p.ledger, p.tx, p.op, p.event FROM (
        (SELECT p.ledger, p.tx, p.op, p.event FROM event.dao_governance_proposed AS p
        WHERE p.deployment = $1::smallint AND p.proposal_id = $8::numeric AND p.ledger <= $2::integer
        ORDER BY p.ledger DESC, p.tx DESC, p.op DESC, p.event DESC LIMIT 1)
        UNION ALL
        -- proposed before the past that is known
        SELECT o.ledger, 0, 0, 0 FROM chain.start AS o WHERE o.deployment = $1
      ) AS p
    ORDER BY p.ledger DESC, p.tx DESC, p.op DESC, p.event DESC LIMIT 1
  ) AS p, event.dao_governance_voted AS e, LATERAL (SELECT e.*) AS y,
-- part: vote_item
WHERE e.proposal_id = $8::numeric AND e.ledger >= p.ledger
  AND (e.ledger, e.tx, e.op, e.event) > (p.ledger, p.tx, p.op, p.event) AND
-- part: event_where
-- part: event_order
LIMIT $4::integer
