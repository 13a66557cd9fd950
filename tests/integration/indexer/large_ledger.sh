#!/usr/bin/env bash
# Indexes one ledger of 25 MB whose bytes do not compress: loaded, added to an existing partition, from a stream and
# over RPC. The indexer's memory stays below the figure of its manual for two decoders. As base64 the ledger exceeds
# object_max_mib.
# needs: no sanitizer
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
pg_start
export PG_DIR
bin=$TIDE_BIN/tidemark-indexer
sim=$TIDE_BIN/tidemark-sim
[ -x "$sim" ] || { echo "no tidemark-sim"; exit 1; }
options=(--deployment "$PG_DIR/deployment.json" --ledgers 64 --ledgers-per-object 1 --txs 3 --hostile 3 --hostile-attacks flood,large --quiet)
"$sim" write --lake "$PG_DIR/lake" "${options[@]}"
"$sim" write --stream "$PG_DIR/stream.xdr" "${options[@]}"
export TIDEMARK_DEPLOYMENT=$PG_DIR/deployment.json
export largest
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
mib, most = usage.ru_maxrss / 1024, 96 + 2 * 24
if name == "rpc":  # two answers
    most += 2 * max(32, int(os.environ["largest"]) * 4 / 3 / 2**20)
print(f"{name}: {mib:.0f} MiB of {most:.0f}")
sys.exit(status != 0 or mib > most)
END
}

"$sim" serve --recorded "$PG_DIR/stream.xdr" --ledgers 64 --close-ms 0 --listen 127.0.0.1:0 --port-file "$PG_DIR/port" --quiet >"$PG_DIR/serve.log" 2>&1 &
serve=$!
AWAIT_PID=$serve AWAIT_LOG=$PG_DIR/serve.log await "the port of the network" test -s "$PG_DIR/port"

for name in loaded added streamed rpc; do
    PGDATABASE=postgres "$PG_BIN/createdb" --template tidemark $name
    export PGDATABASE=$name TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$name"
    source=(--lake "$PG_DIR/lake")
    [ $name != streamed ] || source=(--stream "$PG_DIR/stream.xdr")
    [ $name != rpc ] || source=(--rpc "http://127.0.0.1:$(cat "$PG_DIR/port")")
    [ $name != added ] || "$bin" backfill --from 1024 --to 1025 "${source[@]}" 2>/dev/null || fail "the partition's first ledgers"
    peak $name "${source[@]}" || { tail -n 3 "$PG_DIR/run.log" >&2; fail "$name: more than that, or the run failed"; }
    "$bin" digest >"$PG_DIR/$name"
    diff "$PG_DIR/loaded" "$PG_DIR/$name" >&2 || fail "$name: other rows"
done

packed=$(sql "SELECT string_agg(DISTINCT pg_column_compression(args_xdr), ' ') FROM chain_rows.call")
[ "$(sql "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'")" = f ] || [ "$packed" = lz4 ] || fail "long values are packed with $packed"
