/* The hub of /api/stream on a source of its own: places, resuming, slow readers, lapses, many
 * threads. label: threads */
#include "api/stream.h"
#include "tidemark/catalogue.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CLOSE_S = 5, EVENTS = 3, FIRST = 10 };

static uint64_t closed_at(uint32_t ledger)
{
    return 1000000 + (uint64_t)ledger * CLOSE_S;
}

/* --- a chain that is made up as it is read ----------------------------------------------- */

struct person_fact {
    uint32_t ledger;
    struct tide_hot_person person;
};

struct world {
    atomic_uint newest;
    atomic_bool away;
    uint32_t first, page;   /* ledgers of a page            */
    uint32_t events_a_page; /* 0: whole ledgers             */
    uint32_t reads;
    size_t padding; /* bytes more in each event */
    atomic_llong wall_ms, mono_ms;
    struct tide_hot_address who[2];
    struct person_fact facts[8]; /* of who[0] */
    uint32_t fact_count;
    uint32_t blocked_from; /* jurisdiction 7 is blocked from that ledger on; 0: never */
};

static int64_t test_mono(void *self)
{
    return atomic_load(&((struct world *)self)->mono_ms);
}

static int64_t test_wall(void *self)
{
    return atomic_load(&((struct world *)self)->wall_ms);
}

static tide_status test_head(void *self, struct stream_head *out, struct tide_err *err)
{
    struct world *w = self;
    uint32_t newest = atomic_load(&w->newest);
    if (atomic_load(&w->away))
        return tide_fail(err, TIDE_E_DB, "away");
    *out = (struct stream_head){
        .deployment = 1, .ledger = newest, .first = w->first, .close_time = closed_at(newest)
    };
    return TIDE_OK;
}

static void test_wait(void *self, int ms, bool *news)
{
    (void)self;
    (void)ms;
    struct timespec nap = { .tv_nsec = 200000 };
    nanosleep(&nap, NULL);
    *news = true;
}

static tide_slice keep(struct stream_piece *piece, const char *text)
{
    size_t from = piece->bytes.len;
    tide_buf_str(&piece->bytes, text);
    return tide_slice_of(piece->bytes.ptr + from, piece->bytes.len - from);
}

static void add_event(const struct world *w, struct stream_piece *piece, uint32_t event)
{
    char text[256];
    struct stream_note *note = &piece->notes[piece->note_count++];
    *note = (struct stream_note){ .place = { .ledger = piece->ledger,
                                             .class = STREAM_EVENT,
                                             .tx = event + 1,
                                             .event = event },
                                  .kind = event % 2 ? TIDE_EV_oracle_twap
                                                    : TIDE_EV_liquidity_pool_swap };
    size_t from = piece->bytes.len;
    snprintf(text, sizeof text, "event: event\ndata: {\"n\":\"%u-%u\",\"x\":\"", piece->ledger,
             event);
    tide_buf_str(&piece->bytes, text);
    for (size_t i = 0; i < w->padding; i++)
        tide_buf_u8(&piece->bytes, 'x');
    tide_buf_str(&piece->bytes, "\"}\n\n");
    note->text = tide_slice_of(piece->bytes.ptr + from, piece->bytes.len - from);
    note->subject = keep(piece, event == 0 ? "P0" : "P1");
    note->contract = keep(piece, "C");
    note->addresses = keep(piece, event == 0 ? "GALICE GBOB " : "GBOB ");
}

static void add_price(struct stream_piece *piece, const char *asset)
{
    char text[128];
    struct stream_note *note = &piece->notes[piece->note_count++];
    *note = (struct stream_note){ .place = { .ledger = piece->ledger, .class = STREAM_PRICE } };
    tide_hot_symbol_of(&note->place.asset, tide_slice_str(asset));
    snprintf(text, sizeof text, "event: price\ndata: {\"n\":\"%u-%s\"}\n\n", piece->ledger, asset);
    note->text = keep(piece, text);
}

static struct stream_piece *new_piece(const struct world *w, uint32_t ledger)
{
    struct stream_piece *piece = calloc(1, sizeof *piece);
    assert_non_null(piece);
    piece->ledger = ledger;
    piece->close_time = closed_at(ledger);
    tide_buf_init(&piece->bytes, 1 << 22);
    /* Slices of notes borrow from it: it must not move. */
    assert_true(tide_buf_grow(&piece->bytes, EVENTS * (w->padding + 512)));
    piece->notes = calloc(EVENTS + 2, sizeof *piece->notes);
    piece->changes = calloc(8, sizeof *piece->changes);
    assert_non_null(piece->notes);
    return piece;
}

