/* The start of a subscription, and the notices open, stale, fresh and heartbeat. A function
 * marks only what was stored as sent; the next turn calls it again for the rest. */
#include "api/stream/stream_impl.h"

#include <stdio.h>

/* --- loading standings ----------------------------------------------------------------------- */

/* Decides what a subscriber that resumes within a ledger has received about an address. *before:
 * its messages of this ledger's compliance are still to come, so its record is that of the
 * ledger before. *earlier: its lapse at this very second is still to come. */
static void compare_to_position(const struct tide_subscriber *sub, const struct stream_watch *watch,
                                bool *before, bool *earlier)
{
    int by = memcmp(&watch->address, &sub->delivered.address, sizeof watch->address);
    *before = sub->delivered.class < STREAM_COMPLIANCE ||
              (sub->delivered.class == STREAM_COMPLIANCE && by > 0);
    *earlier = sub->delivered.class == STREAM_TIME && by > 0;
}

/* Loads the records as of `ledger` of the addresses for which compare_to_position returns
 * `before`. *closed_ms: the ledger's close time. */
static tide_status load_people(struct tide_subscriber *sub, uint32_t ledger, bool before,
                               uint64_t *closed_ms, struct tide_err *err)
{
    assert(sub->watch_count <= TIDE_STREAM_NAMES_MAX);
    struct stream_source *source = &sub->stream->options.source;
    struct tide_hot_address addresses[TIDE_STREAM_NAMES_MAX] = { 0 };
    struct tide_hot_person people[TIDE_STREAM_NAMES_MAX];
    uint32_t which[TIDE_STREAM_NAMES_MAX], count = 0;
    for (uint32_t i = 0; i < sub->watch_count; i++) {
        bool older, earlier;
        compare_to_position(sub, &sub->watches[i], &older, &earlier);
        if (older != before)
            continue;
        assert(count < TIDE_STREAM_NAMES_MAX);
        which[count] = i;
        addresses[count++] = sub->watches[i].address;
    }
    tide_status status =
        source->people(source->self, ledger, addresses, count, people, closed_ms, err);
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++)
        sub->watches[which[i]].person = people[i];
    return status;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Loads the records of all watched addresses, and their standings as of the subscriber's
 * position. */
static tide_status load_standings(struct tide_subscriber *sub, struct tide_err *err)
{
    uint64_t closed = 0, closed_before = 0;
    uint32_t ledger = sub->delivered.ledger;
    bool part = sub->delivered.class < STREAM_WHOLE;
    tide_status status = load_people(sub, ledger, false, &closed, err);
    if (status == TIDE_OK && part)
        status = load_people(sub, ledger - 1, true, &closed_before, err);
    if (status != TIDE_OK)
        return status;
    sub->closed_ms = part ? closed_before : closed;
    sub->seen = later(sub->delivered.time, sub->closed_ms / 1000);
    if (!sub->resumed)
        sub->seen = later(sub->seen, stream_wall_s(sub->stream));
    for (uint32_t i = 0; i < sub->watch_count; i++) {
        struct stream_watch *watch = &sub->watches[i];
        bool before, earlier;
        compare_to_position(sub, watch, &before, &earlier);
        uint64_t now = part && !before ? later(sub->seen, closed / 1000) : sub->seen - earlier;
        watch->standing = stream_judge(sub, watch, before ? ledger - 1 : ledger, now);
    }
    return TIDE_OK;
}

/* --- notices ---------------------------------------------------------------------------------- */

bool stream_send_open(struct tide_subscriber *sub)
{
    struct tide_buf *text = &sub->stream->text;
    if (!sub->greeted) {
        tide_buf_reset(text);
        tide_buf_putf(text,
                      "retry: 2000\nevent: open\ndata: {\"ledger\":\"%u\",\"resumed\":%s}\n\n",
                      sub->delivered.ledger, sub->resumed ? "true" : "false");
        sub->greeted = stream_sub_put_notice(sub, stream_text(sub->stream));
    }
    return sub->greeted && stream_send_staleness(sub);
}

enum stream_staleness stream_staleness_of(const struct tide_subscriber *sub)
{
    const struct tide_event_stream *stream = sub->stream;
    if (stream->stale != STREAM_FRESH)
        return stream->stale;
    if ((sub->begun || sub->resumed) && sub->delivered.ledger > stream->head.ledger)
        return STREAM_BEHIND;
    return sub->watch_count && stream->head.registry_undecoded ? STREAM_INCOMPLETE : STREAM_FRESH;
}

bool stream_send_staleness(struct tide_subscriber *sub)
{
    static const char *const reasons[] = { [STREAM_NO_DATABASE] = "database",
                                           [STREAM_NO_INDEXER] = "indexer",
                                           [STREAM_FORKED] = "forked",
                                           [STREAM_BEHIND] = "behind",
                                           [STREAM_INCOMPLETE] = "incomplete" };
    const struct tide_event_stream *stream = sub->stream;
    struct tide_buf *text = &sub->stream->text;
    enum stream_staleness stale = stream_staleness_of(sub);
    assert(stale == STREAM_FRESH || (stale < TIDE_COUNT(reasons) && reasons[stale]));
    if (!sub->greeted || sub->stale_sent == stale)
        return true;
    tide_buf_reset(text);
    tide_buf_putf(text, "event: %s\ndata: {\"ledger\":\"%u\"", stale ? "stale" : "fresh",
                  stream->head.ledger);
    if (stale)
        tide_buf_putf(text, ",\"reason\":\"%s\"", reasons[stale]);
    tide_buf_str(text, "}\n\n");
    if (!stream_sub_put_notice(sub, stream_text(stream)))
        return false;
    sub->stale_sent = stale;
    return true;
}

