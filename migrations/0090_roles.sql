-- 0090_roles: no role can make the owner run its code, and none has more rights than its work needs.
--
-- The database's objects belong to one role, the owner. Two things let another role's code run with the
-- owner's rights: a SECURITY DEFINER function that looks names up where that role can put some, and a
-- place to put them. So the only such function, kyc.note, looks in pg_catalog first and in pg_temp last,
-- and PUBLIC may create nothing, not even temporary objects. PUBLIC may execute none of our routines.
-- The owner needs neither SUPERUSER nor CREATEROLE: tools/packaging/roles.sql makes the roles.

-- Only the owner can lock this table, so no other role can hold up the audit.
CREATE TABLE kyc.audit_turn ();
COMMENT ON TABLE kyc.audit_turn IS 'Always empty: kyc.note locks it, so that rows of kyc.audit follow one another';

-- Names in these bodies are bound now, not when they run.
CREATE OR REPLACE FUNCTION kyc.audit_hash(prev bytea, id bigint, at timestamptz, actor text, what text, about text, detail jsonb)
  RETURNS bytea LANGUAGE sql IMMUTABLE
  RETURN sha256(prev || convert_to(jsonb_build_array(id, extract(epoch FROM at), actor, what, about, detail)::text, 'UTF8'));
COMMENT ON FUNCTION kyc.audit_hash(bytea, bigint, timestamptz, text, text, text, jsonb) IS 'The hash of a row of kyc.audit';

CREATE OR REPLACE FUNCTION kyc.audit_broken() RETURNS bigint LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT min(id) FROM (
        SELECT id, id IS DISTINCT FROM row_number() OVER w
                OR prev_hash IS DISTINCT FROM coalesce(lag(hash) OVER w, '\x'::bytea)
                OR hash IS DISTINCT FROM kyc.audit_hash(prev_hash, id, at, actor, what, about, detail) AS broken
        FROM kyc.audit WINDOW w AS (ORDER BY id)) AS rows
    WHERE broken;
END;

-- The login is part of the actor and is not the caller's to choose. A caller cannot fill the disk with one row.
CREATE OR REPLACE FUNCTION kyc.note(actor text, what text, about text, detail jsonb)
  RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  last kyc.audit;
  next_id bigint;
  prev bytea;
  now timestamptz;
  full_actor text := session_user::text || ' ' || actor;
BEGIN
  IF octet_length(actor) > 96 OR octet_length(what) > 64 OR octet_length(about) > 128
     OR octet_length(detail::text) > 4096 THEN
    RAISE EXCEPTION 'kyc.note: a row of the audit holds 96 bytes of actor, 64 of what, 128 of about, 4096 of detail'
      USING ERRCODE = 'string_data_right_truncation';
  END IF;
  LOCK TABLE kyc.audit_turn IN EXCLUSIVE MODE;
  SELECT a.* INTO last FROM kyc.audit AS a ORDER BY a.id DESC LIMIT 1;
  next_id := coalesce(last.id, 0) + 1;
  prev := coalesce(last.hash, '\x'::bytea);
  now := clock_timestamp();
  INSERT INTO kyc.audit VALUES (next_id, now, full_actor, what, about, detail, prev,
    kyc.audit_hash(prev, next_id, now, full_actor, what, about, detail));
END $$;
COMMENT ON FUNCTION kyc.note(text, text, text, jsonb) IS 'Appends a row to kyc.audit, the only way in; the actor is the login and what it says of itself';
COMMENT ON COLUMN kyc.audit.actor IS 'The database login, and behind a space which part of the program it was';

-- --- what each role may do ------------------------------------------------------------------------

-- Settings of a role belong to the cluster. Who may not set them has had them set by roles.sql.
CREATE PROCEDURE chain.set_role(role text, settings text[])
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  one text;
BEGIN
  IF (SELECT count(*) FROM pg_db_role_setting AS s JOIN pg_roles AS r ON r.oid = s.setrole
      WHERE r.rolname = set_role.role AND s.setdatabase = 0 AND s.setconfig @> set_role.settings) > 0 THEN
    RETURN;
  END IF;
  FOREACH one IN ARRAY settings LOOP
    EXECUTE format('ALTER ROLE %I SET %s = %L', role, split_part(one, '=', 1), split_part(one, '=', 2));
  END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'the settings of % are not %: as a superuser, run roles.sql', role, array_to_string(settings, ', ');
END $$;
COMMENT ON PROCEDURE chain.set_role(text, text[]) IS 'settings of a role, unless it has them';

CREATE OR REPLACE PROCEDURE analyst.grant_access()
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  other text;
BEGIN
  FOREACH other IN ARRAY ARRAY['chain', 'event', 'state', 'history', 'rollup', 'kyc'] LOOP
    CONTINUE WHEN to_regnamespace(other) IS NULL;
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM PUBLIC, tidemark_analyst', other);
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM PUBLIC, tidemark_analyst', other);
  END LOOP;
  GRANT USAGE ON SCHEMA analyst TO tidemark_analyst;
  GRANT SELECT ON ALL TABLES IN SCHEMA analyst TO tidemark_analyst;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA analyst, chain TO tidemark_analyst;
  CALL chain.set_role('tidemark_analyst', ARRAY['statement_timeout=60s', 'idle_in_transaction_session_timeout=60s',
    'default_transaction_read_only=on', 'search_path=analyst']);
  IF (SELECT rolconnlimit <> 16 FROM pg_roles WHERE rolname = 'tidemark_analyst') THEN
    BEGIN
      ALTER ROLE tidemark_analyst CONNECTION LIMIT 16;
    EXCEPTION WHEN insufficient_privilege THEN
      RAISE WARNING 'tidemark_analyst has no limit of connections: as a superuser, run roles.sql';
    END;
  END IF;
