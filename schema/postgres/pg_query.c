#include "schema/postgres/pg_impl.h"
#include "tidemark/pg.h"
#include "tidemark/text.h"

struct state_remedy {
    const char *prefix; /* a whole SQLSTATE, or the start of one */
    enum tide_pg_remedy remedy;
};

/* The first matching line decides. A failure that matches none needs a person. */
/* clang-format off */
static const struct state_remedy remedies[] = {
    { "40",    TIDE_PG_AGAIN     }, /* serialization failure, deadlock                     */
    { "55P03", TIDE_PG_AGAIN     }, /* lock not available                                  */
    { "55006", TIDE_PG_AGAIN     }, /* object in use                                       */
    { "57014", TIDE_PG_AGAIN     }, /* cancelled, statement time-out                       */
    { "53300", TIDE_PG_RECONNECT }, /* too many connections                                */
    /* disk full, out of memory: a retry helps after an operator made room */
    { "53",    TIDE_PG_AGAIN     },
    { "54000", TIDE_PG_AGAIN     }, /* the queue of notifications is full                  */
    { "58030", TIDE_PG_AGAIN     }, /* I/O error                                           */
    { "08",    TIDE_PG_RECONNECT }, /* connection exceptions                               */
    { "57P",   TIDE_PG_RECONNECT }, /* shutdown, crash, starting up, idle session          */
    { "25P03", TIDE_PG_RECONNECT }, /* idle in transaction too long: the session is closed */
    { "25P02", TIDE_PG_AGAIN     }, /* transaction already failed                          */
    /* read-only: the server is a standby now; look for the primary */
    { "25006", TIDE_PG_RECONNECT },
};
/* clang-format on */

enum tide_pg_remedy tide_pg_remedy_of(const char *sqlstate)
{
    if (!sqlstate || !*sqlstate)
        return TIDE_PG_RECONNECT;
    for (size_t i = 0; i < TIDE_COUNT(remedies); i++)
        if (strncmp(sqlstate, remedies[i].prefix, strlen(remedies[i].prefix)) == 0)
            return remedies[i].remedy;
    return TIDE_PG_NONE;
}

struct tide_pg_rows pg_rows_of(PGresult *result)
{
    struct tide_pg_rows rows = { .result = result,
                                 .count = (uint32_t)PQntuples(result),
                                 .columns = (uint32_t)PQnfields(result) };
    const char *affected = PQcmdTuples(result);
    uint64_t n;
    if (tide_parse_u64(&n, tide_slice_str(affected), UINT64_MAX) == TIDE_OK)
        rows.affected = n;
    return rows;
}

static tide_status finish_statement(struct tide_pg *pg, struct tide_pg_rows *rows, int sent,
                                    const char *what, struct tide_err *err)
{
    PGresult *result = NULL;
    if (!sent)
        return pg_fail(pg, NULL, what, err);
    tide_status status = pg_collect(pg, &result, what, err);
    if (status == TIDE_OK && rows)
        *rows = pg_rows_of(result);
    else if (status == TIDE_OK)
        PQclear(result);
    return status;
}

tide_status tide_pg_query(struct tide_pg *pg, struct tide_pg_rows *rows, const char *sql,
                          const char *const *values, size_t count, struct tide_err *err)
{
    tide_status status;
    assert(count <= TIDE_PG_PARAMS_MAX);
    if (rows)
        *rows = (struct tide_pg_rows){ 0 };
    if (!pg_begin(pg, sql, &status, err))
        return status;
    int sent = PQsendQueryParams(pg->conn, sql, (int)count, NULL, values, NULL, NULL, 0);
    return finish_statement(pg, rows, sent, sql, err);
}

