"""Steps of signatures.sh: a network of three validators whose archives prove what was indexed from its lake.

usage: _signatures.py run             the network, and what its archives prove; the last line names the databases that began with a checkpoint
       _signatures.py proofs DATABASE FOLDER NODE_FOLDER    judges the proofs FOLDER/proof.*.json by the indexer and both packages
"""
import glob
import json
import os
import subprocess
import sys

from _traffic import Traffic
from _validators import Network, strkey, until

FOLDER = os.environ["PG_DIR"]
INDEXER = os.path.join(os.environ["TIDE_BIN"], "tidemark-indexer")
CHECKPOINT, SHORT = 64, 8  # ledgers of a checkpoint, and of a file on an accelerated network
VERSION = ("ledger", "tx", "seq", "closed_at", "reason")


def run(*command, database="tidemark"):
    env = {**os.environ, "TIDEMARK_DATABASE_URL": f"host={FOLDER} port=5432 user=postgres dbname={database}"}
    done = subprocess.run([INDEXER, *command], capture_output=True, text=True, env=env)
    return done.returncode, done.stdout + done.stderr


def sql(database, text):
    return subprocess.run([f"{os.environ['PG_BIN']}/psql", "-XAtqv", "ON_ERROR_STOP=1", "-d", database, "-c", text],
                          capture_output=True, text=True, check=True).stdout.strip()


def expect(about, code, text, *command, database="tidemark"):
    got, said = run(*command, database=database)
    if got != code or text not in said or "proof.retry" in said:
        sys.exit(f"{about}: exit {got}, wanted {code} and {text!r}:\n{said}")
    print(f"ok      {about}", flush=True)


def same(about, found, wanted):
    if found != wanted:
        sys.exit(f"{about}: {found!r}, not {wanted!r}")
    print(f"ok      {about}", flush=True)


