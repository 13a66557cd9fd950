#include "tidemark/project_sql.h"
#include "tidemark/bound.h"

#include <stdio.h>

enum { COLUMNS_MAX = 16 }; /* values of the row that has most: the feeder's cursor row */

/* Returns the length up to the next comma outside of parentheses. */
static size_t value_len(const char *at)
{
    size_t len = 0;
    for (int depth = 0; at[len] && (depth || at[len] != ','); len++)
        depth += (at[len] == '(') - (at[len] == ')');
    return len;
}

/* Writes each value of the column list as text, then NULLs up to COLUMNS_MAX, so that the rows of
 * all sources have the same columns. The first one is named "first". */
static void put_values(struct tide_buf *sql, const struct project_source *source)
{
    assert(source->count <= COLUMNS_MAX); /* a further column would be left out */
    const char *at = source->columns;
    for (uint32_t i = 0; i < COLUMNS_MAX; i++) {
        size_t len = i < source->count ? value_len(at) : 0;
        if (i < source->count)
            tide_buf_putf(sql, ", (%.*s)::text%s", (int)len, at, i ? "" : " AS first");
        else
            tide_buf_str(sql, ", NULL::text");
        at += len;
        at += *at == ',';
    }
}

static void put_head(struct tide_buf *sql, enum project_source_id source, bool versions)
{
    assert(source < PROJECT_SOURCE_COUNT);
    bool event = source == PROJECT_SWAP;
    tide_buf_putf(sql,
                  "SELECT %d AS source, %s AS removed, ledger,"
                  " chain.unix(closed_at) AS closed, contract, tx, %s AS seq",
                  (int)source, versions && !event ? "removed" : "false", event ? "event" : "seq");
    put_values(sql, &project_sources[source]);
}

void project_sql_since(struct tide_buf *sql, enum project_source_id source)
{
    put_head(sql, source, true);
    tide_buf_putf(sql, " FROM %s.%s WHERE deployment = $1 AND ledger > $2 AND ledger <= ",
                  source == PROJECT_SWAP ? "event" : "history", project_sources[source].name);
    tide_buf_str(sql, "least((SELECT ledger FROM chain.cursor WHERE deployment = $1), $3)");
}

void project_sql_whole(struct tide_buf *sql, enum project_source_id source, bool as_of)
{
    if (!as_of) {
        put_head(sql, source, false);
        tide_buf_putf(sql, " FROM state.%s WHERE deployment = $1", project_sources[source].name);
        return;
    }
    tide_buf_str(sql, "SELECT * FROM (");
    put_head(sql, source, true);
    tide_buf_putf(sql,
                  " FROM (SELECT DISTINCT ON (key_hash) * FROM history.%s WHERE deployment = $1"
                  " AND ledger <= $2 ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS h"
                  " WHERE NOT removed) AS u WHERE true",
                  project_sources[source].name);
}

/* Appends a query for the newest version up to $2 of each key that is present, or was removed
 * since. An entry that no ledger after $2 changed is read from the state: a probe of the history
 * takes ten times as long. of_state and of_removed are further conditions on the keys. */
static void put_probes(struct tide_buf *sql, enum project_source_id source, const char *of_state,
                       const char *of_removed)
{
    const char *name = project_sources[source].name;
    tide_buf_str(sql, "SELECT * FROM (");
    put_head(sql, source, false);
    tide_buf_putf(sql,
                  " FROM state.%s AS s WHERE s.deployment = $1 AND s.ledger <= $2%s UNION ALL ",
                  name, of_state);
    put_head(sql, source, true);
    tide_buf_putf(sql,
                  " FROM (SELECT h.* FROM (SELECT s.key_hash FROM state.%s AS s WHERE s.deployment"
                  " = $1 AND s.ledger > $2%s UNION SELECT r.key_hash FROM history.%s AS r WHERE"
                  " r.deployment = $1 AND r.removed AND r.ledger > $2%s) AS k, LATERAL (SELECT *"
                  " FROM history.%s AS v WHERE v.deployment = $1 AND v.key_hash = k.key_hash"
                  " AND v.ledger <= $2 ORDER BY v.ledger DESC, v.tx DESC, v.seq DESC LIMIT 1) AS h)"
                  " AS p WHERE NOT removed) AS u WHERE true",
                  name, of_state, name, of_removed, name);
}

void project_sql_probes(struct tide_buf *sql, enum project_source_id source)
{
    put_probes(sql, source, "", "");
}

void project_sql_range(struct tide_buf *sql, enum project_source_id source, const char *column)
{
    static const char range[] = " AND %s.%s > $3::text AND ($4::text IS NULL OR %s.%s <= $4)";
    char of_state[128], of_removed[128];
    snprintf(of_state, sizeof of_state, range, "s", column, "s", column);
    snprintf(of_removed, sizeof of_removed, range, "r", column, "r", column);
    assert(strlen(of_state) < sizeof of_state - 1);
    put_probes(sql, source, of_state, of_removed);
}

const char *project_sql_text(struct tide_buf *sql, struct tide_err *err)
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

tide_status project_sql_apply(struct tide_hot_sink *sink, const struct tide_pg_rows *rows,
                              uint32_t at, struct tide_err *err)
{
    uint64_t source = tide_pg_u64(rows, at, PROJECT_ROW_SOURCE);
    struct project_row row = { .sink = sink,
                               .rows = rows,
                               .at = at,
                               .first = PROJECT_ROW_VALUES,
                               .removed = tide_pg_bool(rows, at, PROJECT_ROW_REMOVED),
                               .ledger = (uint32_t)tide_pg_u64(rows, at, PROJECT_ROW_LEDGER),
                               .close_time = tide_pg_u64(rows, at, PROJECT_ROW_TIME),
                               .contract = tide_pg_slice(rows, at, PROJECT_ROW_CONTRACT) };
    assert(source < PROJECT_SOURCE_COUNT);
    return project_apply((enum project_source_id)source, &row, err);
}