static void finish(const struct world *w, struct stream_piece *piece)
{
    char text[128];
    add_price(piece, "BTC");
    add_price(piece, "XLM");
    for (uint32_t i = 0; i < w->fact_count; i++)
        if (w->facts[i].ledger == piece->ledger) {
            piece->changes[piece->change_count++] =
                (struct stream_change){ .address = w->who[0], .person = w->facts[i].person };
            piece->changes[piece->change_count++] = (struct stream_change){
                .address = w->who[0], .frozen_entry = true, .person = w->facts[i].person
            };
        }
    piece->blocks_changed = w->blocked_from == piece->ledger;
    snprintf(text, sizeof text, "event: ledger\ndata: {\"n\":\"%u\"}\n\n", piece->ledger);
    piece->text = keep(piece, text);
    piece->last = true;
    piece->end = stream_whole(piece->ledger);
}

/* Events of the ledger after (at) from the place on, at most limit; *left is counted down. */
static struct stream_piece *make_piece(const struct world *w, uint32_t ledger,
                                       const struct stream_place *after, uint32_t *left)
{
    struct stream_piece *piece = new_piece(w, ledger);
    for (uint32_t event = 0; event < EVENTS; event++) {
        struct stream_place place = {
            .ledger = ledger, .class = STREAM_EVENT, .tx = event + 1, .event = event
        };
        if (stream_place_cmp(&place, after) <= 0)
            continue;
        if (w->events_a_page && *left == 0) {
            piece->end = piece->note_count ? piece->notes[piece->note_count - 1].place : *after;
            return piece;
        }
        add_event(w, piece, event);
        *left -= w->events_a_page != 0;
    }
    finish(w, piece);
    return piece;
}

static tide_status test_read(void *self, const struct stream_place *after, uint32_t until,
                             struct stream_piece **out, struct tide_err *err)
{
    struct world *w = self;
    struct stream_piece **tail = out;
    uint32_t left = w->events_a_page;
    uint32_t from = after->class >= STREAM_WHOLE ? after->ledger + 1 : after->ledger;
    if (atomic_load(&w->away))
        return tide_fail(err, TIDE_E_DB, "away");
    assert_true(from <= until && until <= atomic_load(&w->newest));
    w->reads++;
    for (uint32_t ledger = from; ledger <= until && ledger < from + w->page; ledger++) {
        *tail = make_piece(w, ledger, after, &left);
        bool last = (*tail)->last;
        tail = &(*tail)->next;
        if (!last)
            break;
    }
    return TIDE_OK;
}

static tide_status test_people(void *self, uint32_t ledger,
                               const struct tide_hot_address *addresses, uint32_t count,
                               struct tide_hot_person *out, uint64_t *close_time,
                               struct tide_err *err)
{
    struct world *w = self;
    if (atomic_load(&w->away))
        return tide_fail(err, TIDE_E_DB, "away");
    *close_time = closed_at(ledger);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (struct tide_hot_person){ 0 };
        for (uint32_t f = 0; f < w->fact_count; f++)
            if (tide_hot_address_eq(&addresses[i], &w->who[0]) && w->facts[f].ledger <= ledger)
                out[i] = w->facts[f].person;
    }
    return TIDE_OK;
}

static bool test_blocked(void *self, uint32_t code, uint32_t ledger)
{
    struct world *w = self;
    return code == 7 && w->blocked_from && ledger >= w->blocked_from;
}

static tide_status test_prices(void *self, uint32_t ledger, struct stream_piece **out,
                               struct tide_err *err)
{
    struct world *w = self;
    (void)err;
    *out = new_piece(w, ledger);
    add_price(*out, "BTC");
    add_price(*out, "XLM");
    return TIDE_OK;
}

/* --- a reader ------------------------------------------------------------ */

struct reader {
    struct tide_subscriber *sub;
    atomic_uint wakes;
    bool over;
    struct tide_buf text; /* all that was read */
};

static void on_wake(void *self)
{
    atomic_fetch_add(&((struct reader *)self)->wakes, 1);
}

static void reader_read(struct reader *r, size_t step)
{
    char chunk[4096];
    ptrdiff_t got;
    while ((got = tide_subscriber_read(r->sub, chunk, step)) > 0)
        tide_buf_put(&r->text, chunk, (size_t)got);
    r->over = got < 0;
}

static const char *reader_text(struct reader *r)
{
    tide_buf_u8(&r->text, 0);
    assert_false(r->text.failed);
    r->text.len--;
    return (const char *)r->text.ptr;
}

/* The last id that a whole message named; "" when none did. */
static const char *last_id(struct reader *r, char out[STREAM_PLACE_TEXT])
{
    const char *at = reader_text(r), *end;
    char pending[STREAM_PLACE_TEXT] = "";
    out[0] = 0;
    for (; (end = strchr(at, '\n')); at = end + 1) {
        if (end == at)
            memcpy(out, pending, STREAM_PLACE_TEXT);
        if (strncmp(at, "id: ", 4) == 0)
            snprintf(pending, sizeof pending, "%.*s", (int)(end - at - 4), at + 4);
    }
    return out;
}

