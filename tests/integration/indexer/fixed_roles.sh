#!/usr/bin/env bash
# The roles of an index's contracts are fixed. If a deployment file gives a contract another role or name, or a name
# another contract, every program that reads the file refuses it with both values and exit code 68 (the attester: 78).
# With the right file again, rows and digests equal those of an undisturbed index.
. "$(dirname "$0")/../_pg.sh"
indexer=$TIDE_BIN/tidemark-indexer
pg_start
for part in 48 96; do
    "$TIDE_BIN/tidemark-sim" write --lake "$PG_DIR/lake$part" --deployment "$PG_DIR/right.json" --ledgers $part --seed 3 --quiet
done
python3 - "$PG_DIR" <<'END'
import json, sys
folder = sys.argv[1]
right = json.load(open(folder + "/right.json"))
tokens = sorted(name for name in right["contracts"] if name.startswith("token_"))


def write(name, change):
    file = json.loads(json.dumps(right))
    change(file["contracts"])
    json.dump(file, open(f"{folder}/{name}.json", "w"))


def swap(a, b):
    def change(contracts):
        contracts[a], contracts[b] = contracts[b], contracts[a]
    return change


def rename(old, new):
    return lambda contracts: contracts.update({new: contracts.pop(old)})


write("wrong_oracle", swap("oracle", "dao_governance"))
write("wrong_pool", swap("liquidity_pool", "synthetic_engine"))
write("wrong_symbol", swap(tokens[0], tokens[1]))
write("wrong_usdc", swap("usdc", "xlm"))
write("wrong_kind", rename(tokens[0], "asset_" + tokens[0][6:]))
write("wrong_name", rename(tokens[0], "token_other"))
write("wrong_token", swap(tokens[0], "xlm"))
END
cd "$PG_DIR"
with() { # DATABASE FILE COMMAND…
    local db=$1 file=$2
    shift 2
    PGDATABASE=$db TIDEMARK_DATABASE_URL="host=$PG_DIR port=5432 user=postgres dbname=$db" TIDEMARK_DEPLOYMENT=$PG_DIR/$file.json "$@"
}
index() { # DATABASE FILE LAKE
    with "$1" "$2" "$indexer" run --lake "$PG_DIR/$3" --stop-at-end 2>"$PG_DIR/run.log"
}
rows() { with "$1" right "$indexer" digest 2>/dev/null; }
for db in never seen; do
    PGDATABASE=postgres "$PG_BIN/createdb" $db
    index $db right lake48 || fail "$db: $(tail -2 run.log)"
done
before=$(rows seen)
refused() { # FILE COMMAND…: exit 68, both values in what it says, nothing is written
    local file=$1 code=0
    shift
    with seen "$file" timeout 60 "$@" >out 2>&1 || code=$?
    [ $code = 68 ] || fail "$file: $*: exit $code: $(tail -2 out)"
    grep -q 'deployment: [A-Za-z_0-9]* is [A-Za-z_0-9]* in the file, and [A-Za-z_0-9]* in the index' out || fail "$file: $*: $(tail -2 out)"
}
for wrong in wrong_oracle wrong_pool wrong_symbol wrong_usdc wrong_kind wrong_name wrong_token; do
    refused $wrong "$indexer" run --lake "$PG_DIR/lake96" --stop-at-end
    refused $wrong "$indexer" verify
    code=0
    with seen $wrong "$indexer" doctor >out 2>&1 || code=$?
    [ $code = 1 ] && grep -q '^failed *contracts .*in the file, and' out || fail "$wrong: doctor: $code $(cat out)"
done
both=$(python3 -c 'import json; c = json.load(open("right.json"))["contracts"]; print(c["oracle"], "in the file, and", c["dao_governance"])')
for command in "backfill --from 3 --to 5 --lake $PG_DIR/lake96" reproject digest; do
    # shellcheck disable=SC2086
    refused wrong_oracle "$indexer" $command
    grep -qF "$both" out || fail "$command does not name both: $(tail -2 out)"
done
refused wrong_oracle "$TIDE_BIN/tidemark-api" --api-listen 127.0.0.1:0 --api-cache "$PG_DIR/cache"
grep -qF "$both" out || fail "the API does not name both: $(tail -2 out)"
(umask 077 && "$TIDE_BIN/tidemark-sim" keys --name attester1 | awk '{print $3}' >attester.key)
code=0
TIDEMARK_ATTESTER_INTENT_KEY=$(printf '%064d' 7) with seen wrong_oracle timeout 60 "$TIDE_BIN/tidemark-attester" \
    --attester-key attester.key --rpc http://127.0.0.1:1 >out 2>&1 || code=$?
[ $code = 78 ] && grep -qF "$both" out || fail "the attester: exit $code: $(tail -2 out)"
[ "$(rows seen)" = "$before" ] || fail "a refused file changed rows"
echo "7 wrong files are refused"

index seen right lake96 || fail "the right file: $(tail -2 run.log)"
index never right lake96 || fail "the control: $(tail -2 run.log)"
with seen right "$indexer" verify --lake "$PG_DIR/lake96" >out 2>&1 || fail "verify: $(tail -2 out)"
[ "$(rows seen)" = "$(rows never)" ] || fail "digests differ"
echo "with the right file again: verified, and the rows of an index that never saw another"

# An index without rows accepts another file, and a file may add contracts.
PGDATABASE=postgres "$PG_BIN/createdb" empty
mkdir none
index empty wrong_oracle none && fail "a lake without ledgers: $(tail -2 run.log)"
index empty right lake48 || fail "after a file that left no rows: $(tail -2 run.log)"
python3 - <<'END'
import json
file = json.load(open("right.json"))
file["contracts"]["wallet_more"] = "CAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABSC4"
json.dump(file, open("more.json", "w"))
END
index empty more lake96 || fail "a file with one more contract: $(tail -2 run.log)"
