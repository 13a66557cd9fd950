#!/usr/bin/env bash
# Migrations are applied once and recorded. Altered and unknown ones are refused by name. A failed one changes
# nothing.
. "$(dirname "$0")/../_pg.sh"
pg_start_empty
indexer=$TIDE_BIN/tidemark-indexer

refused() { # WHAT PATTERN: migrate ends with 70 and says so
    local out code=0
    out=$("$indexer" migrate 2>&1) || code=$?
    [ "$code" -eq 70 ] || fail "$1: exit $code, wanted 70: $out"
    grep -q "$2" <<<"$out" || fail "$1: message lacks \"$2\": $out"
}

code=0; "$indexer" migrate --check 2>/dev/null || code=$?
[ "$code" -eq 70 ] || fail "check on an empty database: exit $code"
"$indexer" migrate >/dev/null
"$indexer" migrate --check >/dev/null
first=$(sql "SELECT string_agg(name || checksum || applied_at, ',' ORDER BY name) FROM chain.migration")
"$indexer" migrate >/dev/null
[ "$first" = "$(sql "SELECT string_agg(name || checksum || applied_at, ',' ORDER BY name) FROM chain.migration")" ] ||
    fail "a second migrate changed the record"

sql "UPDATE chain.migration SET checksum = 'x' || checksum WHERE name = '0001_chain'"
refused altered "migration 0001_chain differs from this build's; before 1.0"
sql "UPDATE chain.migration SET checksum = substr(checksum, 2) WHERE name = '0001_chain'"
sql "INSERT INTO chain.migration (name, checksum) VALUES ('9999_future', 'x')"
refused newer 'migration 9999_future, which this build does not know'
sql "DELETE FROM chain.migration WHERE name = '9999_future'"
"$indexer" migrate --check >/dev/null

# A database made by an older set of migrations: each command that needs the schema refuses it, says what to do, and
# does not change it.
"$PG_BIN/createdb" older
older_url=${TIDEMARK_DATABASE_URL/dbname=tidemark/dbname=older}
PGDATABASE=older sql "CREATE SCHEMA chain; CREATE TABLE chain.migration (name text PRIMARY KEY, checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp());
    INSERT INTO chain.migration (name, checksum) VALUES ('0001_chain', repeat('0', 64)), ('0002_tables', repeat('1', 64)), ('0010_analyst', repeat('2', 64))"
for command in migrate 'migrate --check' digest; do
    code=0; out=$(TIDEMARK_DATABASE_URL="$older_url" "$indexer" $command 2>&1) || code=$?
    [ "$code" -eq 70 ] || fail "older: $command: exit $code: $out"
    grep -q "another version made this database.*createdb NEW && tidemark-indexer run --database-url postgresql:///NEW" <<<"$out" || fail "older: $command: $out"
done
TIDEMARK_DATABASE_URL="$older_url" "$indexer" doctor --json >"$PG_DIR/out" 2>/dev/null || true
grep -q '"found": *"[^"]*createdb NEW && tidemark-indexer run --database-url postgresql:///NEW' "$PG_DIR/out" || fail "older: doctor: $(cat "$PG_DIR/out")"
PGDATABASE=older sql "DELETE FROM chain.migration WHERE name = '0001_chain'; UPDATE chain.migration SET name = '0001_core' WHERE name = '0002_tables'"
code=0; out=$(TIDEMARK_DATABASE_URL="$older_url" "$indexer" migrate 2>&1) || code=$?
[ "$code" -eq 70 ] && grep -q "this build has no migration 0001_core; before 1.0" <<<"$out" || fail "older: unknown: exit $code: $out"
[ "$(PGDATABASE=older sql "SELECT count(*) FROM pg_class WHERE relnamespace = 'chain'::regnamespace AND relkind = 'r'")" = 1 ] || fail "older: changed"

# An index whose rows an earlier decoder made, in the same tables, is one of another version too. `run` names the command.
"$indexer" tables --sql >"$PG_DIR/tables.sql"
grep -q '^-- Rows are those of decoder version [0-9]*[.]$' "$PG_DIR/tables.sql" || fail "0002_tables does not name its decoder"
own=$(sql "SELECT checksum FROM chain.migration WHERE name = '0002_tables'")
[ "$own" = "$(sha256sum <"$PG_DIR/tables.sql" | cut -d' ' -f1)" ] || fail "tables --sql is not 0002_tables"
before=$(sed 's/decoder version [0-9]*/decoder version 1/' "$PG_DIR/tables.sql" | sha256sum | cut -d' ' -f1)
sql "UPDATE chain.migration SET checksum = '$before' WHERE name = '0002_tables'"
refused decoder "its migration 0002_tables differs from this build's"
"$indexer" doctor >"$PG_DIR/out" 2>/dev/null || true
[ "$(grep -c 'createdb NEW && tidemark-indexer run' "$PG_DIR/out")" = 1 ] || fail "doctor does not name the command in one line: $(cat "$PG_DIR/out")"
sql "UPDATE chain.migration SET checksum = '$own' WHERE name = '0002_tables'"

