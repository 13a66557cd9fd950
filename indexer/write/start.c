/* Begins an empty index with the state as of a checkpoint: one transaction, which is repeated as a
 * whole. After a kill at any point the index is empty, or has begun. */
#include "indexer/write/rows/cover.h"
#include "indexer/write/rows/keys.h"
#include "indexer/write/rows/statements.h"
#include "indexer/write/writer_impl.h"

struct step {
    struct tide_writer *writer;
    const struct tide_start *start;
};

/* One attempt. */
struct sending {
    struct tide_writer *writer;
    struct tide_batch_counts counts; /* sums over the pieces sent so far */
};

/* Sends the rows of one piece in the running transaction. */
static tide_status put_piece(void *self, const struct tide_batch *batch, struct tide_err *err)
{
    struct sending *sending = self;
    struct tide_writer *w = sending->writer;
    struct write_session *s = &w->main.session;
    bool ask = false;
    sending->counts.changes += batch->counts.changes;
    sending->counts.raw_states += batch->counts.raw_states;
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++)
        if (batch->rows[i].copy.failed)
            return tide_fail(err, TIDE_E_MEMORY, "rows of the state at ledger %u", batch->from);
    tide_status status = write_keys_read(&w->keys, batch, &ask, err);
    if (status == TIDE_OK && ask)
        status = write_keys_ask(&w->keys, s, err);
    if (status == TIDE_OK)
        status = write_copy_rows(s, &w->keys, batch, err);
    return status == TIDE_OK ? write_point(TIDE_FAILPOINT("start.copied"), err) : status;
}

/* Fails unless nothing is indexed or loading. */
static tide_status check_empty(struct write_session *s, struct tide_err *err)
{
    write_sql(s,
              "SELECT FROM chain.cursor AS c WHERE c.deployment = %u AND (c.ledger > 0 OR EXISTS"
              " (SELECT FROM chain.coverage AS v WHERE v.deployment = c.deployment) OR EXISTS"
              " (SELECT FROM chain.partition AS p WHERE p.deployment = c.deployment AND NOT"
              " p.attached AND p.last_loaded IS NOT NULL))",
              s->plan->deployment);
    tide_status status = write_query_sql(s, err);
    if (status == TIDE_OK && s->rows.count)
        status = tide_fail(err, TIDE_E_CONFLICT,
                           "from-checkpoint: the index is not empty; use another database");
    return status;
}

/* Stores the row of the ledger. Its transactions are unknown, so their counts are 0. */
static tide_status insert_ledger(struct write_session *s, const struct tide_start *start,
                                 const struct tide_batch_counts *counts, struct tide_err *err)
{
    write_sql(s,
              "INSERT INTO chain.ledger (deployment, ledger, hash, previous_hash, closed_at,"
              " protocol, tx_count, our_txs, events, changes, raw_events, raw_states, proof,"
              " calls_verified, calls_rewritten, calls_unverified, raw_calls) VALUES (%u, %u, ",
              s->plan->deployment, start->ledger);
    write_sql_hash(s, start->hash);
    write_sql_more(s, ", ");
    write_sql_hash(s, start->previous_hash);
    write_sql_more(s, ", ");
    write_sql_time(s, start->closed_ms);
    write_sql_more(s, ", %u, 0, 0, 0, %" PRIu64 ", 0, %" PRIu64 ", 0, 0, 0, 0, 0)", start->protocol,
                   counts->changes, counts->raw_states);
    return write_run_sql(s, "INSERT", err);
}

/* Stores from where the index begins, and what proves it. */
static tide_status insert_start(struct write_session *s, const struct tide_start *start,
                                struct tide_err *err)
{
    write_sql(s,
              "WITH s AS (INSERT INTO chain.start (deployment, ledger, hash, closed_at,"
              " signed_ledger, signed_by) VALUES (%u, %u, ",
              s->plan->deployment, start->ledger);
    write_sql_hash(s, start->hash);
    write_sql_more(s, ", ");
    write_sql_time(s, start->closed_ms);
    write_sql_more(s,
                   ", nullif(%u, 0), $1::text[]) RETURNING *) INSERT INTO chain.checkpoint"
                   " (deployment, ledger, hash, signed_by) SELECT deployment, ledger, hash,"
                   " signed_by FROM s WHERE signed_by IS NOT NULL",
                   start->signed_ledger);
    tide_status status = write_sql_sealed(s, err);
    return status == TIDE_OK ? tide_pg_query(write_pg(s), NULL, (const char *)s->sql.ptr,
                                             (const char *[]){ start->signed_by }, 1, err)
                             : status;
}

