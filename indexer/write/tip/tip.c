/* Writes one batch in one transaction, visible at once. The statements that need no COPY are sent
 * without waiting between them: at the tip these are all but COMMIT, in one round trip. Rows go as
 * one array for each table (row_array.h). */
#include "indexer/write/tip/tip.h"
#include "indexer/write/rows/cover.h"
#include "indexer/write/rows/keys.h"
#include "indexer/write/rows/statements.h"
#include "indexer/write/session/main_session.h"

/* A batch that is being sent. */
struct write_sending {
    struct write_main *main;
    struct write_statements *statements; /* statements of main's session */
    const struct tide_batch *batch;
    const struct write_cover *cover;
    bool begun;  /* the transaction is open, because the batch is copied or has new words */
    bool copied; /* all rows except state were sent by COPY */
};

/* The expected answers, by their index in the pipeline. */
enum { ANSWERS_MAX = 2 * TIDE_TABLES_MAX + TIDE_ROLLUPS_MAX + 4 };
#define ANY_ROWS UINT64_MAX

struct answers {
    const struct write_plan *plan;
    uint64_t rows[ANSWERS_MAX];
    uint32_t count, fence, cover; /* indexes of the answers; cover is the last */
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
        return write_fenced(a->plan, err);
    if (index == a->cover)
        return write_covered(a->plan, rows, &a->grown, err);
    if (a->rows[index] != ANY_ROWS && a->rows[index] != rows->affected)
        return tide_fail(err, TIDE_E_DB_FATAL,
                         "database: statement %u of the commit: %" PRIu64 " rows of %" PRIu64,
                         index, rows->affected, a->rows[index]);
    return TIDE_OK;
}

static tide_status send_fence(const struct write_sending *g, struct answers *a,
                              struct tide_err *err)
{
    struct write_session *s = &g->main->session;
    assert(!g->begun && a->count == 0);
    tide_status status = tide_pg_pipe_run(write_pg(s), "BEGIN", err);
    if (status != TIDE_OK)
        return status;
    expect_rows(a, ANY_ROWS);
    a->fence = a->count;
    expect_rows(a, 1);
    write_sql(s, "%s", "");
    write_sql_fence(s, &g->main->cursor);
    return write_sql_sealed(s, err) == TIDE_OK
               ? tide_pg_pipe_run(write_pg(s), (const char *)s->sql.ptr, err)
               : err->code;
}

static tide_status send_puts(const struct write_sending *g, struct answers *a, struct tide_err *err)
{
    struct write_session *s = &g->main->session;
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < s->plan->table_count && status == TIDE_OK; i++) {
        uint64_t count = 0;
        if (s->plan->tables[i].kind == TIDE_TABLE_STATE ||
            !write_keys_count(g->statements->keys, g->batch, i))
            continue;
        status = write_send_rows(g->statements, WRITE_PUT, i, g->batch, &count, err);
        expect_rows(a, count);
        if (status == TIDE_OK)
            status = write_point(TIDE_FAILPOINT("commit.copied"), err);
    }
    return status;
}

static tide_status send_merges(const struct write_sending *g, struct answers *a,
                               struct tide_err *err)
{
    struct write_session *s = &g->main->session;
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < s->plan->table_count && status == TIDE_OK; i++) {
        if (s->plan->tables[i].kind != TIDE_TABLE_STATE || !g->batch->rows[i].count)
            continue;
        uint64_t count;
        status = write_send_rows(g->statements,
                                 g->cover->moves_cursor ? WRITE_MERGE : WRITE_MERGE_BEHIND, i,
                                 g->batch, &count, err);
        expect_rows(a, ANY_ROWS);
    }
    return status;
}

static tide_status send_rollups(const struct write_sending *g, struct answers *a,
                                struct tide_err *err)
{
    uint32_t statements = 0;
    tide_status status =
        write_rollup_send(&g->main->session, g->statements->rollups, g->batch, &statements, err);
    while (statements-- > 0)
        expect_rows(a, ANY_ROWS);
    return status == TIDE_OK ? write_point(TIDE_FAILPOINT("commit.rolled"), err) : status;
}

static tide_status send_all(const struct write_sending *g, struct answers *a, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    if (!g->begun) {
        status = send_fence(g, a, err);
        if (status == TIDE_OK)
            status = write_point(TIDE_FAILPOINT("commit.fenced"), err);
    }
    if (status == TIDE_OK && !g->copied)
        status = send_puts(g, a, err);
    if (status == TIDE_OK)
        status = send_merges(g, a, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("commit.merged"), err);
    if (status == TIDE_OK)
        status = send_rollups(g, a, err);
    if (status == TIDE_OK)
        status = write_cover_send(&g->main->session, g->cover, err);
    a->cover = a->count;
    expect_rows(a, ANY_ROWS);
    assert(a->cover + 1 == a->count && (a->fence < a->cover || a->fence == UINT32_MAX));
    return status;
}

