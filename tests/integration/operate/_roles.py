#!/usr/bin/env python3
"""Checks a migrated database by PostgreSQL's catalogue, and attacks it. Called with psql and the owner's name; the
database is in libpq's environment, the login is a superuser's.

The rights of a role come from the catalogue and not from the migrations, because the migrations are under test.
"""
import json
import subprocess
import sys

PSQL, OWNER = sys.argv[1:]
SCHEMAS = "('chain', 'event', 'state', 'history', 'asof', 'chain_rows', 'event_rows', 'history_rows', 'rollup', 'analyst', 'kyc')"
ROLES = ["tidemark_analyst", "tidemark_api", "tidemark_attester", "tidemark_console", "tidemark_feeder", "tidemark_kyc"]


def psql(user, sql):
    return subprocess.run([PSQL, "-XAtq", "-v", "ON_ERROR_STOP=1", "-U", user], input=sql, capture_output=True, text=True)


def rows(sql):
    done = psql("postgres", f"SELECT coalesce(json_agg(x), '[]') FROM ({sql}) AS x")
    if done.returncode:
        sys.exit(f"{sql}\n{done.stderr}")
    return json.loads(done.stdout)


def none(what, sql):
    found = rows(sql)
    if found:
        sys.exit(f"{what}: {found[:10]}")


# --- the catalogue ---------------------------------------------------------------------------------

def see_functions():
    """Code that runs as its owner looks names up where the owner alone can put some."""
    definers = rows(f"""
        SELECT p.oid::regprocedure AS name, p.proconfig AS config, p.proacl::text AS rights
        FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE p.prosecdef AND n.nspname IN {SCHEMAS}""")
    if len(definers) < 1:
        sys.exit("no SECURITY DEFINER function was found: is the question right?")
    for f in definers:
        path = [c.split("=", 1)[1] for c in f["config"] or [] if c.startswith("search_path=")]
        if path != ["pg_catalog, pg_temp"]:
            sys.exit(f"{f['name']} is SECURITY DEFINER with the search_path {path}")
    none("PUBLIC may execute", f"""
        SELECT p.oid::regprocedure AS name FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace,
          LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
        WHERE n.nspname IN {SCHEMAS} AND a.grantee = 0""")
    none("procedures that another role may call", f"""
        SELECT p.oid::regprocedure AS name, a.grantee::regrole FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace,
          LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
        WHERE n.nspname IN {SCHEMAS} AND p.prokind = 'p' AND a.grantee <> p.proowner""")
    none("a procedure of the owner's without a search_path of its own makes names mean what the caller's do", f"""
        SELECT p.oid::regprocedure AS name FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE n.nspname IN {SCHEMAS} AND p.prokind = 'p' AND p.proname NOT IN ('detach_partition', 'attach_partition')
          AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false)""")
    none("SECURITY DEFINER elsewhere", f"""
        SELECT p.oid::regprocedure AS name FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE p.prosecdef AND n.nspname NOT IN {SCHEMAS}""")


def see_public():
    none("PUBLIC may, in the database,", """
        SELECT a.privilege_type FROM pg_database AS d, LATERAL aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) AS a
        WHERE d.datname = current_database() AND a.grantee = 0 AND a.privilege_type <> 'CONNECT'""")
    none("PUBLIC may create in, or see,", f"""
        SELECT n.nspname, a.privilege_type FROM pg_namespace AS n, LATERAL aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS a
        WHERE a.grantee = 0 AND (n.nspname IN {SCHEMAS} OR a.privilege_type = 'CREATE')""")
    none("PUBLIC has rights on", f"""
        SELECT c.oid::regclass AS name, a.privilege_type FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace,
          LATERAL aclexplode(c.relacl) AS a WHERE n.nspname IN {SCHEMAS} AND a.grantee = 0""")


def see_roles():
    found = {r["name"]: r for r in rows("""
        SELECT rolname AS name, rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS much,
          coalesce((SELECT array_agg(m.roleid::regrole::text) FROM pg_auth_members AS m WHERE m.member = r.oid), '{}') AS member,
          coalesce((SELECT array_agg(u.unfold ORDER BY 1) FROM pg_db_role_setting AS s, unnest(s.setconfig) AS u(unfold)
            WHERE s.setrole = r.oid), '{}') AS settings
        FROM pg_roles AS r WHERE rolname LIKE 'tidemark%'""")}
    if OWNER in found:
        owner = found.pop(OWNER)
        if owner["much"] or owner["member"]:
            sys.exit(f"the owner may more than own: {owner}")
    if sorted(found) != ROLES:
        sys.exit(f"roles: {sorted(found)}")
    for role in found.values():
        wanted = ["tidemark_api"] if role["name"] == "tidemark_feeder" else []
        if role["much"] or role["member"] != wanted:
            sys.exit(f"{role['name']} may more than is granted: {role}")
    for name in ("tidemark_api", "tidemark_feeder", "tidemark_analyst"):
        if "default_transaction_read_only=on" not in found[name]["settings"]:
            sys.exit(f"{name} writes by default: {found[name]['settings']}")
    none("owned by another than the owner", f"""
        SELECT c.oid::regclass AS name, c.relowner::regrole FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname IN {SCHEMAS} AND c.relowner <> '{OWNER}'::regrole""")
    none("functions owned by another than the owner", f"""
        SELECT p.oid::regprocedure AS name FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE n.nspname IN {SCHEMAS} AND p.proowner <> '{OWNER}'::regrole""")


