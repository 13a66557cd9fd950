# PostgreSQL with a simulated chain in it, and tidemark-api over it: sourced, after _pg.sh.
#
#   . "$here/_pg.sh"; . "$here/_api.sh"
#   pg_start
#   api_index 256                  # that many ledgers of the simulator, indexed
#   api_start --api-threads 1 …    # sets API_URL, API_PORT, API_PID; the log is $PG_DIR/api.log
#   API_READY=/api/prices api_start   # waits until that answers, not for /readyz
#   api_stop                       # SIGTERM; its exit code
#   api_feeds 1100                 # so many feeds more, ZZ00001 …, as if the oracle's administrator had added them; after pg_writable
#   api_follow                     # an indexer that waits for ledgers of the lake: its lease is renewed
api_index() {
    "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --ledgers "$1" --quiet
    export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json
    "$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --stop-at-end 2>"$PG_DIR/run.log" ||
        fail "run: $(tail -2 "$PG_DIR/run.log")"
}

api_feeds() {
    local table
    for table in history state; do
        sql "INSERT INTO $table.oracle_feed SELECT (jsonb_populate_record(NULL::$table.oracle_feed, to_jsonb(f) || jsonb_build_object('asset', 'ZZ' || lpad(i::text, 5, '0'),
                'latest_price', 1000000 + i, 'key_hash', '\\x' || encode(sha256(i::text::bytea), 'hex')))).*
            FROM (SELECT * FROM $table.oracle_feed ORDER BY ledger DESC LIMIT 1) AS f, generate_series(1, $1) AS i"
    done
}

api_follow() { "$TIDE_BIN/tidemark-indexer" run --lake "$PG_DIR/sim/lake" --retry-ms-max 300 2>>"$PG_DIR/run.log" & }

# The simulated chain is old and its indexer has ended. So compliance is asked as if the newest ledger were new, and
# the index is served as if its indexer still ran.
api_start() {
    rm -f "$PG_DIR/api.port"
    TIDEMARK_COMPLIANCE_AGE_S=0 TIDEMARK_STALE_AFTER_MS=${TIDEMARK_STALE_AFTER_MS:-86400000} TIDEMARK_CLOCK_SKEW_S=3153600000 \
        TIDEMARK_API_LISTEN=127.0.0.1:0 TIDEMARK_API_DRAIN_MS=0 TIDEMARK_API_CACHE=$PG_DIR/cache \
        "$TIDE_BIN/tidemark-api" --api-port-file "$PG_DIR/api.port" "$@" 2>>"$PG_DIR/api.log" &
    API_PID=$!
    AWAIT_PID=$API_PID AWAIT_LOG=$PG_DIR/api.log await "tidemark-api to be ready" api_is_ready
    API_PORT=$(cat "$PG_DIR/api.port")
    API_URL=http://127.0.0.1:$API_PORT
}

# The stream service has its own connection.
api_is_ready() {
    [ -s "$PG_DIR/api.port" ] && curl -fs "http://127.0.0.1:$(cat "$PG_DIR/api.port")${API_READY:-/readyz}" >"$PG_DIR/api.ready" &&
        ! grep -q '"stream":"down"' "$PG_DIR/api.ready"
}

api_stop() {
    local code=0
    kill -TERM "$API_PID" 2>/dev/null || true
    wait "$API_PID" || code=$?
    return $code
}
