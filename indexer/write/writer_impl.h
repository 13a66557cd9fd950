/* Shared by the files of indexer/write; no other folder includes this header. */
#ifndef INDEXER_WRITE_WRITER_IMPL_H
#define INDEXER_WRITE_WRITER_IMPL_H

#include "indexer/database/words.h"
#include "indexer/rollup/rollup.h"
#include "indexer/write/lease.h"
#include "indexer/write/row_array.h"
#include "indexer/write/writer.h"
#include "tidemark/buf.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"
#include "tidemark/retry.h"

#include <stdatomic.h>

#define WRITER_SQL_MAX (1u << 20)

/* A writer that was stopped by its host, holding locks, must not hold them for ever: the server
 * ends its session, a standby takes over, and the fence stops the first one when it wakes. Not
 * while it sends a batch's rows, where no time-out of the server applies: then only a standby ends
 * it. Statistics of parents come from 9 000 rows of each table: with 30 000, PostgreSQL's default,
 * they cost more than the indexes of small partitions. Long values are packed with LZ4 where the
 * server has it: PGLZ, its default, takes eight times as long for lists of ids. */
#define WRITER_STATISTICS_SQL "SET default_statistics_target = 30"
#define WRITER_SESSION_SQL                                                               \
    "SET lock_timeout = '15s'; SET statement_timeout = '10min';"                         \
    "SET idle_in_transaction_session_timeout = '30s'; SET idle_session_timeout = '90s';" \
    "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 1;"                      \
    "SET tcp_keepalives_count = 3; SET tcp_user_timeout = '8s';"                         \
    "SET client_connection_check_interval = '500ms';"                                    \
    "SELECT set_config('maintenance_work_mem', '262144', false)"                         \
    " WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < 268435456;"         \
    "SELECT set_config('default_toast_compression', 'lz4', false) FROM pg_settings"      \
    " WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals);"              \
    "SET jit = off;" WRITER_STATISTICS_SQL ";"                                           \
    "SET plan_cache_mode = force_generic_plan"

enum { WRITER_SPEAK_MS = 5000 }; /* far below idle_session_timeout */

/* A partition that is being loaded: rows of first..last are committed, invisible. */
struct loading {
    bool active;
    uint32_t from, end;   /* of the partition; end exclusive */
    uint32_t first, last; /* 0: nothing yet */
    uint8_t previous_hash[TIDE_HASH_BYTES];
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t close_time;
};

/* A full partition: its last ledger is loaded, and it is not attached. */
struct full {
    struct loading range;
    struct build *build; /* of its indexes and rows, beside us; NULL: none */
};
enum { WRITER_FULL_MAX = 2 };

/* Statements prepared for a table, by its index. */
enum writer_statement {
    WRITER_PUT,
    WRITER_ADD, /* rows that exist stay */
    WRITER_MERGE,
    WRITER_MERGE_BEHIND,
    WRITER_STATEMENTS
};
enum { WRITER_NAME_MAX = 24 };

/* The state that the present database session holds for the writer. It ends with the session. */
struct writer_session {
    bool unsure;        /* a failure: not all may be there that is noted here */
    uint32_t puts_from; /* partition that the statements WRITER_PUT name */
    bool prepared[WRITER_STATEMENTS][TIDE_TABLES_MAX];
    bool covers[2]; /* by: moves the cursor */
    bool rollups[TIDE_ROLLUPS_MAX];
    struct tide_row_shape shapes[TIDE_TABLES_MAX]; /* oid 0: not known yet */
    struct tide_row_shape stored[TIDE_TABLES_MAX]; /* the same of what is stored of a table */
};

struct tide_writer {
    struct tide_writer_options options;
    struct tide_pg *pg;
    struct tide_lease *lease; /* NULL: none */
    uint32_t deployment;
    char deployment_text[12];
    uint64_t fence;
    int64_t spoke_ms; /* when the server was last heard, as far as tide_writer_idle knows */
    uint64_t moves;   /* chain.cursor.moves as of our last commit */
    uint32_t cursor;
    uint8_t hash[TIDE_HASH_BYTES];
    struct loading loading;
    struct full full[WRITER_FULL_MAX]; /* before `loading`, the oldest first */
    uint32_t full_count;
    uint32_t attached_from, attached_end; /* a partition known to be attached; 0, 0 unknown */
    struct spare *spare;                  /* being made, by a thread; NULL: none is */
    uint32_t spare_from;                  /* the last that was begun */
    bool unanalysed;                      /* the parents, since a loaded partition was attached */
    struct tide_buf sql, array, keyed;    /* scratch */
    struct tide_words *words;
    struct writer_session session;
    bool rollups[TIDE_ROLLUPS_MAX]; /* are kept: wanted, and the tables are those they fold */
    bool rolls;                     /* any of them */
    bool rollup_needs[TIDE_ROLLUPS_MAX][TIDE_TABLES_MAX];
    uint32_t ahead;   /* start of the partition that was last made ahead */
    uint64_t retries; /* transactions repeated and connections sought again */
    struct tide_retry retry;
    struct tide_heartbeat heartbeat; /* the last, without its texts */
};

