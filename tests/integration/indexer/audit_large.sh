#!/usr/bin/env bash
# The audit of a large state: a bucket of strangers' entries (TIDE_AUDIT_BYTES, 500 MB) under those of a simulated chain. It takes at most
# 128 MiB, and reads at 0.7 of the speed of `gunzip | sha256sum` over the same files, the better of two rounds.
# label: all
here=$(dirname "$0")
. "$here/../_pg.sh"
pg_start
bin=$TIDE_BIN/tidemark-indexer
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-perf" ] || { echo "no tidemark-sim or tidemark-perf"; exit 1; }
bytes=${TIDE_AUDIT_BYTES:-500000000} last=1151 sim=$PG_DIR/sim
mkdir "$sim"
"$TIDE_BIN/tidemark-sim" write --lake "$sim/lake" --archive "$sim/archive" --ledgers 128 --quiet
export TIDEMARK_DEPLOYMENT=$sim/deployment.json
"$bin" run --lake "$sim/lake" --stop-at-end true 2>"$PG_DIR/run.log" || { cat "$PG_DIR/run.log" >&2; fail "run"; }
"$TIDE_BIN/tidemark-perf" bucket "$bytes" 2>"$PG_DIR/name" | gzip -1 >"$PG_DIR/large"
hash=$("$here/_audit_archive.py" "$sim/archive" $last large "$PG_DIR/large" "$(cat "$PG_DIR/name")")
sql "UPDATE chain.ledger SET hash = '\\x$hash' WHERE ledger = $last"

now() { date +%s%N; }
best=0
for round in 1 2; do
    begin=$(now)
    find "$sim/archive/bucket" -name '*.gz' -exec gunzip -c {} + | sha256sum >/dev/null
    middle=$(now)
    /usr/bin/env python3 - "$bin" "$sim/archive" $last >"$PG_DIR/said" 2>"$PG_DIR/err" <<'P' || fail "$(cat "$PG_DIR/said" "$PG_DIR/err")"
import resource, subprocess, sys
code = subprocess.run([sys.argv[1], "audit", "--archive", sys.argv[2], "--checkpoint", sys.argv[3]]).returncode
print("memory", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, flush=True)
sys.exit(code)
P
    end=$(now)
    ratio=$(((middle - begin) * 100 / (end - middle)))
    echo "round $round: gunzip | sha256sum $(((middle - begin) / 1000000)) ms, audit $(((end - middle) / 1000000)) ms: $ratio %"
    [ $ratio -le $best ] || best=$ratio
done
cat "$PG_DIR/said"
memory=$(sed -n 's/^memory //p' "$PG_DIR/said")
[ "$memory" -le 131072 ] || fail "the audit takes $memory KiB"
[ $best -ge 70 ] || fail "the audit reads at $best % of gunzip | sha256sum"
echo "ok audit_large: $bytes bytes, $best %, $memory KiB"
