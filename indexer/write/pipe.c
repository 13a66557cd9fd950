/* The statements of one batch that need no COPY, sent without waiting between them: at the tip that
 * is all of them but COMMIT, one round trip. Rows go as one array a table (row_array.h). */
#include "indexer/write/writer_impl.h"

/* The expected answers, by their place in the pipeline. */
enum { ANSWERS_MAX = 2 * TIDE_TABLES_MAX + TIDE_ROLLUPS_MAX + 4 };
#define ANY_ROWS UINT64_MAX

struct answers {
    struct tide_writer *w;
    uint64_t rows[ANSWERS_MAX];
    uint32_t count, fence, cover; /* cover is the last */
    uint64_t grown;
};

static void expect_rows(struct answers *a, uint64_t rows)
{
    assert(a->count < ANSWERS_MAX);
    a->rows[a->count++] = rows;
}

static tide_status on_answer(void *self, uint32_t index, const struct tide_pg_rows *rows,
                             struct tide_err *err)
{
    struct answers *a = self;
    assert(index < a->count);
    if (index == a->fence && rows->count != 1)
        return writer_fenced(a->w, err);
    if (index == a->cover)
        return writer_covered(a->w, rows, &a->grown, err);
    if (a->rows[index] != ANY_ROWS && a->rows[index] != rows->affected)
        return tide_fail(err, TIDE_E_DB_FATAL,
                         "database: statement %u of the commit: %" PRIu64 " rows of %" PRIu64,
                         index, rows->affected, a->rows[index]);
    return TIDE_OK;
}

static tide_status send_fence(struct tide_writer *w, struct answers *a, struct tide_err *err)
{
    tide_status status = tide_pg_pipe_run(w->pg, "BEGIN", err);
    if (status != TIDE_OK)
        return status;
    expect_rows(a, ANY_ROWS);
    a->fence = a->count;
    expect_rows(a, 1);
    writer_sql(w, "%s", "");
    writer_sql_fence(w);
    return writer_sql_sealed(w, err) == TIDE_OK
               ? tide_pg_pipe_run(w->pg, (const char *)w->sql.ptr, err)
               : err->code;
}

tide_status writer_send_rows(struct tide_writer *w, enum writer_statement what, uint32_t table,
                             const struct tide_rows *rows, struct tide_err *err)
{
    char name[WRITER_NAME_MAX];
    bool stored = what == WRITER_PUT || what == WRITER_ADD;
    tide_slice tuples = tide_buf_view(&rows->copy);
    if (stored && writer_keyed(w, table, rows, &tuples, err) != TIDE_OK)
        return err->code;
    tide_buf_reset(&w->array);
    if (!tide_row_array(&w->array, writer_shape(w, table, stored), tuples, rows->count))
        return tide_fail(err, TIDE_E_LIMIT, "writer: rows of %s do not fit a statement",
                         w->options.tables[table].name);
    writer_statement_name(name, what, table);
    return tide_pg_pipe_bytes(w->pg, name, tide_buf_view(&w->array), err);
}

static tide_status send_puts(struct tide_writer *w, const struct tide_batch *batch,
                             struct answers *a, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < w->options.table_count && status == TIDE_OK; i++) {
        const struct tide_rows *rows = &batch->rows[i];
        if (w->options.tables[i].kind == TIDE_TABLE_STATE || !rows->count)
            continue;
        status = writer_send_rows(w, WRITER_PUT, i, rows, err);
        expect_rows(a, rows->count);
        if (status == TIDE_OK)
            status = writer_point(TIDE_FAILPOINT("commit.copied"), err);
    }
    return status;
}

static tide_status send_merges(struct tide_writer *w, const struct tide_batch *batch, bool behind,
                               struct answers *a, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < w->options.table_count && status == TIDE_OK; i++) {
        const struct tide_rows *rows = &batch->rows[i];
        if (w->options.tables[i].kind != TIDE_TABLE_STATE || !rows->count)
            continue;
        status = writer_send_rows(w, behind ? WRITER_MERGE_BEHIND : WRITER_MERGE, i, rows, err);
        expect_rows(a, ANY_ROWS);
    }
    return status;
}

static tide_status send_rollups(struct tide_writer *w, const struct tide_batch *batch,
                                struct answers *a, struct tide_err *err)
{
    uint32_t statements = 0;
    tide_status status = writer_rollup_send(w, batch, &statements, err);
    while (statements-- > 0)
        expect_rows(a, ANY_ROWS);
    return status == TIDE_OK ? writer_point(TIDE_FAILPOINT("commit.rolled"), err) : status;
}

static tide_status send_all(struct tide_writer *w, const struct writer_sending *s,
                            struct answers *a, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    if (!s->begun) {
        status = send_fence(w, a, err);
        if (status == TIDE_OK)
            status = writer_point(TIDE_FAILPOINT("commit.fenced"), err);
    }
    if (status == TIDE_OK && !s->copied)
        status = send_puts(w, s->batch, a, err);
    if (status == TIDE_OK)
        status = send_merges(w, s->batch, !s->cover->moves_cursor, a, err);
    if (status == TIDE_OK)
        status = writer_point(TIDE_FAILPOINT("commit.merged"), err);
    if (status == TIDE_OK)
        status = send_rollups(w, s->batch, a, err);
    if (status == TIDE_OK)
        status = writer_cover_send(w, s->cover, err);
    a->cover = a->count;
    expect_rows(a, ANY_ROWS);
    return status;
}

tide_status writer_send(struct tide_writer *w, const struct writer_sending *sending,
                        struct tide_err *err)
{
    struct answers answers = { .w = w, .fence = UINT32_MAX, .cover = UINT32_MAX };
    const struct tide_pg_answers sink = { on_answer, &answers };
    struct tide_err ignored;
    tide_status status = tide_pg_pipe(w->pg, err);
    if (status != TIDE_OK)
        return status;
    status = send_all(w, sending, &answers, err);
    tide_status ended = tide_pg_pipe_end(w->pg, &sink, status == TIDE_OK ? err : &ignored);
    if (status == TIDE_OK)
        status = ended;
    return status == TIDE_OK ? writer_cover_settle(w, sending->cover, answers.grown, err) : status;
}
