-- 0066_extremes: no rollup and no view fails on a stored value. A contract may store any i128 as a fee
-- and any u32 as a status, whatever its own rules are.

-- Sums and products of amounts have no largest value: rollup columns lose their precision. Views stand
-- on these columns, so they are taken down and put up again as they were.
DO $$
DECLARE
  v record;
  c record;
  views jsonb[] := '{}';
  view jsonb;
BEGIN
  FOR v IN
    WITH RECURSIVE above AS (
      SELECT r.ev_class AS oid, 1 AS depth
      FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_rewrite AS r ON r.oid = d.objid
        JOIN pg_catalog.pg_class AS t ON t.oid = d.refobjid JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace
      WHERE d.classid = 'pg_catalog.pg_rewrite'::regclass AND n.nspname = 'rollup' AND t.relkind = 'r'
      UNION ALL
      SELECT r.ev_class, a.depth + 1
      FROM above AS a JOIN pg_catalog.pg_depend AS d ON d.refobjid = a.oid AND d.classid = 'pg_catalog.pg_rewrite'::regclass
        JOIN pg_catalog.pg_rewrite AS r ON r.oid = d.objid AND r.ev_class <> a.oid
    )
    SELECT a.oid::regclass::text AS name, a.oid, pg_get_viewdef(a.oid) AS body, max(a.depth) AS depth
    FROM above AS a GROUP BY a.oid ORDER BY max(a.depth) DESC
  LOOP
    views := jsonb_build_object('name', v.name, 'body', v.body, 'comment', obj_description(v.oid, 'pg_class'), 'columns',
      (SELECT jsonb_object_agg(a.attname, col_description(v.oid, a.attnum)) FROM pg_catalog.pg_attribute AS a
       WHERE a.attrelid = v.oid AND a.attnum > 0)) || views;
    EXECUTE 'DROP VIEW ' || v.name;
  END LOOP;
  FOR c IN
    SELECT t.oid::regclass AS name, string_agg(format('ALTER %I TYPE numeric', a.attname), ', ') AS changes
    FROM pg_catalog.pg_class AS t JOIN pg_catalog.pg_namespace AS n ON n.oid = t.relnamespace
      JOIN pg_catalog.pg_attribute AS a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE n.nspname = 'rollup' AND t.relkind = 'r' AND a.atttypid = 'numeric'::regtype AND a.atttypmod <> -1
    GROUP BY t.oid
  LOOP
    EXECUTE format('ALTER TABLE %s %s', c.name, c.changes);
  END LOOP;
  FOREACH view IN ARRAY views LOOP
    EXECUTE format('CREATE VIEW %s AS %s', view ->> 'name', view ->> 'body');
    EXECUTE format('COMMENT ON VIEW %s IS %L', view ->> 'name', view ->> 'comment');
    FOR c IN SELECT key, value FROM jsonb_each_text(view -> 'columns') WHERE value IS NOT NULL LOOP
      EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', view ->> 'name', c.key, c.value);
    END LOOP;
  END LOOP;
END $$;

-- Bytes as text without an EXCEPTION block, whose subtransaction a parallel worker may not start: the
-- pattern is UTF-8 as PostgreSQL takes it, so without NUL, surrogates and overlong forms.
CREATE OR REPLACE FUNCTION analyst.readable(bytes bytea) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN encode(bytes, 'hex') ~ ('^(0[1-9a-f]|[1-7].|(c[2-9a-f]|d.)[89ab].|e0[ab].[89ab].|(e[1-9a-c]|e[ef])[89ab].[89ab].'
      || '|ed[89].[89ab].|f0[9ab].[89ab].[89ab].|f[1-3][89ab].[89ab].[89ab].|f48.[89ab].[89ab].)*$')
    THEN convert_from(bytes, 'UTF8') ELSE '\x' || encode(bytes, 'hex') END;

-- An array's index must be an integer; a u32 status need not be one.
CREATE OR REPLACE VIEW analyst.compliance AS
  SELECT
    r.deployment,
    r.address,
    (ARRAY['Unknown', 'Pending', 'Verified', 'Suspended', 'Sanctioned', 'Expired'])[least(r.status, 99) + 1] AS status,
    analyst.at(r.expires_at) AS expires_at,
    r.expires_at <> 0 AND r.expires_at < extract(epoch FROM n.closed_at) AS expired,
    f.address IS NOT NULL AS frozen,
    r.provider,
    r.reason,
    analyst.at(r.updated_at) AS updated_at,
    r.ledger
  FROM state.compliance_registry_compliance_rec AS r
    LEFT JOIN chain.cursor AS n ON n.deployment = r.deployment
    LEFT JOIN state.compliance_registry_frozen AS f ON f.deployment = r.deployment
      AND f.contract = r.contract AND f.address = r.address;

CREATE OR REPLACE VIEW analyst.compliance_history AS
  SELECT
    h.deployment,
    h.ledger,
    h.tx,
    h.seq,
    h.closed_at,
    h.address,
    h.what,
    h.status,
    analyst.at(h.expires_at) AS expires_at,
    h.provider,
    h.reason
  FROM (
    SELECT r.deployment, r.ledger, r.tx, r.seq, r.closed_at, r.address, 'record' AS what,
      (ARRAY['Unknown', 'Pending', 'Verified', 'Suspended', 'Sanctioned', 'Expired'])[least(r.status, 99) + 1] AS status,
      r.expires_at, r.provider, r.reason
    FROM history.compliance_registry_compliance_rec AS r
    UNION ALL
    SELECT f.deployment, f.ledger, f.tx, f.seq, f.closed_at, f.address,
      CASE WHEN f.removed THEN 'unfrozen' ELSE 'frozen' END, NULL, NULL, NULL, NULL
    FROM history.compliance_registry_frozen AS f
  ) AS h;

CREATE OR REPLACE VIEW analyst.multisig_wallets AS
  SELECT
    w.deployment,
    w.wallet_id,
    w.signers,
    w.threshold,
    (ARRAY['PrivilegedOnly', 'AllExecutions', 'Disabled'])[least(w.scope, 99) + 1] AS scope,
    w.active,
    w.ledger,
    w.closed_at AS changed_at
  FROM state.dao_governance_multi_sig_wallet AS w;

DO $$
BEGIN
  CALL chain.grant_api();
  CALL analyst.grant_access();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'tidemark_api and tidemark_analyst were not given what is new (%): as a superuser, CALL chain.grant_api() and CALL analyst.grant_access()', SQLERRM;
END $$;
