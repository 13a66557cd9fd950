-- list: deployment at after limit pool
-- of: pool
-- tag: Pools
-- summary: A pool by day
-- about: Days are UTC, the newest first; a day without a trade or a change of liquidity has no item. With `ledger`
--   those days that were over when it closed.
-- answer: PoolDays of PoolDay
-- schema: PoolDay
--   day          date      the day, UTC
--   swaps        U64       trades
--   traders      U64       different traders
--   open         Scaled?   token A in B after the first transaction that traded; null: no trade
--   high         Scaled?   the highest of them
--   low          Scaled?   the lowest of them
--   close        Scaled?   token A in B after the last transaction that traded
--   volumeA      Amount+   token A that trades moved, in or out, raw units
--   volumeB      Amount+   token B that trades moved, in or out, raw units
--   feesA        Amount?+  fees paid in token A, the protocol's part included, raw units; null: the pool's tier is not
--                          indexed
--   feesB        Amount?+  fees paid in token B, the same way
--   volumeQuote  Amount?+  volume in USDC, raw units; null: neither token is USDC
--   feesQuote    Amount?+  fees in USDC, those in the other token at their trade's own rate; null: neither token is
--                          USDC
--   addedA       Amount+   token A added as liquidity, raw units
--   addedB       Amount+   token B added as liquidity, raw units
--   removedA     Amount+   token A removed, raw units
--   removedB     Amount+   token B removed, raw units
--   claimedA     Amount+   fees claimed in token A, raw units
--   claimedB     Amount+   fees claimed in token B, raw units
--   reserveA     Amount?+  book reserve of token A at the close of the day, raw units; null: not indexed
--   reserveB     Amount?+  book reserve of token B at the close of the day, raw units; null: not indexed
-- example: {"day":"2026-01-31", "swaps":"33", "traders":"28", "open":"0.35815114039476", "high":"0.36610188405606",
--   "low":"0.34803544628953", "close":"0.36551844344021", "volumeA":"4178355430662", "volumeAScaled":"417835.5430662",
--   "volumeB":"1496406158573", "volumeBScaled":"149640.6158573", "feesA":"5408383930", "feesAScaled":"540.8383930",
--   "feesB":"2561940020", "feesBScaled":"256.1940020", "volumeQuote":"1496406158573",
--   "volumeQuoteScaled":"149640.6158573", "feesQuote":"4489218457", "feesQuoteScaled":"448.9218457",
--   "addedA":"4386002874546", "addedAScaled":"438600.2874546", "addedB":"1573288781984",
--   "addedBScaled":"157328.8781984", "removedA":"1751382153357", "removedAScaled":"175138.2153357",
--   "removedB":"632551385574", "removedBScaled":"63255.1385574", "claimedA":"1196555595",
--   "claimedAScaled":"119.6555595", "claimedB":"425361814", "claimedBScaled":"42.5361814",
--   "reserveA":"52732146099571", "reserveAScaled":"5273214.6099571", "reserveB":"19274571961577",
--   "reserveBScaled":"1927457.1961577"}
--
-- A pool by day (UTC), the newest first, over the key of the candles: a day without a trade or a change of liquidity has no item.
-- As of a ledger the days that were over when it closed.
WITH n AS MATERIALIZED (
    SELECT (l.closed_at AT TIME ZONE 'UTC')::date AS day FROM chain.ledger AS l
    WHERE l.deployment = $1::smallint AND l.ledger = $2::integer
)
SELECT row_to_json(x)::text, d.day::text
FROM (
    (SELECT c.day FROM (SELECT (k.at AT TIME ZONE 'UTC')::date AS day FROM rollup.candle AS k
      WHERE k.deployment = $1::smallint AND k.pool_id = $5::text AND k.seconds = 86400
        AND ($3::text IS NULL OR k.at < $3::date::timestamp AT TIME ZONE 'UTC')
        AND ($2 = 2147483647 OR k.at < (SELECT n.day FROM n)::timestamp AT TIME ZONE 'UTC')
      ORDER BY k.at DESC LIMIT $4::integer) AS c)
    UNION
    (SELECT p.day FROM rollup.pool_day AS p
      WHERE p.deployment = $1 AND p.pool_id = $5 AND ($3 IS NULL OR p.day < $3::date)
        AND ($2 = 2147483647 OR p.day < (SELECT n.day FROM n))
      ORDER BY p.day DESC LIMIT $4)
    ORDER BY day DESC LIMIT $4
  ) AS d
  LEFT JOIN rollup.candle AS c ON c.deployment = $1 AND c.pool_id = $5 AND c.seconds = 86400
    AND c.at = d.day::timestamp AT TIME ZONE 'UTC'
  LEFT JOIN rollup.pool_day AS p ON p.deployment = $1 AND p.pool_id = $5 AND p.day = d.day
  LEFT JOIN LATERAL (SELECT q.amount, q.amount_b FROM rollup.closing AS q
    WHERE q.deployment = $1 AND q.what = 'pool' AND q.name = $5 AND q.day <= d.day ORDER BY q.day DESC LIMIT 1) AS e ON true,
  LATERAL (SELECT
    d.day::text AS "day",
    coalesce(c.swaps, 0)::text AS "swaps",
    coalesce(p.traders, 0)::text AS "traders",
    c.open_price::text AS "open",
    c.high_price::text AS "high",
    c.low_price::text AS "low",
    c.close_price::text AS "close",
    coalesce(c.volume_a, 0)::text AS "volumeA",
    analyst.scaled(coalesce(c.volume_a, 0))::text AS "volumeAScaled",
    coalesce(c.volume_b, 0)::text AS "volumeB",
    analyst.scaled(coalesce(c.volume_b, 0))::text AS "volumeBScaled",
    c.fees_a::text AS "feesA",
    analyst.scaled(c.fees_a)::text AS "feesAScaled",
    c.fees_b::text AS "feesB",
    analyst.scaled(c.fees_b)::text AS "feesBScaled",
    c.volume_quote::text AS "volumeQuote",
    analyst.scaled(c.volume_quote)::text AS "volumeQuoteScaled",
    c.fees_quote::text AS "feesQuote",
    analyst.scaled(c.fees_quote)::text AS "feesQuoteScaled",
    coalesce(p.added_a, 0)::text AS "addedA",
    analyst.scaled(coalesce(p.added_a, 0))::text AS "addedAScaled",
    coalesce(p.added_b, 0)::text AS "addedB",
    analyst.scaled(coalesce(p.added_b, 0))::text AS "addedBScaled",
    coalesce(p.removed_a, 0)::text AS "removedA",
    analyst.scaled(coalesce(p.removed_a, 0))::text AS "removedAScaled",
    coalesce(p.removed_b, 0)::text AS "removedB",
    analyst.scaled(coalesce(p.removed_b, 0))::text AS "removedBScaled",
    coalesce(p.claimed_a, 0)::text AS "claimedA",
    analyst.scaled(coalesce(p.claimed_a, 0))::text AS "claimedAScaled",
    coalesce(p.claimed_b, 0)::text AS "claimedB",
    analyst.scaled(coalesce(p.claimed_b, 0))::text AS "claimedBScaled",
    e.amount::text AS "reserveA",
    analyst.scaled(e.amount)::text AS "reserveAScaled",
    e.amount_b::text AS "reserveB",
    analyst.scaled(e.amount_b)::text AS "reserveBScaled"
  ) AS x
ORDER BY d.day DESC
LIMIT $4
