-- list: deployment after limit symbol
-- Vaults of a market by day (UTC), the newest first, over the key of the days: a day on which nothing happened has no item.
SELECT row_to_json(x)::text, m.day::text
FROM rollup.market_day AS m
  LEFT JOIN LATERAL (SELECT q.amount FROM rollup.closing AS q
    WHERE q.deployment = m.deployment AND q.what = 'debt' AND q.name = m.market AND q.day <= m.day
    ORDER BY q.day DESC LIMIT 1) AS e ON true,
  LATERAL (SELECT
    m.day::text AS "day",
    m.opened::text AS "opened",
    m.liquidations::text AS "liquidations",
    m.minted::text AS "minted",
    analyst.scaled(m.minted)::text AS "mintedScaled",
    m.repaid::text AS "repaid",
    analyst.scaled(m.repaid)::text AS "repaidScaled",
    m.deposited::text AS "collateralDeposited",
    analyst.scaled(m.deposited)::text AS "collateralDepositedScaled",
    m.withdrawn::text AS "collateralWithdrawn",
    analyst.scaled(m.withdrawn)::text AS "collateralWithdrawnScaled",
    m.seized::text AS "collateralSeized",
    analyst.scaled(m.seized)::text AS "collateralSeizedScaled",
    e.amount::text AS "debt",
    analyst.scaled(e.amount)::text AS "debtScaled"
  ) AS x
WHERE m.deployment = $1::smallint AND m.market = $4::text AND ($2::text IS NULL OR m.day < $2::date)
ORDER BY m.day DESC
LIMIT $3::integer
