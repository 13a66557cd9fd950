/* The stream: its turns. Each turn reads the head, extends the ring of recent ledgers, opens new
 * subscriptions, distributes, reads one page of the past for the subscriber that waits longest,
 * and drops slow subscribers. */
#include "api/stream/stream_impl.h"
#include "tidemark/liveness.h"
#include "tidemark/lock.h"
#include "tidemark/log.h"

#include <stdio.h>
#include <stdlib.h>

enum { SCRATCH_MAX = 64 << 10, PRESSED_DROPS = 32 };

/* The arrays have one element more than subscribers_max, so that a search for a free slot ends. */
tide_status tide_event_stream_open(struct tide_event_stream **out,
                                   const struct tide_event_stream_options *options,
                                   struct tide_err *err)
{
    assert(options->clock && options->source.head && options->source.read);
    struct tide_event_stream *stream = calloc(1, sizeof *stream);
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
        tide_event_stream_close(stream);
        return tide_fail(err, TIDE_E_MEMORY, "stream: %u subscribers", options->subscribers_max);
    }
    *out = stream;
    return TIDE_OK;
}

void tide_event_stream_close(struct tide_event_stream *stream)
{
    if (!stream)
        return;
    assert(stream->all || stream->count == 0);
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

/* --- subscribers and their clients ------------------------------------------------- */

/* Assigns a new subscriber to its client: that of one of the first `joined` subscribers with the
 * same name, else a free slot. A new client starts behind all pages read so far, so that a
 * client gains nothing by leaving and returning. Slots cannot run out: there are more than
 * subscribers. */
static void join_client(struct tide_event_stream *stream, struct tide_subscriber *sub,
                        uint32_t joined)
{
    for (uint32_t i = 0; i < joined && !sub->client; i++)
        if (strcmp(stream->all[i]->client_name, sub->client_name) == 0)
            sub->client = stream->all[i]->client;
    for (struct stream_client *c = stream->clients; !sub->client; c++) {
        assert(c <= stream->clients + stream->options.subscribers_max);
        if (c->subscribers == 0) {
            c->served = stream->served;
            sub->client = c;
        }
    }
    sub->client->subscribers++;
}

static void leave_client(struct tide_subscriber *sub)
{
    assert(!sub->client || sub->client->subscribers > 0);
    if (sub->client)
        sub->client->subscribers--;
}

/* Frees the subscribers that were closed, and lists the others, unless dropped, for this turn. */
static void list_turn(struct tide_event_stream *stream)
{
    uint32_t kept = 0;
    pthread_mutex_lock(&stream->mutex);
    for (uint32_t i = 0; i < stream->count; i++) {
        if (atomic_load(&stream->all[i]->gone)) {
            /* tide_subscriber_close may still hold this lock: wait until it is released before
             * freeing it. */
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

static void send_staleness(struct tide_event_stream *stream)
{
    for (uint32_t i = 0; i < stream->turn_count; i++)
        if (!stream->turn[i]->dropped)
            (void)!stream_send_staleness(stream->turn[i]); /* the next turn tries again */
}

/* Notes a failed read of the database: the next one follows after STREAM_RETRY_MS. After
 * STREAM_STALE_MS of failures the stream is stale. */
static void source_failed(struct tide_event_stream *stream, const struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX];
    pthread_mutex_lock(&stream->mutex);
    stream->stats.failures++;
    pthread_mutex_unlock(&stream->mutex);
    stream->news = false;
    stream->head_read_ms = stream_now_ms(stream) - STREAM_HEAD_MS + STREAM_RETRY_MS;
    if (stream->stale != STREAM_NO_DATABASE &&
        stream_now_ms(stream) - stream->head_ok_ms >= STREAM_STALE_MS) {
        stream->stale = STREAM_NO_DATABASE;
        tide_log(TIDE_WARN, "stream.stale", "reason=database text=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
    }
}

/* Notes that the head was read. The stream is stale or fresh by the head's age. */
static void source_worked(struct tide_event_stream *stream)
{
    enum stream_staleness now = stream->head.forked                              ? STREAM_FORKED
                                : stream->head.age_ms > stream->options.stale_ms ? STREAM_NO_INDEXER
                                                                                 : STREAM_FRESH;
    stream->head_ok_ms = stream_now_ms(stream);
    if (now == STREAM_NO_INDEXER && stream->stale != now)
        tide_log(TIDE_WARN, "stream.stale", "reason=indexer ledger=%u age_ms=%" PRIu64,
                 stream->head.ledger, stream->head.age_ms);
    else if (now == STREAM_FORKED && stream->stale != now)
        tide_log(TIDE_WARN, "stream.stale", "reason=forked ledger=%u", stream->head.ledger);
    else if (now == STREAM_FRESH && stream->stale != now)
        tide_log(TIDE_INFO, "stream.fresh", "ledger=%u", stream->head.ledger);
    stream->stale = now;
}

/* Drops the subscribers of another deployment than the head's, in which their positions mean
 * nothing. Subscribers admitted while the new head was being read come to this a turn later. */
static void drop_other_deployments(struct tide_event_stream *stream)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        if (stream->turn[i]->deployment == stream->head.deployment)
            stream->turn[kept++] = stream->turn[i];
        else
            stream_sub_drop(stream->turn[i], TIDE_DROPPED_DEPLOYMENT);
    }
    stream->turn_count = kept;
}

/* Reads the head after a notification, or every STREAM_HEAD_MS, and resets the ring if the
 * ledgers in it cannot be continued. Returns whether the database may be read in this turn. */
static bool read_head(struct tide_event_stream *stream)
{
    struct stream_source *source = &stream->options.source;
    struct stream_head head;
    struct tide_err err;
    int64_t now = stream_now_ms(stream);
    if (!stream->news && now - stream->head_read_ms < STREAM_HEAD_MS)
        return stream->stale != STREAM_NO_DATABASE;
    stream->head_read_ms = now;
    if (source->head(source->self, &head, &err) != TIDE_OK) {
        source_failed(stream, &err);
        return false;
    }
    stream->news = false;
    bool other = stream->known && head.deployment != stream->head.deployment;
    if (other) {
        stream_piece_free(stream->prices);
        stream->prices = NULL;
    }
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
    source_worked(stream);
    return true;
}

/* Drops subscribers whose next ledger is not indexed, or is archived without its events. */
static void drop_lost(struct tide_event_stream *stream)
{
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *sub = stream->turn[i];
        if (!sub->begun || sub->dropped)
            continue;
        if (sub->delivered.ledger + 1 < stream->head.first)
            stream_sub_drop(sub, TIDE_DROPPED_GAP);
        else if (stream_lacks_events(&stream->head, sub->topics, &sub->delivered))
            stream_sub_drop(sub, TIDE_DROPPED_ARCHIVED);
    }
}

/* Appends the next page to the ring. Returns false if the database failed; sets *more if the
 * ring still ends before the head. */
static bool extend_ring(struct tide_event_stream *stream, bool *more)
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
        source_failed(stream, &err);
        return false;
    }
    stream_ring_add(&stream->ring, pieces, stream->options.ring_max);
    pthread_mutex_lock(&stream->mutex);
    stream->stats.live_pages++;
    pthread_mutex_unlock(&stream->mutex);
    *more |= stream_position_cmp(&stream->ring.end, &whole) < 0;
    return true;
}

