#!/usr/bin/env bash
# Compares the sizes and the remaining time that `status` prints with figures from other sources, for a role that may
# read the server's folder and for one that may not.
# label: all
. "$(dirname "$0")/../_pg.sh"
pg_start
bin=$TIDE_BIN/tidemark-indexer
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
"$bin" migrate >/dev/null 2>&1
"$bin" status --json | python3 -c '
import json, sys
disk = json.load(sys.stdin)["disk"][0]
assert disk["bytes_per_day"] is None and disk["days_until_full"] is None and disk["free_bytes"] > 0, disk' || fail "an empty database"
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/lake" --deployment "$PG_DIR/deployment.json" --first-ledger 1856 --ledgers 384 --quiet
TIDEMARK_PARTITION_LEDGERS=1000 "$bin" run --lake "$PG_DIR/lake" --deployment "$PG_DIR/deployment.json" --stop-at-end 2>"$PG_DIR/run.log" ||
    fail "run: $(tail -2 "$PG_DIR/run.log")"
"$bin" status --json >"$PG_DIR/status.json" || fail "status"
leaves=$(sql "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relname ~ '_p1_(1000|2000)\$'")
rollups=$(sql "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'rollup'::regnamespace")
sql "SELECT extract(epoch FROM closed_at)::bigint FROM chain.ledger ORDER BY ledger" >"$PG_DIR/closes"
free=$(df -B1 --output=avail "$PG_DIR/data" | tail -n 1)
python3 - "$PG_DIR/status.json" "$leaves" "$rollups" "$PG_DIR/closes" "$free" "$(sql "SELECT pg_database_size(current_database())")" <<'PY' || fail "status is wrong"
import json, sys
status = json.load(open(sys.argv[1]))
closes = [int(line) for line in open(sys.argv[4])]
leaves, rollups, free, database = map(float, sys.argv[2:4] + sys.argv[5:])
gaps = sorted(b - a for a, b in zip(closes, closes[1:]))
usual = [g for g in gaps if g <= 10 * gaps[(len(gaps) - 1) // 2]]
a_day = 86400 * len(usual) / sum(usual)
disk = status["disk"][0]
near = lambda a, b, part: abs(float(a) - b) <= part * b
assert near(disk["bytes_per_ledger"], (leaves + rollups) / 384, 0.001), (disk, leaves, rollups)
assert near(disk["ledgers_per_day"], a_day, 0.01), (disk, a_day)
assert near(disk["bytes_per_day"], (leaves + rollups) / 384 * a_day, 0.01), disk
assert near(disk["free_bytes"], free, 0.2), (disk, free)
assert near(disk["days_until_full"], disk["free_bytes"] / disk["bytes_per_day"], 0.01), disk
schemas = {s["schema"]: s["bytes"] for s in status["schemas"]}
assert {"chain", "chain_rows", "event_rows", "state", "history_rows", "rollup"} <= set(schemas), schemas
assert schemas["rollup"] == rollups and 0.4 * database < sum(schemas.values()) <= database, (schemas, database)
print(f"{disk['bytes_per_day'] >> 20} MiB a day (simulated), {disk['days_until_full']} days")
PY
# A pause of the network, or between two runs of a simulated one, does not change the forecast.
forecast() { "$bin" status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["disk"][0]["ledgers_per_day"])'; }
before=$(forecast)
sql "UPDATE chain.ledger SET closed_at = closed_at - interval '40 days' WHERE ledger < 2000; UPDATE chain.ledger SET closed_at = closed_at - interval '3 hours' WHERE ledger < 1900"
after=$(forecast)
python3 -c "b, a = $before, $after; assert abs(a - b) < 0.02 * b, (b, a)" || fail "pauses distort the forecast: $before, then $after ledgers a day"
"$bin" status | grep -E "^  days until full +[0-9]" >/dev/null || fail "status for people: $("$bin" status | grep -A1 ^disk)"
sql "CREATE ROLE plain LOGIN; GRANT USAGE ON SCHEMA chain, event, state, history, rollup TO plain; GRANT SELECT ON ALL TABLES IN SCHEMA chain, event, state, history, rollup TO plain"
TIDEMARK_DATABASE_URL="host=$PG_DIR user=plain dbname=tidemark" "$bin" status >"$PG_DIR/out" || fail "status as a plain role"
grep -qE "^  note +free space unknown: grant pg_monitor" "$PG_DIR/out" || fail "not said to be unknown: $(grep -A1 ^disk "$PG_DIR/out")"
