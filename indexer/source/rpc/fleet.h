/* Uses several Stellar RPC servers of one network as one source: chooses the server to ask, leaves
 * servers that fail, and compares them.
 *
 * Failures  a server that fails is left alone for a pause that doubles (with jitter, at least
 *           Retry-After), and the next one is asked. If no server is left, the fleet pauses and
 *           tries again, without limit unless give_up is set.
 * Lag       the newest ledger of all servers is remembered. With several servers a thread watches
 *           those that are not in use. A server that is RPC_LAG_LEDGERS ahead takes over. A server
 *           that failed does not count as ahead until it answers again. A server that reports a
 *           ledger so far ahead and does not deliver the next one has failed.
 * Confirm   ledgers are delivered once another server has them, with the same hash. A server that
 *           answers and is a little behind is waited for, at most rpc_confirm_ms if it is the only
 *           other one.
 * Trust     a server is asked for ledgers once one of its ledgers was compared with the others'. A
 *           server that contradicts itself, or is outvoted, is put aside and compared again later.
 * Forks     the hash of each ledger that any server delivered lately is remembered. If no vote
 *           decides, or all servers contradict the stored chain, the source ends: TIDE_E_CHAIN.
 * Threads   fetch is for one thread; range and trouble are for any. */
#ifndef INDEXER_SOURCE_RPC_FLEET_H
#define INDEXER_SOURCE_RPC_FLEET_H

#include "indexer/source/source.h"
#include "tidemark/rpc.h"

struct rpc_fleet; /* opaque */

struct rpc_fleet_options {
    const struct tide_source_options *source; /* borrowed */
    bool (*cancelled)(void *self);            /* if it returns true, a running request ends */
    void *self;
};

/* Asks every server for its network and range, and compares the servers. TIDE_E_CONFIG,
 * TIDE_E_MEMORY, and TIDE_E_CHAIN for a fork, or if all servers are of another network. A server
 * that does not answer is asked again when it is needed. */
tide_status rpc_fleet_open(struct rpc_fleet **out, const struct rpc_fleet_options *options,
                           struct tide_err *err) TIDE_MUST_USE;
void rpc_fleet_close(struct rpc_fleet *fleet); /* NULL is allowed */

/* The wanted ledgers: from `first` on, none after `last` (0: no end). */
struct rpc_want {
    uint32_t first, last;
    bool give_up; /* RPC_END with TIDE_E_IO after http_tries failures in a row of all servers */
};

enum rpc_outcome {
    RPC_PAGE,  /* *page begins with ledger first and has no gap */
    RPC_TIP,   /* the ledger does not exist yet */
    RPC_HELD,  /* no other server has it yet; ask again, with the same body and page */
    RPC_GONE,  /* all servers begin later; err is TIDE_E_MISSING and names the oldest ledger */
    RPC_PAUSE, /* no server answers now; ask again after *pause_ms */
    RPC_END,   /* err: TIDE_E_CHAIN, TIDE_E_MISSING (a gap that stays), TIDE_E_IO, TIDE_E_MEMORY,
                  TIDE_E_STOPPED */
};

/* Fetches a page. body holds the answer; page borrows from it. After RPC_HELD both hold a page that
 * a later call with the same want delivers without fetching it again. */
enum rpc_outcome rpc_fleet_fetch(struct rpc_fleet *fleet, const struct rpc_want *want,
                                 struct tide_buf *body, struct tide_rpc_page *page,
                                 uint32_t *pause_ms, struct tide_err *err);

/* Reports that a delivered ledger is bad, with the reason. Puts its server aside. Returns false if
 * no other server is left. For the reading thread. */
bool rpc_fleet_doubt(struct rpc_fleet *fleet, uint32_t ledger, const struct tide_err *why);

/* Sets *oldest to the oldest ledger of the server in use and *latest to the newest one that can be
 * delivered; 0 if unknown. */
void rpc_fleet_range(struct rpc_fleet *fleet, uint32_t *oldest, uint32_t *latest);
/* Returns the newest ledger of the network: of three servers two must report it or a later one. */
uint32_t rpc_fleet_newest(struct rpc_fleet *fleet);
/* Returns the milliseconds since no server works, or since a server is not trusted, with the
 * reason; 0 if all is well. */
int64_t rpc_fleet_trouble(struct rpc_fleet *fleet, char *text, size_t size);

#endif
