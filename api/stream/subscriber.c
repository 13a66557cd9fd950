/* One subscriber and its buffer: the connection's thread subscribes and reads messages, which the
 * stream thread appends. */
#include "api/stream/stream_impl.h"
#include "tidemark/lock.h"

#include <stdio.h>
#include <stdlib.h>

enum { SMALL = 512 };

static const char *const drop_names[] = {
#define DROP_NAME(name, word) #word,
    TIDE_STREAM_DROPS(DROP_NAME)
#undef DROP_NAME
};

static_assert(TIDE_COUNT(drop_names) == TIDE_DROPPED_COUNT, "each reason has a name");

const char *tide_stream_drop_name(enum tide_stream_drop reason)
{
    assert(reason < TIDE_COUNT(drop_names));
    return drop_names[reason];
}

static int by_address(const void *a, const void *b)
{
    const struct stream_watch *x = a, *y = b;
    return memcmp(&x->address, &y->address, sizeof x->address);
}

/* Fills sub->watches with the named addresses, sorted, without duplicates. */
static void set_watches(struct tide_subscriber *sub, const struct tide_stream_ask *ask)
{
    assert(ask->address_count <= TIDE_STREAM_NAMES_MAX);
    for (uint32_t i = 0; i < ask->address_count; i++)
        sub->watches[i].address = ask->addresses[i];
    qsort(sub->watches, ask->address_count, sizeof *sub->watches, by_address);
    for (uint32_t i = 0; i < ask->address_count; i++)
        if (i == 0 || by_address(&sub->watches[sub->watch_count - 1], &sub->watches[i]) != 0)
            sub->watches[sub->watch_count++] = sub->watches[i];
    assert(sub->watch_count <= ask->address_count);
}

/* Returns a subscriber with an empty buffer, or NULL without memory. The caller frees it. */
static struct tide_subscriber *new_subscriber(struct tide_event_stream *stream,
                                              const struct tide_stream_ask *ask,
                                              const struct tide_stream_sink *sink)
{
    assert(ask->kind_count <= TIDE_COUNT(ask->kinds) && ask->asset_count <= TIDE_STREAM_NAMES_MAX);
    assert(ask->address_count <= TIDE_STREAM_NAMES_MAX);
    struct tide_subscriber *sub = calloc(1, sizeof *sub);
    if (!sub)
        return NULL;
    *sub = (struct tide_subscriber){ .stream = stream,
                                     .sink = *sink,
                                     .topics = ask->topics,
                                     .kind_count = ask->kind_count,
                                     .asset_count = ask->asset_count,
                                     .pool = ask->pool };
    pthread_mutex_init(&sub->mutex, NULL);
    memcpy(sub->client_name, ask->client_name, sizeof sub->client_name);
    memcpy(sub->contract, ask->contract, sizeof sub->contract);
    memcpy(sub->party, ask->party, sizeof sub->party);
    memcpy(sub->kinds, ask->kinds, sizeof sub->kinds);
    sub->assets = calloc(ask->asset_count + 1u, sizeof *sub->assets);
    sub->watches = calloc(ask->address_count + 1u, sizeof *sub->watches);
    if (!sub->assets || !sub->watches) {
        stream_sub_free(sub);
        return NULL;
    }
    memcpy(sub->assets, ask->assets, ask->asset_count * sizeof *sub->assets);
    set_watches(sub, ask);
    return sub;
}

/* Replaces the buffer and keeps the total of all buffers up to date. */
static void set_buffer(struct tide_subscriber *sub, char *bytes, size_t cap)
{
    assert(sub->len <= cap || !bytes);
    assert(atomic_load(&sub->stream->buffered) >= sub->cap); /* the total includes this buffer */
    atomic_fetch_add(&sub->stream->buffered, (uint64_t)cap - (uint64_t)sub->cap);
    sub->bytes = bytes;
    sub->cap = cap;
}

void stream_sub_free(struct tide_subscriber *sub)
{
    free(sub->bytes);
    set_buffer(sub, NULL, 0);
    free(sub->assets);
    free(sub->watches);
    pthread_mutex_destroy(&sub->mutex);
    free(sub);
}

/* --- the buffer; the functions below need sub->mutex unless they take it ------------------- */

static void move_to_start(struct tide_subscriber *sub)
{
    if (sub->start && sub->len)
        memmove(sub->bytes, sub->bytes + sub->start, sub->len);
    sub->start = 0;
}

