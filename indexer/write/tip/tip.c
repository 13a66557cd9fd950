/* Writes one batch in one transaction, visible at once. */
#include "indexer/write/tip/tip.h"
#include "indexer/write/rows/copy.h"
#include "indexer/write/tip/pipe.h"

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
