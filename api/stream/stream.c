#include "api/stream/stream_impl.h"
#include "schema/base/liveness.h"
#include "schema/base/lock.h"
#include "tidemark/log.h"

#include <stdio.h>
#include <stdlib.h>

enum { SCRATCH_MAX = 64 << 10, PRESSED_DROPS = 32 };

tide_status tide_stream_hub_open(struct tide_stream_hub **out,
                                 const struct tide_stream_hub_options *options,
                                 struct tide_err *err)
{
    struct tide_stream_hub *stream = calloc(1, sizeof *stream);
    if (!stream)
        return tide_fail(err, TIDE_E_MEMORY, "stream");
    stream->options = *options;
    stream->clock = options->clock;
    pthread_mutex_init(&stream->mutex, NULL);
    tide_buf_init(&stream->text, SCRATCH_MAX);
    stream->all = calloc(options->subscribers_max + 1u, sizeof(void *));
    stream->turn = calloc(options->subscribers_max + 1u, sizeof(void *));
    stream->clients = calloc(options->subscribers_max + 1u, sizeof *stream->clients);
    stream->news = true;
    if (!stream->all || !stream->turn || !stream->clients) {
        tide_stream_hub_close(stream);
        return tide_fail(err, TIDE_E_MEMORY, "stream: %u subscribers", options->subscribers_max);
    }
    *out = stream;
    return TIDE_OK;
}

void tide_stream_hub_close(struct tide_stream_hub *stream)
{
    if (!stream)
        return;
    for (uint32_t i = 0; i < stream->count; i++)
        stream_sub_free(stream->all[i]);
    struct stream_position nowhere = stream_whole(0);
    stream_ring_reset(&stream->ring, &nowhere);
    stream_piece_free(stream->prices);
    tide_buf_release(&stream->text);
    pthread_mutex_destroy(&stream->mutex);
    free(stream->all);
    free(stream->turn);
    free(stream->clients);
    free(stream);
}

/* --- who takes part ------------------------------------------------------------ */

/* Counts a subscriber among those of its client, which begins with its first one and ends with its
 * last. A client that has just come waits for its turn behind all others, so that none comes
 * forward by leaving. There are as many places as subscribers. */
static void join_client(struct tide_stream_hub *stream, struct tide_subscriber *sub,
                        uint32_t joined)
{
    for (uint32_t i = 0; i < joined && !sub->client; i++)
        if (strcmp(stream->all[i]->who, sub->who) == 0)
            sub->client = stream->all[i]->client;
    for (struct stream_client *c = stream->clients; !sub->client; c++) {
        if (c->subscribers == 0) {
            c->served = stream->served;
            sub->client = c;
        }
    }
    sub->client->subscribers++;
}

static void leave_client(struct tide_subscriber *sub)
{
    if (sub->client)
        sub->client->subscribers--;
}

/* Frees who is gone, and takes note of all others for this turn. */
static void gather(struct tide_stream_hub *stream)
{
    uint32_t kept = 0;
    pthread_mutex_lock(&stream->mutex);
    for (uint32_t i = 0; i < stream->count; i++) {
        if (atomic_load(&stream->all[i]->gone)) {
            /* The thread that closed it may still hold its lock. */
            pthread_mutex_lock(&stream->all[i]->mutex);
            pthread_mutex_unlock(&stream->all[i]->mutex);
            leave_client(stream->all[i]);
            stream_sub_free(stream->all[i]);
        } else {
            stream->all[kept++] = stream->all[i];
        }
    }
    stream->count = kept;
    for (uint32_t i = 0; i < kept; i++)
        if (!stream->all[i]->client)
            join_client(stream, stream->all[i], i);
    stream->turn_count = 0;
    for (uint32_t i = 0; i < kept; i++)
        if (!stream->all[i]->dropped)
            stream->turn[stream->turn_count++] = stream->all[i];
    pthread_mutex_unlock(&stream->mutex);
}

/* --- the database ------------------------------------------------------------ */

static void tell_staleness(struct tide_stream_hub *stream)
{
    for (uint32_t i = 0; i < stream->turn_count; i++)
        if (!stream->turn[i]->dropped)
            (void)!stream_tell_staleness(stream->turn[i]); /* the next turn tries again */
}

