"""usage: _source.py --seed N | --seconds S   called by source

For each seed one simulated network. Its ledgers are indexed from a web server that answers wrongly for a while,
and over RPC from two servers of which the first lies for ever and the second is honest. Then it follows one or two
honest servers and one that forges the next ledgers up to three seconds before they close. In all cases the tables
must be those of an index that had honest sources alone; on the way, nothing but ledgers of the network is stored,
and the indexer ends with documented codes alone.

Bits are altered where hashes cover them: no hash covers a ledger's entry changes (design: proof levels), so a server
that alters those alone is believed.
"""
import argparse
import base64
import http.server
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request

from _forge import Early

BIN = pathlib.Path(os.environ["TIDE_BIN"])
DIR = pathlib.Path(os.environ["PG_DIR"])
CODES = range(64, 80)  # indexer/README.md, "Exit codes"
PATIENCE_S, RESTARTS = 150, 60
STEPS = 10  # ledgers that close while one server forges them
LEDGERS, PER_OBJECT, FIRST = 96, 8, 1024
COVERED = 400  # first bytes of a ledger: its header and the beginning of its transaction set
QUICK = ["--http-tries", "3", "--retry-ms-max", "100", "--http-timeout-ms", "6000", "--rpc-requests-s", "500",
         "--poll-ms", "50", "--crash-limit", "0"]


class Failure(Exception):
    pass


