#!/usr/bin/env bash
# Tests `bench --peer DIR tip`: both builds are measured in each round, with programs, database and settings of their own. The
# peer here is this build without one setting of the API, as an older one would be.
# label: all
# needs: the release build
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../../tools/lib/cluster.sh"
cluster_bin >/dev/null || exit 1
dir=$(mktemp -d)
chmod 755 "$dir"
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }
export TMPDIR=$dir/tmp
mkdir -m 755 "$TMPDIR" "$dir/peer"
bench() { "$TIDE_SOURCE_DIR/tools/bench" --json --rounds 2 --seconds 3 --txs 4 --peer "$dir/peer" "$@" tip >"$dir/out" 2>"$dir/log"; }

cat >"$dir/peer/tidemark-indexer" <<E
#!/bin/sh
echo "indexer \$1" >>"$dir/started"
exec "$TIDE_BIN/tidemark-indexer" "\$@"
E
cat >"$dir/peer/tidemark-api" <<E
#!/bin/sh
case "\$*" in
--help*) "$TIDE_BIN/tidemark-api" "\$@" | sed 's/--api-connections-per-ip /--api-of-another-name /' && exit ;;
*--api-connections-per-ip*) echo "unknown option" >&2 && exit 64 ;;
esac
echo "api" >>"$dir/started"
exec "$TIDE_BIN/tidemark-api" "\$@"
E
chmod 755 "$dir/peer/tidemark-indexer"
! bench || fail "a folder without the API was measured"
grep -q "has no tidemark-api" "$dir/log" || fail "it does not say what is absent: $(cat "$dir/log")"

chmod 755 "$dir/peer/tidemark-api"
! bench --network || fail "a real network was measured twice"
grep -q "does not close the same ledgers twice" "$dir/log" || fail "it does not say why: $(cat "$dir/log")"

bench || fail "bench: $(cat "$dir/log")"
[ "$(sort "$dir/started" | uniq -c | awk '{ printf "%s %s %s;", $1, $2, $3 }')" = "2 api ;2 indexer migrate;4 indexer run;" ] || fail "the peer was started so: $(cat "$dir/started")"
python3 - "$dir/out" <<'E'
import json, re, sys
cpu, p50, p99 = json.load(open(sys.argv[1]))
assert cpu["name"] == "CPU of a call, PostgreSQL's included / another build, 4 calls", cpu
assert "p50" in p50["name"] and "p99" in p99["name"], (p50, p99)
for one in cpu, p50, p99:
    pairs = re.findall(r"([\d.]+)/([\d.]+)", one["detail"].split(";")[0])
    assert len(pairs) == 2 and all(float(a) > 0 and float(b) > 0 for a, b in pairs), one
    ratios = [float(ours) / float(theirs) for theirs, ours in pairs]
    assert abs(one["value"] - sum(ratios) / 2) < 0.05 * one["value"], (one, ratios)
E
[ -z "$(ls "$TMPDIR")" ] || fail "left behind: $(ls "$TMPDIR")"
