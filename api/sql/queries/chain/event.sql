-- one: deployment id
-- none: there is no event of that id
-- tag: Activity
-- summary: One event
-- about: By Stellar RPC's id, also if it could not be decoded.
-- answer: EventAnswer
--   event               object      the event
--     id                EventId     Stellar RPC's id of the event
--     ledger            Ledger      in which it happened
--     closedAt          Time        when that ledger closed
--     txHash            Hash?       of the transaction; null where the index does not hold it
--     innerTxHash       Hash?       of the transaction in a fee bump; null: no fee bump, or the index does not hold it
--     tx                integer     place of the transaction in the ledger, from 1
--     op                integer     operation, from 0
--     event             integer     event of the operation, from 0
--     kind              EventKind?  contract and name; null: not decoded
--     contract          Address     that emitted it
--     subject           string?     pool, market or feed; null: of none
--     addresses         Address[]?  addresses in it, each once; null: not decoded
--     fields            EventFields?  what the event says; null: its kind is not indexed, or it is not decoded
--     undecodedBecause  string?     why it could not be decoded; null: it was
--
-- An event by Stellar RPC's id of it, one that could not be decoded says why.
WITH id AS (
  SELECT CASE WHEN $2::text ~ '^[0-8][0-9]{18}-[01][0-9]{9}$' THEN split_part($2, '-', 1)::bigint END AS toid,
    CASE WHEN $2 ~ '^[0-8][0-9]{18}-[01][0-9]{9}$' THEN split_part($2, '-', 2)::integer END AS event
), place AS (
  SELECT (i.toid >> 32)::integer AS ledger, ((i.toid >> 12) & 1048575)::integer AS tx, (i.toid & 4095)::integer AS op, i.event
  FROM id AS i
), l AS (
  SELECT l.ledger, l.tx, l.op, l.event, l.closed_at, l.contract, l.kind, l.subject, l.addresses, NULL AS reason
  FROM place AS p JOIN event.log AS l ON l.deployment = $1::smallint AND l.ledger = p.ledger AND l.tx = p.tx
    AND l.op = p.op AND l.event = p.event
  UNION ALL
  SELECT r.ledger, r.tx, r.op, r.event, r.closed_at, r.contract, NULL, NULL, NULL, r.reason
  FROM place AS p JOIN event.raw AS r ON r.deployment = $1 AND r.ledger = p.ledger AND r.tx = p.tx AND r.op = p.op
    AND r.event = p.event
)
SELECT row_to_json(z)::text
FROM l, LATERAL (SELECT
-- part: event_item
    chain.event_fields(l.kind, $1, l.ledger, l.tx, l.op, l.event, l.ledger) AS "fields",
    l.reason AS "undecodedBecause"
  ) AS x, LATERAL (SELECT row_to_json(x) AS "event") AS z
WHERE x.id = $2
