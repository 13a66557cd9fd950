#!/usr/bin/env bash
# Indexes one chain from a folder, from a web server, from a stream and from standard input, in objects and batches of
# several sizes: the digests of all tables are equal. (label: threads)
. "$(dirname "$0")/../_pg.sh"
[ -x "$TIDE_BIN/tidemark-indexer" ] && [ -x "$TIDE_BIN/tidemark-sim" ] || { echo "programs not built"; exit 1; }
command -v python3 >/dev/null || exit 1
pg_start
ledgers=128
[ -z "${TIDE_LONG:-}" ] || ledgers=192
sim() { "$TIDE_BIN/tidemark-sim" write --seed 3 --ledgers $ledgers --quiet "$@"; }

sim --lake "$PG_DIR/whole" --deployment "$PG_DIR/deployment.json"
sim --lake "$PG_DIR/single" --ledgers-per-object 1 --objects-per-partition 10
sim --lake "$PG_DIR/flat" --ledgers-per-object 8 --objects-per-partition 1
sim --stream "$PG_DIR/stream"
rm -f "$PG_DIR/flat/.config.json" # the layout must then be told, or found in the names

python3 - "$PG_DIR" >"$PG_DIR/port" 2>"$PG_DIR/http.log" <<'PY' &
import functools, http.server, sys
import os
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self): # what lies in once/ is given once, in place of what the path names; NAME.raw in place of the whole answer
        once = sys.argv[1] + "/once" + self.path
        if os.path.isfile(once + ".raw"):
            with open(once + ".raw", "rb") as file:
                self.wfile.write(file.read())
            os.remove(once + ".raw")
            self.close_connection = True
            return
        if os.path.isfile(once):
            os.rename(once, once + ".given")
            self.path = "/once" + self.path + ".given"
        super().do_GET()
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=sys.argv[1]))
print(server.server_address[1], flush=True)
server.serve_forever()
PY
AWAIT_PID=$! AWAIT_LOG=$PG_DIR/http.log await "the port of the lake's server" test -s "$PG_DIR/port"
url=http://127.0.0.1:$(cat "$PG_DIR/port")

number=0 first=''
same() { # WHAT CMD…: indexes into a new database, compares its digest with the first one
    local what=$1 digest
    shift
    number=$((number + 1))
    PGDATABASE=postgres "$PG_BIN/createdb" "d$number"
    export TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=d$number"
    "$@" >"$PG_DIR/out" 2>&1 || { tail -n 5 "$PG_DIR/out" >&2; fail "$what: exit $?"; }
    digest=$("$TIDE_BIN/tidemark-indexer" digest)
    [ "$(PGDATABASE=d$number sql 'SELECT count(*) FROM chain.ledger')" = $ledgers ] || fail "$what: not $ledgers ledgers"
    [ -n "$first" ] || first=$digest
    [ "$digest" = "$first" ] || fail "$what: other tables: $(diff <(echo "$first") <(echo "$digest") | sed -n 1,5p)"
    echo "ok $what"
}
run() { "$TIDE_BIN/tidemark-indexer" run --deployment "$PG_DIR/deployment.json" --stop-at-end "$@"; }

same 'a folder, 64 an object' run --lake "$PG_DIR/whole"
[ -z "${TIDE_LONG:-}" ] || same 'http, 64 an object' run --lake "$url/whole" # below with an odd answer before
same 'http, one an object, folders of ten' run --lake "$url/single/"
same 'http, no .config.json' run --lake "$url/flat" --lake-ledgers-per-batch 8 --lake-batches-per-partition 1
same 'a folder, no .config.json' run --lake "file://$PG_DIR/flat" --batch-ledgers 7
[ -z "${TIDE_LONG:-}" ] || same 'ledger by ledger' run --lake "$PG_DIR/single" --batch-ledgers 1 # same_rows does
# Once each: bytes that are no HTTP, a line of 300 KB, in place of both kinds of file (without TIDE_LONG of one kind each). The server is asked again.
object=$(cd "$PG_DIR/whole" && find . -name '*.zst' | sort | sed -n 2p)
for answer in 'SSH-2.0-OpenSSH_9.2\r\n' "HTTP/1.1 200 OK\r\nX: $(printf '%0300000d' 0)"; do
    names=(.config.json "${object#./}")
    [ -n "${TIDE_LONG:-}" ] || case $answer in SSH*) names=(.config.json) ;; *) names=("${object#./}") ;; esac
    for name in "${names[@]}"; do
        mkdir -p "$PG_DIR/once/whole/$(dirname "$name")"
        printf "$answer" >"$PG_DIR/once/whole/$name.raw"
        same "http, ${answer:0:20}… in place of $name" run --lake "$url/whole" --retry-ms-max 10
        [ ! -e "$PG_DIR/once/whole/$name.raw" ] || fail "$name was not asked for"
    done
