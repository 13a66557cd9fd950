-- one: deployment at symbol
-- none no_market: there is no such market
-- tag: Markets
-- summary: What a fall of the collateral's price does
-- about: How many vaults of the market, with how much debt and collateral, may be liquidated once the price of the collateral
--   has fallen by so much while the price of the debt stands, in steps of 1 %, each with those before it. `buckets` count
--   the vaults by their present ratio. Both are empty while the market has no fresh price.
-- answer: MarketRisk
--   market           Symbol        symbol of the market
--   collateralPrice  Amount?+      the price that falls, 7 decimals; null: not fresh
--   synthPrice       Amount?+      price of the debt, 7 decimals; null: not fresh
--   liqRatioBps      Bps           below this a vault may be liquidated
--   minCollRatioBps  Bps           collateral that new debt needs
--   unpricedBecause  string?       why there are no prices; null: there are
--   vaults           Count         vaults with debt that are counted here
--   unpriced         Count         of these, vaults whose ratio the engine cannot compute: in no item and no bucket
--   complete         boolean       false: the market has more than 10000 vaults with debt, and only the riskiest 10000 are
--                                  counted; or as of a ledger, vaults changed more than 50000 times since, and some are missing
--   items            RiskStep[]    by fall of the price, from 0 to 100 %
--   buckets          RiskBucket[]  by ratio
-- schema: RiskStep
--   fallBps     Bps      by how much the collateral's price has fallen
--   vaults      Count    vaults that may be liquidated then
--   debt        Amount+?  their debt
--   collateral  Amount+?  their collateral
-- schema: RiskBucket
--   fromRatioBps  Bps      lowest ratio
--   toRatioBps    Bps?     below this ratio; null: no bound
--   vaults        Count    vaults of such a ratio
--   debt          Amount+?  their debt
--   collateral    Amount+?  their collateral
-- example: {"market":"sBTC", "collateralPrice":"3838908", "collateralPriceScaled":"0.3838908", "synthPrice":"10659880",
--   "synthPriceScaled":"1.0659880", "liqRatioBps":"11000", "minCollRatioBps":"13000", "unpricedBecause":null, "vaults":41,
--   "unpriced":0, "complete":true, "items":[{"fallBps":"0", "vaults":0, "debt":"0", "debtScaled":"0.0000000",
--   "collateral":"0", "collateralScaled":"0.0000000"}], "buckets":[{"fromRatioBps":"12000", "toRatioBps":"13000", "vaults":3,
--   "debt":"84807937149", "debtScaled":"8480.7937149", "collateral":"295195614093", "collateralScaled":"29519.5614093"}]}
WITH m AS MATERIALIZED (
  SELECT * FROM chain.vault_market($1::smallint, $2::integer) AS m WHERE m.symbol = $3::text LIMIT 1
),
-- part: vault_queue
, r AS MATERIALIZED (
  SELECT v.collateral, v.debt, r.ratio, chain.vault_distance(v.debt, r.ratio, m.liq_ratio,
      chain.vault_liquidation_price(v.collateral, v.debt, m.synth_price, m.liq_ratio), m.collateral_price) AS distance
  FROM m, (SELECT * FROM queue LIMIT 10000) AS v,
    LATERAL (SELECT chain.vault_ratio(v.collateral, v.debt, m.collateral_price, m.synth_price) AS ratio OFFSET 0) AS r
), edge AS (
  SELECT ARRAY[0, 10000, 10500, 11000, 11500, 12000, 12500, 13000, 13500, 14000, 14500, 15000, 16000, 17000, 18000, 19000, 20000, 22500,
    25000, 27500, 30000, 35000, 40000, 50000, 75000, 100000]::numeric[] AS ratios
)
SELECT row_to_json(x)::text
FROM m, (SELECT (SELECT d.decimals FROM chain.market_decimals($1::smallint, $3::text, $2::integer) AS d) AS debt, (SELECT d.decimals FROM chain.collateral_decimals($1::smallint, $2::integer) AS d) AS collateral OFFSET 0) AS unit,
  LATERAL (SELECT
    m.symbol AS "market",
    m.collateral_price::text AS "collateralPrice",
    analyst.scaled(m.collateral_price, 7)::text AS "collateralPriceScaled",
    m.synth_price::text AS "synthPrice",
    analyst.scaled(m.synth_price, 7)::text AS "synthPriceScaled",
    m.liq_ratio::text AS "liqRatioBps",
    m.min_coll_ratio::text AS "minCollRatioBps",
    m.refusal AS "unpricedBecause",
    (SELECT count(*) FROM r) AS "vaults",
    (SELECT count(*) FROM r WHERE r.ratio IS NULL) AS "unpriced",
    (SELECT count(*) FROM queue) <= 10000 AND (SELECT count(*) FROM version) <= 50000 AS "complete",
    to_json(ARRAY(SELECT row_to_json(i)
      FROM (
        SELECT g.step, sum(coalesce(d.vaults, 0)) OVER w AS vaults, sum(coalesce(d.debt, 0)) OVER w AS debt,
          sum(coalesce(d.collateral, 0)) OVER w AS collateral
        FROM generate_series(0, 100) AS g(step) LEFT JOIN (
            SELECT (r.distance + 99) / 100 AS step, count(*) AS vaults, sum(r.debt) AS debt, sum(r.collateral) AS collateral
            FROM r WHERE r.distance IS NOT NULL GROUP BY 1) AS d ON d.step = g.step
        WHERE m.refusal IS NULL
        WINDOW w AS (ORDER BY g.step)
      ) AS s, LATERAL (SELECT
        (100 * s.step)::text AS "fallBps",
        s.vaults AS "vaults",
        s.debt::text AS "debt",
        analyst.scaled(s.debt, unit.debt)::text AS "debtScaled",
        s.collateral::text AS "collateral",
        analyst.scaled(s.collateral, unit.collateral)::text AS "collateralScaled"
      ) AS i
      ORDER BY s.step)) AS "items",
    to_json(ARRAY(SELECT row_to_json(i)
      FROM edge AS e, generate_series(1, cardinality(e.ratios)) AS g(at) LEFT JOIN (
          SELECT greatest(width_bucket(r.ratio, e.ratios), 1) AS at, count(*) AS vaults, sum(r.debt) AS debt, sum(r.collateral) AS collateral
          FROM edge AS e, r WHERE r.ratio IS NOT NULL GROUP BY 1) AS d ON d.at = g.at,
        LATERAL (SELECT
          e.ratios[g.at]::text AS "fromRatioBps",
          e.ratios[g.at + 1]::text AS "toRatioBps",
          coalesce(d.vaults, 0) AS "vaults",
          coalesce(d.debt, 0)::text AS "debt",
          analyst.scaled(coalesce(d.debt, 0), unit.debt)::text AS "debtScaled",
          coalesce(d.collateral, 0)::text AS "collateral",
          analyst.scaled(coalesce(d.collateral, 0), unit.collateral)::text AS "collateralScaled"
        ) AS i
      WHERE m.refusal IS NULL
      ORDER BY g.at)) AS "buckets"
  ) AS x
