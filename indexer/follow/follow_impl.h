/* Functions that follow.c and index.c share. */
#ifndef INDEXER_FOLLOW_FOLLOW_IMPL_H
#define INDEXER_FOLLOW_FOLLOW_IMPL_H

#include "indexer/follow/follow.h"
#include "indexer/source/source.h"

bool follow_is_endless(const struct tide_follow *job, struct tide_range range);
/* Writes a heartbeat with the job's own state, or "degraded" if the source has been in trouble for
 * long. */
void follow_report(struct tide_follow *job);
/* Opens the source and seeks. Waits for a source that is away if the range has no end. */
tide_status follow_open_source(struct tide_follow *job, struct tide_source *source,
                               struct tide_range range, struct tide_err *err);

#endif
