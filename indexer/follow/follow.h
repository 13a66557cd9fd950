/* run and backfill at work: source, decoder and writer over a range of ledgers, with heartbeats and
 * the past of discovered tokens. One thread owns a job; the pipeline has threads of its own. */
#ifndef INDEXER_FOLLOW_FOLLOW_H
#define INDEXER_FOLLOW_FOLLOW_H

#include "indexer/database/scope.h"
#include "indexer/follow/discovery.h"
#include "indexer/follow/progress.h"
#include "indexer/write/writer.h"
#include "tidemark/config.h"
#include "tidemark/notify.h"

struct tide_source;
struct tide_supervise;

struct tide_follow {
    const struct tide_config *config;
    const struct tide_table *tables;
    uint32_t table_count;
    struct tide_scope scope;
    struct tide_buf scope_text;
    struct tide_deployment *deployment;
    struct tide_writer *writer;
    struct tide_discovery *discovery;
    struct tide_progress progress;
    struct tide_supervise *supervise; /* NULL: systemd did not start this process */
    struct tide_witness witness;      /* of the writer before this one */
    uint32_t tip, ledger;             /* newest known, newest committed */
    int64_t heartbeat_ms, source_away_ms;
    bool following, began;
    bool waits; /* a token that a catalog names has no place */
    bool renew; /* a market has named a token meanwhile, so a place is free for one that waits */
    const struct tide_source *source; /* while a range is indexed */
};

/* Opens what a job needs: deployment file, source (to check it), writer, discovery. Returns when
 * this process is the writer. Close in any case.
 * TIDE_E_CONFIG, TIDE_E_CHAIN (another network's source), and those of tide_writer_open. */
tide_status tide_follow_open(struct tide_follow *job, const struct tide_config *config,
                             struct tide_err *err);
/* After TIDE_E_FENCED: another writer took over, or the server has lost commits. Waits as standby
 * again, in the same process. */
tide_status tide_follow_reopen(struct tide_follow *job, struct tide_err *err);
void tide_follow_close(struct tide_follow *job);

/* The ledger that an empty index begins with; 0: the first one that the source has. */
uint32_t tide_follow_first_ledger(const struct tide_follow *job);

/* Indexes a range; to 0: without end. A source that ends early is no error: compare job->ledger.
 * TIDE_E_FENCED, TIDE_E_STOPPED, TIDE_E_POISON, and those of the source and the decoder. */
tide_status tide_follow_index(struct tide_follow *job, struct tide_range range,
                              struct tide_err *err);

/* Writes a heartbeat with that state; error is NULL if all is well. */
void tide_follow_heartbeat(struct tide_follow *job, const char *state, const char *error);

#endif
