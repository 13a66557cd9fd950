#!/usr/bin/env bash
# Kills two nodes with one cache folder in turn (-9) while clients ask both. The surviving node refuses no request and
# feeds the cache from then on. A restarted node continues from the cache's ledger. TIDE_LONG=1: thirty times.
# label: all
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
. "$(dirname "$0")/_servers.sh"
times=6
[ -z "${TIDE_LONG:-}" ] || times=30
pg_start
export PG_DIR PG_BIN NODE_CACHE=shared
chain
node one "$PG_DIR"
node two "$PG_DIR"
pick_people
clients one two
shown() { [ "$(curl -s "$(url "$1" /api/prices)" | sed -n 's/^{"ledger":"\([0-9]*\)".*/\1/p')" -ge "$2" ]; }
victim=one alive=two longest=0
for _ in $(seq $times); do
    pid=${victim}_pid
    lost=$(now)
    mark $victim.down
    kill -KILL "${!pid}"
    wait "${!pid}" 2>/dev/null || true
    at=$(ledger)
    within 30 shown $alive $((at + 1)) || fail "$alive does not feed the cache: $(tail -n 3 "$PG_DIR/$alive.log")"
    longest=$(printf '%s\n' "$longest" "$(since "$lost")" | sort -g | tail -n 1)
    node $victim "$PG_DIR"
    mark $victim.up
    next=$victim victim=$alive alive=$next
done
mark lost
mark writes
clients_end
[ "$(grep -c 'feed.rebuild' "$PG_DIR/one.log" "$PG_DIR/two.log" | awk -F: '{ n += $2 } END { print n }')" = 1 ] || fail "the cache was built again: $(grep feed.rebuild "$PG_DIR"/*.log)"
echo "ok two nodes on one cache folder, killed $times times in turn: the other shows a newer ledger after $longest s at most; the cache was built once"
judge cut
