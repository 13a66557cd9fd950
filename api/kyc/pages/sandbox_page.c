/* GET and POST /kyc/sandbox/{sandboxId}: the page of the sandbox provider, where the visitor
 * chooses the decision. Like a real provider, the sandbox stores the decision, sends a webhook and
 * sends the browser back. On the main network no worker becomes ready if the file has a sandbox
 * (context.h). */
#include "api/http/param.h"
#include "api/kyc/pages/page.h"
#include "tidemark/hash.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

enum {
    WORD_MAX = 9,
    REASON_BYTES = 33,
    EVENT_BYTES = 24,
    HOOK_MS = 5000,
    HOOK_TRIES = 3, /* real providers repeat webhooks too, for days */
    PROVIDERS_TEXT = TIDE_KYC_PROVIDERS_MAX * TIDE_KYC_WORD_BYTES
};

struct visit {
    struct tide_kyc_work work;
    char id[TIDE_KYC_ID_BYTES];
    char decision[WORD_MAX + 1];
    char country[4];
    char reason[REASON_BYTES]; /* "": none */
};

static struct tide_kyc_visit visit_of(const struct tide_job *job)
{
    return tide_kyc_visit_of(job->context.api->kyc, job->request);
}

/* --- the session ------------------------------------------------------------------------- */

/* Writes the keys of the sandbox providers, separated by commas. */
static void list_sandboxes(char out[PROVIDERS_TEXT], const struct tide_kyc_settings *settings)
{
    size_t len = 0;
    *out = 0;
    for (uint32_t i = 0; i < settings->provider_count; i++)
        if (settings->providers[i].type == TIDE_KYC_SANDBOX)
            len += (size_t)snprintf(out + len, PROVIDERS_TEXT - len, "%s%s", len ? "," : "",
                                    settings->providers[i].key);
}

/* Reads the session with that sandbox id. TIDE_E_MISSING: there is none. */
static tide_status find_session(struct tide_kyc_context *context, const char *id,
                                struct tide_kyc_session *out, struct tide_err *err)
{
    char keys[PROVIDERS_TEXT];
    const struct tide_kyc_session_query query = {
        "SELECT " TIDE_KYC_SESSION_COLUMNS " FROM kyc.session AS s WHERE s.deployment = $1"
        " AND s.provider = ANY(string_to_array($2, ',')) AND s.provider_id = $3",
        (const char *[]){ context->deployment_text, keys, id }, 3
    };
    bool found;
    list_sandboxes(keys, context->settings);
    tide_status status = tide_kyc_session_query(context, &query, out, &found, err);
    return status == TIDE_OK && !found ? tide_fail(err, TIDE_E_MISSING, "no such check") : status;
}

/* Shows the page with the form, or the page for invalid links. */
static tide_status show_page(struct tide_kyc_work *work, struct tide_kyc_context *context,
                             struct tide_job *job, struct tide_err *err)
{
    struct visit *visit = (struct visit *)work;
    struct tide_kyc_session session;
    tide_status status = find_session(context, visit->id, &session, err);
    if (status == TIDE_E_MISSING) {
        tide_kyc_page_gone(job->reply, visit_of(job), 404);
        return TIDE_OK;
    }
    const struct tide_kyc_sheet sheet = { .document = "/kyc/sandbox",
                                          .data = TIDE_SLICE("{}"),
                                          .visit = visit_of(job),
                                          .session = &session,
                                          .framing = TIDE_KYC_FRAMED_BY_BOTH,
                                          .form = true };
    if (status == TIDE_OK)
        tide_kyc_page(job->reply, &sheet);
    return status;
}

/* --- the webhook ------------------------------------------------------------------------- */

/* Signs a webhook as api/kyc/providers/sandbox.c verifies it. */
static void sign_webhook(char out[2 * TIDE_HASH_BYTES + 1],
                         const struct tide_kyc_provider *provider, int64_t now, tide_slice body)
{
    struct tide_buf text;
    uint8_t mac[TIDE_HMAC_BYTES_MAX];
    assert(provider->secret_count > 0);
    tide_buf_init(&text, body.len + 64);
    tide_buf_putf(&text, "%" PRId64 ".", now);
    tide_buf_slice(&text, body);
    size_t len = tide_hmac(TIDE_HMAC_SHA256, mac, tide_slice_str(provider->secrets[0].text),
                           tide_buf_view(&text));
    assert(len == TIDE_HASH_BYTES);
    tide_hex(out, tide_slice_of(mac, len));
    out[(size_t)2 * TIDE_HASH_BYTES] = 0;
    tide_buf_release(&text);
}