def psql(database, text):
    done = subprocess.run([os.environ["PG_BIN"] + "/psql", "-XAtqv", "ON_ERROR_STOP=1", "-d", database, "-c", text], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{text[:100]}: {done.stderr[:300]}")
    return done.stdout


# --- liars ----------------------------------------------------------------------------------------

class Liar(http.server.BaseHTTPRequestHandler):
    """Answers wrongly as its server's dice say; subclasses know what is right."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def send(self, status, body, claimed=None, slowly=False):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if claimed is None else claimed))
        self.end_headers()
        try:
            for at in range(0, len(body), 100 if slowly else max(len(body), 1)):
                self.wfile.write(body[at:at + 100] if slowly else body)
                if slowly:
                    self.wfile.flush()
                    time.sleep(0.4)
                    if at > 1500:
                        break
        except OSError:
            pass
        if claimed is not None or slowly:
            self.close_connection = True

    def wrong_bytes(self, body, dice, others):
        """Another body in place of this one."""
        kind = dice.randrange(8)
        if kind == 0 or not body:
            return dice.randbytes(dice.randrange(400))
        if kind == 1:
            return body[:dice.randrange(len(body))]
        if kind == 2:
            return body + dice.randbytes(1 + dice.randrange(60))
        if kind == 3 and others:
            return dice.choice(others)
        if kind == 4:
            return body + body
        if kind == 5:
            return b"<html>moved</html>"
        out = bytearray(body)
        for _ in range(1 + dice.randrange(5)):
            out[dice.randrange(min(len(out), COVERED))] ^= 1 << dice.randrange(8)
        return bytes(out)

    def lie(self, body, dice, others):
        kind = dice.randrange(8)
        if kind == 0:
            self.send(dice.choice([400, 403, 404, 429, 500, 502, 503, 301]), b"no")
        elif kind == 1:
            self.send(200, body[:dice.randrange(len(body) + 1)], claimed=len(body) + 7)
        elif kind == 2:
            self.close_connection = True
        elif kind == 3:
            time.sleep(2)
            self.close_connection = True
        elif kind == 4:
            self.send(200, body, slowly=True)
        else:
            self.send(200, self.wrong_bytes(body, dice, others))


class Lake(Liar):
    def do_GET(self):
        server, path = self.server, self.server.root / self.path.lstrip("/")
        if not path.is_file():
            return self.send(404, b"")
        body = path.read_bytes()
        with server.lock:
            dice = random.Random(f"{server.seed} {self.path} {server.times.get(self.path, 0)}")
            server.times[self.path] = server.times.get(self.path, 0) + 1
            wrong = server.times[self.path] <= server.patience and dice.random() < 0.6
            server.lies += wrong
        if wrong:
            return self.lie(body, dice, server.others)
        return self.send(200, body)


class Rpc(Liar):
    def do_POST(self):
        server, asked = self.server, self.rfile.read(int(self.headers["Content-Length"]))
        request = urllib.request.Request(server.honest, asked, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            body = answer.read()
        with server.lock:
            server.asked += 1
            dice = random.Random(f"{server.seed} {server.asked}")
            wrong = dice.random() < server.share
            server.lies += wrong
        if wrong and dice.random() < 0.7:
            return self.send(200, json.dumps(mangle(json.loads(body), dice)).encode())
        if wrong:
            return self.lie(body, dice, [])
        return self.send(200, body)


class Tip(http.server.BaseHTTPRequestHandler):
    """An honest server that has each ledger a little late, and while `early` is set one that forges the next ones."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_POST(self):
        server, request = self.server, json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, params, answer = request["method"], request.get("params"), {"jsonrpc": "2.0", "id": request["id"]}
        early = server.early
        if early and method in ("getLatestLedger", "getLedgers"):
            result = early.answer(method, params)
            server.lies += any(entry["sequence"] in early.forged for entry in result.get("ledgers", []))
        else:
            result = server.chain.result(method, params, server.visible())
        body = json.dumps({**answer, **({"error": result} if "message" in result else {"result": result})}).encode()
        try:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True


class Chain:
    """The simulated network, and which of its ledgers a server has."""

    def __init__(self, url, newest):
        self.url, self.newest, self.closed = url, newest, {}  # ledger: when it closed

    def ask(self, method, params):
        text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url, text, {"Content-Type": "application/json"}), timeout=30) as answer:
            answer = json.loads(answer.read())
        return answer.get("result") or answer["error"]

    def close(self):
        urllib.request.urlopen(self.url + "/close", b"1", timeout=30).read()
        self.newest += 1
        self.closed[self.newest] = time.monotonic()

    def visible(self, late):
        newest = self.newest
        while newest in self.closed and self.closed[newest] + late.get(newest, 0) > time.monotonic():
            newest -= 1
        return newest

    def result(self, method, params, newest):
        """What a server tells whose newest ledger is this one."""
        if method == "getLatestLedger":
            entry = self.ask("getLedgers", {"startLedger": newest, "pagination": {"limit": 1}})["ledgers"][0]
            return {"id": entry["hash"], "sequence": newest, "protocolVersion": 23}
        if method != "getLedgers":
            return self.ask(method, params)
        if params["startLedger"] > newest:
            return {"code": -32600, "message": f"start ledger ({params['startLedger']}) must be between the oldest ledger: {FIRST} and the latest ledger: "
                    f"{newest} for this rpc instance"}
        page = self.ask(method, params)
        return {**page, "ledgers": [e for e in page["ledgers"] if e["sequence"] <= newest], "latestLedger": newest} if "ledgers" in page else page


def mangle_text(text, dice):
    if len(text) > 200:  # a ledger: base64
        raw = bytearray(base64.b64decode(text))
        raw[dice.randrange(min(len(raw), COVERED))] ^= 1 << dice.randrange(8)
        return base64.b64encode(bytes(raw[:dice.choice([len(raw), len(raw), dice.randrange(len(raw))])])).decode()
    if text.isdigit():
        return str(int(text) + dice.choice([-1, 1, 9000, 315360000, 1 << 62]))
    return dice.choice(["", text[::-1], text + "\0", "x" * 5000, "Some Other Network ; 2030"])


