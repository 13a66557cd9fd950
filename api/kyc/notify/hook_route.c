/* Routes of webhooks to partners. Each handler checks its request, then calls one SQL function of
 * the schema kyc. The function returns an HTTP status, a code (of the problem; the secret's
 * revision; the next page's first key), and a text or JSON. */
#include "api/kyc/base/handler.h"
#include "api/kyc/keys/keys.h"
#include "api/kyc/notify/hook_read.h"
#include "api/kyc/notify/secret.h"
#include "api/sql/cursor.h"
#include "tidemark/failpoint.h"
#include "tidemark/json.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

enum { VALUES = 8, NUMBER = 24, DAY_S = 86400 };

/* One call of a SQL function. */
struct hook_call {
    struct tide_kyc_work work;
    const char *sql;                /* parameters: $1 deployment, $2 integrator, then values */
    const char *values[VALUES - 2]; /* NULL: SQL NULL. They point into this struct or are static */
    uint32_t count;
    bool shows_secret, pages;
    char integrator[TIDE_KYC_WORD_BYTES];
    char hook[TIDE_KYC_SESSION_BYTES];
    char number[NUMBER], limit[NUMBER], after[TIDE_CURSOR_KEY_MAX + 1];
    struct tide_cursor_scope scope;
    struct tide_notify_body body;
};

/* --- on a worker -------------------------------------------------------------------------- */

/* Copies a JSON object without its last brace, so that the caller can add members. */
static struct tide_json reopen_object(struct tide_reply *reply, tide_slice body)
{
    tide_buf_put(&reply->body, body.ptr, body.len - 1);
    return (struct tide_json){ .buf = &reply->body, .comma = true };
}

static void put_secret(const struct hook_call *call, const struct tide_kyc_settings *settings,
                       uint32_t revision, tide_slice body, struct tide_reply *reply)
{
    char secret[TIDE_NOTIFY_SECRET_BYTES];
    struct tide_json j = reopen_object(reply, body);
    tide_notify_secret(secret, settings, call->hook, revision);
    tide_json_word(&j, "secret", secret);
    tide_json_close(&j, '}');
    tide_sign_wipe(secret, sizeof secret);
}

static void put_next(const struct hook_call *call, tide_slice next, tide_slice body,
                     struct tide_reply *reply)
{
    char cursor[TIDE_CURSOR_MAX];
    struct tide_json j = reopen_object(reply, body);
    if (next.len)
        tide_json_text(&j, "next",
                       tide_slice_of(cursor, tide_cursor_write(cursor, &call->scope, next)));
    else
        tide_json_null(&j, "next");
    tide_json_close(&j, '}');
}

/* Writes the function's result: a problem, or a body with its secret or cursor. */
static void write_answer(const struct hook_call *call, const struct tide_kyc_context *context,
                         const struct tide_pg_rows *rows, struct tide_reply *reply)
{
    uint16_t status = (uint16_t)tide_pg_u64(rows, 0, 0);
    tide_slice body = tide_pg_slice(rows, 0, 2);
    if (status >= 400) {
        tide_reply_problem(reply, status, tide_pg_text(rows, 0, 1), "%s", tide_pg_text(rows, 0, 2));
        if (status == 429) /* the limits count per UTC day */
            reply->retry_after_s = (uint32_t)(DAY_S - tide_kyc_now(context) % DAY_S);
        return;
    }
    reply->status = status;
    if (call->shows_secret)
        put_secret(call, context->settings, (uint32_t)tide_pg_u64(rows, 0, 1), body, reply);
    else if (call->pages)
        put_next(call, tide_pg_slice(rows, 0, 1), body, reply);
    else
        tide_buf_slice(&reply->body, body);
}

/* The failpoints let a test kill the process before and after the call: repeating it must be
 * harmless. */
