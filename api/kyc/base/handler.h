/* How a route of kind KYC or HOOK is answered: first on the connection's thread, which may not
 * wait, then, if needed, on a worker, which may.
 *
 * A handler is a tide_handler_fn like any other (route.def names it, TIDE_ROUTE(…, KYC, …)). It
 * runs on the connection's thread, inside tide_kyc_submit: it looks at the request, without a
 * database or a provider, and either writes the reply, or leaves in context->task what a
 * worker is to do:
 *
 *     struct ask { struct tide_kyc_work work; …what run needs… };
 *
 *     void tide_route_x(struct tide_handler_context *context, const struct tide_request *request,
 *                       struct tide_reply *reply)
 *     {
 *         struct ask *ask =
 *             tide_kyc_later(context, sizeof *ask, TIDE_KYC_POOL_SESSIONS, run, reply);
 *         if (ask)
 *             ask->… = …;
 *     }
 *
 * What is in a request (parameters, body, header lines) lives until the reply is complete, so run
 * may use job->request. Anything that costs nothing is refused before: a forgery reaches no
 * worker. */
#ifndef API_KYC_BASE_HANDLER_H
#define API_KYC_BASE_HANDLER_H

#include "api/hot/api.h"
#include "api/kyc/base/context.h"
#include "api/kyc/base/process.h"

struct tide_kyc_work;

/* TIDE_OK: the reply is complete. Anything else: the transaction is rolled back; TIDE_E_DB with a
 * lost connection, or one that says "again", is run once more; else the worker answers 503 or 500.
 * So it may run twice, the first time perhaps to its COMMIT. The reply is reset before each run. */
typedef tide_status tide_kyc_run_fn(struct tide_kyc_work *work, struct tide_kyc_context *context,
                                    struct tide_job *job, struct tide_err *err);

struct tide_kyc_work {
    tide_kyc_run_fn *run;
    enum tide_kyc_pool_id pool;
    size_t size; /* of all of it */
};

/* Zeroed memory that begins with a struct tide_kyc_work; the worker wipes and frees it. NULL: there
 * was none, and the reply says so. */
void *tide_kyc_later(struct tide_handler_context *context, size_t size, enum tide_kyc_pool_id pool,
                     tide_kyc_run_fn *run, struct tide_reply *reply);

/* The header Idempotency-Key; out->ptr NULL: none is given. False: the reply says why. */
bool tide_kyc_idempotency_read(tide_slice *out, const struct tide_request *request,
                               struct tide_reply *reply);

/* --- handlers of KYC's routes ------------------------------------------------------------- */

tide_handler_fn tide_route_kyc_session, tide_route_kyc_progress, tide_route_kyc_challenge,
    tide_route_kyc_providers, tide_route_kyc_webhook, tide_route_kyc_page, tide_route_kyc_start,
    tide_route_kyc_return, tide_route_kyc_sandbox, tide_route_kyc_sandbox_decide;

/* Webhooks to partners (notify/hook_route.c). */
tide_handler_fn tide_route_webhooks, tide_route_webhook, tide_route_webhook_create,
    tide_route_webhook_change, tide_route_webhook_delete, tide_route_webhook_secret,
    tide_route_webhook_test, tide_route_webhook_addresses, tide_route_webhook_watch,
    tide_route_webhook_deliveries, tide_route_webhook_replay;

#endif
