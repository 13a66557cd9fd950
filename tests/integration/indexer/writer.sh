#!/usr/bin/env bash
# The writer in one batch, ledger by ledger, with batches of random sizes, and from the last range to the first: the
# same tables. Then the batches that it refuses.
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_writer.sh"
pg_start

fresh
"$driver" write 1 2500 batch=100 partition=1000 2>/dev/null
want=$(digest)
check_state "one go"; check_partitions "one go"
[ "$(sql "SELECT count(*) FROM chain.partition")" = 3 ] || fail "partitions: $(sql "SELECT * FROM chain.partition")"

same() { [ "$(digest)" = "$want" ] || fail "$1: other tables: $(digest) not $want"; check_state "$1"; check_partitions "$1"; }

fresh; "$driver" write 1 2500 batch=1 partition=1000 tip 2>/dev/null;   same "ledger by ledger"
fresh; "$driver" write 1 2500 batch=37 partition=1000 tip 2>/dev/null;  same "batches of 37, indexed"
fresh; "$driver" write 1 2500 batch=37 partition=1000 tip arrays=0 2>/dev/null;  same "the same by COPY"
fresh; "$driver" write 1 2500 batch=37 partition=1000 tip arrays=2500 2>/dev/null;  same "the same by either"
fresh; "$driver" write 1 2500 batch=999 partition=1000 2>/dev/null;     same "batches of 999, loaded"
fresh; for to in 3 4 700 1001 1999 2000 2001 2500; do "$driver" write 1 $to batch=50 partition=1000 2>/dev/null; done; same "stopped and continued"
# earlier ranges written later do not overwrite newer rows and do not restore removed ones
fresh; "$driver" write 2200 2500 partition=1000 2>/dev/null
"$driver" write 1500 1700 batch=13 partition=1000 2>/dev/null
check_state "with a hole"
"$driver" write 1 2500 batch=11 partition=1000 2>/dev/null
[ "$(sql "SELECT from_ledger, to_ledger FROM chain.coverage")" = "1|2500" ] || fail "holes: $(sql "TABLE chain.coverage")"
same "backwards"

# a gap after the cursor and another chain are refused
fresh; "$driver" write 1 100 2>/dev/null
before=$(digest)
code=0; out=$("$driver" write 200 300 2>&1) || code=$?
[ "$code" = 68 ] && grep -q 'gap after 100' <<<"$out" || fail "gap: exit $code: $out"
sql "UPDATE chain.cursor SET hash = decode(repeat('ff', 32), 'hex'); UPDATE chain.coverage SET hash = decode(repeat('ff', 32), 'hex')"
code=0; out=$("$driver" write 101 110 2>&1) || code=$?
[ "$code" = 66 ] && grep -q 'ledger 101 does not follow' <<<"$out" || fail "break: exit $code: $out"
sql "UPDATE chain.cursor SET hash = decode(repeat('64', 32), 'hex'); UPDATE chain.coverage SET hash = decode(repeat('64', 32), 'hex')"
[ "$(digest)" = "$before" ] || fail "a refused batch changed something"
echo ok
