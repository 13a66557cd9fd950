-- list: deployment at after limit from to order asset
-- tag: Oracle
-- summary: Rounds
-- about: By time: an aggregate, and the observations since the one before. If the index began with the state of a checkpoint
--   (`History-From`), a feed's first round behind it is not listed: observations of it may be missing.
-- answer: OracleRounds of OracleRound
-- schema: OracleRound
--   id                EventId             Stellar RPC's id of the event
--   ledger            Ledger              in which it happened
--   closedAt          Time                when that ledger closed
--   txHash            Hash?               of the transaction; null where the index does not hold it
--   asset             Symbol              the feed
--   medianPrice       Amount+             of the observations, 7 decimals
--   observationCount  Count               observations of it
--   observations      RoundObservation[]  of the round
-- example: {"id":"0026916044647972864-0000000006", "ledger":"1530", "closedAt":"2026-01-31T07:23:39Z",
--   "txHash":"d12abea8dc51d1302549059b1e745c9a11bb3c78edadacf8d0465ddcd0a61aaf", "asset":"USDC",
--   "medianPrice":"10018282", "medianPriceScaled":"1.0018282", "observationCount":3,
--   "observations":[{"provider":"GCCFQDIGEMYTJ5OYHE6GXLNR7Z7NACMDA3KPH4X2AAEDRCYDKRSAGGOM", "price":"10012940",
--   "priceScaled":"1.0012940", "ledger":"1530", "closedAt":"2026-01-31T07:23:39Z"},
--   {"provider":"GBNB2B5KJBHVNSUZFXL33KBGTAIDPL4IEJVSG5463VM36RHP6KTHWCEZ", "price":"10020954",
--   "priceScaled":"1.0020954", "ledger":"1530", "closedAt":"2026-01-31T07:23:39Z"}]}
-- schema: RoundObservation
--   provider  Address  the provider
--   price     Amount+  as reported, 7 decimals
--   ledger    Ledger   in which it was reported
--   closedAt  Time     when that closed
--
-- Rounds: an aggregate and the observations since the one before of that asset.
-- The first one behind a start from a checkpoint is left out.
WITH page AS (
  SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, e.asset, e.asset_key, e.median_price
  FROM event.oracle_price_aggregate AS e
  WHERE ($8::text IS NULL OR e.asset_key = chain.word_key($8))
    AND ((SELECT count(*) FROM chain.start AS s WHERE s.deployment = $1::smallint) = 0
      OR EXISTS (SELECT FROM event.oracle_price_aggregate AS b WHERE b.deployment = $1 AND b.asset_key = e.asset_key AND b.ledger <= e.ledger
        AND (b.ledger, b.tx, b.op, b.event) < (e.ledger, e.tx, e.op, e.event)))
    AND
-- part: event_where
-- part: event_order
  LIMIT $4::integer
)
SELECT row_to_json(x)::text, e.ledger || '.' || e.tx || '.' || e.op || '.' || e.event
FROM page AS e
  LEFT JOIN LATERAL (
    SELECT b.ledger, b.tx, b.op, b.event FROM event.oracle_price_aggregate AS b
    WHERE b.deployment = $1 AND b.asset_key = e.asset_key AND b.ledger <= e.ledger
      AND (b.ledger, b.tx, b.op, b.event) < (e.ledger, e.tx, e.op, e.event)
    ORDER BY b.ledger DESC, b.tx DESC, b.op DESC, b.event DESC LIMIT 1
  ) AS b ON true
  LEFT JOIN LATERAL (
    SELECT count(*) AS count, to_json(array_agg(i.item ORDER BY o.ledger, o.tx, o.op, o.event)) AS list
    FROM event.oracle_price_observation AS o, LATERAL (SELECT row_to_json(i) AS item FROM (SELECT
      o.provider AS "provider", o.price::text AS "price", analyst.scaled(o.price, 7)::text AS "priceScaled",
      o.ledger::text AS "ledger", chain.rfc3339(o.closed_at) AS "closedAt") AS i) AS i
    WHERE o.deployment = $1 AND o.asset_key = e.asset_key AND o.ledger >= coalesce(b.ledger, 0) AND o.ledger <= e.ledger
      AND ARRAY[o.ledger, o.tx, o.op, o.event] < ARRAY[e.ledger, e.tx, e.op, e.event]
      AND (b.ledger IS NULL OR ARRAY[o.ledger, o.tx, o.op, o.event] > ARRAY[b.ledger, b.tx, b.op, b.event])
  ) AS o ON true, LATERAL (SELECT
    chain.event_id(e.ledger, e.tx, e.op, e.event) AS "id",
    e.ledger::text AS "ledger",
    chain.rfc3339(e.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = e.ledger AND t.tx = e.tx) AS "txHash",
    e.asset AS "asset",
    e.median_price::text AS "medianPrice",
    analyst.scaled(e.median_price, 7)::text AS "medianPriceScaled",
    o.count AS "observationCount",
    coalesce(o.list, '[]') AS "observations"
  ) AS x
-- part: event_order
