"""Runs the seeds of tests/hostile/roles: an attacker with a stolen database login. Called with DIR PG_BIN and the
generator's arguments.

The whole product runs on one database, each program with its own role; the indexer's owns the tables. A seed is one login that sends
statements and keeps some open, and then honest work. So this holds after each seed:

- no right, owner, role, function, view or constraint changed, and no code of the login ran as another role
- tables that the login may not write are as before; so is what is decided of an intent that was there; the audit is whole
- on the chain is attested who was approved, with the words of that decision, and no other subject
- meanwhile the API answers, the indexer follows, a provider's approval becomes an intent, and an intent of that approval is confirmed:
  with its words. What a login holds open of the tables of its own program stops that program until it is released, and no other
"""
import os
import random
import subprocess
import sys
import threading
import time
import traceback
from types import SimpleNamespace

import _attester
from _attester import World
import _providers
from _kyc import Api, DIR, REAL, Session, check, sql, until
from _steady import steady
from _roles_words import IN_OURS, Catalogue, Words

PSQL = os.environ["PG_BIN"] + "/psql"
ROLES = ["tidemark_kyc", "tidemark_attester", "tidemark_api", "tidemark_feeder", "tidemark_analyst", "other", "tidemark_console"]
TURNS = ["tidemark_kyc"] * 4 + ["tidemark_attester"] * 3 + ROLES[2:]
PATHS = ["/healthz", "/readyz", "/api/prices", "/api/pools", "/api/events?limit=2", "/metrics"]
BEGAN = time.monotonic()
HEARTBEATS = ("chain.lease", "chain.standby", "chain.attempt", "chain.heartbeat")
# The rights, as one text a line. The partitions that the indexer adds are its own and are not looked at.
RIGHTS = f"""
  SELECT concat_ws(' ', 'role', rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls, rolcanlogin) FROM pg_roles
  UNION ALL SELECT concat_ws(' ', 'member', roleid::regrole, member::regrole) FROM pg_auth_members
  UNION ALL SELECT concat_ws(' ', 'database', datname, datdba::regrole, datacl) FROM pg_database
  UNION ALL SELECT concat_ws(' ', 'setting', setdatabase, setrole, setconfig) FROM pg_db_role_setting
  UNION ALL SELECT concat_ws(' ', 'schema', nspname, nspowner::regrole, nspacl) FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp_'
  UNION ALL SELECT concat_ws(' ', 'table', c.oid::regclass, c.relkind, c.relowner::regrole, c.relacl, c.reloptions, c.relhastriggers, c.relhasrules,
    c.relrowsecurity, c.relnatts) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname IN {IN_OURS[:-1]}, 'public') AND NOT c.relispartition
  UNION ALL SELECT concat_ws(' ', 'column', attrelid::regclass, attname, attacl) FROM pg_attribute WHERE attacl IS NOT NULL
  UNION ALL SELECT concat_ws(' ', 'function', p.oid::regprocedure, p.proowner::regrole, p.proacl, p.prosecdef, md5(concat(p.prosrc, p.prosqlbody)), p.proconfig)
    FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE n.nspname !~ '^pg_temp_'
  UNION ALL SELECT concat_ws(' ', 'view', r.ev_class::regclass, md5(r.ev_action::text)) FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class
    JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname !~ '^pg_temp_'
  UNION ALL SELECT concat_ws(' ', 'trigger', tgrelid::regclass, tgname, tgenabled) FROM pg_trigger WHERE tgparentid = 0
  UNION ALL SELECT concat_ws(' ', 'default', defaclrole::regrole, defaclacl) FROM pg_default_acl
  UNION ALL SELECT concat_ws(' ', 'extension', extname) FROM pg_extension UNION ALL SELECT concat_ws(' ', 'language', lanname) FROM pg_language
  UNION ALL SELECT concat_ws(' ', 'event', evtname) FROM pg_event_trigger UNION ALL SELECT concat_ws(' ', 'publication', pubname) FROM pg_publication"""


class RoleWorld(World):
    """Each program with its own role."""

    def start_index(self):
        sql(f"ALTER DATABASE {self.db.name} OWNER TO tidemark_indexer")
        subprocess.run([PSQL, "-Xqf", os.path.join(os.environ["TIDE_SOURCE_DIR"], "tools/packaging/database.sql")], check=True)
        sql("GRANT CONNECT ON DATABASE roles TO other")
        env = dict(os.environ, TIDEMARK_DATABASE_URL=url_of("tidemark_indexer"))
        with open(f"{DIR}/indexer.log", "ab") as log:
            self.index = subprocess.Popen([_attester.INDEXER, "run", "--rpc", self.url, "--deployment", self.path / "deployment.json", "--poll-ms", "20",
                                           "--rpc-requests-s", "1000"], env=env, stdout=log, stderr=log)
        _attester.atexit.register(self.index.kill)
        _attester.until(lambda: int(self.db.one("SELECT coalesce(max(ledger), 0) FROM chain.cursor")) >= self.latest(), "indexed", 60)

    def arguments(self, *options):
        said = super().arguments(*options)
        return [url_of("tidemark_attester") if a == self.db.url else a for a in said]


