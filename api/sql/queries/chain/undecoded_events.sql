-- list: deployment at after limit
-- tag: Activity
-- summary: Undecoded events
-- about: Events that do not fit the catalogue, the newest first. Their bytes are kept, and not shown.
-- answer: UndecodedEvents of UndecodedEvent
-- schema: UndecodedEvent
--   id                EventId  Stellar RPC's id of the event
--   ledger            Ledger   in which it happened
--   closedAt          Time     when that ledger closed
--   txHash            Hash?    of the transaction; null where the index does not hold it
--   contract          Address  that emitted it
--   undecodedBecause  string   why it could not be decoded
--
-- Events that could not be decoded, the newest first, over the primary key. Their bytes are kept, and not shown: their
-- content is unknown.
SELECT row_to_json(x)::text, r.ledger || '.' || r.tx || '.' || r.op || '.' || r.event
FROM event.raw AS r, LATERAL (SELECT
    chain.event_id(r.ledger, r.tx, r.op, r.event) AS "id",
    r.ledger::text AS "ledger",
    chain.rfc3339(r.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = r.ledger AND t.tx = r.tx) AS "txHash",
    r.contract AS "contract",
    r.reason AS "undecodedBecause"
  ) AS x
WHERE r.deployment = $1::smallint AND r.ledger <= $2::integer
  AND ($3::text IS NULL OR (r.ledger <= split_part($3, '.', 1)::integer
    AND (r.ledger, r.tx, r.op, r.event) < (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
      split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer)))
ORDER BY r.ledger DESC, r.tx DESC, r.op DESC, r.event DESC
LIMIT $4::integer