/* Everything after "n":" of whole messages, in order. */
static void numbers(struct reader *r, struct tide_buf *out)
{
    const char *at = reader_text(r), *end;
    while ((end = strstr(at, "\n\n"))) {
        const char *n = strstr(at, "\"n\":\"");
        if (n && n < end) {
            const char *q = strchr(n + 5, '"');
            tide_buf_put(out, n + 5, (size_t)(q - n - 5));
            tide_buf_u8(out, ' ');
        }
        at = end + 2;
    }
}

/* --- the hub by hand ------------------------------------------------------------ */

struct fixture {
    struct world world;
    struct tide_clock clock;
    struct tide_hub *stream;
};

static void open_stream(struct fixture *f, uint32_t buffer_max, uint64_t total_max)
{
    struct tide_err err;
    f->clock = (struct tide_clock){ .now_ms = test_mono, .wall_ms = test_wall, .self = &f->world };
    struct tide_hub_options options = {
        .clock = &f->clock,
        .source = { &f->world, test_head, test_wait, test_read, test_people, test_blocked,
                    test_prices },
        .subscribers_max = 64,
        .per_who_max = 8,
        .buffer_max = buffer_max,
        .total_max = total_max,
        .ring_max = 64 << 10,
        .resume_ledgers = 1000,
        .heartbeat_ms = 15000,
        .full_ms = 10000,
    };
    assert_int_equal(tide_hub_open(&f->stream, &options, &err), TIDE_OK);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    atomic_store(&f->world.newest, FIRST);
    f->world.first = 1;
    f->world.page = 4;
    atomic_store(&f->world.wall_ms, (long long)closed_at(FIRST) * 1000);
    atomic_store(&f->world.mono_ms, 1000);
    for (int i = 0; i < 2; i++) {
        f->world.who[i].kind = TIDE_STRKEY_ACCOUNT;
        f->world.who[i].key[0] = (uint8_t)(i + 1);
    }
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tide_hub_close(f->stream);
    free(f);
    return 0;
}

static void turns(struct fixture *f, int at_most)
{
    bool more = true;
    for (int i = 0; i < at_most && (more || i < 2); i++) {
        atomic_fetch_add(&f->world.mono_ms, 1000);
        tide_hub_turn(f->stream, &more);
    }
}

static void advance(struct fixture *f, uint32_t ledgers)
{
    uint32_t newest = atomic_fetch_add(&f->world.newest, ledgers) + ledgers;
    atomic_store(&f->world.wall_ms, (long long)closed_at(newest) * 1000);
    turns(f, 1000);
}

static enum tide_stream_refusal subscribe(struct fixture *f, struct reader *r,
                                          const struct tide_stream_ask *ask, const char *after)
{
    struct tide_stream_sink sink = { on_wake, r };
    *r = (struct reader){ 0 };
    tide_buf_init(&r->text, 64 << 20);
    return tide_hub_subscribe(f->stream, ask, after ? tide_slice_str(after) : (tide_slice){ 0 },
                              &sink, &r->sub);
}

static void leave(struct reader *r)
{
    tide_subscriber_close(r->sub);
    tide_buf_release(&r->text);
}

static struct tide_stream_ask ask_for(uint32_t topics)
{
    return (struct tide_stream_ask){ .topics = topics, .who = "192.0.2.1" };
}

static void expect_numbers(struct reader *r, const char *want)
{
    struct tide_buf got;
    tide_buf_init(&got, 8 << 20);
    numbers(r, &got);
    tide_buf_u8(&got, 0);
    assert_string_equal((const char *)got.ptr, want);
    tide_buf_release(&got);
}

/* --- places ------------------------------------------------------------ */

static void places_are_read_as_written(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "1:812",
        "1:812:e:4-0-2",
        "3:1:p:XLM_USDC",
        "1:812@1700000000",
        "1:5:e:1-2-3@9",
        "1:812:c:GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF",
        "1:812:t:GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF@17",
    };
    for (size_t i = 0; i < TIDE_COUNT(texts); i++) {
        struct stream_place place;
        uint16_t deployment;
        char text[STREAM_PLACE_TEXT];
        assert_int_equal(stream_place_parse(&place, &deployment, tide_slice_str(texts[i])),
                         TIDE_OK);
        assert_int_equal(stream_place_text(text, deployment, &place), strlen(texts[i]));
        assert_string_equal(text, texts[i]);
    }
}

static void other_texts_are_no_places(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "1",
        "1:",
        ":5",
        "1:5:",
        "1:5:e",
        "1:5:e:",
        "1:5:e:1",
        "1:5:e:1-2",
        "1:5:e:1-2-3-4",
        "1:5:p:",
        "1:5:p:a b",
        "1:5:c:",
        "1:5:c:GAAA",
        "0:5",
        "70000:5",
        "1:05",
        "1:5@",
        "1:5@0",
        "1:5@x",
        "1:5:x:1",
        "1:4294967296",
        "1:-5",
        " 1:5",
        "1:5 ",
        "1:812:t:GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF",
    };
    for (size_t i = 0; i < TIDE_COUNT(texts); i++) {
        struct stream_place place;
        uint16_t deployment;
        if (stream_place_parse(&place, &deployment, tide_slice_str(texts[i])) == TIDE_OK)
            fail_msg("'%s' is a place", texts[i]);
    }
}

