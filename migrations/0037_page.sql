-- 0037_page: what lists of pools and positions page over. Their columns are keys of entries and never
-- change, so updating a row touches neither index; a new pool or position writes one entry more.

CREATE INDEX ON state."liquidity_pool_pool" (deployment, pool_id);
CREATE INDEX ON state."liquidity_pool_lp_pos" (deployment, pool_id, provider);

CREATE VIEW chain.token AS
  SELECT s.deployment, s.contract AS token, analyst.readable(s.symbol) AS symbol, analyst.readable(s.name) AS name
  FROM state.synth_token_instance AS s
  UNION ALL
  SELECT s.deployment, s.contract, CASE s.metadata ->> 'symbol' WHEN 'native' THEN 'XLM' ELSE s.metadata ->> 'symbol' END,
    s.metadata ->> 'name'
  FROM state.stellar_asset_instance AS s;
COMMENT ON VIEW chain.token IS 'symbol and name of each token contract';

DO $$
BEGIN
  CALL chain.grant_api();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the role tidemark_api was not given what is new (%): as a superuser, CALL chain.grant_api()', SQLERRM;
END $$;
