#!/usr/bin/env bash
# Faults of PostgreSQL while the writer works, each by its name: restarts, killed back ends, connections cut around a
# COMMIT and inside a COPY, deadlocks, time-outs, refusals. The same process continues and leaves the tables of an
# undisturbed run. TIDE_FAULT="P9" runs only the faults whose names begin with P9.
# label: all
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_writer.sh"
pg_start -c max_connections=12 -c superuser_reserved_connections=0
. "$(dirname "$0")/../_faults.sh"
proxy_up
tip="batch=3 partition=500 tip"
busy() { until_sql "ledger > 50 FROM chain.cursor" 20; }
terminate="SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'tidemark-indexer'"

restart() { # MODE
    start 1 4000 $tip
    busy
    pg_stop "$1"
    sleep 0.3
    pg_again
    ends_well
    grep -q db.retry "$words" || fail "not noticed: the test is too short"
}

crash() { # a back end dies hard: the server throws all out and recovers
    start 1 4000 $tip
    busy
    kill -9 "$(sql "SELECT pid FROM pg_stat_activity WHERE application_name = 'tidemark-indexer' ORDER BY backend_start LIMIT 1")"
    ends_well
    grep -q db.retry "$words" || fail "not noticed: the test is too short"
    grep -q 'terminated by signal 9' "$PG_DIR/log" || fail "the server did not crash"
}

# The rule meets three COMMITs. One may be that of the session which makes the next tables: it logs partition.spare and no db.back, so two suffice.
at_commit() { # SETTLED RULE OPTION…: every twentieth COMMIT meets it; how it was settled is told
    local settled=$1 rule=$2
    shift 2
    for skip in 5 25 45; do tell rule $rule skip=$skip; done
    start_proxied 1 300 "$@"
    ends_well
    fired 3
    [ "$(grep -c "db.back.*settled=$settled" "$words")" -ge 2 ] ||
        fail "not settled as $settled: $(grep db.back "$words")"
}

no_answer() { # the server goes silent at COMMIT and the link stays open
    tell rule $1 skip=25
    start_proxied 1 300 $tip silence=600 heartbeat
    ends_well
    fired 1
    grep -q db.silent "$words" && grep -q "db.back.*settled=$2" "$words" || fail "$(grep db "$words")"
    [ "$(sql "SELECT retries > 0 AND error ~ 'COMMIT' FROM chain.heartbeat")" = t ] || fail "heartbeat: $(sql "TABLE chain.heartbeat")"
}

within_copy() { # terminate | cut
    if [ "$1" = cut ]; then
        tell rule copy cut-at:100 skip=31
    else
        tell rule copy delay:600000 skip=31
    fi
    start_proxied 1 300 batch=10 partition=500 tip arrays=0
    if [ "$1" = terminate ]; then
        until_sql "count(*) = 1 FROM pg_stat_progress_copy" 20
        before=$(sql "SELECT count(*) FROM event.thing")
        [ "$(sql "$terminate")" = 1 ] || fail "nothing to terminate"
        [ "$(sql "SELECT count(*) FROM event.thing")" = "$before" ] || fail "rows of half a COPY"
    fi
    ends_well
    fired 1
    grep -q db.retry "$words" || fail "not noticed"
}

# ---- P8 ----

blocked() { # by the other session, not by the one that makes the next tables
    until_sql "EXISTS (SELECT 1 FROM pg_stat_activity AS a JOIN pg_stat_activity AS b ON b.pid = ANY (pg_blocking_pids(a.pid))
        WHERE a.application_name = 'tidemark-indexer' AND b.application_name = 'psql')" 20
}
session() { # a session of its own, fed by the descriptor it opens
    coproc other { exec "$PG_BIN/psql" -XAtq; }
}
say() { echo "$1;" >&"${other[1]}"; }

