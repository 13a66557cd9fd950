# Shared by the tests of discovery: sourced after _pg.sh.

# strip FOLDER: writes without.json, the deployment file without its tokens and the contracts that TIDE_STRIP names.
# strip FOLDER FOUND: writes named.json, in which of those only the contracts listed in the file FOUND stay.
strip() { # FOLDER [FOUND]
    python3 - "$@" <<'PY'
import json, os, sys
d = json.load(open(sys.argv[1] + "/deployment.json"))
tokens = {k: v for k, v in d["contracts"].items() if k.startswith("token_") or k in os.environ.get("TIDE_STRIP", "").split()}
kept = open(sys.argv[2]).read().split() if len(sys.argv) > 2 else []
assert tokens and set(kept) <= set(tokens.values())
named = lambda k: "asset_" + k if k == "xlm" and kept else k  # its own role, stellar_asset, as one that was found
d["contracts"] = {named(k) if k in tokens else k: v for k, v in d["contracts"].items() if k not in tokens or v in kept}
json.dump(d, open(sys.argv[1] + ("/named.json" if kept else "/without.json"), "w"))
PY
}

# Prints the number of ranges of ledgers that must still be read for discovered tokens.
waiting() { sql "SELECT count(*) FROM chain.contract_coverage WHERE next_ledger <= to_ledger"; }
