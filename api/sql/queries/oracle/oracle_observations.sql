-- list: deployment at after limit from to order asset provider
-- tag: Oracle
-- summary: Observations
-- about: Prices as submitted by providers, by time.
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
-- Prices as submitted by providers, by time. Each filter is written so that only its own index fits: an asset or a
-- provider may have said nothing for long.
WITH page AS (
  (SELECT e.* FROM event.oracle_price_observation AS e
  WHERE $8::text IS NULL AND $9::text IS NULL AND
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT e.* FROM event.oracle_price_observation AS e
  WHERE $9 IS NULL AND e.asset_key >= chain.word_key($8) AND e.asset_key <= chain.word_key($8) AND
-- part: event_where
  ORDER BY CASE WHEN $7 = 'asc' THEN e.asset_key END, CASE WHEN $7 = 'asc' THEN e.ledger END, CASE WHEN $7 = 'asc' THEN e.tx END,
    CASE WHEN $7 = 'asc' THEN e.op END, CASE WHEN $7 = 'asc' THEN e.event END,
    e.asset_key DESC, e.ledger DESC, e.tx DESC, e.op DESC, e.event DESC LIMIT $4)
  UNION ALL
  (SELECT e.* FROM event.oracle_price_observation AS e
  WHERE e.provider_key >= chain.word_key($9) AND e.provider_key <= chain.word_key($9)
    AND ($8 IS NULL OR e.asset_key = (SELECT chain.word_key($8))) AND
-- part: event_where
  ORDER BY CASE WHEN $7 = 'asc' THEN e.provider_key END, CASE WHEN $7 = 'asc' THEN e.ledger END, CASE WHEN $7 = 'asc' THEN e.tx END,
    CASE WHEN $7 = 'asc' THEN e.op END, CASE WHEN $7 = 'asc' THEN e.event END,
    e.provider_key DESC, e.ledger DESC, e.tx DESC, e.op DESC, e.event DESC LIMIT $4)
)
SELECT row_to_json(x)::text, e.ledger || '.' || e.tx || '.' || e.op || '.' || e.event
FROM page AS e, LATERAL (SELECT
    chain.event_id(e.ledger, e.tx, e.op, e.event) AS "id",
    e.ledger::text AS "ledger",
    chain.rfc3339(e.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = e.ledger AND t.tx = e.tx) AS "txHash",
    e.asset AS "asset",
    e.provider AS "provider",
    e.price::text AS "price",
    analyst.scaled(e.price, 7)::text AS "priceScaled"
  ) AS x
-- part: event_order
LIMIT $4
