-- list: deployment at after limit symbol from to fill order
-- of: market
-- tag: Markets
-- summary: A market's vaults by day
-- about: Days are UTC. A day without activity has no item, unless `fill` is given. With `ledger` those days that were
--   over when it closed.
-- answer: MarketDays of MarketDay
-- schema: MarketDay
--   day                  date      the day, UTC
--   opened               Count     vaults opened
--   liquidations         Count     vaults liquidated, each time
--   minted               Amount+?  synthetic tokens minted
--   repaid               Amount+?  debt repaid by owners; what liquidators repaid is not in it
--   collateralDeposited  Amount+?  collateral paid in, when opening and later, whatever token; not scaled where
--                                 tokens of the list of collateral differ in decimals
--   collateralWithdrawn  Amount+?  collateral withdrawn
--   collateralSeized     Amount+?  collateral given to liquidators
--   debt                 Amount?+  debt of the market at the close of the day; null: not indexed
-- example: {"day":"2026-01-31", "opened":0, "liquidations":0, "minted":"93724884517",
--   "mintedScaled":"9372.4884517", "repaid":"30344419622", "repaidScaled":"3034.4419622",
--   "collateralDeposited":"182090000002", "collateralDepositedScaled":"18209.0000002",
--   "collateralWithdrawn":"121931549271", "collateralWithdrawnScaled":"12193.1549271", "collateralSeized":"0",
--   "collateralSeizedScaled":"0.0000000", "debt":"1203640063117", "debtScaled":"120364.0063117"}
--
-- Vaults of a market by day (UTC), over the key of the days. b has the bounds of a filled page: its first day, and the one behind its last.
WITH b AS MATERIALIZED (
  SELECT s.first, s.ends, greatest(s.first, chain.day(to_timestamp(ceil($6::numeric) + 86399)),
      CASE WHEN $9::text = 'asc' THEN $3::date + 1 END) AS lo,
    least(s.ends, chain.day(to_timestamp(ceil($7::numeric) + 86399)), CASE WHEN $9 = 'desc' THEN $3::date END) AS hi
  FROM chain.cursor AS c
    LEFT JOIN chain.ledger AS l ON l.deployment = c.deployment AND l.ledger = $2::integer,
    LATERAL (SELECT CASE WHEN $2 = 2147483647 THEN chain.day(c.closed_at) + 1 ELSE chain.day(l.closed_at) END AS ends,
      (SELECT k.day FROM rollup.market_day AS k WHERE k.deployment = $1 AND k.market = $5::text ORDER BY k.day LIMIT 1) AS first) AS s
  WHERE c.deployment = $1::smallint
)
SELECT row_to_json(x)::text, d.day::text
FROM (
    (SELECT k.day FROM rollup.market_day AS k
    WHERE $8::text IS NULL AND k.deployment = $1 AND k.market = $5
      AND ($6::text IS NULL OR k.day >= chain.day(to_timestamp(ceil($6::numeric) + 86399)))
      AND ($7::text IS NULL OR k.day < chain.day(to_timestamp(ceil($7::numeric) + 86399)))
      AND ($2 = 2147483647 OR k.day < (SELECT b.ends FROM b))
      AND ($3 IS NULL OR CASE WHEN $9 = 'asc' THEN k.day > $3::date ELSE k.day < $3::date END)
    ORDER BY CASE WHEN $9 = 'asc' THEN k.day END, k.day DESC
    LIMIT $4::integer)
    UNION ALL
    (SELECT g.day FROM b, generate_series(0, $4 - 1) AS n,
      LATERAL (SELECT CASE WHEN $9 = 'asc' THEN b.lo + n ELSE b.hi - 1 - n END AS day) AS g
    WHERE $8 = 'previous' AND b.first IS NOT NULL AND g.day >= b.lo AND g.day < b.hi)
  ) AS d
  LEFT JOIN rollup.market_day AS m ON m.deployment = $1 AND m.market = $5 AND m.day = d.day
  LEFT JOIN LATERAL (SELECT q.amount FROM rollup.closing AS q
    WHERE q.deployment = $1 AND q.what = 'debt' AND q.name = $5 AND q.day <= d.day
    ORDER BY q.day DESC LIMIT 1) AS e ON true,
  (SELECT (SELECT d.decimals FROM chain.market_decimals($1::smallint, $5::text, $2::integer) AS d) AS debt, (SELECT d.decimals FROM chain.collateral_decimals($1::smallint, $2::integer) AS d) AS collateral
    OFFSET 0) AS unit, LATERAL (SELECT
    d.day::text AS "day",
    coalesce(m.opened, 0) AS "opened",
    coalesce(m.liquidations, 0) AS "liquidations",
    coalesce(m.minted, 0)::text AS "minted",
    analyst.scaled(coalesce(m.minted, 0), unit.debt)::text AS "mintedScaled",
    coalesce(m.repaid, 0)::text AS "repaid",
    analyst.scaled(coalesce(m.repaid, 0), unit.debt)::text AS "repaidScaled",
    coalesce(m.deposited, 0)::text AS "collateralDeposited",
    analyst.scaled(coalesce(m.deposited, 0), unit.collateral)::text AS "collateralDepositedScaled",
    coalesce(m.withdrawn, 0)::text AS "collateralWithdrawn",
    analyst.scaled(coalesce(m.withdrawn, 0), unit.collateral)::text AS "collateralWithdrawnScaled",
    coalesce(m.seized, 0)::text AS "collateralSeized",
    analyst.scaled(coalesce(m.seized, 0), unit.collateral)::text AS "collateralSeizedScaled",
    e.amount::text AS "debt",
    analyst.scaled(e.amount, unit.debt)::text AS "debtScaled"
  ) AS x
ORDER BY CASE WHEN $9 = 'asc' THEN d.day END, d.day DESC
LIMIT $4
