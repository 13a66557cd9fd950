/* Binary COPY fields against bytes written by hand from PostgreSQL's manual.
 *
 * unit_indexer copy_file prints a COPY file of rows (number, value as numeric, its decimal text, the same as a
 * timestamptz, an array), which tests/integration/indexer/copy.sh feeds to a server. */
#include "indexer/base/copy.h"
#include "tidemark/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(literal) (const uint8_t *)(literal), sizeof(literal) - 1

static const struct {
    const char *decimal;
    const uint8_t *bytes;
    size_t len;
} numbers[] = {
    { "0", BYTES("\0\0\0\x8"
                 "\0\0\0\0\0\0\0\0") },
    { "1", BYTES("\0\0\0\xa"
                 "\0\1\0\0\0\0\0\0"
                 "\0\1") },
    { "-1", BYTES("\0\0\0\xa"
                  "\0\1\0\0\x40\0\0\0"
                  "\0\1") },
    { "9999", BYTES("\0\0\0\xa"
                    "\0\1\0\0\0\0\0\0"
                    "\x27\x0f") },
    { "10000", BYTES("\0\0\0\xa"
                     "\0\1\0\1\0\0\0\0"
                     "\0\1") },
    { "12345678", BYTES("\0\0\0\xc"
                        "\0\2\0\1\0\0\0\0"
                        "\x04\xd2\x16\x2e") },
    { "120000000", BYTES("\0\0\0\xc"
                         "\0\2\0\2\0\0\0\0"
                         "\0\1\x07\xd0") },
    { "100000000000000000000", BYTES("\0\0\0\xa"
                                     "\0\1\0\5\0\0\0\0"
                                     "\0\1") },
    { "18446744073709551615", BYTES("\0\0\0\x12"
                                    "\0\5\0\4\0\0\0\0"
                                    "\x07\x34\x1a\x58\x02\xe1\x03\xbb\x06\x4f") },
    { "-18446744073709551616", BYTES("\0\0\0\x12"
                                     "\0\5\0\4\x40\0\0\0"
                                     "\x07\x34\x1a\x58\x02\xe1\x03\xbb\x06\x50") },
    { "170141183460469231731687303715884105727",
      BYTES("\0\0\0\x1c"
            "\0\xa\0\x9\0\0\0\0"
            "\0\xaa\x05\x83\x20\x9a\x01\xd5\x09\x0d\x0c\x60"
            "\x1c\x87\x1b\xf6\x20\xda\x16\x5f") },
    { "-170141183460469231731687303715884105728",
      BYTES("\0\0\0\x1c"
            "\0\xa\0\x9\x40\0\0\0"
            "\0\xaa\x05\x83\x20\x9a\x01\xd5\x09\x0d\x0c\x60"
            "\x1c\x87\x1b\xf6\x20\xda\x16\x60") },
};

static tide_i128 number(const char *decimal)
{
    tide_i128 v = { 0 };
    tide_status status = tide_i128_parse(&v, tide_slice_str(decimal));
    assert(status == TIDE_OK);
    (void)status;
    return v;
}

static void numerics_are_the_manual_s_bytes(void **state)
{
    (void)state;
    struct tide_buf buf;
    tide_buf_init(&buf, 1 << 12);
    for (size_t i = 0; i < TIDE_COUNT(numbers); i++) {
        tide_buf_reset(&buf);
        tide_i128 v = number(numbers[i].decimal);
        tide_copy_i128(&buf, v);
        assert_int_equal(buf.len, numbers[i].len);
        assert_memory_equal(buf.ptr, numbers[i].bytes, buf.len);
        if (v.raw >= 0 && v.raw <= UINT64_MAX) {
            tide_buf_reset(&buf);
            tide_copy_u64(&buf, (uint64_t)v.raw);
            assert_int_equal(buf.len, numbers[i].len);
            assert_memory_equal(buf.ptr, numbers[i].bytes, buf.len);
        }
    }
    tide_buf_release(&buf);
}

static void expect_bytes(struct tide_buf *buf, const uint8_t *bytes, size_t len)
{
    assert_int_equal(buf->len, len);
    assert_memory_equal(buf->ptr, bytes, len);
    tide_buf_reset(buf);
}

