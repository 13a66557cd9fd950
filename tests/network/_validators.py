"""A private Stellar network of several validators and Stellar RPC servers: the archive's programs, all on loopback.

    network = Network(folder, programs, port=13000, validators=3, threshold=2, servers=2)
    network.start(protocol=28)
    network.servers[0].stop(), .start(), .kill(), .pause(), .resume(), .wipe()    # validators and the lake alike
    network.stop()

Ledgers close every second, a checkpoint is 8 ledgers. Each validator has its own key, database and history archive.
`programs` is the folder that network_unpack of ../../tools/lib/network.sh sets.
"""
import base64
import contextlib
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "integration"))
from _ed25519 import Account, strkey  # noqa: E402

PASSPHRASE = "Standalone Network ; February 2017"
CHECKPOINT = 8
QUIET = 300  # seconds until a state that should come counts as missing, unless said otherwise


def until(condition, about, seconds=QUIET, pause=0.2):
    """Waits until condition() is true and returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {about() if callable(about) else about}")
        time.sleep(pause)


def fetch(url, body=None, seconds=5):
    """The JSON that a server answers, or None if it does not."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return json.loads(answer.read())
    except (OSError, ValueError):
        return None


class Node:
    """One program in a folder of its own. Its process group ends with the test, however the test ends."""

    def __init__(self, network, name):
        self.network, self.name, self.process = network, name, None
        self.dir = os.path.join(network.dir, name)
        self.log = os.path.join(network.dir, f"{name}.log")
        self.environment = {}  # of the next start
        os.makedirs(self.dir, exist_ok=True)

    def run(self, *command):
        """Runs the program to its end."""
        with open(self.log, "ab") as log:
            subprocess.run(command, cwd=self.dir, stdout=log, stderr=log, check=True)

    def spawn(self, *command):
        assert not self.running, f"{self.name} runs already"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], cwd=self.dir, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True, env={**os.environ, **self.environment})

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        os.killpg(self.process.pid, number)

    def pause(self):
        self.signal(signal.SIGSTOP)

    def resume(self):
        self.signal(signal.SIGCONT)

    def stop(self, seconds=20):
        """Asks it to end, and kills what is left of its group."""
        if not self.process:
            return
        if self.running:
            self.resume()
            self.process.terminate()
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                pass
        self.kill()

    def kill(self):
        if not self.process:
            return
        try:
            self.signal(signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process = None

    def write(self, name, text):
        with open(os.path.join(self.dir, name), "w", encoding="utf-8") as file:
            file.write(text)

    def path(self, name):
        return os.path.join(self.dir, name)

    def tail(self, lines=12):
        """The last lines of its log."""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return "\n".join(file.read().splitlines()[-lines:])

    def empty(self, *keep):
        """Removes all that it stored, apart from some files."""
        assert not self.running, f"{self.name} still runs"
        for name in os.listdir(self.dir):
            if name not in keep:
                path = self.path(name)
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


class Validator(Node):
    """stellar-core that votes. `account` is its key; `history` its archive."""

    def __init__(self, network, name, port, archived=True):
        super().__init__(network, name)
        self.port, self.archived = port, archived
        seed = hashlib.sha256(f"{network.passphrase}/{name}".encode()).digest()
        self.account = Account(seed)
        self.public, self.secret = self.account.address, strkey(18 << 3, seed)
        self.history = os.path.join(network.dir, f"{name}.history")

    def configure(self):
        network, others = self.network, [v for v in self.network.validators if v is not self]
        quorum = ", ".join(['"$self"', *(f'"{v.public} {v.name}"' for v in others)])
        peers = ", ".join(f'"127.0.0.1:{v.port + 1}"' for v in others)
        gets = "\n".join(f'[HISTORY.{v.name}]\nget="cp {v.history}/{{0}} {{1}}"' for v in others)
        self.write("core.cfg", f"""HTTP_PORT={self.port}
PUBLIC_HTTP_PORT=false
PEER_PORT={self.port + 1}
LOG_FILE_PATH=""
BUCKET_DIR_PATH="{self.dir}/buckets"
DATABASE="sqlite3://{self.dir}/core.db"
NETWORK_PASSPHRASE="{network.passphrase}"
NODE_SEED="{self.secret} self"
NODE_IS_VALIDATOR=true
FAILURE_SAFETY=0
UNSAFE_QUORUM=true
MAX_SLOTS_TO_REMEMBER=32
{f'PREFERRED_PEERS=[{peers}]' if peers else ''}
{network.common}
[QUORUM_SET]
THRESHOLD_PERCENT={100 * network.threshold // len(network.validators)}
VALIDATORS=[{quorum}]
[HISTORY.{self.name}]
get="cp {self.history}/{{0}} {{1}}"
put="cp {{0}} {self.history}/{{1}}"
mkdir="mkdir -p {self.history}/{{0}}"
{gets}
""")

    def start(self, wait_for_consensus=False):
        """With wait_for_consensus it listens before it votes, as after the loss of its database."""
        self.configure()
        core = self.network.program("stellar-core")
        if not os.path.exists(self.path("core.db")):
            self.run(core, "new-db", "--conf", "core.cfg")
            if not os.path.exists(self.history):
                self.run(core, "new-hist", self.name, "--conf", "core.cfg")
        self.spawn(core, "--conf", "core.cfg", "run", *(["--wait-for-consensus"] if wait_for_consensus else []))

    def ask(self, path):
        return fetch(f"http://127.0.0.1:{self.port}/{path}")

    def info(self):
        return (self.ask("info") or {}).get("info", {})

    @property
    def ledger(self):
        return self.info().get("ledger", {}).get("num", 0)

    @property
    def synced(self):
        return self.info().get("state") == "Synced!"

    @property
    def published(self):
        """The newest checkpoint of its archive, 0: none."""
        try:
            with open(os.path.join(self.history, ".well-known", "stellar-history.json"), encoding="utf-8") as file:
                return json.load(file)["currentLedger"]
        except (OSError, ValueError):
            return 0

    def submit(self, envelope):
        """Status of a transaction that is handed to it without any RPC server: PENDING, DUPLICATE, ERROR, TRY_AGAIN_LATER, None."""
        blob = urllib.parse.quote(base64.b64encode(envelope).decode(), safe="")
        return (self.ask(f"tx?blob={blob}") or {}).get("status")

    def vote(self, protocol):
        """Votes for an upgrade dated 5 s ago. Validators drop a vote that is minutes old at the next ledger, so one of 1970 would have to reach all at once."""
        begins = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 5))
        query = f"mode=set&upgradetime={begins}&protocolversion={protocol}&basereserve=5000000&maxtxsetsize=1000"
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/upgrades?{query}", timeout=5).read()
        except OSError as error:
            raise RuntimeError(f"{self.name} takes no vote: {error}") from error

    def forget_network(self):
        """Forgets its last vote, which waits for the quorum that it was given to, and its peers. Two nodes of one key cannot
        both be peers of a third, which refuses the later one."""
        assert not self.running, f"{self.name} still runs"
        with contextlib.closing(sqlite3.connect(self.path("core-misc.db"))) as database, database:
            database.execute("DELETE FROM slotstate WHERE statename LIKE 'lastscpdata%' OR statename LIKE 'txset%'")
            database.execute("DELETE FROM peers")

    def wipe(self):
        """Loses its database and buckets. Its archive stays."""
        self.empty()


