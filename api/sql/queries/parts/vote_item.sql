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
LATERAL (SELECT
    chain.event_id(y.ledger, y.tx, y.op, y.event) AS "id",
    y.ledger::text AS "ledger",
    chain.rfc3339(y.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = y.ledger AND t.tx = y.tx) AS "txHash",
    y.voter AS "voter",
    y.support AS "support",
    y.weight::text AS "weight"
  ) AS x