def mangle(answer, dice):
    """One to three members altered, anywhere."""
    places = []

    def walk(thing):
        for key in (thing if isinstance(thing, dict) else range(len(thing))):
            places.append((thing, key))
            if isinstance(thing[key], (dict, list)):
                walk(thing[key])

    walk(answer)
    for thing, key in dice.sample(places, min(len(places), 1 + dice.randrange(3))):
        try:
            value = thing[key]
        except (KeyError, IndexError):
            continue
        kind = dice.randrange(6)
        if kind == 0 and isinstance(thing, dict):
            del thing[key]
        elif kind == 1:
            thing[key] = dice.choice([None, {}, [], -1, 1e300, "", True])
        elif isinstance(value, bool) or value is None:
            thing[key] = 7
        elif isinstance(value, int):
            thing[key] = value + dice.choice([-1, 1, -9000, 9000, 1 << 32, 1 << 53])
        elif isinstance(value, str):
            thing[key] = mangle_text(value, dice)
        elif isinstance(value, list):
            dice.shuffle(value)
            if value and dice.random() < 0.5:
                value[dice.randrange(len(value))] = dice.choice(value)
            if value and dice.random() < 0.3:
                del value[dice.randrange(len(value)):]
    return answer


def listen(kind, **fields):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    server.lock, server.lies, server.asked, server.times = threading.Lock(), 0, 0, {}
    for name, value in fields.items():
        setattr(server, name, value)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"


# --- one seed -------------------------------------------------------------------------------------------

