/* GET /api/stream: reads the subscription from the parameters, subscribes, and turns a rejected
 * subscription into a problem. */
#include "api/http/param.h"
#include "api/http/server/server.h"
#include "api/routes/handlers.h"
#include "api/sql/sql_problem.h"
#include "api/stream/service.h"

#include <stdio.h>

/* --- the subscription from the parameters -------------------------------------------------- */

/* Takes the next item, possibly empty, of a comma list. Returns false at the end of the list. */
static bool next_item(tide_slice *rest, bool *more, tide_slice *item)
{
    if (!*more)
        return false;
    const uint8_t *comma = rest->len ? memchr(rest->ptr, ',', rest->len) : NULL;
    *item = comma ? tide_slice_of(rest->ptr, (size_t)(comma - rest->ptr)) : *rest;
    *more = comma != NULL;
    if (comma)
        *rest = tide_slice_of(comma + 1, rest->len - item->len - 1);
    return true;
}

/* Answers 400 and returns false. */
static bool reject_parameter(struct tide_reply *reply, const char *where, const char *why)
{
    tide_reply_problem(reply, 400, "invalid_parameters",
                       "The request has parameters that this route does not accept: see errors.");
    tide_reply_problem_field(reply, where, why);
    return false;
}

static bool add_topic(struct tide_stream_ask *ask, tide_slice word)
{
    static const char *const words[] = { "ledger", "event", "price", "compliance" };
    static_assert(1u << (TIDE_COUNT(words) - 1) == TIDE_TOPIC_COMPLIANCE, "bits in this order");
    for (uint32_t i = 0; i < TIDE_COUNT(words); i++)
        if (tide_slice_eq_str(word, words[i])) {
            ask->topics |= 1u << i;
            return true;
        }
    return false;
}

static bool add_kind(struct tide_stream_ask *ask, tide_slice word)
{
    char why[TIDE_PARAM_WHY];
    struct tide_param_value kind;
    if (!tide_param_read(&kind, TIDE_PARAM_kind, word, why))
        return false;
    assert(ask->kind_count < TIDE_COUNT(ask->kinds) && kind.number <= UINT16_MAX);
    ask->kinds[ask->kind_count++] = (uint16_t)kind.number;
    return true;
}

static bool add_asset(struct tide_stream_ask *ask, tide_slice word)
{
    for (size_t i = 0; i < word.len; i++) {
        uint8_t c = word.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
              c == '_'))
            return false;
    }
    assert(ask->asset_count < TIDE_COUNT(ask->assets)); /* read_list counts the items */
    return word.len && tide_hot_symbol_of(&ask->assets[ask->asset_count++], word);
}

static bool add_address(struct tide_stream_ask *ask, tide_slice word)
{
    assert(ask->address_count < TIDE_COUNT(ask->addresses));
    return tide_hot_address_parse(&ask->addresses[ask->address_count++], word);
}

/* Calls `add` for each item of a list. Returns false for an invalid item, or for more than
 * TIDE_STREAM_NAMES_MAX items. */
static bool read_list(struct tide_stream_ask *ask, const struct tide_param_value *list,
                      bool (*add)(struct tide_stream_ask *, tide_slice))
{
    tide_slice rest = list->text, item;
    bool more = list->text.len > 0;
    for (uint32_t i = 0; next_item(&rest, &more, &item); i++)
        if (i >= TIDE_STREAM_NAMES_MAX || !add(ask, item))
            return false;
    return true;
}

static void copy_address(char out[TIDE_HOT_ADDRESS_TEXT], const struct tide_param_value *value)
{
    if (value->given)
        tide_hot_address_text(out, &value->address);
}

