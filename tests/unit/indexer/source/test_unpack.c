/* Objects decompressed by the caller or ahead by a thread: the same bytes and the same refusals.
 * (label: threads) */
#include "indexer/source/unpack.h"
#include "tidemark/zstd.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PLAIN = 2 * UNPACK_AHEAD + 12345 };

struct fixture {
    struct unpack *unpack;
    uint8_t *plain, *got;
    struct tide_buf packed; /* two frames */
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        abort();
    f->plain = malloc(PLAIN);
    f->got = malloc(PLAIN + 1);
    if (!f->plain || !f->got)
        abort();
    uint32_t x = 1;
    for (size_t i = 0; i < PLAIN; i++) {
        x = x * 1664525 + 1013904223;
        f->plain[i] = (uint8_t)(i % 7 ? x >> 30 : x >> 24);
    }
    tide_buf_init(&f->packed, 64u << 20);
    assert_int_equal(tide_zstd_compress(&f->packed, tide_slice_of(f->plain, PLAIN / 2), 1), 0);
    tide_slice rest = tide_slice_of(f->plain + PLAIN / 2, PLAIN - PLAIN / 2);
    assert_int_equal(tide_zstd_compress(&f->packed, rest, 1), TIDE_OK);
    assert_int_equal(unpack_open(&f->unpack), TIDE_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    unpack_close(f->unpack);
    tide_buf_release(&f->packed);
    free(f->plain);
    free(f->got);
    free(f);
    return 0;
}

/* Reads in steps until fewer bytes come than requested. Sets *len to the total. */
static tide_status read_all(struct fixture *f, size_t step, size_t *len)
{
    const char *what = NULL;
    for (*len = 0;;) {
        size_t made = 0, want = step < PLAIN + 1 - *len ? step : PLAIN + 1 - *len;
        tide_status status = unpack_read(f->unpack, f->got + *len, want, &made, &what);
        *len += made;
        if (status != TIDE_OK)
            assert_non_null(what);
        if (status != TIDE_OK || made < want)
            return status;
    }
}

static void all_of_it_comes_in_steps_of_any_size(void **state)
{
    struct fixture *f = *state;
    static const size_t steps[] = { 777, 100000, UNPACK_AHEAD / 4, UNPACK_AHEAD + 1, PLAIN + 1 };
    for (size_t i = 0; i < 2 * TIDE_COUNT(steps); i++) {
        size_t len = 0;
        memset(f->got, 0, PLAIN + 1);
        unpack_begin(f->unpack, tide_buf_view(&f->packed), i % 2);
        assert_int_equal(read_all(f, steps[i / 2], &len), TIDE_OK);
        assert_int_equal(len, PLAIN);
        assert_memory_equal(f->got, f->plain, PLAIN);
        assert_true(unpack_exhausted(f->unpack));
    }
}

/* The number of ready bytes grows up to UNPACK_AHEAD without a reader, and those bytes are the next
 * ones. */
static void ready_bytes_are_counted(void **state)
{
    struct fixture *f = *state;
    const char *what = NULL;
    size_t made = 0;
    unpack_begin(f->unpack, tide_buf_view(&f->packed), false);
    assert_int_equal(unpack_ready(f->unpack), 0);
    unpack_begin(f->unpack, tide_buf_view(&f->packed), true);
    while (unpack_ready(f->unpack) < UNPACK_AHEAD)
        sched_yield();
    assert_int_equal(unpack_ready(f->unpack), UNPACK_AHEAD);
    assert_int_equal(unpack_read(f->unpack, f->got, 1000, &made, &what), TIDE_OK);
    assert_int_equal(unpack_ready(f->unpack), UNPACK_AHEAD - 1000);
    assert_int_equal(unpack_read(f->unpack, f->got + made, PLAIN - made, &made, &what), TIDE_OK);
    assert_int_equal(made, PLAIN - 1000);
    assert_int_equal(unpack_ready(f->unpack), 0);
    assert_memory_equal(f->got, f->plain, PLAIN);
}

static void an_object_may_be_left_at_any_time(void **state)
{
    struct fixture *f = *state;
    const char *what = NULL;
    size_t made = 0, len = 0;
    for (size_t i = 0; i < 200; i++) {
        unpack_begin(f->unpack, tide_buf_view(&f->packed), true);
        assert_int_equal(unpack_read(f->unpack, f->got, i * 1000, &made, &what), TIDE_OK);
        assert_int_equal(made, i * 1000);
        assert_memory_equal(f->got, f->plain, made);
        assert_false(unpack_exhausted(f->unpack));
        if (i % 3)
            unpack_end(f->unpack);
    }
    unpack_begin(f->unpack, tide_buf_view(&f->packed), true);
    assert_int_equal(read_all(f, 100000, &len), TIDE_OK);
    assert_memory_equal(f->got, f->plain, PLAIN);
}

static void what_comes_before_the_damage_is_right(void **state)
{
    struct fixture *f = *state;
    size_t len = 0, again = 0;
    for (int ahead = 0; ahead < 2; ahead++) {
        tide_slice cut = { f->packed.ptr, f->packed.len - 1000 };
        unpack_begin(f->unpack, cut, ahead);
        assert_int_equal(read_all(f, 100000, &len), TIDE_OK);
        assert_in_range(len, PLAIN / 2, PLAIN - 1);
        assert_false(unpack_exhausted(f->unpack));

        f->packed.ptr[f->packed.len - 1] ^= 1; /* the checksum of the second frame */
        unpack_begin(f->unpack, tide_buf_view(&f->packed), ahead);
        assert_int_equal(read_all(f, 100000, &len), TIDE_E_DECODE);
        assert_in_range(len, PLAIN / 2, PLAIN);
        assert_memory_equal(f->got, f->plain, len);
        assert_int_equal(read_all(f, 100000, &again), TIDE_E_DECODE);
        assert_int_equal(again, 0);
        assert_false(unpack_exhausted(f->unpack));
        f->packed.ptr[f->packed.len - 1] ^= 1;
    }
}

int test_unpack(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(all_of_it_comes_in_steps_of_any_size),
        TEST(ready_bytes_are_counted),
        TEST(an_object_may_be_left_at_any_time),
        TEST(what_comes_before_the_damage_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
