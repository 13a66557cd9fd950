/* Declarations that rpc.c (choice of servers, transport) and rpc_answer.c (decoding) share. */
#ifndef API_ATTESTER_CHAIN_RPC_IMPL_H
#define API_ATTESTER_CHAIN_RPC_IMPL_H

#include "api/attester/chain/rpc.h"

#include <jansson.h>

/* Calls method with the params in rpc_params. The caller releases *result (json_decref). Without
 * once, tries the servers in turn, beginning with the current one, until one answers. With once,
 * calls one server only, a different one at each call. Fails as the calls of rpc.h do. */
tide_status rpc_call_any(struct att_rpc *rpc, json_t **result, const char *method, bool once,
                         struct tide_err *err) TIDE_MUST_USE;

/* Returns the buffer for the params of the next call, emptied. */
struct tide_buf *rpc_params(struct att_rpc *rpc);
/* Returns the buffer for decoded bytes of the last answer. rpc_call_any empties it. */
struct tide_buf *rpc_decoded(struct att_rpc *rpc);

/* Returns true if close_time (unix seconds) is within clock_skew_s of this host's time. The
 * close time of a newest ledger that is not comes from a server that lags or lies. */
bool rpc_is_now(const struct att_rpc *rpc, uint64_t close_time);

/* Reads a member that is a number, or a decimal text: servers differ. Returns false if the
 * member is neither, or outside 0 to max. */
bool rpc_number(const json_t *object, const char *name, uint64_t max, uint64_t *out);

#endif
