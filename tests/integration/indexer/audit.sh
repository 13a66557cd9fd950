#!/usr/bin/env bash
# `audit` agrees with the archive of a simulated chain at every checkpoint, finds each altered, removed and added entry, and
# refuses an archive that lies: bytes, levels, checkpoints, orders of keys, bombs, transfers that are cut, slow or endless.
here=$(dirname "$0")
. "$here/../_pg.sh"
pg_start
pg_writable
bin=$TIDE_BIN/tidemark-indexer
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
sim=$PG_DIR/sim
mkdir "$sim"
# Entries live for 200 ledgers: many are evicted, and some restored.
"$TIDE_BIN/tidemark-sim" write --lake "$sim/lake" --archive "$sim/archive" --ledgers 576 --life 200 --quiet
export TIDEMARK_DEPLOYMENT=$sim/deployment.json
"$bin" run --lake "$sim/lake" --stop-at-end true 2>"$PG_DIR/run.log" || { cat "$PG_DIR/run.log" >&2; fail "run"; }

servers=()
PG_AT_EXIT=stop_servers
stop_servers() { local pid; for pid in ${servers[@]+"${servers[@]}"}; do kill "$pid" 2>/dev/null || true; done; }
audit() { "$bin" audit "$@" >"$PG_DIR/said" 2>"$PG_DIR/err"; }
said() { cat "$PG_DIR/said" "$PG_DIR/err"; }
agrees() { audit "$@" || fail "audit $*: $(said)"; }
# ends CODE PATTERN OPTION…
ends() {
    local code=0 wanted=$1 pattern=$2
    shift 2
    audit "$@" || code=$?
    [[ $code == $wanted ]] && grep -hE "$pattern" "$PG_DIR/said" "$PG_DIR/err" >"$PG_DIR/lines" || fail "audit $*: exit $code, wanted $wanted and \"$pattern\": $(said)"
    sed -n 1p "$PG_DIR/lines"
}
forge() { # ATTACK: a forged copy of the archive in $forged
    rm -rf "$PG_DIR/forged"
    cp -a "$sim/archive" "$PG_DIR/forged"
    forged=$PG_DIR/forged
    "$here/_audit_archive.py" "$forged" "$last" "$1"
}
serve() { # KIND: sets url
    rm -f "$PG_DIR/port"
    "$here/_audit_archive.py" serve "$sim/archive" "$PG_DIR/port" "$1" >"$PG_DIR/served" 2>/dev/null &
    servers+=($!)
    AWAIT_PID=$! await "the port of the archive's server" test -s "$PG_DIR/port"
    url=http://127.0.0.1:$(cat "$PG_DIR/port")
}

echo "every checkpoint agrees"
last=1599 hot=0
for checkpoint in 1087 ${TIDE_LONG:+1151 1215 1279} 1343 ${TIDE_LONG:+1407} 1471 1535 $last; do
    agrees --archive "$sim/archive" --checkpoint "$checkpoint"
    [ "$(sed -n 's/^entries .* live and \([0-9]*\) archived.*/\1/p' "$PG_DIR/said")" = 0 ] || hot=$((hot + 1))
done
[ "$hot" -gt 2 ] || fail "hardly any entry was archived: $(said)"
agrees --archive "$sim/archive"
grep -q "^checkpoint  ledger $last" "$PG_DIR/said" || fail "the newest checkpoint was not chosen: $(said)"
grep -qE '^entries +[1-9][0-9]{2,} live and [1-9][0-9]* archived' "$PG_DIR/said" || fail "too few entries: $(said)"
grep -qE '^code +1 live, 0 archived, of [12]; the first lives until ledger [0-9]+$' "$PG_DIR/said" || fail "the life of the code: $(said)"
cat "$PG_DIR/said"

echo "planted differences"
archive=(--archive "$sim/archive")
pick() { # TABLE [CONDITION]: a condition for the newest version of one entry that is not removed
    sql "SELECT format('key_hash = %L::bytea AND (ledger, tx, seq) = (%s, %s, %s)', key_hash::text, ledger, tx, seq) FROM (SELECT DISTINCT ON (key_hash) * FROM history.$1
        ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS t WHERE NOT removed AND ${2:-true} LIMIT 1"
}
row=$(pick liquidity_pool_pool)
sql "UPDATE history.liquidity_pool_pool SET reserve_a = reserve_a + 1 WHERE $row"
ends 68 '^different +history.liquidity_pool_pool C.*: the network.s value is of ledger' "${archive[@]}"
grep -q "^contract    C.*: 1 differences" "$PG_DIR/said" || fail "no sum by contract: $(said)"
grep -q "^reindex     ledgers [0-9]* to $last" "$PG_DIR/said" || fail "no ledgers to index again: $(said)"
sql "UPDATE history.liquidity_pool_pool SET reserve_a = reserve_a - 1 WHERE $row"
row=$(pick oracle_feed)
sql "UPDATE history.oracle_feed SET removed = true WHERE $row"
ends 68 '^missing +history.oracle_feed C.* .*wrote it, the tables do not have it' "${archive[@]}"
sql "UPDATE history.oracle_feed SET removed = false WHERE $row"
row=$(pick liquidity_pool_pool)
sql "CREATE TABLE public.pools AS SELECT * FROM history.liquidity_pool_pool WHERE $row"
sql "UPDATE public.pools SET key_hash = sha256(key_hash); INSERT INTO history.liquidity_pool_pool SELECT * FROM public.pools"
ends 68 '^extra +history.liquidity_pool_pool C.*since ledger' "${archive[@]}"
sql "DELETE FROM history.liquidity_pool_pool AS h USING public.pools AS p WHERE h.key_hash = p.key_hash"
sql 'CALL public.lives_alone()'
row=$(pick ttl 'live_until > 1599')
sql "UPDATE history.ttl SET live_until = live_until + 1 WHERE $row"
ends 68 '^ttl .*: lives until ledger [0-9]+, in the tables until [0-9]+' "${archive[@]}"
sql "UPDATE history.ttl SET live_until = live_until - 1 WHERE $row"
row=$(pick ttl evicted)
sql "UPDATE history.ttl SET evicted = false, live_until = 7 WHERE $row"
ends 68 '^archived .*: archived by the network, live in the tables' "${archive[@]}"
sql "UPDATE history.ttl SET evicted = true, live_until = NULL WHERE $row"
row=$(pick ttl 'live_until > 1599')
sql "CREATE TABLE public.life AS SELECT live_until FROM history.ttl WHERE $row; UPDATE history.ttl SET evicted = true, live_until = NULL WHERE $row"
ends 68 '^live .*: live on the network, archived in the tables' "${archive[@]}"
sql "UPDATE history.ttl SET evicted = false, live_until = (SELECT live_until FROM public.life) WHERE $row"
agrees "${archive[@]}"

