/* When to ask for the next ledger: how often ledgers close is learnt from when they came, and
 * questions lie close together around the moment the next one is due. Pure; times are
 * milliseconds of any clock that only goes forward.
 *
 * A ledger costs at most RPC_PACE_POLLS questions while ledgers come at all; when none comes for
 * long, one question a close interval, at least one a second. */
#ifndef INDEXER_SOURCE_RPC_PACE_H
#define INDEXER_SOURCE_RPC_PACE_H

#include "tidemark/base.h"

enum { RPC_PACE_POLLS = 20 };

struct rpc_pace {
    double interval_ms; /* between ledgers; 0: not known yet */
    double jitter_ms;   /* how far off the moment usually is */
    double last_ms;     /* when the newest ledger came, as far as known */
    double miss_ms;     /* the last question that came too early */
    uint32_t misses;    /* since the newest ledger */
    bool begun;         /* last_ms means something */
};

/* A question at now_ms was too early. */
void rpc_pace_miss(struct rpc_pace *pace, int64_t now_ms);
/* A question at now_ms brought count (at least 1) new ledgers, the newest there is among them. */
void rpc_pace_hit(struct rpc_pace *pace, int64_t now_ms, uint32_t count);
/* Milliseconds from now_ms until the next question. */
int64_t rpc_pace_wait(const struct rpc_pace *pace, int64_t now_ms);

#endif