class Follower(Node):
    """A program that runs a captive core, which follows the validators."""

    def captive(self, http, peer):
        network = self.network
        validators = "\n".join(f"""[[VALIDATORS]]
NAME="{v.name}"
HOME_DOMAIN="core.local"
PUBLIC_KEY="{v.public}"
ADDRESS="127.0.0.1:{v.port + 1}"
HISTORY="cp {v.history}/{{0}} {{1}}"
""" for v in network.validators)
        self.write("captive.cfg", f"""NETWORK_PASSPHRASE="{network.passphrase}"
HTTP_PORT={http}
PUBLIC_HTTP_PORT=false
PEER_PORT={peer}
DATABASE="sqlite3://{self.dir}/captive.db"
{network.common}
UNSAFE_QUORUM=true
FAILURE_SAFETY=0
[[HOME_DOMAINS]]
HOME_DOMAIN="core.local"
QUALITY="MEDIUM"
{validators}""")

    @property
    def archives(self):
        return json.dumps([f"file://{v.history}" for v in self.network.validators])

    @property
    def cores(self):
        """Numbers of its captive core's processes."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="utf-8") as file:
            found = [int(n) for n in file.read().split()]
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            # A thread may end before its file is opened.
            with contextlib.suppress(FileNotFoundError), open(f"/proc/{self.process.pid}/task/{thread}/children", encoding="utf-8") as file:
                found += [int(n) for n in file.read().split()]
        return sorted(set(found))

    def pause_core(self):
        """The server answers on, and falls behind."""
        for pid in until(lambda: self.cores, f"the captive core of {self.name}"):
            os.kill(pid, signal.SIGSTOP)


class RpcServer(Follower):
    """stellar-rpc. `retention` of the network bounds the ledgers that it keeps."""

    def __init__(self, network, name, port):
        super().__init__(network, name)
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def start(self):
        network, port = self.network, self.port
        os.makedirs(self.path("captive"), exist_ok=True)
        self.captive(port + 2, port + 3)
        window = f"HISTORY_RETENTION_WINDOW={network.retention}\nSOROBAN_FEE_STATS_RETENTION_WINDOW=10" if network.retention else ""
        self.write("rpc.cfg", f"""ENDPOINT="127.0.0.1:{port}"
