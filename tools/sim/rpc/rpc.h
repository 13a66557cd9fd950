/* Stellar RPC over a chain: JSON-RPC 2.0 requests in, answers out, as text. Knows nothing of HTTP.
 *
 * Flow     rpc_answer for each request body.
 * View     A call sees the ledgers that were there when it began.
 * Faults   They are looked up before the call runs. Those of HTTP are returned in the reply.
 * Threads  any; the node is used under its lock. */
#ifndef SIM_RPC_H
#define SIM_RPC_H

#include "tidemark/buf.h"
#include "tools/sim/ledger/ledger_store.h"
#include "tools/sim/node/node.h"
#include "tools/sim/rpc/faults.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

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

struct rpc {
    struct ledger_store *store;
    struct sim_faults *faults;
    struct sim_node *node; /* NULL: no state, only ledgers */
    pthread_mutex_t *lock; /* of the node; held while a ledger closes, until store has it */
    const char *passphrase;
    char friendbot[128];                       /* its URL; empty: none   */
    uint32_t retention;                        /* ledgers, as reported   */
    int64_t healthy_ms;                        /* a tip older than that is not healthy; 0: any is */
    atomic_llong closed_ms;                    /* when the newest ledger closed, monotonic        */
    void *self;                                /* for these: */
    void (*pause)(void *self, uint64_t ms);    /* until then, or until all stops       */
    struct ledger_store *(*other)(void *self); /* the chain after a reset; NULL: none  */
    atomic_ullong calls[RPC_METHOD_COUNT];     /* each method's */
    atomic_ullong unknown;                     /* of no method  */
};

struct rpc_reply {
    struct tide_buf body;     /* in: open */
    bool nothing;             /* a notification: no body, 204 */
    struct sim_fault_hit hit; /* what HTTP has to do about it */
};

/* Answers one request body. reply->body holds JSON when it returns, unless reply->nothing or a
 * fault that is HTTP's matter kept the call from running. */
void rpc_answer(struct rpc *rpc, tide_slice request, struct rpc_reply *reply);
const char *rpc_method_name(uint32_t method);

/* --- for the methods' own files ---------------------------------------------------- */

struct rpc_call {
    struct rpc *rpc;
    const json_t *params; /* an object, or NULL */
    struct ledger_store *store;
    struct ledger_info oldest, latest; /* what it sees */
    const struct sim_fault_hit *hit;
    struct tide_buf *out; /* the result goes here */
    int code;             /* of rpc_refuse */
    char message[512];
};

/* A method appends its result, one JSON value, or refuses (what it appended is dropped). */
typedef bool rpc_method(struct rpc_call *call);
#define RPC_DECLARE(name) rpc_method rpc_##name;
RPC_METHODS(RPC_DECLARE)
#undef RPC_DECLARE

/* Returns false. */
bool rpc_refuse(struct rpc_call *call, int code, const char *format, ...) TIDE_PRINTF(3, 4);

/* A field of object, which may be NULL. Absent or null leaves *to as it is; another type is refused
 * as -32602. Texts borrow from the request. */
bool rpc_u32(struct rpc_call *call, const json_t *object, const char *name, uint32_t *to);
bool rpc_text(struct rpc_call *call, const json_t *object, const char *name, const char **to);
bool rpc_object(struct rpc_call *call, const json_t *object, const char *name, const json_t **to);
bool rpc_array(struct rpc_call *call, const json_t *object, const char *name, const json_t **to);
/* xdrFormat must be base64 or absent. */
bool rpc_format(struct rpc_call *call);

/* startLedger and pagination of getLedgers. */
struct rpc_page {
    uint32_t start;
    const char *cursor; /* NULL: none */
    uint32_t limit;
};
bool rpc_read_page(struct rpc_call *call, struct rpc_page *page, uint32_t usual, uint32_t most);

/* "name":"<base64>" with a comma behind it. */
void rpc_put_xdr(struct tide_buf *out, const char *name, tide_slice xdr);
/* "<base64>" */
void rpc_put_base64(struct tide_buf *out, tide_slice xdr);

#endif
