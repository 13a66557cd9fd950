/* What rpc.c (who is asked, how) and rpc_answer.c (what is read) share. */
#ifndef API_ATTESTER_CHAIN_RPC_IMPL_H
#define API_ATTESTER_CHAIN_RPC_IMPL_H

#include "api/attester/chain/rpc.h"

#include <jansson.h>

/* Asks a server for method; *result is the caller's (json_decref). once: of one server alone, each
 * time the next one. params are what stands in rpc_params. */
tide_status rpc_ask_any(struct att_rpc *rpc, json_t **result, const char *method, bool once,
                        struct tide_err *err) TIDE_MUST_USE;

/* The buffer of the next call's params, emptied; and that of bytes that answers are decoded into,
 * which rpc_ask_any empties. */
struct tide_buf *rpc_params(struct att_rpc *rpc);
struct tide_buf *rpc_hold(struct att_rpc *rpc);

/* Whether a newest ledger can have closed then: within clock_skew_s of this host's time. */
bool rpc_is_now(const struct att_rpc *rpc, uint64_t close_time);

/* A number or a decimal text: servers differ. False when it is neither, or not 0 to max. */
bool rpc_number(const json_t *object, const char *name, uint64_t max, uint64_t *out);

#endif
