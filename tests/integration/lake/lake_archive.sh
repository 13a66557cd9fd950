#!/usr/bin/env bash
# A query reads an archived range of ledgers from the lake, and the newest ledgers from the database. Then the same
# from plain files.
. "$(dirname "$0")/_lake.sh"
pg_start
export TIDEMARK_PARTITION_LEDGERS=1000
lake_chain --first-ledger 1856 --ledgers 384 --txs 8
ask() { lake query "$1" "${@:3}" -- "COPY ($2) TO '$PG_DIR/csv' (HEADER false, DELIMITER '|')" >/dev/null && cat "$PG_DIR/csv"; }
once="SELECT count(*), count(DISTINCT (ledger, tx_order, op_order, event_order)), sum(amount_in_raw) FROM analyst.swaps"

# The last 15 ledgers are not part of a closed range.
lake update b --range 25 --tables analyst.swaps --quiet
swaps=$(sql "$once")
[ "$(ask b "SELECT count(*) FROM analyst.swaps WHERE ledger < 2225")" -lt "${swaps%%|*}" ] || fail "no swaps behind the lake"
sql "CALL chain.detach_partition(1::smallint, 1000)"
[ "$(sql "SELECT count(*) FROM analyst.swaps")" -lt "${swaps%%|*}" ] || fail "nothing detached"
refused 0 "1 in the lake alone" lake check b --tables analyst.swaps
[ "$(ask b "$once" --newest --tables analyst.swaps)" = "$swaps" ] || fail "the union is $(cat "$PG_DIR/csv"), not $swaps"
refused 65 "ledgers 1000 to 1999 of deployment 1 are archived" lake update c --range 25 --tables analyst.swaps

lake update d --parquet --range 20 --from 2000 --tables analyst.swaps analyst.pools --quiet
[ -z "$(lake update d --parquet --tables analyst.swaps)" ] || fail "a second run wrote plain files"
[ "$(ask d "$once")" = "$(sql "$once")" ] || fail "plain files have $(cat "$PG_DIR/csv") swaps"