def file_with(name, traffic, quorum):
    path = os.path.join(FOLDER, f"{name}.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump({**traffic.deployment(), "validators": quorum}, out)
    return path


def end_of(ledger):
    """The checkpoint that the ledger is in."""
    return ledger | (CHECKPOINT - 1)


def state_of(database):
    """Rows of state, without the columns that say which version one is."""
    tables = sql(database, "SELECT tablename FROM pg_tables WHERE schemaname = 'state' ORDER BY 1").split()
    said = []
    for table in tables:
        columns = sql(database, "SELECT string_agg(quote_ident(column_name), ',') FROM information_schema.columns WHERE table_schema = 'state' AND"
                                f" table_name = '{table}' AND column_name NOT IN {VERSION}")
        rows = sql(database, f'SELECT r::text FROM (SELECT {columns} FROM state."{table}") AS r ORDER BY 1')
        if rows:
            said.append((table, rows))
    return said


def live(network, traffic):
    """Two checkpoints with traffic: three validators sign the first, two the second, behind an upgrade. Returns both."""
    network.start(protocol=27)
    traffic.prepare()
    traffic.begin()
    published, silent = network.validators[0], network.validators[2]
    first = end_of(network.ledger + 2 * SHORT)
    until(lambda: published.published >= first, f"the checkpoint of ledger {first}")
    silent.stop()  # its archive stays, its votes end
    for voter in network.validators[:2]:
        voter.vote(28)
    until(lambda: network.protocol >= 28, "protocol 28")
    second = end_of(network.ledger + 2 * SHORT)
    until(lambda: published.published >= second and network.galexie.ledger > second, f"the checkpoint of ledger {second}")
    traffic.end()
    network.stop()
    return first, second


def prove(network, traffic):
    first, second = live(network, traffic)
    keys = [v.public for v in network.validators]
    usual = file_with("two", traffic, {"threshold": 2, "validators": keys})
    every = file_with("all", traffic, {"threshold": 3, "validators": keys})
    lake, archives = network.galexie.lake, ",".join(v.history for v in network.validators)
    expect("the whole past", 0, "index.stopped", "run", "--lake", lake, "--deployment", usual, "--stop-at-end")
    checkpoints, last = (second - end_of(traffic.first)) // CHECKPOINT + 1, ["--to", str(second)]
    proven = f"{checkpoints} of {checkpoints} checkpoints, ledger {second - 1} by 2 of 3 validators"
    expect("one validator is silent", 0, proven, "verify", "--deployment", usual, "--archive", archives, *last)
    expect("one archive is enough", 0, proven, "verify", "--deployment", usual, "--archive", network.validators[0].history, *last)
    expect("all must sign", 67, "is the first without proof", "verify", "--deployment", every, "--archive", archives, *last)
    stranger = file_with("stranger", traffic, {"threshold": 1, "validators": [strkey(6 << 3, b"s" * 32)]})
    expect("others' keys", 67, "at most 0 of 1 signed", "verify", "--deployment", stranger, "--archive", archives, *last)
    whole = state_of("tidemark")
    if not any("token" in table for table, _ in whole):
        sys.exit(f"no balances were indexed: {[table for table, _ in whole]}")
    # An accelerated network has the last 8 ledgers of each checkpoint in its file: of those alone proofs can be given.
    for name, checkpoint, signers in (("voted", first, 3), ("silent", second, 2)):
        subprocess.run([f"{os.environ['PG_BIN']}/createdb", name], check=True)
        begin = ["--from-checkpoint", str(checkpoint - SHORT), "--lake", lake, "--archive", archives, "--stop-at-end"]
        if name == "silent":
            expect("silent: a start that all must sign", 67, "not enough of the named validators signed", "run", *begin, "--deployment", every, database=name)
        expect(f"{name}: a start", 0, f"start.done ledger={checkpoint - SHORT} proof=signed signed_ledger={checkpoint - 1} signers={signers}", "run", *begin,
               "--deployment", usual, database=name)
        same(f"{name}: the state is that of the whole index", state_of(name), whole)
        expect(f"{name}: its rows are right", 0, "", "verify", "--deployment", usual, database=name)
        expect(f"{name}: and those of the archive", 0, "proof       signed" if name == "voted" else "checkpoint  ledger", "audit", "--archive", archives, "--deployment", usual,
               "--checkpoint", str(checkpoint), database=name)
    print("voted silent")


# --- proofs for others ------------------------------------------------------------------------

def judged(path, deployment, node):
    """Whether the indexer, the Python package and the TypeScript package accept the proof: the ledger and signers that each names."""
    import tidemark_client
    with open(deployment, encoding="utf-8") as file:
        named = json.load(file)
    with open(path, encoding="utf-8") as file:
        answer = file.read()
    code, said = run("verify", "--proof", path, "--deployment", deployment)
    by_indexer = "ledger" in said if code == 0 else None
    try:
        proof = tidemark_client.verify_proof(answer, network=named["network"], validators=named["validators"])
        by_python = [proof.tx_hash, proof.ledger, len(proof.signers)]
    except tidemark_client.ProofError:
        by_python = None
    line = json.dumps({"answer": answer, "network": named["network"], "validators": named["validators"]}) + "\n"
    done = subprocess.run(["node", os.path.join(node, "_proofs.mjs")], input=line, capture_output=True, text=True, check=True)
    verdict = json.loads(done.stdout)
    by_node = [verdict[0], verdict[1], len(verdict[10])] if isinstance(verdict, list) else None
    if by_python != by_node or (by_python is None) != (by_indexer is None):
        sys.exit(f"{path} by {deployment}: the indexer {code} {said}, Python {by_python}, TypeScript {verdict}")
    return by_python


def proofs(database, folder, node):
    found = sorted(glob.glob(os.path.join(folder, "proof.*.json")))
    signers = 3 if database == "voted" else 2
    for path in found:
        usual, every = judged(path, os.path.join(FOLDER, "two.json"), node), judged(path, os.path.join(FOLDER, "all.json"), node)
        if usual is None or usual[2] != signers or (every is None) == (signers == 3):
            sys.exit(f"{path}: {usual} by two of three, {every} by all")
        if judged(path, os.path.join(FOLDER, "stranger.json"), node) is not None:
            sys.exit(f"{path} is accepted by others' keys")
    print(f"ok      {database}: {len(found)} proofs of transactions, accepted by {signers} signatures, refused where others must sign")


def main():
    network = Network(os.path.join(FOLDER, "network"), os.environ["NETWORK_PROGRAMS"], port=int(os.environ.get("TIDE_SIGNATURES_PORT", "12620")),
                      validators=3, threshold=2, servers=1)
    try:
        prove(network, Traffic(network, os.path.join(os.environ["TIDE_STELLAR"], "wasm", "sep41_token.wasm")))
    finally:
        network.stop()


if __name__ == "__main__":
    main() if sys.argv[1] == "run" else proofs(*sys.argv[2:])
