#!/usr/bin/env bash
# Indexes the contract transactions of two real ledgers of the public network. Who calls, who pays the sequence number,
# who pays the fee, and both hashes of fee bumps must be what npm's @stellar/stellar-sdk reads from the same bytes.
# Skipped without the recordings.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for shared in "${TIDE_SHARED:-}" "$TIDE_SOURCE_DIR/../shared" "$TIDE_SOURCE_DIR/../../shared"; do
    lake=$shared/fixtures/datalake/pubnet-mini
    [ -n "$shared" ] && [ -d "$lake" ] && break
    lake=
done
[ -n "$lake" ] || { echo "skipped: no shared/fixtures/datalake/pubnet-mini (set TIDE_SHARED)"; exit 77; }
. "$here/../integration/_sdk.sh"
sdk_install
. "$here/../integration/_pg.sh"
pg_start
bin=$TIDE_BIN/tidemark-indexer
passphrase='Public Global Stellar Network ; September 2015'
ledgers=(63092990 63092988) # the later one first: an index may be filled behind, not before

objects=()
for ledger in "${ledgers[@]}"; do objects+=("$(echo "$lake"/*/*--"$ledger".xdr.zst)"); done
node "$here/_sdk_calls.mjs" "$SDK" "$passphrase" "${objects[@]}" >"$PG_DIR/want"

# Every contract that is called or created is one of the deployment: as a wallet, all of whose calls are kept.
python3 - "$PG_DIR/want" "$passphrase" "${ledgers[1]}" >"$PG_DIR/deployment.json" <<'END'
import json, sys
contracts = sorted({json.loads(line)["contract"] for line in open(sys.argv[1])})
print(json.dumps({"network": sys.argv[2], "first_ledger": int(sys.argv[3]),
                  "contracts": {f"wallet{i}": c for i, c in enumerate(contracts)}}))
END
for ledger in "${ledgers[@]}"; do # the ledger between them is not in the lake
    "$bin" backfill --from "$ledger" --to "$ledger" --lake "$lake" --deployment "$PG_DIR/deployment.json" 2>"$PG_DIR/log" ||
        { cat "$PG_DIR/log" >&2; fail "backfill of ledger $ledger"; }
done
sql "SELECT row_to_json(x) FROM (SELECT c.ledger, c.tx, encode(c.hash, 'hex') AS hash, encode(t.inner_hash, 'hex') AS \"innerHash\",
    c.contract, coalesce(json_array_length(c.args), ('x' || encode(substr(c.args_xdr, 1, 4), 'hex'))::bit(32)::integer) AS args,
    c.source, c.source_muxed_id::text AS \"sourceMuxedId\", t.source AS \"txSource\", t.source_muxed_id::text AS \"txSourceMuxedId\",
    t.fee_source AS \"feeSource\", t.fee_source_muxed_id::text AS \"feeSourceMuxedId\"
  FROM chain.call AS c JOIN chain.tx AS t USING (deployment, ledger, tx)) AS x" >"$PG_DIR/got"
python3 - "$PG_DIR/want" "$PG_DIR/got" <<'END' || fail "the index is not what the SDK reads"
import json, sys
want, got = ({row["hash"]: row for row in map(json.loads, open(path))} for path in sys.argv[1:])
wrong = {name: 0 for name in next(iter(want.values()))}
for key, row in want.items():
    for name, value in row.items():
        wrong[name] += got.get(key, {}).get(name, "missing") != value
print(f"{len(want)} contract transactions, {sum(row['source'] != row['txSource'] for row in want.values())} with a caller who is not the transaction's source,"
      f" {sum(row['innerHash'] is not None for row in want.values())} fee bumps")
print(", ".join(f"{name} {len(want) - n} of {len(want)}" for name, n in wrong.items()))
assert len(want) == 51 and sum(row["source"] != row["txSource"] for row in want.values()) == 15, "other ledgers than expected"
sys.exit(1 if any(wrong.values()) or want.keys() != got.keys() else 0)
END
echo "as the SDK reads them"