/* Appends the subscriber's position to the scratch text, as a line of a message. */
static void append_id(struct tide_subscriber *sub)
{
    assert(sub->begun); /* before, the position is not known */
    char position[STREAM_POSITION_TEXT];
    struct stream_position id = stream_id(sub);
    stream_position_text(position, sub->stream->head.deployment, &id);
    tide_buf_putf(&sub->stream->text, "id: %s\n", position);
}

bool stream_send_heartbeat(struct tide_subscriber *sub)
{
    struct tide_buf *text = &sub->stream->text;
    tide_buf_reset(text);
    tide_buf_str(text, ": heartbeat\n");
    if (sub->begun && !sub->opening)
        append_id(sub);
    tide_buf_str(text, "\n");
    return stream_sub_put_notice(sub, stream_text(sub->stream));
}

/* --- present values: standings, then prices ------------------------------------------------- */

/* Sends standings from where the last call stopped. Returns false if there was no room. */
static bool send_standings(struct tide_subscriber *sub)
{
    assert(sub->standings_sent <= sub->watch_count);
    struct stream_moment when = { sub->delivered.ledger, sub->closed_ms, sub->seen };
    while (sub->standings_sent < sub->watch_count) {
        struct stream_watch *watch = &sub->watches[sub->standings_sent];
        tide_slice text = stream_standing_text(sub->stream, watch, &watch->standing, &when);
        if (!stream_sub_put(sub, NULL, text))
            return false;
        sub->standings_sent++;
    }
    return true;
}

/* Sends the page's prices after the last one sent. Returns false if there was no room. */
static bool send_prices(struct tide_subscriber *sub, const struct stream_piece *page)
{
    for (uint32_t i = 0; i < page->note_count; i++) {
        const struct stream_note *note = &page->notes[i];
        if (memcmp(&note->position.asset, &sub->last_price_sent, sizeof sub->last_price_sent) <= 0)
            continue;
        if (stream_wants_note(sub, note) && !stream_sub_put(sub, NULL, note->text))
            return false;
        sub->last_price_sent = note->position.asset;
    }
    sub->prices_sent = page->last;
    return true;
}

bool stream_wants_prices(const struct tide_subscriber *sub)
{
    return sub->opening && stream_wants_topic(sub, TIDE_TOPIC_PRICE) && !sub->prices_sent &&
           sub->standings_sent == sub->watch_count;
}

const struct stream_piece *stream_prices_for(const struct tide_subscriber *sub)
{
    const struct stream_piece *page = sub->stream->prices;
    const struct tide_hot_symbol *from = &sub->stream->prices_from, *last = &sub->last_price_sent;
    if (!page || sub->asset_count || page->ledger != sub->delivered.ledger ||
        memcmp(from, last, sizeof *last) > 0)
        return NULL;
    return page->last || memcmp(&page->end.asset, last, sizeof *last) > 0 ? page : NULL;
}

bool stream_send_present(struct tide_subscriber *sub, const struct stream_piece *page)
{
    assert(sub->opening);
    if (!stream_send_staleness(sub))
        return false;
    if (sub->standings_sent < sub->watch_count && stream_staleness_of(sub) != STREAM_FRESH)
        return true; /* a stale index could claim a compliance that was revoked */
    if (!send_standings(sub))
        return false;
    if (stream_wants_prices(sub) && page && !send_prices(sub, page))
        return false;
    if (stream_wants_prices(sub))
        return true;
    tide_buf_reset(&sub->stream->text);
    append_id(sub);
    tide_buf_str(&sub->stream->text, "\n");
    /* This message without an event ends the opening: the stream has an id now. */
    sub->opening = !stream_sub_put_notice(sub, stream_text(sub->stream));
    return !sub->opening;
}

tide_status stream_begin(struct tide_subscriber *sub, bool *ready, struct tide_err *err)
{
    assert(!sub->begun && !sub->opening);
    struct tide_event_stream *stream = sub->stream;
    tide_status status = TIDE_OK;
    if (!sub->resumed) {
        sub->delivered = stream_whole(stream->head.ledger);
        sub->closed_ms = stream->head.closed_ms;
    }
    assert(sub->delivered.ledger <= stream->head.ledger);
    *ready =
        stream_send_open(sub) && (!sub->watch_count || stream_staleness_of(sub) == STREAM_FRESH);
    if (*ready && sub->watch_count)
        status = load_standings(sub, err);
    if (!*ready || status != TIDE_OK)
        return status;
    assert(!sub->watch_count ||
           sub->seen >= sub->closed_ms / 1000); /* load_standings took the later */
    sub->opening = !sub->resumed;
    sub->begun = true;
    /* the subscriber's first page comes after those of all others that wait */
    sub->served = ++stream->served;
    return TIDE_OK;
}