echo "an archive that lies"
forge byte
ends 6[56] 'bucket-[0-9a-f]*.xdr.gz|hash to the name|record' --archive "$forged" --http-tries 1
agrees --archive "$forged,$sim/archive" # the next place has a good copy
forge level
ends 66 "do not hash to its header's bucketListHash" --archive "$forged" --http-tries 1
agrees --archive "$forged,$sim/archive" --checkpoint "$last"
forge older
ends 66 "do not hash to its header's bucketListHash" --archive "$forged" --http-tries 1
agrees --archive "$forged,$sim/archive" --checkpoint "$last"
forge number
ends 66 'is the state of ledger 2147483647' --archive "$forged" --http-tries 1 --checkpoint "$last"
agrees --archive "$forged,$sim/archive" --checkpoint "$last"
forge bomb
ends 65 'mark of a record' --archive "$forged" --http-tries 1
true_hash=$(sql "SELECT hash FROM chain.ledger WHERE ledger = $last")
for attack in twice unsorted entry code; do
    forged_hash=$(forge $attack)
    forged=$PG_DIR/forged
    ends 66 'another hash than the index' --archive "$forged" --http-tries 1
    sql "UPDATE chain.ledger SET hash = '\\x$forged_hash' WHERE ledger = $last"
    case $attack in
    twice) ends 65 'the key of the record before' --archive "$forged" --http-tries 1 ;;
    unsorted) ends 65 'keys are not sorted' --archive "$forged" --http-tries 1 ;;
    entry) ends 68 '^different .*the network' --archive "$forged" --http-tries 1 ;;
    code) ends 68 '^different +code C.*: the network.s bytes do not hash to the name' --archive "$forged" --http-tries 1 ;;
    esac
    sql "UPDATE chain.ledger SET hash = '$true_hash' WHERE ledger = $last"
done

echo "transfers that are cut, slow and endless"
serve cut
agrees --archive "$url" --retry-ms-max 10
[ "$(grep -c 'bytes=' "$PG_DIR/served")" -gt 3 ] || fail "no transfer goes on behind a cut: $(head -3 "$PG_DIR/served")"
[ -z "$(grep whole "$PG_DIR/served" | sort | uniq -d)" ] || fail "a file whose rest came is read twice"
for kind in ${TIDE_LONG:+cut_whole cut_elsewhere} cut_lies; do # the rest does not fit: such a file is read once more
    serve $kind
    agrees --archive "$url" --retry-ms-max 10
    [ "$(grep -c 'bytes=' "$PG_DIR/served")" -gt 3 ] || fail "$kind: no transfer goes on behind a cut: $(head -3 "$PG_DIR/served")"
    [ -n "$(grep whole "$PG_DIR/served" | sort | uniq -d)" ] || fail "$kind: parts that do not fit are taken"
done
serve slow
ends 74 'bucket-' --archive "$url" --http-tries 1 --http-timeout-ms 6000
serve endless
"$bin" audit --archive "$url" --http-tries 1 >"$PG_DIR/said" 2>"$PG_DIR/err" &
endless=$!
worked() { [ "$(awk '{ print $14 }' "/proc/$endless/stat")" -gt 50 ]; } # half a second of CPU: some 100 MB
AWAIT_PID=$endless AWAIT_LOG=$PG_DIR/err await "100 MB of the endless bucket" worked
rss=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$endless/status")
kill -TERM $endless
wait $endless || fail "a stop is no failure: $(said)"
[ "$rss" -lt 131072 ] || fail "an endless bucket takes $rss KiB"

echo "what cannot be audited"
ends 67 'are indexed, not 999' "${archive[@]}" --checkpoint 999
ends 67 'ledger-' "${archive[@]}" --checkpoint 1598 # no checkpoint ends there
ends 78 'no history archive is set'
echo "ok audit"
