#!/usr/bin/env bash
# The attester with several database servers: it works at the primary although a standby is named first, continues at
# the promoted server, and puts each decision on the chain once, even after a promotion that loses commits.
# label: all
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
[ -x "$TIDE_BIN/tidemark-attester" ] || { echo "no tidemark-attester"; exit 1; }
. "$(dirname "$0")/_servers.sh"
pg_start
keep_wal
export PG_BIN PG_DIR
PGDATABASE=postgres "$PG_BIN/createdb" empty

# The servers take the commands of the cases from files, because they run as another user.
asked() { # NAME: once the case asks for it
    within 120 asks "$1" || fail "$(cat "$PG_DIR/case.log")"
    rm "$PG_DIR/ask.$1"
}
asks() { [ -e "$PG_DIR/ask.$1" ] || { kill -0 $case 2>/dev/null || fail "$(cat "$PG_DIR/case.log")"; return 1; }; }
run_case() { python3 "$(dirname "$0")/_attester_promotion.py" "$1" >"$PG_DIR/case.log" 2>&1 & case=$!; }
case_ends() { wait $case || fail "$(cat "$PG_DIR/case.log")"; cat "$PG_DIR/case.log"; }

standby second
sql "ALTER SYSTEM SET synchronous_standby_names = '*'"
sql "SELECT pg_reload_conf()" >/dev/null
run_case keeps
asked promote
pg_stop immediate
promote second
touch "$PG_DIR/promoted"
case_ends

on second "ALTER SYSTEM SET synchronous_standby_names = ''"
on second "SELECT pg_reload_conf()" >/dev/null
rejoin . second
rm "$PG_DIR/promoted"
run_case loses
asked deafen
PGHOST=$PG_DIR sql "ALTER SYSTEM SET primary_conninfo = ''"
PGHOST=$PG_DIR sql "SELECT pg_reload_conf()" >/dev/null
deaf() { [ "$(PGHOST=$PG_DIR sql "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)")" = t ]; }
within 20 deaf || fail "the standby still receives"
touch "$PG_DIR/deaf"
asked promote
cluster_down "$PG_DIR/second" immediate
promote .
touch "$PG_DIR/promoted"
case_ends
