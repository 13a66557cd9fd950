-- list: deployment at after limit
-- tag: Oracle
-- summary: Feeds with waiting observations
-- about: By symbol. Prices with their age: `/api/prices`.
-- answer: OracleFeeds of OracleFeed
-- schema: OracleFeed
--   asset                Symbol                the feed
--   latestPrice          Amount+               newest price, 7 decimals
--   latestAt             Time?                 of that price
--   twapPrice            Amount+               time-weighted average price, 7 decimals
--   twapAt               Time?                 of the average
--   observationCount     Count                 observations of it
--   pendingObservations  PendingObservation[]  that wait for the next round
--   changedLedger        Ledger                in which this was last written
--   changedAt            Time                  when that ledger closed
-- example: {"asset":"BTC", "latestPrice":"10659880", "latestPriceScaled":"1.0659880",
--   "latestAt":"2026-01-31T07:23:39Z", "twapPrice":"10659880", "twapPriceScaled":"1.0659880",
--   "twapAt":"2026-01-31T07:23:39Z", "observationCount":3,
--   "pendingObservations":[{"provider":"GBNB2B5KJBHVNSUZFXL33KBGTAIDPL4IEJVSG5463VM36RHP6KTHWCEZ", "price":"10687058",
--   "priceScaled":"1.0687058", "observedAt":"2026-01-31T07:23:39Z"},
--   {"provider":"GANS2HBIBB3FM55DLJMSOO43WXJBVGIUO6DTMWALOJWLFBKAE4W3RLF2", "price":"10693470",
--   "priceScaled":"1.0693470", "observedAt":"2026-01-31T07:23:39Z"}], "changedLedger":"1530",
--   "changedAt":"2026-01-31T07:23:39Z"}
-- schema: PendingObservation
--   provider    Address  the provider
--   price       Amount+  as reported, 7 decimals
--   observedAt  Time?    when, as the contract stored it
--
-- Feeds by asset, with the observations that wait for the next round. Prices with their age: /api/prices.
SELECT row_to_json(x)::text, v.asset
FROM (
    (SELECT s.asset, s.latest_price, s.latest_ts, s.twap_price, s.twap_ts, s.observation_count, s.ledger,
      s.closed_at FROM state.oracle_feed AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND ($3::text IS NULL OR s.asset > $3)
    ORDER BY s.asset LIMIT $4::integer)
    UNION ALL
    (SELECT k.asset, h.latest_price, h.latest_ts, h.twap_price, h.twap_ts, h.observation_count, h.ledger,
      h.closed_at
    FROM (
        SELECT s.asset, s.key_hash FROM state.oracle_feed AS s WHERE s.deployment = $1::smallint
          AND ($3::text IS NULL OR s.asset > $3)
        UNION
        SELECT h.asset, h.key_hash FROM history.oracle_feed AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer
          AND ($3::text IS NULL OR h.asset > $3)
        ORDER BY asset
      ) AS k, LATERAL (
        SELECT h.latest_price, h.latest_ts, h.twap_price, h.twap_ts, h.observation_count, h.ledger, h.closed_at,
          h.removed FROM history.oracle_feed AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed
    ORDER BY k.asset LIMIT $4::integer)
  ) AS v
  LEFT JOIN LATERAL (
    -- The column may hold any JSON. Elements that are no observations are left out.
    SELECT to_json(ARRAY(SELECT row_to_json(i)
      FROM json_array_elements(CASE json_typeof(w.value) WHEN 'array' THEN w.value ELSE '[]' END) WITH ORDINALITY AS e (o, n),
        LATERAL (SELECT CASE WHEN o ->> 'price' ~ '^-?[0-9]{1,39}$' THEN (o ->> 'price')::numeric END AS price,
          CASE WHEN o ->> 'timestamp' ~ '^[0-9]{1,20}$' THEN (o ->> 'timestamp')::numeric END AS at) AS f,
        LATERAL (SELECT o ->> 'provider' AS "provider", f.price::text AS "price", analyst.scaled(f.price, 7)::text AS "priceScaled",
          chain.rfc3339(analyst.at(f.at)) AS "observedAt") AS i
      WHERE json_typeof(o) = 'object' AND o ->> 'provider' IS NOT NULL AND f.price IS NOT NULL AND f.at IS NOT NULL
      ORDER BY n)) AS observations
    FROM (
      SELECT s.key_hash FROM state.oracle_pending_observations AS s WHERE s.deployment = $1 AND s.asset = v.asset
      UNION
      SELECT h.key_hash FROM history.oracle_pending_observations AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.asset = v.asset
    ) AS p, LATERAL (
      SELECT s.value, s.ledger, s.closed_at, false AS removed FROM state.oracle_pending_observations AS s
      WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = p.key_hash
      UNION ALL
      (SELECT h.value, h.ledger, h.closed_at, h.removed FROM history.oracle_pending_observations AS h
      WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = p.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
    ) AS w
    WHERE NOT w.removed
  ) AS pending ON true, LATERAL (SELECT
    v.asset AS "asset",
    v.latest_price::text AS "latestPrice",
    analyst.scaled(v.latest_price, 7)::text AS "latestPriceScaled",
    chain.rfc3339(analyst.at(v.latest_ts)) AS "latestAt",
    v.twap_price::text AS "twapPrice",
    analyst.scaled(v.twap_price, 7)::text AS "twapPriceScaled",
    chain.rfc3339(analyst.at(v.twap_ts)) AS "twapAt",
    v.observation_count AS "observationCount",
    coalesce(pending.observations, '[]') AS "pendingObservations",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.asset
LIMIT $4::integer
