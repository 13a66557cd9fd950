/* Keys of chain.word for the words in encoded rows, see table.h.
 *
 * Transaction  Call tide_words_begin, then tide_words_read with the rows of each table. If
 *              tide_words_missing, call tide_words_ask inside the transaction. Then call
 *              tide_words_put for each table, and COMMIT. After a failure call tide_words_forget:
 *              keys that the transaction added do not exist.
 * Memory       a cache of fixed size for the keys of words used lately. Words of the batch that are
 *              not in it stay in memory until the next tide_words_begin.
 * Threads      one thread at a time. Writers of several connections add the same words without
 *              deadlock: each adds words once in a transaction, in the words' order. */
#ifndef INDEXER_DATABASE_WORDS_H
#define INDEXER_DATABASE_WORDS_H

#include "tidemark/buf.h"
#include "tidemark/pg.h"
#include "tidemark/table.h"

/* Longest word that the cache keeps. The keys of longer words are read from the database each
 * time. */
#define TIDE_WORDS_KEPT_BYTES 72u

struct tide_words; /* opaque */

tide_status tide_words_open(struct tide_words **out, struct tide_err *err) TIDE_MUST_USE;
void tide_words_close(struct tide_words *words); /* NULL is allowed */

/* Begins a transaction: forgets the words of the one before, but not the cache. */
void tide_words_begin(struct tide_words *words);
/* Reads the words in the rows of table. tuples are COPY rows with all columns of the table. place
 * is a number below TIDE_TABLES_MAX, a different one for each table of the transaction.
 * TIDE_E_LIMIT: a row is malformed, or memory is short. */
tide_status tide_words_read(struct tide_words *words, uint32_t place,
                            const struct tide_table *table, tide_slice tuples,
                            struct tide_err *err) TIDE_MUST_USE;
/* Returns true if some of the words read have no known key. */
bool tide_words_missing(const struct tide_words *words);
/* Reads the missing keys and adds new words. Call inside the transaction that writes the rows. */
tide_status tide_words_ask(struct tide_words *words, struct tide_pg *pg,
                           struct tide_err *err) TIDE_MUST_USE;
/* Rows that tide_words_read has read. */
struct tide_words_rows {
    uint32_t place;
    const struct tide_table *table;
    tide_slice tuples;
    /* The column life of each row (tide_life), or TIDE_WORDS_LEAVE_OUT for a row that is not
     * stored. NULL: all are 0. */
    const int64_t *lives;
};
#define TIDE_WORDS_LEAVE_OUT (-1)
/* Appends the rows as rows of tide_table_stored(rows->table), with tide_table_own_columns. All keys
 * must be known. `more` is NULL, or the rows of a table that completes these
 * (tide_table.completes), in the same order. TIDE_E_LIMIT if the rows do not fit out. */
tide_status tide_words_put(const struct tide_words *words, const struct tide_words_rows *rows,
                           const struct tide_words_rows *more, struct tide_buf *out,
                           struct tide_err *err) TIDE_MUST_USE;
/* Empties the cache. */
void tide_words_forget(struct tide_words *words);

#endif
