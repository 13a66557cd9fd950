/* The last statements of a transaction: coverage, counts, cursor, and the notification of
 * readers. */
#ifndef INDEXER_WRITE_ROWS_COVER_H
#define INDEXER_WRITE_ROWS_COVER_H

#include "indexer/decode/batch.h"
#include "indexer/write/session/session.h"

/* A range of ledgers that this transaction makes visible. */
struct write_cover {
    uint32_t from, to;
    const uint8_t *previous_hash, *hash;
    uint64_t closed_ms;
    bool moves_cursor;
    const struct tide_batch_counts *counts; /* NULL: the counts are added already */
};

/* Updates coverage and cursor in the running transaction, at once. TIDE_E_CHAIN,
 * TIDE_E_CONFLICT. */
tide_status write_cover(struct write_session *s, const struct write_cover *cover,
                        struct tide_err *err) TIDE_MUST_USE;
/* Do the same in a pipeline, if called in this order: write_cover_prepare (prepared[moves_cursor]
 * says whether the session has the statement), write_cover_send, write_covered (reads the answer),
 * write_cover_settle (the updates that the answer leaves). */
tide_status write_cover_prepare(struct write_session *s, bool prepared[2], bool moves_cursor,
                                struct tide_err *err) TIDE_MUST_USE;
tide_status write_cover_send(struct write_session *s, const struct write_cover *cover,
                             struct tide_err *err) TIDE_MUST_USE;
tide_status write_covered(const struct write_plan *plan, const struct tide_pg_rows *rows,
                          uint64_t *grown, struct tide_err *err) TIDE_MUST_USE;
tide_status write_cover_settle(struct write_session *s, const struct write_cover *cover,
                               uint64_t grown, struct tide_err *err) TIDE_MUST_USE;
/* Updates only the counts and moves. */
tide_status write_count(struct write_session *s, const struct tide_batch_counts *counts,
                        struct tide_err *err) TIDE_MUST_USE;
/* Sets the text of the statement that notes the past of the contracts that these ledgers discover,
 * or whose kind they show. */
void write_sql_note_discovered(struct write_session *s, const struct tide_batch *batch);
/* Notes that ledgers were indexed before the batch discovered contracts, in its transaction. */
tide_status write_note_discovered(struct write_session *s, const struct tide_batch *batch,
                                  struct tide_err *err) TIDE_MUST_USE;

#endif
