/* A lake in a folder: order, first and last ledgers, the tip, gaps, damage. (label: threads) */
#include "tests/unit/indexer/source/lake_fixture.h"

#include <unistd.h>

struct fixture {
    char folder[64];
    struct tide_config config;
    struct tide_source_options options;
    struct tide_source source;
    struct tide_err err;
};

static struct tide_buf plain;

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    make_folder(f->folder);
    tide_config_defaults(&f->config);
    snprintf(f->config.lake, sizeof f->config.lake, "file://%s/", f->folder);
    f->options.config = &f->config;
    f->options.passphrase = "here";
    tide_buf_init(&plain, 64u << 20);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    if (f->source.ops)
        f->source.ops->close(f->source.self);
    remove_folder(f->folder);
    tide_buf_release(&plain);
    free(f);
    return 0;
}

static void put_object(struct fixture *f, const char *key, uint32_t from, uint32_t to, uint32_t pad)
{
    tide_buf_reset(&plain);
    put_batch(&plain, from, to, from, to, pad);
    write_packed(f->folder, key, tide_buf_view(&plain));
}

static void open_lake(struct fixture *f)
{
    if (tide_source_open(&f->source, &f->options, &f->err))
        fail_msg("%s", f->err.text);
}

static void expect_drain(struct fixture *f, tide_status want, uint32_t count, uint32_t last)
{
    uint32_t got_last = 0, got_count = 0;
    tide_status status = drain(&f->source, &got_count, &got_last, &f->err);
    if (status != want || got_count != count || (count && got_last != last))
        fail_msg("status %s, %u ledgers to %u: %s", tide_status_name(status), got_count, got_last,
                 f->err.text);
}

/* An object that was asked for ahead, before it was there, ends one round. The next one finds it. */
static void expect_drain_through(struct fixture *f, uint32_t last)
{
    uint32_t got_last = 0, got_count;
    for (int i = 0; i < 8 && got_last < last; i++)
        assert_int_equal(drain(&f->source, &got_count, &got_last, &f->err), TIDE_E_EOF);
    assert_int_equal(got_last, last);
}

static void batches_are_cut_into_ledgers(void **state)
{
    struct fixture *f = *state;
    put_object(f, "FFFFFFFF--0-15/FFFFFFFF--0-7.xdr.zst", 2, 7, 3);
    put_object(f, "FFFFFFFF--0-15/FFFFFFF7--8-15.xdr.zst", 8, 15, 20000);
    put_object(f, "FFFFFFEF--16-31/FFFFFFEF--16-23.xdr.zstd", 16, 23, 0);
    open_lake(f);
    uint32_t first = 0, last = 0;
    assert_int_equal(f->source.ops->range(f->source.self, &first, &last, &f->err), TIDE_OK);
    assert_int_equal(first, 2);
    assert_int_equal(last, 23);
    expect_drain(f, TIDE_E_EOF, 22, 23);
    assert_false(f->source.ops->finite(f->source.self));
    put_object(f, "FFFFFFEF--16-31/FFFFFFE7--24-31.xdr.zst", 24, 31, 1);
    expect_drain(f, TIDE_E_EOF, 8, 31);
    assert_int_equal(f->source.ops->seek(f->source.self, 5, 9, &f->err), TIDE_OK);
    expect_drain(f, TIDE_E_EOF, 5, 9);
    assert_true(f->source.ops->finite(f->source.self));
}

/* Good ledgers before the damage are given, then the error names the damaged one. */
static void damage_behind_good_ledgers_is_named(void **state)
{
    struct fixture *f = *state;
    tide_buf_reset(&plain);
    put_batch(&plain, 8, 15, 8, 15, 20000);
    size_t at = 12 + 5 * (plain.len - 12) / 8; /* the sixth */
    plain.ptr[at + 3] = 9;                     /* no such LedgerCloseMeta */
    write_packed(f->folder, "FFFFFFF7--8-15.xdr.zst", tide_buf_view(&plain));
    open_lake(f);
    expect_drain(f, TIDE_E_UNKNOWN, 5, 12);
    assert_non_null(strstr(f->err.text, "FFFFFFF7--8-15.xdr.zst: ledger 13"));
}

static void one_ledger_objects_go_without_a_walk(void **state)
{
    struct fixture *f = *state;
    f->config.lake_batches_per_partition = 5; /* not used: the names say 64000 */
    put_object(f, "FFFFFFFF--0-63999/FFFFFFFD--2.xdr.zst", 2, 2, 30000);
    put_object(f, "FFFFFFFF--0-63999/FFFFFFFC--3.xdr.zst", 3, 3, 1);
    open_lake(f);
    expect_drain(f, TIDE_E_EOF, 2, 3);
}

