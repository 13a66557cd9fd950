/* The writer: batches in, one transaction each, by one process at a time.
 *
 * A transaction    BEGIN, fence · the rows of every table · merge the newest version of each key
 *                  into state · fold the rows into rollups · cursor, coverage, counts · NOTIFY
 *                  tidemark, 'DEPLOYMENT LEDGER' · COMMIT. All before COMMIT is one round trip
 *                  when the rows are few, as at the tip; when they are many they go by COPY, table
 *                  by table.
 * Loading          A ledger whose partition does not exist opens one for loading: its tables are
 *                  no partitions yet and have no indexes. Rows and progress still commit together,
 *                  but nothing is visible until tide_writer_finish (or the partition's end)
 *                  builds what is missing, then attaches all tables, merges state, folds
 *                  rollups, and moves coverage and cursor in one transaction. All but the
 *                  last of it is done on sessions of their own while the next partition loads.
 *                  Killed anywhere, the next writer goes on.
 * Earlier ranges   never overwrite newer state nor bring back what was removed later.
 * One writer       holds an advisory lock and a lease (session/lease.h). Others wait as standby,
 *                  and end the sessions of one whose lease ran out. Each transaction checks the
 *                  fence that the holder drew, so one that lost its connection cannot write.
 * Lost commits     A server that lost some (a failover) shows less than this process has seen:
 *                  TIDE_E_FENCED. Opened again with what was witnessed, the writer goes on from
 *                  what is there, and chain.cursor.generation grows.
 * Retry            here and nowhere else: a transaction that may succeed later is repeated whole,
 *                  with growing pauses, until it succeeds or a stop is asked for, however long it
 *                  takes. Giving up would only move the waiting to the service manager that
 *                  restarts us. Each time is logged, and counted in the heartbeat. A
 *                  lost answer to COMMIT is settled by reading chain.cursor.moves.
 * Duplicate key    cannot come of our own work, since fence and cursor say what is written: the
 *                  row in the way is another program's. TIDE_E_DB_FATAL with table and key; nothing
 *                  is overwritten, nothing of that transaction stays. */
#ifndef INDEXER_WRITE_WRITER_H
#define INDEXER_WRITE_WRITER_H

#include "indexer/database/range.h"
#include "indexer/decode/batch.h"
#include "indexer/write/session/heartbeat.h"
#include "tidemark/clock.h"
#include "tidemark/deployment.h"
#include "tidemark/pg.h"

struct tide_writer; /* opaque */

struct tide_writer_options {
    const char *conninfo;
    const struct tide_table *tables; /* borrowed; usually tide_tables() */
    uint32_t table_count;
    const bool *wanted;                 /* by table index (--only); borrowed */
    const bool *rollups;                /* by their index (rollup.h); NULL: all; borrowed */
    const char *scope;                  /* "*" or the canonical list of --only; borrowed */
    struct tide_deployment *deployment; /* borrowed; open fills in its id and adds
                                           the contracts discovered so far */
    uint32_t first_ledger;   /* of the deployment; 0: not said, the lowest one that is indexed */
    uint32_t discovered_max; /* tokens that are followed because catalogs alone name them */
    uint32_t partition_ledgers;
    size_t array_bytes; /* rows up to this go as arrays in one round trip, more of them by COPY,
                           which takes more round trips and less time a row */
    uint32_t standby_poll_ms;
    uint32_t retry_ms_max;
    uint32_t silence_ms;        /* see struct tide_pg_options */
    uint32_t index_connections; /* that build indexes at once; 0: 1.5 a core */
    bool standby;               /* wait for the lock; false: TIDE_E_CONFLICT when it is held */
    bool migrate;               /* apply missing migrations first */
    bool hold_lease;            /* renew the lease and write chain.heartbeat, in a thread */
    struct tide_witness {
        uint64_t moves, fence;
    } witness; /* of an earlier writer in this process; 0, 0: none */
    const struct tide_clock *clock;
    bool (*stopped)(void *self);
    void *stopped_self;
};

/* Connects (again and again, while the database is away), migrates or checks the schema,
 * resolves the deployment, waits for the lock, draws a fence, reads where the tables stand.
 * TIDE_E_CONFLICT  other network or other scope than what is stored; lock held and !standby
 * TIDE_E_SCHEMA, TIDE_E_CONFIG, TIDE_E_DB_FATAL, TIDE_E_STOPPED */
tide_status tide_writer_open(struct tide_writer **out, const struct tide_writer_options *options,
                             struct tide_err *err) TIDE_MUST_USE;
void tide_writer_close(struct tide_writer *writer); /* NULL is allowed */

/* Adds the contracts that were discovered since open to the deployment of the options. */
tide_status tide_writer_adopt(struct tide_writer *writer, struct tide_err *err) TIDE_MUST_USE;

/* Gives free places to the tokens that wait for one, then adopts. Sets *waits if others still wait.
 * Between two pipelines: a decoder that is at work would not know them. */
tide_status tide_writer_promote(struct tide_writer *writer, bool *waits,
                                struct tide_err *err) TIDE_MUST_USE;
/* Sets *leads if all ledgers from the first one to the one before ledger are there, and none behind
 * it, so that tokens that catalogs name from ledger on may get a place at once. A market of a
 * ledger behind it may have taken a token of theirs, which had its place until then. ledger 0: the
 * first one there is. */
