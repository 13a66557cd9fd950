/* The writer: commits batches, each in one transaction. One process at a time writes.
 *
 * A transaction    BEGIN, fence · the rows of every table · merge the newest version of each key
 *                  into state · fold the rows into rollups · cursor, coverage, counts · NOTIFY
 *                  tidemark, 'DEPLOYMENT LEDGER' · COMMIT. With few rows, as at the tip, all before
 *                  COMMIT is one round trip. Many rows go by COPY, table by table.
 * Loading          A ledger whose partition does not exist opens one for loading: its tables are
 *                  no partitions yet and have no indexes. Rows and progress still commit together,
 *                  but nothing is visible until tide_writer_finish (or the partition's end). It
 *                  builds indexes, then attaches all tables, merges state, folds rollups, and moves
 *                  coverage and cursor in one transaction. All but the last step runs on sessions
 *                  of their own while the next partition loads. After a kill the next writer
 *                  continues.
 * Earlier ranges   never overwrite newer state nor bring back what was removed later.
 * One writer       holds an advisory lock and a lease (session/lease.h). Others wait as standby,
 *                  and end the sessions of a writer whose lease expired. A writer draws a
 *                  random number that no other one has, and each transaction checks the fence: the
 *                  row of chain.cursor has that number, and the commits, the ledger and the hash
 *                  that the transaction continues. So a writer that lost its connection, or met
 *                  another primary's rows, cannot write.
 * Lost commits     A server that lost commits (a failover) has fewer than this process has seen:
 *                  TIDE_E_FENCED. Opened again with moves_seen, the writer continues from the
 *                  stored rows, and chain.cursor.generation grows.
 * Retry            happens here and nowhere else: a transaction that may succeed later is repeated
 *                  whole, with growing pauses, until it succeeds or a stop is asked for. Giving up
 *                  would only move the waiting to the service manager, which restarts the process.
 *                  Each repetition is logged, and counted in the heartbeat. After a lost answer to
 *                  COMMIT the writer reads chain.cursor.moves to see whether it succeeded.
 * Duplicate key    Fence and cursor exclude duplicates by the writer, so another program wrote the
 *                  row in the way. TIDE_E_DB_FATAL with table and key. Nothing is overwritten, and
 *                  the transaction is rolled back. */
#ifndef INDEXER_WRITE_WRITER_H
#define INDEXER_WRITE_WRITER_H

#include "indexer/database/range.h"
#include "indexer/decode/batch.h"
#include "indexer/write/session/lease.h"
#include "tidemark/deployment.h"
#include "tidemark/pg.h"

struct tide_writer; /* opaque */

struct tide_writer_options {
    const char *conninfo;
    const struct tide_table *tables; /* borrowed; usually tide_tables() */
    uint32_t table_count;
    struct tide_deployment *deployment; /* borrowed; tide_writer_open fills in its id, adds
                                           the contracts discovered so far */
    uint32_t first_ledger;   /* first ledger of the deployment; 0: the lowest one that is indexed */
    uint32_t discovered_max; /* most tokens that are followed only because catalogs name them */
    uint32_t partition_ledgers;
    /* rows of up to this many bytes go as arrays in one round trip. More go by COPY, which takes
     * more round trips, but less time for each row. */
    size_t array_bytes;
    uint32_t standby_poll_ms;
    uint32_t retry_ms_max;
    uint32_t silence_ms;        /* see struct tide_pg_options */
    uint32_t index_connections; /* sessions that build indexes at once; 0: 1.5 for each core */
    bool standby;               /* wait for the lock; false: TIDE_E_CONFLICT when it is held */
    bool migrate;               /* apply missing migrations first */
    bool hold_lease;            /* renew the lease and write chain.heartbeat, in a thread */
    uint64_t moves_seen;        /* commits that an earlier writer in this process saw; 0: none */
    bool (*stopped)(void *self);
    void *stopped_self;
};

/* Connects (repeatedly while the database is away), migrates or checks the schema, resolves the
 * deployment, waits for the lock, becomes the writer, and reads the state of the tables.
 * TIDE_E_CONFLICT: the stored network differs, or the lock is held and !standby.
 * TIDE_E_CHAIN: the deployment has a fork (tide_fork_reject). Also TIDE_E_SCHEMA, TIDE_E_CONFIG,
 * TIDE_E_DB_FATAL, TIDE_E_STOPPED. */
tide_status tide_writer_open(struct tide_writer **out, const struct tide_writer_options *options,
                             struct tide_err *err) TIDE_MUST_USE;
void tide_writer_close(struct tide_writer *writer); /* NULL is allowed */

