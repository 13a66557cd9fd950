-- list: deployment at after limit symbol
-- of: market
-- tag: Markets
-- summary: A market's vaults by day
-- about: Days are UTC, the newest first; a day without activity has no item. With `ledger` those days that were over
--   when it closed.
-- answer: MarketDays of MarketDay
-- schema: MarketDay
--   day                  date      the day, UTC
--   opened               U64       vaults opened
--   liquidations         U64       vaults liquidated, each time
--   minted               Amount+   synthetic tokens minted, raw units
--   repaid               Amount+   debt repaid by owners, raw units; what liquidators repaid is not in it
--   collateralDeposited  Amount+   collateral paid in, when opening and later, whatever token, raw units
--   collateralWithdrawn  Amount+   collateral withdrawn, raw units
--   collateralSeized     Amount+   collateral given to liquidators, raw units
--   debt                 Amount?+  debt of the market at the close of the day, raw units; null: not indexed
-- example: {"day":"2026-01-31", "opened":"0", "liquidations":"0", "minted":"93724884517",
--   "mintedScaled":"9372.4884517", "repaid":"30344419622", "repaidScaled":"3034.4419622",
--   "collateralDeposited":"182090000002", "collateralDepositedScaled":"18209.0000002",
--   "collateralWithdrawn":"121931549271", "collateralWithdrawnScaled":"12193.1549271", "collateralSeized":"0",
--   "collateralSeizedScaled":"0.0000000", "debt":"1203640063117", "debtScaled":"120364.0063117"}
--
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