static void failed(struct tide_stream_hub *stream, const struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX];
    pthread_mutex_lock(&stream->mutex);
    stream->stats.failures++;
    pthread_mutex_unlock(&stream->mutex);
    stream->news = false;
    stream->looked_ms = stream_now_ms(stream) - STREAM_LOOK_MS + STREAM_RETRY_MS;
    if (stream->stale != STREAM_NO_DATABASE &&
        stream_now_ms(stream) - stream->good_ms >= STREAM_STALE_MS) {
        stream->stale = STREAM_NO_DATABASE;
        tide_log(TIDE_WARN, "stream.stale", "reason=database text=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
    }
}

static void worked(struct tide_stream_hub *stream)
{
    enum stream_staleness now =
        stream->head.age_ms > stream->options.stale_ms ? STREAM_NO_INDEXER : STREAM_FRESH;
    stream->good_ms = stream_now_ms(stream);
    if (now == STREAM_NO_INDEXER && stream->stale != now)
        tide_log(TIDE_WARN, "stream.stale", "reason=indexer ledger=%u age_ms=%" PRIu64,
                 stream->head.ledger, stream->head.age_ms);
    else if (now == STREAM_FRESH && stream->stale != now)
        tide_log(TIDE_INFO, "stream.fresh", "ledger=%u", stream->head.ledger);
    stream->stale = now;
}

/* The process serves another epoch now: places of the old one lead nowhere in it. */
static void leave_deployment(struct tide_stream_hub *stream)
{
    for (uint32_t i = 0; i < stream->turn_count; i++)
        stream_sub_drop(stream->turn[i], TIDE_DROPPED_DEPLOYMENT);
    stream->turn_count = 0;
    stream_piece_free(stream->prices);
    stream->prices = NULL;
}

/* Asks where the database stands, when there may be news. */
static bool look(struct tide_stream_hub *stream)
{
    struct stream_source *source = &stream->options.source;
    struct stream_head head;
    struct tide_err err;
    int64_t now = stream_now_ms(stream);
    if (!stream->news && now - stream->looked_ms < STREAM_LOOK_MS)
        return stream->stale != STREAM_NO_DATABASE;
    stream->looked_ms = now;
    if (source->head(source->self, &head, &err) != TIDE_OK) {
        failed(stream, &err);
        return false;
    }
    stream->news = false;
    bool other = stream->known && head.deployment != stream->head.deployment;
    if (other)
        leave_deployment(stream);
    pthread_mutex_lock(&stream->mutex);
    bool first = !stream->known;
    stream->known = true;
    stream->head = head;
    stream->stats.archived_from = head.archived_from;
    stream->stats.archived_to = head.archived_to;
    pthread_mutex_unlock(&stream->mutex);
    struct stream_position end = stream_whole(head.ledger);
    bool back = head.ledger < stream->ring.end.ledger;
    if (back && !first && !other)
        tide_log(TIDE_WARN, "stream.behind", "ledger=%u given=%u", head.ledger,
                 stream->ring.end.ledger);
    if (first || other || back || stream->turn_count == 0)
        stream_ring_reset(&stream->ring, &end);
    worked(stream);
    return true;
}

/* Those whose next ledger is not there, or not with its events. */
static void drop_lost(struct tide_stream_hub *stream)
{
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *sub = stream->turn[i];
        if (!sub->begun || sub->dropped)
            continue;
        if (sub->at.ledger + 1 < stream->head.first)
            stream_sub_drop(sub, TIDE_DROPPED_GAP);
        else if (stream_lacks_events(&stream->head, sub->topics, &sub->at))
            stream_sub_drop(sub, TIDE_DROPPED_ARCHIVED);
    }
}

/* Reads the next page behind the ring. */
static bool extend(struct tide_stream_hub *stream, bool *more)
{
    struct stream_source *source = &stream->options.source;
    struct stream_piece *pieces;
    struct tide_err err;
    if (stream->ring.end.ledger + 1 < stream->head.first) {
        struct stream_position end = stream_whole(stream->head.ledger);
        drop_lost(stream);
        stream_ring_reset(&stream->ring, &end);
    }
    struct stream_position whole = stream_whole(stream->head.ledger);
    if (stream_position_cmp(&stream->ring.end, &whole) >= 0)
        return true;
    tide_status status =
        source->read(source->self, &stream->ring.end, stream->head.ledger, &pieces, &err);
    if (status != TIDE_OK) {
        failed(stream, &err);
        return false;
    }
    stream_ring_add(&stream->ring, pieces, stream->options.ring_max);
    pthread_mutex_lock(&stream->mutex);
    stream->stats.live_pages++;
    pthread_mutex_unlock(&stream->mutex);
    *more |= stream_position_cmp(&stream->ring.end, &whole) < 0;
    return true;
}