static tide_status insert_facts(struct write_session *s, const struct tide_start *start,
                                const struct tide_batch_counts *counts, struct tide_err *err)
{
    const struct write_cover cover = { .from = start->ledger,
                                       .to = start->ledger,
                                       .previous_hash = start->previous_hash,
                                       .hash = start->hash,
                                       .closed_ms = start->closed_ms,
                                       .moves_cursor = true,
                                       .counts = counts };
    tide_status status = insert_ledger(s, start, counts, err);
    if (status == TIDE_OK)
        status = insert_start(s, start, err);
    return status == TIDE_OK ? write_cover(s, &cover, err) : status;
}

/* Sends the rows, and what follows from them: the newest versions and the rollups. */
static tide_status send_rows(struct sending *sending, const struct tide_start *start,
                             struct tide_err *err)
{
    struct tide_writer *w = sending->writer;
    struct write_session *s = &w->main.session;
    uint32_t partition = write_plan_partition(s->plan, start->ledger);
    tide_status status = start->rows(start->self, put_piece, sending, err);
    if (status == TIDE_OK)
        status = write_merge_partition(s, partition, 0, false, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("start.merged"), err);
    return status == TIDE_OK
               ? write_rollup_partition(s, &w->rollups, partition,
                                        (struct tide_range){ start->ledger, start->ledger }, err)
               : status;
}

static tide_status send_start(struct tide_writer *w, const struct tide_start *start,
                              struct tide_err *err)
{
    struct sending sending = { .writer = w, .counts = { .ledgers = 1 } };
    struct write_session *s = &w->main.session;
    tide_status status = write_begin_long(&w->main, err);
    if (status == TIDE_OK)
        status = check_empty(s, err);
    if (status == TIDE_OK)
        status = send_rows(&sending, start, err);
    if (status == TIDE_OK)
        status = insert_facts(s, start, &sending.counts, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("start.cursor"), err);
    return status == TIDE_OK ? write_commit(s, err) : status;
}

static tide_status start_index(struct write_main *m, const void *arg, struct tide_err *err)
{
    const struct step *step = arg;
    tide_status status = send_start(step->writer, step->start, err);
    write_end_long(m);
    return status;
}

static tide_status ask_whether_empty(struct write_main *m, const void *arg, struct tide_err *err)
{
    (void)arg;
    return check_empty(&m->session, err);
}

/* Drops the empty tables that a start left behind which was killed: it may have cut its partition
 * at another checkpoint. */
static tide_status drop_leftovers(struct tide_writer *w, struct tide_err *err)
{
    tide_status status = write_retry(&w->main, ask_whether_empty, NULL, false, err);
    return status == TIDE_OK ? write_load_drop(&w->load, INT32_MAX, err) : status;
}

tide_status tide_writer_start(struct tide_writer *w, const struct tide_start *start,
                              struct tide_err *err)
{
    const struct step step = { w, start };
    assert(start->ledger > 0 && w->main.cursor.ledger == 0);
    tide_status status = drop_leftovers(w, err);
    w->plan.cut = start->ledger % w->plan.partition_ledgers ? start->ledger : 0;
    if (status == TIDE_OK)
        status = write_load_make(&w->load, start->ledger, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("start.partition"), err);
    if (status == TIDE_OK)
        status = write_retry(&w->main, start_index, &step, true, err);
    if (status == TIDE_OK) {
        w->plan.held_before = start->ledger;
        write_main_advance(&w->main, start->ledger, start->hash);
    }
    return status == TIDE_OK ? tide_writer_adopt(w, err) : status;
}

struct question {
    struct tide_writer *writer;
    uint32_t *ledger;
};

static tide_status read_start(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    const struct question *q = arg;
    write_sql(s,
              "SELECT coalesce((SELECT ledger FROM chain.start WHERE deployment = %u),"
              " filled_start, 0) FROM chain.deployment WHERE id = %u",
              s->plan->deployment, s->plan->deployment);
    tide_status status = write_query_sql(s, err);
    *q->ledger = status == TIDE_OK && s->rows.count ? (uint32_t)tide_pg_u64(&s->rows, 0, 0) : 0;
    return status;
}

tide_status tide_writer_started(struct tide_writer *w, uint32_t *ledger, struct tide_err *err)
{
    const struct question question = { w, ledger };
    return write_retry(&w->main, read_start, &question, false, err);
}
