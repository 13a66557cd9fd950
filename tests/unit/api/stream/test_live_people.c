/* Compliance in the stream: changes by a ledger, and changes by time alone. */
#include "tests/unit/api/stream/live_world.h"

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

/* Expects "ledger class=reason" for each compliance message, with "-" for a standing sent at the
 * beginning. */
static void expect_standings(struct reader *r, const char *want)
{
    char got[4096] = "";
    const char *end;
    for (const char *at = reader_text(r); (end = strstr(at, "\n\n")); at = end + 2) {
        const char *reason = strstr(at, "\"reasonCode\":\"");
        size_t len = strlen(got);
        struct stream_position position = { 0 };
        uint16_t deployment;
        if (!reason || reason > end)
            continue;
        if (strncmp(at, "id: ", 4) == 0)
            assert_int_equal(stream_position_parse(&position, &deployment,
                                                   tide_slice_of(at + 4, strcspn(at + 4, "\n"))),
                             TIDE_OK);
        char class = position.ledger == 0 ? '-' : position.class == STREAM_TIME ? 't' : 'c';
        snprintf(got + len, sizeof got - len, "%u%c=%.*s ", position.ledger, class,
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
    advance_ledgers(f, 4);
    reader_read(&r, 4096);
    expect_standings(&r, "0-=no_record 0-=no_record 12c=compliant ");
    /* Time passes without a new ledger. */
    atomic_store(&w->wall_ms, (long long)(closed_at(14) + 2) * 1000);
    turns(f, 2);
    reader_read(&r, 4096);
    expect_standings(&r, "0-=no_record 0-=no_record 12c=compliant ");
    atomic_store(&w->wall_ms, (long long)(closed_at(14) + 3) * 1000);
    turns(f, 2);
    reader_read(&r, 4096);
    expect_standings(&r, "0-=no_record 0-=no_record 12c=compliant 14t=lapsed ");
    advance_ledgers(f, 8);
    reader_read(&r, 4096);
    expect_standings(&r, "0-=no_record 0-=no_record 12c=compliant 14t=lapsed 17c=compliant "
                         "18c=frozen 19c=compliant 21c=jurisdiction ");
    close_reader(&r);
    /* Resuming from each id gives the same messages, read from history. */
    assert_int_equal(subscribe(f, &r, &ask, "1:10"), TIDE_STREAM_TAKEN);
    turns(f, 100);
    reader_read(&r, 4096);
    expect_standings(&r, "12c=compliant 14t=lapsed 17c=compliant 18c=frozen "
                         "19c=compliant 21c=jurisdiction ");
    close_reader(&r);
}

/* After resuming from any id of a stream, the messages are those that followed that id. */
static void compliance_resumes_from_any_position(void **state)
{
    struct fixture *f = *state;
    struct world *w = &f->world;
    struct reader r;
    struct tide_stream_ask ask = ask_for(15);
    ask.address_count = 2;
    memcpy(ask.addresses, w->who, sizeof w->who);
    fact(w, 12, closed_at(14) + 2, false);
    fact(w, 15, closed_at(16), false); /* at a ledger's close; a second later */
    fact(w, 17, closed_at(17) - 1, false);
    fact(w, 18, closed_at(20) + 1, true);
    fact(w, 19, closed_at(20) + 1, false);
    open_stream(f, 64 << 10, 1 << 20);
    advance_ledgers(f, 15);
    turns(f, 2);
    assert_int_equal(subscribe(f, &r, &ask, "1:10"), TIDE_STREAM_TAKEN);
    turns(f, 100);
    reader_read(&r, 4096);
    char *text = strdup(reader_text(&r));
    int count = 0;
    assert_non_null(text);
    close_reader(&r);
    for (char *at = text; (at = strstr(at, "id: ")); at += 4) {
        char after[STREAM_POSITION_TEXT];
        snprintf(after, sizeof after, "%.*s", (int)strcspn(at + 4, "\n"), at + 4);
        const char *rest = strstr(at, "\n\n") + 2;
        assert_int_equal(subscribe(f, &r, &ask, after), TIDE_STREAM_TAKEN);
        turns(f, 100);
        reader_read(&r, 4096);
        const char *got = strstr(reader_text(&r), "\n\n") + 2; /* behind the greeting */
        if (strcmp(got, rest) != 0)
            fail_msg("after %s\nwant %.300s\ngot  %.300s", after, rest, got);
        close_reader(&r);
        turns(f, 1);
        count++;
    }
    free(text);
    assert_true(count > 90);
}

static void a_lapse_is_sent_once_when_its_ledger_is_late(void **state)
{
    struct fixture *f = *state;
    struct world *w = &f->world;
    struct reader r;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_COMPLIANCE);
    char id[STREAM_POSITION_TEXT], after[STREAM_POSITION_TEXT];
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
    close_reader(&r);
    assert_int_equal(subscribe(f, &r, &ask, after), TIDE_STREAM_TAKEN);
    turns(f, 10);
    reader_read(&r, 4096);
    expect_standings(&r, "");
    close_reader(&r);
}

/* A stale index never says that an address is compliant. */
static void a_stale_index_tells_no_standing(void **state)
{
    struct fixture *f = *state;
    struct world *w = &f->world;
    struct reader r;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_COMPLIANCE);
    ask.address_count = 1;
    ask.addresses[0] = w->who[0];
    fact(w, 9, closed_at(900), false);
    open_stream(f, 64 << 10, 1 << 20);
    atomic_store(&w->age_ms, 600000);
    turns(f, 2);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    turns(f, 4);
    reader_read(&r, 4096);
    expect_standings(&r, "");
    assert_non_null(strstr(reader_text(&r), "event: open"));
    assert_non_null(strstr(reader_text(&r), "event: stale"));
    atomic_store(&w->age_ms, 0);
    turns(f, 4);
    reader_read(&r, 4096);
    assert_non_null(strstr(reader_text(&r), "event: fresh"));
    expect_standings(&r, "0-=compliant ");
    close_reader(&r);
}

