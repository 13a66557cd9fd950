/* Routes of webhooks to partners. Each checks its request, then asks one function of the schema
 * kyc. That answers a status, a code (of a problem; the secret's revision; where the next page
 * begins), and a text or JSON. */
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

/* One request. */
struct ask {
    struct tide_kyc_work work;
    const char *sql;                /* $1: deployment, $2: integrator, then values */
    const char *values[VALUES - 2]; /* NULL: SQL NULL; they lie below, or are static */
    uint32_t count;
    bool shows_secret, pages;
    char integrator[TIDE_KYC_WORD_BYTES];
    char hook[TIDE_KYC_SESSION_BYTES];
    char number[NUMBER], limit[NUMBER], after[TIDE_CURSOR_KEY_MAX + 1];
    struct tide_cursor_scope scope;
    struct tide_notify_body body;
};

/* --- on a worker -------------------------------------------------------------------------- */

/* The answer's last brace makes way for a further member. */
static struct tide_json open_again(struct tide_reply *reply, tide_slice body)
{
    tide_buf_put(&reply->body, body.ptr, body.len - 1);
    return (struct tide_json){ .buf = &reply->body, .comma = true };
}

static void put_secret(const struct ask *ask, const struct tide_kyc_settings *settings,
                       uint32_t revision, tide_slice body, struct tide_reply *reply)
{
    char secret[TIDE_NOTIFY_SECRET_BYTES];
    struct tide_json j = open_again(reply, body);
    tide_notify_secret(secret, settings, ask->hook, revision);
    tide_json_word(&j, "secret", secret);
    tide_json_close(&j, '}');
    tide_sign_wipe(secret, sizeof secret);
}

static void put_next(const struct ask *ask, tide_slice next, tide_slice body,
                     struct tide_reply *reply)
{
    char cursor[TIDE_CURSOR_MAX];
    struct tide_json j = open_again(reply, body);
    if (next.len)
        tide_json_text(&j, "next",
                       tide_slice_of(cursor, tide_cursor_write(cursor, &ask->scope, next)));
    else
        tide_json_null(&j, "next");
    tide_json_close(&j, '}');
}

static void answer(const struct ask *ask, const struct tide_kyc_context *context,
                   const struct tide_pg_rows *rows, struct tide_reply *reply)
{
    uint16_t status = (uint16_t)tide_pg_u64(rows, 0, 0);
    tide_slice body = tide_pg_slice(rows, 0, 2);
    if (status >= 400) {
        tide_reply_problem(reply, status, tide_pg_text(rows, 0, 1), "%s", tide_pg_text(rows, 0, 2));
        if (status == 429) /* limits are those of a day (UTC) */
            reply->retry_after_s = (uint32_t)(DAY_S - tide_kyc_now(context) % DAY_S);
        return;
    }
    reply->status = status;
    if (ask->shows_secret)
        put_secret(ask, context->settings, (uint32_t)tide_pg_u64(rows, 0, 1), body, reply);
    else if (ask->pages)
        put_next(ask, tide_pg_slice(rows, 0, 1), body, reply);
    else
        tide_buf_slice(&reply->body, body);
}

static tide_status run(struct tide_kyc_work *work, struct tide_kyc_context *context,
                       struct tide_job *job, struct tide_err *err)
{
    const struct ask *ask = (const struct ask *)(const void *)work;
    const char *values[VALUES] = { context->deployment_text, ask->integrator };
    struct tide_pg_rows rows;
    memcpy(values + 2, ask->values, sizeof ask->values);
    (void)TIDE_FAILPOINT("notify.asks");
    tide_status status = tide_pg_query(context->pg, &rows, ask->sql, values, 2 + ask->count, err);
    if (status != TIDE_OK)
        return status;
    (void)TIDE_FAILPOINT("notify.asked");
    answer(ask, context, &rows, job->reply);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* --- on the connection's thread ----------------------------------------------------------- */

/* False: the reply says why. */
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
        tide_reply_problem(reply, 503, "key_unchecked", "The database that knows keys is away.");
        reply->retry_after_s = 5;
    } else if (verdict == TIDE_KYC_KEY_GOOD) {
        tide_reply_problem(reply, 403, "key_scope", "This key is not for webhooks.");
    } else {
        tide_reply_problem(reply, 401, times ? "key_unknown" : "key_required",
                           "Webhooks are an integrator's: give a key of it in X-API-Key, once.");
    }
    return false;
}