deadlock() { # the other session holds what the writer wants next, then wants what it holds
    session
    say "SET deadlock_timeout = '1min'; BEGIN; LOCK TABLE history.item IN SHARE MODE"
    until_sql "EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'history.item'::regclass AND mode = 'ShareLock' AND granted)" 20
    sql "ALTER DATABASE tidemark SET deadlock_timeout = '5s'" # the writer looks once: the other session must wait by then
    start 1 300 $tip
    blocked
    say "SELECT 1 FROM chain.cursor FOR UPDATE; ROLLBACK"
    sql "ALTER DATABASE tidemark RESET deadlock_timeout"
    ends_well
    grep -q 'db.retry.*state=40P01' "$words" || fail "no deadlock: $(cat "$words")"
}

serialization() {
    session
    sql "ALTER DATABASE tidemark SET default_transaction_isolation = 'repeatable read'"
    start 1 4000 $tip
    busy
    say "BEGIN ISOLATION LEVEL READ COMMITTED; UPDATE chain.cursor SET moved_at = moved_at"
    blocked
    say "COMMIT"
    sql "ALTER DATABASE tidemark RESET default_transaction_isolation"
    ends_well
    grep -q 'db.retry.*state=40001' "$words" || fail "no failure to serialize: $(cat "$words")"
}

# Adds a trigger that raises the SQLSTATE given, or waits for a lock with a short time-out, at each tenth row, five
# times.
trigger() { # STATE ACTION
    sql "CREATE SEQUENCE public.times; CREATE TABLE public.held (); CREATE FUNCTION public.disturb() RETURNS trigger LANGUAGE plpgsql
         SET lock_timeout = '20ms' AS \$\$ BEGIN IF new.ledger % 10 = 0 AND (SELECT last_value < 6 FROM public.times) THEN
         PERFORM nextval('public.times'); $2; END IF; RETURN new; END \$\$;
         CREATE TRIGGER disturb BEFORE INSERT ON event.thing FOR EACH ROW EXECUTE FUNCTION public.disturb()"
}
raised() { # STATE ACTION [SQL]
    "$driver" write 1 30 $tip 2>/dev/null # the partition is there: a trigger can stand on it
    trigger "$1" "$2"
    if [ -n "${3:-}" ]; then
        session
        say "$3"
        until_sql "EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'public.held'::regclass AND granted)" 5
    fi
    start 1 300 $tip heartbeat
    wait_for "$words" "state=$1"
    ends_well
    [ "$(sql "SELECT retries >= 3 AND state = 'indexing' AND error ~ '$1' FROM chain.heartbeat")" = t ] ||
        fail "heartbeat: $(sql "TABLE chain.heartbeat")"
    n=$(grep -c "db.retry.*state=$1" "$words")
    [ "$n" -ge 3 ] || fail "$1 came $n times only"
    [ -z "${3:-}" ] || say ROLLBACK
    sql "DROP TABLE public.held; DROP FUNCTION public.disturb CASCADE; DROP SEQUENCE public.times"
}

cancelled() { # an operator cancels what runs, over and over
    start 1 4000 $tip
    busy
    for _ in $(seq 200); do
        sql "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE application_name = 'tidemark-indexer' AND state = 'active'" >/dev/null
        [ "$(grep -c 'db.retry.*state=57014' "$words")" -lt 3 ] || break
    done
    ends_well
    grep -q 'db.retry.*state=57014' "$words" || fail "never cancelled while it ran: the test is too short"
}

# ---- P9 ----

terminated() {
    start 1 4000 $tip
    busy
    for _ in 1 2 3 4 5; do
        sql "$terminate" >/dev/null
        sleep 0.1
    done
    ends_well
    grep -q db.retry "$words" || fail "not noticed"
}

