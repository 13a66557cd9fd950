/* The service behind /api/stream on an invented chain, whose data is made when the service reads
 * it. The test calls the service's turns by hand and has readers as clients. */
#ifndef LIVE_WORLD_H
#define LIVE_WORLD_H

#include "api/stream/stream.h"
#include "tidemark/catalogue.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CLOSE_S = 5, EVENTS = 3, FIRST = 10 };

static inline uint64_t closed_at(uint32_t ledger)
{
    return 1000000 + (uint64_t)ledger * CLOSE_S;
}

/* True while the source answers. A test that makes allocations fail spares those of the source. */
static bool live_world_answers;

/* --- a chain that is made up as it is read ----------------------------------------------- */

struct person_fact {
    uint32_t ledger;
    struct tide_hot_person person;
};

struct world {
    atomic_uint newest;
    atomic_bool away, registry_undecoded;
    uint32_t first, page;   /* ledgers of a page            */
    uint32_t events_a_page; /* 0: whole ledgers             */
    uint32_t reads;
    size_t padding; /* bytes more in each event */
    atomic_llong wall_ms, mono_ms;
    struct tide_hot_address who[2];
    struct person_fact facts[8]; /* facts of who[0] */
    uint32_t fact_count;
    uint32_t archived_from, archived_to; /* as of the head */
    atomic_ullong age_ms;                /* age of the head */
    uint16_t deployment;                 /* 0: 1           */
    uint32_t blocked_from;       /* jurisdiction 7 is blocked from that ledger on; 0: never */
    uint32_t feeds, price_reads; /* feeds F000 … beside BTC and XLM in present prices */
    void (*during_head)(void *); /* called once while the head is being read, unless NULL */
    void *during_head_self;
};

static inline int64_t test_mono(void *self)
{
    return atomic_load(&((struct world *)self)->mono_ms);
}

static inline int64_t test_wall(void *self)
{
    return atomic_load(&((struct world *)self)->wall_ms);
}

static inline tide_status test_head(void *self, struct stream_head *out, struct tide_err *err)
{
    struct world *w = self;
    uint32_t newest = atomic_load(&w->newest);
    if (w->during_head)
        w->during_head(w->during_head_self);
    w->during_head = NULL;
    if (atomic_load(&w->away))
        return tide_fail(err, TIDE_E_DB, "away");
    *out = (struct stream_head){ .deployment = w->deployment ? w->deployment : 1,
                                 .ledger = newest,
                                 .first = w->first,
                                 .closed_ms = closed_at(newest) * 1000,
                                 .age_ms = atomic_load(&w->age_ms),
                                 .archived_from = w->archived_from,
                                 .archived_to = w->archived_to,
                                 .registry_undecoded = atomic_load(&w->registry_undecoded) };
    return TIDE_OK;
}

static inline void test_wait(void *self, int ms, bool *news)
{
    (void)self;
    (void)ms;
    struct timespec nap = { .tv_nsec = 200000 };
    nanosleep(&nap, NULL);
    *news = true;
}

static inline tide_slice copy_text(struct stream_piece *piece, const char *text)
{
    size_t from = piece->bytes.len;
    tide_buf_str(&piece->bytes, text);
    return tide_slice_of(piece->bytes.ptr + from, piece->bytes.len - from);
}

