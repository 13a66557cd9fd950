/* Shared by fleet.c, trust.c and watch.c. */
#ifndef INDEXER_SOURCE_RPC_FLEET_IMPL_H
#define INDEXER_SOURCE_RPC_FLEET_IMPL_H

#include "indexer/source/rpc/fleet.h"
#include "indexer/source/rpc/memory.h"
#include "tidemark/retry.h"

enum { RPC_LOG_MS = 30000 }; /* between two log lines about the same server */

/* UNCOMPARED: no ledger of it has been compared with the others' yet. ASIDE: it contradicted itself
 * or the others. Neither is asked for ledgers, and neither of their ranges counts. */
enum rpc_trust { RPC_UNCOMPARED, RPC_COMPARED, RPC_ASIDE };
/* The thread that asks: it has a connection of its own to each server, but for the reader. */
enum rpc_thread { RPC_FETCHER, RPC_WATCHER, RPC_READER };

struct rpc_server {
    struct rpc_client client;  /* of the thread that fetches */
    struct rpc_client watcher; /* of the one that watches */
    uint32_t latest, oldest;   /* as told last; 0: not yet */
    bool silent;               /* failed since it told them; under the lock, as they are */
    uint32_t failures;         /* in a row */
    uint32_t gone_for;         /* the ledger that it said it has no more */
    uint32_t gaps;             /* answers in a row that left the wanted ledger out */
    uint32_t owed;             /* ledgers that closed during its answers, less those it gave */
    int64_t retry_ms;          /* not before; of the fetching thread */
    int64_t watch_ms;          /* not before; of the watching one; under the lock */
    int64_t logged_ms;
    bool boasted;  /* told a ledger that it did not give, and gave none since */
    bool answered; /* when it was last asked for its range */
    /* Under the lock: */
    enum rpc_trust trust;
    char reason[TIDE_ERR_TEXT_MAX]; /* why it is aside, or was not compared though it answers */
    int64_t doubted_ms;             /* since when */
    int64_t aside_ms;               /* pause until it is compared again */
};

static_assert((int)RPC_SERVERS_MAX <= (int)RPC_MEMORY_SERVERS, "each server has places of its own");

struct rpc_fleet {
    struct rpc_fleet_options options;
    const struct tide_config *config;
    struct rpc_rate rate;
    uint32_t count, current;
    uint32_t limit;       /* ledgers of the next page */
    uint32_t failures;    /* of all servers, since the last success */
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
    uint32_t others; /* newest ledger of the other servers when it was asked for; 0: not known */
    bool overtaken;  /* the question was ended because others went on meanwhile */
    int64_t trouble_ms;
    char trouble[TIDE_ERR_TEXT_MAX];
    bool forked; /* fork says how; for good */
    struct tide_err fork;
    struct rpc_memory memory;
    struct {
        uint32_t sequence, server;
    } gave[RPC_MEMORY_LEDGERS]; /* the server of each ledger of a page */
    struct rpc_server servers[RPC_SERVERS_MAX];
};

/* Notes the range of ledgers that a server reported; 0: not reported. */
void rpc_fleet_note_range(struct rpc_fleet *f, uint32_t server, uint32_t oldest, uint32_t latest);
/* Notes that a server did not answer, or not well. */
void rpc_fleet_note_silent(struct rpc_fleet *f, uint32_t server);
/* Asks all servers that are not aside for their range, and compares them. TIDE_E_CHAIN when that
 * ends it, TIDE_E_STOPPED. */
tide_status rpc_fleet_greet(struct rpc_fleet *f, struct tide_err *err);

/* --- trust.c --- */
enum rpc_trust rpc_fleet_trust(struct rpc_fleet *f, uint32_t server);
/* Puts a server aside, unless no other one answers: then false, and why ends it (but for the
 * reader). */
bool rpc_fleet_put_aside(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread,
                         const struct tide_err *why);
/* Milliseconds since a server is not believed, and why; 0 if all are. Locked. */
int64_t rpc_fleet_doubted(struct rpc_fleet *f, char *text, size_t size);
/* Reads the hash of a ledger as the database has it. Returns false if the ledger is not stored, or
 * if the database cannot be asked now. */
bool rpc_fleet_stored_hash(struct rpc_fleet *f, uint32_t ledger, uint8_t hash[TIDE_HASH_BYTES]);
/* A server's claim about a ledger's hash is not what is known. Puts aside the server, or those that
 * are outvoted; err says why. TIDE_E_CHAIN: no vote tells who is right, or the stored chain is
 * outvoted. */
tide_status rpc_fleet_dispute(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread,
                              uint32_t ledger, const uint8_t *claim, struct tide_err *err);
/* Notes the hash of a ledger by a server. If another one is known, disputes it. */
tide_status rpc_fleet_note_ledger(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread,
                                  uint32_t sequence, const uint8_t *hash, struct tide_err *err);
/* Compares all servers that answered. */
tide_status rpc_fleet_compare(struct rpc_fleet *f, enum rpc_thread thread, struct tide_err *err);
/* Compares a server that is not believed, whose newest ledger is latest, with the others. */
void rpc_fleet_compare_one(struct rpc_fleet *f, uint32_t server, uint32_t latest);

/* Should the question of the fetching thread end? self is the fleet. */
bool rpc_fleet_cancelled(void *self);

#endif