/* Returns the capacity, doubled from SMALL, that holds `more` bytes besides those that wait. */
static size_t cap_for(const struct tide_subscriber *sub, size_t more)
{
    size_t cap = sub->cap ? sub->cap : SMALL;
    while (cap - sub->len < more)
        cap *= 2;
    return cap;
}

/* Makes room for `more` bytes behind those that wait. Returns false without memory. */
static bool room_for(struct tide_subscriber *sub, size_t more)
{
    assert(sub->start + sub->len <= sub->cap);
    if (sub->cap - sub->start - sub->len >= more)
        return true;
    move_to_start(sub);
    size_t cap = cap_for(sub, more);
    char *bytes = cap == sub->cap ? sub->bytes : realloc(sub->bytes, cap);
    if (bytes)
        set_buffer(sub, bytes, cap);
    return bytes != NULL;
}

/* Returns whether total_max allows the buffer to grow by `more` bytes. If not, the stream is
 * marked as pressed: this turn drops subscribers. */
static bool all_have_room(struct tide_subscriber *sub, size_t more)
{
    struct tide_event_stream *stream = sub->stream;
    size_t grows = cap_for(sub, more) - sub->cap;
    bool room = grows == 0 || atomic_load(&stream->buffered) + grows <= stream->options.total_max;
    stream->pressed |= !room;
    sub->no_room = !room;
    return room;
}

static void append_bytes(struct tide_subscriber *sub, tide_slice text)
{
    assert(text.len <= sub->cap - sub->start - sub->len); /* room_for made it */
    if (sub->len == 0)
        sub->taken_ms = stream_now_ms(sub->stream);
    if (text.len)
        memcpy(sub->bytes + sub->start + sub->len, text.ptr, text.len);
    sub->len += text.len;
}

/* Appends both texts or neither, leaving `reserve` bytes of the buffer free. Returns whether
 * they were stored. */
static bool append_message(struct tide_subscriber *sub, tide_slice line, tide_slice text,
                           size_t reserve)
{
    size_t more = line.len + text.len;
    if (text.len == 0)
        return false;
    pthread_mutex_lock(&sub->mutex);
    /* A message longer than the buffer is stored if the buffer is empty; otherwise it would wait
     * for ever. */
    bool fits = sub->len == 0 || sub->len + more + reserve <= sub->stream->options.buffer_max;
    bool stored = fits && all_have_room(sub, more) && room_for(sub, more);
    if (stored) {
        append_bytes(sub, line);
        append_bytes(sub, text);
    }
    pthread_mutex_unlock(&sub->mutex);
    if (stored)
        sub->sent_ms = stream_now_ms(sub->stream);
    return stored;
}

bool stream_sub_put(struct tide_subscriber *sub, const struct stream_position *id, tide_slice text)
{
    char position[STREAM_POSITION_TEXT], line[STREAM_POSITION_TEXT + 8] = "";
    if (id)
        stream_position_text(position, sub->stream->head.deployment, id);
    size_t line_len = id ? (size_t)snprintf(line, sizeof line, "id: %s\n", position) : 0;
    assert(line_len < sizeof line);
    bool put = append_message(sub, tide_slice_of(line, line_len), text, STREAM_RESERVE);
    if (put) {
        sub->moved = true;
        atomic_fetch_add(&sub->stream->messages, 1);
    }
    return put;
}

bool stream_sub_put_notice(struct tide_subscriber *sub, tide_slice text)
{
    return append_message(sub, (tide_slice){ 0 }, text, 0);
}

size_t stream_sub_waiting(struct tide_subscriber *sub)
{
    pthread_mutex_lock(&sub->mutex);
    size_t len = sub->len;
    pthread_mutex_unlock(&sub->mutex);
    return len;
}

size_t stream_sub_untaken(struct tide_subscriber *sub, int64_t since_ms)
{
    pthread_mutex_lock(&sub->mutex);
    size_t len = sub->taken_ms <= since_ms ? sub->len : 0;
    pthread_mutex_unlock(&sub->mutex);
    return len;
}

/* Wakes the reader if its last read returned 0 and there is something now. Needs sub->mutex. */
static void wake_reader(struct tide_subscriber *sub)
{
    if (!sub->reader_waits || atomic_load(&sub->gone) || (sub->len == 0 && !sub->over))
        return;
    sub->reader_waits = false;
    sub->sink.wake(sub->sink.self);
}

