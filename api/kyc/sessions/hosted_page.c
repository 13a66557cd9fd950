/* Obtains a provider's hosted page, with one caller for each session. */
#include "api/kyc/sessions/hosted_page.h"
#include "api/kyc/providers/provider.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

/* Seconds that a page must still be valid; pauses while waiting and retrying; Retry-After of
 * failures; how long a provider may take to say whether it has approved already. */
enum { LEAST_LEFT_S = 60, POLL_MS = 50, AGAIN_MS = 200, AGAIN_S = 5, APPROVED_MS = 2000 };

struct page_request {
    struct tide_kyc_context *context;
    struct tide_kyc_session *session;
    const struct tide_kyc_provider *provider;
    uint32_t reconcile_s;
    int64_t try_until_ms; /* monotonic: end of the running attempt */
};

static void pause_ms(const struct tide_kyc_context *context, int64_t ms)
{
    const struct tide_clock *clock = context->options.clock;
    clock->sleep_ms(clock->self, ms);
}

/* True if the row has a page that stays valid for LEAST_LEFT_S. */
static bool has_page(const struct page_request *o)
{
    const struct tide_kyc_session *s = o->session;
    return s->hosted_url[0] && s->hosted_until >= tide_kyc_now(o->context) + LEAST_LEFT_S;
}

/* --- the provider ----------------------------------------------------------------------- */

static bool is_attempt_over(void *self)
{
    const struct page_request *o = self;
    return tide_kyc_now_ms(o->context) >= o->try_until_ms || tide_kyc_context_cancelled(o->context);
}

static struct tide_kyc_call call_of(struct page_request *o)
{
    return (struct tide_kyc_call){ .settings = o->context->settings,
                                   .provider = o->provider,
                                   .http = o->context->http,
                                   .pg = o->context->pg,
                                   .now = tide_kyc_now(o->context),
                                   .cancelled = is_attempt_over,
                                   .self = o };
}

/* Asks the provider once for a page. Adapters make this request repeatable: see provider.h. */
static tide_status call_provider(struct page_request *o, struct tide_kyc_page *page,
                                 struct tide_err *err)
{
    char token[TIDE_KYC_TOKEN_BYTES], back[TIDE_KYC_URL_BYTES + TIDE_KYC_TOKEN_BYTES + 16];
    char ref[TIDE_KYC_REF_BYTES]; /* computed from the address, not taken from the row */
    const struct tide_kyc_settings *settings = o->context->settings;
    tide_kyc_reference(ref, o->context, o->session->address);
    tide_kyc_token(token, settings, TIDE_KYC_FOR_RETURN, o->session->id);
    int len = snprintf(back, sizeof back, "%s/kyc/return/%s", settings->public_url, token);
    assert(len > 0 && (size_t)len < sizeof back);
    (void)len;
    const struct tide_kyc_call call = call_of(o);
    const struct tide_kyc_order order = {
        .ref = ref, .session_id = o->session->id, .return_url = back, .mode = o->session->mode
    };
    *page = (struct tide_kyc_page){ 0 };
    return tide_kyc_create(&call, &order, page, err);
}

/* Asks a second time after a failure that may pass. Adapters send the same request, so the provider
 * returns the person that the first attempt created. The first attempt gets half of the time. */
static tide_status call_with_retry(struct page_request *o, struct tide_kyc_page *page,
                                   struct tide_err *err)
{
    const struct tide_clock *clock = o->context->options.clock;
    int64_t until = o->context->deadline_ms, now = clock->now_ms(clock->self);
    if (until == 0)
        until = now + 10000;
    o->try_until_ms = now + (until - now) / 2;
    tide_status status = call_provider(o, page, err);
    bool again = status == TIDE_E_IO || status == TIDE_E_STOPPED;
    if (!again || tide_kyc_context_cancelled(o->context))
        return status;
    pause_ms(o->context, AGAIN_MS);
    o->try_until_ms = until;
    return call_provider(o, page, err);
}

/* --- the row ---------------------------------------------------------------------------- */

/* Stores the page in the row and reads the row back. A session that ended meanwhile stays as it
 * is. */
