#!/usr/bin/env bash
# Runs the commands of tools/lake/README.md, "From a clone to a chart", without changes, except for the installation.
# label: all
. "$(dirname "$0")/_lake.sh"
pg_start_empty # skips where PostgreSQL is not installed; removes the folder at the end
mkdir "$PG_DIR/clone"
ln -s "$TIDE_SOURCE_DIR/tools" "$PG_DIR/clone/tools"
cd "$PG_DIR/clone"
sed -n '/^## From a clone to a chart/,/^## Keep/{/^```sh/,/^```/p}' tools/lake/README.md | grep -v -e '^```' -e install-deps >commands
[ "$(wc -l <commands)" -ge 5 ] || fail "no commands in the README"
bash -e commands >out 2>&1 || fail "the commands: $(tail -5 out)"
grep -q USDC out || fail "no answer: $(cat out)"
grep -q "<svg" .state/swaps.svg && grep -q "USDC sold" .state/swaps.svg || fail "no chart"