tide_status tide_writer_leads(struct tide_writer *writer, uint32_t ledger, bool *leads,
                              struct tide_err *err) TIDE_MUST_USE;

/* The ledger after all that is committed onward of the cursor, loading included, and the hash it
 * must follow; 0 and false when the tables are empty. */
uint32_t tide_writer_next(const struct tide_writer *writer, uint8_t previous_hash[TIDE_HASH_BYTES]);
/* Returns the ledgers of a partition: of the existing ones, else as configured. Batches must not
 * cross the ends of partitions. */
uint32_t tide_writer_partition_ledgers(const struct tide_writer *writer);
/* Hash of a ledger that ends a covered or loading range; false when it is not known. */
tide_status tide_writer_hash(struct tide_writer *writer, uint32_t ledger, bool *known,
                             uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err) TIDE_MUST_USE;
/* The parts of wanted that are neither covered nor loading, in order; at most max of them. */
tide_status tide_writer_missing(struct tide_writer *writer, struct tide_range wanted,
                                struct tide_range *out, uint32_t max, uint32_t *count,
                                struct tide_err *err) TIDE_MUST_USE;

/* Commits a batch that is not empty, lies within one partition and follows what is committed
 * (or fills a part that tide_writer_missing named). On failure nothing of it is in the database.
 * TIDE_E_FENCED    another writer took over
 * TIDE_E_CHAIN     its hashes do not fit the ranges next to it
 * TIDE_E_CONFLICT  it overlaps what is there */
tide_status tide_writer_commit(struct tide_writer *writer, const struct tide_batch *batch,
                               struct tide_err *err) TIDE_MUST_USE;

/* Makes what is loading visible: indexes, attach, state, cursor. Nothing to do is fine. */
tide_status tide_writer_finish(struct tide_writer *writer, struct tide_err *err) TIDE_MUST_USE;
bool tide_writer_is_loading(const struct tide_writer *writer);
/* Makes the partition after the one of ledger when ledger is in its last tenth. For the tip: a
 * partition that exists is never loaded. */
tide_status tide_writer_ahead(struct tide_writer *writer, uint32_t ledger,
                              struct tide_err *err) TIDE_MUST_USE;

/* Ledgers that are indexed, but not for these contracts, which were discovered later. */
struct tide_gap {
    struct tide_range range;
    bool market;             /* of markets' tokens; else of tokens that only catalogs name */
    uint32_t contract_count; /* 0: there is no gap */
    uint8_t ids[TIDE_CONTRACTS_MAX][TIDE_HASH_BYTES];
    /* As which each is read: other ledgers may show meanwhile that it is something else. */
    enum tide_role roles[TIDE_CONTRACTS_MAX]; /* TIDE_ROLE_COUNT: not known yet */
};
/* The earliest gap of markets' tokens, or else the earliest of all, of all contracts of that kind
 * that have it. Also while a partition is loading. */
tide_status tide_writer_gap(struct tide_writer *writer, struct tide_gap *gap,
                            struct tide_err *err) TIDE_MUST_USE;
/* Adds the rows of ledgers of the gap to those that are there, and moves the beginning of the gap
 * behind them, in one transaction. Batches come in order; nothing is loading. A batch has the
 * rows of all the deployment's contracts for each of its ledgers that holds one of the gap's, and
 * none for its other ledgers. *moved: the gap began in these ledgers for one of its contracts. If
 * not, all of them showed meanwhile that they are something else, and have gaps of their own.
 * TIDE_E_CHAIN    they are not the ledgers that are indexed
 * TIDE_E_MISSING  their partitions are archived */
tide_status tide_writer_commit_gap(struct tide_writer *writer, const struct tide_gap *gap,
                                   const struct tide_batch *batch, bool *moved,
                                   struct tide_err *err) TIDE_MUST_USE;
/* Stores why the gap cannot be read now. text may be that of err. */
tide_status tide_writer_gap_trouble(struct tide_writer *writer, const struct tide_gap *gap,
                                    const char *text, struct tide_err *err) TIDE_MUST_USE;

/* The lease found that another writer took over: the next commit would be refused. */
bool tide_writer_lost(const struct tide_writer *writer);
struct tide_witness tide_writer_witness(const struct tide_writer *writer);

/* Nothing is there to commit: called again and again meanwhile, it asks the server for a sign of
 * life now and then, since a session that is silent for long is ended there. As
 * tide_writer_commit. */
tide_status tide_writer_idle(struct tide_writer *writer, struct tide_err *err) TIDE_MUST_USE;

/* Work on ledger begins: after limit crashes (0: any number) on this very ledger, TIDE_E_POISON
 * instead. again: what ended before was no crash on it, since the same process begins once more, or
 * since it is not there yet. A crash is a process that began and did not tell tide_writer_ended. */
tide_status tide_writer_attempt(struct tide_writer *writer, uint32_t ledger, uint32_t limit,
                                bool again, struct tide_err *err) TIDE_MUST_USE;
void tide_writer_ended(struct tide_writer *writer);

/* Sets the report that the lease's thread writes into chain.heartbeat from now on. The texts are
 * copied. While the writer repeats a transaction it reports the state "retrying" there itself. */
void tide_writer_heartbeat(struct tide_writer *writer, const struct tide_heartbeat *heartbeat);

#endif
