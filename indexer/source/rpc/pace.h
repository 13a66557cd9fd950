/* Decides when to ask for the next ledger. The interval between ledgers is learnt from the times at
 * which they came. The first request is sent a little before the ledger is expected, and the pauses
 * after it grow. Pure; times are milliseconds of any monotonic clock. A ledger costs about two
 * requests, at most RPC_PACE_POLLS. If no ledger comes for long, one request is sent in each
 * interval, but at most one a second. */
#ifndef INDEXER_SOURCE_RPC_PACE_H
#define INDEXER_SOURCE_RPC_PACE_H

#include "tidemark/base.h"

enum { RPC_PACE_POLLS = 14 };

struct rpc_pace {
    double interval_ms; /* interval between ledgers; 0: not known yet */
    double jitter_ms;   /* usual difference between expected and actual time */
    double last_ms;     /* time at which the newest ledger came, as far as known */
    double seen_ms;     /* time of the request that delivered it */
    double miss_ms;     /* time of the last request that came too early */
    uint32_t misses;    /* requests since the newest ledger that came too early */
    uint32_t first;     /* ledgers in a row that the first request delivered */
    uint32_t count;     /* ledgers from which interval_ms was learnt */
    uint32_t odd;       /* ledgers in a row that do not fit interval_ms */
    bool begun;         /* last_ms is valid */
};

/* Notes that a request at now_ms was too early. */
void rpc_pace_miss(struct rpc_pace *pace, int64_t now_ms);
/* Notes that a request at now_ms delivered count (at least 1) new ledgers, including the newest. */
void rpc_pace_hit(struct rpc_pace *pace, int64_t now_ms, uint32_t count);
/* Notes that ledgers came at unknown times. The interval stays. */
void rpc_pace_forget(struct rpc_pace *pace);
/* Returns the milliseconds from now_ms until the next request. */
int64_t rpc_pace_wait(const struct rpc_pace *pace, int64_t now_ms);

#endif
