/* Records in a stream of bytes that is cut anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "indexer/archive/record_stream.h"

enum { RECORD_MAX = 64 };

struct seen {
    struct tide_buf bytes;
    unsigned count;
    unsigned refuse_at; /* number of the record that the callback refuses; 0: none */
};

static tide_status note_record(void *self, tide_slice record, struct tide_err *err)
{
    struct seen *s = self;
    tide_buf_slice(&s->bytes, record);
    tide_buf_str(&s->bytes, "|");
    return ++s->count == s->refuse_at ? tide_fail(err, TIDE_E_CHAIN, "refused") : TIDE_OK;
}

static void put_record(struct tide_buf *b, const char *text)
{
    tide_buf_be32(b, 0x80000000u | (uint32_t)strlen(text));
    tide_buf_str(b, text);
}

/* Pushes bytes in pieces of `step` bytes and ends the stream. */
static tide_status push_all(struct seen *s, tide_slice bytes, size_t step, struct tide_err *err)
{
    struct record_stream stream;
    record_stream_init(&stream, RECORD_MAX, note_record, s);
    tide_status status = TIDE_OK;
    for (size_t at = 0; at < bytes.len && !status; at += step) {
        size_t len = bytes.len - at < step ? bytes.len - at : step;
        status = record_stream_push(&stream, tide_slice_of(bytes.ptr + at, len), err);
    }
    if (!status)
        status = record_stream_end(&stream, err);
    record_stream_release(&stream);
    return status;
}

static void records_are_the_same_in_any_pieces(void **state)
{
    (void)state;
    struct tide_buf b;
    struct tide_err err;
    tide_buf_init(&b, 1024);
    put_record(&b, "one");
    put_record(&b, "");
    put_record(&b, "a record of thirty-three letters!");
    put_record(&b, "four");
    for (size_t step = 1; step <= b.len; step++) {
        struct seen s = { 0 };
        tide_buf_init(&s.bytes, 1024);
        assert_int_equal(push_all(&s, tide_buf_view(&b), step, &err), TIDE_OK);
        assert_int_equal(s.count, 4);
        assert_true(tide_slice_eq_str(tide_buf_view(&s.bytes),
                                      "one||a record of thirty-three letters!|four|"));
        tide_buf_release(&s.bytes);
    }
    tide_buf_release(&b);
}

static void malformed_streams_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        tide_status status;
    } cases[] = {
        { "", 0, TIDE_OK },
        { "\x80\0\0\1x", 5, TIDE_OK },
        { "\x80\0\0\2x", 5, TIDE_E_DECODE },         /* cut in the record */
        { "\x80\0\0\1x\x80\0", 7, TIDE_E_DECODE },   /* cut in the mark */
        { "\0\0\0\1x", 5, TIDE_E_DECODE },           /* not the last fragment */
        { "\x80\0\0\1x\0\0\0\0", 9, TIDE_E_DECODE }, /* the second mark */
        { "\x80\0\0\x41", 4, TIDE_E_LIMIT },         /* one byte too long */
        { "\xff\xff\xff\xff", 4, TIDE_E_LIMIT },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        for (size_t step = 1; step <= 9; step++) {
            struct seen s = { 0 };
            struct tide_err err;
            tide_buf_init(&s.bytes, 1024);
            tide_slice bytes = tide_slice_of(cases[i].bytes, cases[i].len);
            if (push_all(&s, bytes, step, &err) != cases[i].status)
                fail_msg("case %zu in steps of %zu", i, step);
            tide_buf_release(&s.bytes);
        }
    }
}

static void a_refused_record_ends_the_stream(void **state)
{
    (void)state;
    struct tide_buf b;
    tide_buf_init(&b, 1024);
    put_record(&b, "one");
    put_record(&b, "two");
    put_record(&b, "three");
    for (size_t step = 1; step <= b.len; step++) {
        struct seen s = { .refuse_at = 2 };
        struct tide_err err;
        tide_buf_init(&s.bytes, 1024);
        assert_int_equal(push_all(&s, tide_buf_view(&b), step, &err), TIDE_E_CHAIN);
        assert_int_equal(s.count, 2);
        tide_buf_release(&s.bytes);
    }
    tide_buf_release(&b);
}

int test_record_stream(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_the_same_in_any_pieces),
        cmocka_unit_test(malformed_streams_are_refused),
        cmocka_unit_test(a_refused_record_ends_the_stream),
    };
    return cmocka_run_group_tests_name("record_stream", tests, NULL, NULL);
}
