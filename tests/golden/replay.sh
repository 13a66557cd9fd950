#!/usr/bin/env bash
# Replays the recorded calls of the real contracts on the simulator's model: every outcome, answer, event, entry and
# read function of both chains must be equal.
# label: sanitize
set -euo pipefail
for shared in "${TIDE_SHARED:-}" "$TIDE_SOURCE_DIR/../shared" "$TIDE_SOURCE_DIR/../../shared"; do
  chains=$shared/fixtures/protocol
  [ -n "$shared" ] && [ -d "$chains" ] && break
  chains=
done
[ -n "$chains" ] || { echo "skipped: no shared/fixtures/protocol"; exit 77; }

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unpack() { # CHAIN: its recordings, as files that the model reads
  local file
  for file in calls events views state-mid state; do zstd -dcq "$chains/$1/$file.jsonl.zst" >"$tmp/$file.jsonl"; done
}
replay() { # CHAIN
  python3 "$TIDE_SOURCE_DIR/tests/golden/_replay.py" "$chains/$1/deployment.json" "$tmp"/{calls,events,views,state-mid,state}.jsonl
}

want_a="calls   1500 of 1500 equal (1127 accepted, 373 refused; 373 of 373 reasons word for word)"
want_b="calls   2820 of 2820 equal (1973 accepted, 847 refused; 847 of 847 reasons word for word)"
failed=0
for chain in a b; do
  unpack $chain
  out=$(replay $chain) || failed=1
  echo "chain $chain"
  tail -n 40 <<<"$out"
  want=want_$chain
  grep -qF "${!want}" <<<"$out" || failed=1
done

# The comparison can fail: it finds one altered amount in one call.
unpack a
sed -i '3s/"30000000000000"/"30000000000001"/' "$tmp/calls.jsonl"
if replay a >"$tmp/out"; then
  echo "an altered call went unnoticed"
  failed=1
fi
exit "$failed"
