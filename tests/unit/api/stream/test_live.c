/* The service behind /api/stream on a source of the test: positions, resuming, slow readers,
 * missing data. */
#include "tests/unit/api/stream/live_world.h"

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
        struct stream_position position;
        uint16_t deployment;
        char text[STREAM_POSITION_TEXT];
        assert_int_equal(stream_position_parse(&position, &deployment, tide_slice_str(texts[i])),
                         TIDE_OK);
        assert_int_equal(stream_position_text(text, deployment, &position), strlen(texts[i]));
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
        "1:0:e:1-0-0",
        "1:0:p:BTC",
        "1:0:c:GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF",
        "1:-5",
        " 1:5",
        "1:5 ",
        "1:812:t:GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF",
    };
    for (size_t i = 0; i < TIDE_COUNT(texts); i++) {
        struct stream_position position;
        uint16_t deployment;
        if (stream_position_parse(&position, &deployment, tide_slice_str(texts[i])) == TIDE_OK)
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
    advance_ledgers(f, 2);
    reader_read(&r, 7);
    expect_numbers(
        &r, "10-BTC 10-XLM 11-0 11-1 11-2 11-BTC 11-XLM 11 12-0 12-1 12-2 12-BTC 12-XLM 12 ");
    close_reader(&r);
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
    advance_ledgers(f, 2);
    struct reader *const all[] = { &kind, &pool, &party, &none, &asset };
    static const char *const want[] = { "11-1 12-1 ", "11-2 12-2 ", "11-0 12-0 ", "",
                                        "10-XLM 11-XLM 12-XLM " };
    for (size_t i = 0; i < TIDE_COUNT(all); i++) {
        reader_read(all[i], 4096);
        expect_numbers(all[i], want[i]);
        close_reader(all[i]);
    }
}

/* Reads some bytes, drops the connection and resumes from the last id, optionally at another node.
 * In the end the reader has every event once. */
static void resume_all(struct fixture *f, unsigned seed, bool other_node)
{
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER | TIDE_TOPIC_EVENT | TIDE_TOPIC_PRICE);
    struct tide_buf want, got;
    char after[STREAM_POSITION_TEXT] = "1:10";
    tide_buf_init(&want, 1 << 20);
    tide_buf_init(&got, 1 << 20);
    whole(&want, 11, 60);
    for (int tries = 0; tries < 2000 && strcmp(after, "1:60") != 0; tries++) {
        struct reader r;
        char id[STREAM_POSITION_TEXT], chunk[700];
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
        close_reader(&r);
        turns(f, 1);
        if (other_node && tries % 7 == 0) {
            tide_event_stream_close(f->stream);
            open_stream(f, 2048 + STREAM_POSITION_TEXT, 1 << 20);
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
    advance_ledgers(f, 50);
    resume_all(f, 7, false);
}

static void resuming_on_another_node_is_exact(void **state)
{
    struct fixture *f = *state;
    f->world.events_a_page = 2; /* pages end within ledgers */
    open_stream(f, 2048, 1 << 20);
    turns(f, 1);
    advance_ledgers(f, 50);
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
        snprintf(ask.client_name, sizeof ask.client_name, "%zu", i);
        assert_int_equal(subscribe(f, &all[i], &ask, "1:10"), TIDE_STREAM_TAKEN);
    }
    f->world.reads = 0;
    turns(f, 1000);
    assert_in_range(f->world.reads, 50, 52);
    for (size_t i = 0; i < TIDE_COUNT(all); i++) {
        char id[STREAM_POSITION_TEXT];
        reader_read(&all[i], 4096);
        assert_string_equal(last_id(&all[i], id), "1:210");
        close_reader(&all[i]);
    }
}