/* --- giving out ------------------------------------------------------------ */

static void what_is_new_comes_once_and_in_order(void **state)
{
    struct fixture *f = *state;
    struct reader r;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER | TIDE_TOPIC_EVENT | TIDE_TOPIC_PRICE);
    open_stream(f, 256 << 10, 1 << 20);
    turns(f, 1);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    reader_read(&r, 4096);
    assert_non_null(
        strstr(reader_text(&r), "event: open\ndata: {\"ledger\":\"10\",\"resumed\":false}"));
    assert_non_null(strstr(reader_text(&r), "id: 1:10\n\n"));
    advance(f, 2);
    reader_read(&r, 7);
    expect_numbers(
        &r, "10-BTC 10-XLM 11-0 11-1 11-2 11-BTC 11-XLM 11 12-0 12-1 12-2 12-BTC 12-XLM 12 ");
    leave(&r);
}

static void a_filter_lets_pass_what_fits(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_EVENT);
    struct reader kind, pool, party, none, asset;
    open_stream(f, 256 << 10, 1 << 20);
    turns(f, 1);
    ask.kind_count = 1;
    ask.kinds[0] = TIDE_EV_oracle_twap;
    assert_int_equal(subscribe(f, &kind, &ask, NULL), TIDE_STREAM_TAKEN);
    ask.kind_count = 0;
    tide_hot_symbol_of(&ask.pool, TIDE_SLICE("P1"));
    ask.has_pool = true;
    assert_int_equal(subscribe(f, &pool, &ask, NULL), TIDE_STREAM_TAKEN);
    ask.contract[0] = 'D';
    assert_int_equal(subscribe(f, &none, &ask, NULL), TIDE_STREAM_TAKEN);
    ask = ask_for(TIDE_TOPIC_EVENT);
    memcpy(ask.party, "GALICE", 7);
    assert_int_equal(subscribe(f, &party, &ask, NULL), TIDE_STREAM_TAKEN);
    ask = ask_for(TIDE_TOPIC_PRICE);
    ask.asset_count = 1;
    tide_hot_symbol_of(&ask.assets[0], TIDE_SLICE("XLM"));
    assert_int_equal(subscribe(f, &asset, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    advance(f, 2);
    struct reader *const all[] = { &kind, &pool, &party, &none, &asset };
    static const char *const want[] = { "11-1 12-1 ", "11-2 12-2 ", "11-0 12-0 ", "",
                                        "10-XLM 11-XLM 12-XLM " };
    for (size_t i = 0; i < TIDE_COUNT(all); i++) {
        reader_read(all[i], 4096);
        expect_numbers(all[i], want[i]);
        leave(all[i]);
    }
}

/* The whole of ledgers from .. to, as numbers. */
static void whole(struct tide_buf *out, uint32_t from, uint32_t to)
{
    for (uint32_t l = from; l <= to; l++)
        tide_buf_putf(out, "%u-0 %u-1 %u-2 %u-BTC %u-XLM %u ", l, l, l, l, l, l);
    tide_buf_u8(out, 0);
}

/* Read some bytes, drop the connection, go on from the last id, on another node too: the whole is
 * there, once. */
static void resume_all(struct fixture *f, unsigned seed, bool other_node)
{
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER | TIDE_TOPIC_EVENT | TIDE_TOPIC_PRICE);
    struct tide_buf want, got;
    char after[STREAM_PLACE_TEXT] = "1:10";
    tide_buf_init(&want, 1 << 20);
    tide_buf_init(&got, 1 << 20);
    whole(&want, 11, 60);
    for (int tries = 0; tries < 2000 && strcmp(after, "1:60") != 0; tries++) {
        struct reader r;
        char id[STREAM_PLACE_TEXT], chunk[700];
        assert_int_equal(subscribe(f, &r, &ask, after), TIDE_STREAM_TAKEN);
        seed = seed * 1103515245u + 12345u;
        for (unsigned i = 0; i < 1 + (seed >> 16) % 4; i++) {
            turns(f, 3);
            seed = seed * 1103515245u + 12345u;
            ptrdiff_t len = tide_subscriber_read(r.sub, chunk, 1 + (seed >> 16) % sizeof chunk);
            tide_buf_put(&r.text, chunk, len > 0 ? (size_t)len : 0);
        }
        numbers(&r, &got);
        if (last_id(&r, id)[0])
            memcpy(after, id, sizeof after);
        leave(&r);
        turns(f, 1);
        if (other_node && tries % 7 == 0) {
            tide_hub_close(f->stream);
            open_stream(f, 2048 + STREAM_PLACE_TEXT, 1 << 20);
            turns(f, 1);
        }
    }
    tide_buf_u8(&got, 0);
    assert_string_equal((const char *)got.ptr, (const char *)want.ptr);
    tide_buf_release(&want);
    tide_buf_release(&got);
}