/* --- distribution -------------------------------------------------------------------- */

/* Returns whether to try a subscriber again: one whose buffer was full waits until half of it is
 * free. */
static bool has_room(struct tide_subscriber *sub)
{
    return !sub->full_ms || stream_sub_waiting(sub) <= sub->stream->options.buffer_max / 2;
}

/* Notes that a message found no room. The time until "slow" starts when the last message fitted. */
static void mark_full(struct tide_subscriber *sub)
{
    if (!sub->full_ms || sub->moved)
        sub->full_ms = stream_now_ms(sub->stream);
}

/* Sends a subscriber what it lacks of the list of pieces. wall: unix seconds up to which
 * standings lapse by time, for a subscriber that has everything else; 0: none do. */
static void give_pieces(struct tide_subscriber *sub, const struct stream_piece *first,
                        uint64_t wall)
{
    assert(sub->begun && !sub->opening && !sub->dropped);
    if (!has_room(sub))
        return;
    const struct stream_piece *piece = first;
    sub->moved = false;
    /* A client must know that the data is stale before it gets any */
    bool all = stream_send_staleness(sub);
    while (all && (piece = stream_piece_after(piece, &sub->delivered)))
        all = stream_deliver(sub, piece);
    if (all && wall)
        all = stream_deliver_lapses(sub, wall);
    if (all)
        sub->full_ms = 0;
    else
        mark_full(sub);
    stream_sub_flush(sub);
}