/* While an entry of the registry cannot be decoded, those who follow compliance are told so, and a
 * new subscriber gets no standing. Others notice nothing. */
static void an_undecodable_registry_is_reported(void **state)
{
    static const char told[] =
        "event: stale\ndata: {\"ledger\":\"11\",\"reason\":\"incomplete\"}\n\n";
    struct fixture *f = *state;
    struct world *w = &f->world;
    struct reader r, late, other;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_COMPLIANCE | TIDE_TOPIC_LEDGER);
    struct tide_stream_ask ledgers = ask_for(TIDE_TOPIC_LEDGER);
    ask.address_count = 1;
    ask.addresses[0] = w->who[0];
    fact(w, 9, closed_at(900), false);
    open_stream(f, 64 << 10, 1 << 20);
    turns(f, 2);
    assert_int_equal(subscribe(f, &r, &ask, NULL), TIDE_STREAM_TAKEN);
    assert_int_equal(subscribe(f, &other, &ledgers, NULL), TIDE_STREAM_TAKEN);
    turns(f, 4);
    atomic_store(&w->registry_undecoded, true);
    advance_ledgers(f, 1);
    assert_int_equal(subscribe(f, &late, &ask, NULL), TIDE_STREAM_TAKEN);
    advance_ledgers(f, 2);
    reader_read(&r, 4096);
    reader_read(&late, 4096);
    reader_read(&other, 4096);
    expect_standings(&r, "0-=compliant ");
    const char *stale = strstr(reader_text(&r), told);
    assert_non_null(stale);
    assert_true(stale < strstr(reader_text(&r), "\"n\":\"11\"")); /* before the ledger */
    assert_null(strstr(stale + 1, "event: stale"));
    expect_standings(&late, "");
    assert_non_null(strstr(reader_text(&late), "\"reason\":\"incomplete\""));
    expect_numbers(&r, "11 12 13 ");
    expect_numbers(&other, "11 12 13 ");
    assert_null(strstr(reader_text(&other), "event: stale"));
    atomic_store(&w->age_ms, 600000); /* another reason is told too */
    turns(f, 4);
    atomic_store(&w->age_ms, 0);
    turns(f, 4);
    reader_read(&r, 4096);
    stale = strstr(reader_text(&r), "\"reason\":\"indexer\"");
    assert_non_null(stale);
    assert_non_null(strstr(stale, "\"reason\":\"incomplete\""));
    assert_null(strstr(reader_text(&r), "event: fresh"));
    atomic_store(&w->registry_undecoded, false);
    turns(f, 4);
    reader_read(&r, 4096);
    reader_read(&late, 4096);
    assert_non_null(strstr(reader_text(&r), "event: fresh\n"));
    expect_standings(&late, "0-=compliant ");
    close_reader(&r);
    close_reader(&late);
    close_reader(&other);
}

int test_live_people(void)
{
    const struct CMUnitTest tests[] = {
        STREAM_TEST(compliance_changes_by_ledger_and_by_time),
        STREAM_TEST(compliance_resumes_from_any_position),
        STREAM_TEST(a_lapse_is_sent_once_when_its_ledger_is_late),
        STREAM_TEST(a_stale_index_tells_no_standing),
        STREAM_TEST(an_undecodable_registry_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