static void resuming_is_exact(void **state)
{
    struct fixture *f = *state;
    open_stream(f, 2048, 1 << 20);
    turns(f, 1);
    advance(f, 50);
    resume_all(f, 7, false);
}

static void resuming_on_another_node_is_exact(void **state)
{
    struct fixture *f = *state;
    f->world.events_a_page = 2; /* pages end within ledgers */
    open_stream(f, 2048, 1 << 20);
    turns(f, 1);
    advance(f, 50);
    resume_all(f, 11, true);
}

static void many_at_one_place_are_read_for_once(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER);
    struct reader all[40];
    open_stream(f, 256 << 10, 8 << 20);
    atomic_store(&f->world.newest, 210);
    turns(f, 2);
    for (size_t i = 0; i < TIDE_COUNT(all); i++) {
        snprintf(ask.who, sizeof ask.who, "%zu", i);
        assert_int_equal(subscribe(f, &all[i], &ask, "1:10"), TIDE_STREAM_TAKEN);
    }
    f->world.reads = 0;
    turns(f, 1000);
    assert_in_range(f->world.reads, 50, 52);
    for (size_t i = 0; i < TIDE_COUNT(all); i++) {
        char id[STREAM_PLACE_TEXT];
        reader_read(&all[i], 4096);
        assert_string_equal(last_id(&all[i], id), "1:210");
        leave(&all[i]);
    }
}

static void a_slow_reader_is_dropped_others_are_not(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER | TIDE_TOPIC_EVENT);
    struct reader slow, quick;
    struct tide_hub_stats stats;
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    assert_int_equal(subscribe(f, &slow, &ask, NULL), TIDE_STREAM_TAKEN);
    assert_int_equal(subscribe(f, &quick, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    for (int i = 0; i < 60; i++) {
        advance(f, 1);
        reader_read(&quick, 4096);
        tide_hub_stats(f->stream, &stats);
        assert_true(stats.buffered <= 2 * 8192);
    }
    struct tide_buf want;
    tide_buf_init(&want, 1 << 20);
    for (uint32_t l = 11; l <= 70; l++)
        tide_buf_putf(&want, "%u-0 %u-1 %u-2 %u ", l, l, l, l);
    tide_buf_u8(&want, 0);
    expect_numbers(&quick, (const char *)want.ptr);
    tide_buf_release(&want);
    assert_false(quick.over);
    reader_read(&slow, 4096);
    assert_true(slow.over);
    assert_non_null(strstr(reader_text(&slow), "event: dropped\ndata: {\"reason\":\"slow\""));
    tide_hub_stats(f->stream, &stats);
    assert_int_equal(stats.dropped[TIDE_DROPPED_SLOW], 1);
    /* It goes on where it was. */
    char id[STREAM_PLACE_TEXT], after[STREAM_PLACE_TEXT];
    memcpy(after, last_id(&slow, id), sizeof after);
    leave(&slow);
    assert_int_equal(subscribe(f, &slow, &ask, after), TIDE_STREAM_TAKEN);
    for (int i = 0; i < 60; i++) {
        turns(f, 4);
        reader_read(&slow, 4096);
    }
    assert_string_equal(last_id(&slow, id), "1:70");
    leave(&slow);
    leave(&quick);
}

static void a_reader_that_drains_is_not_slow(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER | TIDE_TOPIC_EVENT);
    struct reader r;
    f->world.padding = 300;
    open_stream(f, 4096, 1 << 20);
    atomic_store(&f->world.newest, 500);
    turns(f, 1);
    assert_int_equal(subscribe(f, &r, &ask, "1:10"), TIDE_STREAM_TAKEN);
    for (int i = 0; i < 400; i++) { /* a second each, the buffer full all the time */
        turns(f, 2);
        reader_read(&r, 4096);
        assert_false(r.over);
    }
    char id[STREAM_PLACE_TEXT];
    assert_string_equal(last_id(&r, id), "1:500");
    leave(&r);
}

static void the_fullest_goes_when_all_are_full(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_EVENT);
    struct reader full, quick;
    struct tide_hub_stats stats;
    f->world.padding = 4000;
    open_stream(f, 256 << 10, 64 << 10);
    turns(f, 1);
    assert_int_equal(subscribe(f, &full, &ask, NULL), TIDE_STREAM_TAKEN);
    assert_int_equal(subscribe(f, &quick, &ask, NULL), TIDE_STREAM_TAKEN);
    for (int i = 0; i < 8; i++) {
        advance(f, 1);
        reader_read(&quick, 4096);
    }
    tide_hub_stats(f->stream, &stats);
    assert_int_equal(stats.dropped[TIDE_DROPPED_MEMORY], 1);
    assert_true(stats.buffered < 64 << 10);
    reader_read(&full, 4096);
    assert_true(full.over);
    assert_non_null(strstr(reader_text(&full), "\"reason\":\"memory\""));
    assert_false(quick.over);
    leave(&full);
    leave(&quick);
}