/* Adds the contracts that were discovered since open to the deployment of the options. */
tide_status tide_writer_adopt(struct tide_writer *writer, struct tide_err *err) TIDE_MUST_USE;

/* Gives the places that are left to the tokens that catalogs named first, then adopts contracts.
 * Call between two pipelines: a running decoder would not know the tokens. */
tide_status tide_writer_promote(struct tide_writer *writer, struct tide_err *err) TIDE_MUST_USE;
/* Sets *leads if all ledgers from the first one to the one before `ledger` are indexed, and none
 * after it, so that the decoder may give places to tokens that catalogs name from `ledger` on.
 * ledger 0: the first indexed one. */
tide_status tide_writer_leads(struct tide_writer *writer, uint32_t ledger, bool *leads,
                              struct tide_err *err) TIDE_MUST_USE;

/* Returns the ledger after all committed ones that continue the cursor, loading ones included, and
 * the hash that it must follow; 0 if the tables are empty. */
uint32_t tide_writer_next(const struct tide_writer *writer, uint8_t previous_hash[TIDE_HASH_BYTES]);
/* Returns the ledgers of a partition: of the existing ones, else as configured. Batches must not
 * cross the ends of partitions. */
uint32_t tide_writer_partition_ledgers(const struct tide_writer *writer);
/* Returns the ledger at which a start from a checkpoint cut its partition, which batches must not
 * cross either; 0: none. */
uint32_t tide_writer_cut(const struct tide_writer *writer);
/* Returns the ledger of the state with which the index began; 0: it has all ledgers before. */
uint32_t tide_writer_held_before(const struct tide_writer *writer);
/* Reads the hash of a ledger that ends a covered or loading range. *known is false if it is not
 * known. */
tide_status tide_writer_hash(struct tide_writer *writer, uint32_t ledger, bool *known,
                             uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err) TIDE_MUST_USE;
/* Takes ledgers out of the coverage whose rows are missing (chain.holes), and logs them. They can
 * be committed again. */
tide_status tide_writer_uncover(struct tide_writer *writer, struct tide_err *err) TIDE_MUST_USE;
/* Lists the parts of `wanted` that are neither covered nor loading, in order, at most max of
 * them. */
tide_status tide_writer_missing(struct tide_writer *writer, struct tide_range wanted,
                                struct tide_range *out, uint32_t max, uint32_t *count,
                                struct tide_err *err) TIDE_MUST_USE;

/* Commits a batch that is not empty, lies within one partition, and follows the committed ledgers
 * or fills a part that tide_writer_missing listed. After a failure nothing of it is in the
 * database.
 * TIDE_E_FENCED    another writer took over
 * TIDE_E_CHAIN     its hashes do not fit the ranges next to it
 * TIDE_E_CONFLICT  it overlaps indexed ledgers */
tide_status tide_writer_commit(struct tide_writer *writer, const struct tide_batch *batch,
                               struct tide_err *err) TIDE_MUST_USE;

/* A state with which an empty index begins, as of a ledger. The index lacks its transactions. */
struct tide_start {
    uint32_t ledger, protocol;
    uint8_t hash[TIDE_HASH_BYTES], previous_hash[TIDE_HASH_BYTES];
    uint64_t closed_ms; /* unix milliseconds */
    /* Validators signed the hash of this ledger, which follows from `ledger`. Their public keys are
     * an array in PostgreSQL's form. 0 and NULL: nothing proves the hash. */
    uint32_t signed_ledger;
    const char *signed_by;
    /* Gives all rows, piece by piece, to put(put_self, piece). Pieces have from = to = ledger, rows
     * of history tables, at most one for each key, and of chain.contract_seen. Called again after a
     * failure of the database. */
    tide_status (*rows)(void *self,
                        tide_status (*put)(void *put_self, const struct tide_batch *piece,
                                           struct tide_err *err),
                        void *put_self, struct tide_err *err);
    void *self;
};
/* Stores the rows, the cursor and chain.start in one transaction. The next ledger is the one behind
 * start->ledger. TIDE_E_CONFLICT: something is indexed; otherwise like tide_writer_commit. */
tide_status tide_writer_start(struct tide_writer *writer, const struct tide_start *start,
                              struct tide_err *err) TIDE_MUST_USE;
/* Reads the ledger of the state that the index began with; 0: it began with a ledger. */
tide_status tide_writer_started(struct tide_writer *writer, uint32_t *ledger,
                                struct tide_err *err) TIDE_MUST_USE;

