-- list: deployment at after limit proposalId
-- of: proposal
-- tag: Governance
-- summary: Votes on a proposal
-- about: Newest first.
-- answer: ProposalVotes of Vote
--
-- Votes, the newest first. Ids may be used again: only votes since the id was last proposed count.
SELECT row_to_json(x)::text, y.ledger || '.' || y.tx || '.' || y.op || '.' || y.event
FROM (
    SELECT p.ledger, p.tx, p.op, p.event FROM event.dao_governance_proposed AS p
    WHERE p.deployment = $1::smallint AND p.proposal_id = $5::numeric AND p.ledger <= $2::integer
    ORDER BY p.ledger DESC, p.tx DESC, p.op DESC, p.event DESC LIMIT 1
  ) AS p, event.dao_governance_voted AS y,
-- part: vote_item
WHERE y.deployment = $1 AND y.proposal_id = $5::numeric AND y.ledger <= $2 AND y.ledger >= p.ledger
  AND (y.ledger, y.tx, y.op, y.event) > (p.ledger, p.tx, p.op, p.event)
  AND ($3::text IS NULL OR (y.ledger, y.tx, y.op, y.event) < (split_part($3, '.', 1)::integer,
    split_part($3, '.', 2)::integer, split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer))
  AND ($3::text IS NULL OR y.ledger <= split_part($3, '.', 1)::integer)
ORDER BY y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC
LIMIT $4::integer