void stream_sub_flush(struct tide_subscriber *sub)
{
    pthread_mutex_lock(&sub->mutex);
    wake_reader(sub);
    pthread_mutex_unlock(&sub->mutex);
}

/* Discards the messages that wait, except the first, which the client may have begun to read.
 * Frees the memory that they held. */
static void discard_unstarted(struct tide_subscriber *sub)
{
    const char *from = sub->bytes + sub->start;
    const char *end = sub->len ? memmem(from, sub->len, "\n\n", 2) : NULL;
    if (end)
        sub->len = (size_t)(end - from) + 2;
    move_to_start(sub);
    char *bytes = sub->cap > sub->len + SMALL ? realloc(sub->bytes, sub->len + SMALL) : NULL;
    if (bytes)
        set_buffer(sub, bytes, sub->len + SMALL);
}

void stream_sub_drop(struct tide_subscriber *sub, enum tide_stream_drop reason)
{
    static const char *const details[] = {
        [TIDE_DROPPED_SLOW] =
            "you read less than half of your buffer in the time allowed: reconnect and resume",
        [TIDE_DROPPED_MEMORY] =
            "the buffers of all streams are full, and yours holds most: reconnect and resume",
        [TIDE_DROPPED_GAP] = "the ledgers after your position are not indexed on this node",
        [TIDE_DROPPED_ARCHIVED] = "events after your position are archived: those of the ledgers",
        [TIDE_DROPPED_DEPLOYMENT] =
            "this node now serves another deployment: reconnect without a position",
        [TIDE_DROPPED_SHUTDOWN] = "this node is stopping: reconnect and resume",
    };
    static_assert(TIDE_COUNT(details) == TIDE_DROPPED_COUNT, "each reason has a text");
    assert(reason < TIDE_DROPPED_COUNT && !sub->dropped);
    const struct stream_head *head = &sub->stream->head;
    char text[256], ledgers[32] = "";
    if (reason == TIDE_DROPPED_ARCHIVED)
        snprintf(ledgers, sizeof ledgers, " %u to %u", head->archived_from, head->archived_to);
    int len = snprintf(text, sizeof text,
                       "event: dropped\ndata: {\"reason\":\"%s\",\"detail\":\"%s%s\"}\n\n",
                       drop_names[reason], details[reason], ledgers);
    assert(len > 0 && (size_t)len < sizeof text);
    pthread_mutex_lock(&sub->mutex);
    discard_unstarted(sub);
    /* Without memory for this event the stream just ends: the client resumes all the same. */
    if (room_for(sub, (size_t)len))
        append_bytes(sub, tide_slice_of(text, (size_t)len));
    sub->over = true;
    wake_reader(sub);
    pthread_mutex_unlock(&sub->mutex);
    sub->dropped = true;
    pthread_mutex_lock(&sub->stream->mutex);
    sub->stream->stats.dropped[reason]++;
    pthread_mutex_unlock(&sub->stream->mutex);
}

/* --- the reader's side ----------------------------------------------------------------------- */

/* An empty buffer is freed: most subscribers wait most of the time. */
ptrdiff_t tide_subscriber_read(struct tide_subscriber *sub, char *out, size_t max)
{
    tide_lock_counted(&sub->mutex, &sub->stream->waits);
    assert(sub->start + sub->len <= sub->cap);
    size_t len = sub->len < max ? sub->len : max;
    if (len)
        memcpy(out, sub->bytes + sub->start, len);
    sub->start += len;
    sub->len -= len;
    if (len)
        sub->taken_ms = stream_now_ms(sub->stream);
    if (sub->len == 0) {
        free(sub->bytes);
        set_buffer(sub, NULL, 0);
        sub->start = 0;
    }
    if (len == 0 && !sub->over)
        sub->reader_waits = true;
    bool over = len == 0 && sub->over;
    pthread_mutex_unlock(&sub->mutex);
    atomic_fetch_add(&sub->stream->bytes_out, len);
    return over ? -1 : (ptrdiff_t)len;
}

/* The lock ensures that no wake runs after the return. The stream thread frees the subscriber in
 * its next turn. */
void tide_subscriber_close(struct tide_subscriber *sub)
{
    tide_lock_counted(&sub->mutex, &sub->stream->waits);
    atomic_store(&sub->gone, true);
    pthread_mutex_unlock(&sub->mutex);
}

/* --- subscribing: limits, and the position to resume from ----------------------------------- */

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
    struct tide_subscriber *sub = new_subscriber(stream, ask, sink);
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