static void a_hole_is_named(void **state)
{
    struct fixture *f = *state;
    put_object(f, "FFFFFFFD--2.xdr.zst", 2, 2, 0);
    put_object(f, "FFFFFFFC--3.xdr.zst", 3, 3, 0);
    put_object(f, "FFFFFFF0--15.xdr.zst", 15, 15, 0);
    f->config.stop_at_end = true;
    open_lake(f);
    expect_drain(f, TIDE_E_MISSING, 2, 3);
    assert_non_null(strstr(f->err.text, "FFFFFFFB--4.xdr.zst"));
    assert_non_null(strstr(f->err.text, "ledger 15 is there"));
    put_object(f, "FFFFFFFB--4.xdr.zst", 4, 4, 0);
    expect_drain(f, TIDE_E_MISSING, 1, 4);
}

static void expect_trouble(struct fixture *f, const char *text, uint32_t ahead)
{
    char said[TIDE_ERR_TEXT_MAX];
    bool any = f->source.ops->trouble(f->source.self, said, sizeof said) > 0;
    if (any != (text != NULL) || (text && !strstr(said, text)))
        fail_msg("trouble: %s", said);
    assert_int_equal(f->source.ops->ahead(f->source.self), ahead);
}

/* An object that is written in place is seen before all of it is there. */
static void an_unfinished_object_is_waited_for(void **state)
{
    struct fixture *f = *state;
    put_object(f, "FFFFFFFD--2.xdr.zst", 2, 2, 0);
    write_file(f->folder, "FFFFFFFC--3.xdr.zst", tide_slice_str(""));
    open_lake(f);
    for (int i = 0; i < 3; i++)
        expect_drain(f, TIDE_E_IO, i == 0, 2);
    expect_trouble(f, "FFFFFFFC--3.xdr.zst", 0);
    put_object(f, "FFFFFFFC--3.xdr.zst", 3, 3, 0);
    expect_drain(f, TIDE_E_EOF, 1, 3);
    expect_trouble(f, NULL, 0);
    write_file(f->folder, "FFFFFFFB--4.xdr.zst", tide_slice_str(""));
    f->config.stop_at_end = true;
    expect_drain(f, TIDE_E_DECODE, 0, 0);
}

/* A mirror brings the newest objects first: names count down. */
static void a_hole_is_waited_for(void **state)
{
    struct fixture *f = *state;
    put_object(f, "FFFFFFFD--2.xdr.zst", 2, 2, 0);
    put_object(f, "FFFFFFF9--6.xdr.zst", 6, 6, 0);
    open_lake(f);
    expect_trouble(f, NULL, 0);
    for (int i = 0; i < 3; i++)
        expect_drain(f, TIDE_E_IO, i == 0, 2);
    expect_trouble(f, "ledger 3 is missing, but the object of ledger 6 is there", 6);
    put_object(f, "FFFFFFFA--5.xdr.zst", 5, 5, 0);
    expect_drain(f, TIDE_E_IO, 0, 0);
    put_object(f, "FFFFFFFB--4.xdr.zst", 4, 4, 0);
    put_object(f, "FFFFFFFC--3.xdr.zst", 3, 3, 0);
    expect_drain_through(f, 6);
    expect_trouble(f, NULL, 0);
}

static void the_configuration_of_the_lake_is_checked(void **state)
{
    struct fixture *f = *state;
    const char json[] = "{\"networkPassphrase\":\"here\",\"compression\":\"zstd\","
                        "\"ledgersPerBatch\":8,\"batchesPerPartition\":1}";
    write_file(f->folder, ".config.json", tide_slice_str(json));
    put_object(f, "FFFFFFF7--8-15.xdr.zst", 8, 15, 0);
    open_lake(f);
    assert_int_equal(f->source.ops->seek(f->source.self, 10, 0, &f->err), TIDE_OK);
    expect_drain(f, TIDE_E_EOF, 6, 15);
    struct tide_source other;
    f->options.passphrase = "elsewhere";
    assert_int_equal(tide_lake_open(&other, &f->options, &f->err), TIDE_E_CHAIN);
    assert_non_null(strstr(f->err.text, "\"here\""));
}

/* --- damage ------------------------------------------------------------------------------ */

