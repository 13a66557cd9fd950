-- schema: Vault
--   market                 Symbol     symbol of the market
--   owner                  Address    the owner
--   synthToken             Address?   the synthetic token that is owed
--   synthTokenSymbol       string?    its symbol, where it is known
--   collateralToken        Address?   what it is secured with
--   collateralTokenSymbol  string?    its symbol, where it is known
--   collateral             Amount+?   what it is secured with
--   collateralValue        Amount?+   in US dollars, with the collateral's decimals, as the engine reckons; null: no fresh price
--   collateralOracleAsset  Symbol?    the feed that prices the collateral, as in `/api/prices/{asset}`; null: there is no such
--                                     market
--   collateralPrice        Amount?+   its average, which the engine uses, 7 decimals; null: not fresh
--   debt                   Amount+?   the debt
--   debtValue              Amount?+   in US dollars, with the synthetic token's decimals; null: no fresh price
--   oracleAsset            Symbol?    the feed that prices the debt; null: there is no such market
--   synthPrice             Amount?+   its average, 7 decimals; null: not fresh
--   state                  "active|at_risk|liquidatable|open|unpriced|closed"
--                                     evaluated by the engine's own arithmetic; open: without debt; unpriced: no fresh
--                                     price; closed: it is gone, in the answer about one vault
--   ratioBps               Bps?       value of the collateral against that of the debt; null: no debt, or no price
--   liqRatioBps            Bps?       below this it may be liquidated
--   minCollRatioBps        Bps?       collateral that new debt needs
--   liquidationPrice       Amount?+   lowest price of the collateral, 7 decimals, at which the vault may not be
--                                     liquidated, at the present price of the debt; one unit below it, it may; null: no
--                                     debt, no fresh price of the debt, or no such price
--   distanceBps            Bps?       by how much the collateral's price must fall until the vault may be liquidated; "0":
--                                     it may be now; null: no debt, no fresh price, or never
--   unpricedBecause        string?    why there is no ratio; null: there is one, or no debt
--   openedAt               Time?      when it was opened
--   updatedAt              Time?      when the engine says it was written
--   changedLedger          Ledger     in which this was last written
--   changedAt              Time       when that ledger closed
-- example: {"market":"sBTC", "owner":"GARUPGDAEGWABDKT6ZA73BUNWWXRTC7KRAJJ2OTRPQ5OEXJUP57G4HTL",
--   "synthToken":"CAHNC4T473GZWSNB3YOY6QREKECN7F3X5IVQQB2J4MCPFKLTASN57RS4", "synthTokenSymbol":"sBTC",
--   "collateralToken":"CBOKBSX2GJA4RCWXTKCS657JSB2CZQZYACASGBAHDSRB4NC5AGSH6HMA", "collateralTokenSymbol":"XLM",
--   "collateral":"98398538031", "collateralScaled":"9839.8538031", "collateralValue":"37774214764",
--   "collateralValueScaled":"3777.4214764", "collateralOracleAsset":"XLM", "collateralPrice":"3838908",
--   "collateralPriceScaled":"0.3838908", "debt":"28269312383", "debtScaled":"2826.9312383", "debtValue":"30134747834",
--   "debtValueScaled":"3013.4747834", "oracleAsset":"BTC", "synthPrice":"10659880", "synthPriceScaled":"1.0659880", "state":"at_risk", "ratioBps":"12535", "liqRatioBps":"11000",
--   "minCollRatioBps":"13000", "liquidationPrice":"3368777", "liquidationPriceScaled":"0.3368777", "distanceBps":"1225",
--   "unpricedBecause":null, "openedAt":"2026-01-10T18:12:37Z", "updatedAt":"2026-01-24T03:12:02Z",
--   "changedLedger":"1294", "changedAt":"2026-01-24T03:12:02Z"}
FROM v LEFT JOIN m ON m.symbol = v.synth
  LEFT JOIN LATERAL (SELECT t.symbol, t.decimals FROM chain.token_at($1::smallint, v.collateral_tok, $2::integer) AS t OFFSET 0) AS c ON true
  LEFT JOIN LATERAL (SELECT t.symbol, t.decimals FROM chain.token_at($1::smallint, m.token, $2::integer) AS t OFFSET 0) AS s ON true,
  LATERAL (SELECT
      chain.vault_ratio(v.collateral, v.debt, m.collateral_price, m.synth_price) AS ratio,
      chain.vault_value(v.collateral, m.collateral_price) AS collateral_value,
      chain.vault_value(v.debt, m.synth_price) AS debt_value,
      chain.vault_liquidation_price(v.collateral, v.debt, m.synth_price, m.liq_ratio) AS liquidation_price
    ) AS r, LATERAL (SELECT
    v.synth AS "market",
    v.key_owner AS "owner",
    m.token AS "synthToken",
    s.symbol AS "synthTokenSymbol",
    v.collateral_tok AS "collateralToken",
    c.symbol AS "collateralTokenSymbol",
    v.collateral::text AS "collateral",
    analyst.scaled(v.collateral, c.decimals)::text AS "collateralScaled",
    r.collateral_value::text AS "collateralValue",
    analyst.scaled(r.collateral_value, c.decimals)::text AS "collateralValueScaled",
    m.collateral_feed AS "collateralOracleAsset",
    m.collateral_price::text AS "collateralPrice",
    analyst.scaled(m.collateral_price, 7)::text AS "collateralPriceScaled",
    v.debt::text AS "debt",
    analyst.scaled(v.debt, s.decimals)::text AS "debtScaled",
    r.debt_value::text AS "debtValue",
    analyst.scaled(r.debt_value, s.decimals)::text AS "debtValueScaled",
    m.synth_feed AS "oracleAsset",
    m.synth_price::text AS "synthPrice",
    analyst.scaled(m.synth_price, 7)::text AS "synthPriceScaled",
    chain.vault_state(v.debt, r.ratio, m.liq_ratio, m.min_coll_ratio) AS "state",
    CASE WHEN v.debt > 0 THEN r.ratio::text END AS "ratioBps",
    m.liq_ratio::text AS "liqRatioBps",
    m.min_coll_ratio::text AS "minCollRatioBps",
    r.liquidation_price::text AS "liquidationPrice",
    analyst.scaled(r.liquidation_price, 7)::text AS "liquidationPriceScaled",
    chain.vault_distance(v.debt, r.ratio, m.liq_ratio, r.liquidation_price, m.collateral_price)::text AS "distanceBps",
    CASE WHEN v.debt > 0 AND r.ratio IS NULL THEN coalesce(m.refusal, CASE WHEN m.symbol IS NULL THEN 'no_market'
      WHEN div(v.debt * m.synth_price, 10000000) = 0 THEN 'divided_by_zero' ELSE 'overflow' END) END AS "unpricedBecause",
    chain.rfc3339(analyst.at(v.opened_at)) AS "openedAt",
    chain.rfc3339(analyst.at(v.last_update)) AS "updatedAt",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
