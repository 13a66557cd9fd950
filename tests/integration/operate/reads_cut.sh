#!/usr/bin/env bash
# Proves that no command prints only a part of its rows and exits with 0. Its connection is cut after more and more
# bytes, and its session is ended (57P01).
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/fault_proxy" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
pg_start
driver=none # _faults.sh names it
. "$here/../_faults.sh"
api_index 128
proxy_up
direct=$TIDEMARK_DATABASE_URL

# The commands as a user types them. status reads rows in the same ways.
commands=(digest verify)
judge() { # WHAT CODE OUTPUT COMMAND: 0 means whole
    if [ "$2" = 0 ]; then
        cmp -s "$3" "$PG_DIR/whole" || fail "$4, $1: exit code 0 with $(wc -c <"$3") of $(wc -c <"$PG_DIR/whole") bytes"
        whole=$((whole + 1))
    else
        [ -s "$PG_DIR/err" ] || fail "$4, $1: exit code $2 and no word"
        short=$((short + 1))
    fi
}
ask() { # URL COMMAND: its exit code in $code
    code=0
    TIDEMARK_DATABASE_URL=$1 timeout 60 "$TIDE_BIN/tidemark-indexer" $2 >"$PG_DIR/part" 2>"$PG_DIR/err" || code=$?
}
for command in "${commands[@]}"; do
    ask "$direct" "$command"
    [ $code = 0 ] || fail "$command: $(cat "$PG_DIR/err")"
    cp "$PG_DIR/part" "$PG_DIR/whole"
    whole=0 short=0
    tell clear
    ask "$proxied" "$command"
    judge "through the proxy" $code "$PG_DIR/part" "$command"
    for bytes in 200 2000 9000 40000 150000 400000; do
        tell clear
        tell rule answer cut-at:$bytes
        ask "$proxied" "$command"
        judge "cut after $bytes bytes" $code "$PG_DIR/part" "$command"
    done
    [ $short -ge 3 ] && [ $whole -ge 1 ] || fail "$command: $short cuts, $whole whole: the test proves little"
    cuts=$short

    # A slow reader: the session ends in the middle. The session that was cut last may outlive its process.
    until_sql "count(*) = 0 FROM pg_stat_activity WHERE application_name LIKE 'tidemark-%'" 30
    tell clear
    tell rule answer throttle:40000 times=0
    TIDEMARK_DATABASE_URL=$proxied timeout 120 "$TIDE_BIN/tidemark-indexer" $command >"$PG_DIR/part" 2>"$PG_DIR/err" &
    pid=$!
    until_sql "count(*) = 1 FROM pg_stat_activity WHERE application_name LIKE 'tidemark-%' AND query ~* 'FETCH|COPY|SELECT.*FROM (event|state|history|chain.call)'" 30
    [ "$(sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'tidemark-%'")" = t ] || fail "$command: no session"
    code=0
    wait $pid || code=$?
    [ $code != 0 ] || fail "$command: its session was ended, and it says nothing"
    judge "its session was ended" $code "$PG_DIR/part" "$command"
    echo "ok $command: cut $cuts times and ended once, never short with exit code 0; the last word: $(tail -n 1 "$PG_DIR/err" | cut -c1-110)"
done
tell clear
