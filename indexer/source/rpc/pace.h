/* When to ask for the next ledger: how often ledgers close is learnt from when they came. The first
 * question comes a little before the moment at which half of them are there, and the pauses behind
 * it grow. Pure; times are milliseconds of any clock that only goes forward.
 *
 * A ledger costs about two questions, RPC_PACE_POLLS at most while ledgers come at all; when none
 * comes for long, one question a close interval, at least one a second. */
#ifndef INDEXER_SOURCE_RPC_PACE_H
#define INDEXER_SOURCE_RPC_PACE_H

#include "tidemark/base.h"

enum { RPC_PACE_POLLS = 14 };

struct rpc_pace {
    double interval_ms; /* between ledgers; 0: not known yet */
    double jitter_ms;   /* how far off the moment usually is */
    double last_ms;     /* when the newest ledger came, as far as known */
    double seen_ms;     /* the question that brought it */
    double miss_ms;     /* the last question that came too early */
    uint32_t misses;    /* since the newest ledger */
    uint32_t first;     /* ledgers in a row that the first question brought */
    uint32_t count;     /* ledgers that interval_ms was learnt from */
    uint32_t odd;       /* in a row that interval_ms does not fit to */
    bool begun;         /* last_ms means something */
};

/* A question at now_ms was too early. */
void rpc_pace_miss(struct rpc_pace *pace, int64_t now_ms);
/* A question at now_ms brought count (at least 1) new ledgers, the newest there is among them. */
void rpc_pace_hit(struct rpc_pace *pace, int64_t now_ms, uint32_t count);
/* Milliseconds from now_ms until the next question. */
int64_t rpc_pace_wait(const struct rpc_pace *pace, int64_t now_ms);

#endif
