/* Shared by fleet.c and watch.c. */
#ifndef INDEXER_SOURCE_RPC_FLEET_IMPL_H
#define INDEXER_SOURCE_RPC_FLEET_IMPL_H

#include "indexer/source/rpc/fleet.h"
#include "indexer/source/rpc/memory.h"
#include "tidemark/retry.h"

enum { RPC_LOG_MS = 30000 }; /* between two log lines about the same server */

struct rpc_server {
    struct rpc_client client;  /* of the thread that fetches */
    struct rpc_client watcher; /* of the one that watches */
    uint32_t latest, oldest;   /* as told last; 0: not yet */
    bool silent;               /* failed since it told them; under the lock, as they are */
    uint32_t failures;         /* in a row */
    uint32_t gone_for;         /* the ledger that it said it has no more */
    int64_t retry_ms;          /* not before; of the fetching thread */
    int64_t watch_ms;          /* not before; of the watching one */
    int64_t logged_ms;
    bool boasted; /* told a ledger that it did not give, and gave none since */
};

static_assert((int)RPC_SERVERS_MAX <= (int)RPC_MEMORY_SERVERS, "each server has places of its own");

struct rpc_fleet {
    struct rpc_fleet_options options;
    const struct tide_config *config;
    struct rpc_rate rate;
    uint32_t count, current;
    uint32_t limit;       /* ledgers of the next page */
    uint32_t failures;    /* of all servers, since the last success */
    uint32_t gap_tries;   /* answers that left the wanted ledger out */
    struct tide_err last; /* failure */
    int64_t stored_ms;    /* last comparison with what is stored */
    struct tide_retry retry;
    pthread_t thread;
    bool watching;

    pthread_mutex_t lock; /* of what follows, and of the servers' latest, oldest and boasted */
    pthread_cond_t wake;
    bool closing;
    uint32_t latest; /* of all servers, ever, but for one that boasted */
    uint32_t asked;  /* the ledger that is being asked for */
    bool overtaken;  /* the question was ended because others went on meanwhile */
    int64_t trouble_ms;
    char trouble[TIDE_ERR_TEXT_MAX];
    bool forked; /* fork says how; for good */
    struct tide_err fork;
    struct rpc_memory memory;
    struct rpc_server servers[RPC_SERVERS_MAX];
};

/* Notes the range of ledgers that a server reported; 0: not reported. */
void rpc_fleet_note_range(struct rpc_fleet *f, uint32_t server, uint32_t oldest, uint32_t latest);
/* Notes that a server did not answer, or not well. */
void rpc_fleet_note_silent(struct rpc_fleet *f, uint32_t server);
/* The hash of a ledger by a server; another one than is known is a fork. */
void rpc_fleet_note_ledger(struct rpc_fleet *f, uint32_t server, uint32_t sequence,
                           const uint8_t *hash);
/* Should the question of the fetching thread end? self is the fleet. */
bool rpc_fleet_cancelled(void *self);

#endif