/* NULL: the reply says why. */
static struct ask *begin(struct tide_handler_context *context, const struct tide_request *request,
                         struct tide_reply *reply, const char *sql)
{
    const struct tide_kyc_settings *settings = context->api->kyc->settings;
    const struct tide_param_value *hook = tide_request_param(request, TIDE_PARAM_webhookId);
    struct tide_kyc_key_use use;
    if (!read_key(&use, context->api->kyc->keys, request, reply))
        return NULL;
    if (!settings->notifies) {
        tide_reply_problem(reply, 404, "webhooks_not_configured",
                           "This server sends no webhooks: webhookKey of its KYC file is not set.");
        return NULL;
    }
    if (hook && !tide_kyc_is_session_id(hook->text)) {
        tide_reply_problem(reply, 404, "no_webhook",
                           "There is no such webhook of this integrator.");
        return NULL;
    }
    struct ask *ask = tide_kyc_later(context, sizeof(struct ask), TIDE_KYC_POOL_READS, run, reply);
    if (!ask)
        return NULL;
    ask->sql = sql;
    memcpy(ask->integrator, use.integrator, sizeof ask->integrator);
    if (hook) {
        memcpy(ask->hook, hook->text.ptr, sizeof ask->hook - 1);
        ask->values[ask->count++] = ask->hook;
    }
    return ask;
}

static void give_up(struct tide_handler_context *context)
{
    free(context->task);
    context->task = NULL;
}

static const char *given(const char *text)
{
    return *text ? text : NULL;
}

static bool read_body(struct ask *ask, enum tide_notify_form form,
                      struct tide_handler_context *context, const struct tide_request *request,
                      struct tide_reply *reply)
{
    if (ask &&
        tide_notify_body_read(&ask->body, form, context->api->kyc->settings, request->body, reply))
        return true;
    give_up(context);
    return false;
}

void tide_route_webhooks(struct tide_handler_context *context, const struct tide_request *request,
                         struct tide_reply *reply)
{
    (void)begin(context, request, reply, "SELECT * FROM kyc.hook_list($1::smallint, $2, NULL)");
}

void tide_route_webhook(struct tide_handler_context *context, const struct tide_request *request,
                        struct tide_reply *reply)
{
    (void)begin(context, request, reply, "SELECT * FROM kyc.hook_list($1::smallint, $2, $3)");
}

void tide_route_webhook_create(struct tide_handler_context *context,
                               const struct tide_request *request, struct tide_reply *reply)
{
    struct ask *ask = begin(context, request, reply,
                            "SELECT * FROM kyc.hook_create($1::smallint, $2, $3, $4, $5::text[])");
    tide_slice key;
    if (!ask || !read_body(ask, TIDE_NOTIFY_CREATE, context, request, reply))
        return;
    if (!tide_kyc_idempotency_read(&key, request, reply)) {
        give_up(context);
        return;
    }
    if (key.ptr) {
        tide_notify_id(ask->hook, context->api->kyc->settings, ask->integrator, key);
    } else if (!tide_kyc_new_session_id(ask->hook)) {
        give_up(context);
        tide_reply_problem(reply, 503, "no_memory", "The system has no random numbers to give.");
        return;
    }
    ask->shows_secret = true;
    ask->values[ask->count++] = ask->hook;
    ask->values[ask->count++] = ask->body.url;
    ask->values[ask->count++] = ask->body.events;
}

void tide_route_webhook_change(struct tide_handler_context *context,
                               const struct tide_request *request, struct tide_reply *reply)
{
    struct ask *ask =
        begin(context, request, reply,
              "SELECT * FROM kyc.hook_change($1::smallint, $2, $3, $4, $5::text[], $6::boolean)");
    if (!ask || !read_body(ask, TIDE_NOTIFY_CHANGE, context, request, reply))
        return;
    ask->values[ask->count++] = given(ask->body.url);
    ask->values[ask->count++] = given(ask->body.events);
    ask->values[ask->count++] = given(ask->body.enabled);
}

