-- list: deployment at after limit asset interval from to fill order
-- of: feed
-- tag: Markets
-- summary: Prices of a feed over time
-- about: By time, from the medians of the feed's rounds; an interval without a round has no item, unless `fill` is given. With `ledger` those
--   intervals that were over when it closed.
-- answer: PriceHistory of PriceInterval
-- schema: PriceInterval
--   startsAt     Time      beginning of the interval
--   open         Amount+   median price of the first round, 7 decimals
--   high         Amount+   the highest median price
--   low          Amount+   the lowest median price
--   close        Amount+   median price of the last round
--   twapClose    Amount?+  time-weighted average price at the end of the interval, 7 decimals; null: not indexed
--   rounds       Count     rounds
--   firstLedger  Ledger?   of the first round; null: no round
--   lastLedger   Ledger?   of the last round; null: no round
-- example: {"startsAt":"2026-01-31T07:00:00Z", "open":"10659880", "openScaled":"1.0659880", "high":"10702519",
--   "highScaled":"1.0702519", "low":"10617240", "lowScaled":"1.0617240", "close":"10659880",
--   "closeScaled":"1.0659880", "twapClose":"10659880", "twapCloseScaled":"1.0659880", "rounds":4,
--   "firstLedger":"1512", "lastLedger":"1534"}
--
-- Over the key of the prices, and over its index of those with a round. b has the bounds of a filled page: its first interval, and the one
-- behind its last. Each item is made from the newest prices up to it: its own, or those whose close it carries.
WITH b AS MATERIALIZED (
  SELECT s.seconds, s.step, s.first, s.ends, greatest(s.first, chain.interval_start(s.seconds, to_timestamp(ceil($7::text::numeric)) + s.step - interval '1 second'),
      CASE WHEN $10::text = 'asc' THEN to_timestamp($3::bigint) + s.step END) AS lo,
    least(s.ends, to_timestamp(ceil($8::text::numeric)), CASE WHEN $10 = 'desc' THEN to_timestamp($3::bigint) END) AS hi
  FROM chain.cursor AS c
    LEFT JOIN chain.ledger AS l ON l.deployment = c.deployment AND l.ledger = $2::integer,
    LATERAL (SELECT i.seconds, i.seconds * interval '1 second' AS step,
      CASE WHEN $2 = 2147483647 THEN chain.interval_start(i.seconds, c.closed_at) + i.seconds * interval '1 second'
        ELSE chain.interval_start(i.seconds, l.closed_at) END AS ends,
      (SELECT k.at FROM rollup.price AS k WHERE k.deployment = $1::smallint AND k.asset = $5::text AND k.seconds = i.seconds
        AND k.open_price IS NOT NULL ORDER BY k.at LIMIT 1) AS first
      FROM (SELECT chain.interval_seconds($6::text) AS seconds) AS i) AS s
  WHERE c.deployment = $1
)
SELECT row_to_json(x)::text, extract(epoch FROM t.at)::bigint::text
FROM (
    (SELECT k.at FROM rollup.price AS k
    WHERE $9::text IS NULL AND k.deployment = $1 AND k.asset = $5 AND k.seconds = chain.interval_seconds($6) AND k.open_price IS NOT NULL
      AND ($7 IS NULL OR k.at >= to_timestamp(ceil($7::numeric))) AND ($8 IS NULL OR k.at < to_timestamp(ceil($8::numeric)))
      AND ($2 = 2147483647 OR k.at < (SELECT b.ends FROM b))
      AND ($3::text IS NULL OR CASE WHEN $10 = 'asc' THEN k.at > to_timestamp($3::bigint) ELSE k.at < to_timestamp($3::bigint) END)
    ORDER BY CASE WHEN $10 = 'asc' THEN k.at END, k.at DESC
    LIMIT $4::integer)
    UNION ALL
    (SELECT g.at FROM b, generate_series(0, $4 - 1) AS n, LATERAL (SELECT CASE WHEN $10 = 'asc' THEN b.lo + n * b.step
      ELSE chain.interval_start(b.seconds, b.hi - interval '1 microsecond') - n * b.step END AS at) AS g
    WHERE $9 = 'previous' AND b.first IS NOT NULL AND g.at >= b.lo AND g.at < b.hi)
  ) AS t,
  LATERAL (SELECT * FROM rollup.price AS k WHERE k.deployment = $1 AND k.asset = $5 AND k.seconds = chain.interval_seconds($6)
    AND k.at <= t.at AND k.open_price IS NOT NULL ORDER BY k.at DESC LIMIT 1) AS p,
  -- An interval with a round may have no new version of the feed: its average is the one before it. LEFT: there may be none yet.
  (SELECT) AS one LEFT JOIN LATERAL (SELECT k.twap_price FROM rollup.price AS k WHERE k.deployment = $1 AND k.asset = $5
    AND k.seconds = chain.interval_seconds($6) AND k.at <= t.at AND k.twap_ledger IS NOT NULL ORDER BY k.at DESC LIMIT 1) AS w ON true,
  LATERAL (SELECT p.at = t.at AS own) AS o,
  LATERAL (SELECT CASE WHEN o.own THEN p.open_price ELSE p.close_price END AS open,
    CASE WHEN o.own THEN p.high_price ELSE p.close_price END AS high,
    CASE WHEN o.own THEN p.low_price ELSE p.close_price END AS low) AS v,
  LATERAL (SELECT
    chain.rfc3339(t.at) AS "startsAt",
    v.open::text AS "open",
    analyst.scaled(v.open, 7)::text AS "openScaled",
    v.high::text AS "high",
    analyst.scaled(v.high, 7)::text AS "highScaled",
    v.low::text AS "low",
    analyst.scaled(v.low, 7)::text AS "lowScaled",
    p.close_price::text AS "close",
    analyst.scaled(p.close_price, 7)::text AS "closeScaled",
    w.twap_price::text AS "twapClose",
    analyst.scaled(w.twap_price, 7)::text AS "twapCloseScaled",
    CASE WHEN o.own THEN p.rounds ELSE 0 END AS "rounds",
    CASE WHEN o.own THEN p.first_ledger::text END AS "firstLedger",
    CASE WHEN o.own THEN p.last_ledger::text END AS "lastLedger"
  ) AS x
ORDER BY CASE WHEN $10 = 'asc' THEN t.at END, t.at DESC
LIMIT $4