static void spoil(struct fixture *f, const char *key, int what)
{
    tide_buf_reset(&plain);
    struct tide_buf packed;
    tide_buf_init(&packed, 64u << 20);
    uint32_t start = what == 3 ? 9 : 8, end = what == 4 ? 14 : 15;
    put_batch(&plain, start, end, what == 5 ? 9 : 8, what == 5 ? 16 : 15, 100);
    if (what == 6)
        plain.len -= 4;
    if (what == 7)
        tide_buf_be32(&plain, 0);
    if (what == 8)
        plain.ptr[12 + 3] = 9; /* no such LedgerCloseMeta */
    if (what == 9)
        plain.ptr[11] = 9; /* count */
    assert_int_equal(tide_zstd_compress(&packed, tide_buf_view(&plain), 1), TIDE_OK);
    if (what == 0)
        packed.len = packed.len * 2 / 3;
    if (what == 1)
        packed.ptr[packed.len / 2] ^= 0x20;
    if (what == 2)
        memcpy(packed.ptr, "<html>", 6);
    if (what == 10)
        packed.len = 0;
    if (what == 11)
        packed.len -= 4; /* the checksum */
    write_file(f->folder, key, tide_buf_view(&packed));
    tide_buf_release(&packed);
}

static void damage_is_reported_by_name_and_healed(void **state)
{
    struct fixture *f = *state;
    static const char *const why[] = {
        "cut",         "flipped bit",   "another file",   "start",
        "end",         "ledgers moved", "last bytes cut", "bytes behind",
        "unknown arm", "count",         "empty file",     "no checksum",
    };
    const char *key = "FFFFFFF7--8-15.xdr.zst";
    put_object(f, key, 8, 15, 100);
    f->config.stop_at_end = true; /* otherwise it is waited for at first */
    open_lake(f);
    for (int what = 0; what < (int)TIDE_COUNT(why); what++) {
        spoil(f, key, what);
        assert_int_equal(f->source.ops->seek(f->source.self, 8, 0, &f->err), TIDE_OK);
        uint32_t count = 0, last = 7;
        tide_status status = drain(&f->source, &count, &last, &f->err);
        if ((status != TIDE_E_DECODE && status != TIDE_E_UNKNOWN) || !strstr(f->err.text, key) ||
            !strstr(f->err.text, "fetched again"))
            fail_msg("%s: %s %s", why[what], tide_status_name(status), f->err.text);
        uint32_t rest = 0;
        put_object(f, key, 8, 15, 100);
        assert_int_equal(drain(&f->source, &rest, &last, &f->err), TIDE_E_EOF);
        if (last != 15 || count + rest != 8)
            fail_msg("%s: healed to %u after %u + %u", why[what], last, count, rest);
    }
}

/* The caller may find a fault that the source cannot see, for example a wrong hash. It asks for the
 * ledger once more, and then reports it. */
static void what_does_not_hold_is_given_again_then_named(void **state)
{
    struct fixture *f = *state;
    const char *key = "FFFFFFF7--8-15.xdr.zst";
    tide_slice lcm;
    uint32_t sequence = 0;
    put_object(f, key, 8, 15, 100);
    open_lake(f);
    assert_int_equal(f->source.ops->seek(f->source.self, 8, 0, &f->err), TIDE_OK);
    while (sequence < 10)
        assert_int_equal(f->source.ops->next(f->source.self, &lcm, &sequence, &f->err), TIDE_OK);
    tide_fail(&f->err, TIDE_E_IO, "not about the ledger");
    assert_false(tide_source_refetch(&f->source, 10, &f->err));
    assert_string_equal(f->err.text, "not about the ledger");
    static const char *const advice[] = { "another lake", "update", "which is wrong" };
    const tide_status codes[] = { TIDE_E_DECODE, TIDE_E_UNKNOWN, TIDE_E_CHAIN };
    for (size_t i = 0; i < TIDE_COUNT(codes); i++)
        for (int second = 0; second < 2; second++) {
            tide_fail(&f->err, codes[i], "ledger 10: at byte 7");
            assert_int_equal(tide_source_refetch(&f->source, 10, &f->err), second == 0);
            assert_int_equal(f->err.code, codes[i]);
            assert_non_null(strstr(f->err.text, key));
            assert_non_null(strstr(f->err.text, ": ledger 10: at byte 7"));
            assert_int_equal(strstr(f->err.text, "also when fetched again") != NULL, second);
            assert_int_equal(strstr(f->err.text, advice[i]) != NULL, second);
            assert_int_equal(f->source.ops->next(f->source.self, &lcm, &sequence, &f->err),
                             TIDE_OK);
            assert_int_equal(sequence, 10);
        }
    expect_drain(f, TIDE_E_EOF, 5, 15);
}

