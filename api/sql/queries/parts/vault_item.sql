-- schema: Vault
--   market           Symbol    symbol of the market
--   owner            Address   the owner
--   synthToken       Address?  the synthetic token that is owed
--   collateralToken  Address?  what it is secured with
--   collateral       Amount+   what it is secured with
--   debt             Amount+   the debt
--   state            "active|at_risk|liquidatable|open|unpriced"
--                              evaluated by the engine's own arithmetic; open: without debt; unpriced: no fresh price
--   ratioBps         Bps?      value of the collateral against that of the debt; null: no debt, or no price
--   liqRatioBps      Bps?      below this it may be liquidated
--   minCollRatioBps  Bps?      collateral that new debt needs
--   unpricedBecause  string?   why there is no ratio; null: there is one, or no debt
--   openedAt         Time?     when it was opened
--   updatedAt        Time?     when the engine says it was written
--   changedLedger    Ledger    in which this was last written
--   changedAt        Time      when that ledger closed
-- example: {"market":"sBTC", "owner":"GARUPGDAEGWABDKT6ZA73BUNWWXRTC7KRAJJ2OTRPQ5OEXJUP57G4HTL",
--   "synthToken":"CAHNC4T473GZWSNB3YOY6QREKECN7F3X5IVQQB2J4MCPFKLTASN57RS4",
--   "collateralToken":"CBOKBSX2GJA4RCWXTKCS657JSB2CZQZYACASGBAHDSRB4NC5AGSH6HMA", "collateral":"98398538031",
--   "collateralScaled":"9839.8538031", "debt":"28269312383", "debtScaled":"2826.9312383", "state":"unpriced",
--   "ratioBps":null, "liqRatioBps":"11000", "minCollRatioBps":"13000", "unpricedBecause":"stale_twap",
--   "openedAt":"2026-01-10T18:12:37Z", "updatedAt":"2026-01-24T03:12:02Z", "changedLedger":"1294",
--   "changedAt":"2026-01-24T03:12:02Z"}
FROM v LEFT JOIN m ON m.symbol = v.synth_asset,
  LATERAL (SELECT
      chain.vault_ratio(v.collateral, v.debt, m.collateral_price, m.synth_price) AS ratio
    ) AS r, LATERAL (SELECT
    v.synth_asset AS "market",
    v.owner AS "owner",
    m.token AS "synthToken",
    v.collateral_tok AS "collateralToken",
    v.collateral::text AS "collateral",
    analyst.scaled(v.collateral)::text AS "collateralScaled",
    v.debt::text AS "debt",
    analyst.scaled(v.debt)::text AS "debtScaled",
    chain.vault_state(v.debt, r.ratio, m.liq_ratio, m.min_coll_ratio) AS "state",
    CASE WHEN v.debt > 0 THEN r.ratio::text END AS "ratioBps",
    m.liq_ratio::text AS "liqRatioBps",
    m.min_coll_ratio::text AS "minCollRatioBps",
    CASE WHEN v.debt > 0 AND r.ratio IS NULL THEN coalesce(m.refusal, CASE WHEN m.symbol IS NULL THEN 'no_market'
      WHEN div(v.debt * m.synth_price, 10000000) = 0 THEN 'divided_by_zero' ELSE 'overflow' END) END AS "unpricedBecause",
    chain.rfc3339(analyst.at(v.opened_at)) AS "openedAt",
    chain.rfc3339(analyst.at(v.last_update)) AS "updatedAt",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
