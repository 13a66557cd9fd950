/* Keys of chain.word for the words in encoded rows, see table.h.
 *
 * A transaction   tide_words_begin · tide_words_read of the rows of each table · when some are
 *                 missing, tide_words_ask inside the transaction · tide_words_put of each table ·
 *                 COMMIT. After a failure tide_words_forget: keys that were added are void.
 * Memory          keys of the words used last are kept, a fixed number; what a batch has beside
 *                 them is kept until the next tide_words_begin.
 * Threads         one. Writers of several connections add the same words without deadlock: each
 *                 asks once in a transaction, and words are added in their order. */
#ifndef INDEXER_DATABASE_WORDS_H
#define INDEXER_DATABASE_WORDS_H

#include "tidemark/buf.h"
#include "tidemark/pg.h"
#include "tidemark/table.h"

/* Kept: 4 of each of 16384 remainders of a hash. Longer words are asked for each time. */
#define TIDE_WORDS_KEPT_BYTES 72u

struct tide_words; /* opaque */

tide_status tide_words_open(struct tide_words **out, struct tide_err *err) TIDE_MUST_USE;
void tide_words_close(struct tide_words *words); /* NULL is allowed */

void tide_words_begin(struct tide_words *words);
/* Takes in which words the tuples of table have: all its columns, as COPY takes them. place: any
 * number below TIDE_TABLES_MAX, its own for each table of the transaction. */
tide_status tide_words_read(struct tide_words *words, uint32_t place,
                            const struct tide_table *table, tide_slice tuples,
                            struct tide_err *err) TIDE_MUST_USE;
/* Of the words read, some have no known key. */
bool tide_words_missing(const struct tide_words *words);
/* Learns their keys, and adds those that are new. In the transaction of the rows. */
tide_status tide_words_ask(struct tide_words *words, struct tide_pg *pg,
                           struct tide_err *err) TIDE_MUST_USE;
/* Appends the tuples that were read, as tuples of tide_table_stored(table). */
tide_status tide_words_put(const struct tide_words *words, uint32_t place,
                           const struct tide_table *table, tide_slice tuples, struct tide_buf *out,
                           struct tide_err *err) TIDE_MUST_USE;
/* Forgets all keys. */
void tide_words_forget(struct tide_words *words);

#endif
