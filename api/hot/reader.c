/* Opens a reader for a request, checks its age, and ends it in the reply. */
#include "api/hot/reader.h"
#include "api/sql/deployment_select.h"
#include "api/sql/sql_answer.h"
#include "api/sql/sql_problem.h"
#include "tidemark/answer.h"
#include "tidemark/cache_meta.h"
#include "tidemark/hash.h"

/* Answers 503 not_ready and returns false. */
static bool reject_not_ready(struct tide_reply *reply)
{
    tide_reply_problem(reply, 503, "not_ready", "The cache is being built. Retry in a second.");
    reply->retry_after_s = 1;
    return false;
}

bool tide_reader_open_task(struct tide_reader *reader, struct tide_handler_context *context,
                           uint64_t now, struct tide_reply *reply)
{
    struct tide_err err;
    const struct tide_sql_task *task = tide_sql_task(context);
    assert(task);            /* only a worker of the SQL pool reads the past */
    assert(reply->at.known); /* set by tide_sql_handle, which read the head of the index */
    *reader = (struct tide_reader){ .now = now };
    tide_status status = reader_past_open(&reader->past, &reader->meta, task->pg, task->deployment,
                                          reply->at.ledger, &err);
    reader->pg = task->pg;
    if (status != TIDE_OK)
        tide_sql_problem(reply, task->pg, &err);
    return status == TIDE_OK;
}

/* Returns whether the cache is young enough. Otherwise the reply is 503 stale. */
static bool check_age(const struct tide_reader *reader, const struct tide_handler_context *context,
                      const struct tide_request *request, struct tide_reply *reply)
{
    const struct tide_param_value *asked = tide_request_param(request, TIDE_PARAM_maxAgeMs);
    uint64_t allowed = context->api->config->stale_after_ms;
    if (asked && asked->given && asked->number < allowed)
        allowed = asked->number;
    if (TIDE_LIKELY(reader->age_ms <= allowed))
        return true;
    tide_reply_problem(reply, 503, "stale",
                       "The newest state on this node is of ledger %" PRIu32
                       ", and the last sign of the indexer came %" PRIu64
                       " ms ago; the limit is %" PRIu64 " ms.",
                       reader->meta->ledger, reader->age_ms, allowed);
    reply->retry_after_s = 1;
    return false;
}

/* Returns whether the cache is of a chain that no validators contradict. */
static bool check_fork(const struct tide_reader *reader, struct tide_reply *reply)
{
    if (TIDE_LIKELY(!reader->meta->forked))
        return true;
    tide_fork_refuse(reply, reader->meta->forked);
    return false;
}

/* Answers not_ready: another process feeds this cache, with another deployment. */
static bool reject_other_deployment(struct tide_reader *reader, struct tide_reply *reply)
{
    (void)!tide_hot_end(reader->hot);
    return reject_not_ready(reply);
}

bool tide_reader_open(struct tide_reader *reader, struct tide_handler_context *context,
                      const struct tide_request *request, struct tide_reply *reply)
{
    const struct tide_param_value *ledger = tide_request_param(request, TIDE_PARAM_ledger);
    struct tide_err err;
    *reader = (struct tide_reader){ .hot = context->thread };
    if (TIDE_UNLIKELY(ledger && ledger->given))
        return tide_reader_open_task(reader, context, reply->at.closed_ms / 1000, reply);
    if (TIDE_UNLIKELY(tide_hot_begin(reader->hot, &reader->meta, &err) != TIDE_OK))
        return reject_not_ready(reply);
    if (TIDE_UNLIKELY(!tide_deployment_select_allows(context->api->select, reader->meta->protocol)))
        return reject_other_deployment(reader, reply);
    reader->now = tide_cache_now(reader->meta, (int64_t)context->now_ms);
    reader->age_ms = tide_cache_age_ms(reader->meta, context->host_ms);
    reply->at = (struct tide_answer_at){
        true,           reader->meta->ledger, tide_cache_closed_ms(reader->meta),
        reader->age_ms, reader->meta->proven, reader->meta->history_from
    };
    if (TIDE_LIKELY(check_fork(reader, reply) && check_age(reader, context, request, reply)))
        return true;
    (void)!tide_hot_end(reader->hot);
    return false;
}

static void reject_unproven(struct tide_reply *reply)
{
    enum { CHECKPOINT_S = 60 };
    uint32_t ledger = reply->at.ledger, proven = reply->at.proven;
    if (proven)
        tide_reply_problem(reply, 503, "not_proven",
                           "Ledger %u is not proven by signatures of validators, and this server "
                           "answers no others (api_require_signed). Ask with ledger=%u.",
                           ledger, proven);
    else
        tide_reply_problem(reply, 503, "not_proven",
                           "Ledger %u is not proven by signatures of validators, and this server "
                           "answers no others (api_require_signed).",
                           ledger);
    reply->retry_after_s = CHECKPOINT_S;
}

