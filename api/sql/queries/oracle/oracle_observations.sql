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
-- Prices as submitted by providers, by time: all, or those of an asset or a provider by an index of its own.
WITH page AS (
  (SELECT e.* FROM event.oracle_price_observation AS e
  WHERE $8::text IS NULL AND $9::text IS NULL AND
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT e.* FROM event.oracle_price_observation AS e
  WHERE $9 IS NULL AND e.asset_key = chain.word_key($8) AND
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT e.* FROM event.oracle_price_observation AS e
  WHERE e.provider_key = chain.word_key($9)
    AND ($8 IS NULL OR e.asset_key = (SELECT chain.word_key($8))) AND
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
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
