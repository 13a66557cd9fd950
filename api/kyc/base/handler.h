/* Answers routes of kind KYC or HOOK: first on the connection's thread, which may not wait, then,
 * if needed, on a worker, which may wait.
 *
 * A handler is a tide_handler_fn like any other (route.def names it: TIDE_ROUTE(…, KYC, …)). The
 * handler runs on the connection's thread, inside tide_kyc_submit. Without a database or a
 * provider, the handler checks the request. Then it either writes the reply, or leaves the work for
 * a worker in context->task:
 *
 *     struct x_work { struct tide_kyc_work work; …the values that run_x needs… };
 *
 *     void tide_route_x(struct tide_handler_context *context, const struct tide_request *request,
 *                       struct tide_reply *reply)
 *     {
 *         struct x_work *x =
 *             tide_kyc_later(context, sizeof *x, TIDE_KYC_POOL_SESSIONS, run_x, reply);
 *         if (x)
 *             x->… = …;
 *     }
 *
 * The request (parameters, body, header lines) lives until the reply is complete, so run_x may use
 * job->request. Handlers make every check that needs no database before they queue the work: a
 * forged request must not occupy a worker. */
#ifndef API_KYC_BASE_HANDLER_H
#define API_KYC_BASE_HANDLER_H

#include "api/hot/api.h"
#include "api/kyc/base/context.h"
#include "api/kyc/base/process.h"

struct tide_kyc_work;

/* Runs the work on a worker. TIDE_OK: the reply is complete. Otherwise the pool rolls the
 * transaction back. After TIDE_E_DB with a lost connection or a retryable SQLSTATE the pool runs
 * the work once more; after any other error it answers 503 or 500. A second run may therefore find
 * rows that the first one committed. The pool resets the reply before each run. */
typedef tide_status tide_kyc_run_fn(struct tide_kyc_work *work, struct tide_kyc_context *context,
                                    struct tide_job *job, struct tide_err *err);

struct tide_kyc_work {
    tide_kyc_run_fn *run;
    enum tide_kyc_pool_id pool;
    size_t size; /* bytes of the whole work, for wiping */
};

/* Returns zeroed memory of size bytes that begins with a struct tide_kyc_work. The pool wipes and
 * frees it. NULL: no memory; the reply holds the problem. */
void *tide_kyc_later(struct tide_handler_context *context, size_t size, enum tide_kyc_pool_id pool,
                     tide_kyc_run_fn *run, struct tide_reply *reply);

/* Reads the header Idempotency-Key; out->ptr is NULL without one. Returns false if the header is
 * malformed; the reply holds the problem. */
bool tide_kyc_idempotency_read(tide_slice *out, const struct tide_request *request,
                               struct tide_reply *reply);

/* --- handlers of KYC's routes ------------------------------------------------------------- */

tide_handler_fn tide_route_kyc_session, tide_route_kyc_progress, tide_route_kyc_challenge,
    tide_route_kyc_providers, tide_route_kyc_webhook, tide_route_kyc_page, tide_route_kyc_start,
    tide_route_kyc_return, tide_route_kyc_sandbox, tide_route_kyc_sandbox_decide;

/* webhooks to partners (notify/hook_route.c) */
tide_handler_fn tide_route_webhooks, tide_route_webhook, tide_route_webhook_create,
    tide_route_webhook_change, tide_route_webhook_delete, tide_route_webhook_secret,
    tide_route_webhook_test, tide_route_webhook_addresses, tide_route_webhook_watch,
    tide_route_webhook_deliveries, tide_route_webhook_replay;

#endif
