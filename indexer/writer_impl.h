/* Shared by indexer/writer*.c and partition.c; nobody else includes it. */
#ifndef INDEXER_WRITER_IMPL_H
#define INDEXER_WRITER_IMPL_H

#include "indexer/writer.h"
#include "tidemark/buf.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"

#define WRITER_SQL_MAX (1u << 20)

/* A writer that was stopped by its host, holding locks, must not hold them for ever: the server
 * ends its session, a standby takes over, and the fence stops the first one when it wakes. */
#define WRITER_SESSION_SQL                                                               \
    "SET lock_timeout = '15s'; SET statement_timeout = '10min';"                         \
    "SET idle_in_transaction_session_timeout = '30s'; SET idle_session_timeout = '90s';" \
    "SELECT set_config('maintenance_work_mem', '262144', false)"                         \
    " WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < 268435456"

/* A partition that is being loaded: rows of first..last are committed, invisible. */
struct loading {
    bool active;
    uint32_t from, end;   /* of the partition; end exclusive */
    uint32_t first, last; /* 0: nothing yet */
    uint8_t previous_hash[TIDE_HASH_BYTES];
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t close_time;
};

struct tide_writer {
    struct tide_writer_options options;
    struct tide_pg *pg;
    uint32_t deployment;
    char deployment_text[12];
    uint64_t fence;
    uint64_t moves; /* chain.cursor.moves as of our last commit */
    uint32_t cursor;
    uint8_t hash[TIDE_HASH_BYTES];
    struct loading loading;
    uint32_t attached_from, attached_end;  /* a partition known to be attached; 0, 0 unknown */
    struct tide_buf sql;                   /* scratch */
    uint32_t staged[TIDE_TABLES_MAX];      /* 0, or the number in this session's statement names */
    uint64_t staged_rows[TIDE_TABLES_MAX]; /* since the temporary table was last truncated */
    uint32_t stagings;
    uint32_t ahead;        /* start of the partition that was last made ahead */
    uint64_t retries;      /* transactions repeated and connections sought again */
    uint32_t chance;       /* state of a small generator: pauses differ between processes */
    struct tide_beat beat; /* the last, without its texts */
};

/* One whole transaction (or an idempotent series): called again after a retryable failure. */
typedef tide_status (*writer_step)(struct tide_writer *w, const void *arg, struct tide_err *err);
/* Runs step until it succeeds, or for good fails. commits: it moves chain.cursor.moves by one. */
tide_status writer_retry(struct tide_writer *w, writer_step step, const void *arg, bool commits,
                         struct tide_err *err);

/* BEGIN and the fence. TIDE_E_FENCED when the cursor row is not as we left it. */
tide_status writer_begin(struct tide_writer *w, struct tide_err *err);
/* Runs w->sql. */
tide_status writer_run_sql(struct tide_writer *w, const char *tag, struct tide_err *err);
/* Runs w->sql; the answer is rows. */
tide_status writer_query_sql(struct tide_writer *w, struct tide_pg_rows *rows,
                             struct tide_err *err);
void writer_sql(struct tide_writer *w, const char *format, ...) TIDE_PRINTF(2, 3);
void writer_sql_more(struct tide_writer *w, const char *format, ...) TIDE_PRINTF(2, 3);
/* Appends '\x…' of a hash. */
void writer_sql_hash(struct tide_writer *w, const uint8_t hash[TIDE_HASH_BYTES]);
/* COMMIT, with failpoints on both sides; adopts the new count of moves. */
tide_status writer_commit(struct tide_writer *w, struct tide_err *err);
/* A failpoint that makes the step fail as a database would. */
tide_status writer_point(bool fired, struct tide_err *err);
/* Seconds as an SQL timestamp expression. */
void writer_sql_time(struct tide_writer *w, uint64_t close_time);
/* Columns of table as "a,b,c"; without removed when for_state. */
void writer_sql_columns(struct tide_writer *w, const struct tide_table *table, const char *prefix);
void writer_pause(struct tide_writer *w, uint32_t attempt);
bool writer_stopped(const struct tide_writer *w);

/* writer_copy.c */
tide_status writer_copy_rows(struct tide_writer *w, const struct tide_batch *batch, bool states,
                             struct tide_err *err);
/* writer_state.c: merges from history leaf tables of a partition, or from staged rows */
/* Outside a transaction: what the batch's state rows need of this session. */
tide_status writer_stage_all(struct tide_writer *w, const struct tide_batch *batch,
                             struct tide_err *err);
tide_status writer_merge_staged(struct tide_writer *w, uint32_t state_table, bool behind,
                                struct tide_err *err);
tide_status writer_merge_partition(struct tide_writer *w, uint32_t from, bool behind,
                                   struct tide_err *err);
/* writer_cover.c: coverage and cursor in the running transaction */
struct cover {
    uint32_t from, to;
    const uint8_t *previous_hash, *hash;
    uint64_t close_time;
    bool moves_cursor;
    const struct tide_batch_counts *counts; /* NULL: counted already */
};
tide_status writer_cover(struct tide_writer *w, const struct cover *cover, struct tide_err *err);
/* Counts and moves alone. */
tide_status writer_count(struct tide_writer *w, const struct tide_batch_counts *counts,
                         struct tide_err *err);

/* partition.c */
uint32_t partition_start(const struct tide_writer *w, uint32_t ledger);
/* Name of the table that holds table's rows of the partition: schema.name_pD_F. */
void writer_sql_leaf(struct tide_writer *w, const struct tide_table *table, uint32_t from);
/* Reads the loading partition and forgets what is known of attached ones. */
/* Adds the contracts that were discovered while indexing to the deployment. */
tide_status writer_adopt_contracts(struct tide_writer *w, struct tide_err *err);

tide_status partition_read(struct tide_writer *w, struct tide_err *err);
/* Finds the partition of ledger: attached, loading (w->loading), or neither. */
tide_status partition_find(struct tide_writer *w, uint32_t ledger, bool *attached, bool *exists,
                           struct tide_err *err);
tide_status partition_create(struct tide_writer *w, uint32_t from, struct tide_err *err);
/* A step: makes the keys and indexes that the loading partition's tables still lack. */
tide_status partition_build(struct tide_writer *w, const void *arg, struct tide_err *err);
tide_status partition_finish(struct tide_writer *w, struct tide_err *err);

#endif
