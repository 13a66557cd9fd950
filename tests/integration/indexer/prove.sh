#!/usr/bin/env bash
# `run --archive` proves checkpoints while it follows: rows, a delay that begins and ends, a fork that stops it until the
# operator acts, and following that waits for none of that.
here=$(dirname "$0")
. "$here/../_pg.sh"
pg_start
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
mkdir "$PG_DIR/sim"
for to in --stream=stream --lake=lake; do
    "$TIDE_BIN/tidemark-sim" write "${to%=*}" "$PG_DIR/sim/${to#*=}" --deployment "$PG_DIR/sim/deployment.json" --ledgers 256 --quiet
done
export PG_BIN
python3 "$here/_prove.py" "$PG_DIR/sim" || fail "exit $?"
