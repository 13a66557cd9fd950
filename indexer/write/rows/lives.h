/* Finds the rows of history.ttl that are stored with a version of their entry, in its column life,
 * and not as rows of their own (table.h).
 *
 * A lifetime goes to the last version of its key in its transaction. It stays a row of its own if
 * there is none, or if the version does not imply the row's other columns. Of several lifetimes of
 * one key in a transaction the last one goes. A version that two tables have, because it fits its
 * own only in part, carries the lifetime in history.raw: reproject deletes that row last. */
#ifndef INDEXER_WRITE_ROWS_LIVES_H
#define INDEXER_WRITE_ROWS_LIVES_H

#include "indexer/decode/batch.h"
#include "indexer/write/session/session.h"

struct write_lives {
    struct tide_buf lives; /* int64_t of each row of history, table by table */
    struct tide_buf found; /* struct life: one for each row of history.ttl */
    struct tide_buf slots; /* hash table of index + 1 in found; 0: free */
    uint64_t seed;
    uint64_t alone;                /* rows of history.ttl that are stored */
    size_t first[TIDE_TABLES_MAX]; /* index of each table's first row in lives */
};

/* Draws a seed. TIDE_E_MEMORY. */
tide_status write_lives_open(struct write_lives *lives, struct tide_err *err) TIDE_MUST_USE;
void write_lives_close(struct write_lives *lives);
/* Assigns the lifetimes of a batch, which holds whole transactions. TIDE_E_MEMORY. */
tide_status write_lives_match(struct write_lives *lives, const struct write_plan *plan,
                              const struct tide_batch *batch, struct tide_err *err) TIDE_MUST_USE;
/* Returns what tide_words_put takes of the table's rows. NULL: the batch has no lifetimes. */
const int64_t *write_lives_of(const struct write_lives *lives, uint32_t table);

#endif