/* One whole transaction (or an idempotent series): called again after a retryable failure. */
typedef tide_status (*writer_step)(struct tide_writer *w, const void *arg, struct tide_err *err);
/* Runs step until it succeeds, or for good fails. commits: it moves chain.cursor.moves by one. */
tide_status writer_retry(struct tide_writer *w, writer_step step, const void *arg, bool commits,
                         struct tide_err *err);

/* standby.c: waits until the lock is ours, and puts out who lets its lease run out */
tide_status writer_wait_lock(struct tide_writer *w, struct tide_err *err);
/* The lease is ours from now on, or (after a reconnect) this session is the one it names. */
tide_status writer_take_lease(struct tide_writer *w, struct tide_err *err);
tide_status writer_keep_lease(struct tide_writer *w, struct tide_err *err);

/* BEGIN and the fence. TIDE_E_FENCED when the cursor row is not as we left it. */
tide_status writer_begin(struct tide_writer *w, struct tide_err *err);
/* The same for work that grows with what is stored: neither the server nor this side ends its
 * statements for the time they take. A limit would end each repetition in the same way, for ever.
 * The caller calls writer_end_long after the transaction, in any case. */
tide_status writer_begin_long(struct tide_writer *w, struct tide_err *err);
void writer_end_long(struct tide_writer *w);
/* The fence alone, appended; one row when we still are the writer. */
void writer_sql_fence(struct tide_writer *w);
/* TIDE_E_FENCED. */
tide_status writer_fenced(const struct tide_writer *w, struct tide_err *err);
/* Ends w->sql as text. TIDE_E_LIMIT when it is too long. */
tide_status writer_sql_sealed(struct tide_writer *w, struct tide_err *err);
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
/* Columns of table as "a,b,c". */
void writer_sql_columns(struct tide_writer *w, const struct tide_table *table, const char *prefix);
void writer_pause(struct tide_writer *w, uint32_t attempt);
bool writer_stopped(const struct tide_writer *w);

/* Coverage and cursor of a range. */
struct cover {
    uint32_t from, to;
    const uint8_t *previous_hash, *hash;
    uint64_t close_time;
    bool moves_cursor;
    const struct tide_batch_counts *counts; /* NULL: counted already */
};

/* A batch on its way. */
struct writer_sending {
    const struct tide_batch *batch;
    const struct cover *cover;
    bool begun;  /* the transaction is open: of a batch that is copied, or has new words */
    bool copied; /* it has all rows but state, by COPY */
};

/* copy.c: every table but state */
tide_status writer_copy_rows(struct tide_writer *w, const struct tide_batch *batch,
                             struct tide_err *err);

/* prepare.c */
/* Outside a transaction: what writer_send needs of this session. */
tide_status writer_prepare(struct tide_writer *w, const struct writer_sending *sending,
                           struct tide_err *err);
/* The same for a batch of tide_writer_commit_gap. */
tide_status writer_prepare_gap(struct tide_writer *w, const struct tide_batch *batch,
                               struct tide_err *err);
void writer_statement_name(char name[WRITER_NAME_MAX], enum writer_statement what, uint32_t table);
/* stored: of what is stored of the table, else with words. */
struct tide_row_shape *writer_shape(struct tide_writer *w, uint32_t table, bool stored);

/* copy.c: words of a batch. Read before its transaction; true: writer_ask_words must be called in
 * it. Then writer_keyed gives rows as they are stored, until it is called again. */
tide_status writer_read_words(struct tide_writer *w, const struct tide_batch *batch, bool *ask,
                              struct tide_err *err);
tide_status writer_ask_words(struct tide_writer *w, struct tide_err *err);
tide_status writer_keyed(struct tide_writer *w, uint32_t table, const struct tide_rows *rows,
                         tide_slice *tuples, struct tide_err *err);