static tide_status store_page(struct page_request *o, const struct tide_kyc_page *page,
                              struct tide_err *err)
{
    static_assert(sizeof page->provider_id == sizeof o->session->provider_id &&
                      sizeof page->url == sizeof o->session->hosted_url,
                  "the row is read back");
    assert(page->provider_id[0] && page->url[0] &&
           page->expires_at > 0); /* the adapter's create set them */
    tide_status status = tide_pg_query(
        o->context->pg, NULL,
        "UPDATE kyc.session SET provider_id = $2, hosted_url = $3,"
        " hosted_until = to_timestamp($4::bigint), last_error = NULL,"
        " next_check = CASE WHEN $6::boolean THEN clock_timestamp() ELSE"
        "  coalesce(next_check, clock_timestamp() + interval '1 s' * $5::integer) END,"
        " updated_at = clock_timestamp() WHERE id = $1"
        "  AND state IN ('created', 'pending', 'review', 'action_required')",
        (const char *[]){ o->session->id, page->provider_id, page->url,
                          TIDE_PG_NUMBER(page->expires_at), TIDE_PG_NUMBER(o->reconcile_s),
                          TIDE_PG_BOOL(page->known) },
        6, err);
    return status == TIDE_OK ? tide_kyc_session_get(o->context, o->session->id, o->session, err)
                             : status;
}

/* --- an approval that waits --------------------------------------------------------------- */

/* Finds out which person at the provider the session is about: its own; else the one of whom a
 * webhook came while there was no session, because a restored database forgot it. "": none. */
static tide_status find_person(struct page_request *o, const char *ref, char out[TIDE_KYC_ID_BYTES],
                               struct tide_err *err)
{
    struct tide_pg_rows rows;
    snprintf(out, TIDE_KYC_ID_BYTES, "%s", o->session->provider_id);
    if (out[0])
        return TIDE_OK;
    tide_status status = tide_pg_query(
        o->context->pg, &rows,
        "SELECT i.provider_id FROM kyc.inbox AS i WHERE i.deployment = $1::smallint"
        "  AND i.provider = $2 AND i.ref = $3 AND i.provider_id IS NOT NULL"
        "  AND i.state = 'ignored' AND NOT EXISTS (SELECT FROM kyc.session AS s"
        "    WHERE s.provider = i.provider AND s.provider_id = i.provider_id)"
        " ORDER BY i.received_at DESC LIMIT 1",
        (const char *[]){ o->context->deployment_text, o->provider->key, ref }, 3, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count && tide_pg_slice(&rows, 0, 0).len < TIDE_KYC_ID_BYTES)
        snprintf(out, TIDE_KYC_ID_BYTES, "%s", tide_pg_text(&rows, 0, 0));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* True if the provider has approved that person under the address's reference. A provider that does
 * not answer has not. */
static bool is_approved(struct page_request *o, const char *ref, const char *provider_id)
{
    struct tide_kyc_decision decision = { 0 };
    struct tide_err ignored;
    const struct tide_kyc_call call = call_of(o);
    o->try_until_ms = tide_kyc_now_ms(o->context) + APPROVED_MS;
    tide_status status = tide_kyc_fetch(&call, provider_id, &decision, &ignored);
    return status == TIDE_OK && decision.state == TIDE_KYC_APPROVED &&
           (!decision.valid_until || decision.valid_until > tide_kyc_now(o->context)) &&
           strcmp(decision.ref, ref) == 0;
}

/* Looks for an approval that this database does not know yet. Then the person needs no page: a
 * worker takes the approval at once, and the provider is not paid for a second check. */
static tide_status find_approval(struct page_request *o, bool *found, struct tide_err *err)
{
    char ref[TIDE_KYC_REF_BYTES], provider_id[TIDE_KYC_ID_BYTES];
    tide_kyc_reference(ref, o->context, o->session->address);
    tide_status status = find_person(o, ref, provider_id, err);
    *found = status == TIDE_OK && provider_id[0] && is_approved(o, ref, provider_id);
    if (!*found)
        return status;
    status = tide_pg_query(o->context->pg, NULL,
                           "UPDATE kyc.session SET provider_id = $2, next_check ="
                           "  clock_timestamp(), updated_at = clock_timestamp() WHERE id = $1"
                           "  AND state IN ('created', 'pending', 'review', 'action_required')",
                           (const char *[]){ o->session->id, provider_id }, 2, err);
    return status == TIDE_OK ? tide_kyc_session_get(o->context, o->session->id, o->session, err)
                             : status;
}

static tide_status store_error(struct page_request *o, const char *what, struct tide_err *err)
{
    return tide_pg_query(o->context->pg, NULL,
                         "UPDATE kyc.session SET last_error = $2 WHERE id = $1",
                         (const char *[]){ o->session->id, what }, 2, err);
}

/* Answers 502, logs the failure and stores its code in the row. An error that may pass is
 * provider_unavailable, any other is provider_refused. */
static tide_status report_failure(struct page_request *o, const struct tide_err *why,
                                  struct tide_reply *reply, struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX];
    bool later = why->code == TIDE_E_IO || why->code == TIDE_E_STOPPED;
    const char *code = later ? "provider_unavailable" : "provider_refused";
    tide_log(later ? TIDE_WARN : TIDE_ERROR, "kyc.provider_failed", "provider=%s why=%s text=%s",
             o->provider->key, tide_status_name(why->code),
             tide_log_quote(quoted, sizeof quoted, why->text));
    tide_reply_problem(reply, 502, code,
                       later
                           ? "The provider does not answer in time. The session is kept: try again."
                           : "The provider refuses this server's requests. The log says why.");
    reply->retry_after_s = AGAIN_S;
    return store_error(o, code, err);
}

