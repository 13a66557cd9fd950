#!/usr/bin/env bash
# verify against getEvents: rows that are stored raw count and their content is compared; a server whose list never
# ends does not hold verify up.
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
command -v python3 >/dev/null || { echo "no python3"; exit 1; }
pg_start
serve one --ledgers 96 --txs 6 --seed 5
into raw
pg_writable
indexer --rpc "$one_url" --stop-at-end || fail "$(tail -n 3 "$PG_DIR/out")"
export PG_BIN PG_DIR
python3 "$(dirname "$0")/_verify_events.py" "$one_url" "$PG_DIR/one/deployment.json"