/* rollup.c */
/* From so many rows on it pays to plan for the very numbers. */
enum { ROLLUP_BULK_ROWS = 200 };
void writer_rollup_learn(struct tide_writer *w);
/* Makes everything anew when it was made by other rules, or never. */
tide_status writer_rollup_settle(struct tide_writer *w, struct tide_err *err);
/* Prepare the folds of a batch outside of transactions, then send them behind its rows. Sending
 * adds to *statements. */
tide_status writer_rollup_prepare(struct tide_writer *w, const struct tide_batch *batch,
                                  struct tide_err *err);
tide_status writer_rollup_send(struct tide_writer *w, const struct tide_batch *batch,
                               uint32_t *statements, struct tide_err *err);
/* Folds the ledgers of a partition, in the running transaction. */
tide_status writer_rollup_partition(struct tide_writer *w, uint32_t partition,
                                    struct tide_range range, struct tide_err *err);
/* Folds a batch of tide_writer_commit_gap again, behind its rows, in the running transaction: the
 * rollups that read tables of tokens (rollup.h). The partitions are attached. */
tide_status writer_rollup_again(struct tide_writer *w, const struct tide_batch *batch,
                                struct tide_err *err);
/* Continues a statement that adds rows of a table in a CTE `added`, which returns them: further
 * CTEs fold these rows. */
void writer_sql_fold_added(struct tide_writer *w, uint32_t table);

/* pipe.c: fence and rows (unless copied), state, cover, in one round trip; the transaction
 * is open afterwards */
tide_status writer_send(struct tide_writer *w, const struct writer_sending *sending,
                        struct tide_err *err);
/* Rows as the array of a prepared statement, into the pipeline. */
tide_status writer_send_rows(struct tide_writer *w, enum writer_statement what, uint32_t table,
                             const struct tide_rows *rows, struct tide_err *err);

/* discovered.c: the statement WRITER_ADD of a table, into w->sql; and what was indexed
 * before the contracts that the batch discovered, noted in its transaction */
void writer_sql_add(struct tide_writer *w, uint32_t table);
tide_status writer_note_discovered(struct tide_writer *w, const struct tide_batch *batch,
                                   struct tide_err *err);

/* state.c: merges of the rows of parameter 1 (w->sql; behind: not the newest ledgers), and
 * from the history tables of a partition */
void writer_sql_merge(struct tide_writer *w, uint32_t state_table, bool behind);
tide_status writer_merge_partition(struct tide_writer *w, uint32_t from, bool behind,
                                   struct tide_err *err);

/* cover.c: coverage and cursor in the running transaction; all of it, or in a pipeline:
 * prepared before, sent, its answer read, and what the answer leaves to do */
tide_status writer_cover(struct tide_writer *w, const struct cover *cover, struct tide_err *err);
tide_status writer_cover_prepare(struct tide_writer *w, bool moves_cursor, struct tide_err *err);
tide_status writer_cover_send(struct tide_writer *w, const struct cover *cover,
                              struct tide_err *err);
tide_status writer_covered(struct tide_writer *w, const struct tide_pg_rows *rows, uint64_t *grown,
                           struct tide_err *err);
tide_status writer_cover_settle(struct tide_writer *w, const struct cover *cover, uint64_t grown,
                                struct tide_err *err);
/* Counts and moves alone. */
tide_status writer_count(struct tide_writer *w, const struct tide_batch_counts *counts,
                         struct tide_err *err);

/* contracts.c: the contracts that were discovered join the deployment. */
bool writer_has_contracts(const struct tide_writer *w); /* false: a test's own tables */
tide_status writer_adopt_contracts(struct tide_writer *w, struct tide_err *err);

/* A copy of the writer for another session and thread: without lease, words and what is prepared.
 * Its sql is released, and its pg closed, by who made it. */
void writer_second(struct tide_writer *second, const struct tide_writer *w);
/* A session with the writer's settings; *out is NULL after a failure. stopped(self) ends what it
 * waits for. */
tide_status writer_open_session(const struct tide_writer *w, struct tide_pg **out,
                                bool (*stopped)(void *self), void *self, struct tide_err *err);

/* Waits until a helper's thread has *ended, or did *enough. The server ends a session that is
 * silent for long (WRITER_SESSION_SQL), and with the writer's own session goes its lock. So this
 * session speaks meanwhile. A failure is not looked at: the next statement meets it. The helper is
 * *stopped when the writer is. The watchdog judges the helper by its own progress. */
void writer_wait_helper(struct tide_writer *w, const atomic_bool *ended, const atomic_bool *enough,
                        atomic_bool *stopped);

