-- list: deployment at after limit pool from to fill order
-- of: pool
-- tag: Pools
-- summary: A pool by day
-- about: Days are UTC. A day without a trade or a change of liquidity has no item, unless `fill` is given. With `ledger` those days that
--   were over when it closed.
-- answer: PoolDays of PoolDay
-- schema: PoolDay
--   day          date         the day, UTC
--   swaps        Count        trades
--   traders      Count        different traders
--   open         PoolPrice?+  price after the first transaction that traded; null: no trade
--   high         PoolPrice?+  the highest of them
--   low          PoolPrice?+  the lowest of them
--   close        PoolPrice?+  price after the last transaction that traded
--   volumeA      Amount+?     token A that trades moved, in or out
--   volumeB      Amount+?     token B that trades moved, in or out
--   feesA        Amount?+     fees paid in token A, the protocol's part included; null: no trade, or the pool's tier is
--                             not indexed
--   feesB        Amount?+     fees paid in token B, the same way
--   volumeQuote  Amount?+     volume in USDC; null: no trade, or neither token is USDC
--   feesQuote    Amount?+     fees in USDC, those in the other token at their trade's own rate; null: no trade, or
--                             neither token is USDC
--   addedA       Amount+?     token A added as liquidity
--   addedB       Amount+?     token B added as liquidity
--   removedA     Amount+?     token A removed
--   removedB     Amount+?     token B removed
--   claimedA     Amount+?     fees claimed in token A
--   claimedB     Amount+?     fees claimed in token B
--   reserveA     Amount?+     book reserve of token A at the close of the day; null: not indexed
--   reserveB     Amount?+     book reserve of token B at the close of the day; null: not indexed
-- example: {"day":"2026-01-31", "swaps":33, "traders":28, "open":"35815114039476", "openScaled":"0.35815114039476",
--   "high":"36610188405606", "highScaled":"0.36610188405606", "low":"34803544628953", "lowScaled":"0.34803544628953",
--   "close":"36551844344021", "closeScaled":"0.36551844344021", "volumeA":"4178355430662",
--   "volumeAScaled":"417835.5430662", "volumeB":"1496406158573", "volumeBScaled":"149640.6158573",
--   "feesA":"5408383930", "feesAScaled":"540.8383930", "feesB":"2561940020", "feesBScaled":"256.1940020",
--   "volumeQuote":"1496406158573", "volumeQuoteScaled":"149640.6158573", "feesQuote":"4489218457",
--   "feesQuoteScaled":"448.9218457", "addedA":"4386002874546", "addedAScaled":"438600.2874546",
--   "addedB":"1573288781984", "addedBScaled":"157328.8781984", "removedA":"1751382153357",
--   "removedAScaled":"175138.2153357", "removedB":"632551385574", "removedBScaled":"63255.1385574",
--   "claimedA":"1196555595", "claimedAScaled":"119.6555595", "claimedB":"425361814", "claimedBScaled":"42.5361814",
--   "reserveA":"52732146099571", "reserveAScaled":"5273214.6099571", "reserveB":"19274571961577",
--   "reserveBScaled":"1927457.1961577"}
--
-- A pool by day (UTC), over the keys of the candles and of the days. b has the bounds of a filled page: its first day, and the one behind
-- its last. A day without trade carries the close of the newest candle before it.
WITH b AS MATERIALIZED (
  SELECT s.first, s.ends, greatest(s.first, chain.day(to_timestamp(ceil($6::numeric) + 86399)),
      CASE WHEN $9::text = 'asc' THEN $3::date + 1 END) AS lo,
    least(s.ends, chain.day(to_timestamp(ceil($7::numeric) + 86399)), CASE WHEN $9 = 'desc' THEN $3::date END) AS hi
  FROM chain.cursor AS c
    LEFT JOIN chain.ledger AS l ON l.deployment = c.deployment AND l.ledger = $2::integer,
    LATERAL (SELECT CASE WHEN $2 = 2147483647 THEN chain.day(c.closed_at) + 1 ELSE chain.day(l.closed_at) END AS ends,
      (SELECT least(
        (SELECT chain.day(k.at) FROM rollup.candle AS k WHERE k.deployment = $1::smallint AND k.pool_id = $5::text
          AND k.seconds = 86400 ORDER BY k.at LIMIT 1),
        (SELECT k.day FROM rollup.pool_day AS k WHERE k.deployment = $1 AND k.pool_id = $5 ORDER BY k.day LIMIT 1))) AS first) AS s
  WHERE c.deployment = $1::smallint
)
SELECT row_to_json(x)::text, d.day::text
FROM (
    (SELECT u.day FROM (
        (SELECT chain.day(k.at) AS day FROM rollup.candle AS k
        WHERE $8::text IS NULL AND k.deployment = $1 AND k.pool_id = $5 AND k.seconds = 86400
          AND ($6::text IS NULL OR k.at >= chain.day_start(chain.day(to_timestamp(ceil($6::numeric) + 86399))))
          AND ($7::text IS NULL OR k.at < chain.day_start(chain.day(to_timestamp(ceil($7::numeric) + 86399))))
          AND ($2 = 2147483647 OR k.at < chain.day_start((SELECT b.ends FROM b)))
          AND ($3 IS NULL OR CASE WHEN $9 = 'asc' THEN k.at > chain.day_start($3::date) ELSE k.at < chain.day_start($3::date) END)
        ORDER BY CASE WHEN $9 = 'asc' THEN k.at END, k.at DESC
        LIMIT $4::integer)
        UNION
        (SELECT k.day FROM rollup.pool_day AS k
        WHERE $8::text IS NULL AND k.deployment = $1 AND k.pool_id = $5
          AND ($6::text IS NULL OR k.day >= chain.day(to_timestamp(ceil($6::numeric) + 86399)))
          AND ($7::text IS NULL OR k.day < chain.day(to_timestamp(ceil($7::numeric) + 86399)))
          AND ($2 = 2147483647 OR k.day < (SELECT b.ends FROM b))
          AND ($3 IS NULL OR CASE WHEN $9 = 'asc' THEN k.day > $3::date ELSE k.day < $3::date END)
        ORDER BY CASE WHEN $9 = 'asc' THEN k.day END, k.day DESC
        LIMIT $4::integer)
      ) AS u
    ORDER BY CASE WHEN $9 = 'asc' THEN u.day END, u.day DESC
    LIMIT $4)
    UNION ALL
    (SELECT g.day FROM b, generate_series(0, $4 - 1) AS n,
      LATERAL (SELECT CASE WHEN $9 = 'asc' THEN b.lo + n ELSE b.hi - 1 - n END AS day) AS g
    WHERE $8 = 'previous' AND b.first IS NOT NULL AND g.day >= b.lo AND g.day < b.hi)
  ) AS d
  LEFT JOIN LATERAL (SELECT * FROM rollup.candle AS k WHERE k.deployment = $1 AND k.pool_id = $5 AND k.seconds = 86400
    AND k.at <= chain.day_start(d.day) AND ($8 = 'previous' OR k.at = chain.day_start(d.day)) ORDER BY k.at DESC LIMIT 1) AS c ON true
  LEFT JOIN LATERAL (SELECT * FROM rollup.pool_day AS p WHERE p.deployment = $1 AND p.pool_id = $5 AND p.day = d.day OFFSET 0) AS p ON true
  LEFT JOIN LATERAL (SELECT q.amount, q.amount_b FROM rollup.closing AS q
    WHERE q.deployment = $1 AND q.what = 'pool' AND q.name = $5 AND q.day <= d.day ORDER BY q.day DESC LIMIT 1) AS e ON true,
  LATERAL (SELECT c.at = chain.day_start(d.day) AS own, (c.at = chain.day_start(d.day))::integer AS one) AS o,
  LATERAL (SELECT CASE WHEN o.own THEN c.open_price ELSE c.close_price END AS open,
    CASE WHEN o.own THEN c.high_price ELSE c.close_price END AS high,
    CASE WHEN o.own THEN c.low_price ELSE c.close_price END AS low,
    coalesce(c.volume_a * o.one, 0) AS volume_a, coalesce(c.volume_b * o.one, 0) AS volume_b, c.fees_a * o.one AS fees_a,
    c.fees_b * o.one AS fees_b, c.volume_quote * o.one AS volume_quote, c.fees_quote * o.one AS fees_quote) AS v,
  (SELECT d.a, d.b, (SELECT d.decimals FROM chain.quote_decimals($1::smallint, $2::integer) AS d) AS quote FROM (SELECT 1) AS one
    LEFT JOIN chain.pool_decimals($1::smallint, $5::text, $2::integer) AS d ON true OFFSET 0) AS unit,
  LATERAL (SELECT
    d.day::text AS "day",
    coalesce(c.swaps * o.one, 0) AS "swaps",
    coalesce(p.traders, 0) AS "traders",
    trunc(v.open * 1e14)::text AS "open",
    chain.candle_price(v.open, unit.a, unit.b)::text AS "openScaled",
    trunc(v.high * 1e14)::text AS "high",
    chain.candle_price(v.high, unit.a, unit.b)::text AS "highScaled",
    trunc(v.low * 1e14)::text AS "low",
    chain.candle_price(v.low, unit.a, unit.b)::text AS "lowScaled",
    trunc(c.close_price * 1e14)::text AS "close",
    chain.candle_price(c.close_price, unit.a, unit.b)::text AS "closeScaled",
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
    coalesce(p.added_a, 0)::text AS "addedA",
    analyst.scaled(coalesce(p.added_a, 0), unit.a)::text AS "addedAScaled",
    coalesce(p.added_b, 0)::text AS "addedB",
    analyst.scaled(coalesce(p.added_b, 0), unit.b)::text AS "addedBScaled",
    coalesce(p.removed_a, 0)::text AS "removedA",
    analyst.scaled(coalesce(p.removed_a, 0), unit.a)::text AS "removedAScaled",
    coalesce(p.removed_b, 0)::text AS "removedB",
    analyst.scaled(coalesce(p.removed_b, 0), unit.b)::text AS "removedBScaled",
    coalesce(p.claimed_a, 0)::text AS "claimedA",
    analyst.scaled(coalesce(p.claimed_a, 0), unit.a)::text AS "claimedAScaled",
    coalesce(p.claimed_b, 0)::text AS "claimedB",
    analyst.scaled(coalesce(p.claimed_b, 0), unit.b)::text AS "claimedBScaled",
    e.amount::text AS "reserveA",
    analyst.scaled(e.amount, unit.a)::text AS "reserveAScaled",
    e.amount_b::text AS "reserveB",
    analyst.scaled(e.amount_b, unit.b)::text AS "reserveBScaled"
  ) AS x
ORDER BY CASE WHEN $9 = 'asc' THEN d.day END, d.day DESC
LIMIT $4
