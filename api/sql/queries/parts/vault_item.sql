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