/* --- giving out ------------------------------------------------------------ */

/* Whether there is room again for a subscriber whose buffer was full. */
static bool has_room(struct tide_subscriber *sub)
{
    return !sub->full_ms || stream_sub_waiting(sub) <= sub->stream->options.buffer_max / 2;
}

/* There was no room. Time runs from when something last fitted. */
static void is_full(struct tide_subscriber *sub)
{
    if (!sub->full_ms || sub->moved)
        sub->full_ms = stream_now_ms(sub->stream);
}

static void give(struct tide_subscriber *sub, const struct stream_piece *first, uint64_t wall)
{
    if (!has_room(sub))
        return;
    const struct stream_piece *piece = first;
    sub->moved = false;
    bool all = stream_tell_staleness(sub); /* nothing is told after that unless it is known */
    while (all && (piece = stream_piece_after(piece, &sub->at)))
        all = stream_give(sub, piece);
    if (all && wall)
        all = stream_give_lapses(sub, wall);
    if (all)
        sub->full_ms = 0;
    else
        is_full(sub);
    stream_sub_flush(sub);
}

/* The same for a subscriber that is still told the present values. */
static void open_further(struct tide_subscriber *sub, const struct stream_piece *page)
{
    if (!has_room(sub))
        return;
    sub->moved = false;
    if (stream_tell_present(sub, page))
        sub->full_ms = 0;
    else
        is_full(sub);
    stream_sub_flush(sub);
}

/* Reads the page of present prices that a subscriber is to be told next. One of all assets is also
 * for others that open as of the same ledger. */
static bool read_prices(struct tide_stream_hub *stream, struct tide_subscriber *sub)
{
    struct stream_source *source = &stream->options.source;
    struct stream_prices_ask ask = { sub->at.ledger, sub->price_told, sub->assets,
                                     sub->asset_count };
    struct stream_piece *page;
    struct tide_err err;
    if (source->prices(source->self, &ask, &page, &err) != TIDE_OK) {
        failed(stream, &err);
        return false;
    }
    if (sub->asset_count) {
        open_further(sub, page);
        stream_piece_free(page);
        return true;
    }
    stream_piece_free(stream->prices);
    stream->prices = page;
    stream->prices_from = ask.after;
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *other = stream->turn[i];
        if (!other->dropped && stream_wants_prices(other) && stream_prices_for(other))
            open_further(other, page);
    }
    return true;
}

static bool is_behind(const struct tide_stream_hub *stream, const struct tide_subscriber *sub)
{
    return stream_position_cmp(&sub->at, &stream->ring.start) < 0;
}

/* Whether a page must be read for the subscriber, and there is room for some of it. */
static bool needs_page(const struct tide_stream_hub *stream, struct tide_subscriber *sub)
{
    if (!sub->begun || sub->dropped || !has_room(sub))
        return false;
    if (!sub->opening)
        return is_behind(stream, sub);
    return stream_wants_prices(sub) && sub->at.ledger <= stream->head.ledger &&
           !stream_prices_for(sub);
}

static bool begin(struct tide_stream_hub *stream, struct tide_subscriber *sub)
{
    struct tide_err err;
    bool ready;
    tide_status status = stream_begin(sub, &ready, &err);
    if (status != TIDE_OK)
        failed(stream, &err);
    if (status != TIDE_OK || !sub->opening)
        return status == TIDE_OK;
    open_further(sub, stream_prices_for(sub));
    return !needs_page(stream, sub) || read_prices(stream, sub);
}

/* New subscribers begin in the order in which they came. Standings cost a statement for each
 * subscriber, so in one turn only a few of those that ask for any begin. */
