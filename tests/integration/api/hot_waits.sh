#!/usr/bin/env bash
# Proves that look-ups from the cache never wait for a lock, a query or the feeder, while a chain is indexed at full
# speed and the cache is fed. The server counts each such wait, and PostgreSQL logs each statement with the sender's
# name. TIDE_LEDGERS sets the length.
# label: threads
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
command -v python3 >/dev/null && command -v curl >/dev/null || { echo "no python3 or no curl"; exit 1; }
pg_start -c log_statement=all -c log_line_prefix=@%a@
api_index 256
more() { "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --append --ledgers "${TIDE_LEDGERS:-1024}" --quiet; }
more
api_start --api-threads 2 --api-rate-lookup 100000000
timeout 120 python3 "$here/_hot_waits.py" "$API_URL" "$PG_DIR/log" "$(sql "SELECT address FROM state.compliance_registry_compliance_rec LIMIT 200")" \
    "$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end --log-level warn ||
    fail "$(tail -3 "$PG_DIR/api.log")"
api_stop || fail "the API ended with $?: $(tail -3 "$PG_DIR/api.log")"
