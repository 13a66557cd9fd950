-- one: deployment at market owner
-- none: there is no such vault
-- One vault, as it is or as it was, one that is gone is closed.
WITH m AS MATERIALIZED (SELECT * FROM chain.vault_market($1::smallint, $2::integer)),
k AS (
  SELECT s.key_hash FROM state.synthetic_engine_vault AS s
  WHERE s.deployment = $1 AND s.owner = $4::text AND s.synth_asset = $3::text
  UNION
  SELECT h.key_hash FROM event.synthetic_engine_open AS o, LATERAL (SELECT h.key_hash
    FROM history.synthetic_engine_vault AS h
    WHERE h.deployment = $1 AND h.ledger = o.ledger AND h.key_owner = $4 AND h.synth = $3 LIMIT 1) AS h
  WHERE o.deployment = $1 AND o.owner = $4 AND o.synth_asset = $3 AND o.ledger <= $2
), v AS (
  SELECT h.removed, $3 AS synth_asset, $4 AS owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update,
    h.ledger, h.closed_at
  FROM k, LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
    WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
)
SELECT CASE WHEN v.removed THEN json_build_object('market', v.synth_asset, 'owner', v.owner, 'state', 'closed',
  'changedLedger', v.ledger::text, 'changedAt', chain.rfc3339(v.closed_at)) ELSE row_to_json(x) END::text
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
LIMIT 1