static void limits_are_kept(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER);
    struct reader all[65];
    struct reader r;
    open_stream(f, 4096, 1 << 20);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_NOT_READY);
    turns(f, 1);
    for (size_t i = 0; i < 64; i++) {
        snprintf(ask.who, sizeof ask.who, "192.0.2.%zu", i / 8);
        assert_int_equal(subscribe(f, &all[i], &ask, NULL), TIDE_STREAM_TAKEN);
        if (i == 7)
            assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_FULL_OF);
    }
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_FULL);
    leave(&all[0]);
    turns(f, 1);
    memcpy(ask.who, "192.0.2.0", 10);
    assert_int_equal(subscribe(f, &all[0], &ask, NULL), TIDE_STREAM_TAKEN);
    for (size_t i = 0; i < 64; i++)
        leave(&all[i]);
}

static void places_that_cannot_be_gone_on_from_are_refused(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER);
    struct reader r;
    atomic_store(&f->world.newest, 5000);
    f->world.first = 4100;
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    static const struct {
        const char *after;
        enum tide_stream_refusal want;
    } table[] = {
        { "nonsense", TIDE_STREAM_BAD_PLACE }, { "2:4990", TIDE_STREAM_ELSEWHERE },
        { "1:3999", TIDE_STREAM_TOO_OLD },     { "1:4098", TIDE_STREAM_TOO_OLD },
        { "1:5721", TIDE_STREAM_AHEAD },
    };
    for (size_t i = 0; i < TIDE_COUNT(table); i++)
        assert_int_equal(subscribe(f, &r, &ask, table[i].after), table[i].want);
    assert_int_equal(subscribe(f, &r, &ask, "1:4099"), TIDE_STREAM_TAKEN);
    leave(&r);
    /* One that is a little ahead waits until this node is there. */
    assert_int_equal(subscribe(f, &r, &ask, "1:5002"), TIDE_STREAM_TAKEN);
    advance(f, 1);
    reader_read(&r, 4096);
    expect_numbers(&r, "");
    advance(f, 2);
    reader_read(&r, 4096);
    expect_numbers(&r, "5003 ");
    leave(&r);
}

static void without_the_database_they_stay_and_are_told(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER);
    struct reader r;
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    atomic_store(&f->world.away, true);
    for (int i = 0; i < 40; i++) {
        turns(f, 2);
        reader_read(&r, 4096);
    }
    assert_non_null(strstr(reader_text(&r), "event: stale\ndata: {\"ledger\":\"10\""));
    assert_null(strstr(strstr(reader_text(&r), "event: stale") + 1, "event: stale"));
    assert_non_null(strstr(reader_text(&r), ": heartbeat\nid: 1:10\n\n"));
    atomic_store(&f->world.away, false);
    advance(f, 3);
    reader_read(&r, 4096);
    assert_non_null(strstr(reader_text(&r), "event: fresh\n"));
    expect_numbers(&r, "11 12 13 ");
    leave(&r);
}

static void a_gap_ends_a_subscription(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER);
    struct reader r;
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    f->world.first = 100;
    advance(f, 100);
    reader_read(&r, 4096);
    assert_true(r.over);
    assert_non_null(strstr(reader_text(&r), "\"reason\":\"gap\""));
    leave(&r);
}

/* --- compliance ------------------------------------------------------------ */

static void fact(struct world *w, uint32_t ledger, uint64_t expires_at, bool frozen)
{
    w->facts[w->fact_count++] = (struct person_fact){ ledger,
                                                      { .recorded = 1,
                                                        .status = 2,
                                                        .frozen = frozen,
                                                        .jurisdiction = 7,
                                                        .expires_at = expires_at } };
}

/* "ledger class=reason" of each compliance message; "-" for what is told at the beginning. */
static void expect_standings(struct reader *r, const char *want)
{
    char got[4096] = "";
    const char *end;
    for (const char *at = reader_text(r); (end = strstr(at, "\n\n")); at = end + 2) {
        const char *reason = strstr(at, "\"reasonCode\":\"");
        size_t len = strlen(got);
        struct stream_place place = { 0 };
        uint16_t deployment;
        if (!reason || reason > end)
            continue;
        if (strncmp(at, "id: ", 4) == 0)
            assert_int_equal(stream_place_parse(&place, &deployment,
                                                tide_slice_of(at + 4, strcspn(at + 4, "\n"))),
                             TIDE_OK);
        char class = place.ledger == 0 ? '-' : place.class == STREAM_TIME ? 't' : 'c';
        snprintf(got + len, sizeof got - len, "%u%c=%.*s ", place.ledger, class,
                 (int)strcspn(reason + 14, "\""), reason + 14);
    }
    assert_string_equal(got, want);
    assert_null(strstr(reader_text(r), "urisdiction\":"));
}