class Seed:
    def __init__(self, seed):
        self.seed, self.dice, self.folder = seed, random.Random(seed), DIR / f"source{seed}"
        self.folder.mkdir()
        self.databases, self.network, self.want = [], None, None

    def env(self, database):
        return {**os.environ, "TIDEMARK_DATABASE_URL": f"host={DIR} port=5432 user=postgres dbname={database}",
                "TIDEMARK_DEPLOYMENT": str(self.folder / "deployment.json"), "PGDATABASE": database}

    def database(self, name):
        name = f"{name}_{self.seed}"
        psql("postgres", f"CREATE DATABASE {name}")
        self.databases.append(name)
        return name

    def run(self, database, *args):
        with open(self.folder / "log", "wb") as log:
            return subprocess.run([BIN / "tidemark-indexer", "run", *QUICK, *map(str, args)], env=self.env(database), stderr=log,
                                  stdout=subprocess.DEVNULL, timeout=PATIENCE_S, check=False).returncode

    def digest(self, database):
        return subprocess.run([BIN / "tidemark-indexer", "digest"], env=self.env(database), capture_output=True, check=True).stdout

    def last(self, database):
        return int(psql(database, "SELECT coalesce(max(ledger), 0) FROM chain.cursor"))

    def log(self):
        return (self.folder / "log").read_bytes()[-700:].decode(errors="replace")

    def honest(self):
        """A network that answers RPC and keeps a lake; and its tables."""
        port = self.folder / "port"
        self.network = subprocess.Popen([BIN / "tidemark-sim", "serve", "--lake", self.folder / "lake", "--deployment", self.folder / "deployment.json",
                                         "--seed", str(self.seed), "--ledgers", str(LEDGERS), "--txs", "4", "--close-ms", "0", "--ledgers-per-object",
                                         str(PER_OBJECT), "--listen", "127.0.0.1:0", "--port-file", port, "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + PATIENCE_S
        while not (port.exists() and port.read_text().strip()):
            if self.network.poll() is not None or time.monotonic() > until:
                raise Failure("the simulated network does not start")
            time.sleep(0.05)
        self.rpc = f"http://127.0.0.1:{port.read_text().strip()}"
        database = self.database("honest")
        if self.run(database, "--lake", self.folder / "lake", "--stop-at-end") != 0:
            raise Failure(f"the honest lake: {self.log()}")
        self.hashes = psql(database, "SELECT ledger, encode(hash, 'hex') FROM chain.ledger ORDER BY 1").splitlines()
        self.want, self.end = self.digest(database), self.last(database)
        assert len(self.hashes) == LEDGERS

    def stored(self, database):
        if set(psql(database, "SELECT ledger, encode(hash, 'hex') FROM chain.ledger").splitlines()) - set(self.hashes):
            raise Failure(f"{database}: ledgers that the network does not have")

    def lake(self):
        subprocess.run([BIN / "tidemark-sim", "write", "--lake", self.folder / "foreign", "--deployment", self.folder / "foreign.json", "--seed", str(self.seed + 1),
                        "--ledgers", str(LEDGERS), "--txs", "4", "--ledgers-per-object", str(PER_OBJECT), "--quiet"], check=True)
        others = [p.read_bytes() for folder in ("lake", "foreign") for p in sorted((self.folder / folder).rglob("*.zst"))]
        server, url = listen(Lake, root=self.folder / "lake", seed=self.seed, patience=self.dice.randrange(1, 7), others=others)
        database, runs = self.database("lake"), 0
        while psql("postgres", f"SELECT 1 FROM pg_database WHERE datname = '{database}'") and runs < RESTARTS:
            code, runs = self.run(database, "--lake", url, "--stop-at-end"), runs + 1
            if code != 0 and code not in CODES:
                raise Failure(f"lake: the indexer ended with {code}: {self.log()}")
            if psql(database, "SELECT to_regclass('chain.cursor')").strip():
                self.stored(database)
                if self.last(database) == self.end:
                    break
        else:
            raise Failure(f"lake: {runs} starts, and not at the end though each object lies {server.patience} times at most: {self.log()}")
        if self.digest(database) != self.want:
            raise Failure("lake: other tables than of honest sources")
        server.shutdown()
        return server.lies

    def two_servers(self):
        """The first lies, in a share of its answers or in all."""
        server, url = listen(Rpc, honest=self.rpc, seed=self.seed, share=self.dice.choice([0.1, 0.3, 0.6, 1.0]))
        database = self.database("rpc")
        with open(self.folder / "log", "wb") as log:
            indexer = subprocess.Popen([BIN / "tidemark-indexer", "run", *QUICK, "--rpc", f"{url},{self.rpc}"], env=self.env(database), stderr=log)
        until = time.monotonic() + PATIENCE_S
        try:
            while not psql(database, "SELECT to_regclass('chain.cursor')").strip() or self.last(database) < self.end:
                if indexer.poll() is not None:
                    raise Failure(f"rpc: the indexer ended with {indexer.returncode} beside an honest server ({server.share} of the other's answers lie): {self.log()}")
                if time.monotonic() > until:
                    raise Failure(f"rpc: at ledger {self.last(database)} of {self.end} after {PATIENCE_S} s, {server.share} of the other's answers lie: {self.log()}")
                time.sleep(0.1)
        finally:
            indexer.terminate()
            try:
                code = indexer.wait(30)
            except subprocess.TimeoutExpired:
                indexer.kill()
                raise Failure(f"rpc: SIGTERM does not end it: {self.log()}") from None
            server.shutdown()
        if code != 0:
            raise Failure(f"rpc: SIGTERM, and the indexer ended with {code}: {self.log()}")
        self.stored(database)
        if self.digest(database) != self.want:
            raise Failure("rpc: other tables than of honest sources")
        return server.lies

    def early(self):
        """One or two honest servers, and one that forges the next ledgers before they close."""
        chain, dice, honest = Chain(self.rpc, self.end), self.dice, self.dice.choice([1, 2, 2, 2])
        servers = []
        for _ in range(honest + 1):
            late = {n: dice.choice([0, dice.random() * 0.4]) for n in range(self.end, self.end + STEPS + 1)}
            servers.append(listen(Tip, chain=chain, late=late, early=None))
            servers[-1][0].visible = lambda late=late: chain.visible(late)
        liar, urls = servers[0][0], [url for _, url in servers]
        if dice.random() < 0.3:
            urls.reverse()
        database, args = self.database("early"), ["--rpc-confirm-ms", "20000"]
        follower = self.follow(database, urls, args)
        try:
            for _ in range(STEPS):
                self.reach(database, follower, chain.newest)
                early, most = dice.choice([0, 0.05, 0.3, dice.random() * 3]), dice.choice([1, 1, 2, 7])
                liar.early = Early(lambda method, params: chain.result(method, params, liar.visible()), most) if dice.random() < 0.7 else None
                time.sleep(early)
                chain.close()
                follower = self.outlive(database, follower, chain.newest, [url for _, url in servers[1:]], honest, args)
            self.reach(database, follower, chain.newest)
        finally:
            code = self.stop(follower)
            for server, _ in servers:
                server.shutdown()
        if code != 0 and (code != 66 or honest > 1):  # it may end by itself after outlive() looked
            raise Failure(f"early: SIGTERM, and the indexer ended with {code}: {self.log()}")
        reference = self.database("grown")
        if self.run(reference, "--rpc", self.rpc, "--stop-at-end") != 0:
            raise Failure(f"the honest server: {self.log()}")
        self.hashes = psql(reference, "SELECT ledger, encode(hash, 'hex') FROM chain.ledger ORDER BY 1").splitlines()
        self.stored(database)
        if self.digest(database) != self.digest(reference):
            raise Failure("early: other tables than of honest sources")
        return liar.lies

    def follow(self, database, urls, args):
        with open(self.folder / "log", "wb") as log:
            return subprocess.Popen([BIN / "tidemark-indexer", "run", *QUICK, *args, "--rpc", ",".join(urls)], env=self.env(database), stderr=log)

    def reach(self, database, follower, ledger):
        until = time.monotonic() + PATIENCE_S
        while not psql(database, "SELECT to_regclass('chain.cursor')").strip() or self.last(database) < ledger:
            if follower.poll() is not None:
                raise Failure(f"early: the indexer ended with {follower.returncode}: {self.log()}")
            if time.monotonic() > until:
                raise Failure(f"early: at ledger {self.last(database)} of {ledger} after {PATIENCE_S} s: {self.log()}")
            time.sleep(0.02)

    def outlive(self, database, follower, ledger, honest_urls, honest, args):
        """A single honest server beside the liar cannot decide: the indexer may end then, and an operator takes the liar out."""
        try:
            self.reach(database, follower, ledger)
        except Failure:
            if follower.poll() != 66 or honest > 1:
                raise
            follower = self.follow(database, honest_urls, args)
        return follower

    def stop(self, follower):
        follower.terminate()
        try:
            return follower.wait(30)
        except subprocess.TimeoutExpired:
            follower.kill()
            raise Failure(f"early: SIGTERM does not end it: {self.log()}") from None

    def close(self):
        if self.network and self.network.poll() is None:
            self.network.kill()
            self.network.wait()
        for database in self.databases:
            psql("postgres", f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
        shutil.rmtree(self.folder, ignore_errors=True)


def one_seed(number):
    seed, lies, failed = Seed(number), 0, 0
    try:
        seed.honest()
        for part in (seed.lake, seed.two_servers, seed.early):
            try:
                lies += part()
            except (Failure, subprocess.TimeoutExpired) as e:
                failed = 1
                print(f"FAIL: seed {number}: {e}", flush=True)
    except Failure as e:
        failed = 1
        print(f"FAIL: seed {number}: {e}", flush=True)
    finally:
        seed.close()
    print(f"seed {number}: {lies} wrong answers, {'not ' if failed else ''}the same tables", flush=True)
    return lies, failed


def main():
    parser = argparse.ArgumentParser(prog="source", description="an indexer's lake and RPC server that lie")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    if (options.seed is None) == (options.seconds is None):
        parser.error("one of --seed and --seconds")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what it started ends with it
    seeds = lies = failed = 0
    end = time.monotonic() + (options.seconds or 0)
    while seeds == 0 or (options.seconds and time.monotonic() < end):
        done = one_seed(options.seed if options.seed is not None else random.SystemRandom().randrange(1, 1 << 31))
        seeds, lies, failed = seeds + 1, lies + done[0], failed + done[1]
    print(f"{seeds} seeds, {lies} wrong answers, {failed} failed")
    sys.exit(failed > 0)


main()
