"""Indexes an ordinary chain as a whole and in steps, for as_of.sh."""
import os
import random
import sys
import types

from _chain import DIR, FIRST, Index, rows
from _chain_past import follow

LONG = bool(os.environ.get("TIDE_LONG"))  # tools/test all
LEDGERS = 512 if LONG else 192
SEED = random.SystemRandom().randrange(1 << 31) if LONG else 4


def compare(name, seed, ledgers, *options):
    """Returns whether anything was wrong."""
    later, then = Index(DIR / name, f"{name}_later"), Index(DIR / name, f"{name}_then")
    later.write(ledgers, "--txs", 6, "--ledgers-per-object", 1, *options)
    later.index()
    later.start()
    later.wait_for(FIRST + ledgers - 1)
    limits = types.SimpleNamespace(past=4 if LONG else 1, values=5 if LONG else 3)
    done = follow(later, then, rows, random.Random(seed), range(FIRST + ledgers // 3, FIRST + ledgers - 1), limits)
    for index in (later, then):
        index.stop()
    print(f"{name}: seed {seed}: {done.compared} answers as of a ledger, as an index that ends there gives them", flush=True)
    for fault in done.faults.lines():
        print(fault)
    return bool(done.faults) or done.compared < 200


def main():
    failed = compare("ordinary", SEED, LEDGERS)
    # Tokens that markets and catalogs name, which told something before.
    found = compare("tokens", SEED, LEDGERS // 8, "--hostile", SEED + 1, "--hostile-attacks", "tokens,strangers")
    sys.exit(failed or found)


main()