/* How far the past below that state is loaded. */
struct tide_fill {
    uint32_t start; /* the state's ledger; 0: no past is missing */
    uint32_t first; /* first loaded ledger; 0: none is loaded */
    uint32_t next;  /* the ledger after the loaded ones */
};
/* Prepares to load the past: from then on tide_writer_commit takes the ledgers below start in
 * order, from fill->next (or any, if none is loaded), each batch invisible. The batch of ledger
 * `start` alone, after all of them, makes all visible in one transaction:
 * TIDE_E_CHAIN     it is another ledger than the checkpoint's, or does not follow
 * TIDE_E_CONFLICT  the ledgers leave another state; each difference is logged
 * TIDE_E_CONFIG    the server has too few locks to attach all partitions at once
 * anew: drops what is loaded. */
tide_status tide_writer_fill(struct tide_writer *writer, bool anew, struct tide_fill *fill,
                             struct tide_err *err) TIDE_MUST_USE;

/* Makes loaded ledgers visible: indexes, attach, state, cursor. Does nothing if there are none. */
tide_status tide_writer_finish(struct tide_writer *writer, struct tide_err *err) TIDE_MUST_USE;
bool tide_writer_is_loading(const struct tide_writer *writer);
/* Makes the next partition if ledger is in the last tenth of its own. For the tip: a partition that
 * exists is never loaded. */
tide_status tide_writer_ahead(struct tide_writer *writer, uint32_t ledger,
                              struct tide_err *err) TIDE_MUST_USE;

/* A gap of discovered contracts: ledgers that were indexed before these contracts were known. */
struct tide_gap {
    struct tide_range range;
    bool market;             /* the contracts are markets' tokens; false: only catalogs name them */
    uint32_t contract_count; /* 0: there is no gap */
    uint8_t ids[TIDE_CONTRACTS_MAX][TIDE_HASH_BYTES];
    /* The role as which each contract is read. Meanwhile other ledgers may show that its role is
     * another one. */
    enum tide_role roles[TIDE_CONTRACTS_MAX]; /* TIDE_ROLE_COUNT: not known yet */
};
/* Reads the earliest gap of markets' tokens, or else the earliest gap, with all contracts of that
 * kind that have it. Allowed while a partition is loading. */
tide_status tide_writer_gap(struct tide_writer *writer, struct tide_gap *gap,
                            struct tide_err *err) TIDE_MUST_USE;
/* Adds the rows of ledgers of the gap to the stored ones, and moves the start of the gap behind
 * them, in one transaction. Batches come in order; nothing may be loading. A batch has the rows of
 * all the deployment's contracts for each of its ledgers that contains one of the gap's contracts,
 * and no rows for its other ledgers. *moved: the gap began in these ledgers for one of its
 * contracts. If not, all contracts turned out to be of another kind meanwhile and have gaps of
 * their own.
 * TIDE_E_CHAIN    they are not the ledgers that are indexed
 * TIDE_E_MISSING  their partitions are archived */
tide_status tide_writer_commit_gap(struct tide_writer *writer, const struct tide_gap *gap,
                                   const struct tide_batch *batch, bool *moved,
                                   struct tide_err *err) TIDE_MUST_USE;
/* Stores the reason why the gap cannot be read now. text may be err->text. */
tide_status tide_writer_gap_trouble(struct tide_writer *writer, const struct tide_gap *gap,
                                    const char *text, struct tide_err *err) TIDE_MUST_USE;

/* Returns whether the lease found that another writer took over: the next commit would be
 * refused. */
bool tide_writer_lost(const struct tide_writer *writer);
/* Returns the number of commits in the cursor's row, as this writer saw them. */
uint64_t tide_writer_moves(const struct tide_writer *writer);

/* Call repeatedly while there is nothing to commit. It sends a statement now and then, because the
 * server ends silent sessions. Fails like tide_writer_commit. */
tide_status tide_writer_idle(struct tide_writer *writer, struct tide_err *err) TIDE_MUST_USE;

/* Notes that work on ledger begins. Returns TIDE_E_POISON after `limit` crashes (0: any number) on
 * this ledger. A crash is a process that began and did not call tide_writer_ended. again: the last
 * end was no crash on this ledger, because the same process begins once more, or because the ledger
 * does not exist yet. */
tide_status tide_writer_attempt(struct tide_writer *writer, uint32_t ledger, uint32_t limit,
                                bool again, struct tide_err *err) TIDE_MUST_USE;
void tide_writer_ended(struct tide_writer *writer);

/* Sets the report that the lease's thread writes into chain.heartbeat from now on. The texts are
 * copied. While the writer repeats a transaction it reports the state "retrying" there itself. */
void tide_writer_heartbeat(struct tide_writer *writer, const struct tide_heartbeat *heartbeat);

#endif