/* Sends more of the present values to a subscriber that is opening. */
static void continue_opening(struct tide_subscriber *sub, const struct stream_piece *page)
{
    assert(sub->begun && sub->opening && !sub->dropped);
    if (!has_room(sub))
        return;
    sub->moved = false;
    if (stream_send_present(sub, page))
        sub->full_ms = 0;
    else
        mark_full(sub);
    stream_sub_flush(sub);
}

/* Reads the page of present prices that the subscriber needs next. A page of all assets is kept,
 * and sent to all others that open as of the same ledger. */
static bool read_prices(struct tide_event_stream *stream, struct tide_subscriber *sub)
{
    struct stream_source *source = &stream->options.source;
    struct stream_prices_ask ask = { sub->delivered.ledger, sub->last_price_sent, sub->assets,
                                     sub->asset_count };
    struct stream_piece *page;
    struct tide_err err;
    if (source->prices(source->self, &ask, &page, &err) != TIDE_OK) {
        source_failed(stream, &err);
        return false;
    }
    if (sub->asset_count) {
        continue_opening(sub, page);
        stream_piece_free(page);
        return true;
    }
    stream_piece_free(stream->prices);
    stream->prices = page;
    stream->prices_from = ask.after;
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *other = stream->turn[i];
        if (!other->dropped && stream_wants_prices(other) && stream_prices_for(other))
            continue_opening(other, page);
    }
    return true;
}

/* Returns whether the ring lacks ledgers after the subscriber's position. */
static bool is_behind(const struct tide_event_stream *stream, const struct tide_subscriber *sub)
{
    return stream_position_cmp(&sub->delivered, &stream->ring.start) < 0;
}

/* Returns whether a page must be read from the database for the subscriber, and its buffer has
 * room. */
static bool needs_page(const struct tide_event_stream *stream, struct tide_subscriber *sub)
{
    if (!sub->begun || sub->dropped || !has_room(sub))
        return false;
    if (!sub->opening)
        return is_behind(stream, sub);
    return stream_wants_prices(sub) && sub->delivered.ledger <= stream->head.ledger &&
           !stream_prices_for(sub);
}

/* Begins one subscription and sends its first values. Returns false if the database failed. */
static bool begin_subscriber(struct tide_event_stream *stream, struct tide_subscriber *sub)
{
    assert(!sub->begun && !sub->dropped);
    struct tide_err err;
    bool ready;
    tide_status status = stream_begin(sub, &ready, &err);
    if (status != TIDE_OK)
        source_failed(stream, &err);
    if (status != TIDE_OK || !sub->opening)
        return status == TIDE_OK;
    continue_opening(sub, stream_prices_for(sub));
    return !needs_page(stream, sub) || read_prices(stream, sub);
}

/* Begins new subscriptions in the order of arrival. Loading standings costs a statement for each
 * subscriber, so a turn begins only STREAM_BEGINS_PER_TURN of those that need one. */
