#!/usr/bin/env bash
# Restores a database while people are checked at four providers: what was decided, told, attested and revoked after the
# backup is found again at the providers and at the chain. No receiver gets a fact under a second webhook-id, no person
# is attested or revoked twice or against the chain, no provider checks a person twice, and nothing of it is lost.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-attester" ] && [ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" PATH="$TIDE_BIN:$PATH"
pg_start
export PG_BIN PG_DIR
PGDATABASE=postgres "$PG_BIN/createdb" empty
timeout 300 python3 "$here/_restored.py" "$PG_DIR" || fail "see above: $(grep -hv ' info ' "$PG_DIR"/api.log | tail -5)"
