-- 0007_roles: what each role may do, and what PUBLIC may not.
--
-- The database's objects belong to one role, the owner, who runs `tidemark-indexer migrate`. No role can make
-- the owner run its code. Two things would allow that: a SECURITY DEFINER function that looks names up in a
-- schema where the role can create objects, and such a schema. So these functions (0006_kyc) search pg_catalog
-- first and pg_temp last, and PUBLIC may create nothing, not even temporary objects, and execute no routine.
--
-- The owner needs neither SUPERUSER nor CREATEROLE: tools/packaging/roles.sql creates the roles and their
-- settings. If it has not run and the owner may not create roles, this migration warns and grants nothing:
-- after roles.sql, the owner calls the procedures below. Each can be called again at any time.

-- A role's settings belong to the cluster. An owner that may not set them relies on roles.sql.
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
COMMENT ON PROCEDURE chain.set_role(text, text[]) IS 'sets a role''s settings unless it has them';

-- PostgreSQL lets PUBLIC execute new routines and create temporary objects. A restored database allows the
-- latter again: a dump does not contain the rights of the database itself.
CREATE PROCEDURE chain.restrict_public()
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT p.oid::regprocedure AS name FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname IN ('chain', 'event', 'state', 'history', 'asof', 'chain_rows', 'event_rows', 'history_rows', 'rollup', 'analyst', 'kyc') LOOP
    EXECUTE format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', r.name);
  END LOOP;
  FOR r IN SELECT n.nspname AS name FROM pg_namespace AS n
    WHERE n.nspname IN ('chain', 'event', 'state', 'history', 'asof', 'chain_rows', 'event_rows', 'history_rows', 'rollup', 'analyst', 'kyc') LOOP
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
COMMENT ON PROCEDURE chain.restrict_public() IS 'revokes PostgreSQL''s default rights of PUBLIC: routines and temporary objects';

-- The feeder reads jurisdictions: the compliance rule needs them.
CREATE PROCEDURE chain.grant_feeder()
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['chain', 'event', 'state', 'history', 'asof'] LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO tidemark_feeder', name);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO tidemark_feeder', name);
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA %I GRANT SELECT ON TABLES TO tidemark_feeder', name);
  END LOOP;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA chain TO tidemark_feeder;
  CALL chain.set_role('tidemark_feeder', ARRAY['default_transaction_read_only=on', 'idle_in_transaction_session_timeout=60s']);
END $$;
COMMENT ON PROCEDURE chain.grant_feeder() IS 'lets tidemark_feeder, which fills the hot cache, read the rows, and nothing else';

-- Leaves out the columns that hold or may hold a person's jurisdiction: its own, arguments and answers of
-- calls, undecoded bytes.
CREATE PROCEDURE chain.grant_api()
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
    WHERE n.nspname IN ('chain', 'event', 'state', 'history', 'asof', 'rollup') AND c.relkind IN ('r', 'p', 'v', 'm')
      AND NOT c.relispartition
      AND (n.nspname, c.relname) NOT IN (('chain', 'lease'), ('chain', 'standby'), ('chain', 'attempt'), ('chain', 'migration'))
      AND a.attname NOT IN ('jurisdiction', 'xdr', 'key_xdr', 'value_xdr', 'args_xdr', 'ret_xdr')
      AND NOT (n.nspname = 'chain' AND c.relname LIKE 'call%' AND a.attname IN ('args', 'ret'))
    GROUP BY n.nspname, c.relname
  LOOP
    EXECUTE format('GRANT SELECT (%s) ON %I.%I TO tidemark_api', t.columns, t.folder, t.name);
  END LOOP;
  FOR t IN SELECT nspname AS name FROM pg_namespace
    WHERE nspname IN ('chain', 'event', 'state', 'history', 'asof', 'rollup', 'analyst') LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO tidemark_api', t.name);
  END LOOP;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA analyst, chain TO tidemark_api;
  CALL chain.set_role('tidemark_api', ARRAY['default_transaction_read_only=on', 'statement_timeout=2s',
    'idle_in_transaction_session_timeout=60s']);
  IF to_regrole('tidemark_feeder') IS NOT NULL AND NOT pg_has_role('tidemark_feeder', 'tidemark_api', 'MEMBER') THEN
    GRANT tidemark_api TO tidemark_feeder;
  END IF;
END $$;
COMMENT ON PROCEDURE chain.grant_api() IS 'lets tidemark_api, the role of SQL routes, read the rows without jurisdictions';

