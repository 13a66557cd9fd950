/* Decompression as a stream: pieces of any size, several frames, damage, limits. */
#include "tidemark/zstd.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PLAIN = 100000 };

static void fill_plain(uint8_t *plain)
{
    uint32_t x = 1;
    for (size_t i = 0; i < PLAIN; i++) {
        x = x * 1664525 + 1013904223;
        plain[i] = (uint8_t)(i % 7 ? x >> 30 : x >> 24);
    }
}

/* Decompresses in pieces of in_step and out_step bytes. Returns the status and sets *got. */
static tide_status pump(struct tide_unzstd *z, tide_slice in, size_t in_step, size_t out_step,
                        struct tide_buf *out)
{
    while (in.len) {
        tide_slice piece = { in.ptr, in.len < in_step ? in.len : in_step };
        in = tide_slice_of(in.ptr + piece.len, in.len - piece.len);
        for (;;) {
            size_t made = 0;
            const char *what = NULL;
            uint8_t *to = tide_buf_room(out, out_step);
            if (!to)
                return TIDE_E_LIMIT;
            tide_status status = tide_unzstd_read(z, &piece, to, out_step, &made, &what);
            if (status) {
                assert_non_null(what);
                return status;
            }
            out->len += made;
            if (made == 0 && piece.len == 0)
                break;
        }
    }
    return TIDE_OK;
}

static void frames_come_back_in_pieces_of_any_size(void **state)
{
    (void)state;
    static const struct {
        size_t in, out;
    } steps[] = { { 1, 1 }, { 1, 65536 }, { 65536, 1 }, { 1000, 777 }, { 1 << 20, 1 << 20 } };
    uint8_t *plain = malloc(PLAIN);
    assert_non_null(plain);
    fill_plain(plain);
    struct tide_buf packed, out;
    tide_buf_init(&packed, 1 << 20);
    tide_buf_init(&out, 8 << 20);
    assert_int_equal(tide_zstd_compress(&packed, tide_slice_of(plain, PLAIN / 2), 3), TIDE_OK);
    size_t first = packed.len;
    assert_int_equal(
        tide_zstd_compress(&packed, tide_slice_of(plain + PLAIN / 2, PLAIN - PLAIN / 2), 9),
        TIDE_OK);
    struct tide_unzstd *z = NULL;
    assert_int_equal(tide_unzstd_open(&z), TIDE_OK);
    for (size_t i = 0; i < TIDE_COUNT(steps); i++) {
        tide_buf_reset(&out);
        tide_unzstd_reset(z);
        assert_true(tide_unzstd_complete(z));
        assert_int_equal(
            pump(z, tide_slice_of(packed.ptr, first - 1), steps[i].in, steps[i].out, &out),
            TIDE_OK);
        assert_false(tide_unzstd_complete(z));
        assert_int_equal(pump(z, tide_slice_of(packed.ptr + first - 1, packed.len - first + 1),
                              steps[i].in, steps[i].out, &out),
                         TIDE_OK);
        assert_true(tide_unzstd_complete(z));
        assert_int_equal(out.len, PLAIN);
        assert_memory_equal(out.ptr, plain, PLAIN);
    }
    tide_unzstd_close(z);
    tide_buf_release(&packed);
    tide_buf_release(&out);
    free(plain);
}

static void damage_is_refused(void **state)
{
    (void)state;
    uint8_t *plain = malloc(PLAIN);
    assert_non_null(plain);
    fill_plain(plain);
    struct tide_buf packed, out;
    tide_buf_init(&packed, 1 << 20);
    tide_buf_init(&out, 1 << 20);
    assert_int_equal(tide_zstd_compress(&packed, tide_slice_of(plain, PLAIN), 3), TIDE_OK);
    struct tide_unzstd *z = NULL;
    assert_int_equal(tide_unzstd_open(&z), TIDE_OK);
    /* The frame has a checksum, so a flipped bit is found at the end of the frame at the latest. */
    for (size_t at = 0; at < packed.len; at += 97) {
        packed.ptr[at] ^= 0x10;
        tide_buf_reset(&out);
        tide_unzstd_reset(z);
        tide_status status = pump(z, tide_buf_view(&packed), 4096, 65536, &out);
        if (status == TIDE_OK && tide_unzstd_complete(z))
            fail_msg("a flipped bit at byte %zu went unnoticed", at);
        packed.ptr[at] ^= 0x10;
    }
    tide_unzstd_close(z);
    tide_buf_release(&packed);
    tide_buf_release(&out);
    free(plain);
}

static void a_window_too_large_is_a_limit(void **state)
{
    (void)state;
    /* magic; descriptor without content size and single segment; window 2^27 */
    static const uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, (27 - 10) << 3, 1, 0, 0 };
    struct tide_unzstd *z = NULL;
    assert_int_equal(tide_unzstd_open(&z), TIDE_OK);
    tide_slice in = tide_slice_of(frame, sizeof frame);
    uint8_t out[16];
    size_t made = 0;
    const char *what = NULL;
    assert_int_equal(tide_unzstd_read(z, &in, out, sizeof out, &made, &what), TIDE_E_LIMIT);
    assert_non_null(what);
    tide_unzstd_close(z);
    assert_true(tide_zstd_magic(tide_slice_of(frame, sizeof frame)));
    assert_false(tide_zstd_magic(tide_slice_of(frame, 3)));
    assert_false(tide_zstd_magic(TIDE_SLICE("\0\0\0\2abcd")));
    assert_true(tide_zstd_magic(TIDE_SLICE("\x5f\x2a\x4d\x18")));
}

int test_zstd(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_back_in_pieces_of_any_size),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(a_window_too_large_is_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
