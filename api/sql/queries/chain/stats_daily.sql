-- list: deployment at after limit
-- tag: Statistics
-- summary: The protocol by day
-- about: Days are UTC, the newest first; a day without activity has no item. With `ledger` those days that were over
--   when it closed.
-- answer: Days of Day
-- schema: Day
--   day            date      the day, UTC
--   users          U64       different addresses that traded, gave or took liquidity, used a vault or the stability
--                            pool
--   swaps          U64       trades
--   volumeQuote    Amount?+  volume of pools with USDC, in USDC, raw units; null: none traded
--   feesQuote      Amount?+  fees of pools with USDC, in USDC, raw units; null: none traded
--   liquidations   U64       vaults liquidated, each time
--   tvl            Amount?+  what the protocol held at the close of the day, in USDC, raw units: the next three
--                            together
--   tvlPools       Amount?+  twice the USDC in pools with USDC, raw units
--   tvlCollateral  Amount?+  tokens that the vault engine holds, at the feed of their symbol, raw units
--   tvlStability   Amount?+  deposits in the stability pool, raw units
--   unpriced       U64?      pools without USDC and tokens without a feed, which are not in the sums
-- example: {"day":"2026-01-31", "users":"58", "swaps":"63", "volumeQuote":"1541967404811",
--   "volumeQuoteScaled":"154196.7404811", "feesQuote":"4773872888", "feesQuoteScaled":"477.3872888",
--   "liquidations":"0", "tvl":"76862248863463", "tvlScaled":"7686224.8863463", "tvlPools":"40685422559828",
--   "tvlPoolsScaled":"4068542.2559828", "tvlCollateral":"30881246786548", "tvlCollateralScaled":"3088124.6786548",
--   "tvlStability":"5295579517087", "tvlStabilityScaled":"529557.9517087", "unpriced":"0"}
--
-- The protocol by day (UTC), the newest first, over the key of the days: a day without activity has no item.
-- As of a ledger the days that were over when it closed.
SELECT row_to_json(x)::text, d.day::text
FROM (SELECT * FROM rollup.day AS r
    WHERE r.deployment = $1::smallint AND ($3::text IS NULL OR r.day < $3::date)
      AND ($2::integer = 2147483647 OR r.day < (SELECT (l.closed_at AT TIME ZONE 'UTC')::date FROM chain.ledger AS l
        WHERE l.deployment = $1 AND l.ledger = $2))
    ORDER BY r.day DESC LIMIT $4::integer) AS d
  LEFT JOIN LATERAL (SELECT * FROM rollup.held AS h WHERE h.deployment = d.deployment AND h.day = d.day) AS h ON true,
  LATERAL (SELECT
    d.day::text AS "day",
    d.users::text AS "users",
    d.swaps::text AS "swaps",
    d.volume_quote::text AS "volumeQuote",
    analyst.scaled(d.volume_quote)::text AS "volumeQuoteScaled",
    d.fees_quote::text AS "feesQuote",
    analyst.scaled(d.fees_quote)::text AS "feesQuoteScaled",
    d.liquidations::text AS "liquidations",
    h.total::text AS "tvl",
    analyst.scaled(h.total)::text AS "tvlScaled",
    h.pools::text AS "tvlPools",
    analyst.scaled(h.pools)::text AS "tvlPoolsScaled",
    h.collateral::text AS "tvlCollateral",
    analyst.scaled(h.collateral)::text AS "tvlCollateralScaled",
    h.stability::text AS "tvlStability",
    analyst.scaled(h.stability)::text AS "tvlStabilityScaled",
    h.unpriced::text AS "unpriced"
  ) AS x
ORDER BY d.day DESC
LIMIT $4
