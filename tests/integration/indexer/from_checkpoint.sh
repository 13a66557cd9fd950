#!/usr/bin/env bash
# An index that begins with the state of a checkpoint (run --from-checkpoint): rows of the state, and all answers that need no past, are
# those of an index of the whole chain. It is proven by validators or not, refuses archives that lie, and a kill at each step leaves an
# empty index or a complete start.
here=$(dirname "$0")
. "$here/../_pg.sh"
. "$here/../_api.sh"
. "$here/_discover.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start
bin=$TIDE_BIN/tidemark-indexer
sim=$PG_DIR/sim
mkdir "$sim"
export TIDEMARK_DEPLOYMENT=$sim/deployment.json
checkpoint=1279
# Entries live for 200 ledgers: many are evicted, and some restored.
"$TIDE_BIN/tidemark-sim" write --lake "$sim/lake" --archive "$sim/archive" --deployment "$TIDEMARK_DEPLOYMENT" --validators 4 --ledgers 576 --life 200 --quiet
full_url=$TIDEMARK_DATABASE_URL
export TIDEMARK_DATABASE_URL=${full_url/dbname=tidemark/dbname=begun}
[ "$TIDEMARK_DATABASE_URL" != "$full_url" ] || fail "no name of a database: $full_url"
"$bin" run --database-url "$full_url" --lake "$sim/lake" --archive "$sim/archive" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"

begun() { PGDATABASE=begun sql "$1"; }
fresh() { PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists --force begun 2>/dev/null; PGDATABASE=postgres "$PG_BIN/createdb" begun; }
lake=$sim/lake
start() { "$bin" run --lake "$lake" --stop-at-end "$@" 2>"$PG_DIR/start.log"; }
# ends CODE PATTERN OPTION…
ends() {
    local code=0 wanted=$1 pattern=$2
    shift 2
    start "$@" || code=$?
    [[ $code == $wanted ]] && grep -qE "$pattern" "$PG_DIR/start.log" || fail "run $*: exit $code, wanted $wanted and \"$pattern\": $(tail -3 "$PG_DIR/start.log")"
    echo "ok      $pattern"
}
empty() { [ "$(begun "SELECT (SELECT count(*) FROM chain.start) + (SELECT count(*) FROM chain.coverage) + (SELECT count(*) FROM history.ttl) + (SELECT count(*) FROM state.ttl)")" = 0 ] || fail "$1: not empty"; }
# Each table of state without the columns that say which version it is.
state_of() { # DATABASE
    PGDATABASE=$1 "$PG_BIN/psql" -XAtqv ON_ERROR_STOP=1 <<'END'
SELECT format('SELECT %L, count(*), md5(string_agg(r::text, chr(10) ORDER BY r::text)) FROM (SELECT %s FROM state.%I) AS r', relname, string_agg(quote_ident(attname), ',' ORDER BY attnum), relname)
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND attnum > 0 AND NOT attisdropped
    WHERE relnamespace = 'state'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND attname NOT IN ('ledger', 'tx', 'seq', 'closed_at', 'reason')
    GROUP BY relname ORDER BY relname \gexec
END
}
state_of tidemark >"$PG_DIR/state"
[ "$(awk -F'|' '$2 > 0' "$PG_DIR/state" | wc -l)" -gt 40 ] || fail "few tables of state have rows: $(cat "$PG_DIR/state")"
same_state() { state_of begun | diff "$PG_DIR/state" - >"$PG_DIR/diff" || fail "$1: $(cat "$PG_DIR/diff")"; }

