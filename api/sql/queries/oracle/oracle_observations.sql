-- list: deployment at after limit asset provider
-- tag: Oracle
-- summary: Observations
-- about: Prices as submitted by providers, newest first.
-- answer: OracleObservations of OracleObservation
-- schema: OracleObservation
--   id        EventId  Stellar RPC's id of the event
--   ledger    Ledger   in which it happened
--   closedAt  Time     when that ledger closed
--   txHash    Hash?    of the transaction; null where the index does not hold it
--   asset     Symbol   the feed
--   provider  Address  the provider
--   price     Amount+  as reported, 7 decimals
-- example: {"id":"0027004005578190848-0000000000", "ledger":"1535", "closedAt":"2026-01-31T07:24:04Z",
--   "txHash":"a00baf490721c67d20318b393b45482ccad3dc880d7083623d663eedc5a61c2b", "asset":"USDC",
--   "provider":"GANS2HBIBB3FM55DLJMSOO43WXJBVGIUO6DTMWALOJWLFBKAE4W3RLF2", "price":"10019953",
--   "priceScaled":"1.0019953"}
--
-- Prices as submitted by providers, newest first. Each filter is written so that only its own index fits: an asset or a
-- provider may have said nothing for long.
WITH page AS (
  (SELECT y.* FROM event.oracle_price_observation AS y
  WHERE $5::text IS NULL AND $6::text IS NULL AND y.deployment = $1::smallint AND y.ledger <= $2::integer
    AND ($3::text IS NULL OR (y.ledger <= split_part($3, '.', 1)::integer
      AND (y.ledger, y.tx, y.op, y.event) < (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
        split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer)))
  ORDER BY y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC LIMIT $4::integer)
  UNION ALL
  (SELECT y.* FROM event.oracle_price_observation AS y
  WHERE $6 IS NULL AND y.deployment = $1 AND y.asset >= $5 AND y.asset <= $5 AND y.ledger <= $2
    AND ($3 IS NULL OR (y.ledger <= split_part($3, '.', 1)::integer
      AND (y.ledger, y.tx, y.op, y.event) < (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
        split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer)))
  ORDER BY y.asset DESC, y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC LIMIT $4)
  UNION ALL
  (SELECT y.* FROM event.oracle_price_observation AS y
  WHERE y.deployment = $1 AND y.provider >= $6 AND y.provider <= $6 AND ($5 IS NULL OR y.asset = $5) AND y.ledger <= $2
    AND ($3 IS NULL OR (y.ledger <= split_part($3, '.', 1)::integer
      AND (y.ledger, y.tx, y.op, y.event) < (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
        split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer)))
  ORDER BY y.provider DESC, y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC LIMIT $4)
)
SELECT row_to_json(x)::text, y.ledger || '.' || y.tx || '.' || y.op || '.' || y.event
FROM page AS y, LATERAL (SELECT
    chain.event_id(y.ledger, y.tx, y.op, y.event) AS "id",
    y.ledger::text AS "ledger",
    chain.rfc3339(y.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = y.ledger AND t.tx = y.tx) AS "txHash",
    y.asset AS "asset",
    y.provider AS "provider",
    y.price::text AS "price",
    analyst.scaled(y.price)::text AS "priceScaled"
  ) AS x
ORDER BY y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC
LIMIT $4
