/* The parts of `tidemark-sim serve`: the network, its clock, and the HTTP server in front.
 *
 * Lock     guards the node, the lake and the other chain; the store has its own lock. The thread
 *          that closes a ledger holds it until the ledger is in the lake and in the store. */
#ifndef SIM_SERVE_H
#define SIM_SERVE_H

#include "tools/sim/ledger/lake_write.h"
#include "tools/sim/ledger/ledger_store.h"
#include "tools/sim/node/node.h"
#include "tools/sim/options/options.h"
#include "tools/sim/rpc/faults.h"
#include "tools/sim/serve/serve_http.h"

#include <pthread.h>
#include <stdatomic.h>

struct rpc;

/* Ledgers from a file that `tidemark-sim write --stream` wrote, in place of a model: where making a
 * chain would take longer than its ledgers may take to close. The next ledger is read before it is
 * due. */
struct recorded {
    FILE *file;
    struct tide_buf next;
    bool ended; /* the file has no more ledgers; next is empty */
};

/* The command's options. */
struct serve_options {
    struct sim_settings chain;
    const char *listen, *port_file, *recorded;
    uint64_t close_ms, retention;
    bool wall_clock, public, quiet;
    struct sim_texts faults;
};

/* The chain that the fault `reset` shows: another chain with the same passphrase. */
struct serve_other {
    struct sim_node *node;
    struct ledger_store *store;
};

/* A running server. */
struct serve {
    struct serve_options options;
    pthread_mutex_t lock;
    struct sim_node *node;    /* NULL: the ledgers are recorded */
    struct recorded recorded; /* zeros if there is a node */
    struct ledger_store *store;
    struct lake_write lake;
    struct serve_other other; /* NULLs until a call with the fault reset */
    struct sim_faults *faults;
    struct rpc *rpc;
    struct serve_http *http;
    atomic_bool listening; /* the server is set up: requests need not wait for the lock */
    bool live;             /* the head start is over */
    tide_status broken;    /* status of a ledger that could not be closed; ends the program */
    struct tide_err err;   /* error of broken */
    atomic_ullong served;  /* HTTP requests */
    atomic_ullong closed;  /* ledgers closed by serve_close_ledgers */
};

/* Closes ledgers now; any thread may call it. A failure is stored in serve->broken and ends the
 * program. */
tide_status serve_close_ledgers(struct serve *serve, uint32_t count,
                                struct tide_err *err) TIDE_MUST_USE;

/* --- serve_routes.c: any thread may call these --------------------------------------- */

/* Opens serve->rpc. store, faults and node must be set. serve_routes_listening adds the friendbot's
 * URL. Returns TIDE_E_MEMORY. */
tide_status serve_routes_open(struct serve *serve, struct tide_err *err) TIDE_MUST_USE;
void serve_routes_close(struct serve *serve);
/* Tell the RPC its own URL, and that a ledger has closed. */
void serve_routes_listening(struct serve *serve, const char *url);
void serve_routes_closed(struct serve *serve);
/* Answers one HTTP request. self is the struct serve. */
void serve_handle(void *self, const struct serve_request *request, struct serve_reply *reply);
/* Returns the store of the chain that reset shows, which the first call creates. Returns NULL on
 * failure. */
struct ledger_store *serve_other_store(void *self);

/* Help text: the paths of the server. */
extern const char serve_routes_help[];

#endif