CREATE PROCEDURE analyst.grant_access()
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  other text;
BEGIN
  FOREACH other IN ARRAY ARRAY['chain', 'event', 'state', 'history', 'asof', 'chain_rows', 'event_rows', 'history_rows', 'rollup', 'kyc'] LOOP
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
COMMENT ON PROCEDURE analyst.grant_access() IS 'lets tidemark_analyst read the views of this schema, and nothing else';

-- tidemark_kyc writes intents, the attester their progress; neither may write the other's columns.
CREATE PROCEDURE kyc.grant_roles()
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  GRANT USAGE ON SCHEMA kyc, chain TO tidemark_kyc, tidemark_attester;
  GRANT SELECT ON chain.deployment, chain.deployment_state, chain.contract_seen, chain.cursor TO tidemark_kyc, tidemark_attester;
  GRANT SELECT, INSERT, UPDATE ON kyc.session, kyc.inbox, kyc.sandbox TO tidemark_kyc;
  GRANT SELECT, INSERT, DELETE ON kyc.challenge, kyc.session_key TO tidemark_kyc;
  GRANT DELETE ON kyc.inbox TO tidemark_kyc;
  GRANT SELECT, INSERT, UPDATE, DELETE ON kyc.hook, kyc.hook_watch, kyc.hook_event, kyc.hook_delivery, kyc.hook_use, kyc.hook_slow TO tidemark_kyc;
  GRANT SELECT, INSERT, UPDATE ON kyc.hook_seen, kyc.hook_cursor TO tidemark_kyc;
  GRANT USAGE ON SCHEMA history TO tidemark_kyc;
  GRANT SELECT ON history.dao_governance_proposal TO tidemark_kyc;
  GRANT EXECUTE ON FUNCTION kyc.hook_enqueue(text, smallint, text, text), kyc.hook_emit(smallint, text, text, text[], json, text, text),
    kyc.hook_event_id(smallint, text[], integer), kyc.hook_session_cause(kyc.session, kyc.session), kyc.hook_since(smallint, integer, bytea, bytea, bytea, text),
    kyc.hook_saw(smallint, text, text, text, text, text, json, boolean), kyc.hook_disable(text, text),
    kyc.hook_claim(smallint, integer, interval), kyc.hook_done(bigint, integer, boolean, integer, text, interval, interval, boolean, text),
    kyc.hook_host(text), kyc.hook_is_slow(smallint, text), kyc.hook_mark_slow(smallint, text),
    kyc.hook_place(smallint), kyc.hook_due(smallint, integer, integer), kyc.hook_room(text, smallint, text, integer), kyc.hook_full(text), kyc.hook_limit(text[]), kyc.hook_figures(smallint),
    kyc.hook_repair(smallint), kyc.hook_maintain(smallint), kyc.hook_may(text, integer), kyc.hook_may_change(text), kyc.hook_json(kyc.hook), kyc.hook_list(smallint, text, text),
    kyc.hook_create(smallint, text, text, text, text[]), kyc.hook_change(smallint, text, text, text, text[], boolean),
    kyc.hook_delete(smallint, text, text), kyc.hook_rotate(smallint, text, text, interval, integer), kyc.hook_test(smallint, text, text),
    kyc.hook_addresses(smallint, text, text, text[], text[]), kyc.hook_watched(smallint, text, text, text, integer),
    kyc.hook_log(smallint, text, text, bigint, integer), kyc.hook_replay(smallint, text, text, bigint) TO tidemark_kyc;
  GRANT SELECT, INSERT (deployment, subject, session_id, decision_rev, action, jurisdiction, expires_at, meta_hash, mac, state, reason,
    last_status) ON kyc.outbox TO tidemark_kyc;
  GRANT SELECT, UPDATE (state, reason, genuine, seq, envelope, tx_hash, max_time, submit_ledger, sent_ledger, bump_envelope,
    bump_hash, bump_fee, bad_seq, attempts, last_status, next_try, confirmed_ledger, attention, attended_at, attended_by, updated_at,
    reviewed_at) ON kyc.outbox TO tidemark_attester;
  GRANT SELECT ON kyc.attester, kyc.revocation TO tidemark_kyc;
  GRANT EXECUTE ON FUNCTION kyc.revocation_done(text), kyc.forgotten_attestation(smallint, text, bytea, bytea[], bigint) TO tidemark_kyc;
  GRANT EXECUTE ON FUNCTION chain.unix(timestamptz), chain.unix_ms(timestamptz) TO tidemark_kyc, tidemark_attester;
  GRANT SELECT, INSERT, UPDATE ON kyc.attester TO tidemark_attester;
  GRANT SELECT, INSERT, UPDATE (bid, charged) ON kyc.attester_fee TO tidemark_attester;
  GRANT SELECT (id, state, decision_at, created_at) ON kyc.session TO tidemark_attester;
  -- The attester checks what a server of the network says against the index.
  GRANT USAGE ON SCHEMA state, history TO tidemark_attester;
  GRANT SELECT ON chain.tx, chain.coverage, chain.fork, state.compliance_registry_kyc, state.compliance_registry_compliance_rec,
    state.compliance_registry_frozen, state.compliance_registry_blocked_jurisdiction, state.compliance_registry_verifier,
    history.compliance_registry_kyc, history.compliance_registry_compliance_rec TO tidemark_attester;
  GRANT SELECT ON kyc.erased TO tidemark_attester;
  GRANT SELECT ON kyc.integrator, kyc.integrator_key, kyc.integrator_revision TO tidemark_kyc;
  GRANT EXECUTE ON FUNCTION kyc.key_used(text[]) TO tidemark_kyc;
  GRANT SELECT ON kyc.audit TO tidemark_kyc, tidemark_attester;
  GRANT EXECUTE ON FUNCTION kyc.note(text, text, text, jsonb), kyc.audit_broken(),
    kyc.audit_hash(bytea, bigint, timestamptz, text, text, text, jsonb) TO tidemark_kyc, tidemark_attester;
  GRANT EXECUTE ON FUNCTION kyc.release(smallint, bigint, text), kyc.attend(smallint, bigint, text, text, text) TO tidemark_attester;