static void compliance_changes_by_ledger_and_by_time(void **state)
{
    struct fixture *f = *state;
    struct world *w = &f->world;
    struct reader r;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_COMPLIANCE);
    ask.address_count = 2;
    ask.addresses[0] = w->who[1];
    ask.addresses[1] = w->who[0];
    fact(w, 12, closed_at(14) + 2, false);
    fact(w, 17, closed_at(900), false);
    fact(w, 18, closed_at(900), true);
    fact(w, 19, closed_at(900), false);
    w->blocked_from = 21;
    open_stream(f, 64 << 10, 1 << 20);
    turns(f, 1);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    advance(f, 4);
    reader_read(&r, 4096);
    expect_standings(&r, "0-=no_record 0-=no_record 12c=compliant ");
    /* No ledger comes, time passes. */
    atomic_store(&w->wall_ms, (long long)(closed_at(14) + 2) * 1000);
    turns(f, 2);
    reader_read(&r, 4096);
    expect_standings(&r, "0-=no_record 0-=no_record 12c=compliant ");
    atomic_store(&w->wall_ms, (long long)(closed_at(14) + 3) * 1000);
    turns(f, 2);
    reader_read(&r, 4096);
    expect_standings(&r, "0-=no_record 0-=no_record 12c=compliant 14t=lapsed ");
    advance(f, 8);
    reader_read(&r, 4096);
    expect_standings(&r, "0-=no_record 0-=no_record 12c=compliant 14t=lapsed 17c=compliant "
                         "18c=frozen 19c=compliant 21c=jurisdiction ");
    leave(&r);
    /* The same from history, from each place that was told. */
    assert_int_equal(subscribe(f, &r, &ask, "1:10"), TIDE_STREAM_TAKEN);
    turns(f, 100);
    reader_read(&r, 4096);
    expect_standings(&r, "12c=compliant 14t=lapsed 17c=compliant 18c=frozen "
                         "19c=compliant 21c=jurisdiction ");
    leave(&r);
}

/* From every place that a stream names, what follows is what followed there. */
static void compliance_is_gone_on_with_from_any_place(void **state)
{
    struct fixture *f = *state;
    struct world *w = &f->world;
    struct reader r;
    struct tide_stream_ask ask = ask_for(15);
    ask.address_count = 2;
    memcpy(ask.addresses, w->who, sizeof w->who);
    fact(w, 12, closed_at(14) + 2, false);
    fact(w, 15, closed_at(16), false); /* lapses in a ledger's second, and one after */
    fact(w, 17, closed_at(17) - 1, false);
    fact(w, 18, closed_at(20) + 1, true);
    fact(w, 19, closed_at(20) + 1, false);
    open_stream(f, 64 << 10, 1 << 20);
    advance(f, 15);
    turns(f, 2);
    assert_int_equal(subscribe(f, &r, &ask, "1:10"), TIDE_STREAM_TAKEN);
    turns(f, 100);
    reader_read(&r, 4096);
    char *text = strdup(reader_text(&r));
    int count = 0;
    leave(&r);
    for (char *at = text; (at = strstr(at, "id: ")); at += 4) {
        char after[STREAM_PLACE_TEXT];
        snprintf(after, sizeof after, "%.*s", (int)strcspn(at + 4, "\n"), at + 4);
        const char *rest = strstr(at, "\n\n") + 2;
        assert_int_equal(subscribe(f, &r, &ask, after), TIDE_STREAM_TAKEN);
        turns(f, 100);
        reader_read(&r, 4096);
        const char *got = strstr(reader_text(&r), "\n\n") + 2; /* behind the greeting */
        if (strcmp(got, rest) != 0)
            fail_msg("after %s\nwant %.300s\ngot  %.300s", after, rest, got);
        leave(&r);
        turns(f, 1);
        count++;
    }
    free(text);
    assert_true(count > 90);
}

static void a_lapse_is_not_told_twice_when_its_ledger_comes_late(void **state)
{
    struct fixture *f = *state;
    struct world *w = &f->world;
    struct reader r;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_COMPLIANCE);
    char id[STREAM_PLACE_TEXT], after[STREAM_PLACE_TEXT];
    ask.address_count = 1;
    ask.addresses[0] = w->who[0];
    fact(w, 9, closed_at(12) + 2, false);
    open_stream(f, 64 << 10, 1 << 20);
    turns(f, 1);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    atomic_store(&w->wall_ms, (long long)closed_at(13) * 1000); /* the node lags by three ledgers */
    turns(f, 2);
    reader_read(&r, 4096);
    expect_standings(&r, "0-=compliant 10t=lapsed ");
    memcpy(after, last_id(&r, id), sizeof after);
    atomic_store(&w->newest, 14);
    turns(f, 10);
    reader_read(&r, 4096);
    expect_standings(&r, "0-=compliant 10t=lapsed ");
    leave(&r);
    assert_int_equal(subscribe(f, &r, &ask, after), TIDE_STREAM_TAKEN);
    turns(f, 10);
    reader_read(&r, 4096);
    expect_standings(&r, "");
    leave(&r);
}