static bool read_lists(struct tide_stream_ask *ask, const struct tide_request *request,
                       struct tide_reply *reply)
{
    static const struct {
        enum tide_param_id id;
        bool (*add)(struct tide_stream_ask *, tide_slice);
        const char *where, *why;
    } lists[] = {
        { TIDE_PARAM_topics, add_topic, "?topics",
          "a comma list of ledger, event, price, compliance" },
        { TIDE_PARAM_kinds, add_kind, "?kinds", NULL },
        { TIDE_PARAM_assets, add_asset, "?assets",
          "a comma list of at most 32 symbols of oracle feeds" },
        { TIDE_PARAM_addresses, add_address, "?addresses",
          "a comma list of at most 32 addresses (G or C)" },
    };
    char kinds[TIDE_PARAM_WHY];
    struct tide_param_value none;
    for (size_t i = 0; i < TIDE_COUNT(lists); i++) {
        if (read_list(ask, tide_request_param(request, lists[i].id), lists[i].add))
            continue;
        /* An empty kind is invalid: its error text lists the kinds of this release. */
        if (!lists[i].why && tide_param_read(&none, TIDE_PARAM_kind, TIDE_SLICE(""), kinds))
            return false;
        return reject_parameter(reply, lists[i].where, lists[i].why ? lists[i].why : kinds);
    }
    return true;
}

/* Rejects a filter whose topic was not requested: the client would think that it filters the
 * others. */
static bool check_filters(const struct tide_stream_ask *ask, const struct tide_request *request,
                          struct tide_reply *reply)
{
    static const struct {
        enum tide_param_id id;
        enum tide_stream_topic topic;
        const char *where, *why;
    } filters[] = {
        { TIDE_PARAM_kinds, TIDE_TOPIC_EVENT, "?kinds", "filters events: topics must name event" },
        { TIDE_PARAM_contract, TIDE_TOPIC_EVENT, "?contract",
          "filters events: topics must name event" },
        { TIDE_PARAM_address, TIDE_TOPIC_EVENT, "?address",
          "filters events: topics must name event" },
        { TIDE_PARAM_pool, TIDE_TOPIC_EVENT, "?pool", "filters events: topics must name event" },
        { TIDE_PARAM_assets, TIDE_TOPIC_PRICE, "?assets",
          "filters prices: topics must name price" },
        { TIDE_PARAM_addresses, TIDE_TOPIC_COMPLIANCE, "?addresses",
          "is a filter of compliance: topics must name compliance; filter events by address" },
    };
    for (size_t i = 0; i < TIDE_COUNT(filters); i++)
        if (tide_request_param(request, filters[i].id)->given && !(ask->topics & filters[i].topic))
            return reject_parameter(reply, filters[i].where, filters[i].why);
    if ((ask->topics & TIDE_TOPIC_COMPLIANCE) && ask->address_count == 0)
        return reject_parameter(reply, "?addresses", "compliance needs at least one address");
    return true;
}

static bool read_ask(struct tide_stream_ask *ask, const struct tide_request *request,
                     struct tide_reply *reply)
{
    if (!read_lists(ask, request, reply))
        return false;
    const struct tide_param_value *pool = tide_request_param(request, TIDE_PARAM_pool);
    if (pool->given)
        ask->pool = pool->symbol;
    copy_address(ask->contract, tide_request_param(request, TIDE_PARAM_contract));
    copy_address(ask->party, tide_request_param(request, TIDE_PARAM_address));
    return check_filters(ask, request, reply);
}

/* --- permission and problems ----------------------------------------------------------------- */

/* Returns whether the index is complete enough to report compliance: the same check as in the
 * status route. Otherwise the reply is that route's problem. */
static bool may_report_compliance(struct tide_handler_context *context,
                                  const struct tide_request *request, struct tide_reply *reply)
{
    struct tide_reader reader;
    if (!tide_reader_open(&reader, context, request, reply))
        return false;
    bool may = tide_reader_trusted(&reader, context, reply);
    tide_reader_close(&reader, reply);
    return may && reply->status < 400;
}

/* Returns whether validators contradict the index, with the problem in the reply. Without a cache
 * the stream's own head decides, which sends "stale". */
static bool is_forked(struct tide_handler_context *context, struct tide_reply *reply)
{
    const struct tide_hot_meta *meta;
    struct tide_err err;
    if (tide_hot_begin(context->thread, &meta, &err) != TIDE_OK)
        return false;
    uint32_t forked = meta->forked;
    if (tide_hot_end(context->thread) != TIDE_OK || !forked)
        return false;
    tide_fork_refuse(reply, forked);
    return true;
}

