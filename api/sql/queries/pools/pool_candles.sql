-- list: deployment at after limit pool interval from to fill order
-- of: pool
-- tag: Pools
-- summary: Candles of a pool
-- about: By time; an interval without a trade has no candle, unless `fill` is given. Prices are what the pool's own entry says after a
--   transaction that traded. With `ledger` those intervals that were over when it closed.
-- answer: PoolCandles of Candle
-- schema: PoolPrice  string/^-?[0-9]{1,53}$/  units of token B for one of A, times 10^14, cut. Scaled: the price in whole tokens, 14 decimals, cut
-- schema: Candle
--   startsAt     Time         beginning of the interval
--   open         PoolPrice?+  price after the first transaction that traded; null: the pool was empty then
--   high         PoolPrice?+  the highest of them
--   low          PoolPrice?+  the lowest of them
--   close        PoolPrice?+  price after the last transaction that traded
--   swaps        Count        trades
--   volumeA      Amount+?     token A that trades moved, in or out
--   volumeB      Amount+?     token B that trades moved, in or out
--   feesA        Amount?+     fees paid in token A, the protocol's part included; null: the pool's tier is not indexed
--   feesB        Amount?+     fees paid in token B, the same way
--   volumeQuote  Amount?+     volume in USDC; null: neither token is USDC
--   feesQuote    Amount?+     fees in USDC, those in the other token at their trade's own rate; null: neither token is
--                             USDC
--   firstLedger  Ledger?      of the first trade; null: no trade
--   lastLedger   Ledger?      of the last trade; null: no trade
-- example: {"startsAt":"2026-01-31T07:00:00Z", "open":"35815114039476", "openScaled":"0.35815114039476",
--   "high":"36610188405606", "highScaled":"0.36610188405606", "low":"34803544628953", "lowScaled":"0.34803544628953",
--   "close":"36551844344021", "closeScaled":"0.36551844344021", "swaps":33, "volumeA":"4178355430662",
--   "volumeAScaled":"417835.5430662", "volumeB":"1496406158573", "volumeBScaled":"149640.6158573",
--   "feesA":"5408383930", "feesAScaled":"540.8383930", "feesB":"2561940020", "feesBScaled":"256.1940020",
--   "volumeQuote":"1496406158573", "volumeQuoteScaled":"149640.6158573", "feesQuote":"4489218457",
--   "feesQuoteScaled":"448.9218457", "firstLedger":"1512", "lastLedger":"1534"}
--
-- Trade of a pool by interval, over the key of the candles. b has the bounds of the page: its first interval, and the one behind its
-- last. Each item is made from the newest candle up to it: its own, or the one whose close it carries.
WITH b AS MATERIALIZED (
  SELECT s.seconds, s.step, s.first, s.ends, greatest(s.first, chain.interval_start(s.seconds, to_timestamp(ceil($7::text::numeric)) + s.step - interval '1 second'),
      CASE WHEN $10::text = 'asc' THEN to_timestamp($3::bigint) + s.step END) AS lo,
    least(s.ends, to_timestamp(ceil($8::text::numeric)), CASE WHEN $10 = 'desc' THEN to_timestamp($3::bigint) END) AS hi
  FROM chain.cursor AS c
    LEFT JOIN chain.ledger AS l ON l.deployment = c.deployment AND l.ledger = $2::integer,
    LATERAL (SELECT i.seconds, i.seconds * interval '1 second' AS step,
      CASE WHEN $2 = 2147483647 THEN chain.interval_start(i.seconds, c.closed_at) + i.seconds * interval '1 second'
        ELSE chain.interval_start(i.seconds, l.closed_at) END AS ends,
      (SELECT k.at FROM rollup.candle AS k WHERE k.deployment = $1::smallint AND k.pool_id = $5::text AND k.seconds = i.seconds
        ORDER BY k.at LIMIT 1) AS first
      FROM (SELECT chain.interval_seconds($6::text) AS seconds) AS i) AS s
  WHERE c.deployment = $1
)
SELECT row_to_json(x)::text, extract(epoch FROM t.at)::bigint::text
FROM (
    (SELECT k.at FROM rollup.candle AS k
    WHERE $9::text IS NULL AND k.deployment = $1 AND k.pool_id = $5 AND k.seconds = chain.interval_seconds($6)
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
  LATERAL (SELECT * FROM rollup.candle AS k WHERE k.deployment = $1 AND k.pool_id = $5 AND k.seconds = chain.interval_seconds($6)
    AND k.at <= t.at ORDER BY k.at DESC LIMIT 1) AS c,
  LATERAL (SELECT c.at = t.at AS own, (c.at = t.at)::integer AS one) AS o,
  LATERAL (SELECT CASE WHEN o.own THEN c.open_price ELSE c.close_price END AS open,
    CASE WHEN o.own THEN c.high_price ELSE c.close_price END AS high,
    CASE WHEN o.own THEN c.low_price ELSE c.close_price END AS low,
    c.volume_a * o.one AS volume_a, c.volume_b * o.one AS volume_b, c.fees_a * o.one AS fees_a, c.fees_b * o.one AS fees_b,
    c.volume_quote * o.one AS volume_quote, c.fees_quote * o.one AS fees_quote) AS v,
  (SELECT d.a, d.b, (SELECT d.decimals FROM chain.quote_decimals($1::smallint, $2::integer) AS d) AS quote FROM (SELECT 1) AS one
    LEFT JOIN chain.pool_decimals($1::smallint, $5::text, $2::integer) AS d ON true OFFSET 0) AS unit,
  LATERAL (SELECT
    chain.rfc3339(t.at) AS "startsAt",
    trunc(v.open * 1e14)::text AS "open",
    chain.candle_price(v.open, unit.a, unit.b)::text AS "openScaled",
    trunc(v.high * 1e14)::text AS "high",
    chain.candle_price(v.high, unit.a, unit.b)::text AS "highScaled",
    trunc(v.low * 1e14)::text AS "low",
    chain.candle_price(v.low, unit.a, unit.b)::text AS "lowScaled",
    trunc(c.close_price * 1e14)::text AS "close",
    chain.candle_price(c.close_price, unit.a, unit.b)::text AS "closeScaled",
    c.swaps * o.one AS "swaps",
    v.volume_a::text AS "volumeA",
    analyst.scaled(v.volume_a, unit.a)::text AS "volumeAScaled",
    v.volume_b::text AS "volumeB",
    analyst.scaled(v.volume_b, unit.b)::text AS "volumeBScaled",
    v.fees_a::text AS "feesA",
    analyst.scaled(v.fees_a, unit.a)::text AS "feesAScaled",
    v.fees_b::text AS "feesB",
    analyst.scaled(v.fees_b, unit.b)::text AS "feesBScaled",
    v.volume_quote::text AS "volumeQuote",
    analyst.scaled(v.volume_quote, unit.quote)::text AS "volumeQuoteScaled",
    v.fees_quote::text AS "feesQuote",
    analyst.scaled(v.fees_quote, unit.quote)::text AS "feesQuoteScaled",
    CASE WHEN o.own THEN (c.first_place >> 20)::text END AS "firstLedger",
    CASE WHEN o.own THEN (c.last_place >> 20)::text END AS "lastLedger"
  ) AS x
ORDER BY CASE WHEN $10 = 'asc' THEN t.at END, t.at DESC
LIMIT $4
