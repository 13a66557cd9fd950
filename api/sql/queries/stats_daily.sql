-- list: deployment at after limit
-- The protocol by day (UTC), the newest first, over the key of the days: a day on which nobody did anything has no item.
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
