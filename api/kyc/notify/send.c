/* A sender's turn: claims a delivery, sends it, and stores the outcome. */
#include "api/kyc/notify/hook_read.h"
#include "api/kyc/notify/notify_impl.h"
#include "api/kyc/notify/secret.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"

/* Pauses between attempts, largest answer that is read, the limit between fast and slow, the first
 * pause of an endpoint after an attempt without an answer; times of an exchange; pauses between
 * turns. */
enum {
    RETRY_FIRST_MS = 5000,
    RETRY_MOST_MS = 4 * 3600 * 1000,
    ANSWER_MAX = 16 << 10,
    SLOW_MS = 3000,
    PAUSE_MS = 1000,
    CONNECT_MS = 4000,
    EXCHANGE_MS = 10000,
    STALL_S = 5,
    IDLE_POLL_MS = 1000,
    BUSY_POLL_MS = 20
};

/* Columns of kyc.hook_claim. */
enum { ID, ATTEMPTS, EVENT, PAYLOAD, HOOK, INTEGRATOR, URL, REVISION, PREVIOUS, OVERDUE };

/* Outcome of an attempt. */
struct outcome {
    /* needs_pause: after a failure no sender calls the endpoint for a while, after a slow success
     * most senders avoid it. */
    bool succeeded, needs_pause;
    bool slow;     /* the endpoint held the sender for more than SLOW_MS */
    uint32_t code; /* HTTP status; 0: no answer */
    char error[TIDE_ERR_TEXT_MAX];
};

/* Leases a delivery for 20 s, twice the time of an exchange. *rows has no row, one row, or one row
 * of NULLs (see send_turn). */
static tide_status claim_delivery(struct notify_sender *t, struct tide_pg_rows *rows,
                                  struct tide_err *err)
{
    assert(t->index > 0);
    const char *share = t->index <= NOTIFY_ANY ? "1" : t->index <= NOTIFY_NEW ? "2" : "3";
    return tide_pg_query(t->context.pg, rows,
                         "SELECT * FROM kyc.hook_claim($1::smallint, $2::integer, interval '20 s')",
                         (const char *[]){ t->context.deployment_text, share }, 2, err);
}

/* Returns a reason from a fixed list: error texts of libraries contain addresses. */
static const char *error_of(tide_status status, const struct tide_http_answer *answer)
{
    if (answer->forbidden)
        return "address_not_public";
    if (status == TIDE_E_CONFIG)
        return "bad_url";
    return answer->code ? "bad_answer" : "no_answer";
}

/* Sends a delivery and fills *out. */
static void post_notification(struct notify_sender *t, const struct tide_pg_rows *d,
                              const struct tide_notify_message *message, struct outcome *out)
{
    char id[96], at[48], signature[TIDE_NOTIFY_SIGNATURE_BYTES];
    char line[TIDE_NOTIFY_SIGNATURE_BYTES + 32];
    struct tide_http_answer answer = { 0 };
    struct tide_err err;
    struct tide_buf body;
    if (!tide_notify_sign(signature, t->context.settings, message))
        return;
    snprintf(id, sizeof id, "webhook-id: %s", message->id);
    snprintf(at, sizeof at, "webhook-timestamp: %" PRId64, message->at);
    snprintf(line, sizeof line, "webhook-signature: %s", signature);
    const char *headers[] = { "Content-Type: application/json", id, at, line, NULL };
    struct tide_http_request request = { .method = TIDE_HTTP_POST,
                                         .url = tide_pg_text(d, 0, URL),
                                         .headers = headers,
                                         .body = message->body,
                                         .cancelled = tide_kyc_context_cancelled,
                                         .self = &t->context };
    tide_buf_init(&body, ANSWER_MAX);
    int64_t began = tide_kyc_now_ms(&t->context);
    tide_status status = tide_http_call(t->http, &request, &body, &answer, &err);
    tide_buf_release(&body);
    out->code = answer.code;
    /* A success status counts even if the answer is longer than allowed. */
    out->succeeded =
        (status == TIDE_OK || status == TIDE_E_LIMIT) && answer.code >= 200 && answer.code < 300;
    out->slow = tide_kyc_now_ms(&t->context) - began > SLOW_MS;
    out->needs_pause =
        out->slow ||
        (!out->succeeded && (answer.code == 0 || answer.code == 429 || answer.code == 503));
    if (!out->succeeded)
        snprintf(out->error, sizeof out->error, "%s", error_of(status, &answer));
}

/* Chooses why the endpoint is disabled; NULL: it is not. Three days that a wrong clock counted are
 * no reason. */
static tide_status read_disable(struct notify_sender *t, const struct tide_pg_rows *d,
                                const struct outcome *outcome, const char **why,
                                struct tide_err *err)
{
    bool agree = false;
    tide_status status = TIDE_OK;
    *why = NULL;
    if (outcome->succeeded)
        return TIDE_OK;
    if (outcome->code != 410 && tide_pg_bool(d, 0, OVERDUE))
        status = notify_clocks_agree(&t->context, &agree, err);
    *why = outcome->code == 410 ? "gone" : agree ? "failed" : NULL;
    return status;
}

/* Stores the outcome: delivered, or the time of the next attempt. Disables the endpoint after 410,
 * or if the delivery has failed for three days. */