WRITES = {  # of each role: all that it may write, columns where not all of them
    "tidemark_kyc": {
        "session": "INSERT UPDATE", "inbox": "DELETE INSERT UPDATE", "sandbox": "INSERT UPDATE", "challenge": "DELETE INSERT",
        "session_key": "DELETE INSERT", "hook": "DELETE INSERT UPDATE", "hook_cursor": "INSERT UPDATE", "hook_delivery": "DELETE INSERT UPDATE",
        "hook_event": "DELETE INSERT UPDATE", "hook_seen": "INSERT UPDATE", "hook_slow": "DELETE INSERT UPDATE", "hook_use": "DELETE INSERT UPDATE", "hook_watch": "DELETE INSERT UPDATE",
        "outbox": "INSERT(action,decision_rev,deployment,expires_at,jurisdiction,last_status,mac,meta_hash,reason,session_id,state,subject)"},
    "tidemark_attester": {
        "attester": "INSERT UPDATE",
        "attester_fee": "INSERT UPDATE(bid,charged)",
        "outbox": "UPDATE(attempts,attended_at,attended_by,attention,bad_seq,bump_envelope,bump_fee,bump_hash,confirmed_ledger,envelope,genuine,"
                  "last_status,max_time,next_try,reason,reviewed_at,sent_ledger,seq,state,submit_ledger,tx_hash,updated_at)"},
    "tidemark_console": {}, "tidemark_feeder": {}, "tidemark_api": {}, "tidemark_analyst": {}}


def written_by(role):
    whole = rows(f"""
        SELECT n.nspname || '.' || c.relname AS name, string_agg(p.kind, ' ' ORDER BY p.kind) AS kinds
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace,
          unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS p(kind)
        WHERE n.nspname IN {SCHEMAS} AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND has_table_privilege('{role}', c.oid, p.kind)
        GROUP BY 1""")
    parts = rows(f"""
        SELECT n.nspname || '.' || c.relname AS name, p.kind || '(' || string_agg(a.attname, ',' ORDER BY a.attname) || ')' AS kinds
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
            AND NOT a.attisdropped, unnest(ARRAY['INSERT', 'UPDATE', 'REFERENCES']) AS p(kind)
        WHERE n.nspname IN {SCHEMAS} AND a.attacl IS NOT NULL AND NOT has_table_privilege('{role}', c.oid, p.kind)
          AND has_column_privilege('{role}', c.oid, a.attnum, p.kind)
        GROUP BY n.nspname, c.relname, p.kind""")
    found = {}
    for r in whole + parts:
        found[r["name"]] = " ".join(sorted(filter(None, (found.get(r["name"]), r["kinds"]))))
    return found


def see_tables():
    for role, wanted in WRITES.items():
        found = written_by(role)
        if found != {f"kyc.{table}": kinds for table, kinds in wanted.items()}:
            sys.exit(f"{role} may write {found}")
    none("reads jurisdictions without need", f"""
        SELECT a.attrelid::regclass AS name, a.attname, r AS role FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
          JOIN pg_namespace AS n ON n.oid = c.relnamespace, unnest(ARRAY['tidemark_api', 'tidemark_analyst', 'tidemark_console']) AS r
        WHERE n.nspname IN {SCHEMAS} AND (a.attname IN ('jurisdiction', 'key_xdr', 'value_xdr')
            OR a.attname IN ('args_xdr', 'ret_xdr') AND c.relkind <> 'v') AND has_column_privilege(r, c.oid, a.attnum, 'SELECT')
          AND has_schema_privilege(r, n.oid, 'USAGE')""")
    none("a role reads what is kyc's", """
        SELECT c.oid::regclass AS name, r AS role FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace,
          unnest(ARRAY['tidemark_api', 'tidemark_analyst', 'tidemark_feeder']) AS r
        WHERE n.nspname = 'kyc' AND (has_schema_privilege(r, n.oid, 'USAGE') OR c.relkind IN ('r', 'v')
          AND has_table_privilege(r, c.oid, 'SELECT'))""")