/* Sends the decision's webhook to this server, a few times if needed. If all attempts fail, the
 * reconciler finds the decision later. event must be unique: webhooks with the same event count
 * once. */
static void send_webhook(struct tide_kyc_context *context, const struct tide_kyc_session *session,
                         const char *event)
{
    const struct tide_kyc_provider *provider =
        tide_kyc_provider_of(context->settings, tide_slice_str(session->provider));
    char body[512], signature[2 * TIDE_HASH_BYTES + 1], url[TIDE_KYC_URL_BYTES + 64];
    char line[sizeof signature + 32], quoted[TIDE_ERR_TEXT_MAX];
    int64_t now = tide_kyc_now(context);
    struct tide_err err;
    struct tide_http_answer answer = { 0 };
    snprintf(body, sizeof body,
             "{\"event\":\"decided\",\"number\":\"%s\",\"id\":\"%s\",\"ref\":\"%s\","
             "\"timestamp\":%" PRId64 "}",
             event, session->provider_id, session->ref, now);
    sign_webhook(signature, provider, now, tide_slice_str(body));
    snprintf(line, sizeof line, "X-Sandbox-Signature: %s", signature);
    snprintf(url, sizeof url, "%s/api/kyc/webhook/%s", context->settings->public_url,
             provider->key);
    const char *headers[] = { "Content-Type: application/json", line, NULL };
    const struct tide_http_request request = { .method = TIDE_HTTP_POST,
                                               .url = url,
                                               .headers = headers,
                                               .body = tide_slice_str(body),
                                               .timeout_ms = HOOK_MS,
                                               .cancelled = tide_kyc_context_cancelled,
                                               .self = context };
    tide_status status = TIDE_OK;
    for (int tries = 0; tries < HOOK_TRIES && answer.code != 200 && status != TIDE_E_STOPPED;
         tries++)
        status = tide_http_call(context->http, &request, NULL, &answer, &err);
    if (status != TIDE_OK || answer.code != 200)
        tide_log(TIDE_WARN, "kyc.sandbox_untold", "provider=%s code=%u text=%s", provider->key,
                 answer.code,
                 tide_log_quote(quoted, sizeof quoted, status == TIDE_OK ? "" : err.text));
}

/* --- the decision ------------------------------------------------------------------------ */

static void send_back(struct tide_reply *reply, const struct tide_kyc_context *context,
                      const struct tide_kyc_session *session)
{
    char token[TIDE_KYC_TOKEN_BYTES], url[TIDE_KYC_URL_BYTES + sizeof token + 16];
    tide_kyc_token(token, context->settings, TIDE_KYC_FOR_RETURN, session->id);
    int len = snprintf(url, sizeof url, "%s/kyc/return/%s", context->settings->public_url, token);
    assert(len > 0 && (size_t)len < sizeof url);
    (void)len;
    reply->status = 303;
    reply->cache_control = "no-store";
    tide_reply_header(reply, "Location", url);
}

/* Stores the decision. event is its time in microseconds. */
static tide_status store_decision(struct tide_pg *pg, const struct visit *visit,
                                  char event[EVENT_BYTES], struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        pg, &rows,
        "UPDATE kyc.sandbox SET decision = $2, country = $3,"
        " reason = nullif($4, ''), decided_at = clock_timestamp()"
        " WHERE id = $1 RETURNING (1000000 * extract(epoch FROM decided_at))::bigint",
        (const char *[]){ visit->id, visit->decision, visit->country, visit->reason }, 4, err);
    if (status != TIDE_OK)
        return status;
    snprintf(event, EVENT_BYTES, "%s", rows.count ? tide_pg_text(&rows, 0, 0) : "");
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Stores the decision, sends the webhook and redirects. Sending may block, so the sandbox has a
 * bulkhead like a real provider. */
