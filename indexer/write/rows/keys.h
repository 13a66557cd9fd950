/* The stored form of a batch's rows: with keys of chain.word in the place of words, lifetimes with
 * their entries' versions, and versions that share rows. */
#ifndef INDEXER_WRITE_ROWS_KEYS_H
#define INDEXER_WRITE_ROWS_KEYS_H

#include "indexer/database/words.h"
#include "indexer/decode/batch.h"
#include "indexer/write/rows/lives.h"
#include "indexer/write/rows/pack.h"
#include "indexer/write/session/session.h"

/* The cache of keys. One thread at a time may use it, with one session: only that session knows the
 * keys that its transaction adds, until it commits. */
struct write_keys {
    const struct write_plan *plan; /* borrowed */
    struct tide_words *words;
    struct write_lives lives;
    struct write_pack pack;
    struct tide_buf keyed; /* rows of one table in stored form */
};

/* Opens the cache of keys. TIDE_E_MEMORY. */
tide_status write_keys_open(struct write_keys *keys, const struct write_plan *plan,
                            struct tide_err *err) TIDE_MUST_USE;
void write_keys_close(struct write_keys *keys);

/* Reads the words and lifetimes of a batch, before its transaction. *ask: some have no known key,
 * so write_keys_ask must be called in the transaction. */
tide_status write_keys_read(struct write_keys *keys, const struct tide_batch *batch, bool *ask,
                            struct tide_err *err) TIDE_MUST_USE;
/* Reads the missing keys, and adds those of new words, in the running transaction. */
tide_status write_keys_ask(struct write_keys *keys, struct write_session *s,
                           struct tide_err *err) TIDE_MUST_USE;
/* Returns the number of rows that the batch has for the stored form of a table, before versions
 * share rows: 0 if another view owns that (tide_table_owns). Call write_keys_read before. */
uint64_t write_keys_count(const struct write_keys *keys, const struct tide_batch *batch,
                          uint32_t table);
/* Sets *tuples to the batch's rows of a table, and of the views that share its stored form, as they
 * are stored, and *count to their number. They are borrowed until the next call. */
tide_status write_keys_put(struct write_keys *keys, const struct tide_batch *batch, uint32_t table,
                           tide_slice *tuples, uint64_t *count, struct tide_err *err) TIDE_MUST_USE;

/* Sends the rows of every table but state, in the running transaction, into the tables of the
 * batch's partition. The batch lies within one partition. */
tide_status write_copy_rows(struct write_session *s, struct write_keys *keys,
                            const struct tide_batch *batch, struct tide_err *err) TIDE_MUST_USE;

#endif
