-- 0033_read: the role that the API's SQL routes run as, and what their items say alike.

-- Stellar RPC's id of an event. tx counts from 1, op and event from 0.
CREATE FUNCTION chain.event_id(ledger integer, tx integer, op integer, event integer) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN lpad((ledger::bigint << 32 | tx::bigint << 12 | op::bigint)::text, 19, '0') || '-' || lpad(event::text, 10, '0');
COMMENT ON FUNCTION chain.event_id(integer, integer, integer, integer) IS 'the id that Stellar RPC gives the event';

CREATE FUNCTION chain.rfc3339(t timestamptz) RETURNS text
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
COMMENT ON FUNCTION chain.rfc3339(timestamptz) IS 'a time as answers write it';

-- What the role may do, again and again the same: called below, by each later migration that makes
-- tables, and by hand where the role could not be made by this one. Left out are the columns where
-- a person's jurisdiction is or may be: its own, arguments and answers of calls, undecoded bytes.
CREATE PROCEDURE chain.grant_api()
  LANGUAGE plpgsql
AS $$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT n.nspname AS folder, c.relname AS name,
      string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
    FROM pg_catalog.pg_class AS c
      JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
      JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE n.nspname IN ('chain', 'event', 'state', 'history', 'rollup') AND c.relkind IN ('r', 'p', 'v', 'm')
      AND NOT c.relispartition
      AND (n.nspname, c.relname) NOT IN (('chain', 'lease'), ('chain', 'standby'), ('chain', 'attempt'), ('chain', 'migration'))
      AND a.attname NOT IN ('jurisdiction', 'xdr', 'key_xdr', 'value_xdr')
      AND NOT (n.nspname = 'chain' AND c.relname LIKE 'call%' AND a.attname IN ('args', 'ret'))
    GROUP BY n.nspname, c.relname
  LOOP
    EXECUTE format('GRANT SELECT (%s) ON %I.%I TO tidemark_api', t.columns, t.folder, t.name);
  END LOOP;
  FOR t IN SELECT nspname AS name FROM pg_catalog.pg_namespace
    WHERE nspname IN ('chain', 'event', 'state', 'history', 'rollup', 'analyst') LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO tidemark_api', t.name);
  END LOOP;
  GRANT EXECUTE ON FUNCTION analyst.scaled(numeric), analyst.at(numeric), analyst.readable(bytea) TO tidemark_api;
  ALTER ROLE tidemark_api SET default_transaction_read_only = on;
  ALTER ROLE tidemark_api SET statement_timeout = '2s';
  ALTER ROLE tidemark_api SET idle_in_transaction_session_timeout = '60s';
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'tidemark_feeder') THEN
    GRANT tidemark_api TO tidemark_feeder;
  END IF;
END $$;
COMMENT ON PROCEDURE chain.grant_api() IS 'gives tidemark_api, as whom SQL routes run, the rows to read, jurisdictions apart';
REVOKE ALL ON PROCEDURE chain.grant_api() FROM PUBLIC;

-- A role belongs to the whole cluster: it may be there already, or be beyond our privileges.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'tidemark_api') THEN
    CREATE ROLE tidemark_api LOGIN;
  END IF;
  CALL chain.grant_api();
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'the role tidemark_api could not be set up (%): as a superuser, CREATE ROLE tidemark_api LOGIN and CALL chain.grant_api()', SQLERRM;
END $$;