END $$;
COMMENT ON PROCEDURE kyc.grant_roles() IS 'grants the rights of tidemark_kyc (sessions, webhooks) and tidemark_attester';

-- The operator console: it acts through functions that ask for two people where rights are given, and note in the audit who did it.
CREATE PROCEDURE kyc.grant_console()
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  GRANT USAGE ON SCHEMA kyc, chain TO tidemark_console;
  GRANT SELECT ON chain.migration TO tidemark_console;
  GRANT SELECT ON kyc.integrator, kyc.integrator_revision TO tidemark_console;
  GRANT SELECT (key_id, integrator, scopes, rate, burst, networks, created_at, created_by, not_before, ends_at, last_used_at, revoked_at)
    ON kyc.integrator_key TO tidemark_console;
  -- The console reads views without jurisdictions, and acts through functions that write the audit.
  GRANT USAGE ON SCHEMA analyst TO tidemark_console;
  GRANT SELECT ON chain.deployment, chain.deployment_state, chain.contract_seen, chain.cursor, analyst.compliance, kyc.console_review,
    kyc.console_session, kyc.console_provider, kyc.console_asked, kyc.console_attester, kyc.console_hook, kyc.console_delivery,
    kyc.audit TO tidemark_console;
  GRANT SELECT (id, deployment, action, target, detail, reason, state, proposed_by, proposed_at, decided_by, decided_at) ON kyc.proposal TO tidemark_console;
  GRANT EXECUTE ON FUNCTION kyc.propose(smallint, text, text, text, text, bytea[], jsonb, bytea), kyc.console_end(text, text, text, text, bytea[]),
    kyc.console_replay(smallint, bigint, text, text, bytea[]), kyc.confirm(smallint, bigint, text, bytea[]),
    kyc.withdraw(smallint, bigint, text, bytea[]), kyc.console_attend(smallint, bigint, text, text, bytea[]), kyc.audit_broken(),
    kyc.audit_hash(bytea, bigint, timestamptz, text, text, text, jsonb), analyst.at(numeric), chain.unix(timestamptz) TO tidemark_console;
  CALL chain.set_role('tidemark_console', ARRAY['statement_timeout=10s', 'idle_in_transaction_session_timeout=60s']);
END $$;
COMMENT ON PROCEDURE kyc.grant_console() IS 'grants the rights of tidemark_console: lists and actions';

CALL chain.restrict_public();

-- Roles belong to the whole cluster: some may exist already. They have no password until an operator sets one.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['tidemark_analyst', 'tidemark_feeder', 'tidemark_api', 'tidemark_kyc', 'tidemark_attester',
                              'tidemark_console'] LOOP
    IF to_regrole(name) IS NULL THEN
      EXECUTE format('CREATE ROLE %I LOGIN', name);
    END IF;
  END LOOP;
  CALL chain.grant_feeder();
  CALL chain.grant_api();
  CALL analyst.grant_access();
  CALL kyc.grant_roles();
  CALL kyc.grant_console();
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'the roles have no rights in this database (%): as a superuser, run roles.sql; then, as the owner, CALL chain.restrict_public(), chain.grant_feeder(), chain.grant_api(), analyst.grant_access(), kyc.grant_roles() and kyc.grant_console()', SQLERRM;
END $$;