static inline void add_event(const struct world *w, struct stream_piece *piece, uint32_t event)
{
    char text[256];
    struct stream_note *note = &piece->notes[piece->note_count++];
    *note = (struct stream_note){ .position = { .ledger = piece->ledger,
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
    note->subject = copy_text(piece, event == 0 ? "P0" : "P1");
    note->contract = copy_text(piece, "C");
    note->addresses = copy_text(piece, event == 0 ? "GALICE GBOB " : "GBOB ");
}

static inline void add_price(struct stream_piece *piece, const char *asset)
{
    char text[128];
    struct stream_note *note = &piece->notes[piece->note_count++];
    *note = (struct stream_note){ .position = { .ledger = piece->ledger, .class = STREAM_PRICE } };
    tide_hot_symbol_of(&note->position.asset, tide_slice_str(asset));
    snprintf(text, sizeof text, "event: price\ndata: {\"n\":\"%u-%s\"}\n\n", piece->ledger, asset);
    note->text = copy_text(piece, text);
}

static inline struct stream_piece *new_piece(const struct world *w, uint32_t ledger)
{
    struct stream_piece *piece = calloc(1, sizeof *piece);
    assert_non_null(piece);
    piece->ledger = ledger;
    piece->closed_ms = closed_at(ledger) * 1000;
    tide_buf_init(&piece->bytes, 1 << 22);
    /* Notes hold slices of this buffer, so it must not be reallocated. */
    assert_true(tide_buf_grow(&piece->bytes, EVENTS * (w->padding + 512)));
    piece->notes = calloc(EVENTS + 2, sizeof *piece->notes);
    piece->changes = calloc(8, sizeof *piece->changes);
    assert_non_null(piece->notes);
    return piece;
}

static inline void finish_piece(const struct world *w, struct stream_piece *piece)
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
    piece->text = copy_text(piece, text);
    piece->last = true;
    piece->end = stream_whole(piece->ledger);
}

/* Appends at most `limit` events of the next ledger, from the position on. Subtracts their number
 * from *left. */
static inline struct stream_piece *make_piece(const struct world *w, uint32_t ledger,
                                              const struct stream_position *after, uint32_t *left)
{
    struct stream_piece *piece = new_piece(w, ledger);
    for (uint32_t event = 0; event < EVENTS; event++) {
        struct stream_position position = {
            .ledger = ledger, .class = STREAM_EVENT, .tx = event + 1, .event = event
        };
        if (stream_position_cmp(&position, after) <= 0)
            continue;
        if (w->events_a_page && *left == 0) {
            piece->end = piece->note_count ? piece->notes[piece->note_count - 1].position : *after;
            return piece;
        }
        add_event(w, piece, event);
        *left -= w->events_a_page != 0;
    }
    finish_piece(w, piece);
    return piece;
}

static inline tide_status test_read(void *self, const struct stream_position *after, uint32_t until,
                                    struct stream_piece **out, struct tide_err *err)
{
    struct world *w = self;
    struct stream_piece **tail = out;
    uint32_t left = w->events_a_page;
    uint32_t from = after->class >= STREAM_WHOLE ? after->ledger + 1 : after->ledger;
    if (atomic_load(&w->away))
        return tide_fail(err, TIDE_E_DB, "away");
    assert_true(from <= until && until <= atomic_load(&w->newest));
    live_world_answers = true;
    w->reads++;
    for (uint32_t ledger = from; ledger <= until && ledger < from + w->page; ledger++) {
        *tail = make_piece(w, ledger, after, &left);
        bool last = (*tail)->last;
        tail = &(*tail)->next;
        if (!last)
            break;
    }
    live_world_answers = false;
    return TIDE_OK;
}

static inline tide_status test_people(void *self, uint32_t ledger,
                                      const struct tide_hot_address *addresses, uint32_t count,
                                      struct tide_hot_person *out, uint64_t *closed_ms,
                                      struct tide_err *err)
{
    struct world *w = self;
    if (atomic_load(&w->away))
        return tide_fail(err, TIDE_E_DB, "away");
    *closed_ms = closed_at(ledger) * 1000;
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (struct tide_hot_person){ 0 };
        for (uint32_t f = 0; f < w->fact_count; f++)
            if (tide_hot_address_eq(&addresses[i], &w->who[0]) && w->facts[f].ledger <= ledger)
                out[i] = w->facts[f].person;
    }
    return TIDE_OK;
}

static inline bool test_blocked(void *self, uint32_t code, uint32_t ledger)
{
    struct world *w = self;
    return code == 7 && w->blocked_from && ledger >= w->blocked_from;
}

/* Reads BTC, F000 …, XLM: at most PRICE_PAGE prices after ask->after. */
static inline tide_status test_prices(void *self, const struct stream_prices_ask *ask,
                                      struct stream_piece **out, struct tide_err *err)
{
    enum { PRICE_PAGE = 32 };
    struct world *w = self;
    if (atomic_load(&w->away))
        return tide_fail(err, TIDE_E_DB, "away");
    assert_true(ask->ledger <= atomic_load(&w->newest));
    live_world_answers = true;
    struct stream_piece *piece = *out = calloc(1, sizeof *piece);
    assert_non_null(piece);
    piece->ledger = ask->ledger;
    tide_buf_init(&piece->bytes, 1 << 20);
    assert_true(tide_buf_grow(&piece->bytes, PRICE_PAGE * 128));
    piece->notes = calloc(PRICE_PAGE, sizeof *piece->notes);
    assert_non_null(piece->notes);
    w->price_reads++;
    piece->last = true;
    for (uint32_t i = 0; i < w->feeds + 2 && piece->last; i++) {
        char name[16];
        struct tide_hot_symbol asset;
        snprintf(name, sizeof name, i == 0 ? "BTC" : i > w->feeds ? "XLM" : "F%03u", i - 1);
        tide_hot_symbol_of(&asset, tide_slice_str(name));
        bool asked = ask->count == 0;
        for (uint32_t n = 0; n < ask->count; n++)
            asked |= memcmp(&asset, &ask->assets[n], sizeof asset) == 0;
        if (!asked || memcmp(&asset, &ask->after, sizeof asset) <= 0)
            continue;
        if (piece->note_count == PRICE_PAGE) {
            piece->end = piece->notes[PRICE_PAGE - 1].position;
            piece->last = false;
        } else {
            add_price(piece, name);
        }
    }
    live_world_answers = false;
    return TIDE_OK;
}

