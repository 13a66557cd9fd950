/* Keys, indexes and statistics of a loaded partition, by several sessions at a time. */
#ifndef INDEXER_WRITE_LOAD_BUILD_H
#define INDEXER_WRITE_LOAD_BUILD_H

#include "indexer/write/load/attach.h"

/* index_connections: number of sessions that may build at once; 0: 1.5 for each core. */
struct load_build_options {
    const struct write_rollups *rollups; /* borrowed */
    uint32_t connections;
};

/* A build that runs beside the writer, with threads and sessions of its own. */
struct load_build; /* opaque */

/* Makes the keys and indexes that the tables of the range still lack, also on the writer's session.
 * Waits until all are made. */
tide_status load_build_run(struct write_main *m, const struct load_build_options *options,
                           const struct load_range *range, struct tide_err *err) TIDE_MUST_USE;
/* Analyses the parent tables after a load, in up to options->connections sessions. */
tide_status load_build_statistics(struct write_main *m, const struct load_build_options *options,
                                  struct tide_err *err) TIDE_MUST_USE;

/* Begins the build of a full partition beside the writer. *out is NULL if no session could be
 * opened; load_build_run then does the work. */
tide_status load_build_begin(struct write_main *m, const struct load_build_options *options,
                             const struct load_range *range, struct load_build **out,
                             struct tide_err *err) TIDE_MUST_USE;
/* Waits until its indexes are built. NULL is allowed here and below. */
void load_build_wait_indexes(struct write_main *m, struct load_build *build);
/* Tells the build that its partition is the oldest. The build then merges the rows once the indexes
 * exist. */
void load_build_merge(struct load_build *build, const struct write_cursor *cursor);
/* Returns true if its sessions have no work left. */
bool load_build_is_done(const struct load_build *build);
/* Waits until the build has ended, attaches the partition on the session that merged its rows, and
 * frees the build. stop: stops the build and attaches nothing. Returns true if the partition is
 * attached. *perhaps: it may be attached, because the answer to COMMIT was lost. */
bool load_build_end(struct write_main *m, struct load_build *build, bool stop, bool *perhaps);

#endif