static void begin_some(struct tide_event_stream *stream, bool *more)
{
    uint32_t asked = 0;
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *sub = stream->turn[i];
        bool waits_for_fresh =
            sub->watch_count && sub->greeted && stream_staleness_of(sub) != STREAM_FRESH;
        if (sub->begun || sub->dropped || waits_for_fresh)
            continue;
        if (sub->resumed && sub->delivered.ledger > stream->head.ledger) {
            /* the subscriber waits for that ledger, and gets "stale", "behind" */
            (void)!stream_send_open(sub);
            continue;
        }
        if ((sub->watch_count || sub->asset_count) && asked++ == STREAM_BEGINS_PER_TURN) {
            *more = true;
            return;
        }
        if (!begin_subscriber(stream, sub))
            return;
    }
}

/* Sends from the ring to all subscribers that it can serve. Those that had everything before the
 * last addition skip older pieces. */
static void give_live(struct tide_event_stream *stream)
{
    uint64_t wall = stream_wall_s(stream);
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *sub = stream->turn[i];
        if (sub->begun && sub->opening && !sub->dropped)
            continue_opening(sub, stream_prices_for(sub));
        if (!sub->begun || sub->opening || sub->dropped || is_behind(stream, sub))
            continue;
        const struct stream_ring *ring = &stream->ring;
        bool recent = stream_position_cmp(&sub->delivered, &ring->fresh_from) >= 0;
        bool live =
            sub->delivered.ledger == ring->end.ledger && sub->delivered.class >= STREAM_WHOLE;
        give_pieces(sub, recent ? ring->fresh : ring->first, live ? wall : 0);
    }
}

/* Returns the subscriber for which to read a page: of the client that was served longest ago,
 * the subscriber that was served longest ago. Returns NULL if none needs a page and has room. */
static struct tide_subscriber *next_waiting(struct tide_event_stream *stream)
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

/* Reads a page of ledgers for a subscriber, and sends it to all whose position is in it. Returns
 * false if the database failed. */
static bool read_ledgers(struct tide_event_stream *stream, const struct tide_subscriber *next)
{
    assert(next->begun && !next->opening);
    struct stream_source *source = &stream->options.source;
    struct stream_position from = next->delivered;
    struct stream_piece *page;
    struct tide_err err;
    if (source->read(source->self, &from, stream->head.ledger, &page, &err) != TIDE_OK) {
        source_failed(stream, &err);
        return false;
    }
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *sub = stream->turn[i];
        bool open = sub->begun && !sub->opening && !sub->dropped;
        if (open && stream_position_cmp(&sub->delivered, &from) >= 0)
            give_pieces(sub, page, 0);
    }
    stream_piece_free(page);
    return true;
}

/* Reads at most one page, of ledgers or of present prices, for the next subscriber, so that a
 * turn stays short. */
static void catch_up(struct tide_event_stream *stream, bool *more)
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

/* --- limits of memory and time -------------------------------------------------------- */

/* Returns the subscriber with the fullest buffer among those of the client (NULL: of all) that
 * read nothing after since_ms, or NULL. */
static struct tide_subscriber *find_fullest(struct tide_event_stream *stream,
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

/* Adds up what the subscribers of each client hold. Returns the client that holds most, or NULL. */
static const struct stream_client *sum_held(struct tide_event_stream *stream)
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

/* Returns the client that holds most, if it holds more than a quarter of total_max and twice as
 * much as a client that finds no room. Returns NULL otherwise. */
static const struct stream_client *find_greedy_client(struct tide_event_stream *stream)
{
    const struct stream_client *most = sum_held(stream);
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        const struct tide_subscriber *sub = stream->turn[i];
        if (sub->no_room && !sub->dropped && sub->client->held < most->held / 2)
            return most->held > stream->options.total_max / 4 ? most : NULL;
    }
    return NULL;
}

/* Drops subscribers until an eighth of total_max is free: first the fullest that reads nothing,
 * then the fullest of a client that keeps others out. If neither exists, all wait. */
