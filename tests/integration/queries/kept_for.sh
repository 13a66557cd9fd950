#!/usr/bin/env bash
# Tests chain.kept_later over chain.kept_for: whether an event, or a call, is kept for tokens alone that are followed
# from a later ledger on. Then its plan: lists as of a ledger call it for each event that they read. PostgreSQL does not
# inline it, so plans.sh sees no scan of its table.
. "$(dirname "$0")/../_pg.sh"
pg_start

# Followed since 100, 150 and 200: named and shown, whichever came last.
sql "INSERT INTO chain.contract_seen (deployment, contract, ledger, tx, what, role, name)
    SELECT 1, contract, ledger, 1, what, 'synth_token', contract FROM (VALUES ('early', 100, 'discovered'), ('early', 90, 'token'),
        ('late', 150, 'discovered'), ('late', 160, 'discovered'), ('late', 120, 'token'),
        ('shown', 110, 'discovered'), ('shown', 200, 'token'), ('ignored', 100, 'ignored')) AS v (contract, ledger, what)"
# tx 1: one token. 2: any one suffices. 3: the deployment file's contracts suffice. 4: the call and all events.
# 5: the call alone. 6: the call and all events for one token, an event for another. 7: a token that is not followed.
sql "INSERT INTO chain.kept_for (deployment, ledger, tx, event, contract)
    VALUES (1, 80, 1, 0, 'late'), (1, 80, 2, 0, 'late'), (1, 80, 2, 0, 'shown'), (1, 80, 3, 0, 'late'), (1, 80, 3, 0, ''),
        (1, 80, 4, -2, 'late'), (1, 80, 5, -1, 'late'), (1, 80, 6, -2, 'shown'), (1, 80, 6, 1, 'early'), (1, 80, 7, 0, 'ignored')"
later() { # DEPLOYMENT: tx, event, then each ledger as of which the row is left out
    sql "SELECT tx, event, string_agg(at::text, ' ' ORDER BY at) FILTER (WHERE chain.kept_later($1::smallint, 80, tx, event, at))
        FROM generate_series(1, 8) AS tx, generate_series(-1, 1) AS event, (VALUES (80), (99), (100), (149), (150), (199), (200)) AS a (at)
        GROUP BY tx, event ORDER BY tx, event" | grep -v '|$' || true
}
diff - <(later 1) >&2 <<'END' || fail "other rows are kept for tokens that are followed later"
1|0|80 99 100 149
2|0|80 99 100 149
4|-1|80 99 100 149
4|0|80 99 100 149
4|1|80 99 100 149
5|-1|80 99 100 149
6|-1|80 99 100 149 150 199
6|0|80 99 100 149 150 199
6|1|80 99
END
[ -z "$(later 2)" ] || fail "rows of another deployment count: $(later 2)"

sql "INSERT INTO chain.contract_seen (deployment, contract, ledger, tx, what, role, name)
        SELECT 1, 'token' || n, 1000 + n, 1, w, 'synth_token', 'token' FROM generate_series(1, 4000) AS n, (VALUES ('discovered'), ('token')) AS v (w);
    INSERT INTO chain.kept_for (deployment, ledger, tx, event, contract)
        SELECT 1, 1000 + n / 40, 1 + n / 8 % 5, n % 8 - 2, 'token' || 1 + n % 4000 FROM generate_series(0, 199999) AS n"
sql "VACUUM ANALYZE chain.kept_for, chain.contract_seen"
# The statements within functions, with the rows that each scan read.
plans() {
    sql "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on; SET auto_explain.log_analyze = on;
        SET auto_explain.log_timing = off; SET client_min_messages = log;
        SELECT count(*), count(*) FILTER (WHERE chain.kept_later(1::smallint, ledger, 1 + ledger % 5, event, 3000))
            FROM generate_series(1000, 5999, 97) AS ledger, generate_series(-1, 5) AS event" 2>&1
}
plans >"$PG_DIR/plans"
scans=$(grep -c 'Scan using kept_for_pkey on kept_for' "$PG_DIR/plans") || fail "no index of chain.kept_for is used: $(grep -m 3 'kept_for' "$PG_DIR/plans")"
IFS='|' read -r questions later < <(sed -n '$p' "$PG_DIR/plans")
[ "$scans" = "$questions" ] || fail "$scans index scans of chain.kept_for for $questions questions"
! grep -E 'Seq Scan on (kept_for|contract_seen)' "$PG_DIR/plans" >&2 || fail "a table is scanned"
# Of a transaction, 8 rows, PostgreSQL may read all and filter by event.
most=$(grep -oE '((kept_for k|contract_seen s) .*actual rows=|Rows Removed by Filter: )[0-9]+' "$PG_DIR/plans" | grep -oE '[0-9]+$' | sort -n | tail -1)
[ "$most" -le 8 ] || fail "a scan reads $most rows"
[ "$later" -gt 0 ] && [ "$later" -lt "$questions" ] || fail "$later of $questions rows are kept for later tokens"
echo "ok $questions questions among $(sql "SELECT count(*) FROM chain.kept_for") rows, at most $most rows given or filtered by each scan"