ADMIN_ENDPOINT="127.0.0.1:{port + 1}"
NETWORK_PASSPHRASE="{network.passphrase}"
STELLAR_CORE_URL="http://127.0.0.1:{port + 2}"
CAPTIVE_CORE_CONFIG_PATH="{self.dir}/captive.cfg"
CAPTIVE_CORE_STORAGE_PATH="{self.dir}/captive"
CAPTIVE_CORE_USE_DB=true
STELLAR_CORE_BINARY_PATH="{network.program('stellar-core')}"
HISTORY_ARCHIVE_URLS={self.archives}
DB_PATH="{self.dir}/rpc.sqlite"
STELLAR_CAPTIVE_CORE_HTTP_PORT={port + 2}
STELLAR_CAPTIVE_CORE_HTTP_QUERY_PORT={port + 4}
CHECKPOINT_FREQUENCY={CHECKPOINT}
{window}
""")
        self.spawn(network.program("stellar-rpc"), "--config-path", self.path("rpc.cfg"))

    def call(self, method, **params):
        """Its result, or None if it does not answer; RuntimeError: it refused."""
        answer = fetch(self.url, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if answer and "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer and answer.get("result")

    def health(self):
        try:
            return self.call("getHealth") or {}
        except RuntimeError:
            return {}

    @property
    def healthy(self):
        return self.health().get("status") == "healthy"

    @property
    def ledger(self):
        try:
            return (self.call("getLatestLedger") or {}).get("sequence", 0)
        except RuntimeError:
            return 0

    def wipe(self):
        """Loses its ledgers and its captive core's."""
        self.empty()


class Galexie(Follower):
    """Galexie, which writes the lake from ledger 2 on."""

    def __init__(self, network, name, port):
        super().__init__(network, name)
        self.port, self.lake = port, os.path.join(network.dir, "lake")
        os.makedirs(self.lake, exist_ok=True)

    def start(self):
        os.makedirs(self.path("captive"), exist_ok=True)
        self.captive(self.port + 1, self.port + 2)
        self.write("galexie.toml", f"""admin_port = {self.port}
[datastore_config]
type = "Filesystem"
[datastore_config.params]
destination_path = "{self.lake}"
[datastore_config.schema]
ledgers_per_file = 1
files_per_partition = 64000
[stellar_core_config]
network_passphrase = "{self.network.passphrase}"
history_archive_urls = {self.archives}
stellar_core_binary_path = "{self.network.program('stellar-core')}"
captive_core_toml_path = "{self.dir}/captive.cfg"
checkpoint_frequency = {CHECKPOINT}
storage_path = "{self.dir}/captive"
""")
        self.spawn(self.network.program("galexie"), "append", "--start", "2", "--config-file", self.path("galexie.toml"))

    @property
    def ledger(self):
        """The newest ledger of the lake, 0: none."""
        found = [0]
        for _, _, files in os.walk(self.lake):
            found += [int(name.split("--")[1].split(".")[0].split("-")[0]) for name in files
                      if "--" in name and name.endswith(".zst")]
        return max(found)

    def wipe(self):
        self.empty()
        shutil.rmtree(self.lake)


class Network:
    """Takes ports from `port` to port + 99. `retention`: ledgers that its RPC servers keep; None: a week's."""

    def __init__(self, folder, programs, port, validators=3, threshold=2, servers=2, galexie=True, passphrase=PASSPHRASE,
                 retention=None, names="validator{}"):
        assert 1 <= threshold <= validators <= 10 and servers <= 8
        self.dir, self.threshold = os.path.abspath(folder), threshold
        self.passphrase, self.retention = passphrase, retention
        self.programs = programs
        self.common = "ARTIFICIALLY_ACCELERATE_TIME_FOR_TESTING=true\nTESTING_SOROBAN_HIGH_LIMIT_OVERRIDE=true"
        self.validators, self.servers, self.galexie = [], [], None
        os.makedirs(self.dir, exist_ok=True)
        for i in range(validators):
            self.validators.append(Validator(self, names.format(i + 1), port + 2 * i))
        for i in range(servers):
            self.servers.append(RpcServer(self, f"rpc{i + 1}", port + 20 + 5 * i))
        if galexie:
            self.galexie = Galexie(self, "galexie", port + 60)

    @property
    def root(self):
        """The account that owns all lumens at the first ledger."""
        return Account(self.id)

    @property
    def id(self):
        return hashlib.sha256(self.passphrase.encode()).digest()

    def program(self, name):
        return os.path.join(self.programs, name)

    @property
    def nodes(self):
        return [*([self.galexie] if self.galexie else []), *self.servers, *self.validators]

    @property
    def ledger(self):
        return max(v.ledger if v.running else 0 for v in self.validators)

    def start(self, protocol=28):
        """Starts what is not running, and waits until the network has that protocol and every server is healthy."""
        for validator in self.validators:
            if not validator.running:
                validator.start()
        until(lambda: self.ledger >= 2, "the first ledgers")
        for node in [*self.servers, *([self.galexie] if self.galexie else [])]:
            if not node.running:
                node.start()
        if self.protocol < protocol:
            for validator in self.validators:
                until(validator.info, validator.name)
                validator.vote(protocol)
            until(lambda: self.protocol >= protocol, f"protocol {protocol}")
        for server in self.servers:
            until(lambda server=server: server.healthy, f"{server.name}; {server.log} tells more")

    @property
    def protocol(self):
        return self.validators[0].info().get("ledger", {}).get("version", 0)

    def stop(self):
        for node in self.nodes:
            node.stop()

    def kill(self):
        for node in self.nodes:
            node.kill()
