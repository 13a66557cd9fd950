-- one: deployment at market owner
-- none: there is no such vault
-- tag: Vaults
-- summary: One vault
-- about: Value, ratio, price of liquidation and distance to it, as the engine computes them; what brings it back to the ratio that new
--   debt needs, how many are liquidated before it, and what a liquidation takes. One that is gone is `closed`.
-- answer: VaultAnswer
--   ...Vault
--   liqPenaltyBps  Bps?         what a liquidator gets on top of the debt's value; null: there is no such market
--   queuePosition  Count?       its place among the market's vaults with debt, the riskiest first; null: no debt, or 10000 are riskier
--   queueLength    Count?       vaults of the market with debt; null: more than 10000
--   toMinimum      VaultRemedy?  what brings it to `minCollRatioBps` at the present prices, by the engine's test of new debt; null: no
--                               debt, no fresh price, or amounts above 127 bits
--   toSafety       VaultRemedy?  what brings it to `liqRatioBps`, from where it may not be liquidated; null: likewise
--   ifLiquidated   VaultLoss?   what a liquidation of all its debt takes: now where it may be liquidated, else one unit of price below
--                               `liquidationPrice`; null: likewise, or there is no such price
-- example: {"liqPenaltyBps":"800", "queuePosition":3, "queueLength":41, "toMinimum":{"collateral":"0", "collateralScaled":"0.0000000",
--   "debt":"0", "debtScaled":"0.0000000"}, "toSafety":{"collateral":"0", "collateralScaled":"0.0000000", "debt":"0",
--   "debtScaled":"0.0000000"}, "ifLiquidated":{"collateralPrice":"3368776", "collateralPriceScaled":"0.3368776", "debt":"1000000",
--   "debtScaled":"0.1000000", "collateralToLiquidator":"3417000", "collateralToLiquidatorScaled":"0.3417000",
--   "collateralToStabilityPool":"63000", "collateralToStabilityPoolScaled":"0.0063000"}}
-- schema: VaultRemedy
--   collateral  Amount+?  collateral to add, or instead
--   debt        Amount+?  debt to repay; both "0": it is there
-- schema: VaultLoss
--   collateralPrice            Amount+   price of the collateral, 7 decimals
--   debt                       Amount+?  debt that the liquidator repays
--   collateralToLiquidator     Amount+?  worth that debt and the penalty, at most all there is
--   collateralToStabilityPool  Amount+?  the rest, where the engine names a pool: the owner keeps none
--
-- One vault, as it is or as it was, one that is gone is closed.
WITH m AS MATERIALIZED (SELECT * FROM chain.vault_market($1::smallint, $2::integer) AS m WHERE m.symbol = $3::text LIMIT 1),
-- part: vault_queue
, k AS (
  SELECT s.key_hash FROM state.synthetic_engine_vault AS s
  WHERE s.deployment = $1 AND s.key_owner = $4::text AND s.synth = $3
  UNION
  SELECT h.key_hash FROM history.synthetic_engine_vault AS h
  WHERE h.deployment = $1 AND h.removed AND h.key_owner_key = chain.word_key($4) AND h.synth_key = (SELECT w.key FROM word AS w)
), v AS (
  SELECT k.key_hash, h.removed, $3 AS synth, $4 AS key_owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update,
    h.ledger, h.closed_at
  FROM k, LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
    WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
)
SELECT CASE WHEN v.removed THEN (SELECT row_to_json(z) FROM (SELECT v.synth AS "market", v.key_owner AS "owner",
  'closed' AS "state", v.ledger::text AS "changedLedger", chain.rfc3339(v.closed_at) AS "changedAt") AS z)
  ELSE row_to_json(y) END::text
-- part: vault_item
  , LATERAL (SELECT count(*) AS length, count(*) FILTER (WHERE (chain.vault_order(q.collateral, q.debt), q.key_hash)
        <= (chain.vault_order(v.collateral, v.debt), v.key_hash)) AS place,
      count(*) <= 10000 AND (SELECT count(*) FROM version) <= 50000 AS whole
    FROM queue AS q) AS q
  LEFT JOIN LATERAL chain.vault_remedy(v.collateral, v.debt, m.collateral_price, m.synth_price, m.liq_ratio, m.min_coll_ratio) AS e ON true,
  LATERAL (SELECT CASE WHEN r.ratio < m.liq_ratio THEN m.collateral_price WHEN v.debt > 0 AND r.ratio IS NOT NULL THEN r.liquidation_price - 1 END
    AS price) AS p,
  LATERAL (SELECT chain.vault_award(v.collateral, v.debt, p.price, m.synth_price, m.liq_penalty) AS award) AS a,
  LATERAL (SELECT x.*,
    m.liq_penalty::text AS "liqPenaltyBps",
    CASE WHEN v.debt > 0 AND (q.whole OR $2 = 2147483647 AND q.place <= 10000) THEN q.place END AS "queuePosition",
    CASE WHEN q.whole THEN q.length END AS "queueLength",
    CASE WHEN e.minimum_collateral IS NOT NULL THEN (SELECT row_to_json(i) FROM (SELECT
      e.minimum_collateral::text AS "collateral",
      analyst.scaled(e.minimum_collateral, c.decimals)::text AS "collateralScaled",
      e.minimum_debt::text AS "debt",
      analyst.scaled(e.minimum_debt, s.decimals)::text AS "debtScaled") AS i) END AS "toMinimum",
    CASE WHEN e.safe_collateral IS NOT NULL THEN (SELECT row_to_json(i) FROM (SELECT
      e.safe_collateral::text AS "collateral",
      analyst.scaled(e.safe_collateral, c.decimals)::text AS "collateralScaled",
      e.safe_debt::text AS "debt",
      analyst.scaled(e.safe_debt, s.decimals)::text AS "debtScaled") AS i) END AS "toSafety",
    CASE WHEN a.award IS NOT NULL THEN (SELECT row_to_json(i) FROM (SELECT
      p.price::text AS "collateralPrice",
      analyst.scaled(p.price, 7)::text AS "collateralPriceScaled",
      v.debt::text AS "debt",
      analyst.scaled(v.debt, s.decimals)::text AS "debtScaled",
      a.award::text AS "collateralToLiquidator",
      analyst.scaled(a.award, c.decimals)::text AS "collateralToLiquidatorScaled",
      (v.collateral - a.award)::text AS "collateralToStabilityPool",
      analyst.scaled(v.collateral - a.award, c.decimals)::text AS "collateralToStabilityPoolScaled") AS i) END AS "ifLiquidated"
  ) AS y
LIMIT 1
