"""Steps of signatures.sh: a network of three validators whose archive proves what was indexed from its lake."""
import json
import os
import subprocess
import sys

from _validators import PASSPHRASE, Network, strkey, until

FOLDER = os.environ["PG_DIR"]
INDEXER = os.path.join(os.environ["TIDE_BIN"], "tidemark-indexer")
ROLES = ("compliance_registry", "dao_governance", "earnings_distributor", "liquidity_pool", "oracle", "partner_registry", "stability_pool",
         "synthetic_engine", "usdc", "xlm")


def run(*command):
    done = subprocess.run([INDEXER, *command], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def file_with(name, quorum):
    path = os.path.join(FOLDER, name)
    contracts = {role: strkey(2 << 3, bytes([n + 1]) * 32) for n, role in enumerate(ROLES)}
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"network": PASSPHRASE, "first_ledger": 3, "contracts": contracts, "validators": quorum}, out)
    return path


def expect(about, code, text, *command):
    got, said = run(*command)
    if got != code or text not in said:
        sys.exit(f"{about}: exit {got}, wanted {code} and {text!r}:\n{said}")
    print(f"ok      {about}")


def main():
    network = Network(os.path.join(FOLDER, "network"), os.environ["NETWORK_PROGRAMS"], port=int(os.environ.get("TIDE_SIGNATURES_PORT", "12620")),
                      validators=3, threshold=2, servers=0)
    try:
        prove(network)
    finally:
        network.stop()


def prove(network):
    network.start(protocol=28)
    first, silent = network.validators[0], network.validators[2]
    keys = [v.public for v in network.validators]
    usual = file_with("two.json", {"threshold": 2, "validators": keys})
    every = file_with("all.json", {"threshold": 3, "validators": keys})
    until(lambda: first.published >= 63, "the checkpoint of ledger 63", 180)
    silent.stop()  # its archive stays, its votes end
    until(lambda: first.published >= 127, "the checkpoint of ledger 127", 180)
    lake = os.path.join(FOLDER, "network", "lake")
    until(lambda: run("run", "--lake", lake, "--deployment", usual, "--stop-at-end")[0] == 0, "the lake", 30)
    archives = ",".join(v.history for v in network.validators)
    proven = "2 of 2 checkpoints, ledger 126 by 2 of 3 validators"
    expect("one validator is silent", 0, proven, "verify", "--deployment", usual, "--archive", archives, "--to", "127")
    expect("one archive is enough", 0, proven, "verify", "--deployment", usual, "--archive", first.history, "--to", "127")
    expect("all must sign", 67, "is the first without proof", "verify", "--deployment", every, "--archive", archives, "--to", "127")
    stranger = file_with("stranger.json", {"threshold": 1, "validators": [strkey(6 << 3, b"s" * 32)]})
    expect("others' keys", 67, "at most 0 of 1 signed", "verify", "--deployment", stranger, "--archive", archives, "--to", "127")


main()
