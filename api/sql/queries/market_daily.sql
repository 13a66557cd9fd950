-- list: deployment at after limit symbol
-- of: market
-- Vaults of a market by day (UTC), the newest first, over the key of the days: a day on which nothing happened has no item.
-- As of a ledger the days that were over when it closed.
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
WHERE m.deployment = $1::smallint AND m.market = $5::text AND ($3::text IS NULL OR m.day < $3::date)
  AND ($2::integer = 2147483647 OR m.day < (SELECT (l.closed_at AT TIME ZONE 'UTC')::date FROM chain.ledger AS l
    WHERE l.deployment = $1 AND l.ledger = $2))
ORDER BY m.day DESC
LIMIT $4::integer
