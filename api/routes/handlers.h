/* The handlers that route.def names, and what several of them write. */
#ifndef API_ROUTES_HANDLERS_H
#define API_ROUTES_HANDLERS_H

#include "api/hot/api.h"
#include "api/hot/reader.h"
#include "schema/reader/answer.h"

#define TIDE_ROUTE(id, method, path, kind, cost, body_max, cache_control, query, handler) \
    tide_handler_fn tide_route_##handler;
#include "api/routes/route.def"

/* The member name: what a claim of earnings by the address would credit of the newest limit epochs
 * as of a ledger, in the task's transaction. null: not indexed, or the contract would refuse to
 * say. What fails is the database. (earnings.c) */
tide_status tide_put_claimable(struct tide_json *j, const char *name,
                               const struct tide_handler_context *context,
                               const struct tide_param_value *address, uint32_t ledger,
                               uint64_t limit, struct tide_err *err) TIDE_MUST_USE;
/* Answers that the contract would give no answer: 409 with its reason, or 404 when what was asked
 * for is not there. */
void tide_tell_refusal(struct tide_reply *reply, enum tide_refusal refusal);
/* "testnet" of a passphrase; "private" for an unknown one. */
const char *tide_network_name(const char *passphrase);

#endif
