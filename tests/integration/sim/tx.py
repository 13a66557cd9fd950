#!/usr/bin/env python3
"""Runs tidemark-sim tx with tidemark-sim serve: every call that a person can make, refused and accepted."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from _serve import SIM, Network

SEED = os.environ.get("TIDE_SEED", "1")  # of the network: every one should do
os.environ["ASAN_OPTIONS"] = "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")


class Person:
    def __init__(self, network):
        self.env = dict(os.environ, TIDEMARK_RPC_URL=f"http://127.0.0.1:{network.port}")

    def run(self, text):
        done = subprocess.run([SIM, "tx", *text.split(), "--seed", SEED], env=self.env, capture_output=True, text=True,
                              timeout=120)
        return done.returncode, done.stdout + done.stderr

    def passes(self, text):
        """The answer, as text."""
        code, said = self.run(text)
        if code != 0 or ": passed" not in said:
            sys.exit(f"tx {text}: {code} {said}")
        found = re.search(r"answer (.*), tx [0-9a-f]{64}$", said.strip())
        return found.group(1) if found else said

    def refused(self, text, why):
        code, said = self.run(text)
        if code != 1 or "refused" not in said or why not in said:
            sys.exit(f"tx {text}: expected '{why}', got {code} {said}")

    def wrong(self, code, text, why):
        got, said = self.run(text)
        if got != code or why not in said:
            sys.exit(f"tx {text}: expected {code} '{why}', got {got} {said}")


def newcomers(p):
    for name in "alice", "bob", "carol":
        p.passes(f"fund --as {name}")
    p.wrong(64, "fund --as alice", "already funded")
    p.refused("swap --as alice --pool XLM --amount 5", "KYC required")
    p.passes("attest --as sumsub --subject alice --expires-in 86400 --metadata hello")
    p.passes("attest --as persona --subject bob --country 392")
    p.refused("attest --as alice --subject bob", "not an authorised verifier")
    p.passes("submit_attestation --as carol --signer signer0")


def trading(p):
    assert int(p.passes("swap --as alice --pool XLM --amount 5").strip('"')) > 0
    assert int(p.passes("swap_exact_in --as carol --pool sGOLD --reverse --amount 20").strip('"')) > 0
    p.refused("swap --as alice --pool XLM --amount 5 --min 1000000", "slippage")
    p.passes("swap --as bob --sender alice --pool XLM --amount 1.5")  # bob signs, alice sends
    shares = int(p.passes("add_liquidity --as alice --pool XLM --amount 100 --amount-b 400").strip('"'))
    p.passes("attest --as sumsub --subject user7")
    p.passes("swap --user 7 --pool XLM --amount 50")
    p.passes("swap --user 7 --pool sBTC --amount 5 --reverse")
    p.passes("swap --user 7 --pool sBTC --amount 1")
    p.passes("claim_fees --as alice --pool XLM")
    p.passes(f"remove_liquidity --as alice --pool XLM --amount {shares / 1e7:.7f}")


def vaults(p):
    p.refused("mint_synth --as alice --synth sGOLD --amount 1", "vault not found")
    p.passes("open_vault --as alice --synth sGOLD --amount 2000")
    p.passes("deposit_collateral --as alice --synth sGOLD --amount 100")
    p.passes("mint_synth --as alice --synth sGOLD --amount 1")
    p.refused("mint_synth --as alice --synth sGOLD --amount 500", "collateral ratio too low")
    p.passes("burn_synth --as alice --synth sGOLD --amount 0.25")
    p.passes("withdraw_collateral --as alice --synth sGOLD --amount 50")
    p.refused("liquidate --as bob --owner alice --synth sGOLD --amount 0.1", "not undercollateralised")


def liquidation(p):
    """Providers say that XLM loses a third; the vault is worth less than its debt needs."""
    p.passes("mint_synth --as alice --synth sGOLD --amount 105")
    p.passes("swap --as bob --pool sGOLD --reverse --amount 100")
    p.refused("liquidate --as bob --owner carol --synth sGOLD --amount 5", "vault not found")
    price = 0.37
    for _ in range(30):  # the population's providers may speak in between, and a step be too wide
        steps = [p.run(f"submit_price --as feed{feed} --asset XLM --price {price:.7f}")[0] for feed in range(3)]
        if p.run("liquidate --as bob --owner alice --synth sGOLD --amount 5")[0] == 0:
            return
        price *= 1.08 if any(steps) else 0.9
    sys.exit("no price made the vault worth too little")


def others(p):
    p.passes("deposit --as bob --amount 250")
    p.passes("withdraw --as bob --amount 100")
    p.passes("submit_price --as feed0 --asset USDC --price 0.9987")
    p.refused("submit_price --as bob --asset USDC --price 1", "not an authorised provider")
    number = int(p.passes("propose --as gov0 --title Fees --text lower").strip('"'))
    p.passes(f"vote --as gov1 --proposal {number}")
    p.refused(f"vote --as gov1 --proposal {number}", "already voted")
    p.refused(f"vote --as bob --proposal {number} --against", "only governance signers")


def mistakes(p):
    p.passes("revoke --as sumsub --subject alice")
    p.refused("swap --as alice --pool XLM --amount 5", "KYC required")
    p.wrong(64, "swap --as alice --pool XLM", "--amount")
    p.wrong(64, "swap --pool XLM --amount 1", "--user or --as")
    p.wrong(64, "fly --as alice", "unknown call")
    p.wrong(67, "swap --as unknown_yet --pool XLM --amount 1", "no account")
    p.wrong(74, "swap --as alice --pool XLM --amount 1 --rpc http://127.0.0.1:9/", "")


def keys(p, network):
    """What the command prints is what the network knows."""
    done = subprocess.run([SIM, "keys", "--name", "user7", "--seed", SEED], capture_output=True, text=True)
    name, address, secret = done.stdout.split()
    known = json.loads((network.folder / "deployment.json").read_text())["accounts"]
    if name != "user7" or known[name] != address or not secret.startswith("S") or "simulated" not in done.stderr:
        sys.exit(f"keys: {done.stdout}{done.stderr}")
    p.passes(f"attest --as persona --subject {address} --expires-in 3600")


folder = tempfile.TemporaryDirectory(prefix="tide-tx.")
with Network("--close-ms", 100, "--deployment", folder.name + "/deployment.json", "--ledgers", 150, "--txs", 3, "--seed", SEED,
             "--quiet", folder=folder.name) as network:
    person = Person(network)
    for part in newcomers, trading, vaults, others, liquidation, mistakes:
        part(person)
        print(part.__name__, "ok", flush=True)
    keys(person, network)
