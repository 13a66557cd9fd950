#!/usr/bin/env python3
"""A network that people used is stopped, killed and started again: the same ledgers, and it goes on."""
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from _serve import SIM, Network

os.environ["ASAN_OPTIONS"] = "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")


def tx(network, text, want=0):
    env = dict(os.environ, TIDEMARK_RPC_URL=f"http://127.0.0.1:{network.port}")
    done = subprocess.run([SIM, "tx", *text.split()], env=env, capture_output=True, text=True, timeout=120)
    if done.returncode != want:
        sys.exit(f"tx {text}: {done.returncode} {done.stdout}{done.stderr}")


def lake_of(folder):
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest()
            for p in sorted((pathlib.Path(folder) / "lake").rglob("*.zst"))}


def network(folder, *more):
    return Network("--lake", folder + "/lake", "--close-ms", 100, "--ledgers", 120, "--txs", 3, "--life", 60,
                   "--quiet", *more, folder=folder)


with tempfile.TemporaryDirectory(prefix="tide-again.") as folder:
    with network(folder) as net:
        tx(net, "fund --as alice")
        tx(net, "attest --as sumsub --subject alice")
        tx(net, "swap --as alice --pool XLM --amount 5")
        tx(net, "swap --user 3 --pool XLM --amount 1 --min 99999", want=1)
    before = lake_of(folder)
    # started again it makes the same ledgers, or it would refuse; and nothing is written anew
    with network(folder) as net:
        if {name: h for name, h in lake_of(folder).items() if name in before} != before:
            sys.exit("the lake changed")
        tx(net, "swap --as alice --pool XLM --amount 2")
        tx(net, "deposit --as alice --amount 3")
        net.process.kill()
        net.process.wait()
        net.stop = lambda: 0
    killed = lake_of(folder)
    with network(folder, "--wall-clock") as net:
        time.sleep(0.5)  # ledger time leaps to the time of day
        tx(net, "withdraw --as alice --amount 1")
    after = lake_of(folder)
    if any(after.get(name) != digest for name, digest in killed.items()) or len(after) <= len(killed):
        sys.exit("a ledger of the killed network is not the same")
    with network(folder) as net:  # and what was made at the time of day comes out the same as well
        tx(net, "withdraw --as alice --amount 1")
    if any(lake_of(folder).get(name) != digest for name, digest in after.items()):
        sys.exit("a ledger of the time of day is not the same")
    # other options are another chain: refused, as ever
    port = pathlib.Path(folder) / "port"
    port.unlink(missing_ok=True)
    done = subprocess.run([SIM, "serve", "--lake", folder + "/lake", "--ledgers", "120", "--txs", "3", "--life", "60",
                           "--seed", "7", "--listen", "127.0.0.1:0", "--quiet"], capture_output=True, text=True, timeout=60)
    if done.returncode != 68 or "another chain" not in done.stderr:
        sys.exit(f"another seed: {done.returncode} {done.stderr}")
print("again: ledgers", len(before), len(killed), len(after))