/* The source has already read later ledgers, also from other objects. */
static void one_before_the_last_is_given_again(void **state)
{
    struct fixture *f = *state;
    tide_slice lcm;
    uint32_t sequence = 0;
    put_object(f, "FFFFFFF7--8-15.xdr.zst", 8, 15, 100);
    put_object(f, "FFFFFFEF--16-23.xdr.zst", 16, 23, 100);
    open_lake(f);
    assert_int_equal(f->source.ops->seek(f->source.self, 8, 0, &f->err), TIDE_OK);
    for (int second = 0; second < 2; second++) {
        while (sequence < 20)
            assert_int_equal(f->source.ops->next(f->source.self, &lcm, &sequence, &f->err),
                             TIDE_OK);
        tide_fail(&f->err, TIDE_E_DECODE, "ledger 11: at byte 7");
        assert_int_equal(tide_source_refetch(&f->source, 11, &f->err), second == 0);
        assert_non_null(strstr(f->err.text, "FFFFFFF7--8-15.xdr.zst: ledger 11: at byte 7"));
        assert_int_equal(f->source.ops->next(f->source.self, &lcm, &sequence, &f->err), TIDE_OK);
        assert_int_equal(sequence, 11);
    }
    expect_drain(f, TIDE_E_EOF, 12, 23);
}

static void a_large_object_is_refused(void **state)
{
    struct fixture *f = *state;
    struct tide_buf noise;
    tide_buf_init(&noise, 2u << 20);
    for (uint32_t i = 0, x = 1; i < (1u << 20) + 1; i++, x = x * 1664525 + 1013904223)
        tide_buf_u8(&noise, (uint8_t)(x >> 24));
    write_file(f->folder, "FFFFFFFD--2.xdr.zst", tide_buf_view(&noise));
    tide_buf_release(&noise);
    f->config.object_max_mib = 1;
    open_lake(f);
    expect_drain(f, TIDE_E_LIMIT, 0, 0);
    assert_non_null(strstr(f->err.text, "object_max_mib"));
}

static void what_is_no_lake_is_refused(void **state)
{
    struct fixture *f = *state;
    struct tide_source none;
    snprintf(f->config.lake, sizeof f->config.lake, "/nowhere/at/all");
    assert_int_equal(tide_source_open(&none, &f->options, &f->err), TIDE_E_CONFIG);
    snprintf(f->config.lake, sizeof f->config.lake, "s3://bucket");
    assert_int_equal(tide_source_open(&none, &f->options, &f->err), TIDE_E_CONFIG);
    snprintf(f->config.lake, sizeof f->config.lake, "http://user:word@host/lake");
    assert_int_equal(tide_source_open(&none, &f->options, &f->err), TIDE_E_CONFIG);
    assert_null(strstr(f->err.text, "word@"));
    f->config.lake[0] = '\0';
    assert_int_equal(tide_source_open(&none, &f->options, &f->err), TIDE_E_CONFIG);
    snprintf(f->config.lake, sizeof f->config.lake, "%s", f->folder);
    open_lake(f);
    uint32_t count = 0, last = 0;
    assert_int_equal(drain(&f->source, &count, &last, &f->err), TIDE_E_MISSING);
}

static bool yes(void *self)
{
    (void)self;
    return true;
}

static void waiting_can_be_stopped(void **state)
{
    struct fixture *f = *state;
    put_object(f, "FFFFFFFD--2.xdr.zst", 2, 2, 0);
    f->options.stopping = yes;
    open_lake(f);
    uint32_t count = 0, last = 0;
    tide_status status = drain(&f->source, &count, &last, &f->err);
    assert_true(status == TIDE_E_STOPPED || (status == TIDE_E_EOF && count == 1));
}

#define LAKE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int test_lake(void)
{
    const struct CMUnitTest tests[] = {
        LAKE_TEST(batches_are_cut_into_ledgers),
        LAKE_TEST(damage_behind_good_ledgers_is_named),
        LAKE_TEST(one_ledger_objects_go_without_a_walk),
        LAKE_TEST(a_hole_is_named),
        LAKE_TEST(a_hole_is_waited_for),
        LAKE_TEST(an_unfinished_object_is_waited_for),
        LAKE_TEST(the_configuration_of_the_lake_is_checked),
        LAKE_TEST(damage_is_reported_by_name_and_healed),
        LAKE_TEST(what_does_not_hold_is_given_again_then_named),
        LAKE_TEST(one_before_the_last_is_given_again),
        LAKE_TEST(a_large_object_is_refused),
        LAKE_TEST(what_is_no_lake_is_refused),
        LAKE_TEST(waiting_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
