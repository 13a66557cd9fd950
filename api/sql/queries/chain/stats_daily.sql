-- list: deployment at after limit from to fill order
-- tag: Statistics
-- summary: The protocol by day
-- about: Days are UTC. A day without activity has no item, unless `fill` is given: then it has what was held on the day
--   before. With `ledger` those days that were over when it closed.
-- answer: Days of Day
-- schema: Day
--   day            date      the day, UTC
--   users          Count     different addresses that traded, gave or took liquidity, used a vault or the stability
--                            pool
--   swaps          Count     trades
--   volumeQuote    Amount?+  volume of pools with USDC, in USDC; null: none traded
--   feesQuote      Amount?+  fees of pools with USDC, in USDC; null: none traded
--   liquidations   Count     vaults liquidated, each time
--   tvl            Amount?+  what the protocol held at the close of the day, in USDC: the next three
--                            together
--   tvlPools       Amount?+  twice the USDC in pools with USDC
--   tvlCollateral  Amount?+  collateral that the vault engine holds, at the feed of each token's symbol if a market
--                            prices collateral by that feed; tokens never accepted as collateral do not count
--   tvlStability   Amount?+  deposits in the stability pool
--   unpriced       Count?    pools without USDC and collateral without a feed or decimals, which are not in the sums
-- example: {"day":"2026-01-31", "users":58, "swaps":63, "volumeQuote":"1541967404811",
--   "volumeQuoteScaled":"154196.7404811", "feesQuote":"4773872888", "feesQuoteScaled":"477.3872888",
--   "liquidations":0, "tvl":"76862248863463", "tvlScaled":"7686224.8863463", "tvlPools":"40685422559828",
--   "tvlPoolsScaled":"4068542.2559828", "tvlCollateral":"30881246786548", "tvlCollateralScaled":"3088124.6786548",
--   "tvlStability":"5295579517087", "tvlStabilityScaled":"529557.9517087", "unpriced":0}
--
-- The protocol by day (UTC), over the key of the days. b has the bounds of a filled page: its first day, and the one behind its last. Each
-- item is made from the newest day with activity up to it: its own, or the one whose holdings it carries. OFFSET 0 keeps the planner from
-- adding up what was held on all days and then choosing those of the page.
WITH b AS MATERIALIZED (
  SELECT s.first, s.ends, greatest(s.first, chain.day(to_timestamp(ceil($5::numeric) + 86399)),
      CASE WHEN $8::text = 'asc' THEN $3::date + 1 END) AS lo,
    least(s.ends, chain.day(to_timestamp(ceil($6::numeric) + 86399)), CASE WHEN $8 = 'desc' THEN $3::date END) AS hi
  FROM chain.cursor AS c
    LEFT JOIN chain.ledger AS l ON l.deployment = c.deployment AND l.ledger = $2::integer,
    LATERAL (SELECT CASE WHEN $2 = 2147483647 THEN chain.day(c.closed_at) + 1 ELSE chain.day(l.closed_at) END AS ends,
      (SELECT k.day FROM rollup.day AS k WHERE k.deployment = $1 ORDER BY k.day LIMIT 1) AS first) AS s
  WHERE c.deployment = $1::smallint
)
SELECT row_to_json(x)::text, d.day::text
FROM (
    (SELECT k.day FROM rollup.day AS k
    WHERE $7::text IS NULL AND k.deployment = $1
      AND ($5::text IS NULL OR k.day >= chain.day(to_timestamp(ceil($5::numeric) + 86399)))
      AND ($6::text IS NULL OR k.day < chain.day(to_timestamp(ceil($6::numeric) + 86399)))
      AND ($2 = 2147483647 OR k.day < (SELECT b.ends FROM b))
      AND ($3 IS NULL OR CASE WHEN $8 = 'asc' THEN k.day > $3::date ELSE k.day < $3::date END)
    ORDER BY CASE WHEN $8 = 'asc' THEN k.day END, k.day DESC
    LIMIT $4::integer)
    UNION ALL
    (SELECT g.day FROM b, generate_series(0, $4 - 1) AS n,
      LATERAL (SELECT CASE WHEN $8 = 'asc' THEN b.lo + n ELSE b.hi - 1 - n END AS day) AS g
    WHERE $7 = 'previous' AND b.first IS NOT NULL AND g.day >= b.lo AND g.day < b.hi)
  ) AS d,
  LATERAL (SELECT * FROM rollup.day AS k WHERE k.deployment = $1 AND k.day <= d.day ORDER BY k.day DESC LIMIT 1) AS r
  LEFT JOIN LATERAL (SELECT * FROM rollup.held AS h WHERE h.deployment = r.deployment AND h.day = r.day OFFSET 0) AS h ON true,
  LATERAL (SELECT (r.day = d.day)::integer AS one, CASE WHEN r.day = d.day THEN r.volume_quote ELSE 0 END AS volume,
    CASE WHEN r.day = d.day THEN r.fees_quote ELSE 0 END AS fees) AS o,
  LATERAL (SELECT
    d.day::text AS "day",
    r.users * o.one AS "users",
    r.swaps * o.one AS "swaps",
    o.volume::text AS "volumeQuote",
    analyst.scaled(o.volume, h.decimals)::text AS "volumeQuoteScaled",
    o.fees::text AS "feesQuote",
    analyst.scaled(o.fees, h.decimals)::text AS "feesQuoteScaled",
    r.liquidations * o.one AS "liquidations",
    h.total::text AS "tvl",
    analyst.scaled(h.total, h.decimals)::text AS "tvlScaled",
    h.pools::text AS "tvlPools",
    analyst.scaled(h.pools, h.decimals)::text AS "tvlPoolsScaled",
    h.collateral::text AS "tvlCollateral",
    analyst.scaled(h.collateral, h.decimals)::text AS "tvlCollateralScaled",
    h.stability::text AS "tvlStability",
    analyst.scaled(h.stability, h.decimals)::text AS "tvlStabilityScaled",
    h.unpriced AS "unpriced"
  ) AS x
ORDER BY CASE WHEN $8 = 'asc' THEN d.day END, d.day DESC
LIMIT $4
