#!/usr/bin/env bash
# A standby receives nothing, or replays nothing, for a while. Answers read there show how late they are, become
# stale, and never say "compliant". Answers of another server stay fresh, also those of a node whose feeder and SQL
# workers use different servers. TIDE_LONG=1: each pause takes three minutes.
# label: all
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
. "$(dirname "$0")/_servers.sh"
seconds=30
[ -z "${TIDE_LONG:-}" ] || seconds=180
pg_start -c wal_sender_timeout=15s
export PG_DIR PG_BIN TIDEMARK_STALE_AFTER_MS=6000
chain
standby second
node one "$PG_DIR"
node two "$PG_DIR/second"
# Node three: its feeder uses the primary, its SQL workers use the standby.
mkdir "$PG_DIR/front"
ln -s "$PG_DIR/.s.PGSQL.5432" "$PG_DIR/front/.s.PGSQL.5432"
node three "$PG_DIR/front"
ln -sfn "$PG_DIR/second/.s.PGSQL.5432" "$PG_DIR/front/.s.PGSQL.5432"
workers() { on second "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidemark-api'"; }
own=$(workers)
sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tidemark-api'" >/dev/null
moved() { curl -s "$(url three /api/events?limit=1)" >/dev/null && [ "$(workers)" -gt "$own" ]; }
within 20 moved || fail "the SQL workers of node three are not at the standby"
pick_people
clients one two three

refuses() { curl -s "$(url two "/api/sdk/kyc/status/${PEOPLE%% *}")" | grep '"stale"' >/dev/null; }
serves() { is_ready two && curl -sf "$(url two "/api/sdk/kyc/status/${PEOPLE%% *}")" >/dev/null; }
age() { curl -si "$(url "$1" "$2")" | tr -d '\r' | sed -n 's/^Data-Age-Ms: //Ip'; }
pause() { # WHAT HOW-IT-BEGINS HOW-IT-ENDS
    local what=$1 begun
    lost=$(now)
    $2
    mark paused # answers are at least as old as this mark
    begun=$SECONDS
    within 40 refuses || fail "$what: node two goes on to tell compliance"
    echo "ok $what: look-ups of the standby's node are refused as stale after $(since "$lost") s"
    while [ $((SECONDS - begun)) -lt $seconds ]; do sleep 0.5; done
    [ "$(age three "/api/events?limit=1")" -gt $((seconds * 1000 - 2000)) ] || fail "$what: SQL of node three, which has its workers at the standby, is $(age three "/api/events?limit=1") ms old"
    within 20 fresh_lookups || fail "$what: look-ups of node three, which has its feeder at the primary, are $(age three /api/prices) ms old"
    curl -si "$(url three "/api/events?limit=1")" | tr -d '\r' >"$PG_DIR/late"
    grep -Ei '^Cache-Control: no-(cache|store)' "$PG_DIR/late" >/dev/null || fail "$what: a late answer may be cached: $(cat "$PG_DIR/late")"
    tag=$(sed -n 's/^ETag: //Ip' "$PG_DIR/late")
    [ "$(curl -s -o /dev/null -w '%{http_code}' -H "If-None-Match: ${tag:-*}" "$(url three "/api/events?limit=1")")" = 200 ] || fail "$what: a late answer is a 304"
    mark resumed # from here on answers may be younger
    lost=$(now)
    $3
    within 60 serves || fail "$what: node two stays stale: $(curl -s "$(url two /readyz)")"
    echo "ok $what: after $seconds s all is fresh again within $(since "$lost") s"
    within 30 fresh_workers || fail "$what: SQL of node three is $(age three "/api/events?limit=1") ms old"
}
fresh_lookups() { [ "$(age three /api/prices)" -lt 6000 ]; }
fresh_workers() { [ "$(age three "/api/events?limit=1")" -lt 3000 ]; }
receiver() { on second "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walreceiver'"; }
stop_receiver() { kill -STOP "$(receiver)"; }
go_on() { kill -CONT "$stopped"; }
pause_replay() { on second "SELECT pg_wal_replay_pause()" >/dev/null; }
resume_replay() { on second "SELECT pg_wal_replay_resume()" >/dev/null 2>&1 || true; } # late replay cancels statements, this one too

stopped=$(receiver)
pause "receiver stopped" stop_receiver go_on
pause "replay paused" pause_replay resume_replay
lost=$(now)
mark writes
clients_end
judge stale:two query:two query:three late:two late:three/query
