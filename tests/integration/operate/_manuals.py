#!/usr/bin/env python3
"""usage: _manuals.py machine DIR CMD…        makes this namespace the machine of the manuals, then runs CMD
       _manuals.py run DIR [PATTERN]          runs the manuals whose names match, beside tools/with-stack

A manual's commands run one after the other in one shell, in a copy of this project, as a reader would type them. The machine has
the hosts of HOSTS, served here over TLS. Manuals of the indexer have the chain of `Chain`: FILE and deployment.json are its
deployment, DIR and /srv/lake its lake, /srv/history its archive. Others have the stack's.
"""
import collections
import fcntl
import http.server
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.request

SOURCES = pathlib.Path(os.environ["TIDE_SOURCE_DIR"])
BIN = pathlib.Path(os.environ["TIDE_BIN"])
HOSTS = ("host", "another", "rpc.example", "history.example", "kyc.example", "api.example.org", "console.example", "db.example.org")
FIRST, LEDGERS = 448, 576  # of the chain: the numbers that manuals give are among these
PATIENCE_S = 60

# What a manual takes for granted, in the words of its shell.
BEFORE = {
    "api/console/README.md": "CONSOLE_ORIGIN=https://console.example",
    "tools/lake/README.md": "psql -Xqf tools/lake/role.sql -c \"ALTER ROLE lake PASSWORD '$PGPASSWORD'\"",
}
# Examples of the programs' own pages have no fence that could say so.
EXAMPLES_NOT_RUN = {
    r"sudo|/etc/tidemark/": "an installed system",
    r"--proof |--receipt ": "a file that an API gave",
    r"erase |tk_0|requeue|attended": "an address, a key or an intent that exists",
    r"^tidemark-(api|console)|^tidemark-attester status": "the manual's command is run instead",
}
KEPT = r"(.*\| )?tidemark-sim serve\b"  # until the next one: commands behind it ask it
# Programs that end when they are told to, and what they print once they work.
SERVES = {
    r"tidemark-api\b": r"api\.listening",
    r"tidemark-console\b": r"console\.listening",
    r"tidemark-attester( run)?(?= *$)": r"info ",
    r"tidemark-indexer run\b.*--from-checkpoint": r"start\.(done|before)",
    r"tidemark-indexer run\b(?!.*--stop-at-end)": r"writer\.ready",
    KEPT: r"serve\.listening",
    r"tidemark-indexer status --watch": r"ledger",
    r"tidemark-sim write\b.*--follow": r"",
    r"curl -N\b": r"event:",
    r".*sleep \d{4,}": r"export TIDEMARK",
}


def loaded(path):
    loader = importlib.machinery.SourceFileLoader("manuals", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("manuals", loader))
    loader.exec_module(module)
    return module


collected = loaded(SOURCES / "tools/check/manuals")


