/* Stellar RPC over a chain: JSON-RPC 2.0 requests in, answers out, as text. This module knows
 * nothing of HTTP.
 *
 * Use      rpc_answer for each request body.
 * View     A call sees the ledgers that existed when it began.
 * Faults   are looked up before the call runs. Those that HTTP must carry out are returned in the
 *          reply.
 * Threads  Any thread may answer; the node is used under its lock. */
#ifndef SIM_RPC_H
#define SIM_RPC_H

#include "tidemark/buf.h"
#include "tools/sim/ledger/ledger_store.h"
#include "tools/sim/node/node.h"
#include "tools/sim/rpc/faults.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

/* The methods of the server. The file of each defines rpc_METHOD. */
#define RPC_METHODS(X)     \
    X(getHealth)           \
    X(getNetwork)          \
    X(getLatestLedger)     \
    X(getLedgers)          \
    X(getEvents)           \
    X(getTransaction)      \
    X(getLedgerEntries)    \
    X(simulateTransaction) \
    X(sendTransaction)     \
    X(getFeeStats)

enum {
#define RPC_NAME(name) RPC_##name,
    RPC_METHODS(RPC_NAME)
#undef RPC_NAME
        RPC_METHOD_COUNT
};

/* Error codes of JSON-RPC 2.0, and RPC_QUEUE of stellar-rpc. */
enum {
    RPC_PARSE = -32700,
    RPC_REQUEST = -32600,
    RPC_NO_METHOD = -32601,
    RPC_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    RPC_QUEUE = -32098,
};

#define RPC_REQUEST_BYTES_MAX (512u << 10)
#define RPC_ANSWER_BYTES_MAX  (256u << 20)

/* A server. The caller sets the fields before the first request. */
struct rpc {
    struct ledger_store *store;
    struct sim_faults *faults;
    struct sim_node *node; /* NULL: there are ledgers but no state */
    /* the node's lock; held from the closing of a ledger until the store has it */
    pthread_mutex_t *lock;
    const char *passphrase;
    char friendbot[128]; /* the friendbot's URL; empty: there is none */
    uint32_t retention;  /* ledgers, as getHealth reports it */
    int64_t healthy_ms;  /* getHealth fails if the newest ledger is older; 0: never */
    /* when the newest ledger closed, in milliseconds of the monotonic clock */
    atomic_llong closed_ms;
    void *self;                             /* argument of the two callbacks */
    void (*pause)(void *self, uint64_t ms); /* sleeps; returns early when the server stops */
    /* returns the store of the other chain, which the fault `reset` shows; NULL: there is none */
    struct ledger_store *(*other)(void *self);
    atomic_ullong calls[RPC_METHOD_COUNT]; /* calls of each method */
    atomic_ullong unknown;                 /* calls of unknown methods */
};

/* The answer to a request. */
struct rpc_reply {
    struct tide_buf body;     /* opened by the caller */
    bool nothing;             /* the request was a notification: no body, status 204 */
    struct sim_fault_hit hit; /* faults that HTTP must carry out */
};

/* Answers one request body. Afterwards reply->body holds JSON, unless reply->nothing is set or a
 * fault of HTTP kept the call from running. */
void rpc_answer(struct rpc *rpc, tide_slice request, struct rpc_reply *reply);
/* Returns the name of a method, RPC_METHOD_COUNT of which exist. */
const char *rpc_method_name(uint32_t method);

/* --- for the methods' own files ---------------------------------------------------- */

/* A call that is being answered. */
struct rpc_call {
    struct rpc *rpc;
    const json_t *params; /* an object, or NULL */
    struct ledger_store *store;
    struct ledger_info oldest, latest; /* range of ledgers that the call sees */
    const struct sim_fault_hit *hit;
    struct tide_buf *out; /* the method appends its result here */
    int code;             /* error code, set by rpc_refuse */
    char message[512];
};

/* A method appends its result, one JSON value, and returns true; or it calls rpc_refuse and returns
 * false, and its output is dropped. */
typedef bool rpc_method(struct rpc_call *call);
#define RPC_DECLARE(name) rpc_method rpc_##name;
RPC_METHODS(RPC_DECLARE)
#undef RPC_DECLARE

/* Sets the error of the call. Returns false. */
bool rpc_refuse(struct rpc_call *call, int code, const char *format, ...) TIDE_PRINTF(3, 4);

/* Reads a field of object, which may be NULL. An absent or null field leaves *to as it is. A field
 * of another type refuses the call with -32602. Texts borrow from the request. */
bool rpc_u32(struct rpc_call *call, const json_t *object, const char *name, uint32_t *to);
bool rpc_text(struct rpc_call *call, const json_t *object, const char *name, const char **to);
bool rpc_object(struct rpc_call *call, const json_t *object, const char *name, const json_t **to);
bool rpc_array(struct rpc_call *call, const json_t *object, const char *name, const json_t **to);
/* Refuses the call unless xdrFormat is base64 or absent. */
bool rpc_format(struct rpc_call *call);

/* The startLedger and pagination of getLedgers. */
struct rpc_page {
    uint32_t start;
    const char *cursor; /* NULL: none */
    uint32_t limit;
};
/* Reads and checks them. usual is the limit if none is given, most the greatest limit. */
bool rpc_read_page(struct rpc_call *call, struct rpc_page *page, uint32_t usual, uint32_t most);

/* Appends "name":"<base64>" and a comma. */
void rpc_put_xdr(struct tide_buf *out, const char *name, tide_slice xdr);
/* Appends "<base64>". */
void rpc_put_base64(struct tide_buf *out, tide_slice xdr);

#endif
