#!/usr/bin/env bash
# L5: truncates the cache's file under a running API, and before a start. A reader of a damaged map gets SIGBUS, or
# LMDB finds pages of zeros where a commit made the file longer again. So the process may die, but it never gives a
# wrong answer. At the next start a child process finds the damage; the API moves the file aside, builds a new one and
# answers as before.
# label: all, label: sanitize
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-api" ] || { echo "no tidemark-api"; exit 1; }
command -v python3 >/dev/null && command -v curl >/dev/null || { echo "no python3 or no curl"; exit 1; }
pg_start
api_index 128
who=$(sql "SELECT address FROM state.compliance_registry_compliance_rec ORDER BY address LIMIT 40")
standing() { # what an address is told, without what time changes
    curl -fs -m 60 "$API_URL/api/sdk/kyc/status/$1" | sed -E 's/"(evaluatedAt|pollAfterMs)":[^,}]*,?//g'
}
everybody() { for a in $who; do standing "$a" || return 1; done; }
current() { readlink "$PG_DIR/cache/current"; }
cut_file() { truncate -s "$1" "$PG_DIR/cache/$(current)/data.mdb"; }
again() { # WHAT: the API on what is there
    api_start --api-rate-lookup 0
    [ "$(everybody)" = "$truth" ] || fail "$1: other answers than before"
}
api_start --api-rate-lookup 0
truth=$(everybody)
[ "$(wc -c <<<"$truth")" -gt 10000 ] || fail "hardly anybody: this test proves little"
for size in 40960 8192 0; do
    first=$(current)
    cut_file $size
    told=0 same=0
    for a in $who; do
        got=$(standing "$a" || true)
        [ -n "$got" ] || continue
        told=$((told + 1))
        grep -qF "$got" <<<"$truth" && same=$((same + 1)) || fail "$size: told what is not so: $got"
    done
    if kill -0 "$API_PID" 2>/dev/null; then
        how="it lived on"
        api_stop || true
    else
        how="it died"
        wait "$API_PID" || how="it died of $?"
        grep -Eq 'SIGBUS: the file of the cache|ERROR cache.damaged ' "$PG_DIR/api.log" || fail "$size: it died without a word: $how"
    fi
    again "truncated to $size under it"
    [ "$(current)" != "$first" ] || fail "$size: the same file goes on"
    ls "$PG_DIR/cache" | grep '^damaged-' >/dev/null || fail "$size: not moved aside"
    echo "ok L5 truncated to $size bytes under a running API: $how after $told answers, $same of them true; the next one rebuilt"
done
api_stop || fail "the API ended with $?"
cut_file 12288
again "truncated before the start"
api_stop || fail "the API ended with $?"
echo "ok L5 truncated before the start: found in a child, rebuilt, the same answers"
