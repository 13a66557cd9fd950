-- Rows of every role's tables under the attacker's contract: the protocol's own, with other values,
-- and the same of an address without an attestation.
CREATE FUNCTION pg_temp.planted(a pg_attribute, stranger boolean) RETURNS text LANGUAGE sql AS $$
  SELECT CASE
    WHEN a.attname = 'contract' THEN quote_literal('CATTACKERATTACKERATTACKERATTACKERATTACKERATTACKERATTACKE')
    WHEN a.attname = 'key_hash' THEN format('sha256(key_hash || %L)', CASE WHEN stranger THEN 'b' ELSE 'a' END)
    WHEN a.attname = 'event' THEN 'event + ' || CASE WHEN stranger THEN 900 ELSE 500 END
    WHEN a.attname IN ('address', 'addresses') AND stranger AND a.atttypid = 'text'::regtype
      THEN quote_literal('GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF')
    WHEN a.attname = 'removed' OR a.attname = 'deployment' THEN quote_ident(a.attname)
    WHEN a.atttypid = 'boolean'::regtype THEN format('NOT %I', a.attname)
    WHEN a.atttypid = 'numeric'::regtype AND a.attname !~ '(id|epoch|index|ts|at|time|update)$' THEN format('%I * 3 + 7', a.attname)
    ELSE quote_ident(a.attname) END $$;

DO $$
DECLARE
  t record;
  stranger boolean;
  planted bigint := 0;
  n bigint;
BEGIN
  FOR t IN
    SELECT c.oid, format('%I.%I', s.nspname, c.relname) AS name FROM pg_class AS c JOIN pg_namespace AS s ON s.oid = c.relnamespace
    WHERE s.nspname IN ('state', 'history', 'event') AND c.relkind IN ('r', 'v') AND NOT c.relispartition
      AND (c.relname ~ '^(liquidity_pool|synthetic_engine|stability_pool|compliance_registry|partner_registry|earnings_distributor|oracle|dao_governance)_'
        OR c.relname = 'raw')
  LOOP
    FOREACH stranger IN ARRAY ARRAY[false, true] LOOP
      EXECUTE (SELECT format('INSERT INTO %s (%s) SELECT %s FROM %s WHERE contract NOT LIKE ''CATTACKER%%''', t.name,
          string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum),
          string_agg(pg_temp.planted(a, stranger), ', ' ORDER BY a.attnum), t.name)
        FROM pg_attribute AS a WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attname !~ '_key$');
      GET DIAGNOSTICS n = ROW_COUNT;
      planted := planted + n;
    END LOOP;
  END LOOP;
  RAISE NOTICE '% rows planted', planted;
END $$;
