/* The parts of `tidemark-sim serve`: the network, its clock, and what HTTP asks of both.
 *
 * Lock     over the node, the lake and the other chain; the store has its own. The thread that
 *          closes a ledger holds it until the ledger is in the lake and in the store. */
#ifndef SIM_SERVE_H
#define SIM_SERVE_H

#include "tools/sim/ledger/lake_write.h"
#include "tools/sim/ledger/ledger_store.h"
#include "tools/sim/node/node.h"
#include "tools/sim/options/options.h"
#include "tools/sim/rpc/faults.h"
#include "tools/sim/serve/serve_http.h"
#include "tools/sim/serve/serve_recorded.h"

#include <pthread.h>
#include <stdatomic.h>

struct rpc;

struct serve_options {
    struct sim_settings chain;
    const char *listen, *port_file, *recorded;
    uint64_t close_ms, retention;
    bool wall_clock, public, quiet;
    struct sim_texts faults;
};

/* What fault `reset` shows: another chain with the same name. */
struct serve_other {
    struct sim_node *node;
    struct ledger_store *store;
};

struct serve {
    struct serve_options options;
    pthread_mutex_t lock;
    struct sim_node *node;    /* NULL: the ledgers are recorded */
    struct recorded recorded; /* zeros beside a node            */
    struct ledger_store *store;
    struct lake_write lake;
    struct serve_other other; /* NULLs until it is asked for */
    struct sim_faults *faults;
    struct rpc *rpc;
    struct serve_http *http;
    atomic_bool listening; /* all is in place for requests        */
    bool live;             /* behind the head start               */
    tide_status broken;    /* a ledger could not be closed: over  */
    struct tide_err err;   /* of that                             */
    atomic_ullong served;  /* HTTP requests                       */
    atomic_ullong closed;  /* ledgers since the head start        */
};

/* Closes ledgers now. A failure is kept in serve->broken and ends the program. */
tide_status serve_close_ledgers(struct serve *serve, uint32_t count,
                                struct tide_err *err) TIDE_MUST_USE;

/* --- serve_routes.c: any thread -------------------------------------------------------- */

/* Opens serve->rpc; needs store, faults and node. The friendbot's URL follows with serve_routes_listening. */
tide_status serve_routes_open(struct serve *serve, struct tide_err *err) TIDE_MUST_USE;
void serve_routes_close(struct serve *serve);
/* Tells the RPC where it is reached and when a ledger closed. */
void serve_routes_listening(struct serve *serve, const char *url);
void serve_routes_closed(struct serve *serve);
void serve_handle(void *self, const struct serve_request *request, struct serve_reply *reply);
/* The store of the chain that reset shows; made when first asked for. NULL without memory. */
struct ledger_store *serve_other_store(void *self);

/* One line for each path that is no JSON-RPC. */
extern const char serve_routes_help[];

#endif
