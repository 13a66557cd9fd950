#!/usr/bin/env bash
# `verify --archive` proves the stored ledgers by the votes of named validators, and believes no archive: votes that
# do not count, forged histories, damaged files.
here=$(dirname "$0")
. "$here/../_pg.sh"
pg_start
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
mkdir "$PG_DIR/sim" "$PG_DIR/sim/lake"
"$TIDE_BIN/tidemark-sim" write --stream "$PG_DIR/sim/stream" --deployment "$PG_DIR/sim/deployment.json" --ledgers 200 --quiet
"$TIDE_BIN/tidemark-indexer" run --stream "$PG_DIR/sim/stream" --deployment "$PG_DIR/sim/deployment.json" --stop-at-end \
    2>"$PG_DIR/run.log" || { cat "$PG_DIR/run.log" >&2; fail "run"; }
python3 "$here/_signatures.py" "$PG_DIR/sim" || fail "exit $?"