static tide_status run_call(struct tide_kyc_work *work, struct tide_kyc_context *context,
                            struct tide_job *job, struct tide_err *err)
{
    const struct hook_call *call = (const struct hook_call *)(const void *)work;
    const char *values[VALUES] = { context->deployment_text, call->integrator };
    struct tide_pg_rows rows;
    assert(call->sql && call->count <= TIDE_COUNT(call->values));
    memcpy(values + 2, call->values, sizeof call->values);
    (void)TIDE_FAILPOINT("notify.asks");
    tide_status status = tide_pg_query(context->pg, &rows, call->sql, values, 2 + call->count, err);
    if (status != TIDE_OK)
        return status;
    (void)TIDE_FAILPOINT("notify.asked");
    write_answer(call, context, &rows, job->reply);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* --- on the connection's thread ----------------------------------------------------------- */

/* Checks X-API-Key and its scope. Returns false if the reply holds the problem. */
static bool read_key(struct tide_kyc_key_use *use, struct tide_kyc_keys *keys,
                     const struct tide_request *request, struct tide_reply *reply)
{
    uint32_t times;
    tide_slice key = tide_request_header(request, "X-API-Key", &times);
    enum tide_kyc_key_verdict verdict =
        times == 1 ? tide_kyc_keys_check(keys, use, key, NULL) : TIDE_KYC_KEY_UNKNOWN;
    if (verdict == TIDE_KYC_KEY_GOOD && use->scopes & TIDE_KYC_SCOPE_WEBHOOKS)
        return true;
    if (verdict == TIDE_KYC_KEY_AWAY) {
        tide_reply_problem(reply, 503, "key_unchecked",
                           "The key cannot be checked now: the database is unreachable.");
        reply->retry_after_s = 5;
    } else if (verdict == TIDE_KYC_KEY_GOOD) {
        tide_reply_problem(reply, 403, "key_scope", "This key does not have the scope webhooks.");
    } else {
        tide_reply_problem(reply, 401, times ? "key_unknown" : "key_required",
                           "Send the key of an integrator in one X-API-Key header.");
    }
    return false;
}

/* Checks the request and queues the call. Returns NULL if the reply holds the problem. */
static struct hook_call *queue_call(struct tide_handler_context *context,
                                    const struct tide_request *request, struct tide_reply *reply,
                                    const char *sql)
{
    const struct tide_kyc_settings *settings = context->api->kyc->settings;
    const struct tide_param_value *hook = tide_request_param(request, TIDE_PARAM_webhookId);
    struct tide_kyc_key_use use;
    if (!read_key(&use, context->api->kyc->keys, request, reply))
        return NULL;
    if (!settings->notifies) {
        tide_reply_problem(reply, 404, "webhooks_not_configured",
                           "This server sends no webhooks: its KYC file has no webhookKey.");
        return NULL;
    }
    if (hook && !tide_kyc_is_session_id(hook->text)) {
        tide_reply_problem(reply, 404, "no_webhook", "This integrator has no such webhook.");
        return NULL;
    }
    struct hook_call *call =
        tide_kyc_later(context, sizeof(struct hook_call), TIDE_KYC_POOL_READS, run_call, reply);
    if (!call)
        return NULL;
    call->sql = sql;
    memcpy(call->integrator, use.integrator, sizeof call->integrator);
    if (hook) {
        assert(hook->text.len == sizeof call->hook - 1);
        memcpy(call->hook, hook->text.ptr, sizeof call->hook - 1);
        call->values[call->count++] = call->hook;
    }
    return call;
}

static void discard_call(struct tide_handler_context *context)
{
    free(context->task);
    context->task = NULL;
}

static const char *text_or_null(const char *text)
{
    return *text ? text : NULL;
}

/* Reads the body into the call. Discards the queued call if the body has a fault. */
static bool read_body(struct hook_call *call, enum tide_notify_form form,
                      struct tide_handler_context *context, const struct tide_request *request,
                      struct tide_reply *reply)
{
    if (call &&
        tide_notify_body_read(&call->body, form, context->api->kyc->settings, request->body, reply))
        return true;
    discard_call(context);
    return false;
}

void tide_route_webhooks(struct tide_handler_context *context, const struct tide_request *request,
                         struct tide_reply *reply)
{
    (void)queue_call(context, request, reply,
                     "SELECT * FROM kyc.hook_list($1::smallint, $2, NULL)");
}

void tide_route_webhook(struct tide_handler_context *context, const struct tide_request *request,
                        struct tide_reply *reply)
{
    (void)queue_call(context, request, reply, "SELECT * FROM kyc.hook_list($1::smallint, $2, $3)");
}

/* The id comes from the Idempotency-Key, if there is one: a repeated request then finds its own
 * webhook. */
void tide_route_webhook_create(struct tide_handler_context *context,
                               const struct tide_request *request, struct tide_reply *reply)
{
    struct hook_call *call =
        queue_call(context, request, reply,
                   "SELECT * FROM kyc.hook_create($1::smallint, $2, $3, $4, $5::text[])");
    tide_slice key;
    if (!call || !read_body(call, TIDE_NOTIFY_CREATE, context, request, reply))
        return;
    if (!tide_kyc_idempotency_read(&key, request, reply)) {
        discard_call(context);
        return;
    }
    if (key.ptr) {
        tide_notify_id(call->hook, context->api->kyc->settings, call->integrator, key);
    } else if (!tide_kyc_new_session_id(call->hook)) {
        discard_call(context);
        tide_reply_problem(reply, 503, "no_memory", "The system provides no random numbers now.");
        return;
    }
    call->shows_secret = true;
    call->values[call->count++] = call->hook;
    call->values[call->count++] = call->body.url;
    call->values[call->count++] = call->body.events;
}

void tide_route_webhook_change(struct tide_handler_context *context,
                               const struct tide_request *request, struct tide_reply *reply)
{
    struct hook_call *call = queue_call(
        context, request, reply,
        "SELECT * FROM kyc.hook_change($1::smallint, $2, $3, $4, $5::text[], $6::boolean)");
    if (!call || !read_body(call, TIDE_NOTIFY_CHANGE, context, request, reply))
        return;
    call->values[call->count++] = text_or_null(call->body.url);
    call->values[call->count++] = text_or_null(call->body.events);
    call->values[call->count++] = text_or_null(call->body.enabled);
}

void tide_route_webhook_delete(struct tide_handler_context *context,
                               const struct tide_request *request, struct tide_reply *reply)
{
    (void)queue_call(context, request, reply,
                     "SELECT * FROM kyc.hook_delete($1::smallint, $2, $3)");
}

void tide_route_webhook_secret(struct tide_handler_context *context,
                               const struct tide_request *request, struct tide_reply *reply)
{
    struct hook_call *call =
        queue_call(context, request, reply,
                   "SELECT * FROM kyc.hook_rotate($1::smallint, $2, $3, $4::interval,"
                   " $5::integer)");
    if (!call || !read_body(call, TIDE_NOTIFY_ROTATE, context, request, reply))
        return;
    call->shows_secret = true;
    call->values[call->count++] = call->body.overlap;
    call->values[call->count++] = call->body.replaces;
}

void tide_route_webhook_test(struct tide_handler_context *context,
                             const struct tide_request *request, struct tide_reply *reply)
{
    (void)queue_call(context, request, reply, "SELECT * FROM kyc.hook_test($1::smallint, $2, $3)");
}

void tide_route_webhook_watch(struct tide_handler_context *context,
                              const struct tide_request *request, struct tide_reply *reply)
{
    struct hook_call *call = queue_call(
        context, request, reply,
        "SELECT * FROM kyc.hook_addresses($1::smallint, $2, $3, $4::text[], $5::text[])");
    if (!call || !read_body(call, TIDE_NOTIFY_ADDRESSES, context, request, reply))
        return;
    call->values[call->count++] = *call->body.add ? call->body.add : "{}";
    call->values[call->count++] = *call->body.remove ? call->body.remove : "{}";
}

/* A cursor may be forged, so its key is checked for the form that the list writes. */
static bool is_address(tide_slice key)
{
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    return tide_strkey_decode(&kind, payload, &len, key) == TIDE_OK;
}

static bool is_delivery(tide_slice key)
{
    uint64_t id;
    return tide_parse_u64(&id, key, INT64_MAX) == TIDE_OK;
}

static bool read_cursor(struct hook_call *call, bool (*is_key)(tide_slice key), tide_slice cursor)
{
    return tide_cursor_read(call->after, &call->scope, cursor) &&
           is_key(tide_slice_str(call->after));
}

/* Adds the page's start and size to the call, or discards the call with a problem. */
static void read_page(struct hook_call *call, struct tide_handler_context *context,
                      const struct tide_request *request, const char *first,
                      bool (*is_key)(tide_slice key), struct tide_reply *reply)
{
    static const uint8_t none[TIDE_HASH_BYTES];
    const struct tide_param_value *cursor = tide_request_param(request, TIDE_PARAM_cursor);
    const struct tide_param_value *limit = tide_request_param(request, TIDE_PARAM_limit);
    tide_cursor_scope(&call->scope, none, request);
    snprintf(call->after, sizeof call->after, "%s", first);
    if (cursor->given && !read_cursor(call, is_key, cursor->text)) {
        discard_call(context);
        tide_cursor_refuse(reply);
        return;
    }
    call->pages = true;
    snprintf(call->limit, sizeof call->limit, "%" PRIu64, limit->number);
    call->values[call->count++] = call->after;
    call->values[call->count++] = call->limit;
}

void tide_route_webhook_addresses(struct tide_handler_context *context,
                                  const struct tide_request *request, struct tide_reply *reply)
{
    struct hook_call *call =
        queue_call(context, request, reply,
                   "SELECT * FROM kyc.hook_watched($1::smallint, $2, $3, $4, $5::integer)");
    if (call)
        read_page(call, context, request, "", is_address, reply);
}

void tide_route_webhook_deliveries(struct tide_handler_context *context,
                                   const struct tide_request *request, struct tide_reply *reply)
{
    struct hook_call *call =
        queue_call(context, request, reply,
                   "SELECT * FROM kyc.hook_log($1::smallint, $2, $3, $4::bigint, $5::integer)");
    if (call)
        read_page(call, context, request, "9223372036854775807", is_delivery, reply);
}

void tide_route_webhook_replay(struct tide_handler_context *context,
                               const struct tide_request *request, struct tide_reply *reply)
{
    struct hook_call *call = queue_call(
        context, request, reply, "SELECT * FROM kyc.hook_replay($1::smallint, $2, $3, $4::bigint)");
    if (!call)
        return;
    snprintf(call->number, sizeof call->number, "%" PRIu64,
             tide_request_param(request, TIDE_PARAM_deliveryId)->number);
    call->values[call->count++] = call->number;
}