static void a_slow_reader_is_dropped_others_are_not(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER | TIDE_TOPIC_EVENT);
    struct reader slow, quick;
    struct tide_event_stream_stats stats;
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    assert_int_equal(subscribe(f, &slow, &ask, NULL), TIDE_STREAM_TAKEN);
    assert_int_equal(subscribe(f, &quick, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    for (int i = 0; i < 60; i++) {
        advance_ledgers(f, 1);
        reader_read(&quick, 4096);
        tide_event_stream_stats(f->stream, &stats);
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
    tide_event_stream_stats(f->stream, &stats);
    assert_int_equal(stats.dropped[TIDE_DROPPED_SLOW], 1);
    /* The reader resumes where it was dropped. */
    char id[STREAM_POSITION_TEXT], after[STREAM_POSITION_TEXT];
    memcpy(after, last_id(&slow, id), sizeof after);
    close_reader(&slow);
    assert_int_equal(subscribe(f, &slow, &ask, after), TIDE_STREAM_TAKEN);
    for (int i = 0; i < 60; i++) {
        turns(f, 4);
        reader_read(&slow, 4096);
    }
    assert_string_equal(last_id(&slow, id), "1:70");
    close_reader(&slow);
    close_reader(&quick);
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
    char id[STREAM_POSITION_TEXT];
    assert_string_equal(last_id(&r, id), "1:500");
    close_reader(&r);
}

static void the_fullest_goes_when_all_are_full(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_EVENT);
    struct reader full, quick;
    struct tide_event_stream_stats stats;
    f->world.padding = 4000;
    open_stream(f, 256 << 10, 64 << 10);
    turns(f, 1);
    assert_int_equal(subscribe(f, &full, &ask, NULL), TIDE_STREAM_TAKEN);
    assert_int_equal(subscribe(f, &quick, &ask, NULL), TIDE_STREAM_TAKEN);
    for (int i = 0; i < 8; i++) {
        advance_ledgers(f, 1);
        reader_read(&quick, 4096);
    }
    tide_event_stream_stats(f->stream, &stats);
    assert_int_equal(stats.dropped[TIDE_DROPPED_MEMORY], 1);
    assert_true(stats.buffered < 64 << 10);
    reader_read(&full, 4096);
    assert_true(full.over);
    assert_non_null(strstr(reader_text(&full), "\"reason\":\"memory\""));
    assert_false(quick.over);
    close_reader(&full);
    close_reader(&quick);
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
        snprintf(ask.client_name, sizeof ask.client_name, "192.0.2.%zu", i / 8);
        assert_int_equal(subscribe(f, &all[i], &ask, NULL), TIDE_STREAM_TAKEN);
        if (i == 7)
            assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_CLIENT_FULL);
    }
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_FULL);
    close_reader(&all[0]);
    turns(f, 1);
    memcpy(ask.client_name, "192.0.2.0", 10);
    assert_int_equal(subscribe(f, &all[0], &ask, NULL), TIDE_STREAM_TAKEN);
    for (size_t i = 0; i < 64; i++)
        close_reader(&all[i]);
}

static void closed_streams_keep_no_other_out(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER);
    struct reader r;
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    for (int i = 0; i < 16; i++) {
        assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
        close_reader(&r);
    }
    for (int i = 0; i < 100; i++)
        assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_CLIENT_FULL);
    memcpy(ask.client_name, "192.0.2.2", 10);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    close_reader(&r);
    turns(f, 1);
    memcpy(ask.client_name, "192.0.2.1", 10);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    close_reader(&r);
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
        { "nonsense", TIDE_STREAM_BAD_POSITION }, { "2:4990", TIDE_STREAM_OTHER_DEPLOYMENT },
        { "1:3999", TIDE_STREAM_TOO_OLD },        { "1:4098", TIDE_STREAM_TOO_OLD },
        { "1:5721", TIDE_STREAM_AHEAD },
    };
    for (size_t i = 0; i < TIDE_COUNT(table); i++)
        assert_int_equal(subscribe(f, &r, &ask, table[i].after), table[i].want);
    assert_int_equal(subscribe(f, &r, &ask, "1:4099"), TIDE_STREAM_TAKEN);
    close_reader(&r);
    /* A client whose id is slightly ahead of this node is accepted, and waits until the node has
     * that ledger. */
    assert_int_equal(subscribe(f, &r, &ask, "1:5002"), TIDE_STREAM_TAKEN);
    advance_ledgers(f, 1);
    reader_read(&r, 4096);
    expect_numbers(&r, "");
    assert_non_null(strstr(reader_text(&r),
                           "event: open\ndata: {\"ledger\":\"5002\",\"resumed\":true}\n\n"
                           "event: stale\ndata: "
                           "{\"ledger\":\"5001\",\"reason\":\"behind\"}\n\n"));
    advance_ledgers(f, 2);
    reader_read(&r, 4096);
    expect_numbers(&r, "5003 ");
    assert_non_null(strstr(reader_text(&r), "event: fresh\n"));
    close_reader(&r);
}

static void without_the_database_subscribers_stay_and_are_warned(void **state)
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
    advance_ledgers(f, 3);
    reader_read(&r, 4096);
    assert_non_null(strstr(reader_text(&r), "event: fresh\n"));
    expect_numbers(&r, "11 12 13 ");
    close_reader(&r);
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
    advance_ledgers(f, 100);
    reader_read(&r, 4096);
    assert_true(r.over);
    assert_non_null(strstr(reader_text(&r), "\"reason\":\"gap\""));
    close_reader(&r);
}

/* A subscriber to events cannot resume across ledgers whose events are archived. A subscriber to
 * ledgers can. */
