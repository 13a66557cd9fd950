#!/usr/bin/env bash
# Causes recovery conflicts on a hot standby: the API repeats the statement once, then answers 503 within a bounded
# time. Routes of identity checks on a standby answer that they need a primary. hot_standby_feedback prevents that
# long statements are cancelled.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
pg_start
standby=$PG_DIR/standby
PG_AT_EXIT="cluster_down $standby immediate"
api_index 256
pg_standby "$standby" -c max_standby_streaming_delay=0
replica="host=$standby port=5432 user=postgres dbname=tidemark"
(umask 077 && "$here/../_providers.py" kyc-file http://127.0.0.1:9 http://127.0.0.1:8080 sandbox >"$PG_DIR/kyc.json")
TIDEMARK_KYC_FILE=$PG_DIR/kyc.json TIDEMARK_KYC_DATABASE_URL="${replica/user=postgres/user=tidemark_kyc}" TIDEMARK_DATABASE_URL=$replica api_start
kyc() { curl -s -m 10 "$API_URL/readyz" | grep -o '"kyc":"[a-z_]*"'; }
for _ in $(seq 200); do [ "$(kyc)" = '"kyc":"no_primary"' ] && break; sleep 0.05; done
[ "$(kyc)" = '"kyc":"no_primary"' ] || fail "identity checks at a standby: $(curl -s -m 10 "$API_URL/readyz")"
echo "ok identity checks at a standby: no_primary"
who=$(sql "SELECT address FROM state.compliance_registry_compliance_rec ORDER BY 1 LIMIT 1")
[ -n "$who" ] || fail "no address"
ledger=$(sql "SELECT max(ledger) FROM chain.cursor")

code() { curl -s -m 10 -o "$PG_DIR/body" -D "$PG_DIR/head" -w '%{http_code} %{time_total}' "$API_URL$1"; }
locks() { [ "$(PGHOST=$standby sql "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND relation = '$1'::regclass")" = "$2" ]; }
# held TABLE: locks the table on the primary, and therefore on the standby, until release. Returns once the standby
# holds the lock.
held() {
    rm -f "$PG_DIR/locker"
    mkfifo "$PG_DIR/locker"
    "$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1 <"$PG_DIR/locker" >/dev/null &
    holder=$!
    exec 8>"$PG_DIR/locker"
    echo "BEGIN; LOCK TABLE $1 IN ACCESS EXCLUSIVE MODE; SELECT pg_switch_wal();" >&8
    within 20 locks "$1" 1 || fail "the standby never locks $1"
}
release() {
    printf 'COMMIT;\n\\q\n' >&8
    exec 8>&-
}
freed() { # TABLE: the primary has released it, and the standby has replayed that
    wait $holder
    within 20 locks "$1" 0 || fail "the standby never frees $1"
}
refused() { grep -c 'canceling statement due to lock timeout' "$standby/log" || true; }
refused_more() { [ "$(refused)" -gt "$1" ]; }
for case in "event.log /api/events?limit=5" "history.compliance_registry_compliance_rec /api/sdk/kyc/status/$who?ledger=$ledger"; do
    table=${case%% *} path=${case#* }
    code "$path" >"$PG_DIR/said"
    grep -q ^200 "$PG_DIR/said" || fail "$path: $(cat "$PG_DIR/said" "$PG_DIR/body")"
    held $table
    before=$(refused)
    code "$path" >"$PG_DIR/said" &
    asker=$!
    within 20 refused_more "$before" || fail "$path: the first try does not meet the lock: $(cat "$PG_DIR/said")"
    release # while the second try waits
    wait $asker || fail "$path: curl ended with $?"
    grep -q ^200 "$PG_DIR/said" || fail "$path is not repeated: $(cat "$PG_DIR/said" "$PG_DIR/body")"
    freed $table
    echo "ok $path: the first try met the lock (1 s), the second answered: $(cat "$PG_DIR/said")"
    held $table
    code "$path" >"$PG_DIR/said"
    grep -q ^503 "$PG_DIR/said" && grep -qi '^retry-after:' "$PG_DIR/head" || fail "$path: $(cat "$PG_DIR/said" "$PG_DIR/head" "$PG_DIR/body")"
    echo "ok $path: twice in vain is 503 with Retry-After: $(cat "$PG_DIR/said")"
    release
    freed $table
    code "$path" >"$PG_DIR/said"
    grep -q ^200 "$PG_DIR/said" || fail "$path afterwards: $(cat "$PG_DIR/said" "$PG_DIR/body")"
done

# After a standby ended the sessions (57P01), the API answers the next request over new sessions.
code "/api/events?limit=5" >"$PG_DIR/said"
# The call within 20 for each session's end: one that is about to end could still take the repeated statement.
PGHOST=$standby sql "SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE application_name LIKE 'tidemark-%'" >/dev/null
code "/api/events?limit=5" >"$PG_DIR/said"
grep '^200' "$PG_DIR/said" >/dev/null || fail "after its session was ended: $(cat "$PG_DIR/said" "$PG_DIR/body")"
echo "ok a session that the server ended is opened anew for the next request: $(cat "$PG_DIR/said")"

# hot_standby_feedback makes the primary keep rows that a statement of the standby may still read.
sql "CREATE TABLE public.kept AS SELECT generate_series(1, 1000) AS n"
reader() { # ends with the code of the statement: it reads before and after the cleanup
    PGHOST=$standby sql "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM public.kept; SELECT pg_sleep(${1}); SELECT count(*) FROM public.kept" >"$PG_DIR/read" 2>&1 &
    reader=$!
    PGHOST=$standby AWAIT_LOG=$PG_DIR/read await "the reader" sql_says "count(*) = 1 FROM pg_stat_activity
        WHERE query LIKE '%pg_sleep(${1})%' AND wait_event = 'PgSleep' AND pid <> pg_backend_pid()"
}
cleanup() {
    sql "DELETE FROM public.kept"
    sql "VACUUM public.kept"
    sql "INSERT INTO public.kept SELECT generate_series(1, 1000)"
    at=$(sql "SELECT pg_current_wal_lsn()")
}
caught_up() { [ "$(PGHOST=$standby sql "SELECT pg_last_wal_replay_lsn() >= '$at'")" = t ]; }
there() { [ "$(PGHOST=$standby sql "SELECT to_regclass('public.kept') IS NOT NULL")" = t ]; }
within 20 there || fail "no table"
reader 20
cleanup
code=0
wait $reader || code=$?
[ $code != 0 ] && grep 'conflict with recovery' "$PG_DIR/read" >/dev/null || fail "without hot_standby_feedback: exit $code, $(cat "$PG_DIR/read")"
echo "ok without hot_standby_feedback a long statement is cancelled"
PGHOST=$standby sql "ALTER SYSTEM SET hot_standby_feedback = on"
PGHOST=$standby sql "ALTER SYSTEM SET wal_receiver_status_interval = '1s'"
PGHOST=$standby sql "SELECT pg_reload_conf()" >/dev/null
within 20 caught_up || fail "the standby stays late"
reader 15 # long enough for all that follows until its end is awaited
told() { [ "$(sql "SELECT count(*) FROM pg_stat_replication WHERE backend_xmin IS NOT NULL")" = 1 ]; }
within 20 told || fail "the standby does not tell its oldest snapshot"
cleanup
within 20 caught_up || fail "replay within 20 for the reader"
kill -0 $reader || fail "the reader ended before the replay: $(cat "$PG_DIR/read")"
wait $reader || fail "with hot_standby_feedback: $(cat "$PG_DIR/read")"
[ "$(tr '\n' ' ' <"$PG_DIR/read")" = "1000  1000 " ] || fail "the reader saw $(tr '\n' ' ' <"$PG_DIR/read")"
echo "ok with hot_standby_feedback it ends well, and replay does not wait for it"
api_stop || fail "api: exit $?"
