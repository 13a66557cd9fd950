/* The transaction that makes a loaded partition visible. */
#ifndef INDEXER_WRITE_LOAD_ATTACH_H
#define INDEXER_WRITE_LOAD_ATTACH_H

#include "indexer/decode/batch.h"
#include "indexer/write/rows/rollup.h"
#include "indexer/write/session/main_session.h"

/* The ledgers of a partition that is being loaded. The rows of `first` to `last` are committed, but
 * invisible. The functions are pure. */

struct load_range {
    bool active;
    uint32_t from, end;   /* bounds of the partition; end is exclusive */
    uint32_t first, last; /* loaded ledgers; 0: none yet */
    uint8_t previous_hash[TIDE_HASH_BYTES];
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t closed_ms;
};

/* Returns an active range without ledgers. */
struct load_range load_range_of(uint32_t from, uint32_t end);
/* Returns whether the batch lies in the partition and continues what is loaded. */
bool load_range_takes(const struct load_range *range, const struct tide_batch *batch);
/* Notes a batch that was loaded. The range must take it. */
void load_range_add(struct load_range *range, const struct tide_batch *batch);
/* Returns whether the last ledger of the partition is loaded. */
bool load_range_is_full(const struct load_range *range);
/* Returns whether all ledgers of the partition are loaded. */
bool load_range_is_whole(const struct load_range *range);
/* Returns whether two thirds of the ledgers are loaded, so that the next partition's tables should
 * be made: early enough for hundreds of tables, and seldom in vain at the end of a job. */
bool load_range_wants_spare(const struct load_range *range);

struct load_attach {
    const struct write_rollups *rollups; /* borrowed */
    struct load_range range;
    bool moves_cursor; /* the range continues the cursor */
    bool perhaps;      /* an earlier COMMIT of this attach may have succeeded */
};

/* Returns whether attaching the range moves the cursor. */
bool load_attach_moves(const struct write_cursor *cursor, const struct load_range *range);

/* A step: the whole transaction on the writer's session; arg is const struct load_attach *. */
tide_status load_attach_step(struct write_main *m, const void *arg, struct tide_err *err);
/* Attaches all tables of the range in the running transaction, and nothing else. */
tide_status load_attach_show(struct write_session *s, const struct load_range *range,
                             struct tide_err *err) TIDE_MUST_USE;
/* A step: analyses chain.word, which has no partitions, as the build does for the partition's own
 * tables. */
tide_status load_attach_words(struct write_main *m, const void *arg, struct tide_err *err);

/* The transaction in two halves, for a session that is not the writer's. The first half, on any
 * thread, merges the rows and leaves the transaction open. */
tide_status load_attach_begin(struct write_session *s, const struct load_attach *attach,
                              struct tide_err *err) TIDE_MUST_USE;
/* The second half runs on the writer's thread, because it checks the fence; cursor is the writer's.
 * *sent: COMMIT was sent, so after a failure the transaction may have committed. */
tide_status load_attach_end(struct write_session *s, const struct load_attach *attach,
                            const struct write_cursor *cursor, bool *sent,
                            struct tide_err *err) TIDE_MUST_USE;

/* Publications of logical replication. They forbid loading a partition before it is attached to its
 * parent. */
struct load_publications {
    bool any;        /* some publication has a partitioned table */
    char names[204]; /* names as an SQL list, for messages; may be cut */
};

/* Reads which publications have partitioned tables. */
tide_status load_publication_find(struct write_session *s, struct load_publications *out,
                                  struct tide_err *err) TIDE_MUST_USE;

#endif
