/* GET /kyc, /kyc/start/{s} and /kyc/return/{s}: the session's page, the redirect to the provider,
 * and the return from it. */
#include "api/http/param.h"
#include "api/kyc/pages/page.h"
#include "api/kyc/sessions/hosted_page.h"

struct page_work {
    struct tide_kyc_work work;
    char session[TIDE_KYC_SESSION_BYTES];
    enum tide_kyc_framing framing;
    bool returned;
    uint32_t reconcile_s;
};

static const struct tide_kyc_settings *settings_of(const struct tide_handler_context *context)
{
    return context->api->kyc->settings;
}

static struct tide_kyc_visit visit_of(const struct tide_job *job)
{
    return tide_kyc_visit_of(job->context.api->kyc, job->request);
}

/* Reads the session of a token. A link ends with its session, because the page shows the address.
 * Returns false if the reply is complete (404) or on a failure (*status). */
static bool find_session(struct page_work *page_work, struct tide_kyc_context *context,
                         struct tide_job *job, struct tide_kyc_session *out, tide_status *status,
                         struct tide_err *err)
{
    *status = tide_kyc_session_get(context, page_work->session, out, err);
    bool over = *status == TIDE_OK && out->expires_at <= tide_kyc_now(context);
    if (*status != TIDE_E_MISSING && !over)
        return *status == TIDE_OK;
    tide_kyc_page_gone(job->reply, visit_of(job), 404);
    *status = TIDE_OK;
    return false;
}

/* Queues the work for a token of that purpose. Returns NULL if the reply is complete. */
static struct page_work *queue_page(struct tide_handler_context *context,
                                    const struct tide_request *request, struct tide_reply *reply,
                                    enum tide_kyc_purpose purpose, tide_kyc_run_fn *run)
{
    const struct tide_param_value *token = tide_request_param(request, TIDE_PARAM_s);
    char session[TIDE_KYC_SESSION_BYTES];
    if (!tide_kyc_token_read(session, settings_of(context), purpose, token->text)) {
        tide_kyc_page_gone(reply, tide_kyc_visit_of(context->api->kyc, request), 404);
        return NULL;
    }
    /* Only the redirect to a provider may wait for the provider. */
    enum tide_kyc_pool_id pool =
        purpose == TIDE_KYC_FOR_START ? TIDE_KYC_POOL_SESSIONS : TIDE_KYC_POOL_READS;
    struct page_work *page_work = tide_kyc_later(context, sizeof *page_work, pool, run, reply);
    if (page_work)
        memcpy(page_work->session, session, sizeof session);
    return page_work;
}

static tide_status show_session(struct tide_kyc_work *work, struct tide_kyc_context *context,
                                struct tide_job *job, struct tide_err *err)
{
    struct page_work *page_work = (struct page_work *)work;
    struct tide_kyc_session session;
    tide_status status;
    if (find_session(page_work, context, job, &session, &status, err))
        tide_kyc_page_session(job->reply, visit_of(job), &session, page_work->framing,
                              page_work->returned);
    return status;
}

/* Only the embedded page (embed=1) may be framed; without a session nothing needs a worker. */
void tide_route_kyc_page(struct tide_handler_context *context, const struct tide_request *request,
                         struct tide_reply *reply)
{
    const struct tide_kyc_settings *settings = settings_of(context);
    const struct tide_param_value *embed = tide_request_param(request, TIDE_PARAM_embed);
    if (tide_request_param(request, TIDE_PARAM_s)->given) {
        struct page_work *page_work =
            queue_page(context, request, reply, TIDE_KYC_FOR_EMBED, show_session);
        if (page_work)
            page_work->framing = embed->given ? TIDE_KYC_FRAMED_BY_THEM : TIDE_KYC_FRAMED_NEVER;
        return;
    }
    const struct tide_kyc_sheet sheet = {
        .document = "/kyc",
        .data = settings->open ? TIDE_SLICE("{\"open\":true}") : TIDE_SLICE("{\"open\":false}"),
        .visit = tide_kyc_visit_of(context->api->kyc, request),
    };
    tide_kyc_page(reply, &sheet);
}

/* Ignores the query: the page asks the API for the session's state. */
void tide_route_kyc_return(struct tide_handler_context *context, const struct tide_request *request,
                           struct tide_reply *reply)
{
    struct page_work *page_work =
        queue_page(context, request, reply, TIDE_KYC_FOR_RETURN, show_session);
    if (!page_work)
        return;
    page_work->framing = TIDE_KYC_FRAMED_BY_BOTH;
    page_work->returned = true;
}

/* --- to the provider --------------------------------------------------------------------- */

static void send_redirect(struct tide_reply *reply, const char *url)
{
    reply->status = 303;
    reply->cache_control = "no-store";
    tide_reply_header(reply, "Location", url);
}

/* Sends the browser to the session's page, because the session is over. */
static void redirect_to_return(struct tide_reply *reply, const struct tide_kyc_settings *settings,
                               const struct tide_kyc_session *session)
{
    char token[TIDE_KYC_TOKEN_BYTES], url[TIDE_KYC_TOKEN_BYTES + 16];
    tide_kyc_token(token, settings, TIDE_KYC_FOR_RETURN, session->id);
    int len = snprintf(url, sizeof url, "/kyc/return/%s", token);
    assert(len > 0 && (size_t)len < sizeof url);
    (void)len;
    send_redirect(reply, url);
}

/* Obtains the provider's page and redirects to it. Shows a 503 page if the provider has none
 * now. */
static tide_status redirect_to_provider(struct tide_kyc_work *work,
                                        struct tide_kyc_context *context, struct tide_job *job,
                                        struct tide_err *err)
{
    struct page_work *page_work = (struct page_work *)work;
    struct tide_kyc_session session;
    tide_status status;
    bool obtained;
    if (!find_session(page_work, context, job, &session, &status, err))
        return status;
    if (!tide_kyc_is_open(session.state) ||
        tide_kyc_session_unused(&session, tide_kyc_now(context))) {
        redirect_to_return(job->reply, context->settings, &session);
        return TIDE_OK;
    }
    status =
        tide_kyc_hosted_page(context, page_work->reconcile_s, &session, &obtained, job->reply, err);
    if (status != TIDE_OK)
        return status;
    if (obtained && session.hosted_url[0]) /* the session may have ended meanwhile */
        send_redirect(job->reply, session.hosted_url);
    else
        tide_kyc_page_away(job->reply, visit_of(job), &session);
    return TIDE_OK;
}

void tide_route_kyc_start(struct tide_handler_context *context, const struct tide_request *request,
                          struct tide_reply *reply)
{
    struct page_work *page_work =
        queue_page(context, request, reply, TIDE_KYC_FOR_START, redirect_to_provider);
    if (page_work)
        page_work->reconcile_s = context->api->config->kyc_reconcile_s;
}