void tide_route_webhook_delete(struct tide_handler_context *context,
                               const struct tide_request *request, struct tide_reply *reply)
{
    (void)begin(context, request, reply, "SELECT * FROM kyc.hook_delete($1::smallint, $2, $3)");
}

void tide_route_webhook_secret(struct tide_handler_context *context,
                               const struct tide_request *request, struct tide_reply *reply)
{
    struct ask *ask = begin(context, request, reply,
                            "SELECT * FROM kyc.hook_rotate($1::smallint, $2, $3, $4::interval,"
                            " $5::integer)");
    if (!ask || !read_body(ask, TIDE_NOTIFY_ROTATE, context, request, reply))
        return;
    ask->shows_secret = true;
    ask->values[ask->count++] = ask->body.overlap;
    ask->values[ask->count++] = ask->body.replaces;
}

void tide_route_webhook_test(struct tide_handler_context *context,
                             const struct tide_request *request, struct tide_reply *reply)
{
    (void)begin(context, request, reply, "SELECT * FROM kyc.hook_test($1::smallint, $2, $3)");
}

void tide_route_webhook_watch(struct tide_handler_context *context,
                              const struct tide_request *request, struct tide_reply *reply)
{
    struct ask *ask =
        begin(context, request, reply,
              "SELECT * FROM kyc.hook_addresses($1::smallint, $2, $3, $4::text[], $5::text[])");
    if (!ask || !read_body(ask, TIDE_NOTIFY_ADDRESSES, context, request, reply))
        return;
    ask->values[ask->count++] = *ask->body.add ? ask->body.add : "{}";
    ask->values[ask->count++] = *ask->body.remove ? ask->body.remove : "{}";
}

/* Keys that the lists give out: a cursor may be forged. */
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

static bool read_cursor(struct ask *ask, bool (*is_key)(tide_slice key), tide_slice cursor)
{
    return tide_cursor_read(ask->after, &ask->scope, cursor) && is_key(tide_slice_str(ask->after));
}

/* A page of a list: behind which key it begins, and its size. Or the reply says why not. */
static void read_page(struct ask *ask, struct tide_handler_context *context,
                      const struct tide_request *request, const char *first,
                      bool (*is_key)(tide_slice key), struct tide_reply *reply)
{
    static const uint8_t none[TIDE_HASH_BYTES];
    const struct tide_param_value *cursor = tide_request_param(request, TIDE_PARAM_cursor);
    const struct tide_param_value *limit = tide_request_param(request, TIDE_PARAM_limit);
    tide_cursor_scope(&ask->scope, none, request);
    snprintf(ask->after, sizeof ask->after, "%s", first);
    if (cursor->given && !read_cursor(ask, is_key, cursor->text)) {
        give_up(context);
        tide_cursor_refuse(reply);
        return;
    }
    ask->pages = true;
    snprintf(ask->limit, sizeof ask->limit, "%" PRIu64, limit->number);
    ask->values[ask->count++] = ask->after;
    ask->values[ask->count++] = ask->limit;
}

void tide_route_webhook_addresses(struct tide_handler_context *context,
                                  const struct tide_request *request, struct tide_reply *reply)
{
    struct ask *ask =
        begin(context, request, reply,
              "SELECT * FROM kyc.hook_watched($1::smallint, $2, $3, $4, $5::integer)");
    if (ask)
        read_page(ask, context, request, "", is_address, reply);
}

void tide_route_webhook_deliveries(struct tide_handler_context *context,
                                   const struct tide_request *request, struct tide_reply *reply)
{
    struct ask *ask =
        begin(context, request, reply,
              "SELECT * FROM kyc.hook_log($1::smallint, $2, $3, $4::bigint, $5::integer)");
    if (ask)
        read_page(ask, context, request, "9223372036854775807", is_delivery, reply);
}

void tide_route_webhook_replay(struct tide_handler_context *context,
                               const struct tide_request *request, struct tide_reply *reply)
{
    struct ask *ask = begin(context, request, reply,
                            "SELECT * FROM kyc.hook_replay($1::smallint, $2, $3, $4::bigint)");
    if (!ask)
        return;
    snprintf(ask->number, sizeof ask->number, "%" PRIu64,
             tide_request_param(request, TIDE_PARAM_deliveryId)->number);
    ask->values[ask->count++] = ask->number;
}