static void archived_events_are_not_skipped_in_silence(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask events = ask_for(TIDE_TOPIC_EVENT), ledgers = ask_for(TIDE_TOPIC_LEDGER);
    struct tide_event_stream_stats stats;
    struct reader r, behind, other;
    atomic_store(&f->world.newest, 500);
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    assert_int_equal(subscribe(f, &behind, &events, "1:90"), TIDE_STREAM_TAKEN);
    assert_int_equal(subscribe(f, &other, &ledgers, "1:490"), TIDE_STREAM_TAKEN);
    turns(f, 4); /* its buffer is full long before 200 */
    f->world.archived_from = 100;
    f->world.archived_to = 199;
    turns(f, 20);
    tide_event_stream_stats(f->stream, &stats);
    assert_int_equal(stats.archived_from, 100);
    assert_int_equal(stats.archived_to, 199);
    static const struct {
        const char *after;
        enum tide_stream_refusal want;
    } table[] = {
        { "1:99", TIDE_STREAM_ARCHIVED },
        { "1:1", TIDE_STREAM_ARCHIVED },
        { "1:199:e:1-0-0", TIDE_STREAM_ARCHIVED },
        { "1:198", TIDE_STREAM_ARCHIVED },
    };
    for (size_t i = 0; i < TIDE_COUNT(table); i++)
        assert_int_equal(subscribe(f, &r, &events, table[i].after), table[i].want);
    assert_int_equal(subscribe(f, &r, &events, "1:199"), TIDE_STREAM_TAKEN);
    close_reader(&r);
    assert_int_equal(subscribe(f, &r, &ledgers, "1:99"), TIDE_STREAM_TAKEN);
    close_reader(&r);
    reader_read(&other, 4096);
    assert_false(other.over);
    expect_numbers(&other, "491 492 493 494 495 496 497 498 499 500 ");
    reader_read(&behind, 4096);
    assert_true(behind.over);
    assert_non_null(strstr(reader_text(&behind), "\"reason\":\"archived\""));
    assert_non_null(strstr(reader_text(&behind), "of the ledgers 100 to 199\""));
    close_reader(&behind);
    close_reader(&other);
}

/* A client that resumes again and again from far back is not served before one that waits. */
static void repeated_resumes_take_no_turns_of_others(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER), greedy = ask;
    struct reader r, again[4];
    char id[STREAM_POSITION_TEXT];
    open_stream(f, 256 << 10, 8 << 20);
    atomic_store(&f->world.newest, 410);
    turns(f, 2);
    snprintf(greedy.client_name, sizeof greedy.client_name, "198.51.100.7");
    assert_int_equal(subscribe(f, &r, &ask, "1:210"), TIDE_STREAM_TAKEN);
    for (size_t i = 0; i < TIDE_COUNT(again); i++)
        assert_int_equal(subscribe(f, &again[i], &greedy, "1:10"), TIDE_STREAM_TAKEN);
    /* The waiting reader needs 50 pages and gets every second turn. */
    for (int turn = 0; turn < 110; turn++) {
        size_t i = (size_t)turn % TIDE_COUNT(again);
        turns(f, 1);
        close_reader(&again[i]);
        assert_int_equal(subscribe(f, &again[i], &greedy, "1:10"), TIDE_STREAM_TAKEN);
    }
    reader_read(&r, 4096);
    assert_string_equal(last_id(&r, id), "1:410");
    close_reader(&r);
    for (size_t i = 0; i < TIDE_COUNT(again); i++)
        close_reader(&again[i]);
}

static void another_deployment_ends_subscriptions(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER);
    struct reader r, fresh;
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    advance_ledgers(f, 1);
    reader_read(&r, 4096);
    f->world.deployment = 2;
    turns(f, 4);
    reader_read(&r, 4096);
    assert_true(r.over);
    expect_numbers(&r, "11 ");
    assert_non_null(strstr(reader_text(&r), "\"reason\":\"deployment\""));
    close_reader(&r);
    assert_int_equal(subscribe(f, &fresh, &ask, "1:11"), TIDE_STREAM_OTHER_DEPLOYMENT);
    assert_int_equal(subscribe(f, &fresh, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    advance_ledgers(f, 1);
    reader_read(&fresh, 4096);
    expect_numbers(&fresh, "12 ");
    close_reader(&fresh);
}

struct newcomer {
    struct fixture *f;
    struct reader reader;
    enum tide_stream_refusal refusal;
};

static void resume_now(void *self)
{
    struct newcomer *n = self;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER);
    n->refusal = subscribe(n->f, &n->reader, &ask, "1:10");
}

