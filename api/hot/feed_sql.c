/* The feeder's statements. */
#include "api/hot/feed_impl.h"

static_assert(FEED_CURSOR_ROW < 0, "the cursor row sorts before the rows of all sources");

/* Writes the cursor row's statement. In the count of complete contract ranges, a range with
 * known_as counts 8193-fold: it may replace a range that was read before the contract's kind was
 * known, which a plain count would not show. The withdrawn keys are digested, not counted: a
 * restored backup may hold the same number of different keys. */
void feed_sql_cursor(struct tide_buf *sql)
{
    tide_buf_putf(
        sql,
        "SELECT %d AS source, false AS removed, 0 AS ledger, 0::bigint AS closed, '' AS contract,"
        " 0 AS tx, 0 AS seq, least(c.ledger, $3)::text, c.ledger::text AS newest,"
        " chain.unix_ms(l.closed_at)::text, encode(l.hash, 'hex'), c.moves::text,"
        " c.raw_states::text, (SELECT count(*) FROM chain.contract_seen AS n WHERE n.deployment ="
        " $1)::text, (SELECT min(v.from_ledger) FROM chain.coverage AS v WHERE v.deployment = $1"
        " AND c.ledger BETWEEN v.from_ledger AND v.to_ledger)::text, (SELECT encode(o.hash, 'hex')"
        " FROM chain.ledger AS o WHERE o.deployment = $1 AND o.ledger = $2), (SELECT count(*) + "
        "8192 *"
        " count(g.known_as) FROM chain.contract_coverage AS g WHERE g.deployment = $1 AND"
        " g.next_ledger > g.to_ledger)::text, (SELECT coalesce(('x' || left(md5(string_agg(k.kid,"
        " ',' ORDER BY k.kid)), 8))::bit(32)::bigint, 0) FROM chain.withdrawn_key AS k)::text,"
        " coalesce(chain.proven_through($1), 0)::text, (SELECT coalesce(max(f.ledger), 0) FROM"
        " chain.fork AS f WHERE f.deployment = $1)::text,"
        " " TIDE_AGE_COLUMNS
        " FROM chain.cursor AS c LEFT JOIN chain.ledger AS l ON l.deployment = $1"
        " AND l.ledger = least(c.ledger, $3) WHERE c.deployment = $1",
        FEED_CURSOR_ROW);
}

void feed_sql_news(struct tide_buf *sql)
{
    project_sql_begin(sql);
    feed_sql_cursor(sql);
    for (int source = 0; source < (int)PROJECT_SOURCE_COUNT; source++) {
        tide_buf_str(sql, " UNION ALL ");
        tide_buf_str(sql, project_forms[source].since);
    }
    tide_buf_str(sql, " ORDER BY ledger, source, tx, seq");
}
