-- Takes back, in the index's database, rights that PostgreSQL gives to every login. A superuser runs this once the
-- database is there, again after it was restored, and before and after an upgrade of PostgreSQL:
-- psql -d tidemark -f database.sql
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
-- Dumps. pg_dump, and with it pg_upgrade, writes the rights on a function of the server's own down with the function's
-- arguments, and a newer server may have others: the restore then ends. It leaves out rights that equal those of
-- pg_init_privs, the server's record of what it began with, which nothing but dumps reads. The script notes its rights
-- there. So no dump has them, and after a restore or an upgrade they come from here, for that server's functions.
--
-- Settings. The script resets what a role set for itself in this database.
--
-- The script calls no function that the owner of the tables could have written.
\set ON_ERROR_STOP on
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL allow_system_table_mods = on; -- for pg_init_privs
DO $$
DECLARE
  one record;
  name text;
BEGIN
  IF current_database() IN ('postgres', 'template0', 'template1') THEN
    RAISE EXCEPTION 'the database % is not the index''s', current_database() USING HINT = 'psql -d tidemark -f database.sql';
  END IF;
  FOR one IN SELECT p.oid, f.roles FROM pg_proc AS p JOIN (VALUES
      ('^pg_(try_)?advisory_(xact_)?lock(_shared)?$', 'tidemark_indexer, tidemark_kyc, tidemark_attester'),
      ('^(lo_creat|lo_create|lo_from_bytea|lo_put|lo_truncate|lo_truncate64|lowrite|pg_logical_emit_message|pg_current_xact_id|txid_current)$', NULL),
      ('^pg_(terminate|cancel)_backend$', 'tidemark_indexer, pg_signal_backend')
    ) AS f(names, roles) ON p.proname ~ f.names WHERE p.pronamespace = 'pg_catalog'::regnamespace LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', one.oid::regprocedure);
    IF one.roles IS NOT NULL THEN
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', one.oid::regprocedure, one.roles);
    END IF;
    DELETE FROM pg_init_privs WHERE (objoid, classoid, objsubid) = (one.oid, 'pg_proc'::regclass, 0);
    INSERT INTO pg_init_privs (objoid, classoid, objsubid, privtype, initprivs)
      SELECT oid, 'pg_proc'::regclass, 0, 'i', proacl FROM pg_proc WHERE oid = one.oid;
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
