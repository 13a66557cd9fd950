#include "api/view.h"
#include "api/lookup.h"
#include "tidemark/log.h"

/* The database did not answer, or not what it should: its words are for the log. */
static void tell_failure(struct tide_reply *reply, const struct tide_request *request,
                         tide_status status, const struct tide_err *err)
{
    if (status == TIDE_E_MISSING) {
        tide_reply_problem(reply, 404, "ledger_not_indexed", "%s", err->text);
        return;
    }
    tide_log(TIDE_WARN, "view.failed", "request=%s route=%s why=\"%s\"", request->id,
             request->route->id, err->text);
    tide_reply_problem(reply, 503, "database_away",
                       "the database does not answer; without ?ledger= this route needs none");
    reply->retry_after_s = 1;
}

/* The deployment that the cache is of. */
static tide_status deployment_of(struct tide_hot_reader *reader, uint16_t *out,
                                 struct tide_err *err)
{
    const struct tide_hot_meta *meta;
    tide_status status = tide_hot_begin(reader, &meta, err);
    if (status != TIDE_OK)
        return status;
    *out = meta->deployment;
    status = tide_hot_end(reader);
    return status == TIDE_OK ? status : tide_fail(err, status, "cache: damaged");
}

static bool not_ready(struct tide_reply *reply)
{
    tide_reply_problem(reply, 503, "not_ready", "the cache is being built; ask again soon");
    reply->retry_after_s = 1;
    return false;
}

static bool open_past(struct tide_view *view, struct tide_handler_context *context,
                      const struct tide_request *request, uint32_t ledger, struct tide_reply *reply)
{
    struct tide_err err;
    uint16_t deployment;
    assert(context->pg); /* ?ledger= is for a pool's thread */
    if (deployment_of(context->reader, &deployment, &err) != TIDE_OK)
        return not_ready(reply);
    tide_status status =
        view_past_open(&view->past, &view->meta, context->pg, deployment, ledger, &err);
    if (status != TIDE_OK) {
        tell_failure(reply, request, status, &err);
        return false;
    }
    view->now = view->meta->close_time;
    reply->at = (struct tide_answer_at){ true, view->meta->ledger, view->meta->close_time, 0 };
    return true;
}

static bool fresh(const struct tide_view *view, const struct tide_handler_context *context,
                  const struct tide_request *request, struct tide_reply *reply)
{
    const struct tide_param_value *asked = tide_request_param(request, TIDE_PARAM_maxAgeMs);
    uint64_t allowed = context->api->config->stale_after_ms;
    if (asked && asked->given && asked->number < allowed)
        allowed = asked->number;
    if (TIDE_LIKELY(view->age_ms <= allowed))
        return true;
    tide_reply_problem(reply, 503, "stale",
                       "the newest state known here is of ledger %" PRIu32
                       " and was last confirmed %" PRIu64 " ms ago; allowed are %" PRIu64,
                       view->meta->ledger, view->age_ms, allowed);
    reply->retry_after_s = 1;
    return false;
}

bool tide_view_open(struct tide_view *view, struct tide_handler_context *context,
                    const struct tide_request *request, struct tide_reply *reply)
{
    const struct tide_param_value *ledger = tide_request_param(request, TIDE_PARAM_ledger);
    struct tide_err err;
    *view = (struct tide_view){ .reader = context->reader, .request = request };
    if (TIDE_UNLIKELY(ledger && ledger->given))
        return open_past(view, context, request, (uint32_t)ledger->number, reply);
    if (TIDE_UNLIKELY(tide_hot_begin(view->reader, &view->meta, &err) != TIDE_OK))
        return not_ready(reply);
    view->now = tide_lookup_now(view->meta, (int64_t)context->now_ms);
    view->age_ms = tide_lookup_age_ms(view->meta, (int64_t)context->now_ms);
    reply->at =
        (struct tide_answer_at){ true, view->meta->ledger, view->meta->close_time, view->age_ms };
    if (TIDE_LIKELY(fresh(view, context, request, reply)))
        return true;
    (void)!tide_hot_end(view->reader);
    return false;
}

struct tide_json tide_view_answer(const struct tide_view *view, struct tide_reply *reply)
{
    struct tide_json j = { .buf = &reply->body };
    tide_json_open(&j, '{');
    tide_json_u64(&j, "ledger", view->meta->ledger);
    tide_json_time(&j, "closedAt", view->meta->close_time);
    return j;
}

void tide_view_close(struct tide_view *view, struct tide_reply *reply)
{
    struct tide_err err;
    if (view->past) {
        tide_status status = view_past_close(view->past, &err);
        if (status != TIDE_OK)
            tell_failure(reply, view->request, status, &err);
    } else if (TIDE_UNLIKELY(tide_hot_end(view->reader) != TIDE_OK)) {
        (void)not_ready(reply);
    }
    if (TIDE_UNLIKELY(reply->body.failed))
        tide_reply_problem(reply, 503, "too_large", "the answer would be too large");
}