def url_of(role):
    return f"host={DIR} port=5432 user={role} dbname=roles"


class Login:
    """A psql session of one login. Its errors are expected and ignored."""
    END = "--the-end--"

    def __init__(self, role):
        self.role, self.process = role, None
        self.open()

    def open(self):
        self.process = subprocess.Popen([PSQL, "-XAtq", url_of(self.role)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.try_it("SET default_transaction_read_only = off; SET statement_timeout = '300ms'")

    def try_it(self, statement):
        """The rows, or None where the session went. One that hangs is ended."""
        watch = threading.Timer(20, self.process.kill)
        watch.start()
        try:
            self.process.stdin.write(f"{statement};\n\\o\n\\echo '{self.END}'\n")
            self.process.stdin.flush()
            found = []
            for line in self.process.stdout:
                if line.rstrip("\n") == self.END:
                    return found
                found.append(line.rstrip("\n"))
        except OSError:
            pass
        finally:
            watch.cancel()
        return None

    def send(self, statement):
        if self.try_it(statement) is None:
            self.close()
            self.open()

    def hold(self, statement):
        """Sent, and not waited for. The server may have refused the login: a role has so many connections and no more."""
        try:
            self.process.stdin.write(f"SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;\n{statement};\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self

    def close(self):
        self.process.kill()
        self.process.wait()


def rights():
    return set(sql(RIGHTS).split("\n"))


def digests(catalogue):
    """Returns a digest of each table that no login may write, without the heartbeats: the waiting indexer renews its lease."""
    tables = [t for t in catalogue.every if not t.startswith("kyc.") and t not in HEARTBEATS]
    return set(sql(" UNION ALL ".join(f"(SELECT '{t} ' || count(*) || ' ' || coalesce(sum(hashtextextended(x::text, 0)), 0) FROM {t} AS x)"
                                      for t in tables)).split("\n"))


def decided():
    return set(filter(None, sql("SELECT (id, deployment, subject, session_id, decision_rev, action, jurisdiction, expires_at, meta_hash, created_at)::text FROM kyc.outbox").split("\n")))


def judge_login(login, before, now, what):
    became = login.try_it("SELECT current_setting('tidemark.became', true)")
    check(not became or not became[0], f"{login.role}: its code ran as {became}")
    for name, old in before.items():
        check(now[name] == old, f"{login.role}: {what}: {name} changed: {sorted(set(now[name]) ^ set(old))[:4]}")


class Run:
    def __init__(self, world, api, mock):
        self.w, self.api, self.mock, self.statements, self.known, self.subjects = world, api, mock, 0, {}, []

    def catalogue(self, role):
        if role not in self.known:
            self.known[role] = Catalogue(sql, role)
        return self.known[role]

    # --- honest work

    def answers(self):
        for path in PATHS:
            began = steady()
            code, _, body = self.api.get(path, {"Authorization": "Bearer metrics-key-of-tests"})
            check(code == 200 and steady() - began < 10, f"GET {path}: {code} after {steady() - began:.1f} s: {body[:600]}")

    def follows(self):
        self.w.ledgers(1)
        self.caught_up()

    def caught_up(self):
        latest = self.w.latest()
        until(lambda: int(sql("SELECT coalesce(max(ledger), 0) FROM chain.cursor")) >= latest, True, "the indexer follows")

    def approves(self, dice):
        s = Session(self.mock, dice.choice(self.providers), address=self.honest())
        s.decide("approved", send=True)
        return s.becomes("approved", ["attest"])

    def confirms(self, s):
        words = sql(f"SELECT jurisdiction, expires_at > extract(epoch FROM now()), expires_at < extract(epoch FROM now()) + 366 * 86400 FROM kyc.outbox WHERE session_id = '{s.id}'")
        check(words == "756|t|t", f"an honest intent says {words}")
        until(lambda: sql(f"SELECT state FROM kyc.outbox WHERE session_id = '{s.id}'"), "confirmed", f"the intent of {s.id}", 60)
        check(self.w.attested(s.address) == 1 and self.w.compliant(s.address), "confirmed, and not on the chain")

    def honest(self):
        """A subject that an honest decision will be about."""
        self.subjects.append(self.w.subject())
        return self.subjects[-1]

    def judge_chain(self, role):
        self.w.read_events()
        known = {_attester.raw_key(s) for s in self.subjects}
        others = [key for key in self.w.calls if key[1] not in known]
        check(not others, f"{role}: the chain has {others} of subjects without a decision")
        self.caught_up()
        wrong = sql(f"""SELECT address, jurisdiction, expires_at FROM state.compliance_registry_kyc WHERE verifier = '{self.w.address}'
            AND (jurisdiction <> 756 OR expires_at NOT BETWEEN extract(epoch FROM now()) - 7200 AND extract(epoch FROM now()) + 366 * 86400)""")
        check(not wrong, f"{role}: the chain says {wrong}")

    def tidy(self):
        """What a login left in the queues is not the next one's."""
        sql("TRUNCATE kyc.attester_fee, kyc.outbox, kyc.session, kyc.inbox, kyc.session_key, kyc.revocation, kyc.sandbox, kyc.challenge")

    # --- a seed

    def plant(self, dice):
        """Rows of every table that a login may write: what its own look like."""
        self.providers = dice.sample(REAL, 2)  # honest work is with those whose rows were attacked
        for provider in self.providers:
            s = Session(self.mock, provider, address=self.honest())
            s.decide("approved", send=True)
            s.becomes("approved", ["attest"])
        sql("""INSERT INTO kyc.sandbox (id, ref) VALUES ('sandbox-1', 'ref-1'); INSERT INTO kyc.challenge VALUES (sha256('1'), now() + interval '1 h')""")

    def seed(self, seed):
        dice = random.Random(seed)
        random.seed(f"subjects {seed}")
        role, own = dice.choice(TURNS), {"tidemark_kyc": "kyc", "tidemark_attester": "attester"}
        temporary = dice.random() < 0.4
        print(f"... seed {seed}: {role}, {time.monotonic() - BEGAN:.0f} s, {self.statements} statements", flush=True)
        self.tidy()
        self.plant(dice)
        self.caught_up()
        if temporary:  # as if a restore had forgotten it
            sql(f"GRANT TEMPORARY ON DATABASE roles TO {role}")
        c = self.catalogue(role)
        words, before, audit = Words(dice, c, ROLES + ["tidemark_indexer", "postgres"], [self.w.subject() for _ in range(3)]), self.look(c), sql("SELECT max(id) FROM kyc.audit")
        login, last = Login(role), "nothing"
        for _ in range(dice.randint(30, 90)):
            last = words.any()
            login.send(last)
            self.statements += 1
        judge_login(login, before, self.look(c, before["decided"]), last)
        # An intent for the attester, made before KYC's tables are locked by their own login.
        intent = self.w.plant(self.honest(), expires=int(time.time()) + 86400)
        held = [Login(role).hold(words.held()) for _ in range(dice.randint(0, 4))]
        self.statements += len(held)
        try:
            self.works(dice, own.get(role) if held else None, intent)
        finally:
            for h in held:
                h.close()
        self.w.still()
        if own.get(role) and held:  # its own program goes on once that is over
            self.works(dice, None, intent)
            self.w.still()
        self.judge_chain(role)
        check(rights() == before["rights"] and decided() >= before["decided"], f"{role}: a right or a decision changed meanwhile")
        check(sql("SELECT kyc.audit_broken() IS NULL") == "t", "the audit is broken")
        check(int(sql("SELECT max(id) FROM kyc.audit")) >= int(audit), "the audit is shorter")
        login.close()
        sql(f"REVOKE TEMPORARY ON DATABASE roles FROM {role}")

    def look(self, c, known=None):
        """known: what was decided before; what was decided since is not looked at."""
        return {"tables": digests(c), "rights": rights(), "decided": decided() if known is None else decided() & known}

    def works(self, dice, but, intent):
        self.answers()
        self.follows()
        s = self.approves(dice) if but != "kyc" else None
        if but == "attester":
            return
        if s is None:
            s = SimpleNamespace(address=intent[1], id=intent[2])
        self.w.tick(50)
        with self.w.attester():
            self.confirms(s)
        self.w.still()


def main():
    kind, first, *more = sys.argv[3:]
    if kind not in ("--seed", "--seeds", "--seconds"):
        sys.exit(64)
    mock = _providers.Providers().start()
    world = RoleWorld("roles", index=True)
    os.environ.update(TIDEMARK_DATABASE_URL=url_of("tidemark_feeder"), TIDEMARK_KYC_DATABASE_URL=url_of("tidemark_kyc"), TIDEMARK_DEPLOYMENT=str(world.path / "deployment.json"))
    api = Api(mock)
    world.ledgers(2)
    api.start(reconcile_s=5, settings=_providers.kyc_file(mock.url, "http://127.0.0.1:1", open=True))
    until(lambda: api.get("/readyz")[0], 200, "ready")
    run, done, began = Run(world, api, mock), 0, time.monotonic()
    end = began + int(first) if kind == "--seconds" else None
    seeds = [int(first) + i for i in range(int(more[0]) if more else 1)] if end is None else None
    try:
        while seeds if end is None else time.monotonic() < end:
            seed = seeds.pop(0) if end is None else random.SystemRandom().randrange(1 << 32)
            try:
                run.seed(seed)
            except BaseException as error:
                if not isinstance(error, SystemExit):
                    traceback.print_exc()
                print(f"seed {seed}: {error}", flush=True)
                raise SystemExit(1) from None
            done += 1
        api.stop()
        world.close()
    finally:
        if api.process and api.process.poll() is None:
            api.process.kill()
    print(f"{done} seeds, {run.statements} statements, {time.monotonic() - began:.0f} s")


main()
