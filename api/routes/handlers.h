/* The handlers that route.def names, and functions that several of them use. */
#ifndef API_ROUTES_HANDLERS_H
#define API_ROUTES_HANDLERS_H

#include "api/hot/api.h"
#include "api/hot/reader.h"
#include "tidemark/answer.h"

#define TIDE_ROUTE(id, method, path, kind, cost, body_max, cache_control, query, handler) \
    tide_handler_fn tide_route_##handler;
#include "api/routes/route.def"

/* Writes the member `name`: the amount that a claim of earnings by the address would credit for
 * the newest `limit` epochs as of a ledger, read in the task's transaction. Writes null if it is
 * not indexed, or if the contract would fail. Fails only if the database fails. (earnings.c) */
tide_status tide_put_claimable(struct tide_json *j, const char *name,
                               const struct tide_handler_context *context,
                               const struct tide_param_value *address, uint32_t ledger,
                               uint64_t limit, struct tide_err *err) TIDE_MUST_USE;
/* Answers 409 with the contract's reason, or 404 if the requested object does not exist. */
void tide_tell_refusal(struct tide_reply *reply, enum tide_refusal refusal);

#endif
