#!/usr/bin/env bash
# Kills the writer at every step, at least five times each, lets every statement fail in turn, and loses every answer
# in turn. The tables always equal those of an undisturbed run. TIDE_FAULT_STEP=N tests every N-th statement only.
# label: all, label: sanitize
# needs: failpoints
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_writer.sh"
pg_start -c max_connections=30
export ASAN_OPTIONS=detect_leaks=0
write() { "$driver" write 1 60 partition=20 "$@" 2>"$PG_DIR/err"; }

fresh
TIDE_FP_COUNT=$PG_DIR/count write batch=7
want=$(digest)
fresh; TIDE_FP_COUNT=$PG_DIR/count_tip write batch=3 tip
[ "$(digest)" = "$want" ] || fail "indexing differs from loading"

same() {
    [ "$(digest)" = "$want" ] || fail "$1: $(digest) not $want"
    check_state "$1"
    check_partitions "$1"
}

# Sends SIGKILL at each step, at five of its passes spread over the run. A second start runs undisturbed.
kill_at() { # POINT COUNTFILE ARG…
    local point=$1 file=$2 passes kills=0 n code
    shift 2
    passes=$(grep -cx "$point" "$file" || true)
    [ "$passes" -ge 5 ] || fail "$point is passed $passes times only"
    for i in 1 2 3 4 5; do
        n=$((1 + (passes - 1) * (i - 1) / 4))
        fresh
        code=0; { TIDE_FP="$point=kill@$n" write "$@"; } 2>/dev/null || code=$?
        [ "$code" = 137 ] || fail "$point@$n: exit $code, not killed"
        kills=$((kills + 1))
        write "$@" || fail "$point@$n: second start: $(cat "$PG_DIR/err")"
        same "$point@$n"
    done
    printf '%-20s killed %d times of %d passings\n' "$point" "$kills" "$passes"
}
fresh; TIDE_FP_COUNT=$PG_DIR/count_load write batch=4 partition=10
for point in commit.fenced commit.copied load.progress commit.before commit.after \
    partition.created partition.complete build.index attach.before attach.tables attach.merged; do
    kill_at $point "$PG_DIR/count_load" batch=4 partition=10
done
for point in commit.merged commit.cursor; do
    kill_at $point "$PG_DIR/count_tip" batch=3 tip
done
fresh; TIDE_FP_COUNT=$PG_DIR/count_copy write batch=3 tip arrays=0
[ "$(digest)" = "$want" ] || fail "COPY differs from arrays"
for point in commit.fenced commit.copied commit.merged; do
    kill_at $point "$PG_DIR/count_copy" batch=3 tip arrays=0
    kill_at $point "$PG_DIR/count_tip" batch=3 tip
done

# The server refuses one statement in the middle: no row of the ledgers is stored, then all rows are.
fresh
sql "CREATE SEQUENCE public.refused; CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
     IF nextval('public.refused') % 7 = 3 THEN RAISE EXCEPTION 'not now' USING ERRCODE = '40001'; END IF; RETURN NEW; END \$\$;
     CREATE TRIGGER refuse BEFORE INSERT ON state.item FOR EACH STATEMENT EXECUTE FUNCTION public.refuse()"
write batch=3 tip
sql "DROP TRIGGER refuse ON state.item; DROP FUNCTION public.refuse; DROP SEQUENCE public.refused"
grep -q 'state=40001.*not now' "$PG_DIR/err" || fail "nothing was refused"
same "statements refused by the server"

# Every statement fails once, then every answer is lost once. The process continues by itself. Two jobs, each with its
# own database, take every second statement each.
step=${TIDE_FAULT_STEP:-1}
lane() { # NUMBER ACTION
    local tried=0 mode n
    export PGDATABASE=lane$1 TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=lane$1"
    for mode in "batch=10" "batch=10 tip" "batch=10 tip arrays=0"; do
        fresh
        "$driver" write 1 40 partition=30 pause=10 $mode 2>/dev/null
        want=$(verdict)
        for ((n = 1 + $1 * step; ; n += 2 * step)); do
            fresh; rm -f "$PG_DIR/passed$1"
            TIDE_FP_COUNT=$PG_DIR/passed$1 TIDE_FP="$2=error@$n" \
                "$driver" write 1 40 partition=30 pause=10 $mode 2>"$PG_DIR/err$1" ||
                fail "$2@$n ($mode): exit $?: $(tail -3 "$PG_DIR/err$1")"
            [ "$(verdict)" = "$want" ] || fail "$2@$n ($mode): $(verdict) not $want"
            [ "$(grep -cx $2 "$PG_DIR/passed$1")" -ge "$n" ] || break
            tried=$((tried + 1))
        done
    done
    echo $tried >"$PG_DIR/tried$1"
}
for n in 0 1; do PGDATABASE=postgres "$PG_BIN/createdb" lane$n; done
for action in pg.statement pg.answer; do
    lane 0 $action & first=$!
    lane 1 $action & second=$!
    wait $first || fail "$action, first lane"
    wait $second || fail "$action, second lane"
    [ "$step" != 1 ] || [ "$(cat "$PG_DIR/tried0")" -gt 40 ] || fail "$action: only $(cat "$PG_DIR/tried0") places"
    echo "$action failed in $(($(cat "$PG_DIR/tried0") + $(cat "$PG_DIR/tried1"))) places, $([ "$step" = 1 ] && echo all there are || echo "every ${step}th")"
done
echo ok