def see_views():
    """A view reads with its owner's rights: the owner made them all, and none shows a jurisdiction."""
    views = rows(f"""
        SELECT c.oid::regclass AS name, c.relowner::regrole::text AS owner, c.reloptions AS options
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind IN ('v', 'm') AND n.nspname IN {SCHEMAS}""")
    if len(views) < 30:
        sys.exit(f"only {len(views)} views")
    for view in views:
        if view["owner"] != OWNER:
            sys.exit(f"{view['name']} reads with the rights of {view['owner']}")
    none("a view that writes for its reader", f"""
        SELECT r.ev_class::regclass AS name FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class
          JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname IN {SCHEMAS} AND r.ev_type <> '1'""")


# --- attacks ---------------------------------------------------------------------------------------

def refused(user, sql, why="permission denied"):
    done = psql(user, sql)
    if done.returncode == 0 or why not in done.stderr:
        sys.exit(f"{user} was not refused ({why}): {sql}\n{done.stdout}{done.stderr}")


def allowed(user, sql):
    done = psql(user, sql)
    if done.returncode:
        sys.exit(f"{user} may not: {sql}\n{done.stderr}")
    return done.stdout.strip()


DOMAIN = """
    CREATE FUNCTION pg_temp.evil(x pg_catalog.{type}) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      IF current_user <> session_user THEN
        PERFORM set_config('tidemark.became', current_user, false);
      END IF;
      RETURN true;
    END $$;
    CREATE DOMAIN pg_temp.{type} AS pg_catalog.{type} CHECK (pg_temp.evil(VALUE));
    SET search_path = pg_temp, pg_catalog, kyc;
    SELECT kyc.note('worker', 'test', 'x', '{{}}');
    SELECT kyc.audit_broken();
    SELECT coalesce(current_setting('tidemark.became', true), 'nobody');"""


def try_types():
    """A temporary domain with the name of a type of kyc.note: its CHECK ran as the owner."""
    for user in ("tidemark_attester", "tidemark_kyc"):
        refused(user, "CREATE DOMAIN pg_temp.timestamptz AS pg_catalog.timestamptz", "permission denied to create temporary tables")
        allowed("postgres", f"GRANT TEMPORARY ON DATABASE tidemark TO {user}")  # as if a restore had forgotten it
        for name in ("timestamptz", "text", "bytea", "int8", "jsonb"):
            became = allowed(user, DOMAIN.format(type=name)).splitlines()[-1]
            if became != "nobody":
                sys.exit(f"with a temporary domain {name}, code of {user} ran as {became}")
        allowed("postgres", f"REVOKE TEMPORARY ON DATABASE tidemark FROM {user}")


def try_audit():
    allowed("tidemark_attester", "SELECT kyc.note('tidemark_kyc integrator acme', 'session_created', 'x', '{}')")
    actor = allowed("postgres", "SELECT actor FROM kyc.audit ORDER BY id DESC LIMIT 1")
    if not actor.startswith("tidemark_attester "):
        sys.exit(f"the attester wrote as {actor!r}")
    refused("tidemark_kyc", "SELECT kyc.note('a', 'b', 'c', jsonb_build_object('x', repeat('x', 5000)))", "4096 of detail")
    refused("tidemark_kyc", "SELECT kyc.note(repeat('a', 97), 'b', 'c', '{}')", "96 bytes of actor")
    for user in ("tidemark_kyc", "tidemark_attester"):
        for lock in ("kyc.audit_turn IN ACCESS SHARE", "kyc.audit IN EXCLUSIVE", "kyc.audit IN ROW EXCLUSIVE"):
            refused(user, f"BEGIN; LOCK TABLE {lock} MODE")
    holder = subprocess.Popen([PSQL, "-XAtq", "-U", "tidemark_attester", "-c", "SELECT pg_advisory_lock(7021, 50), pg_sleep(20)"],
                              stderr=subprocess.DEVNULL)  # an advisory lock does not hold up the audit
    try:
        allowed("tidemark_kyc", "SET lock_timeout = '5s'; SELECT kyc.note('worker', 'test', 'x', '{}')")
    finally:
        allowed("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tidemark_attester'")
        holder.wait()
    if allowed("tidemark_attester", "SELECT kyc.audit_broken() IS NULL") != "t":
        sys.exit("the audit is broken")


