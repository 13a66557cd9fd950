#!/usr/bin/env bash
# Two primaries live at once: the standby is cut off and promoted while the old primary goes on. Each has an indexer that writes ledgers. Then the
# old primary is lost, and its indexer meets the other's database, at a moment when both wrote the same number of commits. It takes nothing for its
# own that the other wrote: no ledger is missing, and the tables equal those of an undisturbed index. The old primary becomes a standby by pg_rewind,
# and the servers change places. TIDE_ROUNDS says how often (2).
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
. "$(dirname "$0")/_servers.sh"
pg_start
keep_wal
mkdir "$PG_DIR/left" "$PG_DIR/right"
serve one --ledgers 40 --txs 4 --seed 8
export TIDEMARK_DEPLOYMENT=$PG_DIR/one/deployment.json
head=1063
close() { close_ledgers one "$1"; head=$((head + $1)); } # LEDGERS

indexers=()
aims() { ln -sfn "$2/.s.PGSQL.5432" "$PG_DIR/$1/.s.PGSQL.5432"; } # SIDE FOLDER: that indexer's address is this server's from now on
launch() { # SIDE
    TIDEMARK_DATABASE_URL="host=$PG_DIR/$1 port=5432 user=postgres dbname=tidemark" "$TIDE_BIN/tidemark-indexer" run --rpc "$one_url" --lake "$PG_DIR/one/lake" \
        --poll-ms 20 --retry-ms-max 200 --crash-limit 0 2>>"$PG_DIR/$1.log" &
    printf -v "$1" %s $!
}
lose() { # SIDE
    kill -KILL "${!1}"
    wait "${!1}" 2>/dev/null || true
}
at() { # FOLDER SQL
    PGHOST=$1 sql "$2"
}
is_at() { [ "$(at "$1" "SELECT ledger FROM chain.cursor" 2>/dev/null)" = "$2" ]; }
reaches() { within 30 is_at "$1" "$2" || fail "$1 is at $(at "$1" "SELECT ledger FROM chain.cursor"), not at $2: $(tail -n 3 "$PG_DIR"/{left,right}.log)"; }
moves() { at "$1" "SELECT moves FROM chain.cursor"; }
singly() { # FOLDER LEDGERS: each is a commit of its own
    local n
    for n in $(seq "$2"); do close 1; reaches "$1" $head; done
}
deaf() { [ "$(at "$1" "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)")" = t ]; }
whole() { # FOLDER WHEN: each ledger of the index has its row, and is covered
    [ "$(at "$1" "SELECT count(*) = c.ledger - 1024 + 1 AND min(l.ledger) = 1024 AND (SELECT from_ledger = 1024 AND to_ledger = c.ledger FROM chain.coverage)
        FROM chain.ledger AS l, chain.cursor AS c GROUP BY c.ledger")" = t ] ||
        fail "$2: ledgers are missing: $(at "$1" "SELECT string_agg(DISTINCT n::text, ' ') FROM chain.cursor, generate_series(1024, ledger) AS n WHERE NOT EXISTS (SELECT FROM chain.ledger AS l WHERE l.ledger = n)"), coverage $(at "$1" "SELECT string_agg(from_ledger || '..' || to_ledger, ' ') FROM chain.coverage")"
}
holder() { [ "$(at "$1" "SELECT split_part(instance, ':', 2) FROM chain.lease")" = "$2" ]; } # FOLDER PROCESS
stays_the_others() { # FOLDER: the lease is the holder's, and it is not renewed while the holder stands still
    local renewed
    renewed=$(at "$1" "SELECT renewed_at FROM chain.lease")
    [ -n "$renewed" ] || fail "no lease"
    grep -q 'db.retry' "$PG_DIR/left.log" || fail "the indexer of the lost primary does not try"
    [ "$(at "$1" "SELECT renewed_at FROM chain.lease")" = "$renewed" ]
}

# round OLD NEW HOW: the servers' folders, and what becomes of the winner when the loser meets its database:
#   equal    killed after as many commits as the loser made
#   settled  killed after one more, which the loser could take for its own last one
#   stopped  it stands still, and its lease runs out
#   alive    it goes on
round() {
    local old=$1 new=$2 how=$3 more
    on "$(name_of "$new")" "ALTER SYSTEM SET primary_conninfo = ''"
    on "$(name_of "$new")" "SELECT pg_reload_conf()" >/dev/null
    within 20 deaf "$new" || fail "the standby still receives"
    lose left # both draw what makes them the writer from the same row
    promote "$(name_of "$new")"
    aims right "$new"
    launch right
    within 30 holder "$new" "$right" || fail "no writer at the new primary: $(tail -n 3 "$PG_DIR/right.log")"
    singly "$new" 6
    kill -STOP "$right"
    launch left
    close 3
    reaches "$old" $head # in fewer commits than ledgers
    more=$(($(moves "$new") - $(moves "$old")))
    [ "$how" != settled ] || more=$((more - 1))
    [ "$more" -gt 0 ] || fail "the loser made more commits"
    singly "$old" "$more"
    [ $(($(moves "$new") - $(moves "$old"))) = "$([ "$how" = settled ] && echo 1 || echo 0)" ] || fail "commits: $(moves "$old"), $(moves "$new")"
    cluster_down "$old" immediate
    case $how in
    equal | settled) lose right ;;
    alive) kill -CONT "$right" ;;
    esac
    aims left "$new"
    close 4
    # The winner writes, or the loser after it has read where this database stands. A lease that its holder does not renew runs out.
    within 40 is_at "$new" $head || fail "$how: there is no commit: lease $(at "$new" "SELECT instance || ' ' || clock_timestamp() - renewed_at FROM chain.lease"), $(tail -n 3 "$PG_DIR/left.log")"
    whole "$new" "$how"
    [ "$how" != stopped ] || { kill -CONT "$right"; within 30 grep -q writer.again "$PG_DIR/right.log" || fail "the woken one goes on: $(tail -n 3 "$PG_DIR/right.log")"; }
    rejoin "$(name_of "$old")" "$(name_of "$new")"
    singly "$new" 1
    # The next round begins with one indexer at the new primary.
    case $how in
    alive) within 30 grep -q 'writer.standby' "$PG_DIR/left.log" || fail "two write"; lose left; kill -TERM "$right"; wait "$right" || fail "exit $?"; aims left "$new"; launch left ;;
    stopped) lose right ;;
    esac
    : >"$PG_DIR/right.log"
    singly "$new" 1
    whole "$new" "$how, afterwards"
}
name_of() { [ "$1" = "$PG_DIR" ] && echo . || basename "$1"; }

standby second
aims left "$PG_DIR"
launch left
reaches "$PG_DIR" $head
old=$PG_DIR new=$PG_DIR/second
ways=(equal stopped settled alive)
for n in $(seq "${TIDE_ROUNDS:-2}"); do
    began=$(now)
    caught_up "$(name_of "$new")"
    round "$old" "$new" "${ways[(n - 1) % 4]}"
    echo "ok round $n: ${ways[(n - 1) % 4]}, $(since "$began") s"
    next=$old old=$new new=$next
done
indexers=("$left")
same_as_undisturbed
