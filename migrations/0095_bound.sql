-- 0095_bound: views and functions read each role's tables through the deployment file's contract of
-- that role, as the API's statements do (api/bound.h).

CREATE VIEW chain.role AS
  SELECT d.id AS deployment, j.role, j.address AS contract
  FROM chain.deployment AS d CROSS JOIN LATERAL jsonb_to_recordset(d.contracts) AS j (role text, address text)
  WHERE j.role IN ('liquidity_pool', 'synthetic_engine', 'stability_pool', 'compliance_registry', 'partner_registry',
    'earnings_distributor', 'oracle', 'dao_governance');
COMMENT ON VIEW chain.role IS 'The contract of each role, as the deployment file has it';
COMMENT ON COLUMN chain.role.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN chain.role.role IS 'Role';
COMMENT ON COLUMN chain.role.contract IS 'The file''s contract of that role';

-- A definition with the condition at each table of a role: first those with an alias, then the others. The select
-- without columns is one row that the planner drops; the condition stays.
CREATE FUNCTION pg_temp.bound(definition text) RETURNS text LANGUAGE sql AS $$
  SELECT regexp_replace(regexp_replace(definition,
    '\m(state|history|event)\.((' || roles || ')_[a-z_0-9]+) ([a-z_][a-z_0-9]*)\M',
    '(\1.\2 \4 JOIN (SELECT) \4_bound ON (\4.deployment, \4.contract) IN (SELECT r.deployment, r.contract FROM chain.role r WHERE r.role = ''\3''))',
    'g'),
    '\m(state|history|event)\.((' || roles || ')_[a-z_0-9]+)\M(?! [a-z_])',
    '(\1.\2 JOIN (SELECT) \2_bound ON (\2.deployment, \2.contract) IN (SELECT r.deployment, r.contract FROM chain.role r WHERE r.role = ''\3''))',
    'g')
  FROM (VALUES ('liquidity_pool|synthetic_engine|stability_pool|compliance_registry|partner_registry|earnings_distributor|oracle|dao_governance'))
    AS x (roles) $$;

DO $$
DECLARE
  v record;
BEGIN
  FOR v IN
    SELECT format('%I.%I', n.nspname, c.relname) AS name, pg_get_viewdef(c.oid) AS was
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind = 'v' AND n.nspname IN ('analyst', 'chain', 'rollup')
  LOOP
    IF pg_temp.bound(v.was) <> v.was THEN
      EXECUTE format('CREATE OR REPLACE VIEW %s AS %s', v.name, pg_temp.bound(v.was));
    END IF;
  END LOOP;
  EXECUTE pg_temp.bound(pg_get_functiondef('chain.vault_market(smallint, integer)'::regprocedure));
END $$;
DROP FUNCTION pg_temp.bound(text);

DO $$
BEGIN
  CALL chain.grant_api();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the role tidemark_api could not be set up (%): as a superuser, CALL chain.grant_api()', SQLERRM;
END $$;