/* --- threads ------------------------------------------------------------ */

struct many {
    struct fixture *f;
    atomic_bool stop;
    atomic_uint done;
};

static bool is_stopped(void *self)
{
    return atomic_load(&((struct many *)self)->stop);
}

static void *hub(void *self)
{
    struct many *m = self;
    tide_hub_run(m->f->stream);
    return NULL;
}

/* Reads a while, leaves, comes back where it was, until it has everything. */
static void *come_and_go(void *self)
{
    struct many *m = self;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER | TIDE_TOPIC_EVENT | TIDE_TOPIC_PRICE);
    char after[STREAM_PLACE_TEXT] = "1:10";
    struct tide_buf got, want;
    unsigned seed = (unsigned)(uintptr_t)&seed;
    snprintf(ask.who, sizeof ask.who, "%p", (void *)&seed);
    tide_buf_init(&got, 1 << 20);
    tide_buf_init(&want, 1 << 20);
    whole(&want, 11, 60);
    while (strcmp(after, "1:60") != 0) {
        struct reader r;
        char id[STREAM_PLACE_TEXT];
        enum tide_stream_refusal refusal = subscribe(m->f, &r, &ask, after);
        if (refusal == TIDE_STREAM_NOT_READY)
            continue;
        assert_int_equal(refusal, TIDE_STREAM_TAKEN);
        for (int i = 0; i < 20; i++) {
            struct timespec nap = { .tv_nsec = 300000 };
            nanosleep(&nap, NULL);
            reader_read(&r, 1 + (unsigned)i * 37);
        }
        numbers(&r, &got);
        if (last_id(&r, id)[0])
            memcpy(after, id, sizeof after);
        leave(&r);
    }
    tide_buf_u8(&got, 0);
    assert_string_equal((const char *)got.ptr, (const char *)want.ptr);
    tide_buf_release(&got);
    tide_buf_release(&want);
    atomic_fetch_add(&m->done, 1);
    return NULL;
}

static void many_threads_get_everything_once(void **state)
{
    struct fixture *f = *state;
    struct many m = { .f = f };
    pthread_t hub_thread, readers[6];
    struct tide_err err;
    f->clock = (struct tide_clock){ .now_ms = test_mono, .wall_ms = test_wall, .self = &f->world };
    struct tide_hub_options options = {
        .clock = &f->clock,
        .source = { &f->world, test_head, test_wait, test_read, test_people, test_blocked,
                    test_prices },
        .subscribers_max = 64,
        .per_who_max = 8,
        .buffer_max = 4096,
        .total_max = 1 << 20,
        .ring_max = 2 << 10,
        .resume_ledgers = 1000,
        .heartbeat_ms = 15000,
        .full_ms = 10000,
        .stopped = is_stopped,
        .stopped_self = &m,
    };
    assert_int_equal(tide_hub_open(&f->stream, &options, &err), TIDE_OK);
    assert_int_equal(pthread_create(&hub_thread, NULL, hub, &m), 0);
    for (size_t i = 0; i < TIDE_COUNT(readers); i++)
        assert_int_equal(pthread_create(&readers[i], NULL, come_and_go, &m), 0);
    for (uint32_t l = 11; l <= 60; l++) {
        struct tide_hub_stats stats;
        struct timespec nap = { .tv_nsec = 1000000 };
        atomic_store(&f->world.newest, l);
        nanosleep(&nap, NULL);
        tide_hub_stats(f->stream, &stats);
    }
    for (size_t i = 0; i < TIDE_COUNT(readers); i++)
        pthread_join(readers[i], NULL);
    atomic_store(&m.stop, true);
    pthread_join(hub_thread, NULL);
    assert_int_equal(atomic_load(&m.done), TIDE_COUNT(readers));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_read_as_written),
        cmocka_unit_test(other_texts_are_no_places),
#define HUB(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
        HUB(what_is_new_comes_once_and_in_order),
        HUB(a_filter_lets_pass_what_fits),
        HUB(resuming_is_exact),
        HUB(resuming_on_another_node_is_exact),
        HUB(many_at_one_place_are_read_for_once),
        HUB(a_slow_reader_is_dropped_others_are_not),
        HUB(a_reader_that_drains_is_not_slow),
        HUB(the_fullest_goes_when_all_are_full),
        HUB(limits_are_kept),
        HUB(places_that_cannot_be_gone_on_from_are_refused),
        HUB(without_the_database_they_stay_and_are_told),
        HUB(a_gap_ends_a_subscription),
        HUB(compliance_changes_by_ledger_and_by_time),
        HUB(compliance_is_gone_on_with_from_any_place),
        HUB(a_lapse_is_not_told_twice_when_its_ledger_comes_late),
        HUB(many_threads_get_everything_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