crowded() { # its slot is taken while it is away; when there is room again it goes on
    mkfifo "$PG_DIR/fifo.$BASHPID"
    exec 7<>"$PG_DIR/fifo.$BASHPID"
    connect_many() { for _ in $(seq $1); do "$PG_BIN/psql" -XAtq <&7 >/dev/null 2>&1 & done; sleep 0.3; }
    session # it sees the others when no other session gets in
    start_proxied 1 4000 $tip
    busy
    tell rule connect delay:3000
    connect_many 14
    tell cut
    # The writer's session ends after its connection: others try until they have all slots.
    local taken=0
    one_more_taken() {
        connect_many 1
        say "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> 'tidemark-indexer'"
        read -r taken <&"${other[0]}"
        [ "$taken" = 12 ]
    }
    within 20 one_more_taken || fail "$taken of 12 slots are taken"
    wait_for "$words" 'too many clients already'
    kill -0 $writer || fail "gave up"
    for pid in $(jobs -p); do [ $pid = $writer ] || kill $pid 2>/dev/null || true; done
    ends_well
}

not_yet() { # the server is there and accepts no session: it waits to be promoted
    start 1 4000 $tip
    busy
    pg_stop fast
    cluster_as touch "$PG_DIR/data/standby.signal"
    pg_again -c hot_standby=off
    wait_for "$words" 'not accepting connections'
    as_pg "$PG_BIN/pg_ctl" -D "$PG_DIR/data" -w promote >/dev/null
    ends_well
}

read_only() { # the server turns read-only under an open session, as after a failover
    start 1 4000 $tip
    busy
    sql "ALTER SYSTEM SET default_transaction_read_only = on"
    sql "SELECT pg_reload_conf()" >/dev/null
    wait_for "$words" 'state=25006'
    wait_for "$words" 'session is read-only'
    PGOPTIONS='-c default_transaction_read_only=off' sql "ALTER SYSTEM RESET default_transaction_read_only"
    sql "SELECT pg_reload_conf()" >/dev/null
    ends_well
}

with_want() { # FROM TO OPTION… -- CASE…: the tables that FROM TO leaves are wanted, on fresh tables
    local run=()
    while [ "$1" != -- ]; do run+=("$1"); shift; done
    shift
    [[ "$1" == ${TIDE_FAULT:-}* ]] || return 0
    if [ "${wanted_for:-}" != "${run[*]}" ]; then
        wants "${run[@]}"
        wanted_for=${run[*]}
    fi
    fresh
    tell clear
    local name=$1
    shift
    fault "$name" "$@"
}
long="1 4000 $tip"
short="1 300 $tip"
with_want $long -- "P1 server restarted, fast" restart fast
with_want $long -- "P1 server restarted, immediate" restart immediate
with_want $long -- "P2 back end killed, the server crashes and recovers" crash
with_want $short -- "P3 link cut at COMMIT, before it was applied" at_commit again "commit close-before" $tip
with_want $short -- "P3 link cut at COMMIT, applied, no answer" at_commit committed "committed close-before" $tip
with_want 1 300 batch=4 partition=100 -- "P3 the same while loading, before" at_commit again "commit close-before" batch=4 partition=100
with_want 1 300 batch=4 partition=100 -- "P3 the same while loading, applied" at_commit committed "committed close-before" batch=4 partition=100
with_want $short -- "P3 silence at COMMIT, applied" no_answer "committed drop" committed
with_want $short -- "P3 silence at COMMIT, not applied" no_answer "commit blackhole" again
with_want 1 300 batch=10 partition=500 tip arrays=0 -- "P4 session terminated in mid-COPY" within_copy terminate
with_want 1 300 batch=10 partition=500 tip arrays=0 -- "P4 link cut in mid-COPY" within_copy cut
with_want $short -- "P8 deadlock, 40P01" deadlock
with_want $long -- "P8 cannot serialize, 40001" serialization
with_want $short -- "P8 serialization failure raised, 40001" raised 40001 "RAISE EXCEPTION 'again' USING ERRCODE = '40001'"
with_want $short -- "P8 lock not available, 55P03" raised 55P03 "LOCK TABLE public.held" "BEGIN; LOCK TABLE public.held"
with_want $long -- "P8 statement cancelled, 57014" cancelled
with_want $long -- "P9 session terminated, 57P01" terminated
with_want $long -- "P9 too many connections, 53300" crowded
with_want $long -- "P9 cannot connect now, 57P03" not_yet
with_want $long -- "P9 read-only, 25006" read_only
faults_end
