"""Generates statements that a database login may send, from PostgreSQL's catalogue: every column that it may
write, every function that it may call, and the statements that PostgreSQL allows every login."""
import json

OURS = ("chain", "event", "state", "history", "asof", "chain_rows", "event_rows", "history_rows", "rollup", "analyst", "kyc")
IN_OURS = "('" + "', '".join(OURS) + "')"
WHOLE = {"smallint": 2**15, "integer": 2**31, "bigint": 2**63}
EXTREMES = {
    "numeric": ["'NaN'", "'Infinity'", "'-Infinity'", "0", "-1", "1e1000", "-1e-1000"],
    "double precision": ["'NaN'", "'Infinity'", "0", "-1e308"],
    "boolean": ["true", "false"],
    "text": ["''", "' '", "repeat('x', 100000)", "repeat(chr(128512), 3000)", "'null'", "E'a\\nb\\t'", "'''; --'", "'\\x'", "'-1'", "'%s%n'",
             "'../../x'", "'GAAA'", "chr(1)", "'sumsub'", "'didit'", "'sandbox'"],
    "bytea": ["'\\x'", "'\\x00'", "sha256(random()::text::bytea)", "decode(repeat('ff', 60000), 'hex')"],
    "timestamp with time zone": ["'infinity'", "'-infinity'", "'4713-01-01 BC'", "'294276-12-31'", "now()", "'epoch'", "now() + interval '900 years'"],
    "interval": ["'178000000 years'", "'-178000000 years'", "'0'"],
    "jsonb": ["'null'", "'{}'", "'[]'", "to_jsonb(repeat('x', 5000))", "'{\"a\": 1e400}'", "('[' || repeat('[', 500) || repeat(']', 500) || ']')::jsonb"],
    "oid": ["0", "4294967295"],
    "regclass": ["'pg_class'", "0"],
}
SETTINGS = ["0", "1", "-1", "on", "off", "2147483647", "''", "pg_temp", "'pg_temp, pg_catalog'", "UTF8", "SQL_ASCII", "German", "'NaN'", "debug5", "verbose"]
CHANNELS = ["tidemark_inbox", "tidemark_outbox", "tidemark_ledger", "tidemark_epoch"]
LOCKS = ["ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE", "EXCLUSIVE", "ACCESS EXCLUSIVE"]
REACH = [  # what would be a right more
    "SET ROLE {other}", "SET SESSION AUTHORIZATION {other}", "GRANT {other} TO {me}", "GRANT {me} TO {other}", "ALTER ROLE {me} SUPERUSER CREATEROLE",
    "ALTER ROLE {other} PASSWORD 'x'", "ALTER ROLE {other} SET search_path = 'pg_temp'", "CREATE ROLE mine{n} SUPERUSER LOGIN", "DROP ROLE {other}",
    "GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {me}", "GRANT ALL ON SCHEMA {schema} TO PUBLIC", "GRANT ALL ON {table} TO {me}",
    "ALTER TABLE {table} OWNER TO {me}", "ALTER TABLE {table} DISABLE TRIGGER ALL", "ALTER TABLE {table} ADD COLUMN mine int", "DROP TABLE {table}",
    "TRUNCATE {table}", "CREATE INDEX ON {table} ((1))", "CREATE RULE mine AS ON SELECT TO {table} DO INSTEAD SELECT 1", "ANALYZE {table}",
    "CREATE TRIGGER mine{n} BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION kyc.tell()", "CREATE POLICY mine ON {table} USING (true)",
    "CREATE OR REPLACE FUNCTION {schema}.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "ALTER FUNCTION {function} SECURITY DEFINER",
    "CREATE OR REPLACE VIEW {schema}.mine AS SELECT 1", "CREATE SCHEMA mine{n}", "CREATE TABLE public.mine{n} (x int)", "DROP SCHEMA {schema} CASCADE",
    "ALTER DATABASE {db} OWNER TO {me}", "ALTER DATABASE {db} SET search_path = 'pg_temp'", "ALTER SYSTEM SET fsync = off", "LOAD '/tmp/x'",
    "CREATE EXTENSION plpython3u", "CREATE EXTENSION pg_trgm", "CREATE LANGUAGE mine", "CREATE EVENT TRIGGER mine ON ddl_command_end EXECUTE FUNCTION kyc.tell()",
    "COPY (SELECT 1) TO PROGRAM 'true'", "COPY {table} FROM '/etc/passwd'", "SELECT pg_read_file('/etc/passwd')", "SELECT lo_import('/etc/passwd')",
    "SELECT pg_ls_dir('.')", "SELECT pg_reload_conf()", "SELECT pg_rotate_logfile()", "CREATE SERVER mine FOREIGN DATA WRAPPER postgres_fdw",
    "CREATE PUBLICATION mine FOR ALL TABLES", "CREATE SUBSCRIPTION mine CONNECTION '' PUBLICATION mine", "SELECT pg_create_logical_replication_slot('m', 'test_decoding')",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename <> session_user", "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename <> session_user",
    "SELECT pg_stat_reset()", "REASSIGN OWNED BY {other} TO {me}", "ALTER DEFAULT PRIVILEGES FOR ROLE {other} GRANT ALL ON TABLES TO {me}",
    "COMMENT ON TABLE {table} IS 'mine'", "PREPARE TRANSACTION 'mine'", "CALL {function_name}()", "CREATE CAST (text AS int) WITH INOUT AS IMPLICIT",
    "CREATE OPERATOR = (LEFTARG = text, RIGHTARG = text, FUNCTION = texteq)", "UPDATE pg_catalog.pg_authid SET rolsuper = true", "DELETE FROM pg_catalog.pg_class",
    "SECURITY LABEL ON ROLE {me} IS 'x'", "SET SESSION session_replication_role = replica", "SET row_security = off; SELECT count(*) FROM {table}", "CHECKPOINT",
    "VACUUM {table}", "REINDEX TABLE {table}", "CLUSTER {table}", "REFRESH MATERIALIZED VIEW {table}", "ALTER TYPE {schema}.mine ADD VALUE 'x'", "DISCARD ALL"]
