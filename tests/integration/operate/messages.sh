#!/usr/bin/env bash
# A server whose messages are German: what does not heal by itself ends the program with 76, as with English messages,
# and the rest is still waited for.
. "$(dirname "$0")/../_pg.sh"
# The texts are in the server's package. They are taken under a locale other than C: the test makes one in its own folder.
pg_start
pg_stop
as_pg mkdir "$PG_DIR/locale"
as_pg localedef -i de_DE -f UTF-8 "$PG_DIR/locale/de_DE.UTF-8" || fail "no locale de_DE; run tools/install-deps"
LOCPATH=$PG_DIR/locale pg_again -c lc_messages=de_DE.UTF-8
said=$(psql -Xd nothing -c 'SELECT 1' 2>&1) && fail "a database that is not there"
grep -q 'existiert nicht' <<<"$said" || fail "this server speaks no German: $said"

sql "CREATE ROLE stranger LOGIN; CREATE ROLE keyless LOGIN PASSWORD 'x'; REVOKE CONNECT ON DATABASE tidemark FROM PUBLIC"
{ echo 'local all keyless scram-sha-256'; echo 'local all outsider reject'; cat "$PG_DIR/data/pg_hba.conf"; } | as_pg tee "$PG_DIR/hba" >/dev/null
as_pg cp "$PG_DIR/hba" "$PG_DIR/data/pg_hba.conf"
sql "SELECT pg_reload_conf()" >/dev/null

ends() { # EXIT WHAT CONNINFO
    local code=0
    timeout 60 "$TIDE_BIN/tidemark-indexer" status --database-url "host=$PG_DIR port=5432 $3" >"$PG_DIR/out" 2>&1 || code=$?
    [ $code = "$1" ] || fail "$2: exit $code, not $1: $(tail -n 2 "$PG_DIR/out")"
}
ends 76 "no such database" "user=postgres dbname=nothing"
ends 76 "no such role" "user=nobody dbname=tidemark"
ends 76 "no right to connect" "user=stranger dbname=tidemark"
ends 76 "a wrong password" "user=keyless dbname=tidemark password=y"
ends 76 "no password" "user=keyless dbname=tidemark"
ends 76 "refused by pg_hba.conf" "user=outsider dbname=tidemark"
ends 76 "refused by the second of two servers" "host=$PG_DIR/none,$PG_DIR user=postgres dbname=nothing"
ends 75 "no server" "host=$PG_DIR/none user=postgres dbname=tidemark"

# Too many sessions pass.
sql "ALTER ROLE stranger CONNECTION LIMIT 0; GRANT CONNECT ON DATABASE tidemark TO stranger"
ends 75 "too many sessions" "user=stranger dbname=tidemark"
grep -q 'zu viele' "$PG_DIR/out" || fail "another failure: $(cat "$PG_DIR/out")"
