-- list: deployment at after limit from to order
-- tag: Activity
-- summary: Undecoded events
-- about: Events that do not fit the catalogue, by time. Their bytes are kept, and not shown.
-- answer: UndecodedEvents of UndecodedEvent
-- schema: UndecodedEvent
--   id                EventId  Stellar RPC's id of the event
--   ledger            Ledger   in which it happened
--   closedAt          Time     when that ledger closed
--   txHash            Hash?    of the transaction; null where the index does not hold it
--   contract          Address  that emitted it
--   undecodedBecause  string   why it could not be decoded
--
-- Events that could not be decoded, by time, over the primary key. Their bytes are kept, and not shown: their
-- content is unknown.
SELECT row_to_json(x)::text, e.ledger || '.' || e.tx || '.' || e.op || '.' || e.event
FROM event.raw AS e, LATERAL (SELECT
    chain.event_id(e.ledger, e.tx, e.op, e.event) AS "id",
    e.ledger::text AS "ledger",
    chain.rfc3339(e.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = e.ledger AND t.tx = e.tx) AS "txHash",
    e.contract AS "contract",
    e.reason AS "undecodedBecause"
  ) AS x
WHERE
-- part: event_found
-- part: event_where
-- part: event_order
LIMIT $4::integer