EVIL = """CREATE OR REPLACE FUNCTION pg_temp.evil() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN IF current_user <> session_user THEN
    PERFORM set_config('tidemark.became', current_user, false); EXECUTE format('GRANT %I TO %I', current_user, session_user); END IF; RETURN true; END $$"""


class Catalogue:
    """What a role may do, as PostgreSQL says it."""

    def __init__(self, ask, role):
        self.role = role

        def rows(sql):
            return json.loads(ask(f"SELECT coalesce(json_agg(x), '[]') FROM ({sql}) AS x"))

        self.columns = {}
        for r in rows(f"""SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name, quote_ident(a.attname) AS column,
              format_type(a.atttypid, NULL) AS type, has_column_privilege('{role}', c.oid, a.attnum, 'INSERT') AS ins,
              has_column_privilege('{role}', c.oid, a.attnum, 'UPDATE') AS upd, has_column_privilege('{role}', c.oid, a.attnum, 'SELECT') AS sel,
              EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisunique AND a.attnum = ANY (i.indkey::int[])) AS key,
              (SELECT string_agg(pg_get_constraintdef(k.oid), ' ') FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype = 'c'
                AND a.attnum = ANY (k.conkey)) AS checks
            FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
              AND NOT a.attisdropped
            WHERE n.nspname IN {IN_OURS} AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition
              AND has_schema_privilege('{role}', n.oid, 'USAGE') ORDER BY 1, a.attnum"""):
            self.columns.setdefault(r["name"], []).append(r)
        self.deletes = [r["name"] for r in rows(f"""SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name FROM pg_class AS c
            JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname IN {IN_OURS} AND c.relkind IN ('r', 'p')
            AND has_table_privilege('{role}', c.oid, 'DELETE') ORDER BY 1""")]
        self.functions = rows(f"""SELECT quote_ident(n.nspname) || '.' || quote_ident(p.proname) AS name, p.oid::regprocedure::text AS signature,
              p.prosecdef AS definer, ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes::oid[]) AS t) AS types
            FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE n.nspname IN {IN_OURS} AND p.prokind = 'f'
              AND p.prorettype <> 'trigger'::regtype AND has_function_privilege('{role}', p.oid, 'EXECUTE')
              AND has_schema_privilege('{role}', n.oid, 'USAGE') ORDER BY 2""")
        self.settings = [r["name"] for r in rows("SELECT name FROM pg_settings WHERE context = 'user' ORDER BY 1")]
        self.every = [r["name"] for r in rows(f"""SELECT c.oid::regclass::text AS name FROM pg_class AS c JOIN pg_namespace AS n
            ON n.oid = c.relnamespace WHERE n.nspname IN {IN_OURS} AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1""")]
        self.inserts = [t for t, cs in self.columns.items() if any(c["ins"] for c in cs)]
        self.updates = [t for t, cs in self.columns.items() if any(c["upd"] for c in cs)]
        self.reads = [t for t, cs in self.columns.items() if any(c["sel"] for c in cs)]


