/* Several Stellar RPC servers of one network as one: which is asked, which is left, and whether
 * they agree.
 *
 * Failures  a server that fails is left alone for a while that doubles (with jitter, at least
 *           what Retry-After says) and the next one is asked. If none is left: a pause, again
 *           and again, unless give_up.
 * Lag       the newest ledger of all is remembered and never goes back. With several servers a
 *           thread looks at those that are not in use; one that is rpc_lag_ledgers ahead takes
 *           over. A server that failed is not ahead until it answers again. One that told a ledger
 *           so far ahead and does not give the next one has failed.
 * Trust     a server gives ledgers once one of its ledgers was compared with the others'. One that
 *           contradicts itself, or is outvoted, is put aside and compared again later.
 * Forks     the hash of each ledger that any server told lately is remembered. If no vote tells
 *           who is right, or all contradict what is stored, it ends: TIDE_E_CHAIN.
 * Threads   fetch is for one thread; range and trouble are for any. */
#ifndef INDEXER_SOURCE_RPC_FLEET_H
#define INDEXER_SOURCE_RPC_FLEET_H

#include "indexer/source/rpc/client.h"
#include "indexer/source/source.h"

enum { RPC_SERVERS_MAX = 8 };

struct rpc_fleet; /* opaque */

struct rpc_fleet_options {
    const struct tide_source_options *source; /* borrowed */
    bool (*cancelled)(void *self);            /* ends a request under way */
    void *self;
};

/* Asks every server for its network and range, and compares them. TIDE_E_CONFIG, TIDE_E_MEMORY, and
 * TIDE_E_CHAIN for a fork, or when all are of another network. One that does not answer is asked
 * again when it is needed. */
tide_status rpc_fleet_open(struct rpc_fleet **out, const struct rpc_fleet_options *options,
                           struct tide_err *err) TIDE_MUST_USE;
void rpc_fleet_close(struct rpc_fleet *fleet); /* NULL is fine */

/* Ledgers wanted: from first on, none after last (0: no end). */
struct rpc_want {
    uint32_t first, last;
    bool give_up; /* RPC_END with TIDE_E_IO after http_tries failures in a row of all servers */
};

enum rpc_outcome {
    RPC_PAGE,  /* *page begins with ledger first and has no gap */
    RPC_TIP,   /* the ledger is not there yet */
    RPC_GONE,  /* every server begins later; err is TIDE_E_MISSING and says where */
    RPC_PAUSE, /* no server answers now; *pause_ms until it makes sense to ask again */
    RPC_END,   /* err: TIDE_E_CHAIN, TIDE_E_MISSING (a gap that stays), TIDE_E_IO, TIDE_E_MEMORY,
                  TIDE_E_STOPPED */
};

/* body holds the answer; page borrows from it. */
enum rpc_outcome rpc_fleet_fetch(struct rpc_fleet *fleet, const struct rpc_want *want,
                                 struct tide_buf *body, struct rpc_page *page, uint32_t *pause_ms,
                                 struct tide_err *err);

/* A ledger that the fleet gave is bad, as why says. Puts its server aside; false if no other one is
 * left. For the reading thread. */
bool rpc_fleet_doubt(struct rpc_fleet *fleet, uint32_t ledger, const struct tide_err *why);

/* Oldest ledger of the server in use and newest of all; 0 when not known. */
void rpc_fleet_range(struct rpc_fleet *fleet, uint32_t *oldest, uint32_t *latest);
/* Milliseconds since nothing works, or since a server is not believed, and why; 0 when all is
 * well. */
int64_t rpc_fleet_trouble(struct rpc_fleet *fleet, char *text, size_t size);

#endif
