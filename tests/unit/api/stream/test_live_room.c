/* The service behind /api/stream with small buffers, little memory and many present values: a
 * message counts as sent only once it is stored in the buffer. */
#include "tests/unit/api/stream/live_world.h"

enum { FEEDS = 100, LEDGERS = 30 };

/* --- memory that fails ------------------------------------------------------------------ */

static unsigned fail_seed; /* 0: every allocation succeeds */

void *__real_realloc(void *ptr, size_t size);
void *__wrap_realloc(void *ptr, size_t size);

/* The linker replaces realloc by this function in this program. About every second growth fails, by
 * chance. */
void *__wrap_realloc(void *ptr, size_t size)
{
    if (fail_seed && !live_world_answers) {
        fail_seed = fail_seed * 1103515245u + 12345u;
        fail_seed += fail_seed == 0;
        if (fail_seed >> 16 & 1)
            return NULL;
    }
    return __real_realloc(ptr, size);
}

/* A turn of the service during which allocations fail. */
static void poor_turn(struct fixture *f, unsigned *seed)
{
    bool more;
    atomic_fetch_add(&f->world.mono_ms, 100);
    fail_seed = *seed;
    tide_event_stream_turn(f->stream, &more);
    *seed = fail_seed ? fail_seed : *seed;
    fail_seed = 0;
}

/* --- a subscription from its start ------------------------------------------------------ */

static struct tide_stream_ask everything(const struct world *w)
{
    struct tide_stream_ask ask =
        ask_for(TIDE_TOPIC_LEDGER | TIDE_TOPIC_EVENT | TIDE_TOPIC_PRICE | TIDE_TOPIC_COMPLIANCE);
    ask.address_count = 2;
    ask.addresses[0] = w->who[0];
    ask.addresses[1] = w->who[1];
    return ask;
}

/* Appends all present prices as of the first ledger, then all events of the later ledgers. */
static void want_all(struct tide_buf *want, uint32_t first, uint32_t last)
{
    tide_buf_putf(want, "%u-BTC ", first);
    for (uint32_t i = 0; i < FEEDS; i++)
        tide_buf_putf(want, "%u-F%03u ", first, i);
    tide_buf_putf(want, "%u-XLM ", first);
    for (uint32_t l = first + 1; l <= last; l++)
        tide_buf_putf(want, "%u-0 %u-1 %u-2 %u-BTC %u-XLM %u ", l, l, l, l, l, l);
    tide_buf_u8(want, 0);
}

static uint32_t count_of(struct reader *r, const char *what)
{
    uint32_t count = 0;
    for (const char *at = reader_text(r); (at = strstr(at, what)); at++)
        count++;
    return count;
}

static bool is_at_end(struct reader *r, uint32_t last)
{
    char id[STREAM_POSITION_TEXT], want[32];
    snprintf(want, sizeof want, "1:%u", last);
    return strcmp(last_id(r, id), want) == 0;
}

/* Reads in small steps, with whatever space the buffer has, until the last ledger arrives. */
static void read_to_end(struct fixture *f, struct reader *r, unsigned *seed, size_t step)
{
    uint32_t last = FIRST + LEDGERS;
    for (int i = 0; i < 20000 && !is_at_end(r, last); i++) {
        char chunk[4096];
        if (i % 20 == 5 && atomic_load(&f->world.newest) < last)
            atomic_fetch_add(&f->world.newest, 1);
        if (seed)
            poor_turn(f, seed);
        else
            turns(f, 1);
        ptrdiff_t got = tide_subscriber_read(r->sub, chunk, step);
        assert_true(got >= 0);
        tide_buf_put(&r->text, chunk, (size_t)got);
        /* No id is sent before all present values: a client that resumed from such an id would lack
         * some. */
        assert_true(count_of(r, "-XLM\"") || count_of(r, "id: ") == 0);
    }
}

static void expect_all(struct reader *r)
{
    struct tide_buf want;
    tide_buf_init(&want, 1 << 20);
    want_all(&want, FIRST, FIRST + LEDGERS);
    expect_numbers(r, (const char *)want.ptr);
    tide_buf_release(&want);
    assert_int_equal(count_of(r, "event: compliance"), 2);
    assert_int_equal(count_of(r, "event: open"), 1);
    assert_int_equal(count_of(r, "event: dropped"), 0);
}

