-- 0036_vaults: vaults as their list reads them, by market and by how near they are to liquidation,
-- and the engine's own arithmetic over them.

-- The second "now" of answers: the later of the wall clock and the newest close time, in unix
-- seconds; the close time of a ledger that was asked for.
CREATE FUNCTION chain.moment(deployment smallint, at integer) RETURNS bigint
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN (CASE WHEN $2 = 2147483647
    THEN (SELECT greatest(extract(epoch FROM clock_timestamp()), extract(epoch FROM c.closed_at))::numeric
      FROM chain.cursor AS c WHERE c.deployment = $1)
    ELSE (SELECT extract(epoch FROM l.closed_at) FROM chain.ledger AS l WHERE l.deployment = $1 AND l.ledger = $2)
    END)::numeric(20,0)::bigint;
COMMENT ON FUNCTION chain.moment(smallint, integer) IS 'the time at which an answer as of a ledger is evaluated, unix seconds';

-- Where a vault stands among those of its market, riskiest first: hundred-thousandths of a unit of
-- collateral to a unit of debt, from 1. 0: a debt below one unit, where rounding may decide; the
-- last of all: without debt.
CREATE FUNCTION chain.vault_order(collateral numeric, debt numeric) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN debt >= 10000000 THEN 1 + least(div(collateral * 100000, debt), 99999999998)::bigint
    WHEN debt > 0 THEN 0 ELSE 100000000000 END;
COMMENT ON FUNCTION chain.vault_order(numeric, numeric) IS 'place of a vault in the list of its market: an order, not a ratio of values';

-- Collateral ratio in basis points, as get_cr_bps says it; null where it would refuse: no price,
-- a debt that is worth nothing, or more than 127 bits.
CREATE FUNCTION chain.vault_ratio(collateral numeric, debt numeric, collateral_price numeric, synth_price numeric)
  RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN debt = 0 THEN 170141183460469231731687303715884105727
    WHEN greatest(abs(collateral * collateral_price), abs(div(collateral * collateral_price, 10000000) * 10000),
        abs(debt * synth_price)) <= 170141183460469231731687303715884105727
      THEN div(div(collateral * collateral_price, 10000000) * 10000, nullif(div(debt * synth_price, 10000000), 0))
    END;
COMMENT ON FUNCTION chain.vault_ratio(numeric, numeric, numeric, numeric) IS 'collateral ratio in basis points, in the engine''s own integer arithmetic';

CREATE FUNCTION chain.vault_state(debt numeric, ratio numeric, liq_ratio numeric, min_coll_ratio numeric) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN debt = 0 THEN 'open' WHEN ratio IS NULL OR liq_ratio IS NULL THEN 'unpriced'
    WHEN ratio < liq_ratio THEN 'liquidatable' WHEN ratio < min_coll_ratio THEN 'at_risk' ELSE 'active' END;
COMMENT ON FUNCTION chain.vault_state(numeric, numeric, numeric, numeric) IS 'open, active, at_risk, liquidatable or unpriced';

-- A market's ratios and the prices that its vaults are judged by, as of a ledger: null where the
-- oracle refuses them, with why.
CREATE FUNCTION chain.vault_market(deployment smallint, at integer)
  RETURNS TABLE (symbol text, token text, liq_ratio numeric, min_coll_ratio numeric, collateral_price numeric,
    synth_price numeric, refusal text)
  LANGUAGE sql STABLE PARALLEL SAFE ROWS 16
BEGIN ATOMIC
  WITH feed AS (
    SELECT s.asset, s.twap_price, s.twap_ts FROM state.oracle_feed AS s
    WHERE $2 = 2147483647 AND s.deployment = $1
    UNION ALL
    SELECT k.asset, h.twap_price, h.twap_ts FROM state.oracle_feed AS k, LATERAL (
      SELECT h.twap_price, h.twap_ts, h.removed FROM history.oracle_feed AS h
      WHERE h.deployment = k.deployment AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    WHERE $2 < 2147483647 AND k.deployment = $1 AND NOT h.removed
  ), market AS (
    SELECT s.symbol, s.token, s.liq_ratio, s.min_coll_ratio, s.coll_oracle_sym, s.oracle_symbol
    FROM state.synthetic_engine_asset_config AS s WHERE $2 = 2147483647 AND s.deployment = $1
    UNION ALL
    SELECT k.symbol, h.token, h.liq_ratio, h.min_coll_ratio, h.coll_oracle_sym, h.oracle_symbol
    FROM state.synthetic_engine_asset_config AS k, LATERAL (
      SELECT h.* FROM history.synthetic_engine_asset_config AS h
      WHERE h.deployment = k.deployment AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    WHERE $2 < 2147483647 AND k.deployment = $1 AND NOT h.removed
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
COMMENT ON FUNCTION chain.vault_market(smallint, integer) IS 'each market with the prices its vaults are judged by, and why there are none';

-- Between which orders vaults of a state stand: all of them, and few others. low above high: none.
CREATE FUNCTION chain.vault_range(state text, liq_ratio numeric, min_coll_ratio numeric, collateral_price numeric,
    synth_price numeric, OUT low bigint, OUT high bigint)
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH edge AS (
    SELECT 10 * liq_ratio * synth_price / nullif(collateral_price, 0) AS liq,
      10 * min_coll_ratio * synth_price / nullif(collateral_price, 0) AS safe,
      3 + 100000 / nullif(collateral_price, 0) AS slack, 1 + 1 / nullif(synth_price, 0) AS factor
  ), bound AS (
    SELECT CASE state WHEN 'liquidatable' THEN 1 WHEN 'at_risk' THEN liq / factor - slack
        WHEN 'active' THEN safe / factor - slack END AS low,
      CASE state WHEN 'liquidatable' THEN liq * factor + slack WHEN 'at_risk' THEN safe * factor + slack
        WHEN 'active' THEN 99999999999 END AS high
    FROM edge
  )
  SELECT CASE WHEN state = 'open' THEN 100000000000
      WHEN state = 'unpriced' THEN 1
      ELSE coalesce(greatest(least(floor(low), 99999999999), 1), 1) END::bigint,
    CASE WHEN state = 'open' THEN 100000000000
      WHEN state = 'unpriced' THEN CASE WHEN collateral_price IS NULL OR synth_price IS NULL OR synth_price <= 0
        THEN 99999999999 ELSE 0 END
      ELSE coalesce(least(ceil(high), 99999999999), 99999999999) END::bigint
  FROM bound;
END;
COMMENT ON FUNCTION chain.vault_range(text, numeric, numeric, numeric, numeric) IS 'places between which the vaults of a state stand';

-- One index for the list of a market, of a state, and of all: the one by market alone goes.
CREATE INDEX ON state."synthetic_engine_vault"
  (deployment, synth_asset, chain.vault_order(collateral, debt), key_hash);
DROP INDEX state."synthetic_engine_vault_deployment_synth_asset_idx";
-- Vaults that are gone, for lists as of a ledger at which they were there.
CREATE INDEX ON history."synthetic_engine_vault" (deployment, ledger) WHERE removed;
-- Liquidations by market.
CREATE INDEX ON event."synthetic_engine_liq" (deployment, synth_asset, ledger);

DO $$
BEGIN
  CALL chain.grant_api();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the role tidemark_api was not given what is new (%): as a superuser, CALL chain.grant_api()', SQLERRM;
END $$;
