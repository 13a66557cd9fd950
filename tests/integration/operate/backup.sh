#!/usr/bin/env bash
# Follows "Backup and restore" of tools/packaging/README.md: takes a base backup and a dump while the indexer writes,
# loses the server, and restores each. The indexer continues by itself, the tables equal those of an uninterrupted
# run, and the hot cache, which is newer than the backup, is rebuilt.
# label: all
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] || { echo "no tidemark-sim"; exit 1; }
pg_start_empty -c wal_level=replica -c max_wal_senders=4
indexer=$TIDE_BIN/tidemark-indexer
feed=$TIDE_BIN/feed_driver
"$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/sim/lake" --first-ledger 1920 --ledgers 384 --quiet
last=$((1920 + 384 - 1))
export TIDEMARK_DEPLOYMENT=$PG_DIR/sim/deployment.json TIDEMARK_LAKE=$PG_DIR/sim/lake TIDEMARK_PARTITION_LEDGERS=1000

index() { "$indexer" run --stop-at-end "$@" 2>"$PG_DIR/run.log" || fail "run: $(tail -2 "$PG_DIR/run.log")"; }
digest() { "$indexer" digest | grep '^total'; }
cursor() { sql "SELECT coalesce(max(ledger), 0) FROM chain.cursor"; }
cached() { timeout 60 "$feed" step "$PG_DIR/cache" 2>"$PG_DIR/feed.log" || fail "feed: $(tail -2 "$PG_DIR/feed.log")"; }

# Backups are taken while ledgers are written. The lake grows by 64 ledgers at a time.
mapfile -t later < <(find "$PG_DIR/sim/lake" -name '*.xdr.zst' | sed 's/.*--\([0-9]*\)-.*/\1 &/' | sort -n | tail -n +2 | cut -d' ' -f2)
for object in "${later[@]}"; do mv "$object" "$object.later"; done
"$indexer" run --poll-ms 10 --batch-ledgers 1 2>"$PG_DIR/run.log" &
writer=$!
reaches() { for _ in $(seq 600); do [ "$(cursor 2>/dev/null || echo 0)" -lt $1 ] || return 0; sleep 0.1; done; fail "$1 is not reached: $(tail -1 "$PG_DIR/run.log")"; }
grow() { mv "${later[0]}.later" "${later[0]}"; later=("${later[@]:1}"); }
reaches 1983
grow
reaches 1990
chmod 711 "$PG_DIR"
backup=$PG_DIR/restored
mkdir "$backup"
[ "$(id -u)" != 0 ] || chown "$(cluster_user)" "$backup"
as_pg "$PG_BIN/pg_basebackup" -h "$PG_DIR" -U postgres -D "$backup/data" -c fast -N -X stream 2>"$PG_DIR/backup.log" ||
    fail "pg_basebackup: $(tail -1 "$PG_DIR/backup.log")"
grow
"$PG_BIN/pg_dump" -Fc -f "$PG_DIR/dump" tidemark
while [ ${#later[@]} -gt 0 ]; do grow; done
# A dump and the creation of partitions lock many tables. They must do so in the same order, or PostgreSQL ends one of
# them as a deadlock.
dumps=0
while [ "$(cursor)" -lt $last ]; do
    "$PG_BIN/pg_dump" -s -f "$PG_DIR/tables" tidemark || fail "a dump while ledgers are written"
    dumps=$((dumps + 1))
done
reaches $last
echo "ok $dumps dumps of the tables while ledgers were written"
kill -TERM $writer
wait $writer || fail "the writer: $(tail -2 "$PG_DIR/run.log")"
want=$(digest)
whole=$(cached)
[ "$(cursor)" = $last ] || fail "stands at $(cursor)"

goes_on() { # WHAT: on a database that was restored
    local at
    at=$(cursor)
    [ "$at" -ge 1990 ] && [ "$at" -lt $last ] || fail "$1 was taken at $at, not while ledgers were written"
    cached >/dev/null
    grep -q 'feed.rebuild why=.*ahead of the database' "$PG_DIR/feed.log" || fail "$1: the cache was not withdrawn"
    index
    [ "$(digest)" = "$want" ] || fail "$1: other tables"
    [ "$(cached)" = "$whole" ] || fail "$1: another cache"
    "$indexer" verify 2>"$PG_DIR/run.log" >"$PG_DIR/said" || fail "$1: verify: $(tail -2 "$PG_DIR/run.log")"
    echo "ok $1 of ledger $at: restored, goes on, same tables, same cache"
}

pg_stop immediate
rm -rf "$PG_DIR/data"
mv "$backup/data" "$PG_DIR/data"
pg_again
goes_on "base backup"

PGDATABASE=postgres sql "DROP DATABASE tidemark WITH (FORCE)"
PGDATABASE=postgres sql "CREATE DATABASE tidemark"
# Rows arrive table by table. No cache is built of some of them, and the one of before stays.
restores() { "$PG_BIN/pg_restore" --exit-on-error -d tidemark "$@" "$PG_DIR/dump"; }
not_whole() {
    ! timeout 60 "$feed" step "$PG_DIR/cache" >/dev/null 2>"$PG_DIR/feed.log" || fail "$1: a cache of a part of the rows"
    grep -q 'the database is not whole' "$PG_DIR/feed.log" || fail "$1: $(tail -2 "$PG_DIR/feed.log")"
    echo "ok $1: no cache is built"
}
restores --section=pre-data
restores --section=data -n chain -n chain_rows
not_whole "the rows of chain are restored"
restores --section=data -N chain -N chain_rows
not_whole "all rows are restored, but no key"
restores --section=post-data
goes_on "dump"

# On another server the roles must exist first, or the dump's grants are refused.
PGDATABASE=postgres sql "CREATE DATABASE other"
roles=$("$PG_BIN/pg_dumpall" --roles-only | grep -c 'CREATE ROLE tidemark_')
[ "$roles" -ge 3 ] || fail "pg_dumpall --roles-only names $roles of our roles"