static void present_values_are_sent_with_a_buffer_of_any_size(void **state)
{
    static const uint32_t sizes[] = { 1200, 1500, 2048, 3000, 4096, 16 << 10, 256 << 10 };
    struct fixture *f = *state;
    f->world.feeds = FEEDS;
    for (size_t i = 0; i < TIDE_COUNT(sizes); i++) {
        struct tide_stream_ask ask = everything(&f->world);
        struct reader r;
        atomic_store(&f->world.newest, FIRST);
        atomic_store(&f->world.wall_ms, (long long)closed_at(FIRST) * 1000);
        open_stream(f, sizes[i], 1 << 20);
        turns(f, 1);
        assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
        read_to_end(f, &r, NULL, i % 2 ? 700 : 4096);
        expect_all(&r);
        close_reader(&r);
        tide_event_stream_close(f->stream);
        f->stream = NULL;
    }
}

/* Prices of named assets are sent in the same way, in a page of their own. */
static void named_prices_are_sent_in_pieces(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_PRICE);
    struct reader r;
    f->world.feeds = FEEDS;
    open_stream(f, 1300, 1 << 20);
    turns(f, 1);
    ask.asset_count = TIDE_STREAM_NAMES_MAX;
    for (uint32_t i = 0; i < TIDE_STREAM_NAMES_MAX; i++) {
        char name[8];
        snprintf(name, sizeof name, "F%03u", 3 * i);
        tide_hot_symbol_of(&ask.assets[i], tide_slice_str(name));
    }
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    for (int i = 0; i < 100 && !is_at_end(&r, FIRST); i++) {
        turns(f, 1);
        reader_read(&r, 4096);
    }
    struct tide_buf want;
    tide_buf_init(&want, 1 << 16);
    for (uint32_t i = 0; i < TIDE_STREAM_NAMES_MAX; i++)
        tide_buf_putf(&want, "10-F%03u ", 3 * i);
    tide_buf_u8(&want, 0);
    expect_numbers(&r, (const char *)want.ptr);
    tide_buf_release(&want);
    close_reader(&r);
}

static void nothing_is_lost_without_memory(void **state)
{
    struct fixture *f = *state;
    f->world.feeds = FEEDS;
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    for (unsigned seed = 1; seed < 30; seed++) {
        struct tide_stream_ask ask = everything(&f->world);
        struct reader r;
        unsigned chance = seed;
        atomic_store(&f->world.newest, FIRST);
        atomic_store(&f->world.wall_ms, (long long)closed_at(FIRST) * 1000);
        turns(f, 2);
        assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
        read_to_end(f, &r, &chance, 1000);
        expect_all(&r);
        close_reader(&r);
    }
}

/* Collects the events "stale" and "fresh" in order: s, f, s, … */
static void staleness(struct reader *r, char *out, size_t size)
{
    size_t len = 0;
    for (const char *at = reader_text(r); (at = strstr(at, "event: ")); at++)
        if (len + 1 < size &&
            (strncmp(at + 7, "stale", 5) == 0 || strncmp(at + 7, "fresh", 5) == 0))
            out[len++] = at[7];
    out[len] = 0;
}

/* Even if allocations fail, "stale" is the first message of a subscriber. */
static void staleness_is_sent_before_anything_else(void **state)
{
    struct fixture *f = *state;
    char told[64];
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    for (unsigned seed = 1; seed < 60; seed++) {
        struct tide_stream_ask ask = everything(&f->world);
        struct reader r;
        unsigned chance = seed;
        turns(f, 2);
        assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
        turns(f, 4);
        reader_read(&r, 4096);
        atomic_store(&f->world.age_ms, 1000000);
        for (int i = 0; i < 200; i++) {
            if (i == 15)
                atomic_fetch_add(&f->world.newest, 1);
            poor_turn(f, &chance);
            reader_read(&r, 4096);
        }
        staleness(&r, told, sizeof told);
        assert_string_equal(told, "s");
        char next[32];
        snprintf(next, sizeof next, "\"%u-0\"", atomic_load(&f->world.newest));
        const char *stale = strstr(reader_text(&r), "event: stale"), *event = strstr(stale, next);
        assert_non_null(event);
        atomic_store(&f->world.age_ms, 0);
        for (int i = 0; i < 200; i++) {
            poor_turn(f, &chance);
            reader_read(&r, 4096);
        }
        staleness(&r, told, sizeof told);
        assert_string_equal(told, "sf");
        close_reader(&r);
    }
}

/* A client that does not read occupies all the memory. Others wait, and get all messages once it is
 * gone. */
