#include "api/hot/feed_impl.h"
#include "api/sql/bound.h"

/* Each value of the list as text in a column of its own, then NULLs up to PROJECT_COLUMNS_MAX, so
 * that the rows of all sources are alike. */
static void put_values(struct tide_buf *sql, const struct project_source *source)
{
    const char *at = source->columns;
    for (uint32_t i = 0; i < PROJECT_COLUMNS_MAX; i++) {
        size_t len = i < source->count ? strcspn(at, ",") : 0;
        if (i < source->count)
            tide_buf_putf(sql, ", (%.*s)::text", (int)len, at);
        else
            tide_buf_str(sql, ", NULL::text");
        at += len;
        at += *at == ',';
    }
}

static void put_head(struct tide_buf *sql, enum project_source_id source, bool versions)
{
    bool event = source == PROJECT_SWAP;
    tide_buf_putf(sql,
                  "SELECT %d AS source, %s AS removed, ledger,"
                  " extract(epoch FROM closed_at)::bigint AS closed, contract, tx, %s AS seq",
                  (int)source, versions && !event ? "removed" : "false", event ? "event" : "seq");
    put_values(sql, &project_sources[source]);
}

void feed_sql_since(struct tide_buf *sql, enum project_source_id source)
{
    put_head(sql, source, true);
    tide_buf_putf(sql, " FROM %s.%s WHERE deployment = $1 AND ledger > $2 AND ledger <= ",
                  source == PROJECT_SWAP ? "event" : "history", project_sources[source].name);
    tide_buf_str(sql, "least((SELECT ledger FROM chain.cursor WHERE deployment = $1), $3)");
}

void feed_sql_whole(struct tide_buf *sql, enum project_source_id source, bool as_of)
{
    put_head(sql, source, as_of);
    if (!as_of) {
        tide_buf_putf(sql, " FROM state.%s WHERE deployment = $1", project_sources[source].name);
        return;
    }
    tide_buf_putf(sql,
                  " FROM (SELECT DISTINCT ON (key_hash) * FROM history.%s WHERE deployment = $1"
                  " AND ledger <= $2 ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS h"
                  " WHERE NOT removed",
                  project_sources[source].name);
}

void feed_sql_in_scope(struct tide_buf *sql, enum project_source_id source)
{
    const char *name = project_sources[source].name;
    put_head(sql, source, true);
    tide_buf_putf(sql,
                  " FROM (SELECT h.* FROM (SELECT s.key_hash FROM state.%s AS s WHERE s.deployment"
                  " = $1 UNION SELECT r.key_hash FROM history.%s AS r WHERE r.deployment = $1 AND"
                  " r.removed AND r.ledger > $2) AS k, LATERAL (SELECT * FROM history.%s AS v"
                  " WHERE v.deployment = $1 AND v.key_hash = k.key_hash"
                  " AND v.ledger <= $2 ORDER BY v.ledger DESC, v.tx DESC, v.seq DESC LIMIT 1) AS h)"
                  " AS p WHERE NOT removed",
                  name, name, name);
}

/* A range that was read before its contract showed what it is gives way to one that is read for its
 * rows: of pasts, the latter weigh more than there are of the former. */
void feed_sql_cursor(struct tide_buf *sql)
{
    tide_buf_putf(
        sql,
        "SELECT %d AS source, false AS removed, 0 AS ledger, 0::bigint AS closed, '' AS contract,"
        " 0 AS tx, 0 AS seq, least(c.ledger, $3)::text, c.ledger::text AS newest,"
        " extract(epoch FROM l.closed_at)::bigint::text, encode(l.hash, 'hex'), c.moves::text,"
        " c.raw_states::text, (SELECT count(*) FROM chain.contract_seen AS n WHERE n.deployment ="
        " $1)::text, (SELECT min(v.from_ledger) FROM chain.coverage AS v WHERE v.deployment = $1"
        " AND c.ledger BETWEEN v.from_ledger AND v.to_ledger)::text, (SELECT encode(o.hash, 'hex')"
        " FROM chain.ledger AS o WHERE o.deployment = $1 AND o.ledger = $2), (SELECT d.scope"
        " FROM chain.deployment AS d WHERE d.id = $1), (SELECT count(*) + 8192 *"
        " count(g.known_as) FROM chain.contract_coverage AS g WHERE g.deployment = $1 AND"
        " g.next_ledger > g.to_ledger)::text, " TIDE_AGE_COLUMNS
        " FROM chain.cursor AS c LEFT JOIN chain.ledger AS l ON l.deployment = $1"
        " AND l.ledger = least(c.ledger, $3) WHERE c.deployment = $1",
        FEED_CURSOR_ROW);
}

void feed_sql_news(struct tide_buf *sql)
{
    feed_sql_cursor(sql);
    for (int source = 0; source < (int)PROJECT_SOURCE_COUNT; source++) {
        tide_buf_str(sql, " UNION ALL ");
        feed_sql_since(sql, (enum project_source_id)source);
    }
    tide_buf_str(sql, " ORDER BY ledger, source, tx, seq");
}

const char *feed_sql_text(struct tide_buf *sql, struct tide_err *err)
{
    struct tide_buf bound;
    tide_buf_u8(sql, 0);
    tide_buf_init(&bound, sql->max);
    if (!sql->failed)
        tide_bound_write(&bound, (const char *)sql->ptr);
    bound.failed |= sql->failed;
    tide_buf_release(sql);
    *sql = bound;
    if (sql->failed) {
        tide_fail(err, TIDE_E_MEMORY, "feed: statement");
        return NULL;
    }
    return (const char *)sql->ptr;
}
