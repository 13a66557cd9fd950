/* GET /kyc, /kyc/start/{s}, /kyc/return/{s}: a person comes, goes to the provider, comes back. */
#include "api/http/param.h"
#include "api/kyc/pages/page.h"
#include "api/kyc/sessions/hosted_page.h"

struct walk {
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

/* The session that a token leads to, as its row stands. A link ends with its session, since the
 * page shows the address. False: the reply says there is none. */
static bool find(struct walk *walk, struct tide_kyc_context *context, struct tide_job *job,
                 struct tide_kyc_session *out, tide_status *status, struct tide_err *err)
{
    *status = tide_kyc_session_get(context, walk->session, out, err);
    bool over = *status == TIDE_OK && out->expires_at <= tide_kyc_now(context);
    if (*status != TIDE_E_MISSING && !over)
        return *status == TIDE_OK;
    tide_kyc_page_gone(job->reply, visit_of(job), 404);
    *status = TIDE_OK;
    return false;
}

/* A worker's task for a token of that purpose; NULL: the reply is complete. */
static struct walk *begin(struct tide_handler_context *context, const struct tide_request *request,
                          struct tide_reply *reply, enum tide_kyc_purpose purpose,
                          tide_kyc_run_fn *run)
{
    const struct tide_param_value *token = tide_request_param(request, TIDE_PARAM_s);
    char session[TIDE_KYC_SESSION_BYTES];
    if (!tide_kyc_token_read(session, settings_of(context), purpose, token->text)) {
        tide_kyc_page_gone(reply, tide_kyc_visit_of(context->api->kyc, request), 404);
        return NULL;
    }
    /* Only who goes to a provider may have to wait for one. */
    enum tide_kyc_pool_id pool =
        purpose == TIDE_KYC_FOR_START ? TIDE_KYC_POOL_SESSIONS : TIDE_KYC_POOL_READS;
    struct walk *walk = tide_kyc_later(context, sizeof *walk, pool, run, reply);
    if (walk)
        memcpy(walk->session, session, sizeof session);
    return walk;
}

static tide_status show(struct tide_kyc_work *work, struct tide_kyc_context *context,
                        struct tide_job *job, struct tide_err *err)
{
    struct walk *walk = (struct walk *)work;
    struct tide_kyc_session session;
    tide_status status;
    if (find(walk, context, job, &session, &status, err))
        tide_kyc_page_session(job->reply, visit_of(job), &session, walk->framing, walk->returned);
    return status;
}

void tide_route_kyc_page(struct tide_handler_context *context, const struct tide_request *request,
                         struct tide_reply *reply)
{
    const struct tide_kyc_settings *settings = settings_of(context);
    const struct tide_param_value *embed = tide_request_param(request, TIDE_PARAM_embed);
    if (tide_request_param(request, TIDE_PARAM_s)->given) {
        struct walk *walk = begin(context, request, reply, TIDE_KYC_FOR_EMBED, show);
        if (walk)
            walk->framing = embed->given ? TIDE_KYC_FRAMED_BY_THEM : TIDE_KYC_FRAMED_NEVER;
        return;
    }
    const struct tide_kyc_sheet sheet = {
        .document = "/kyc",
        .data = settings->open ? TIDE_SLICE("{\"open\":true}") : TIDE_SLICE("{\"open\":false}"),
        .visit = tide_kyc_visit_of(context->api->kyc, request),
    };
    tide_kyc_page(reply, &sheet);
}

/* Whatever its query says: the page asks our API how the session stands. */
void tide_route_kyc_return(struct tide_handler_context *context, const struct tide_request *request,
                           struct tide_reply *reply)
{
    struct walk *walk = begin(context, request, reply, TIDE_KYC_FOR_RETURN, show);
    if (!walk)
        return;
    walk->framing = TIDE_KYC_FRAMED_BY_BOTH;
    walk->returned = true;
}

/* --- to the provider --------------------------------------------------------------------- */

static void send_to(struct tide_reply *reply, const char *url)
{
    reply->status = 303;
    reply->cache_control = "no-store";
    tide_reply_header(reply, "Location", url);
}

/* Over: there is nothing to do at the provider's any more. */
static void send_to_return(struct tide_reply *reply, const struct tide_kyc_settings *settings,
                           const struct tide_kyc_session *session)
{
    char token[TIDE_KYC_TOKEN_BYTES], url[TIDE_KYC_TOKEN_BYTES + 16];
    tide_kyc_token(token, settings, TIDE_KYC_FOR_RETURN, session->id);
    snprintf(url, sizeof url, "/kyc/return/%s", token);
    send_to(reply, url);
}

static tide_status start(struct tide_kyc_work *work, struct tide_kyc_context *context,
                         struct tide_job *job, struct tide_err *err)
{
    struct walk *walk = (struct walk *)work;
    struct tide_kyc_session session;
    tide_status status;
    bool offered;
    if (!find(walk, context, job, &session, &status, err))
        return status;
    if (!tide_kyc_is_open(session.state) ||
        tide_kyc_session_unused(&session, tide_kyc_now(context))) {
        send_to_return(job->reply, context->settings, &session);
        return TIDE_OK;
    }
    status = tide_kyc_hosted_page(context, walk->reconcile_s, &session, &offered, job->reply, err);
    if (status != TIDE_OK)
        return status;
    if (offered)
        send_to(job->reply, session.hosted_url);
    else
        tide_kyc_page_away(job->reply, visit_of(job), &session);
    return TIDE_OK;
}

void tide_route_kyc_start(struct tide_handler_context *context, const struct tide_request *request,
                          struct tide_reply *reply)
{
    struct walk *walk = begin(context, request, reply, TIDE_KYC_FOR_START, start);
    if (walk)
        walk->reconcile_s = context->api->config->kyc_reconcile_s;
}
