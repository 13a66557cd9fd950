/* A sender's turn: takes a delivery, sends it, notes what became of it. */
#include "api/kyc/notify/hook_read.h"
#include "api/kyc/notify/notify_impl.h"
#include "api/kyc/notify/secret.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"

enum {
    RETRY_FIRST_MS = 5000,
    RETRY_MOST_MS = 4 * 3600 * 1000,
    ANSWER_MAX = 16 << 10,
    SLOW_MS = 3000,
    PAUSE_MS = 1000
};

/* The columns of kyc.hook_claim. */
enum { ID, ATTEMPTS, EVENT, PAYLOAD, HOOK, INTEGRATOR, URL, REVISION, PREVIOUS, OVERDUE };

/* What became of an attempt. */
struct outcome {
    bool succeeded, tires; /* tires: it holds up senders. After a failure it is left alone */
    bool slow;             /* it held this one for more than SLOW_MS                       */
    uint32_t code;         /* 0: no answer */
    char error[TIDE_ERR_TEXT_MAX];
};

static tide_status claim(struct notify_thread *t, struct tide_pg_rows *rows, struct tide_err *err)
{
    const char *share = t->index <= NOTIFY_ANY ? "1" : t->index <= NOTIFY_NEW ? "2" : "3";
    return tide_pg_query(t->context.pg, rows,
                         "SELECT * FROM kyc.hook_claim($1::smallint, $2::integer, interval '20 s')",
                         (const char *[]){ t->context.deployment_text, share }, 2, err);
}

/* A reason in our own words: texts of libraries name addresses. */
static const char *error_of(tide_status status, const struct tide_http_answer *answer)
{
    if (answer->forbidden)
        return "address_not_public";
    if (status == TIDE_E_CONFIG)
        return "bad_url";
    return answer->code ? "bad_answer" : "no_answer";
}

static void post(struct notify_thread *t, const struct tide_pg_rows *d,
                 const struct tide_notify_message *message, struct outcome *out)
{
    char id[96], at[48], signature[TIDE_NOTIFY_SIGNATURE_BYTES];
    char line[TIDE_NOTIFY_SIGNATURE_BYTES + 32];
    const struct tide_clock *clock = t->all->options.clock;
    struct tide_http_answer answer = { 0 };
    struct tide_err err;
    struct tide_buf body;
    if (!tide_notify_sign(signature, t->all->options.settings, message))
        return;
    snprintf(id, sizeof id, "webhook-id: %s", message->id);
    snprintf(at, sizeof at, "webhook-timestamp: %" PRId64, message->at);
    snprintf(line, sizeof line, "webhook-signature: %s", signature);
    const char *headers[] = { "Content-Type: application/json", id, at, line, NULL };
    struct tide_http_request request = { .method = TIDE_HTTP_POST,
                                         .url = tide_pg_text(d, 0, URL),
                                         .headers = headers,
                                         .body = message->body,
                                         .cancelled = notify_is_closing,
                                         .self = t->all };
    tide_buf_init(&body, ANSWER_MAX);
    int64_t began = clock->now_ms(clock->self);
    tide_status status = tide_http_call(t->http, &request, &body, &answer, &err);
    tide_buf_release(&body);
    out->code = answer.code;
    /* An answer that is too long was a success if its status says so. */
    out->succeeded =
        (status == TIDE_OK || status == TIDE_E_LIMIT) && answer.code >= 200 && answer.code < 300;
    out->slow = clock->now_ms(clock->self) - began > SLOW_MS;
    out->tires = out->slow || (!out->succeeded &&
                               (answer.code == 0 || answer.code == 429 || answer.code == 503));
    if (!out->succeeded)
        snprintf(out->error, sizeof out->error, "%s", error_of(status, &answer));
}

static tide_status finish(struct notify_thread *t, const struct tide_pg_rows *d,
                          const struct outcome *outcome, struct tide_err *err)
{
    char code[16], again[32], pause[32];
    uint32_t attempts = (uint32_t)tide_pg_u64(d, 0, ATTEMPTS);
    const char *disable = NULL;
    snprintf(code, sizeof code, "%" PRIu32, outcome->code);
    snprintf(again, sizeof again, "%" PRIu32 " milliseconds",
             tide_retry_pause_ms(&t->retry, RETRY_FIRST_MS, RETRY_MOST_MS, attempts - 1));
    snprintf(pause, sizeof pause, "%d milliseconds", outcome->tires ? PAUSE_MS : 0);
    if (!outcome->succeeded && outcome->code == 410)
        disable = "gone";
    else if (!outcome->succeeded && tide_pg_bool(d, 0, OVERDUE))
        disable = "failed";
    tide_status status = tide_pg_query(
        t->context.pg, NULL,
        "SELECT kyc.hook_done($1::bigint, $2::integer, $3::boolean, $4::integer, $5,"
        " $6::interval, $7::interval, $8::boolean, $9)",
        (const char *[]){ tide_pg_text(d, 0, ID), tide_pg_text(d, 0, ATTEMPTS),
                          outcome->succeeded ? "true" : "false", outcome->code ? code : NULL,
                          outcome->succeeded ? NULL : outcome->error, again, pause,
                          outcome->slow ? "true" : "false", disable },
        9, err);
    if (status != TIDE_OK)
        return status;
    atomic_fetch_add(outcome->succeeded ? &t->all->delivered : &t->all->failed, 1);
    if (disable)
        tide_log(TIDE_WARN, "notify.disabled", "webhook=%s integrator=%s reason=%s",
                 tide_pg_text(d, 0, HOOK), tide_pg_text(d, 0, INTEGRATOR), disable);
    return TIDE_OK;
}

static void attempt(struct notify_thread *t, const struct tide_pg_rows *d, struct outcome *out)
{
    const struct tide_kyc_settings *settings = t->all->options.settings;
    const struct tide_clock *clock = t->all->options.clock;
    struct tide_notify_message message = { .hook = tide_pg_text(d, 0, HOOK),
                                           .revision = (uint32_t)tide_pg_u64(d, 0, REVISION),
                                           .previous = tide_pg_bool(d, 0, PREVIOUS),
                                           .id = tide_pg_text(d, 0, EVENT),
                                           .at = clock->wall_ms(clock->self) / 1000,
                                           .body = tide_pg_slice(d, 0, PAYLOAD) };
    *out = (struct outcome){ .tires = true };
    /* The database's row is not believed: another file's rules may have let it in. */
    if (!tide_notify_url_allowed(settings, tide_pg_slice(d, 0, URL)))
        snprintf(out->error, sizeof out->error, "bad_url");
    else
        post(t, d, &message, out);
}

tide_status notify_send_turn(struct notify_thread *t, bool *more, struct tide_err *err)
{
    struct tide_pg_rows delivery;
    struct outcome outcome;
    tide_status status = claim(t, &delivery, err);
    if (status != TIDE_OK)
        return status;
    /* A row of NULLs: others of its integrator are being taken. */
    *more = delivery.count == 1 && !tide_pg_is_null(&delivery, 0, ID);
    t->busy = delivery.count == 1 && !*more;
    if (*more) {
        (void)TIDE_FAILPOINT("notify.claimed");
        attempt(t, &delivery, &outcome);
        (void)TIDE_FAILPOINT("notify.sent");
        if (outcome.succeeded || !notify_is_closing(t->all))
            status = finish(t, &delivery, &outcome, err);
        (void)TIDE_FAILPOINT("notify.noted");
    }
    tide_pg_rows_release(&delivery);
    return status;
}