def machine(work, command):
    """A loopback, the hosts' names, their certificate among the system's authorities, an empty /srv."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as at:
        fcntl.ioctl(at, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
    (work / "hosts").write_text("127.0.0.1 localhost " + " ".join(HOSTS) + "\n")
    names = ",".join(f"DNS:{host}" for host in HOSTS)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=manuals",
                    "-addext", f"subjectAltName={names}", "-keyout", work / "key.pem", "-out", work / "cert.pem"], check=True, capture_output=True)
    system = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
    (work / "authorities.crt").write_text(system.read_text() + (work / "cert.pem").read_text())
    for ours, theirs in ((work / "hosts", "/etc/hosts"), (work / "authorities.crt", system)):
        subprocess.run(["mount", "--bind", ours, theirs], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", "/srv"], check=True)
    os.execv(command[0], command)


class Chain:
    """A chain with an archive that validators signed, its lake, its RPC server, and a database with all of it."""

    def __init__(self, work):
        self.folder = work / "chain"
        self.lake, self.archive, self.deployment = self.folder / "lake", self.folder / "archive", self.folder / "deployment.json"
        program("tidemark-sim", "write", "--lake", self.lake, "--archive", self.archive, "--validators", "4", "--first-ledger", FIRST, "--ledgers", LEDGERS, "--quiet")
        stream = subprocess.Popen([BIN / "lake_stream", self.lake], stdout=subprocess.PIPE)
        self.server = subprocess.Popen([BIN / "tidemark-sim", "serve", "--recorded", "-", "--ledgers", str(LEDGERS), "--listen", "127.0.0.1:7999", "--quiet"],
                                       stdin=stream.stdout, stdout=subprocess.DEVNULL)
        statement("CREATE DATABASE made")
        program("tidemark-indexer", "run", "--lake", self.lake, "--deployment", self.deployment, "--stop-at-end", "--database-url", database("made"))

    def stage(self, folder):
        """The files of a manual about it."""
        for name in ("FILE", "deployment.json", "protocol.json"):
            shutil.copy(self.deployment, folder / name)
        shutil.copy(next(self.lake.rglob("*.zst")), folder / "ledger-812.xdr.zst")
        (folder / "DIR").symlink_to(self.lake)
        for name, target in (("lake", self.lake), ("history", self.archive)):
            pathlib.Path("/srv", name).symlink_to(target)


class Front(http.server.BaseHTTPRequestHandler):
    """The hosts that manuals name: RPC servers, lakes and archives of the chain, the stack's API."""
    protocol_version = "HTTP/1.1"
    chain = None

    def log_message(self, *_):
        pass

    def answer(self):
        host, path = self.headers["Host"].split(":")[0], self.path
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if host in ("kyc.example", "api.example.org"):
            self.passed_on(os.environ["TIDEMARK_API_URL"] + path, body)
        elif self.command == "POST":
            self.passed_on("http://127.0.0.1:7999/", body)
        else:
            _, root, inner = path.split("/", 2) if path.count("/") > 1 else ("", "", "")
            file = (self.chain.lake if root == "ledgers" else self.chain.archive) / inner
            self.reply(*((200, file.read_bytes()) if file.is_file() else (404, b"")))

    do_GET = do_POST = do_HEAD = answer

    def passed_on(self, url, body):
        kept = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection", "content-length")}
        request = urllib.request.Request(url, data=body or None, headers=kept, method=self.command)
        try:
            with urllib.request.urlopen(request, timeout=60) as got:
                self.reply(got.status, got.read(), got.headers["Content-Type"])
        except urllib.error.HTTPError as error:
            self.reply(error.code, error.read(), error.headers["Content-Type"])

    def reply(self, code, body, kind="application/octet-stream"):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def serve_hosts(work, chain):
    Front.chain = chain
    for port in (80, 443):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Front)
        if port == 443:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(work / "cert.pem", work / "key.pem")
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()