/* --- a reader ------------------------------------------------------------ */

struct reader {
    struct tide_subscriber *sub;
    atomic_uint wakes;
    bool over;
    struct tide_buf text; /* all that was read */
};

static inline void on_wake(void *self)
{
    atomic_fetch_add(&((struct reader *)self)->wakes, 1);
}

static inline void reader_read(struct reader *r, size_t step)
{
    char chunk[4096];
    ptrdiff_t got;
    while ((got = tide_subscriber_read(r->sub, chunk, step)) > 0)
        tide_buf_put(&r->text, chunk, (size_t)got);
    r->over = got < 0;
}

static inline const char *reader_text(struct reader *r)
{
    tide_buf_u8(&r->text, 0);
    assert_false(r->text.failed);
    r->text.len--;
    return (const char *)r->text.ptr;
}

/* Returns the id of the last complete message that had one, or "". */
static inline const char *last_id(struct reader *r, char out[STREAM_POSITION_TEXT])
{
    const char *at = reader_text(r), *end;
    char pending[STREAM_POSITION_TEXT] = "";
    out[0] = 0;
    for (; (end = strchr(at, '\n')); at = end + 1) {
        if (end == at)
            memcpy(out, pending, STREAM_POSITION_TEXT);
        if (strncmp(at, "id: ", 4) == 0)
            snprintf(pending, sizeof pending, "%.*s", (int)(end - at - 4), at + 4);
    }
    return out;
}

/* Appends the values of "n" of all complete messages, in order. */
static inline void numbers(struct reader *r, struct tide_buf *out)
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

/* --- turns of the service by hand ---------------------------------------------------- */

struct fixture {
    struct world world;
    struct tide_clock clock;
    struct tide_event_stream *stream;
};

static inline void open_stream(struct fixture *f, uint32_t buffer_max, uint64_t total_max)
{
    struct tide_err err;
    f->clock = (struct tide_clock){ .now_ms = test_mono, .wall_ms = test_wall, .self = &f->world };
    struct tide_event_stream_options options = {
        .clock = &f->clock,
        .source = { &f->world, test_head, test_wait, test_read, test_people, test_blocked,
                    test_prices },
        .subscribers_max = 64,
        .per_client_max = 8,
        .buffer_max = buffer_max,
        .total_max = total_max,
        .ring_max = 64 << 10,
        .resume_ledgers = 1000,
        .heartbeat_ms = 15000,
        .full_ms = 10000,
        .stale_ms = 60000,
    };
    assert_int_equal(tide_event_stream_open(&f->stream, &options, &err), TIDE_OK);
}

static inline int set_up(void **state)
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

static inline int tear_down(void **state)
{
    struct fixture *f = *state;
    tide_event_stream_close(f->stream);
    free(f);
    return 0;
}

static inline void turns(struct fixture *f, int at_most)
{
    bool more = true;
    for (int i = 0; i < at_most && (more || i < 2); i++) {
        atomic_fetch_add(&f->world.mono_ms, 1000);
        tide_event_stream_turn(f->stream, &more);
    }
}

static inline void advance_ledgers(struct fixture *f, uint32_t ledgers)
{
    uint32_t newest = atomic_fetch_add(&f->world.newest, ledgers) + ledgers;
    atomic_store(&f->world.wall_ms, (long long)closed_at(newest) * 1000);
    turns(f, 1000);
}

static inline enum tide_stream_refusal
subscribe(struct fixture *f, struct reader *r, const struct tide_stream_ask *ask, const char *after)
{
    struct tide_stream_sink sink = { on_wake, r };
    *r = (struct reader){ 0 };
    tide_buf_init(&r->text, 64 << 20);
    return tide_event_stream_subscribe(
        f->stream, ask, after ? tide_slice_str(after) : (tide_slice){ 0 }, &sink, &r->sub);
}

static inline void close_reader(struct reader *r)
{
    tide_subscriber_close(r->sub);
    tide_buf_release(&r->text);
}

static inline struct tide_stream_ask ask_for(uint32_t topics)
{
    return (struct tide_stream_ask){ .topics = topics, .client_name = "192.0.2.1" };
}

static inline void expect_numbers(struct reader *r, const char *want)
{
    struct tide_buf got;
    tide_buf_init(&got, 8 << 20);
    numbers(r, &got);
    tide_buf_u8(&got, 0);
    assert_string_equal((const char *)got.ptr, want);
    tide_buf_release(&got);
}

/* Appends the numbers of all events of the ledgers from .. to. */
static inline void whole(struct tide_buf *out, uint32_t from, uint32_t to)
{
    for (uint32_t l = from; l <= to; l++)
        tide_buf_putf(out, "%u-0 %u-1 %u-2 %u-BTC %u-XLM %u ", l, l, l, l, l, l);
    tide_buf_u8(out, 0);
}

#define STREAM_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