static void begin_some(struct tide_stream_hub *stream, bool *more)
{
    uint32_t asked = 0;
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *sub = stream->turn[i];
        bool held = sub->watch_count && sub->greeted && stream->stale != STREAM_FRESH;
        if (sub->begun || sub->dropped || held)
            continue;
        if (sub->resumed && sub->at.ledger > stream->head.ledger) {
            (void)!stream_greet(sub); /* it waits, and is told so */
            continue;
        }
        if ((sub->watch_count || sub->asset_count) && asked++ == STREAM_BEGINS) {
            *more = true;
            return;
        }
        if (!begin(stream, sub))
            return;
    }
}

static void give_live(struct tide_stream_hub *stream)
{
    uint64_t wall = stream_wall_s(stream);
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *sub = stream->turn[i];
        if (sub->begun && sub->opening && !sub->dropped)
            open_further(sub, stream_prices_for(sub));
        if (!sub->begun || sub->opening || sub->dropped || is_behind(stream, sub))
            continue;
        const struct stream_ring *ring = &stream->ring;
        bool recent = stream_position_cmp(&sub->at, &ring->fresh_from) >= 0;
        bool live = sub->at.ledger == ring->end.ledger && sub->at.class >= STREAM_WHOLE;
        give(sub, recent ? ring->fresh : ring->first, live ? wall : 0);
    }
}

/* The subscriber to read a page for: of the client that waits longest for one, the subscriber that
 * waits longest. NULL: none needs one and has room. */
static struct tide_subscriber *next_waiting(struct tide_stream_hub *stream)
{
    struct tide_subscriber *next = NULL;
    uint64_t least = 0;
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *sub = stream->turn[i];
        if (!needs_page(stream, sub))
            continue;
        uint64_t client = sub->client->served;
        if (!next || client < least || (client == least && sub->served < next->served)) {
            next = sub;
            least = client;
        }
    }
    return next;
}

/* Reads a page of ledgers for a subscriber, and gives it to all whose place is in it. */
static bool read_ledgers(struct tide_stream_hub *stream, const struct tide_subscriber *next)
{
    struct stream_source *source = &stream->options.source;
    struct stream_position from = next->at;
    struct stream_piece *page;
    struct tide_err err;
    if (source->read(source->self, &from, stream->head.ledger, &page, &err) != TIDE_OK) {
        failed(stream, &err);
        return false;
    }
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *sub = stream->turn[i];
        bool open = sub->begun && !sub->opening && !sub->dropped;
        if (open && stream_position_cmp(&sub->at, &from) >= 0)
            give(sub, page, 0);
    }
    stream_piece_free(page);
    return true;
}

/* One page, of ledgers or of present prices, for the subscriber whose turn it is. */
static void catch_up(struct tide_stream_hub *stream, bool *more)
{
    drop_lost(stream);
    struct tide_subscriber *next = next_waiting(stream);
    if (!next)
        return;
    next->served = next->client->served = ++stream->served;
    bool read = next->opening ? read_prices(stream, next) : read_ledgers(stream, next);
    if (!read)
        return;
    pthread_mutex_lock(&stream->mutex);
    stream->stats.catch_up_pages++;
    pthread_mutex_unlock(&stream->mutex);
    *more |= next_waiting(stream) != NULL;
}

/* --- what time does ------------------------------------------------------------ */

/* The fullest subscriber that took nothing since then, of the client, or of all (NULL). */
static struct tide_subscriber *find_fullest(struct tide_stream_hub *stream,
                                            const struct stream_client *client, int64_t since_ms)
{
    struct tide_subscriber *fullest = NULL;
    size_t most = 0;
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *sub = stream->turn[i];
        if (sub->dropped || (client && sub->client != client))
            continue;
        size_t len = stream_sub_untaken(sub, since_ms);
        if (len > most) {
            most = len;
            fullest = sub;
        }
    }
    return fullest;
}

/* Sums what the subscribers of each client hold. Returns the client that holds most, or NULL. */
static const struct stream_client *sum_held(struct tide_stream_hub *stream)
{
    const struct stream_client *most = NULL;
    for (uint32_t i = 0; i < stream->turn_count; i++)
        stream->turn[i]->client->held = 0;
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct stream_client *client = stream->turn[i]->client;
        client->held += stream->turn[i]->dropped ? 0 : stream_sub_waiting(stream->turn[i]);
        most = !most || client->held > most->held ? client : most;
    }
    return most;
}

/* The client that holds most, if that is more than a quarter while another client finds no room;
 * else NULL. */