tide_status tide_pg_value(struct tide_pg *pg, const char *sql, const char *const *values,
                          size_t count, uint64_t *out, struct tide_err *err)
{
    struct tide_pg_rows rows;
    *out = 0;
    tide_status status = tide_pg_query(pg, &rows, sql, values, count, err);
    if (status == TIDE_OK && rows.count)
        *out = tide_pg_bool(&rows, 0, 0) ? 1 : tide_pg_u64(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    return status;
}

const char *tide_pg_number(char out[24], int64_t number)
{
    snprintf(out, 24, "%" PRId64, number);
    return out;
}

const char *tide_pg_hash(char out[2 * 32 + 3], const uint8_t bytes[32])
{
    tide_bytea_text(out, tide_slice_of(bytes, 32));
    return out;
}

tide_status tide_pg_script(struct tide_pg *pg, struct tide_pg_rows *rows, const char *sql,
                           struct tide_err *err)
{
    tide_status status;
    *rows = (struct tide_pg_rows){ 0 };
    if (!pg_begin(pg, sql, &status, err))
        return status;
    return finish_statement(pg, rows, PQsendQuery(pg->conn, sql), sql, err);
}

tide_status tide_pg_prepare(struct tide_pg *pg, const char *name, const char *sql,
                            struct tide_err *err)
{
    tide_status status;
    assert(name[0]); /* the unnamed statement is replaced by each query */
    if (!pg_begin(pg, name, &status, err))
        return status;
    return finish_statement(pg, NULL, PQsendPrepare(pg->conn, name, sql, 0, NULL), sql, err);
}

tide_status tide_pg_execute(struct tide_pg *pg, struct tide_pg_rows *rows, const char *name,
                            const char *const *values, size_t count, struct tide_err *err)
{
    tide_status status;
    assert(count <= TIDE_PG_PARAMS_MAX);
    if (rows)
        *rows = (struct tide_pg_rows){ 0 };
    if (!pg_begin(pg, name, &status, err))
        return status;
    int sent = PQsendQueryPrepared(pg->conn, name, (int)count, values, NULL, NULL, 0);
    return finish_statement(pg, rows, sent, name, err);
}

void tide_pg_rows_release(struct tide_pg_rows *rows)
{
    PQclear(rows->result);
    *rows = (struct tide_pg_rows){ 0 };
}

bool tide_pg_is_null(const struct tide_pg_rows *rows, uint32_t row, uint32_t column)
{
    assert(row < rows->count);
    assert(column < rows->columns);
    return PQgetisnull(rows->result, (int)row, (int)column) == 1;
}

tide_slice tide_pg_slice(const struct tide_pg_rows *rows, uint32_t row, uint32_t column)
{
    assert(row < rows->count);
    assert(column < rows->columns);
    return tide_slice_of(PQgetvalue(rows->result, (int)row, (int)column),
                         (size_t)PQgetlength(rows->result, (int)row, (int)column));
}

const char *tide_pg_text(const struct tide_pg_rows *rows, uint32_t row, uint32_t column)
{
    return (const char *)tide_pg_slice(rows, row, column).ptr;
}

uint64_t tide_pg_u64(const struct tide_pg_rows *rows, uint32_t row, uint32_t column)
{
    uint64_t n = 0;
    if (tide_parse_u64(&n, tide_pg_slice(rows, row, column), UINT64_MAX) != TIDE_OK)
        return 0;
    return n;
}

bool tide_pg_bool(const struct tide_pg_rows *rows, uint32_t row, uint32_t column)
{
    return tide_slice_eq_str(tide_pg_slice(rows, row, column), "t");
}

bool tide_pg_bytes(const struct tide_pg_rows *rows, uint32_t row, uint32_t column, uint8_t *out,
                   size_t len)
{
    tide_slice text = tide_pg_slice(rows, row, column);
    if (text.len != 2 + 2 * len || memcmp(text.ptr, "\\x", 2) != 0)
        return false;
    return tide_hex_decode(out, len, tide_slice_of(text.ptr + 2, text.len - 2)) == TIDE_OK;
}

const char *tide_pg_column(const struct tide_pg_rows *rows, uint32_t column)
{
    assert(column < rows->columns);
    return PQfname(rows->result, (int)column);
}

/* Passes a row to the sink. The end of the rows is TIDE_OK, any other result a failure. */
static tide_status stream_step(struct tide_pg *pg, const struct tide_pg_sink *sink,
                               PGresult *result, const char *sql, struct tide_err *err)
{
    ExecStatusType type = PQresultStatus(result);
    if (type == PGRES_TUPLES_OK || type == PGRES_COMMAND_OK)
        return TIDE_OK;
    if (type != PGRES_SINGLE_TUPLE)
        return pg_fail(pg, result, sql, err);
    struct tide_pg_rows row = { .result = result,
                                .count = 1,
                                .columns = (uint32_t)PQnfields(result) };
    return sink->row(sink->self, &row, err);
}

tide_status tide_pg_stream(struct tide_pg *pg, const struct tide_pg_sink *sink, const char *sql,
                           const char *const *values, size_t count, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    PGresult *result;
    assert(count <= TIDE_PG_PARAMS_MAX);
    if (!pg_begin(pg, sql, &status, err))
        return status;
    if (!PQsendQueryParams(pg->conn, sql, (int)count, NULL, values, NULL, NULL, 0) ||
        !PQsetSingleRowMode(pg->conn) || !pg_flush(pg))
        return pg_fail(pg, NULL, sql, err);
    bool any = false;
    while (status == TIDE_OK && (result = pg_next_result(pg)) != NULL) {
        any = true;
        status = stream_step(pg, sink, result, sql, err);
        PQclear(result);
    }
    if (status == TIDE_OK && (!any || !tide_pg_alive(pg)))
        return pg_fail(pg, NULL, sql, err);
    if (status != TIDE_OK && tide_pg_alive(pg)) {
        pg_cancel(pg);
        pg_drain(pg);
    }
    return status;
}

bool tide_pg_quote_literal(char *out, size_t size, const char *text)
{
    size_t len = 0;
    if (size < 3)
        return false;
    out[len++] = '\'';
    for (; *text; text++) {
        if (len + 4 > size)
            return false;
        if (*text == '\'')
            out[len++] = '\'';
        out[len++] = *text;
    }
    out[len++] = '\'';
    assert(len < size);
    out[len] = 0;
    return true;
}
