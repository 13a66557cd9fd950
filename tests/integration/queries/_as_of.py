"""An ordinary chain, indexed as a whole and in steps: as_of.sh."""
import os
import random
import sys
import types

from _chain import DIR, FIRST, Index, rows
from _chain_past import follow

LONG = bool(os.environ.get("TIDE_LONG"))  # tools/test all
LEDGERS = 512 if LONG else 192
SEED = random.SystemRandom().randrange(1 << 31) if LONG else 4


def main():
    later, then = Index(DIR / "as_of", "index_later"), Index(DIR / "as_of", "index_then")
    later.write(LEDGERS, "--txs", 6, "--ledgers-per-object", 1)
    later.index()
    later.start()
    later.wait_for(FIRST + LEDGERS - 1)
    options = types.SimpleNamespace(past=10 if LONG else 2, values=8 if LONG else 3)
    done = follow(later, then, rows, random.Random(SEED), range(FIRST + LEDGERS // 3, FIRST + LEDGERS - 1), options)
    for index in (later, then):
        index.stop()
    print(f"seed {SEED}: {done.compared} answers as of a ledger, as an index that ends there gives them")
    for fault in done.faults.lines():
        print(fault)
    sys.exit(bool(done.faults) or done.compared < 200)


main()
