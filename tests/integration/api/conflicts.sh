#!/usr/bin/env bash
# Recovery conflicts on a hot standby: an API repeats the statement once, then answers 503 within a bounded time. An
# export that is cancelled fails; it never ends short with exit code 0. Identity checks at a standby say that they lack a primary.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
pg_start
standby=$PG_DIR/standby
PG_AT_EXIT="cluster_down $standby immediate"
api_index 256
mkdir "$standby"
chmod 755 "$standby"
[ "$(id -u)" != 0 ] || chown "$(cluster_user)" "$standby"
as_pg "$PG_BIN/pg_basebackup" -h "$PG_DIR" -U postgres -D "$standby/data" -R -X stream -c fast --no-sync
cluster_up "$standby" -F -c max_standby_streaming_delay=0
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
# held TABLE SECONDS: the primary locks it for so long, and so does the standby; returns once that does.
held() {
    sql "BEGIN; LOCK TABLE $1 IN ACCESS EXCLUSIVE MODE; SELECT pg_switch_wal(); SELECT pg_sleep($2); COMMIT" >/dev/null &
    holder=$!
    local end=$((SECONDS + 20))
    until [ "$(PGHOST=$standby sql "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND relation = '$1'::regclass")" = 1 ]; do
        [ $SECONDS -lt $end ] || fail "the standby never locks $1"
        sleep 0.02
    done
}
for case in "event.log /api/events?limit=5" "history.compliance_registry_compliance_rec /api/sdk/kyc/status/$who?ledger=$ledger"; do
    table=${case%% *} path=${case#* }
    code "$path" >"$PG_DIR/said"
    grep -q ^200 "$PG_DIR/said" || fail "$path: $(cat "$PG_DIR/said" "$PG_DIR/body")"
    held $table 1.6
    code "$path" >"$PG_DIR/said"
    grep -q ^200 "$PG_DIR/said" || fail "$path is not repeated: $(cat "$PG_DIR/said" "$PG_DIR/body")"
    wait $holder
    echo "ok $path: the first try met the lock (1 s), the second answered: $(cat "$PG_DIR/said")"
    held $table 6
    code "$path" >"$PG_DIR/said"
    grep -q ^503 "$PG_DIR/said" && grep -qi '^retry-after:' "$PG_DIR/head" || fail "$path: $(cat "$PG_DIR/said" "$PG_DIR/head" "$PG_DIR/body")"
    echo "ok $path: twice in vain is 503 with Retry-After: $(cat "$PG_DIR/said")"
    wait $holder
    code "$path" >"$PG_DIR/said"
    grep -q ^200 "$PG_DIR/said" || fail "$path afterwards: $(cat "$PG_DIR/said" "$PG_DIR/body")"
done
api_stop || fail "api: exit $?"

export TIDEMARK_DATABASE_URL=$replica
"$TIDE_BIN/tidemark-indexer" export calls >"$PG_DIR/whole" 2>"$PG_DIR/err" || fail "export: $(tail -1 "$PG_DIR/err")"
mkfifo "$PG_DIR/pipe"
(
    code=0
    "$TIDE_BIN/tidemark-indexer" export calls >"$PG_DIR/pipe" 2>"$PG_DIR/err" || code=$?
    echo $code >"$PG_DIR/code"
) &
exec 7<"$PG_DIR/pipe"
reads() { [ "$(PGHOST=$standby sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidemark-export' AND state = 'idle in transaction' AND query LIKE 'FETCH%'")" = 1 ]; }
for _ in $(seq 200); do reads && break; sleep 0.05; done
reads || fail "the export does not wait for its reader"
PGHOST=$PG_DIR held chain.call 0.1
cat <&7 >"$PG_DIR/part"
for _ in $(seq 200); do [ -s "$PG_DIR/code" ] && break; sleep 0.05; done
[ "$(cat "$PG_DIR/code")" != 0 ] || fail "the export was cut short and says nothing: $(wc -l <"$PG_DIR/part") lines of $(wc -l <"$PG_DIR/whole")"
[ "$(wc -l <"$PG_DIR/part")" -lt "$(wc -l <"$PG_DIR/whole")" ] || fail "the export was not cut: the test proves nothing"
grep -q 40001 "$PG_DIR/err" || fail "$(cat "$PG_DIR/err")"
echo "ok an export that a conflict cancelled after $(wc -l <"$PG_DIR/part") of $(wc -l <"$PG_DIR/whole") lines ends with exit code $(cat "$PG_DIR/code"): $(tail -1 "$PG_DIR/err")"
