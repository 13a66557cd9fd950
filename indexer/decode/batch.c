/* A batch's memory: creating, emptying and freeing its buffers. */
#include "indexer/decode/batch.h"

#include <string.h>

void tide_batch_init(struct tide_batch *batch)
{
    memset(batch, 0, sizeof *batch);
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++)
        tide_buf_init(&batch->rows[i].copy, TIDE_TABLE_BYTES_MAX);
}

void tide_batch_reset(struct tide_batch *batch)
{
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++) {
        tide_buf_reset(&batch->rows[i].copy);
        batch->rows[i].count = 0;
    }
    batch->from = batch->to = 0;
    batch->closed_ms = 0;
    batch->bytes = 0;
    batch->settled = false;
    batch->counts = (struct tide_batch_counts){ 0 };
}

void tide_batch_release(struct tide_batch *batch)
{
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++)
        tide_buf_release(&batch->rows[i].copy);
    tide_batch_reset(batch);
}

bool tide_batch_saw(const struct tide_batch *batch, const char *what)
{
    assert(what[0]);
    tide_slice rows = tide_buf_view(&batch->rows[TIDE_TABLE_CONTRACT_SEEN].copy);
    return rows.len && memmem(rows.ptr, rows.len, what, strlen(what));
}
