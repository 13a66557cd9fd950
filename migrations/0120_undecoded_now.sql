-- 0120_undecoded_now: at the newest ledger, what could not be decoded is found among the entries that are there, not among all
-- their versions; and by the same rule for lists.

CREATE INDEX ON state."raw" (deployment, contract, key_hash);

-- Conditions on v, a version that could not be decoded: no newer one of its key as of $3 is in the role's tables. Tokens may
-- have shown late of which kind they are. Each is an index probe for a version (OFFSET 0: never a join).
CREATE FUNCTION chain.not_decoded_since(role text) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(string_agg(format(' AND NOT EXISTS (SELECT FROM history.%I AS h WHERE h.deployment = $1 AND h.key_hash = v.key_hash'
      ' AND h.ledger <= $3 AND (h.ledger, h.tx, h.seq) > (v.ledger, v.tx, v.seq) OFFSET 0)', c.relname), '' ORDER BY c.relname), '')
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname = 'history' AND c.relkind = 'p'
    AND c.relname LIKE ANY (CASE WHEN $1 IN ('synth_token', 'stellar_asset', 'usdc', 'xlm') OR $1 LIKE 'asset\_%'
      THEN ARRAY['synth\_token\_%', 'stellar\_asset\_%'] ELSE ARRAY[replace($1, '_', '\_') || '\_%'] END)
$$;
COMMENT ON FUNCTION chain.not_decoded_since(text) IS 'text of conditions: no table of the role has a newer version';

CREATE FUNCTION chain.undecoded_keys(deployment smallint, contract text, role text, after bytea, most integer)
  RETURNS TABLE (key_hash bytea) LANGUAGE plpgsql STABLE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM state.raw AS r WHERE r.deployment = $1 AND r.contract = $2) THEN
    RETURN QUERY EXECUTE 'SELECT v.key_hash FROM state.raw AS v WHERE v.deployment = $1 AND v.contract = $2'
        ' AND ($4 IS NULL OR v.key_hash > $4)' || chain.not_decoded_since($3) || ' ORDER BY v.key_hash LIMIT $5'
      USING $1, $2, 2147483647, $4, $5;
  END IF;
END $$;
COMMENT ON FUNCTION chain.undecoded_keys(smallint, text, text, bytea, integer) IS
  'entries of the contract whose newest version could not be decoded, by key';

CREATE OR REPLACE FUNCTION chain.undecoded(deployment smallint, contract text, role text, at integer) RETURNS boolean
  LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  found boolean;
BEGIN
  IF $4 >= (SELECT c.ledger FROM chain.cursor AS c WHERE c.deployment = $1) THEN
    RETURN EXISTS (SELECT FROM chain.undecoded_keys($1, $2, $3, NULL, 1));
  END IF;
  IF NOT EXISTS (SELECT FROM history.raw AS r WHERE r.deployment = $1 AND r.contract = $2 AND r.ledger <= $4) THEN
    RETURN false;
  END IF;
  EXECUTE 'SELECT EXISTS (SELECT FROM (SELECT DISTINCT ON (r.key_hash) r.key_hash, r.ledger, r.tx, r.seq, r.removed'
      ' FROM history.raw AS r WHERE r.deployment = $1 AND r.contract = $2 AND r.ledger <= $3'
      ' ORDER BY r.key_hash, r.ledger DESC, r.tx DESC, r.seq DESC) AS v WHERE NOT v.removed' || chain.not_decoded_since($3) || ')'
    INTO found USING $1, $2, $4;
  RETURN found;
END $$;

-- Owners that a partner had: its claims are theirs. Of the published registry it is one for ever; another may replace it.
CREATE INDEX ON history."partner_registry_partner" (deployment, key_id, owner);

DO $$
BEGIN
  CALL chain.restrict_public();
  CALL chain.grant_feeder();
  CALL chain.grant_api();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the rights of the roles could not be set (%): as a superuser, run roles.sql; then, as the owner, CALL chain.restrict_public(), chain.grant_feeder() and chain.grant_api()', SQLERRM;
END $$;