static void fields_are_length_and_bytes(void **state)
{
    (void)state;
    struct tide_buf buf;
    tide_buf_init(&buf, 1 << 12);
    tide_copy_row(&buf, 3);
    expect_bytes(&buf, BYTES("\0\3"));
    tide_copy_null(&buf);
    expect_bytes(&buf, BYTES("\xff\xff\xff\xff"));
    tide_copy_bool(&buf, true);
    expect_bytes(&buf, BYTES("\0\0\0\1\1"));
    tide_copy_int2(&buf, -2);
    expect_bytes(&buf, BYTES("\0\0\0\2\xff\xfe"));
    tide_copy_int4(&buf, -2);
    expect_bytes(&buf, BYTES("\0\0\0\4\xff\xff\xff\xfe"));
    tide_copy_int8(&buf, 258);
    expect_bytes(&buf, BYTES("\0\0\0\x8\0\0\0\0\0\0\1\2"));
    tide_copy_bytes(&buf, "a\0b", 3);
    expect_bytes(&buf, BYTES("\0\0\0\3a\0b"));
    tide_copy_bytes(&buf, NULL, 0);
    expect_bytes(&buf, BYTES("\0\0\0\0"));
    tide_copy_time(&buf, TIDE_PG_EPOCH * 1000);
    expect_bytes(&buf, BYTES("\0\0\0\x8\0\0\0\0\0\0\0\0"));
    tide_copy_time(&buf, TIDE_PG_EPOCH * 1000 + 1000);
    expect_bytes(&buf, BYTES("\0\0\0\x8\0\0\0\0\0\x0f\x42\x40"));
    tide_copy_time(&buf, TIDE_PG_EPOCH * 1000 - 1000);
    expect_bytes(&buf, BYTES("\0\0\0\x8\xff\xff\xff\xff\xff\xf0\xbd\xc0"));
    tide_copy_time(&buf, TIDE_PG_EPOCH * 1000 + 1);
    expect_bytes(&buf, BYTES("\0\0\0\x8\0\0\0\0\0\0\x03\xe8"));
    tide_buf_release(&buf);
}

static void arrays_know_their_elements(void **state)
{
    (void)state;
    struct tide_buf buf;
    tide_buf_init(&buf, 1 << 12);
    struct tide_copy_array array = tide_copy_array_begin(&buf, TIDE_OID_TEXT, 2);
    tide_copy_bytes(&buf, "x", 1);
    tide_copy_bytes(&buf, "yz", 2);
    tide_copy_array_end(&buf, array);
    expect_bytes(&buf, BYTES("\0\0\0\x1f"
                             "\0\0\0\1\0\0\0\0\0\0\0\x19"
                             "\0\0\0\2\0\0\0\1"
                             "\0\0\0\1x"
                             "\0\0\0\2yz"));
    array = tide_copy_array_begin(&buf, TIDE_OID_NUMERIC, 0);
    tide_copy_array_end(&buf, array);
    expect_bytes(&buf, BYTES("\0\0\0\xc"
                             "\0\0\0\0\0\0\0\0\0\0\x06\xa4"));
    tide_buf_release(&buf);
}

static void a_full_buffer_stays_whole(void **state)
{
    (void)state;
    struct tide_buf buf;
    tide_buf_init(&buf, 16);
    for (int i = 0; i < 4; i++)
        tide_copy_i128(&buf, number("-170141183460469231731687303715884105728"));
    size_t at = tide_copy_open(&buf);
    tide_copy_close(&buf, at);
    assert_true(buf.failed);
    assert_true(buf.len <= 16);
    tide_buf_release(&buf);
}

static void file_row(struct tide_buf *out, int32_t n, tide_i128 v)
{
    char text[TIDE_I128_TEXT_MAX];
    size_t len = tide_i128_text(text, v);
    tide_copy_row(out, 5);
    tide_copy_int4(out, n);
    tide_copy_i128(out, v);
    tide_copy_bytes(out, text, len);
    tide_copy_time(out, (int64_t)(uint32_t)v.raw * 1000);
    struct tide_copy_array array = tide_copy_array_begin(out, TIDE_OID_NUMERIC, 2);
    tide_copy_i128(out, v);
    tide_copy_u64(out, (uint64_t)v.raw);
    tide_copy_array_end(out, array);
}

static int print_file(void)
{
    struct tide_buf out;
    tide_buf_init(&out, 1 << 24);
    tide_buf_put(&out, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
    for (size_t i = 0; i < TIDE_COUNT(numbers); i++)
        file_row(&out, (int32_t)i, number(numbers[i].decimal));
    uint64_t mix = 1;
    for (int i = 0; i < 20000; i++) { /* numbers of every length, both signs, with zeros inside */
        mix = mix * 6364136223846793005u + 1442695040888963407u;
        tide_raw_u128 raw = ((tide_raw_u128)mix << 64 | (mix ^ mix >> 7)) >> (mix >> 33) % 128;
        if (mix & 1024)
            raw -= raw % 100000000;
        file_row(&out, 100 + i, (tide_i128){ (tide_raw_i128)raw });
    }
    tide_buf_be16(&out, UINT16_MAX);
    bool bad = out.failed || fwrite(out.ptr, 1, out.len, stdout) != out.len;
    tide_buf_release(&out);
    return bad;
}

/* Not a test: writes the rows as a COPY file, for tests/integration/indexer/copy.sh. */
int test_copy_file(void)
{
    return print_file();
}

int test_copy(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numerics_are_the_manual_s_bytes),
        cmocka_unit_test(fields_are_length_and_bytes),
        cmocka_unit_test(arrays_know_their_elements),
        cmocka_unit_test(a_full_buffer_stays_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