static void make_room(struct tide_event_stream *stream, int64_t now)
{
    for (int drops = 0; drops < PRESSED_DROPS; drops++) {
        const struct stream_client *client;
        struct tide_subscriber *fullest = find_fullest(stream, NULL, now - STREAM_UNTAKEN_MS);
        if (!fullest && (client = find_greedy_client(stream)))
            fullest = find_fullest(stream, client, now);
        if (!fullest)
            return;
        stream_sub_drop(fullest, TIDE_DROPPED_MEMORY);
        if (atomic_load(&stream->buffered) < stream->options.total_max / 8 * 7)
            return;
    }
}

/* Drops subscribers by memory and by time, and sends staleness and heartbeats. */
static void enforce_limits(struct tide_event_stream *stream)
{
    int64_t now = stream_now_ms(stream);
    if (stream->pressed)
        make_room(stream, now);
    stream->pressed = false;
    send_staleness(stream);
    for (uint32_t i = 0; i < stream->turn_count; i++) {
        struct tide_subscriber *sub = stream->turn[i];
        if (sub->dropped)
            continue;
        if (!has_room(sub) && now - sub->full_ms >= stream->options.full_ms)
            stream_sub_drop(sub, TIDE_DROPPED_SLOW);
        else if (now - sub->sent_ms >= stream->options.heartbeat_ms && !stream_sub_waiting(sub))
            (void)!stream_send_heartbeat(sub);
        stream_sub_flush(sub);
    }
}

static void update_stats(struct tide_event_stream *stream)
{
    uint32_t behind = 0;
    for (uint32_t i = 0; i < stream->turn_count; i++)
        behind += !stream->turn[i]->begun || stream->turn[i]->opening ||
                  is_behind(stream, stream->turn[i]);
    pthread_mutex_lock(&stream->mutex);
    /* Includes dropped subscribers that are not closed yet */
    stream->stats.subscribers = stream->count;
    stream->stats.behind = behind;
    stream->stats.ledger = stream->ring.end.ledger;
    stream->stats.stale = stream->stale != STREAM_FRESH;
    stream->stats.ring_bytes = stream->ring.bytes;
    stream->stats.ring_ledgers = stream->ring.ledgers;
    pthread_mutex_unlock(&stream->mutex);
}

void tide_event_stream_turn(struct tide_event_stream *stream, bool *more)
{
    *more = false;
    list_turn(stream);
    bool fed = read_head(stream);
    drop_other_deployments(stream);
    if (fed && stream->turn_count)
        fed = extend_ring(stream, more);
    if (fed)
        begin_some(stream, more);
    give_live(stream);
    if (fed)
        catch_up(stream, more);
    enforce_limits(stream);
    update_stats(stream);
}

void tide_event_stream_run(struct tide_event_stream *stream)
{
    struct stream_source *source = &stream->options.source;
    const struct tide_event_stream_options *o = &stream->options;
    tide_liveness_begin("stream", TIDE_LIVENESS_WAITS_MS);
    while (!o->stopped || !o->stopped(o->stopped_self)) {
        bool more, news = false;
        tide_liveness_mark();
        tide_event_stream_turn(stream, &more);
        if (!more)
            source->wait(source->self, STREAM_TURN_MS, &news);
        stream->news |= news;
    }
    pthread_mutex_lock(&stream->mutex);
    stream->known = false; /* tide_event_stream_subscribe now returns TIDE_STREAM_NOT_READY */
    pthread_mutex_unlock(&stream->mutex);
    list_turn(stream);
    for (uint32_t i = 0; i < stream->turn_count; i++)
        stream_sub_drop(stream->turn[i], TIDE_DROPPED_SHUTDOWN);
    tide_liveness_end();
}

void tide_event_stream_stats(struct tide_event_stream *stream, struct tide_event_stream_stats *out)
{
    pthread_mutex_lock(&stream->mutex);
    *out = stream->stats;
    pthread_mutex_unlock(&stream->mutex);
    out->messages = atomic_load(&stream->messages);
    out->bytes = atomic_load(&stream->bytes_out);
    out->buffered = atomic_load(&stream->buffered);
    out->waits = atomic_load(&stream->waits);
}