/* partition_spare.c: makes the next partition when the loading one is almost full */
void partition_spare_begin(struct tide_writer *w);
/* Waits for it. stop: it is ended as soon as it can. */
void partition_spare_end(struct tide_writer *w, bool stop);

/* partition.c */
uint32_t partition_start(const struct tide_writer *w, uint32_t ledger);
/* Name of the table that stores table's rows of the partition: schema.name_pD_F. */
void writer_sql_leaf(struct tide_writer *w, const struct tide_table *table, uint32_t from);
/* Reads what is loading, or complete, and forgets what is known of attached ones. */
tide_status partition_read(struct tide_writer *w, struct tide_err *err);
/* Whether the partition of ledger is attached. */
tide_status partition_find(struct tide_writer *w, uint32_t ledger, bool *attached,
                           struct tide_err *err);
/* In the running transaction: the partition's row and tables, unless they are there. */
tide_status partition_make_tables(struct tide_writer *w, uint32_t from, struct tide_err *err);
/* A partition may begin there. */
bool partition_fits(const struct tide_writer *w, uint32_t from);
/* Makes the partition, or takes the spare one; it is w->loading then. */
tide_status partition_create(struct tide_writer *w, uint32_t from, struct tide_err *err);
/* A step: makes the keys and indexes that the loading partition's tables still lack. */
tide_status partition_build(struct tide_writer *w, const void *arg, struct tide_err *err);
/* The same for a full one by connections of their own, while this one goes on. None could be had:
 * full->build is NULL. What they leave undone, partition_build does. */
tide_status partition_build_begin(struct tide_writer *w, struct full *full, struct tide_err *err);
/* Waits for its indexes. */
void partition_build_indexes(struct tide_writer *w, struct full *full);
/* Marks the partition as the oldest: its rows are merged once it has its indexes. */
void partition_build_merge(struct tide_writer *w, struct full *full);
/* Returns true if the connections of the build have no work left. */
bool partition_build_ended(const struct full *full);
/* Waits until it has ended, then attaches the partition on the session where its rows were merged;
 * stop: it is stopped, and nothing is attached. True when it is attached. *perhaps: it may be, for
 * the answer to COMMIT was lost. */
bool partition_build_end(struct tide_writer *w, struct full *full, bool stop, bool *perhaps);
/* Builds and attaches what is loading. perhaps: it is built, and may be attached. */
tide_status partition_finish(struct tide_writer *w, bool perhaps, struct tide_err *err);
/* The loading partition is full: its indexes are built while the next one loads. */
tide_status partition_complete(struct tide_writer *w, struct tide_err *err);
/* Attaches the full partitions, once they are built. */
tide_status partition_settle(struct tide_writer *w, struct tide_err *err);
/* The oldest, if that needs no waiting. */
tide_status partition_settle_built(struct tide_writer *w, struct tide_err *err);

/* attach.c: whether attaching what is loading moves the cursor */
bool attach_moves_cursor(const struct tide_writer *w);
/* Steps. The first is the whole transaction; perhaps (const bool *): it may have been committed. */
tide_status attach_partition(struct tide_writer *w, const void *perhaps, struct tide_err *err);
tide_status attach_analyse_words(struct tide_writer *w, const void *arg, struct tide_err *err);
/* The transaction in two halves, on a second session: a copy of the writer with that session's
 * connection; its `loading` is the full partition. The first half, on any thread, leaves the
 * transaction open. The second belongs to the writer's thread. *sent: COMMIT was sent, so after a
 * failure the transaction may stand. */
tide_status attach_begin_beside(struct tide_writer *second, struct tide_err *err);
tide_status attach_end_beside(struct tide_writer *second, bool *sent, struct tide_err *err);

/* Statistics of the parents, by as many connections. */
tide_status statistics_of_parents(struct tide_writer *w, struct tide_err *err);

/* publication.c */
struct publications {
    bool any;        /* some publication has a partitioned table */
    char names[204]; /* as SQL, for people; may be cut           */
};
tide_status publication_find(struct tide_writer *w, struct publications *out, struct tide_err *err);
/* Attaches the loading partition, which is empty, if rows must go through the parents. */
tide_status publication_attach_empty(struct tide_writer *w, struct tide_err *err);
/* In the transaction that attached a loaded partition: TIDE_E_DB_FATAL if subscribers would miss
 * its rows. A publication that names a table waits for its lock, so none comes in between. One of
 * all tables or of a schema locks none: made in the moment of that COMMIT, it is not seen. */
tide_status publication_check_load(struct tide_writer *w, struct tide_err *err);

#endif