# Two `migrate` at once: one waits for the other, and both succeed.
sql "DROP SCHEMA chain CASCADE; DROP SCHEMA event CASCADE; DROP SCHEMA state CASCADE; DROP SCHEMA history CASCADE; DROP SCHEMA asof CASCADE; DROP SCHEMA chain_rows, event_rows, history_rows CASCADE"
sql "DROP SCHEMA IF EXISTS analyst CASCADE; DROP SCHEMA IF EXISTS rollup CASCADE; DROP SCHEMA IF EXISTS kyc CASCADE"
"$indexer" migrate >/dev/null & one=$!
"$indexer" migrate >/dev/null & two=$!
wait $one || fail "first of two failed"
wait $two || fail "second of two failed"
"$indexer" migrate --check >/dev/null

# Two databases of one cluster at once: both runs change the same roles, and no lock separates them.
for name in one two three four; do "$PG_BIN/createdb" "$name"; done
jobs_of=()
for name in one two three four; do
    TIDEMARK_DATABASE_URL="${TIDEMARK_DATABASE_URL/dbname=tidemark/dbname=$name}" "$indexer" migrate >/dev/null 2>"$PG_DIR/migrate.$name" & jobs_of+=($!)
done
for pid in "${jobs_of[@]}"; do
    wait "$pid" || fail "migrate of several databases at once: $(cat "$PG_DIR"/migrate.*)"
done

# Time-outs in the role's settings do not interrupt a migration.
"$PG_BIN/createdb" hurried
sql "ALTER ROLE postgres SET statement_timeout = '300ms'; ALTER ROLE postgres SET lock_timeout = '10ms'"
TIDEMARK_DATABASE_URL="${TIDEMARK_DATABASE_URL/dbname=tidemark/dbname=hurried}" "$indexer" migrate >/dev/null || fail "hurried: $?"
sql "ALTER ROLE postgres RESET ALL"

# A migration that fails half-way changes nothing.
"$PG_BIN/createdb" half
PGDATABASE=half sql "CREATE SCHEMA history"
code=0; out=$(TIDEMARK_DATABASE_URL="${TIDEMARK_DATABASE_URL/dbname=tidemark/dbname=half}" "$indexer" migrate 2>&1) || code=$?
[ "$code" -eq 76 ] || fail "half: exit $code: $out"
grep -q 0001_chain <<<"$out" || fail "half: no name: $out"
[ "$(PGDATABASE=half sql "SELECT count(*) FROM pg_namespace WHERE nspname = 'event'")" = 0 ] || fail "half-applied"

# status reads an empty index, for people and for programs.
"$indexer" status >"$PG_DIR/status" || fail "status"
grep -q '^nothing in: .*coverage' "$PG_DIR/status" || fail "status says nothing of coverage: $(cat "$PG_DIR/status")"
[ "$(grep -A 5 '^database$' "$PG_DIR/status" | grep -cE '^  (database +tidemark|schema +[0-9a-z_]+|bytes +[0-9.]+ MiB)$')" = 3 ] || fail "status: $(cat "$PG_DIR/status")"

# --watch continues until a signal, also while the database is away.
"$indexer" status --watch 1 >"$PG_DIR/watched" 2>&1 &
watch=$!
seen() { for _ in $(seq 600); do [ "$(grep -c "$1" "$PG_DIR/watched")" -ge "$2" ] && return; sleep 0.1; done; fail "watch: $(tail -5 "$PG_DIR/watched")"; }
seen '^database$' 2
pg_stop
seen 'could not connect\|connection to server' 1
pg_again
seen '^database$' $(($(grep -c '^database$' "$PG_DIR/watched") + 1))
kill "$watch"
wait "$watch" || fail "watch: exit $?"
"$indexer" status --json | python3 -c '
import json, sys
s = json.load(sys.stdin)
assert s["coverage"] == [] and s["database"][0]["schema"] >= "0001", s' || fail "status --json"

# the size of the WAL: reported to logins that may read it, with the reason why it is kept
wal() { "$indexer" status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["wal"])'; }
wal | grep "'bytes': [0-9]*.*'warning': None" >/dev/null || fail "status: $(wal)"
sql "SELECT pg_create_physical_replication_slot('forgotten', true)" >/dev/null
for i in 1 2 3 4; do sql "CREATE TABLE public.t$i (); SELECT pg_switch_wal()" >/dev/null; done
pg_stop
pg_again -c max_wal_size=32MB
wal | grep "keeps it" >/dev/null || fail "status: $(wal)"
wal | grep "'held_for_replicas': [1-9]" >/dev/null || fail "status: $(wal)"
sql "CREATE ROLE plain LOGIN; GRANT pg_read_all_data TO plain"
TIDEMARK_DATABASE_URL="${TIDEMARK_DATABASE_URL/postgres/plain}" wal | grep 'grant pg_monitor' >/dev/null || fail "a plain role: $(wal)"
echo ok
