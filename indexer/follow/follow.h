/* A job of run or backfill: source, decoder and writer over a range of ledgers, with heartbeats and
 * the past of discovered tokens. One thread owns a job. The pipeline has threads of its own. */
#ifndef INDEXER_FOLLOW_FOLLOW_H
#define INDEXER_FOLLOW_FOLLOW_H

#include "indexer/follow/discovery.h"
#include "indexer/follow/progress.h"
#include "indexer/write/writer.h"
#include "tidemark/config.h"
#include "tidemark/notify.h"

struct tide_source;
struct tide_supervise;
struct tide_prover;

struct tide_follow {
    const struct tide_config *config;
    const struct tide_table *tables;
    uint32_t table_count;
    struct tide_deployment *deployment;
    struct tide_writer *writer;
    struct tide_discovery *discovery;
    struct tide_prover *prover; /* NULL: `archive` is unset, or the job is a backfill */
    struct tide_progress progress;
    struct tide_supervise *supervise; /* NULL unless systemd started this process */
    uint64_t moves_seen;              /* by the writer before this one (write/writer.h) */
    uint32_t tip, ledger;             /* newest ledger known, newest committed */
    int64_t heartbeat_ms, source_away_ms;
    bool troubled; /* the source was in trouble when it was last asked */
    /* following: the last commit was at the tip. began: this process has written before. */
    bool following, began;
    const struct tide_source *source; /* set while a range is indexed */
};

/* Opens what a job needs: deployment file, source (to check it), writer and discovery. Returns when
 * this process is the writer. Call tide_follow_close in any case. TIDE_E_CONFIG, TIDE_E_CHAIN
 * (another network's source), and the failures of tide_writer_open. */
tide_status tide_follow_open(struct tide_follow *job, const struct tide_config *config,
                             struct tide_err *err);
/* Call after TIDE_E_FENCED: another writer took over, or the server has lost commits. Waits as a
 * standby again, in the same process. */
tide_status tide_follow_reopen(struct tide_follow *job, struct tide_err *err);
void tide_follow_close(struct tide_follow *job);

/* Starts to prove checkpoints (indexer/prove), if `archive` is set and they are not being proven
 * already. A fork then ends tide_follow_index with TIDE_E_CHAIN. */
tide_status tide_follow_prove(struct tide_follow *job, struct tide_err *err);

/* Returns the first ledger of an empty index; 0: the first one that the source has. */
uint32_t tide_follow_first_ledger(const struct tide_follow *job);

/* Reads the hash that the source says a ledger has, from it or from the one behind it. Nothing
 * proves the answer. TIDE_E_MISSING: the source has neither. */
tide_status tide_follow_hash(struct tide_follow *job, uint32_t ledger,
                             uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err);

/* Indexes a range; range.to 0 has no end. A source that ends early is no failure: compare
 * job->ledger. TIDE_E_FENCED, TIDE_E_STOPPED, TIDE_E_POISON (crash_limit), and the failures of the
 * source and the decoder. */
tide_status tide_follow_index(struct tide_follow *job, struct tide_range range,
                              struct tide_err *err);

/* Writes a heartbeat with that state. error is NULL if there is no trouble. */
void tide_follow_heartbeat(struct tide_follow *job, const char *state, const char *error);

#endif