done
[ -z "${TIDE_LONG:-}" ] || same 'a stream' run --stream "$PG_DIR/stream" # same_rows does
zstd_stream() { zstd -qc "$PG_DIR/stream" | run --stream -; }
if command -v zstd >/dev/null; then same 'zstd on standard input, a pipe' zstd_stream; fi
if [ -n "${TIDE_LONG:-}" ] || ! command -v zstd >/dev/null; then same 'standard input' run --stream - <"$PG_DIR/stream"; fi

# The wrong network (which stores nothing), a gap and damage are refused by name, with the exit codes of
# indexer/README.md.
refused() { # CODE PATTERN CMD…
    local want=$1 pattern=$2 code=0
    shift 2
    "$@" >"$PG_DIR/out" 2>&1 || code=$?
    [ "$code" = "$want" ] || fail "$*: exit $code, wanted $want: $(tail -n 3 "$PG_DIR/out")"
    grep -q "$pattern" "$PG_DIR/out" || fail "$*: message lacks \"$pattern\": $(tail -n 3 "$PG_DIR/out")"
    echo "ok refused: $pattern"
}
into() { # NAME: a new database
    PGDATABASE=postgres "$PG_BIN/createdb" "$1"
    export TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$1"
}
into bad
sed 's/Tidemark Simulated/Some Other/' "$PG_DIR/deployment.json" >"$PG_DIR/other.json"
refused 66 'the lake is of network' "$TIDE_BIN/tidemark-indexer" run --lake "$url/whole" --deployment "$PG_DIR/other.json" --stop-at-end
refused 78 'lake=/nowhere' run --lake /nowhere
hole=$(find "$PG_DIR/single" -name '*--1100.xdr.zst')
mv "$hole" "$PG_DIR/hole"
refused 67 'ledger 1100 is missing' run --lake "$PG_DIR/single"
head -c 200 "$PG_DIR/hole" >"$hole"
refused 65 'fetched again.*ledger 1100' run --lake "$url/single"
[ "$(PGDATABASE=bad sql 'SELECT ledger FROM chain.cursor')" = 1099 ] || fail "the cursor is not at the last good ledger"
mv "$PG_DIR/hole" "$hole"
run --lake "$url/single" >"$PG_DIR/out" 2>&1
[ "$("$TIDE_BIN/tidemark-indexer" digest)" = "$first" ] || fail "not healed"
echo "ok healed"

# An empty lake is reported: an index does not wait without a message.
mkdir "$PG_DIR/empty"
into empty
refused 67 'no ledger from [0-9]* on is there' run --lake "$PG_DIR/empty"

# An object that decompresses but has wrong contents is fetched again. If the second copy is right, the run continues
# as usual. If not, the message names the object, and the index stops before it.
command -v zstd >/dev/null || exit 0
spoil() { # FROM TO tail|cut|HASH: the first of these bytes become others
    mkdir -p "$(dirname "$2")"
    zstd -qdc "$1" | python3 -c '
import sys
b, how = bytearray(sys.stdin.buffer.read()), sys.argv[1]
if len(how) == 64: b[b.index(bytes.fromhex(how))] ^= 1
sys.stdout.buffer.write(b + b"abcd" if how == "tail" else b[:-100] if how == "cut" else b)' "$3" |
        zstd -qf --check -o "$2"
}
key=${hole#"$PG_DIR/"}
batch=$(cd "$PG_DIR" && find whole -name '*--1088-*.xdr.zst')
hash=$(PGDATABASE=bad sql "SELECT encode(hash, 'hex') FROM chain.ledger WHERE ledger = 1100")
cp "$hole" "$PG_DIR/hole"
stands() { # CODE HOW CMD…: where it was, with the object's name, the ledger's and what to do
    spoil "$PG_DIR/hole" "$hole" "$2"
    refused "$1" "also when fetched again: [^ ]*$key: .*ledger 1100: .*; [a-z]" "${@:3}"
    [ "$(PGDATABASE=spoilt sql 'SELECT ledger FROM chain.cursor')" = 1099 ] || fail "$2: the cursor is not at the last good ledger"
}
into spoilt
stands 65 tail run --lake "$url/single" --batch-ledgers 7
stands 65 cut run --lake "$PG_DIR/single"
stands 66 "$hash" run --lake "file://$PG_DIR/single"
mv "$PG_DIR/hole" "$hole"
spoil "$hole" "$PG_DIR/once/$key" "$hash"
run --lake "$url/single" >"$PG_DIR/out" 2>&1 || fail "spoilt once: $(tail -n 3 "$PG_DIR/out")"
grep -q "lake.damaged again=true.*$key.*ledger 1100" "$PG_DIR/out" || fail "spoilt once: not seen: $(cat "$PG_DIR/out")"
[ "$("$TIDE_BIN/tidemark-indexer" digest)" = "$first" ] || fail "spoilt once: other tables"
echo "ok spoilt once"

spoil "$PG_DIR/$batch" "$PG_DIR/once/$batch" "$hash"
same 'spoilt once, a ledger of 64' run --lake "$url/whole"
grep -q "lake.damaged again=true.*$batch.*ledger 1100" "$PG_DIR/out" || fail "a ledger of 64: not seen: $(cat "$PG_DIR/out")"