def program(name, *arguments):
    done = subprocess.run([BIN / name, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name} {arguments[0]}: exit {done.returncode}: {done.stderr[-600:]}")
    return done.stdout


def database(name):
    return re.sub(r"/\w+$", f"/{name}", os.environ["TIDEMARK_DATABASE_URL"])


def statement(text, where="postgres"):
    done = subprocess.run(["psql", "-XAtqv", "ON_ERROR_STOP=1", "-c", text, database(where)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{text}: {done.stderr}")
    return done.stdout.split()


def commands_of(block):
    """The commands of a block: a line, or as many as bash needs."""
    if block.language == "sql":
        yield "psql -Xv ON_ERROR_STOP=1 -d tidemark <<'END'\n" + block.text + "\nEND"
        return
    waiting = ""
    for line in block.text.split("\n"):
        waiting += line + "\n"
        read = subprocess.run(["bash", "-n"], input=waiting, capture_output=True, text=True)
        if read.returncode == 0 and not read.stderr and not line.endswith("\\"):
            if re.sub(r"(?m)^ *(#.*)?$", "", waiting).strip():
                yield waiting.strip("\n")
            waiting = ""
    if waiting.strip():
        yield waiting


def bare(command):
    return re.sub(r"(?m)(^|\s+)#.*$", "", command).strip()


class Shell:
    """A reader's shell: runs commands one after the other. What serves is ended as soon as it works."""
    SCRIPT = """set -m -o pipefail
while read -r n; do
    eval "$(<"$work/$n")" >"$work/$n.out" 2>&1 </dev/null
    echo "$?" >"$work/$n.new"
    command mv "$work/$n.new" "$work/$n.code"
done
"""

    def __init__(self, work, folder, env):
        self.work, self.count, self.serving, self.stuck = work, 0, {}, False
        (work / "script").write_text(self.SCRIPT)
        self.process = subprocess.Popen(["bash", work / "script"], cwd=folder, env=env | {"work": str(work)}, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)

    def run(self, command):
        """Runs a command, and returns its exit status and what it printed; None: it did not end in time."""
        kind = next((kind for kind in SERVES if re.match(kind, bare(command))), None)
        fault = self.end(kind) if kind else None
        if fault:
            return fault
        self.count += 1
        at = self.work / str(self.count)
        if kind:
            command = f"{{ {command}\n}} >'{at}.said' 2>&1 &\necho $! >'{at}.pid'"
        at.write_text(command)
        self.process.stdin.write(f"{self.count}\n")
        self.process.stdin.flush()
        code = self.wait(lambda: at.with_suffix(".code").exists() and int(at.with_suffix(".code").read_text()))
        if kind and code == 0:
            self.serving[kind] = at
            pid = int(at.with_suffix(".pid").read_text())
            said = at.with_suffix(".said")
            ready = self.wait(lambda: said.exists() and bool(re.search(SERVES[kind], said.read_text(errors="replace"))) or (not alive(pid) and "ended") or None)
            if ready is not True:
                del self.serving[kind]
                return 1 if ready else None, tail(said)
            fault = None if kind == KEPT else self.end(kind)
            return fault or (0, tail(said))
        self.stuck = code is None
        return code, tail(at.with_suffix(".out"))

    def wait(self, condition):
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            found = condition()
            if found is not None and found is not False:
                return found
            time.sleep(0.05)
        return None

    def end(self, kind):
        """Ends what serves of this kind; returns a fault if it does not end well."""
        at = self.serving.pop(kind, None)
        if not at:
            return None
        pid = int(at.with_suffix(".pid").read_text())
        if not alive(pid):
            return 1, f"it ended by itself: {at.read_text()}: {tail(at.with_suffix('.said'))}"
        os.killpg(pid, signal.SIGTERM)
        return None if self.wait(lambda: not alive(pid) or None) else (None, f"SIGTERM does not end it: {at.read_text()}")

    def close(self):
        faults = [fault for kind in list(self.serving) for fault in [self.end(kind)] if fault]
        self.process.stdin.close()
        for path in pathlib.Path("/proc").glob("[0-9]*"):  # what a command left behind is of the shell's session
            try:
                if int((path / "stat").read_text().rsplit(")", 1)[1].split()[3]) == self.process.pid:
                    os.kill(int(path.name), signal.SIGKILL)
            except (FileNotFoundError, ProcessLookupError):
                pass
        self.process.wait()
        return faults


def tail(path):
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - 1500))
        return file.read().decode(errors="replace")


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def packed(archive):
    """An archive of this project's files."""
    listed = subprocess.run(["git", "-C", SOURCES, "ls-files", "-coz", "--exclude-standard"], capture_output=True, check=True).stdout
    there = b"\0".join(name for name in listed.split(b"\0") if name and os.path.lexists(os.path.join(os.fsencode(SOURCES), name)))
    subprocess.run(["tar", "-C", SOURCES, "--null", "-T", "-", "-cf", archive], input=there, check=True)


def stack_env():
    url = re.fullmatch(r"postgresql://(.*?):(.*?)@(.*?):(.*?)/(.*)", os.environ["TIDEMARK_DATABASE_URL"])
    address, other = (program("tidemark-sim", "keys", "--name", name).split()[1] for name in ("ann", "ben"))
    stack = pathlib.Path(os.environ["TIDEMARK_STACK"])
    env = {name: value for name, value in os.environ.items() if name != "TIDEMARK_RPC_URL"}
    return env | {"PGUSER": url[1], "PGPASSWORD": url[2], "PGHOST": url[3], "PGPORT": url[4], "PGDATABASE": url[5], "PSQL_PAGER": "",
                  "u": os.environ["TIDEMARK_API_URL"], "address": address, "other": other,
                  "TIDEMARK_ATTESTER_KEY": str(stack / "verifier.seed"), "TIDEMARK_RPC": os.environ["TIDEMARK_RPC_URL"],
                  "TIDEMARK_ATTESTER_INTENT_KEY": json.loads((stack / "kyc.json").read_text())["intentKey"]}


def run_manual(work, manual, blocks, chain, env):
    """Runs the blocks of a manual; yields (block, command, code, wanted, said)."""
    folder, scratch = work / "copy", work / "shell"
    for path in (folder, scratch):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
    subprocess.run(["tar", "-xf", work / "sources.tar", "-C", folder], check=True)
    (folder / "build").symlink_to(SOURCES / "build")
    for path in pathlib.Path("/srv").iterdir():
        path.unlink() if path.is_symlink() else shutil.rmtree(path)
    roles = set(statement("SELECT rolname FROM pg_roles"))
    if manual.startswith(("indexer/", "api/attester/", "man ")):
        chain.stage(folder)
        env = env | {"TIDEMARK_DATABASE_URL": database("here"), "TIDEMARK_DEPLOYMENT": str(chain.deployment), "PGDATABASE": "here"}
        if not manual.startswith("api/"):
            del env["TIDEMARK_RPC"]
        statement("CREATE DATABASE here TEMPLATE made")
    else:
        shutil.copy(env["TIDEMARK_DEPLOYMENT"], folder / "deployment.json")
        (folder / "DIR").mkdir()
    (folder / ".curlrc").write_text("fail\nsilent\nshow-error\n")  # an answer that is an error is exit 22
    shell = Shell(scratch, folder, env | {"CURL_HOME": str(folder)})
    if [shell.run(command)[0] for command in ("false", "curl $u/nowhere", "true")] != [1, 22, 0]:
        sys.exit("a command that fails is not seen")
    if manual in BEFORE:
        code, said = shell.run(BEFORE[manual])
        if code:
            sys.exit(f"{manual}: {BEFORE[manual]}: {code}: {said}")
    for block in blocks:
        if block.note == collected.EMPTY:
            statement("DROP DATABASE here WITH (FORCE)")
            statement("CREATE DATABASE here")
        for command in commands_of(block):
            wanted = re.search(r"# exit (\d+)", command)
            code, said = shell.run(command)
            yield block, command, int(wanted[1]) if wanted else 0, code, said
            if code is None:
                break  # nothing behind it can run
        if shell.stuck:
            break
    for code, said in shell.close():
        yield blocks[-1], "(the end)", 0, code, said
    statement("DROP DATABASE IF EXISTS here WITH (FORCE)")
    for role in set(statement("SELECT rolname FROM pg_roles")) - roles:
        statement(f'DROP OWNED BY "{role}" CASCADE; DROP ROLE "{role}"', "tidemark")


def not_run(block):
    """Why a block is not run here; None: it is."""
    if block.manual.startswith("man "):
        return next((reason for pattern, reason in EXAMPLES_NOT_RUN.items() if re.search(pattern, block.text)), None)
    found = collected.NOT_RUN.fullmatch(block.note)
    return found[1].split(";")[0] if found else "another test runs it" if collected.RUN_BY.fullmatch(block.note) else None


def run(work, pattern):
    blocks = [block for manual in collected.files(SOURCES, ".md") for block in collected.parted(SOURCES, manual)[0]]
    shown = [block._replace(note=collected.EMPTY if "--from-checkpoint" in block.text else "") for block in collected.examples(BIN)]
    blocks += sorted(shown, key=lambda block: (block.manual, block.note))
    blocks = [block for block in blocks if block.language in ("sh", "sql") and re.search(pattern, block.manual)]
    left = collections.Counter(filter(None, map(not_run, blocks)))
    manuals = collections.defaultdict(list)
    for block in blocks:
        if not not_run(block):
            manuals[block.manual].append(block)
    packed(work / "sources.tar")
    chain = Chain(work)
    serve_hosts(work, chain)
    env, faults, count = stack_env(), 0, 0
    for name in statement(r"SELECT rolname FROM pg_roles WHERE rolname ~ '^tidemark_'"):
        statement(f"ALTER ROLE {name} PASSWORD '{env['PGPASSWORD']}'")
    for manual, wanted in manuals.items():
        begun = time.monotonic()
        for block, command, expected, code, said in run_manual(work, manual, wanted, chain, env):
            count += 1
            if code != expected:
                faults += 1
                print(f"{manual}:{block.line}: {'does not end' if code is None else f'exit {code}'}, not {expected}: {command}\n    " + said.replace("\n", "\n    "), flush=True)
        print(f"{manual}: {time.monotonic() - begun:.1f} s", flush=True)
    chain.server.terminate()
    print(f"{count} commands of {sum(map(len, manuals.values()))} blocks in {len(manuals)} manuals were run, {faults} failed; {sum(left.values())} blocks were not:")
    for reason, number in left.most_common():
        print(f"  {number} {reason}")
    return faults or not count


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "machine":
        machine(folder, sys.argv[3:])
    sys.exit(1 if run(folder, sys.argv[3] if len(sys.argv) > 3 else "") else 0)
