-- 0080_vault_order: any collateral has a place. Foreign code behind the engine's address may store any i128,
-- and this function stands in an index: it must not fail on a stored value.
CREATE OR REPLACE FUNCTION chain.vault_order(collateral numeric, debt numeric) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN debt >= 10000000 THEN 1 + greatest(least(div(collateral * 100000, debt), 99999999998), 0)::bigint
    WHEN debt > 0 THEN 0 ELSE 100000000000 END;