/* Sends all statements and reads the answers, in one round trip. The transaction is open
 * afterwards. */
static tide_status write_pipe_send(const struct write_sending *g, struct tide_err *err)
{
    struct write_session *s = &g->main->session;
    struct answers answers = { .plan = s->plan, .fence = UINT32_MAX, .cover = UINT32_MAX };
    const struct tide_pg_answers sink = { on_answer, &answers };
    struct tide_err ignored;
    tide_status status = tide_pg_pipe(write_pg(s), err);
    assert(g->begun || !g->copied); /* COPY ran in the open transaction */
    if (status != TIDE_OK)
        return status;
    status = send_all(g, &answers, err);
    tide_status ended = tide_pg_pipe_end(write_pg(s), &sink, status == TIDE_OK ? err : &ignored);
    if (status == TIDE_OK)
        status = ended;
    return status == TIDE_OK ? write_cover_settle(s, g->cover, answers.grown, err) : status;
}

/* Prepares the statements that write_pipe_send needs, outside of a transaction. */
static tide_status write_pipe_prepare(const struct write_sending *g, struct tide_err *err)
{
    struct write_session *s = &g->main->session;
    const struct tide_batch *batch = g->batch;
    bool onward = g->cover->moves_cursor;
    struct write_statements *st = g->statements;
    tide_status status =
        write_statements_begin(st, write_plan_partition(s->plan, batch->from), err);
    for (uint32_t i = 0; i < s->plan->table_count && status == TIDE_OK; i++) {
        bool is_state = s->plan->tables[i].kind == TIDE_TABLE_STATE;
        if (batch->rows[i].count && is_state)
            status =
                write_statements_prepare(st, onward ? WRITE_MERGE : WRITE_MERGE_BEHIND, i, err);
        else if (!is_state && !g->copied && write_keys_count(st->keys, batch, i))
            status = write_statements_prepare(st, WRITE_PUT, i, err);
    }
    if (status == TIDE_OK)
        status = write_rollup_prepare(s, st->rollups, st->known.folds, batch, err);
    if (status == TIDE_OK)
        status = write_cover_prepare(s, st->known.covers, onward, err);
    st->known.unsure |= status != TIDE_OK;
    return status;
}

/* ---- the transaction ---- */

static size_t rows_of(const struct tide_batch *batch)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++)
        bytes += batch->rows[i].copy.len;
    return bytes;
}

bool write_tip_copies(const struct write_tip *tip, const struct tide_batch *batch)
{
    return rows_of(batch) > tip->array_bytes;
}

/* Sends the statements of a batch. write_begin or the pipeline opens the transaction. */
static tide_status send_batch(const struct write_sending *sending, bool ask, struct tide_err *err)
{
    struct write_session *s = &sending->main->session;
    struct write_keys *keys = sending->statements->keys;
    tide_status status = sending->begun ? write_begin(sending->main, err) : TIDE_OK;
    if (status == TIDE_OK && ask)
        status = write_keys_ask(keys, s, err);
    if (status == TIDE_OK && sending->copied)
        status = write_copy_rows(s, keys, sending->batch, err);
    if (status == TIDE_OK)
        status = write_pipe_send(sending, err);
    if (status == TIDE_OK)
        status = write_note_discovered(s, sending->batch, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("commit.cursor"), err);
    return status == TIDE_OK ? write_commit(s, err) : status;
}

struct step {
    struct write_tip *tip;
    const struct tide_batch *batch;
};

static tide_status index_batch(struct write_main *m, const void *arg, struct tide_err *err)
{
    const struct step *step = arg;
    const struct tide_batch *batch = step->batch;
    struct write_statements *st = step->tip->statements;
    const struct write_cover cover = { .from = batch->from,
                                       .to = batch->to,
                                       .previous_hash = batch->previous_hash,
                                       .hash = batch->hash,
                                       .closed_ms = batch->closed_ms,
                                       .moves_cursor =
                                           write_cursor_continues(&m->cursor, batch->from),
                                       .counts = &batch->counts };
    bool copied = write_tip_copies(step->tip, batch), ask = false;
    tide_status status = write_keys_read(st->keys, batch, &ask, err);
    const struct write_sending sending = { m, st, batch, &cover, copied || ask, copied };
    if (status == TIDE_OK)
        status = write_pipe_prepare(&sending, err);
    return status == TIDE_OK ? send_batch(&sending, ask, err) : status;
}

tide_status write_tip_commit(struct write_tip *tip, const struct tide_batch *batch,
                             struct tide_err *err)
{
    const struct step step = { tip, batch };
    bool onward = write_cursor_continues(&tip->main->cursor, batch->from);
    assert(tip->statements->session == &tip->main->session);
    tide_status status = write_retry(tip->main, index_batch, &step, true, err);
    if (status == TIDE_OK && onward)
        write_main_advance(tip->main, batch->to, batch->hash);
    assert(status != TIDE_OK || !onward || tip->main->cursor.ledger == batch->to);
    return status;
}
