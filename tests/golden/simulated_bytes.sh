#!/usr/bin/env bash
# Equal options give equal bytes: written at once, appended to, as a lake or as a stream. Wrong options are refused
# with a message and their exit code.
# label: sanitize
set -euo pipefail
export ASAN_OPTIONS=detect_leaks=0 # a command that fails leaves the rest to exit
sim=$TIDE_BIN/tidemark-sim
command -v zstd >/dev/null || { echo "no zstd"; exit 1; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/tide.XXXXXX")
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }

options=(--seed 9 --txs 5 --life 80 --ledgers-per-object 16 --objects-per-partition 4 --quiet)
"$sim" write --lake "$dir/once/lake" --ledgers 256 "${options[@]}"
"$sim" write --lake "$dir/parts/lake" --ledgers 64 "${options[@]}"
"$sim" write --lake "$dir/parts/lake" --ledgers 130 --append "${options[@]}"
"$sim" write --lake "$dir/parts/lake" --ledgers 256 --append "${options[@]}"
diff -r "$dir/once" "$dir/parts" || fail "a lake that was appended to differs"
[ "$(find "$dir/once/lake" -name '*.zst' | wc -l)" = 16 ] || fail "not 16 objects"
[ "$(find "$dir/once/lake" -mindepth 1 -type d | wc -l)" = 4 ] || fail "not 4 partitions"

# The records of a stream are the ledgers of the lake's objects.
"$sim" write --stream - --ledgers 256 "${options[@]}" >"$dir/stream"
find "$dir/once/lake" -name '*.zst' | sort -r | while read -r object; do zstd -dqc "$object" | tail -c +13; done >"$dir/ledgers"
python3 - "$dir/stream" "$dir/ledgers" <<'END' || fail "stream and lake differ"
import struct, sys
data, whole, at, records = open(sys.argv[1], "rb").read(), b"", 0, 0
while at < len(data):
    (head,) = struct.unpack_from(">I", data, at)
    if not head >> 31:
        sys.exit("a record without its last-fragment bit")
    size = head & 0x7FFFFFFF
    whole += data[at + 4:at + 4 + size]
    at, records = at + 4 + size, records + 1
sys.exit(0 if records == 256 and whole == open(sys.argv[2], "rb").read() else f"{records} records")
END

"$sim" write --lake "$dir/other/lake" --ledgers 256 "${options[@]}" --seed 10
! diff -rq "$dir/once/lake" "$dir/other/lake" >/dev/null || fail "another seed, the same bytes"

refused() { # CODE MESSAGE OPTIONS…
    local want=$1 message=$2 code=0
    shift 2
    "$sim" write "$@" 2>"$dir/err" || code=$?
    [ "$code" = "$want" ] || fail "write $*: exit code $code, not $want"
    grep -qF -- "$message" "$dir/err" || { cat "$dir/err" >&2; fail "write $*: no word of '$message'"; }
}
refused 64 "--lake or --stream is needed" --ledgers 4
refused 64 "unknown option --leger" --lake "$dir/x/lake" --leger 4
refused 64 "--lcm=3: expected 1..2" --lake "$dir/x/lake" --lcm 3
refused 64 "--ledgers needs a value" --lake "$dir/x/lake" --ledgers
refused 68 "is of another chain" --lake "$dir/parts/lake" --append --ledgers 300 "${options[@]}" --seed 10
# The simulator does not overwrite objects of a lake.
"$sim" write --lake "$dir/parts/lake" --ledgers 64 "${options[@]}"
refused 68 "is of another chain" --lake "$dir/parts/lake" --ledgers 64 "${options[@]}" --txs 6
refused 68 ".config.json is of another chain" --lake "$dir/parts/lake" --ledgers 64 "${options[@]}" --ledgers-per-object 8
refused 74 "cannot make folder" --lake /dev/null/lake
"$sim" write --help | grep -- --strict-auth >/dev/null || fail "no help"

# With --follow the simulator closes ledgers until a signal, and exits with 0.
"$sim" write --lake "$dir/follow/lake" --ledgers 8 --txs 2 --follow 20 --ledgers-per-object 1 &
pid=$!
for _ in $(seq 1200); do
    kill -0 "$pid" 2>/dev/null || break
    [ "$(find "$dir/follow/lake" -name '*.zst' 2>/dev/null | wc -l)" -gt 12 ] && break
    sleep 0.05
done
kill -TERM "$pid"
wait "$pid" || fail "exit code $? when asked to stop"
[ "$(find "$dir/follow/lake" -name '*.zst' | wc -l)" -gt 12 ] || fail "it does not follow"
echo "same bytes"