fresh
ends 0 "start.done ledger=$checkpoint proof=signed signed_ledger=1342 signers=4 entries=[0-9]{4} archived=[0-9]{3}" --from-checkpoint $checkpoint --archive "$sim/archive"
same_state "from checkpoint $checkpoint"
[ "$(begun "SELECT min(from_ledger) || ' ' || max(to_ledger) FROM chain.coverage")" = "$checkpoint 1599" ] || fail "coverage: $(begun "TABLE chain.coverage")"
"$bin" verify --lake "$sim/lake" >"$PG_DIR/verify" || fail "verify: $(grep WRONG "$PG_DIR/verify")"
grep -q "^source  ledger $checkpoint is left out" "$PG_DIR/verify" && grep -q '^source  320 ledgers derived again' "$PG_DIR/verify" || fail "verify: $(cat "$PG_DIR/verify")"
"$bin" audit --archive "$sim/archive" >"$PG_DIR/audit" || fail "audit: $(cat "$PG_DIR/audit")"
grep -qE '^ +checkpoint +1279$' <<<"$("$bin" status)" || fail "status: $("$bin" status)"
echo "ok      the state is that of the whole index, and that of the archive"

# The same command continues; another one does not begin anew.
ends 0 "start.before ledger=$checkpoint" --from-checkpoint latest --archive "$sim/archive"
ends 68 "began at checkpoint $checkpoint, not 1343" --from-checkpoint 1343 --archive "$sim/archive"
ends 68 'the index is not empty' --from-checkpoint latest --archive "$sim/archive" --database-url "$full_url"
ends 78 'no history archive is set' --from-checkpoint latest
ends 64 'from-checkpoint' --from-checkpoint never --archive "$sim/archive"

# The set of contracts grows by what the state names: tokens are read without a second pass over the chain.
strip "$sim"
for database in whole begun; do
    PGDATABASE=postgres "$PG_BIN/dropdb" --if-exists --force $database 2>/dev/null
    PGDATABASE=postgres "$PG_BIN/createdb" $database
done
whole_url=${full_url/dbname=tidemark/dbname=whole}
"$bin" run --deployment "$sim/without.json" --database-url "$whole_url" --lake "$sim/lake" --stop-at-end 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"
state_of whole >"$PG_DIR/state.whole"
ends 0 "start.done ledger=1535 proof=signed .*contracts=(1[6-9]|2[0-9])" --from-checkpoint 1535 --archive "$sim/archive" --deployment "$sim/without.json"
state_of begun | diff "$PG_DIR/state.whole" - >"$PG_DIR/diff" || fail "tokens that the state names: $(cat "$PG_DIR/diff")"
named() { PGDATABASE=$1 sql "SELECT string_agg(DISTINCT contract || ' ' || what || ' ' || role, ',' ORDER BY contract || ' ' || what || ' ' || role) FROM chain.contract_seen WHERE what IN ('discovered', 'market', 'token', 'asset')"; }
[ -n "$(named begun)" ] && [ "$(named whole)" = "$(named begun)" ] || fail "found $(named begun), not $(named whole)"
echo "ok      tokens that the state names"

# A token that existed at the checkpoint and is named later lacks its state; one that was created later does not.
gaps() { begun "INSERT INTO chain.contract_seen SELECT id, 'C' || repeat('$1', 55), ledger, 1, what, 'synth_token', 'token' FROM chain.deployment,
        (VALUES ('discovered', 1560), ('token', 1560), ('created', $2)) AS v (what, ledger)"
    begun "SELECT chain.note_discovered(id, ARRAY['C' || repeat('$1', 55)]) FROM chain.deployment"
    begun "SELECT string_agg(from_ledger || '-' || to_ledger || ' ' || (trouble IS NOT NULL), ',' ORDER BY from_ledger) FROM chain.contract_coverage WHERE contract = 'C' || repeat('$1', 55)"; }
[ "$(gaps A 1400 | tail -1)" = 1535-1535\ true,1536-1599\ false ] || fail "a token that is named late: $(begun "TABLE chain.contract_coverage")"
[ "$(gaps B 1560 | tail -1)" = 1536-1599\ false ] || fail "a token that is created late: $(begun "TABLE chain.contract_coverage")"
echo "ok      tokens that are named behind the checkpoint"