static tide_status decide_session(struct tide_kyc_work *work, struct tide_kyc_context *context,
                                  struct tide_job *job, struct tide_err *err)
{
    struct visit *visit = (struct visit *)work;
    struct tide_kyc_session session;
    char event[EVENT_BYTES];
    tide_status status = find_session(context, visit->id, &session, err);
    if (status == TIDE_E_MISSING) {
        tide_kyc_page_gone(job->reply, visit_of(job), 404);
        return TIDE_OK;
    }
    if (status != TIDE_OK)
        return status;
    enum tide_worker_pool_room room = tide_kyc_context_enter(
        context, tide_kyc_provider_of(context->settings, tide_slice_str(session.provider)));
    if (room != TIDE_BULKHEAD_ENTERED) {
        tide_kyc_page_away(job->reply, visit_of(job), &session);
        return TIDE_OK;
    }
    status = store_decision(context->pg, visit, event, err);
    if (status != TIDE_OK)
        return status;
    send_webhook(context, &session, event);
    send_back(job->reply, context, &session);
    return TIDE_OK;
}

/* --- the form ---------------------------------------------------------------------------- */

/* Copies a field's value from a form. The result is "" if the field is missing, too long, or
 * contains anything but letters and _. */
static void read_field(char *out, size_t size, tide_slice form, const char *name)
{
    size_t name_len = strlen(name), len = 0;
    *out = 0;
    for (size_t at = 0; at + name_len < form.len;) {
        const uint8_t *end = memchr(form.ptr + at, '&', form.len - at);
        size_t pair = end ? (size_t)(end - form.ptr) - at : form.len - at;
        if (pair > name_len && form.ptr[at + name_len] == '=' &&
            memcmp(form.ptr + at, name, name_len) == 0) {
            const uint8_t *value = form.ptr + at + name_len + 1;
            len = pair - name_len - 1;
            for (size_t i = 0; i < len; i++)
                if (value[i] != '_' && ((value[i] | 0x20) < 'a' || (value[i] | 0x20) > 'z'))
                    return;
            if (len < size) {
                memcpy(out, value, len);
                out[len] = 0;
            }
            return;
        }
        at += pair + 1;
    }
}

static bool is_decision(const char *word)
{
    static const char *const words[] = { "approved", "declined", "resubmit", "expired" };
    for (size_t i = 0; i < TIDE_COUNT(words); i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static struct visit *queue_visit(struct tide_handler_context *context,
                                 const struct tide_request *request, struct tide_reply *reply,
                                 enum tide_kyc_pool_id pool, tide_kyc_run_fn *run)
{
    const struct tide_param_value *id = tide_request_param(request, TIDE_PARAM_sandboxId);
    struct visit *visit = tide_kyc_later(context, sizeof *visit, pool, run, reply);
    if (visit)
        snprintf(visit->id, sizeof visit->id, "%.*s", (int)id->text.len,
                 (const char *)id->text.ptr);
    return visit;
}

void tide_route_kyc_sandbox(struct tide_handler_context *context,
                            const struct tide_request *request, struct tide_reply *reply)
{
    (void)queue_visit(context, request, reply, TIDE_KYC_POOL_READS, show_page);
}

/* Runs in the sessions' pool, because sending the webhook may block. */
void tide_route_kyc_sandbox_decide(struct tide_handler_context *context,
                                   const struct tide_request *request, struct tide_reply *reply)
{
    char decision[WORD_MAX + 1], country[4], reason[REASON_BYTES];
    read_field(decision, sizeof decision, request->body, "decision");
    read_field(country, sizeof country, request->body, "country");
    read_field(reason, sizeof reason, request->body, "reason");
    if (!is_decision(decision)) {
        tide_reply_problem(reply, 400, "bad_body",
                           "The form needs a decision: approved, declined, resubmit or expired.");
        tide_reply_problem_field(reply, "/decision", "must be one of these");
        return;
    }
    struct visit *visit =
        queue_visit(context, request, reply, TIDE_KYC_POOL_SESSIONS, decide_session);
    if (!visit)
        return;
    static_assert(sizeof visit->decision == sizeof decision, "copied whole");
    static_assert(sizeof visit->reason == sizeof reason && sizeof visit->country == sizeof country,
                  "copied whole");
    memcpy(visit->decision, decision, sizeof decision);
    snprintf(visit->country, sizeof visit->country, "%s", *country ? country : "CHE");
    snprintf(visit->reason, sizeof visit->reason, "%s", reason);
}
