-- list: deployment at after limit proposalId
-- of: proposal
-- tag: Governance
-- summary: Votes on a proposal
-- about: Newest first.
-- answer: ProposalVotes of Vote
-- schema: Vote
--   id        EventId  Stellar RPC's id of the event
--   ledger    Ledger   in which it happened
--   closedAt  Time     when that ledger closed
--   txHash    Hash?    of the transaction; null where the index does not hold it
--   voter     Address  the voter
--   support   boolean  in favour
--   weight    Weight   weight of the vote
-- example: {"id":"0018682901579268096-0000000000", "ledger":"1062", "closedAt":"2026-01-13T10:54:20Z",
--   "txHash":"ad3e11de8344e462d77a93f5e79205289c4d7ec0acc379ff5aa0f174b268e632",
--   "voter":"GBQ4ZKZ5VHWOYJEBUV5CPENB7IJU7VF3UMWKNWM3CQWUOE4NXQPEIW6J", "support":true, "weight":"1"}
--
-- Votes, the newest first. Ids may be used again: only votes since the id was last proposed count.
SELECT row_to_json(x)::text, y.ledger || '.' || y.tx || '.' || y.op || '.' || y.event
FROM (
    SELECT p.ledger, p.tx, p.op, p.event FROM event.dao_governance_proposed AS p
    WHERE p.deployment = $1::smallint AND p.proposal_id = $5::numeric AND p.ledger <= $2::integer
    ORDER BY p.ledger DESC, p.tx DESC, p.op DESC, p.event DESC LIMIT 1
  ) AS p, event.dao_governance_voted AS y, LATERAL (SELECT
    chain.event_id(y.ledger, y.tx, y.op, y.event) AS "id",
    y.ledger::text AS "ledger",
    chain.rfc3339(y.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = y.ledger AND t.tx = y.tx) AS "txHash",
    y.voter AS "voter",
    y.support AS "support",
    y.weight::text AS "weight"
  ) AS x
WHERE y.deployment = $1 AND y.proposal_id = $5::numeric AND y.ledger <= $2 AND y.ledger >= p.ledger
  AND (y.ledger, y.tx, y.op, y.event) > (p.ledger, p.tx, p.op, p.event)
  AND ($3::text IS NULL OR (y.ledger, y.tx, y.op, y.event) < (split_part($3, '.', 1)::integer,
    split_part($3, '.', 2)::integer, split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer))
  AND ($3::text IS NULL OR y.ledger <= split_part($3, '.', 1)::integer)
ORDER BY y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC
LIMIT $4::integer