class Words:
    def __init__(self, dice, catalogue, roles, strangers):
        """strangers: addresses that no decision is about."""
        self.dice, self.c, self.roles, self.strangers, self.number = dice, catalogue, roles, strangers, 0

    def extreme(self, kind):
        if kind in WHOLE:
            top = WHOLE[kind]
            return f"({self.dice.choice([-top, top - 1, -1, 0, 1, 2, 999, top // 2])})::{kind}"
        return f"({self.dice.choice(EXTREMES.get(kind, ['NULL', chr(39) * 2]))})::{kind}"

    def value(self, column):
        """Often one of the words that the column's CHECK names."""
        named = [w.split("'")[1] for w in (column["checks"] or "").split("ARRAY[")[-1].split(",") if w.count("'") >= 2] if "ARRAY[" in (column["checks"] or "") else []
        if named and column["type"] == "text" and self.dice.random() < 0.7:
            return f"'{self.dice.choice(named)}'"
        if self.dice.random() < 0.08:
            return "NULL"
        return self.extreme(column["type"])

    def fresh(self, kind):
        self.number += 1
        return {"text": f"'h' || md5(random()::text || {self.number})", "bytea": "sha256(random()::text::bytea)"}.get(kind)

    def insert(self):
        """A row like another, a few of its columns changed."""
        table = self.dice.choice(self.c.inserts)
        columns = [c for c in self.c.columns[table] if c["ins"]]
        share, values = self.dice.choice([0.05, 0.15, 0.5]), []
        for c in columns:
            fresh = self.fresh(c["type"]) if c["key"] and not c["checks"] and self.dice.random() < 0.7 else None
            values.append(fresh or (self.value(c) if self.dice.random() < share or not c["sel"] else c["column"]))
        return f"INSERT INTO {table} ({', '.join(c['column'] for c in columns)}) SELECT {', '.join(values)} FROM {table} ORDER BY random() LIMIT 1"

    def forge(self):
        """An intent that was not decided: of another subject, of other words, or a newer one, with a MAC that stands elsewhere."""
        subject = self.dice.choice([f"'{self.dice.choice(self.strangers)}'", "subject"])
        mac = self.dice.choice(["mac", "mac", "NULL", "sha256('x')"])
        action, state = self.dice.choice(["'attest'", "'revoke'", "action"]), self.dice.choice(["'queued'", "'queued'", "'parked'", "'superseded'"])
        return f"""INSERT INTO kyc.outbox (deployment, subject, session_id, decision_rev, action, jurisdiction, expires_at, meta_hash, mac, state)
            SELECT deployment, {subject}, session_id, decision_rev + {self.dice.choice([0, 1, 1, 7])}, {action}, {self.dice.choice([756, 4])},
            {self.dice.choice(["expires_at", "4102444800"])}, meta_hash, {mac}, {state} FROM kyc.outbox ORDER BY random() LIMIT 1"""

    def update(self):
        table = self.dice.choice(self.c.updates)
        columns = [c for c in self.c.columns[table] if c["upd"]]
        changed = self.dice.sample(columns, min(len(columns), self.dice.choice([1, 1, 1, 2, 4])))
        where = "" if self.dice.random() < 0.4 else f" WHERE ctid = (SELECT ctid FROM {table} ORDER BY random() LIMIT 1)"
        return f"UPDATE {table} SET {', '.join(c['column'] + ' = ' + self.value(c) for c in changed)}{where}"

    def delete(self):
        table = self.dice.choice(self.c.deletes)
        return f"DELETE FROM {table} WHERE ctid = (SELECT ctid FROM {table} ORDER BY random() LIMIT 1)"

    def call(self):
        f = self.dice.choice([g for g in self.c.functions if g["definer"]] if self.dice.random() < 0.4 and any(g["definer"] for g in self.c.functions) else self.c.functions)
        values = ["NULL" if self.dice.random() < 0.1 else self.extreme(t) for t in f["types"]]
        return f"SELECT {f['name']}({', '.join(values)})"

    def reach(self):
        self.number += 1
        function = self.dice.choice(self.c.functions) if self.c.functions else {"signature": "kyc.note(text, text, text, jsonb)", "name": "kyc.note"}
        return self.dice.choice(REACH).format(me=self.c.role, other=self.dice.choice([r for r in self.roles if r != self.c.role]), n=self.number, table=self.dice.choice(self.c.every), db="roles",
                                              schema=self.dice.choice(OURS), function=function["signature"],
                                              function_name=self.dice.choice(["kyc.grant_roles", "chain.grant_api", "chain.restrict_public", "kyc.erase", function["name"]]))

    def shadow(self):
        """Temporary objects with the names of what our functions and views use. Without the right to make them, as refused as anything."""
        kind = self.dice.choice(["timestamptz", "text", "bytea", "int8", "jsonb", "numeric", "bool"])
        name = self.dice.choice(["session", "outbox", "audit", "audit_turn", "deployment", "pg_class", "migration"])
        return self.dice.choice([
            EVIL, f"CREATE DOMAIN pg_temp.{kind} AS pg_catalog.{kind} CHECK (pg_temp.evil())", f"CREATE TEMP VIEW {name} AS SELECT pg_temp.evil() AS x",
            f"CREATE TEMP TABLE {name} (x int DEFAULT (pg_temp.evil()::int))", "SET search_path = pg_temp, pg_catalog, kyc, analyst, chain",
            "SET search_path = kyc, pg_temp",
            "CREATE FUNCTION pg_temp.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT pg_temp.evil(); SELECT pg_catalog.now()'",
            "CREATE FUNCTION pg_temp.sha256(bytea) RETURNS bytea LANGUAGE sql AS 'SELECT pg_temp.evil(); SELECT $1'",
            "CREATE FUNCTION pg_temp.eq(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT pg_temp.evil()'",
            "CREATE OPERATOR pg_temp.= (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.eq)",
            "CREATE OPERATOR pg_temp.|| (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = byteacat)"])

    def set(self):
        name = self.dice.choice([s for s in self.c.settings if s not in ("statement_timeout", "transaction_timeout")])
        return f"SET {name} = {self.dice.choice(SETTINGS)}"

    def tell(self):
        return f"SELECT pg_notify('{self.dice.choice(CHANNELS)}', repeat('x', {self.dice.choice([0, 1, 7999])})) FROM generate_series(1, {self.dice.choice([1, 50])})"

    def read(self):
        table = self.dice.choice(self.c.reads)
        return f"SELECT * FROM {table} LIMIT 3" if self.dice.random() < 0.5 else f"SELECT count(*) FROM {table}"

    def object(self):
        return self.dice.choice(["SELECT lo_create(0)", "SELECT lo_from_bytea(0, '\\x00')", "CREATE TEMP TABLE big AS SELECT generate_series(1, 10000)", "LISTEN tidemark_outbox",
                                 "SELECT set_config('role', 'postgres', false)", "SELECT set_config('session_authorization', 'postgres', false)", "RESET ALL", "RESET ROLE"])

    def any(self):
        kinds = [self.reach, self.shadow, self.set, self.tell, self.object]
        kinds += [self.call] * 2 if self.c.functions else []
        kinds += [self.read] if self.c.reads else []
        kinds += [self.insert] * 6 if self.c.inserts else []
        kinds += [self.update] * 6 if self.c.updates else []
        kinds += [self.forge] * 6 if "kyc.outbox" in self.c.inserts else []
        kinds += [self.delete] if self.c.deletes else []
        return self.dice.choice(kinds)()

    def held(self):
        """What is held, while the others work, by a session that does not end."""
        table = self.dice.choice(self.c.reads or self.c.every)
        mine = self.dice.choice(self.c.updates or [table])
        if not self.c.updates and self.dice.random() < 0.4:  # as the indexer, new sessions, a session's worker, migrate and the attester take them
            lock = self.dice.choice(["1953064037, 1", "7021, 51", "7022, 1", "7024, 1", "1953064045, 1"])
            return f"SELECT {self.dice.choice(['pg_advisory_lock', 'pg_try_advisory_lock', 'pg_advisory_xact_lock_shared'])}({lock}); BEGIN"
        return "BEGIN; " + self.dice.choice([
            f"LOCK TABLE {table} IN {self.dice.choice(LOCKS)} MODE", f"LOCK TABLE {mine} IN {self.dice.choice(LOCKS)} MODE", f"SELECT count(*) FROM {table}",
            f"SELECT 1 FROM {mine} ORDER BY random() LIMIT 3 FOR UPDATE", f"SELECT 1 FROM {table} FOR KEY SHARE",
            "SELECT count(*) FROM generate_series(1, 100000000)", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM pg_class",
            self.insert() if self.c.inserts else "SELECT 1", self.update() if self.c.updates else "SELECT 2"])