static const struct stream_client *greediest(struct tide_stream_hub *stream)
{
    const struct stream_client *most = sum_held(stream);
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        const struct tide_subscriber *sub = stream->turn[i];
        if (sub->no_room && !sub->dropped && sub->client->held < most->held / 2)
            return most->held > stream->options.total_max / 4 ? most : NULL;
    }
    return NULL;
}

/* All buffers together are full. The subscriber that holds most and takes nothing gives way, or
 * else one of a client that keeps the others out. The others wait. */
static void make_room(struct tide_stream_hub *stream, int64_t now)
{
    for (int drops = 0; drops < PRESSED_DROPS; drops++) {
        const struct stream_client *client;
        struct tide_subscriber *fullest = find_fullest(stream, NULL, now - STREAM_PRESSED_MS);
        if (!fullest && (client = greediest(stream)))
            fullest = find_fullest(stream, client, now);
        if (!fullest)
            return;
        stream_sub_drop(fullest, TIDE_DROPPED_MEMORY);
        if (atomic_load(&stream->buffered) < stream->options.total_max / 8 * 7)
            return;
    }
}

static void keep_time(struct tide_stream_hub *stream)
{
    int64_t now = stream_now_ms(stream);
    if (stream->pressed)
        make_room(stream, now);
    stream->pressed = false;
    tell_staleness(stream);
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *sub = stream->turn[i];
        if (sub->dropped)
            continue;
        if (!has_room(sub) && now - sub->full_ms >= stream->options.full_ms)
            stream_sub_drop(sub, TIDE_DROPPED_SLOW);
        else if (now - sub->said_ms >= stream->options.heartbeat_ms && !stream_sub_waiting(sub))
            (void)!stream_heartbeat(sub);
        stream_sub_flush(sub);
    }
}

static void count_up(struct tide_stream_hub *stream)
{
    uint32_t behind = 0;
    for (uint32_t i = 0; i < stream->turn_count; i++)
        behind += !stream->turn[i]->begun || stream->turn[i]->opening ||
                  is_behind(stream, stream->turn[i]);
    pthread_mutex_lock(&stream->mutex);
    stream->stats.subscribers = stream->count; /* with who was dropped and is not gone yet */
    stream->stats.behind = behind;
    stream->stats.ledger = stream->ring.end.ledger;
    stream->stats.stale = stream->stale != STREAM_FRESH;
    stream->stats.ring_bytes = stream->ring.bytes;
    stream->stats.ring_ledgers = stream->ring.ledgers;
    pthread_mutex_unlock(&stream->mutex);
}

void tide_stream_hub_turn(struct tide_stream_hub *stream, bool *more)
{
    *more = false;
    gather(stream);
    bool fed = look(stream);
    if (fed && stream->turn_count)
        fed = extend(stream, more);
    if (fed)
        begin_some(stream, more);
    give_live(stream);
    if (fed)
        catch_up(stream, more);
    keep_time(stream);
    count_up(stream);
}

void tide_stream_hub_run(struct tide_stream_hub *stream)
{
    struct stream_source *source = &stream->options.source;
    const struct tide_stream_hub_options *o = &stream->options;
    tide_liveness_begin("stream", TIDE_LIVENESS_WAITS_MS);
    while (!o->stopped || !o->stopped(o->stopped_self)) {
        bool more, news = false;
        tide_liveness_mark();
        tide_stream_hub_turn(stream, &more);
        if (!more)
            source->wait(source->self, STREAM_TURN_MS, &news);
        stream->news |= news;
    }
    pthread_mutex_lock(&stream->mutex);
    stream->known = false; /* no subscriber is accepted any more */
    pthread_mutex_unlock(&stream->mutex);
    gather(stream);
    for (uint32_t i = 0; i < stream->turn_count; i++)
        stream_sub_drop(stream->turn[i], TIDE_DROPPED_SHUTDOWN);
    tide_liveness_end();
}

void tide_stream_hub_stats(struct tide_stream_hub *stream, struct tide_stream_hub_stats *out)
{
    pthread_mutex_lock(&stream->mutex);
    *out = stream->stats;
    pthread_mutex_unlock(&stream->mutex);
    out->messages = atomic_load(&stream->messages);
    out->bytes = atomic_load(&stream->bytes_out);
    out->buffered = atomic_load(&stream->buffered);
    out->waits = atomic_load(&stream->waits);
}
