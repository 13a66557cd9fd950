#!/usr/bin/env bash
# The writer killed at every step, at least five times each; every statement failing in turn; every
# answer lost in turn. Afterwards, always: the tables of an undisturbed run.
# TIDE_FAULT_STEP=N tries every N-th statement only (default: chosen for about two minutes).
. "$(dirname "$0")/_pg.sh"
. "$(dirname "$0")/_writer.sh"
pg_start -c max_connections=30
export ASAN_OPTIONS=detect_leaks=0
write() { "$driver" write 1 60 partition=20 "$@" 2>"$PG_DIR/err"; }

fresh
TIDE_FP_COUNT=$PG_DIR/count write batch=7
[ -s "$PG_DIR/count" ] || { echo "this build has no failpoints"; exit 77; }
want=$(digest)
fresh; TIDE_FP_COUNT=$PG_DIR/count_tip write batch=3 tip
[ "$(digest)" = "$want" ] || fail "indexing differs from loading"

same() {
    [ "$(digest)" = "$want" ] || fail "$1: $(digest) not $want"
    check_state "$1"
    check_partitions "$1"
}

# SIGKILL at each step, at five passings spread over the run, then an undisturbed second start.
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
    partition.created build.index attach.before attach.tables attach.merged; do
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

# A statement that the server refuses amid the others: nothing of the ledgers is in, then all of it.
fresh
sql "CREATE SEQUENCE public.refused; CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
     IF nextval('public.refused') % 7 = 3 THEN RAISE EXCEPTION 'not now' USING ERRCODE = '40001'; END IF; RETURN NEW; END \$\$;
     CREATE TRIGGER refuse BEFORE INSERT ON state.item FOR EACH STATEMENT EXECUTE FUNCTION public.refuse()"
write batch=3 tip
sql "DROP TRIGGER refuse ON state.item; DROP FUNCTION public.refuse; DROP SEQUENCE public.refused"
grep -q 'state=40001.*not now' "$PG_DIR/err" || fail "nothing was refused"
same "statements refused by the server"

# Every statement fails once; then every answer is lost once. The process goes on by itself.
statements=$(grep -cx pg.statement "$PG_DIR/count")
step=${TIDE_FAULT_STEP:-$((statements / 40 + 1))}
for action in pg.statement pg.answer; do
    tried=0
    for mode in "batch=7" "batch=3 tip" "batch=3 tip arrays=0"; do
        for ((n = 1; ; n += step)); do
            fresh; rm -f "$PG_DIR/passed"
            code=0; TIDE_FP_COUNT=$PG_DIR/passed TIDE_FP="$action=error@$n" write $mode || code=$?
            [ "$code" = 0 ] || fail "$action@$n ($mode): exit $code: $(tail -3 "$PG_DIR/err")"
            same "$action@$n ($mode)"
            [ "$(grep -cx $action "$PG_DIR/passed")" -ge "$n" ] || break
            tried=$((tried + 1))
        done
    done
    echo "$action failed in $tried places (every ${step}th)"
done
echo ok