END $$;

CREATE OR REPLACE PROCEDURE chain.grant_feeder()
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['chain', 'event', 'state', 'history'] LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO tidemark_feeder', name);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO tidemark_feeder', name);
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT SELECT ON TABLES TO tidemark_feeder', name);
  END LOOP;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA chain TO tidemark_feeder;
  CALL chain.set_role('tidemark_feeder', ARRAY['default_transaction_read_only=on', 'idle_in_transaction_session_timeout=60s']);
END $$;

CREATE OR REPLACE PROCEDURE chain.grant_api()
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT n.nspname AS folder, c.relname AS name,
      string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
    FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE n.nspname IN ('chain', 'event', 'state', 'history', 'rollup') AND c.relkind IN ('r', 'p', 'v', 'm')
      AND NOT c.relispartition
      AND (n.nspname, c.relname) NOT IN (('chain', 'lease'), ('chain', 'standby'), ('chain', 'attempt'), ('chain', 'migration'))
      AND a.attname NOT IN ('jurisdiction', 'xdr', 'key_xdr', 'value_xdr')
      AND NOT (n.nspname = 'chain' AND c.relname LIKE 'call%' AND a.attname IN ('args', 'ret'))
    GROUP BY n.nspname, c.relname
  LOOP
    EXECUTE format('GRANT SELECT (%s) ON %I.%I TO tidemark_api', t.columns, t.folder, t.name);
  END LOOP;
  FOR t IN SELECT nspname AS name FROM pg_namespace
    WHERE nspname IN ('chain', 'event', 'state', 'history', 'rollup', 'analyst') LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO tidemark_api', t.name);
  END LOOP;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA analyst, chain TO tidemark_api;
  CALL chain.set_role('tidemark_api', ARRAY['default_transaction_read_only=on', 'statement_timeout=2s',
    'idle_in_transaction_session_timeout=60s']);
  IF to_regrole('tidemark_feeder') IS NOT NULL AND NOT pg_has_role('tidemark_feeder', 'tidemark_api', 'MEMBER') THEN
    GRANT tidemark_api TO tidemark_feeder;
  END IF;
END $$;

ALTER PROCEDURE kyc.grant_roles() SET search_path = pg_catalog, pg_temp;

-- Functions and procedures are everybody's to execute until they are not, and so are temporary objects.
-- A restored database has the latter again: a dump has no rights of the database itself. Whether the
-- audit is whole is for both of its writers to ask.
CREATE PROCEDURE chain.restrict_public()
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT p.oid::regprocedure AS name FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname IN ('chain', 'event', 'state', 'history', 'rollup', 'analyst', 'kyc') LOOP
    EXECUTE format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', r.name);
  END LOOP;
  FOR r IN SELECT rolname AS name FROM pg_roles WHERE rolname IN ('tidemark_kyc', 'tidemark_attester') LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION kyc.audit_broken(), kyc.audit_hash(bytea, bigint, timestamptz, text, text, text, jsonb) TO %I', r.name);
  END LOOP;
  FOR r IN SELECT n.nspname AS name FROM pg_namespace AS n
    WHERE n.nspname IN ('chain', 'event', 'state', 'history', 'rollup', 'analyst', 'kyc') LOOP
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM PUBLIC', r.name);
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM PUBLIC', r.name);
  END LOOP;
  IF EXISTS (SELECT FROM pg_database AS d WHERE d.datname = current_database() AND pg_has_role(d.datdba, 'USAGE')) THEN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  ELSIF has_database_privilege('public', current_database(), 'TEMPORARY') THEN
    RAISE WARNING 'PUBLIC may create temporary objects: as the owner of the database, REVOKE TEMPORARY ON DATABASE % FROM PUBLIC',
      quote_ident(current_database());
  END IF;
END $$;
COMMENT ON PROCEDURE chain.restrict_public() IS 'takes from PUBLIC what PostgreSQL gives it: routines and temporary objects';

DO $$
DECLARE
  missing text;
BEGIN
  CALL chain.restrict_public();
  SELECT string_agg(name, ', ') INTO missing
    FROM unnest(ARRAY['tidemark_analyst', 'tidemark_feeder', 'tidemark_api', 'tidemark_kyc', 'tidemark_attester']) AS name
    WHERE to_regrole(name) IS NULL;
  IF missing IS NOT NULL THEN
    RAISE WARNING 'there is no role %: as a superuser, run roles.sql; then, as the owner, CALL chain.restrict_public(), chain.grant_feeder(), chain.grant_api(), analyst.grant_access() and kyc.grant_roles()', missing;
    RETURN;
  END IF;
  CALL chain.grant_feeder();
  CALL chain.grant_api();
  CALL analyst.grant_access();
  CALL kyc.grant_roles();
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'the rights of the roles could not be set (%): as a superuser, run roles.sql; then, as the owner, CALL chain.restrict_public(), chain.grant_feeder(), chain.grant_api(), analyst.grant_access() and kyc.grant_roles()', SQLERRM;
END $$;
