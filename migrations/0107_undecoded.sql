-- 0107_undecoded: whether a contract had, as of a ledger, an entry whose newest version could not be decoded. It counts until
-- the key gets a version that can be, or is removed.

CREATE INDEX ON history."raw" (deployment, contract, ledger);

-- role: as chain.deployment and chain.contract_seen have it, of the contract. Newer versions are in the role's tables, each an
-- index probe by key; a version of an instance that fits in part is in both tables and is none that is newer.
CREATE FUNCTION chain.undecoded(deployment smallint, contract text, role text, at integer) RETURNS boolean
  LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  newer text;
  found boolean;
BEGIN
  IF NOT EXISTS (SELECT FROM history.raw AS r WHERE r.deployment = $1 AND r.contract = $2 AND r.ledger <= $4) THEN
    RETURN false;
  END IF;
  SELECT string_agg(format(' AND NOT EXISTS (SELECT FROM history.%I AS h WHERE h.deployment = $1 AND h.key_hash = v.key_hash'
      ' AND h.ledger <= $3 AND (h.ledger, h.tx, h.seq) > (v.ledger, v.tx, v.seq))', c.relname), '' ORDER BY c.relname)
    INTO newer
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'history' AND c.relkind = 'p'
      AND c.relname LIKE replace(CASE WHEN $3 IN ('usdc', 'xlm') THEN 'stellar_asset' ELSE $3 END, '_', '\_') || '\_%';
  EXECUTE 'SELECT EXISTS (SELECT FROM (SELECT DISTINCT ON (r.key_hash) r.key_hash, r.ledger, r.tx, r.seq, r.removed'
      ' FROM history.raw AS r WHERE r.deployment = $1 AND r.contract = $2 AND r.ledger <= $3'
      ' ORDER BY r.key_hash, r.ledger DESC, r.tx DESC, r.seq DESC) AS v WHERE NOT v.removed' || coalesce(newer, '') || ')'
    INTO found USING $1, $2, $4;
  RETURN found;
END $$;
COMMENT ON FUNCTION chain.undecoded(smallint, text, text, integer) IS
  'whether the newest version of an entry of the contract, as of a ledger, could not be decoded';

DO $$
BEGIN
  CALL chain.restrict_public();
  CALL chain.grant_feeder();
  CALL chain.grant_api();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the rights of the roles could not be set (%): as a superuser, run roles.sql; then, as the owner, CALL chain.restrict_public(), chain.grant_feeder() and chain.grant_api()', SQLERRM;
END $$;