/* Asks the provider for a page, unless a concurrent request has just stored one. The caller holds
 * the session's lock. */
static tide_status get_page(struct page_request *o, bool *obtained, struct tide_reply *reply,
                            struct tide_err *err)
{
    struct tide_kyc_page page;
    struct tide_err why;
    tide_status status = tide_kyc_session_get(o->context, o->session->id, o->session, err);
    *obtained = status == TIDE_OK && has_page(o);
    if (status == TIDE_OK && !*obtained)
        status = find_approval(o, obtained, err);
    if (status != TIDE_OK || *obtained)
        return status;
    status = call_with_retry(o, &page, &why);
    if (status == TIDE_OK) {
        *obtained = true;
        return store_page(o, &page, err);
    }
    if (status == TIDE_E_DB || status == TIDE_E_DB_FATAL || status == TIDE_E_MEMORY) {
        *err = why;
        return status;
    }
    return report_failure(o, &why, reply, err);
}

/* --- one caller per session ------------------------------------------------------------- */

static tide_status try_lock(struct page_request *o, bool *locked, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status =
        tide_pg_query(o->context->pg, &rows, "SELECT pg_try_advisory_lock(7023, hashtext($1))",
                      (const char *[]){ o->session->id }, 1, err);
    assert(status != TIDE_OK || (rows.count == 1 && rows.columns == 1));
    *locked = status == TIDE_OK && tide_pg_bool(&rows, 0, 0);
    if (status == TIDE_OK)
        tide_pg_rows_release(&rows);
    return status;
}

/* Releases the session's lock. A lost connection has lost its locks already. */
static tide_status release_lock(struct page_request *o, struct tide_err *err)
{
    if (!tide_pg_alive(o->context->pg))
        return TIDE_OK;
    return tide_pg_query(o->context->pg, NULL, "SELECT pg_advisory_unlock(7023, hashtext($1))",
                         (const char *[]){ o->session->id }, 1, err);
}

/* Takes the session's lock, or waits until the request that holds it has stored a page. Stops at
 * the deadline. */
static tide_status wait_or_lock(struct page_request *o, bool *locked, struct tide_err *err)
{
    tide_status status = try_lock(o, locked, err);
    while (status == TIDE_OK && !*locked && !has_page(o) &&
           !tide_kyc_context_cancelled(o->context)) {
        pause_ms(o->context, POLL_MS);
        status = tide_kyc_session_get(o->context, o->session->id, o->session, err);
        if (status == TIDE_OK && !has_page(o))
            status = try_lock(o, locked, err);
    }
    return status;
}

/* Enters the provider's bulkhead before it waits, so that waiting requests cannot occupy all
 * workers. */
tide_status tide_kyc_hosted_page(struct tide_kyc_context *context, uint32_t reconcile_s,
                                 struct tide_kyc_session *session, bool *obtained,
                                 struct tide_reply *reply, struct tide_err *err)
{
    struct page_request o = { .context = context, .session = session, .reconcile_s = reconcile_s };
    struct tide_err late = { .code = TIDE_E_STOPPED,
                             .text = "another request got no page in time" },
                    unlock_err;
    struct tide_err many = { .code = TIDE_E_STOPPED,
                             .text = "too many requests wait for this provider" };
    bool locked = false;
    o.provider = tide_kyc_provider_of(context->settings, tide_slice_str(session->provider));
    *obtained = has_page(&o);
    if (*obtained)
        return TIDE_OK;
    if (!o.provider) {
        tide_reply_problem(reply, 502, "provider_refused",
                           "The session's provider is no longer configured on this server.");
        return TIDE_OK;
    }
    enum tide_worker_pool_room room = tide_kyc_context_enter(context, o.provider);
    if (room != TIDE_BULKHEAD_ENTERED)
        return room == TIDE_BULKHEAD_BACK ? TIDE_OK : report_failure(&o, &many, reply, err);
    tide_status status = wait_or_lock(&o, &locked, err);
    if (status != TIDE_OK)
        return status;
    if (!locked) {
        *obtained = has_page(&o);
        return *obtained ? TIDE_OK : report_failure(&o, &late, reply, err);
    }
    status = get_page(&o, obtained, reply, err);
    tide_status unlocked = release_lock(&o, &unlock_err);
    if (status == TIDE_OK && unlocked != TIDE_OK) {
        *err = unlock_err;
        status = unlocked;
    }
    return status;
}
