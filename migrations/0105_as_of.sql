-- 0105_as_of: lists as of a ledger take their keys from the state and from the removals after that ledger.
-- Partial indexes find those removals: the published contracts remove few entries.

CREATE INDEX ON history."liquidity_pool_pool" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."liquidity_pool_lp_pos" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."synthetic_engine_asset_config" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."synthetic_engine_debt_total" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."stability_pool_state" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."stability_pool_instance" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."compliance_registry_instance" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."partner_registry_instance" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."earnings_distributor_instance" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."earnings_distributor_epoch_token_list" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."earnings_distributor_epoch_revenue" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."oracle_instance" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."oracle_pending_observations" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."dao_governance_multi_sig_approval" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."dao_governance_proposal_multi_sig_txs" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."synth_token_instance" (deployment, ledger) WHERE removed;
CREATE INDEX ON history."stellar_asset_instance" (deployment, ledger) WHERE removed;

CREATE OR REPLACE FUNCTION chain.vault_market(deployment smallint, at integer)
  RETURNS TABLE (symbol text, token text, liq_ratio numeric, min_coll_ratio numeric, collateral_price numeric,
    synth_price numeric, refusal text)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 16
BEGIN ATOMIC
  WITH bound AS (
    SELECT (SELECT r.contract FROM chain.role AS r WHERE r.deployment = $1 AND r.role = 'oracle') AS oracle,
      (SELECT r.contract FROM chain.role AS r WHERE r.deployment = $1 AND r.role = 'synthetic_engine') AS engine
  ), feed AS (
    SELECT s.asset, s.twap_price, s.twap_ts FROM state.oracle_feed AS s
    WHERE $2 = 2147483647 AND s.deployment = $1 AND s.contract = (SELECT b.oracle FROM bound AS b)
    UNION ALL
    SELECT k.asset, h.twap_price, h.twap_ts FROM (
      SELECT s.asset, s.key_hash FROM state.oracle_feed AS s
      WHERE s.deployment = $1 AND s.contract = (SELECT b.oracle FROM bound AS b)
      UNION
      SELECT h.asset, h.key_hash FROM history.oracle_feed AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.contract = (SELECT b.oracle FROM bound AS b)
    ) AS k, LATERAL (
      SELECT h.twap_price, h.twap_ts, h.removed FROM history.oracle_feed AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    WHERE $2 < 2147483647 AND NOT h.removed
  ), market AS (
    SELECT s.symbol, s.token, s.liq_ratio, s.min_coll_ratio, s.coll_oracle_sym, s.oracle_symbol
    FROM state.synthetic_engine_asset_config AS s
    WHERE $2 = 2147483647 AND s.deployment = $1 AND s.contract = (SELECT b.engine FROM bound AS b)
    UNION ALL
    SELECT k.symbol, h.token, h.liq_ratio, h.min_coll_ratio, h.coll_oracle_sym, h.oracle_symbol
    FROM (
      SELECT s.symbol, s.key_hash FROM state.synthetic_engine_asset_config AS s
      WHERE s.deployment = $1 AND s.contract = (SELECT b.engine FROM bound AS b)
      UNION
      SELECT h.symbol, h.key_hash FROM history.synthetic_engine_asset_config AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.contract = (SELECT b.engine FROM bound AS b)
    ) AS k, LATERAL (
      SELECT h.* FROM history.synthetic_engine_asset_config AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    WHERE $2 < 2147483647 AND NOT h.removed
  ), usable AS (
    SELECT m.*, c.asset IS NULL AS no_collateral, y.asset IS NULL AS no_synth, c.twap_price AS collateral_twap,
      y.twap_price AS synth_twap, t.now - c.twap_ts > 600 AS collateral_old, t.now - y.twap_ts > 600 AS synth_old
    FROM market AS m
      CROSS JOIN (SELECT chain.moment($1, $2) AS now) AS t
      LEFT JOIN feed AS c ON c.asset = m.coll_oracle_sym
      LEFT JOIN feed AS y ON y.asset = m.oracle_symbol
  )
  SELECT u.symbol, u.token, u.liq_ratio, u.min_coll_ratio,
    CASE WHEN NOT u.collateral_old THEN u.collateral_twap END, CASE WHEN NOT u.synth_old THEN u.synth_twap END,
    CASE WHEN u.no_collateral THEN 'no_feed' WHEN u.collateral_old THEN 'stale_twap'
      WHEN u.no_synth THEN 'no_feed' WHEN u.synth_old THEN 'stale_twap' END
  FROM usable AS u;
END;