bool tide_reader_open_proven(struct tide_reader *reader, struct tide_handler_context *context,
                             const struct tide_request *request, struct tide_reply *reply)
{
    if (!tide_reader_open(reader, context, request, reply))
        return false;
    if (TIDE_LIKELY(!context->api->config->api_require_signed) ||
        (reader->past && reply->at.ledger <= reply->at.proven))
        return true;
    reject_unproven(reply);
    tide_reader_close(reader, reply);
    return false;
}

/* An answer about compliance must not come from incomplete or old data: it would let an address
 * trade that was revoked. */
bool tide_reader_trusted(const struct tide_reader *reader,
                         const struct tide_handler_context *context, struct tide_reply *reply)
{
    const struct tide_hot_meta *meta = reader->meta;
    uint64_t allowed = context->api->config->compliance_age_s;
    if (!check_fork(reader, reply))
        return false;
    if (TIDE_UNLIKELY(!meta->compliance_complete)) {
        tide_reply_problem(
            reply, 503, "incomplete",
            "The compliance registry is not indexed completely: it is not indexed from its"
            " creation (index from ledger %" PRIu32 " on), or an entry of it could"
            " not be decoded (/api/undecoded/entries).",
            meta->start_from);
        reply->retry_after_s = 60;
        return false;
    }
    if (reader->past || allowed == 0)
        return true;
    uint64_t age_ms = tide_cache_closed_age_ms(meta, (int64_t)context->now_ms, context->host_ms);
    if (TIDE_LIKELY(age_ms / 1000 <= allowed))
        return true;
    tide_reply_problem(reply, 503, "stale",
                       "The newest ledger on this node, %" PRIu32 ", closed %" PRIu64
                       " s ago; the limit for compliance is %" PRIu64 " s (compliance_age_s).",
                       meta->ledger, age_ms / 1000, allowed);
    reply->retry_after_s = 5;
    return false;
}

struct tide_json tide_reader_answer(const struct tide_reader *reader, struct tide_reply *reply)
{
    struct tide_json j = tide_answer_begin(&reply->body, reader);
    reply->content_from = reply->body.len;
    return j;
}

/* The cursor's scope includes the deployment, because keys of another deployment mean nothing
 * here. */
bool tide_reader_page_read(struct tide_reader_page *page, const struct tide_reader *reader,
                           const struct tide_request *request)
{
    const struct tide_param_value *cursor = tide_request_param(request, TIDE_PARAM_cursor);
    uint16_t number = reader->meta->deployment;
    uint8_t deployment[TIDE_HASH_BYTES] = { (uint8_t)(number >> 8), (uint8_t)number };
    *page = (struct tide_reader_page){ 0 };
    tide_cursor_scope(&page->scope, deployment, request);
    return !cursor->given || tide_cursor_read(page->after, &page->scope, cursor->text);
}

void tide_reader_page_next(struct tide_json *j, const struct tide_reader_page *page,
                           tide_slice last)
{
    char cursor[TIDE_CURSOR_MAX];
    if (last.len == 0) {
        tide_json_null(j, "next");
        return;
    }
    size_t len = tide_cursor_write(cursor, &page->scope, last);
    static_assert(TIDE_CURSOR_KEY_MAX >= TIDE_HOT_ADDRESS_TEXT, "a cursor holds each key");
    assert(len > 0); /* else the list would end here */
    tide_json_name(j, "next");
    tide_json_plain(j, tide_slice_of((const uint8_t *)cursor, len));
}

static void reject_large(struct tide_reply *reply, const struct tide_err *err)
{
    reply->at = (struct tide_answer_at){ .known = false };
    tide_reply_problem(reply, 503, "too_large", "As of a past ledger, this answer would need %s.",
                       err->text);
}

/* A problem found here replaces the answer that the handler wrote, because that answer may rest
 * on records that were taken for absent. */
void tide_reader_close(struct tide_reader *reader, struct tide_reply *reply)
{
    struct tide_err err;
    assert(!reader->past == !reader->pg);
    if (reader->past) {
        tide_status status = reader_past_close(reader->past, &err);
        if (status == TIDE_E_LIMIT)
            reject_large(reply, &err);
        else if (status != TIDE_OK)
            tide_sql_problem(reply, reader->pg, &err);
    } else if (TIDE_UNLIKELY(tide_hot_end(reader->hot) != TIDE_OK)) {
        (void)reject_not_ready(reply);
    }
}