static tide_status store_outcome(struct notify_sender *t, const struct tide_pg_rows *d,
                                 const struct outcome *outcome, struct tide_err *err)
{
    char again[32], pause[32];
    uint32_t attempts = (uint32_t)tide_pg_u64(d, 0, ATTEMPTS);
    const char *disable;
    snprintf(again, sizeof again, "%" PRIu32 " milliseconds",
             tide_retry_pause_ms(&t->thread.retry, RETRY_FIRST_MS, RETRY_MOST_MS, attempts - 1));
    snprintf(pause, sizeof pause, "%d milliseconds", outcome->needs_pause ? PAUSE_MS : 0);
    tide_status status = read_disable(t, d, outcome, &disable, err);
    if (status != TIDE_OK)
        return status;
    status =
        tide_pg_query(t->context.pg, NULL,
                      "SELECT kyc.hook_done($1::bigint, $2::integer, $3::boolean, $4::integer, $5,"
                      " $6::interval, $7::interval, $8::boolean, $9)",
                      (const char *[]){ tide_pg_text(d, 0, ID), tide_pg_text(d, 0, ATTEMPTS),
                                        TIDE_PG_BOOL(outcome->succeeded),
                                        outcome->code ? TIDE_PG_NUMBER(outcome->code) : NULL,
                                        outcome->succeeded ? NULL : outcome->error, again, pause,
                                        TIDE_PG_BOOL(outcome->slow), disable },
                      9, err);
    if (status != TIDE_OK)
        return status;
    atomic_fetch_add(outcome->succeeded ? &t->sent->delivered : &t->sent->failed, 1);
    if (disable)
        tide_log(TIDE_WARN, "notify.disabled", "webhook=%s integrator=%s reason=%s",
                 tide_pg_text(d, 0, HOOK), tide_pg_text(d, 0, INTEGRATOR), disable);
    return TIDE_OK;
}

/* A failure before the call (bad URL, no memory) counts as a failed attempt that pauses the
 * endpoint. */
static void attempt_delivery(struct notify_sender *t, const struct tide_pg_rows *d,
                             struct outcome *out)
{
    const struct tide_kyc_settings *settings = t->context.settings;
    struct tide_notify_message message = { .hook = tide_pg_text(d, 0, HOOK),
                                           .revision = (uint32_t)tide_pg_u64(d, 0, REVISION),
                                           .previous = tide_pg_bool(d, 0, PREVIOUS),
                                           .id = tide_pg_text(d, 0, EVENT),
                                           .at = tide_kyc_now(&t->context),
                                           .body = tide_pg_slice(d, 0, PAYLOAD) };
    *out = (struct outcome){ .needs_pause = true, .error = "no_answer" };
    /* Check the stored URL again: it may come from a time when the KYC file allowed private
     * addresses. */
    if (!tide_notify_url_allowed(settings, tide_pg_slice(d, 0, URL)))
        snprintf(out->error, sizeof out->error, "bad_url");
    else
        post_notification(t, d, &message, out);
}

/* A crash between sending and storing repeats the notification: delivery is at least once. */
static tide_status send_turn(void *self, uint32_t *wait_ms, struct tide_err *err)
{
    struct notify_sender *t = self;
    struct tide_pg_rows delivery;
    struct outcome outcome;
    tide_status status = claim_delivery(t, &delivery, err);
    if (status != TIDE_OK)
        return status;
    /* A row of NULLs: deliveries are due, but another sender holds their integrator's lock. Poll
     * again soon. */
    bool any = delivery.count == 1, claimed = any && !tide_pg_is_null(&delivery, 0, ID);
    *wait_ms = claimed ? 0 : any ? BUSY_POLL_MS : IDLE_POLL_MS;
    /* When closing, a cancelled attempt is not stored as a failure: the lease ends by itself. */
    if (claimed) {
        (void)TIDE_FAILPOINT("notify.claimed");
        attempt_delivery(t, &delivery, &outcome);
        (void)TIDE_FAILPOINT("notify.sent");
        if (outcome.succeeded || !tide_kyc_context_cancelled(&t->context))
            status = store_outcome(t, &delivery, &outcome, err);
        (void)TIDE_FAILPOINT("notify.noted");
    }
    tide_pg_rows_release(&delivery);
    return status;
}

/* --- life --------------------------------------------------------------------------------- */

static void log_failure(void *self, bool passes, const char *quoted)
{
    tide_log(passes ? TIDE_WARN : TIDE_ERROR, "notify.failed", "thread=%u text=%s",
             ((struct notify_sender *)self)->index, quoted);
}

static const struct tide_kyc_turns turns = {
    .name = "notify", .channel = "tidemark_hook_delivery", .turn = send_turn, .failed = log_failure
};

tide_status notify_sender_open(struct notify_sender *sender,
                               const struct tide_kyc_context_options *options, struct tide_err *err)
{
    struct tide_http_options http = { .agent = "tidemark-webhooks",
                                      .ca_file = options->config->http_ca_file,
                                      .connect_ms = CONNECT_MS,
                                      .timeout_ms = EXCHANGE_MS,
                                      .stall_s = STALL_S,
                                      .public_only = !options->settings->webhook_local };
    assert(sender->index > 0 && sender->index <= NOTIFY_SENDERS);
    tide_status status = tide_kyc_thread_open(&sender->thread, &turns, sender, sender->index,
                                              &sender->context, options, err);
    return status == TIDE_OK ? tide_http_open(&sender->http, &http, err) : status;
}

void notify_sender_close(struct notify_sender *sender)
{
    tide_kyc_thread_close(&sender->thread);
    tide_http_close(sender->http);
}
