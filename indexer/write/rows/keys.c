/* Replaces the words of a batch by keys. indexer/database/words.h caches them. */
#include "indexer/write/rows/keys.h"

tide_status write_keys_open(struct write_keys *keys, const struct write_plan *plan,
                            struct tide_err *err)
{
    *keys = (struct write_keys){ .plan = plan };
    tide_buf_init(&keys->keyed, INT32_MAX);
    return tide_words_open(&keys->words, err);
}

void write_keys_close(struct write_keys *keys)
{
    tide_buf_release(&keys->keyed);
    tide_words_close(keys->words);
    keys->words = NULL;
}

tide_status write_keys_read(struct write_keys *keys, const struct tide_batch *batch, bool *ask,
                            struct tide_err *err)
{
    tide_status status = TIDE_OK;
    tide_words_begin(keys->words);
    for (uint32_t i = 0; i < keys->plan->table_count && status == TIDE_OK; i++)
        if (batch->rows[i].count && keys->plan->tables[i].stored)
            status = tide_words_read(keys->words, i, &keys->plan->tables[i],
                                     tide_buf_view(&batch->rows[i].copy), err);
    *ask = tide_words_missing(keys->words);
    return status;
}

tide_status write_keys_ask(struct write_keys *keys, struct write_session *s, struct tide_err *err)
{
    tide_status status = tide_words_ask(keys->words, write_pg(s), err);
    return status == TIDE_OK ? write_point(TIDE_FAILPOINT("commit.words"), err) : status;
}

tide_status write_keys_put(struct write_keys *keys, uint32_t table, const struct tide_rows *rows,
                           tide_slice *tuples, struct tide_err *err)
{
    assert(table < keys->plan->table_count && rows->count > 0);
    const struct tide_table *t = &keys->plan->tables[table];
    *tuples = tide_buf_view(&rows->copy);
    if (!t->stored)
        return TIDE_OK;
    tide_buf_reset(&keys->keyed);
    tide_status status = tide_words_put(keys->words, table, t, *tuples, &keys->keyed, err);
    *tuples = tide_buf_view(&keys->keyed);
    return status;
}