/* The stream has listed its subscribers and has not seen the new deployment. */
static void a_client_that_resumes_during_the_change_is_told(void **state)
{
    struct fixture *f = *state;
    struct newcomer n = { .f = f };
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    f->world.deployment = 2;
    f->world.during_head = resume_now;
    f->world.during_head_self = &n;
    advance_ledgers(f, 2);
    assert_int_equal(n.refusal, TIDE_STREAM_TAKEN);
    reader_read(&n.reader, 4096);
    assert_true(n.reader.over);
    expect_numbers(&n.reader, "");
    assert_non_null(strstr(reader_text(&n.reader), "\"reason\":\"deployment\""));
    close_reader(&n.reader);
}

static void a_silent_indexer_is_reported(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER);
    struct reader r, late;
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    atomic_store(&f->world.age_ms, 60000);
    turns(f, 4);
    reader_read(&r, 4096);
    assert_null(strstr(reader_text(&r), "event: stale"));
    atomic_store(&f->world.age_ms, 60001);
    turns(f, 4);
    reader_read(&r, 4096);
    const char *told = strstr(reader_text(&r), "event: stale\ndata: "
                                               "{\"ledger\":\"10\",\"reason\":\"indexer\"}\n\n");
    assert_non_null(told);
    assert_null(strstr(told + 1, "event: stale"));
    /* A late replica still advances. A new subscriber gets the stale message at once. */
    advance_ledgers(f, 1);
    reader_read(&r, 4096);
    expect_numbers(&r, "11 ");
    assert_int_equal(subscribe(f, &late, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    reader_read(&late, 4096);
    assert_non_null(strstr(reader_text(&late), "event: open"));
    assert_non_null(strstr(reader_text(&late), "event: stale"));
    atomic_store(&f->world.age_ms, 0);
    turns(f, 4);
    reader_read(&r, 4096);
    assert_non_null(strstr(reader_text(&r), "event: fresh\ndata: {\"ledger\":\"11\"}\n\n"));
    close_reader(&r);
    close_reader(&late);
}

/* The node changes to a database server that lacks the newest ledgers. */
static void a_head_that_steps_back_is_reported(void **state)
{
    struct fixture *f = *state;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER);
    struct reader r, late;
    open_stream(f, 4096, 1 << 20);
    turns(f, 1);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    advance_ledgers(f, 3);
    atomic_store(&f->world.newest, 11);
    turns(f, 4);
    reader_read(&r, 4096);
    expect_numbers(&r, "11 12 13 ");
    const char *told = strstr(reader_text(&r), "event: stale\ndata: "
                                               "{\"ledger\":\"11\",\"reason\":\"behind\"}\n\n");
    assert_non_null(told);
    assert_int_equal(subscribe(f, &late, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 2);
    advance_ledgers(f, 1);
    reader_read(&late, 4096);
    expect_numbers(&late, "12 "); /* read from the database, not from the ring of recent ledgers */
    assert_null(strstr(reader_text(&late), "event: stale"));
    advance_ledgers(f, 2);
    reader_read(&r, 4096);
    expect_numbers(&r, "11 12 13 14 ");
    assert_non_null(strstr(reader_text(&r), "event: fresh\ndata: {\"ledger\":\""));
    close_reader(&r);
    close_reader(&late);
}

int test_live(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_read_as_written),
        cmocka_unit_test(other_texts_are_no_places),
        STREAM_TEST(what_is_new_comes_once_and_in_order),
        STREAM_TEST(a_filter_lets_pass_what_fits),
        STREAM_TEST(resuming_is_exact),
        STREAM_TEST(resuming_on_another_node_is_exact),
        STREAM_TEST(many_at_one_place_are_read_for_once),
        STREAM_TEST(a_slow_reader_is_dropped_others_are_not),
        STREAM_TEST(a_reader_that_drains_is_not_slow),
        STREAM_TEST(the_fullest_goes_when_all_are_full),
        STREAM_TEST(limits_are_kept),
        STREAM_TEST(closed_streams_keep_no_other_out),
        STREAM_TEST(places_that_cannot_be_gone_on_from_are_refused),
        STREAM_TEST(without_the_database_subscribers_stay_and_are_warned),
        STREAM_TEST(a_silent_indexer_is_reported),
        STREAM_TEST(a_head_that_steps_back_is_reported),
        STREAM_TEST(another_deployment_ends_subscriptions),
        STREAM_TEST(a_client_that_resumes_during_the_change_is_told),
        STREAM_TEST(repeated_resumes_take_no_turns_of_others),
        STREAM_TEST(a_gap_ends_a_subscription),
        STREAM_TEST(archived_events_are_not_skipped_in_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
