-- Takes back, in the index's database, rights that PostgreSQL gives to every login. A superuser runs this once the
-- database is there, and again after it was restored: psql -d tidemark -f database.sql
--
-- Advisory locks. Daemons exclude each other with them. By default PostgreSQL lets every login take and keep any such
-- lock: indexer and attester would then wait as standbys, and migrate for ever. Therefore only three roles may take
-- them, and only the roles of roles.sql may connect. For other logins (backups, monitoring, analysts with a login of
-- their own) grant membership in a role, or CONNECT.
--
-- Disk and transaction numbers. By default every login can fill the disk without a right on any table, with large
-- objects and WAL messages, and can use up transaction numbers: PostgreSQL stops when two billion of them cannot be
-- frozen. This script revokes both.
--
-- Sessions. By default every login can end the other sessions of its own role. An assistant's or an analyst's SELECT could
-- therefore end the sessions of all analysts. Only the indexer ends sessions: those of a writer that hangs. Members of
-- pg_signal_backend keep the right.
--
-- Settings. The script resets what a role set for itself in this database.
--
-- The script calls no function that the owner of the tables could have written.
\set ON_ERROR_STOP on
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
DO $$
DECLARE
  one record;
  name text;
BEGIN
  IF current_database() IN ('postgres', 'template0', 'template1') THEN
    RAISE EXCEPTION 'the database % is not the index''s', current_database() USING HINT = 'psql -d tidemark -f database.sql';
  END IF;
  FOR one IN SELECT p.oid::regprocedure AS name FROM pg_proc AS p WHERE p.pronamespace = 'pg_catalog'::regnamespace
      AND p.proname ~ '^pg_(try_)?advisory_(xact_)?lock(_shared)?$' LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', one.name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidemark_indexer, tidemark_kyc, tidemark_attester', one.name);
  END LOOP;
  FOR one IN SELECT p.oid::regprocedure AS name FROM pg_proc AS p WHERE p.pronamespace = 'pg_catalog'::regnamespace
      AND p.proname ~ '^(lo_creat|lo_create|lo_from_bytea|lo_put|lo_truncate|lo_truncate64|lowrite|pg_logical_emit_message|pg_current_xact_id|txid_current)$' LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', one.name);
  END LOOP;
  FOR one IN SELECT p.oid::regprocedure AS name FROM pg_proc AS p WHERE p.pronamespace = 'pg_catalog'::regnamespace
      AND p.proname ~ '^pg_(terminate|cancel)_backend$' LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', one.name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidemark_indexer, pg_signal_backend', one.name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['tidemark_indexer', 'tidemark_feeder', 'tidemark_api', 'tidemark_kyc', 'tidemark_attester',
                              'tidemark_console', 'tidemark_analyst'] LOOP
    EXECUTE format('ALTER ROLE %I IN DATABASE %I RESET ALL', name, current_database());
  END LOOP;
  EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO tidemark_indexer, tidemark_feeder, tidemark_api, tidemark_kyc,'
    ' tidemark_attester, tidemark_console, tidemark_analyst', current_database());
END $$;
COMMIT;