/* Writes the problem for a rejected subscription. */
static void reject_subscription(struct tide_reply *reply, enum tide_stream_refusal refusal,
                                struct tide_event_stream *stream)
{
    static const struct {
        uint16_t status;
        const char *code, *detail;
        uint32_t retry_after_s;
    } problems[] = {
        [TIDE_STREAM_TAKEN] = { 200, "", "", 0 },
        [TIDE_STREAM_FULL] = { 503, "too_many_streams",
                               "This node serves its maximum number of streams (api_connections). "
                               "Retry later, or use another node.",
                               5 },
        [TIDE_STREAM_CLIENT_FULL] = { 429, "too_many_streams_of_client",
                                      "You have the maximum number of streams of one client "
                                      "(an eighth of api_connections_per_ip). Close one first.",
                                      30 },
        [TIDE_STREAM_BAD_POSITION] = { 400, "bad_event_id",
                                       "Last-Event-ID or ?after= is not the id of a message of "
                                       "this stream.",
                                       0 },
        [TIDE_STREAM_OTHER_DEPLOYMENT] = { 409, "other_deployment",
                                           "This event id is of another deployment. Reconnect "
                                           "without an id.",
                                           0 },
        [TIDE_STREAM_TOO_OLD] = { 409, "event_id_too_old",
                                  "This event id is too old to resume from. Read the missed events "
                                  "from /api/events, then reconnect without an id.",
                                  0 },
        [TIDE_STREAM_ARCHIVED] = { 410, "archived", "", 0 },
        [TIDE_STREAM_AHEAD] = { 409, "event_id_ahead",
                                "The ledger of this event id is far ahead of this node. Retry "
                                "later, or use another node.",
                                0 },
        [TIDE_STREAM_NOT_READY] = { 503, "not_ready",
                                    "The stream has not read the database yet. Retry in a moment.",
                                    2 },
    };
    assert(refusal < TIDE_COUNT(problems) && problems[refusal].status >= 400);
    tide_reply_problem(reply, problems[refusal].status, problems[refusal].code, "%s",
                       problems[refusal].detail);
    reply->retry_after_s = problems[refusal].retry_after_s;
    if (refusal == TIDE_STREAM_ARCHIVED) {
        struct tide_event_stream_stats stats;
        tide_event_stream_stats(stream, &stats);
        tide_reply_problem(
            reply, 410, problems[refusal].code,
            "Events of the ledgers %u to %u, after this event id, are archived."
            " Reconnect without an id, with an id after them, or without the topic event.",
            stats.archived_from, stats.archived_to);
    }
}

/* --- the stream ------------------------------------------------------------------------ */

/* Runs on the stream thread, with the subscriber's lock held. */
static void wake_connection(void *self)
{
    tide_server_wake(self);
}

static ptrdiff_t read_stream(void *self, char *to, size_t max)
{
    return tide_subscriber_read(self, to, max);
}

static void close_stream(void *self)
{
    tide_subscriber_close(self);
}

void tide_route_stream(struct tide_handler_context *context, const struct tide_request *request,
                       struct tide_reply *reply)
{
    struct tide_stream_ask ask = { 0 };
    struct tide_subscriber *subscriber;
    struct tide_stream_sink sink = { .wake = wake_connection, .self = context->wake };
    const struct tide_param_value *after = tide_request_param(request, TIDE_PARAM_after);
    tide_slice id = request->last_event_id.len ? request->last_event_id : after->text;
    if (!read_ask(&ask, request, reply) || is_forked(context, reply))
        return;
    if ((ask.topics & TIDE_TOPIC_COMPLIANCE) && !may_report_compliance(context, request, reply))
        return;
    snprintf(ask.client_name, sizeof ask.client_name, "%.*s", TIDE_SLICE_FMT(context->client));
    struct tide_event_stream *stream = tide_stream_service_stream(context->api->stream);
    enum tide_stream_refusal refusal =
        tide_event_stream_subscribe(stream, &ask, id, &sink, &subscriber);
    if (refusal != TIDE_STREAM_TAKEN) {
        reject_subscription(reply, refusal, stream);
        return;
    }
    reply->content_type = "text/event-stream";
    reply->stream =
        (struct tide_stream_out){ .read = read_stream, .close = close_stream, .self = subscriber };
}