static void present_values_wait_for_the_memory_of_all(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_EVENT);
    struct reader holder, r;
    struct tide_event_stream_stats stats;
    bool more;
    f->world.feeds = FEEDS;
    f->world.padding = 4000;
    open_stream(f, 64 << 10, 20 << 10);
    turns(f, 1);
    assert_int_equal(subscribe(f, &holder, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    atomic_fetch_add(&f->world.newest, 2);
    turns(f, 2);
    f->world.padding = 0;
    ask = everything(&f->world);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    for (int i = 0; i < 20; i++) {
        atomic_fetch_add(&f->world.mono_ms, 10);
        tide_event_stream_turn(f->stream, &more);
        tide_event_stream_stats(f->stream, &stats);
        assert_true(stats.buffered <= 20 << 10);
    }
    for (int i = 0; i < 100 && !is_at_end(&r, FIRST + 2); i++) {
        turns(f, 2);
        reader_read(&r, 4096);
    }
    assert_int_equal(count_of(&r, "event: price"), FEEDS + 2);
    assert_int_equal(count_of(&r, "event: compliance"), 2);
    tide_event_stream_stats(f->stream, &stats);
    assert_int_equal(stats.dropped[TIDE_DROPPED_MEMORY], 1);
    close_reader(&holder);
    close_reader(&r);
}

/* A client whose streams read a byte now and then, so that none counts as silent, occupies all the
 * memory. Another client gets its messages, and the first client's streams end with the reason. */
static void a_greedy_client_keeps_no_other_out(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_EVENT);
    struct reader greedy[8], r;
    struct tide_event_stream_stats stats;
    bool more;
    f->world.padding = 4000;
    open_stream(f, 64 << 10, 128 << 10);
    turns(f, 1);
    for (int i = 0; i < 8; i++)
        assert_int_equal(subscribe(f, &greedy[i], &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    atomic_fetch_add(&f->world.newest, 3);
    turns(f, 2);
    memcpy(ask.client_name, "192.0.2.2", 10);
    assert_int_equal(subscribe(f, &r, &ask, "1:10"), TIDE_STREAM_TAKEN);
    for (int i = 0; i < 200 && !r.over; i++) {
        char byte;
        atomic_fetch_add(&f->world.mono_ms, 20);
        tide_event_stream_turn(f->stream, &more);
        for (int g = 0; g < 8; g++)
            (void)tide_subscriber_read(greedy[g].sub, &byte, 1);
        reader_read(&r, 4096);
    }
    assert_false(r.over);
    expect_numbers(&r, "11-0 11-1 11-2 12-0 12-1 12-2 13-0 13-1 13-2 ");
    tide_event_stream_stats(f->stream, &stats);
    assert_in_range(stats.dropped[TIDE_DROPPED_MEMORY], 1, 7);
    for (int i = 0; i < 8; i++)
        close_reader(&greedy[i]);
    close_reader(&r);
}

/* A client that reads none of its present values is dropped, with the reason and without an id. */
static void a_slow_start_is_dropped(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = everything(&f->world);
    struct reader r;
    f->world.feeds = FEEDS;
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    for (int i = 0; i < 15; i++)
        turns(f, 1);
    reader_read(&r, 4096);
    assert_true(r.over);
    assert_int_equal(count_of(&r, "\"reason\":\"slow\""), 1);
    assert_int_equal(count_of(&r, "id: "), 0);
    close_reader(&r);
}

/* While a page of prices cannot be read, or the database lacks ledgers that were already sent, the
 * subscriber waits. Then it continues. */
static void present_values_wait_for_the_database(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_PRICE);
    struct reader r;
    f->world.feeds = FEEDS;
    open_stream(f, 2048, 1 << 20);
    turns(f, 1);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    atomic_store(&f->world.away, true);
    for (int i = 0; i < 5; i++) {
        turns(f, 1);
        reader_read(&r, 4096);
    }
    atomic_store(&f->world.away, false);
    atomic_store(&f->world.newest, FIRST - 2);
    for (int i = 0; i < 5; i++) {
        turns(f, 1);
        reader_read(&r, 4096);
    }
    assert_int_equal(count_of(&r, "id: "), 0);
    atomic_store(&f->world.newest, FIRST);
    for (int i = 0; i < 100 && !is_at_end(&r, FIRST); i++) {
        turns(f, 1);
        reader_read(&r, 4096);
    }
    assert_int_equal(count_of(&r, "event: price"), FEEDS + 2);
    char told[16];
    staleness(&r, told, sizeof told);
    assert_true(told[0] == 's' && told[strlen(told) - 1] == 'f');
    close_reader(&r);
}

int test_live_room(void)
{
    const struct CMUnitTest tests[] = {
        STREAM_TEST(present_values_are_sent_with_a_buffer_of_any_size),
        STREAM_TEST(named_prices_are_sent_in_pieces),
        STREAM_TEST(nothing_is_lost_without_memory),
        STREAM_TEST(staleness_is_sent_before_anything_else),
        STREAM_TEST(present_values_wait_for_the_memory_of_all),
        STREAM_TEST(a_greedy_client_keeps_no_other_out),
        STREAM_TEST(a_slow_start_is_dropped),
        STREAM_TEST(present_values_wait_for_the_database),
    };
    return cmocka_run_group_tests_name("live_room", tests, NULL, NULL);
}
