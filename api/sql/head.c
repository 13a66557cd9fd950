/* The head statement. */
#include "api/sql/head.h"
#include "api/sql/age.h"

static_assert(TIDE_SQL_HEAD_SIGN == 11, "head_sql has eleven columns before the age");

/* Reads the newest ledger and its close time; the close time of ?ledger=N (NULL if it is not
 * indexed) and the indexed ranges; the archived ledgers within the requested time, as text;
 * whether the requested token's history is still being read; the ledger up to
 * which signatures prove the index, the ledger of a fork; the first ledger of what is known of the
 * past, and the first second behind the state before; how often partitions moved; and the age. */
static const char head_sql[] =
    "SELECT c.ledger, chain.unix_ms(c.closed_at),"
    " (SELECT chain.unix_ms(l.closed_at) FROM chain.ledger AS l"
    "   WHERE l.deployment = $1::smallint AND l.ledger = $2::integer),"
    " (SELECT string_agg(v.from_ledger || ' to ' || v.to_ledger, ', ' ORDER BY v.from_ledger)"
    "   FROM (SELECT from_ledger, to_ledger FROM chain.coverage"
    "     WHERE deployment = $1 AND $2 IS NOT NULL ORDER BY from_ledger LIMIT 12) AS v),"
    " (SELECT min(a.from_ledger) || ' to ' || max(a.end_ledger) - 1 FROM chain.archive AS a"
    "   WHERE a.deployment = $1 AND ($2 IS NULL OR a.from_ledger <= $2)"
    "   AND ($4::text IS NULL OR a.end_ledger - 1 >"
    "     chain.ledger_before($1, to_timestamp($4::numeric)))"
    "   AND ($5::text IS NULL OR a.from_ledger <="
    "     chain.ledger_before($1, to_timestamp($5::numeric)))),"
    " EXISTS (SELECT FROM chain.contract_coverage AS g WHERE g.deployment = $1 AND g.contract ="
    "   $3::text AND g.next_ledger <= g.to_ledger), CASE WHEN $2 IS NULL OR EXISTS (SELECT FROM"
    "   chain.coverage AS r WHERE r.deployment = $1 AND $2 BETWEEN r.from_ledger AND r.to_ledger"
    "   AND c.ledger BETWEEN r.from_ledger AND r.to_ledger) THEN chain.proven_through($1) END,"
    " (SELECT f.ledger FROM chain.fork AS f WHERE f.deployment = $1), o.ledger + 1,"
    " chain.unix(o.closed_at) + 1, c.parts, " TIDE_AGE_COLUMNS
    " FROM chain.cursor AS c LEFT JOIN chain.start AS o ON o.deployment = c.deployment"
    " WHERE c.deployment = $1 AND c.ledger > 0";

static const char parts_sql[] =
    "SELECT c.parts FROM chain.cursor AS c WHERE c.deployment = $1::smallint";

tide_status tide_sql_head_prepare(struct tide_pg *pg, struct tide_err *err)
{
    tide_status status = tide_pg_prepare(pg, TIDE_SQL_HEAD, head_sql, err);
    return status == TIDE_OK ? tide_pg_prepare(pg, TIDE_SQL_PARTS, parts_sql, err) : status;
}