def try_locks():
    """Where database.sql was run, who holds up a daemon is a daemon, and a login without a role of ours is no login here."""
    if allowed("postgres", "SELECT has_function_privilege('public', 'pg_advisory_lock(bigint)', 'EXECUTE')") == "t":
        return
    allowed("postgres", "CREATE ROLE stranger LOGIN")
    refused("stranger", "SELECT 1", "permission denied for database")
    allowed("postgres", "DROP ROLE stranger")
    none("advisory locks may be taken by", """
        SELECT r.name, p.oid::regprocedure AS lock FROM unnest(ARRAY['public', 'tidemark_analyst', 'tidemark_api', 'tidemark_console', 'tidemark_feeder']) AS r(name),
          pg_proc AS p WHERE p.proname ~ 'advisory.*lock' AND p.proname !~ 'unlock' AND has_function_privilege(r.name, p.oid, 'EXECUTE')""")
    writer = "SELECT pg_try_advisory_lock(x'74696465'::int, 1)"
    for user in "tidemark_analyst", "tidemark_api", "tidemark_console", "tidemark_feeder":
        refused(user, writer, "permission denied for function")
    for user in OWNER, "tidemark_kyc", "tidemark_attester":
        allowed(user, writer)
    allowed(OWNER, "SELECT pg_terminate_backend(0)")
    for user in ROLES:
        for sql in ("SELECT pg_terminate_backend(pg_backend_pid())", "SELECT pg_cancel_backend(pg_backend_pid())", "SELECT lo_create(0)", "SELECT lo_creat(-1)", "SELECT lo_from_bytea(0, '\\x00')", "SELECT lo_put(1, 0, '\\x00')",
                    "SELECT pg_logical_emit_message(false, 'x', 'y')", "SELECT pg_logical_emit_message(true, 'x', '\\x00'::bytea)",
                    "SELECT pg_current_xact_id()", "SELECT txid_current()"):
            refused(user, f"SET default_transaction_read_only = off; {sql}", "permission denied for function")
        refused(user, "SET temp_file_limit = -1", "permission denied to set parameter")
        refused(user, f"SET default_transaction_read_only = off; ALTER ROLE {user} SET temp_file_limit = -1", "permission denied to set parameter")
        if allowed(user, "SHOW temp_file_limit") != ("8GB" if user == "tidemark_analyst" else "1GB"):
            sys.exit(f"{user} sorts without a limit")
    print("ok locks")


def try_rows():
    """Rows whose counts or times made the worker's statements fail: one of them kept all of a provider waiting."""
    event = "INSERT INTO kyc.inbox (deployment, provider, event_key, body_sha256, sig_key, {}) VALUES (1, 'didit', 'k', '', 0, {})"
    session = ("INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref, expires_at, {}) VALUES ('s', 1, 'G', 'didit', '', 'direct', 'r',"
               " now(), {})")
    for sql, column, value, why in (
            (event, "attempts", 2**31 - 1, "inbox_counts"), (event, "attempts", -2**31, "inbox_counts"), (event, "next_try", "'-infinity'", "inbox_times"),
            (event, "received_at", "'infinity'", "inbox_times"), (event, "ref", "repeat('x', 5000)", "inbox_lengths"),
            (session, "attempts", 2**31 - 1, "session_counts"), (session, "decision_rev", 2**31 - 1, "session_counts"),
            (session, "jurisdiction", -1, "session_counts"), (session, "valid_until", "'infinity'", "session_times"),
            (session, "next_check", "'-infinity'", "session_times"), (session, "last_error", "repeat('x', 5000)", "session_lengths"),
            (session, "reason", "repeat('x', 200)", "session_names"), (session.replace("'s'", "repeat('s', 100)"), "attempts", 0, "session_names"),
            (event.replace("'k'", "repeat('k', 600)"), "attempts", 0, "inbox_names")):
        refused("tidemark_kyc", sql.format(column, value), f'"{why}"')


def try_rest():
    for user in ROLES:
        for sql in ("CREATE TEMPORARY TABLE t (x int)", "CREATE TABLE public.t (x int)", "CREATE SCHEMA mine",
                    "CREATE FUNCTION public.f() RETURNS int LANGUAGE sql AS 'SELECT 1'", f"SET ROLE {OWNER}",
                    f"GRANT {OWNER} TO {user}", "CALL kyc.grant_roles()", "CALL chain.restrict_public()",
                    "CALL chain.detach_partition(1::smallint, 1)", "ALTER FUNCTION kyc.note(text, text, text, jsonb) SECURITY INVOKER",
                    "SET TRANSACTION READ WRITE; UPDATE chain.migration SET name = 'x'",
                    "COPY (SELECT 1) TO PROGRAM 'true'", "CREATE ROLE mine", f"ALTER ROLE {user} SUPERUSER",
                    "TRUNCATE kyc.audit", "CREATE TRIGGER t BEFORE INSERT ON kyc.session EXECUTE FUNCTION kyc.tell()"):
            refused(user, f"SET default_transaction_read_only = off; {sql}", "")
        allowed(user, "SET default_transaction_read_only = off; SELECT 1")


see_functions()
see_public()
see_roles()
see_tables()
see_views()
try_types()
try_audit()
try_locks()
try_rows()
try_rest()