echo "an archive that lies"
forge() { # ATTACK: a forged copy of the archive in $forged
    rm -rf "$PG_DIR/forged"
    cp -a "$sim/archive" "$PG_DIR/forged"
    forged=$PG_DIR/forged
    "$here/_audit_archive.py" "$forged" $checkpoint "$1" >/dev/null
}
attacks=(byte entry) # audit.sh has all
[ -z "${TIDE_LONG:-}" ] || attacks=(byte level older number bomb twice unsorted entry)
for attack in "${attacks[@]}"; do
    fresh
    forge $attack
    # With right hashes up to the header, the next header or the signatures contradict.
    case $attack in
    byte) wanted='6[56] hash.to.the.name|record|bucket-' ;;
    level | older) wanted="66 do.not.hash.to.its.header's.bucketListHash" ;;
    number) wanted='66 is.the.state.of.ledger' ;;
    bomb) wanted='65 mark.of.a.record' ;;
    *) wanted='66 does.not.follow.ledger.1279' ;;
    esac
    ends "${wanted%% *}" "${wanted#* }" --from-checkpoint $checkpoint --archive "$forged" --http-tries 1
    empty "$attack"
    case $attack in byte | level | older | number | bomb)
        ends 0 start.done --from-checkpoint $checkpoint --archive "$forged,$sim/archive" --http-tries 1
        same_state "$attack at the first place" ;;
    esac
done
# Without validators the source contradicts a forged history, before anything of it is stored.
python3 -c "import json; d = json.load(open('$sim/deployment.json')); del d['validators']; json.dump(d, open('$sim/linked.json', 'w'))"
fresh
ends 66 'ledger 1279 of the archive is not the source' --from-checkpoint $checkpoint --archive "$forged" --deployment "$sim/linked.json"
empty "a forged history"
ends 0 'start.done.*proof=linked' --from-checkpoint $checkpoint --archive "$sim/archive" --deployment "$sim/linked.json"
same_state "a linked start"
fresh
mkdir "$PG_DIR/none"
lake=$PG_DIR/none
ends 67 'does not confirm ledger 1279' --from-checkpoint $checkpoint --archive "$sim/archive" --deployment "$sim/linked.json"
lake=$sim/lake
empty "a source without the checkpoint"
fresh
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/other/lake" --archive "$PG_DIR/other/archive" --deployment "$PG_DIR/other/deployment.json" --validators 4 --signers 2 --ledgers 320 --quiet
ends 67 'not enough of the named validators signed' --from-checkpoint latest --archive "$PG_DIR/other/archive"
empty "too few signatures"

if has_failpoints; then
    fresh
    TIDE_FP_COUNT=$PG_DIR/count ends 0 start.done --from-checkpoint $checkpoint --archive "$sim/archive"
    for point in partition.created attach.before start.partition start.copied start.merged start.cursor commit.before commit.after; do
        grep -q "^$point$" "$PG_DIR/count" || fail "$point is not passed: $(sort "$PG_DIR/count" | uniq -c)"
        fresh
        code=0
        TIDE_FP=$point=kill start --from-checkpoint 1535 --archive "$sim/archive" || code=$?
        [ $code = 137 ] || fail "$point: exit $code"
        [ "$(begun "SELECT count(*) FROM chain.start")" = 1 ] || empty "killed at $point"
        ends 0 'start.(done|before)' --from-checkpoint 1535 --archive "$sim/archive"
        same_state "killed at $point"
    done
fi

echo "answers"
TIDEMARK_DATABASE_URL=$full_url api_start --api-rate-lookup 0 --api-rate-query 0 --api-cache "$PG_DIR/cache.full"
full_port=$API_PORT full_pid=$API_PID
fresh
start --from-checkpoint $checkpoint --archive "$sim/archive" || fail "start: $(tail -2 "$PG_DIR/start.log")"
api_start --api-rate-lookup 0 --api-rate-query 0
"$here/_from_checkpoint.py" "$full_port" tidemark "$API_PORT" begun || fail "answers differ"
api_stop || fail "tidemark-api: $(tail -3 "$PG_DIR/api.log")"
kill -TERM "$full_pid"
wait "$full_pid" || true
echo "ok from_checkpoint"
