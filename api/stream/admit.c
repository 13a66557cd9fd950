/* Accepts or rejects subscriptions: limits, and the position to resume from. */
#include "api/stream/stream_impl.h"
#include "tidemark/lock.h"

/* Returns whether the client has no room for one more subscriber. Closed subscribers count too,
 * up to as many again: they hold places until the next turn, and a client that opens and closes
 * must not fill all places while the database is slow. Needs stream->mutex. */
static bool is_client_full(const struct tide_event_stream *stream, const char *who)
{
    const uint32_t max = stream->options.per_client_max;
    uint64_t open = 0, gone = 0;
    for (uint32_t i = 0; i < stream->count; i++) {
        if (strcmp(stream->all[i]->client_name, who) != 0)
            continue;
        if (atomic_load(&stream->all[i]->gone))
            gone++;
        else
            open++;
    }
    return open >= max || open + gone >= 2 * (uint64_t)max;
}

bool stream_lacks_events(const struct stream_head *head, uint32_t topics,
                         const struct stream_position *at)
{
    struct stream_position last = stream_whole(head->archived_to);
    return (topics & TIDE_TOPIC_EVENT) && head->archived_to && stream_position_cmp(at, &last) < 0;
}

/* Checks the position of a resumed subscription. Needs stream->mutex. */
static enum tide_stream_refusal check_position(const struct tide_event_stream *stream,
                                               const struct tide_subscriber *sub,
                                               uint16_t deployment)
{
    const struct stream_head *head = &stream->head;
    const struct stream_position *at = &sub->delivered;
    if (deployment != head->deployment)
        return TIDE_STREAM_OTHER_DEPLOYMENT;
    if (stream_lacks_events(head, sub->topics, at))
        return TIDE_STREAM_ARCHIVED;
    uint64_t oldest = (uint64_t)at->ledger + stream->options.resume_ledgers;
    if (oldest < head->ledger || at->ledger + 1 < head->first)
        return TIDE_STREAM_TOO_OLD;
    return at->ledger > (uint64_t)head->ledger + TIDE_STREAM_AHEAD_MAX ? TIDE_STREAM_AHEAD
                                                                       : TIDE_STREAM_TAKEN;
}

/* Adds the subscriber to the stream if all checks pass. Needs stream->mutex. */
static enum tide_stream_refusal admit(struct tide_event_stream *stream, struct tide_subscriber *sub,
                                      uint16_t deployment)
{
    assert(stream->count <= stream->options.subscribers_max);
    if (!stream->known)
        return TIDE_STREAM_NOT_READY;
    if (stream->count >= stream->options.subscribers_max)
        return TIDE_STREAM_FULL;
    if (is_client_full(stream, sub->client_name))
        return TIDE_STREAM_CLIENT_FULL;
    enum tide_stream_refusal refusal =
        sub->resumed ? check_position(stream, sub, deployment) : TIDE_STREAM_TAKEN;
    if (refusal == TIDE_STREAM_TAKEN) {
        sub->deployment = stream->head.deployment;
        stream->all[stream->count++] = sub;
    }
    return refusal;
}

/* Memory is allocated before the lock is taken, so that the stream thread does not wait for it. */
enum tide_stream_refusal tide_event_stream_subscribe(struct tide_event_stream *stream,
                                                     const struct tide_stream_ask *ask,
                                                     tide_slice last_event_id,
                                                     const struct tide_stream_sink *sink,
                                                     struct tide_subscriber **out)
{
    uint16_t deployment = 0;
    struct tide_subscriber *sub = stream_sub_new(stream, ask, sink);
    if (!sub)
        return TIDE_STREAM_NOT_READY;
    sub->resumed = last_event_id.len > 0;
    sub->sent_ms = stream_now_ms(stream);
    enum tide_stream_refusal refusal = TIDE_STREAM_TAKEN;
    if (sub->resumed &&
        stream_position_parse(&sub->delivered, &deployment, last_event_id) != TIDE_OK)
        refusal = TIDE_STREAM_BAD_POSITION;
    tide_lock_counted(&stream->mutex, &stream->waits);
    if (refusal == TIDE_STREAM_TAKEN)
        refusal = admit(stream, sub, deployment);
    stream->stats.opened += refusal == TIDE_STREAM_TAKEN;
    stream->stats.refused += refusal != TIDE_STREAM_TAKEN;
    pthread_mutex_unlock(&stream->mutex);
    if (refusal == TIDE_STREAM_TAKEN)
        *out = sub;
    else
        stream_sub_free(sub);
    return refusal;
}
