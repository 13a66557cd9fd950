#!/usr/bin/env bash
# One ledger of 25 MB, whose bytes do not pack: loaded, added to a partition that is there, and from a stream, the indexer
# stays below what its manual says for two decoders.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start
export PG_DIR
bin=$TIDE_BIN/tidemark-indexer
sim=$TIDE_BIN/tidemark-sim
[ -x "$sim" ] || { echo "no tidemark-sim"; exit 77; }
[ -f "$TIDE_BIN/libfail_alloc.so" ] || { echo "a sanitizer takes memory of its own"; exit 77; }
options=(--deployment "$PG_DIR/deployment.json" --ledgers 64 --ledgers-per-object 1 --txs 3 --hostile 3 --hostile-attacks flood,large --quiet)
"$sim" write --lake "$PG_DIR/lake" "${options[@]}"
"$sim" write --stream "$PG_DIR/stream.xdr" "${options[@]}"
export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json
largest=$(for object in "$PG_DIR"/lake/*/*.zst; do zstd -dc "$object" | wc -c; done | sort -n | tail -n 1)
[ "$largest" -gt 25000000 ] || fail "the largest ledger has $largest bytes"

peak() { # NAME ARGUMENT...
    python3 - "$@" <<'END'
import os
import subprocess
import sys
name, *args = sys.argv[1:]
with open(os.environ["PG_DIR"] + "/run.log", "w") as log:
    child = subprocess.Popen([os.environ["TIDE_BIN"] + "/tidemark-indexer", "run", "--stop-at-end", "--decode-threads", "2", *args], stderr=log)
    _, status, usage = os.wait4(child.pid, 0)
mib = usage.ru_maxrss / 1024
print(f"{name}: {mib:.0f} MiB")
sys.exit(status != 0 or mib > 96 + 2 * 24)
END
}

for name in loaded added streamed; do
    PGDATABASE=postgres "$PG_BIN/createdb" --template tidemark $name
    export PGDATABASE=$name TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$name"
    source=(--lake "$PG_DIR/lake")
    [ $name != streamed ] || source=(--stream "$PG_DIR/stream.xdr")
    [ $name != added ] || "$bin" backfill --from 1024 --to 1025 "${source[@]}" 2>/dev/null || fail "the partition's first ledgers"
    peak $name "${source[@]}" || { tail -n 3 "$PG_DIR/run.log" >&2; fail "$name: more than 144 MiB, or the run failed"; }
    "$bin" digest >"$PG_DIR/$name"
    diff "$PG_DIR/loaded" "$PG_DIR/$name" >&2 || fail "$name: other rows"
done
