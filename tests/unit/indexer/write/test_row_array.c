/* COPY tuples converted into an array parameter, compared with bytes written by hand from the
 * definitions of PostgreSQL's array_recv and record_recv. tests/integration/indexer/same_rows.sh
 * shows that a server accepts them. */
#include "indexer/base/copy.h"
#include "indexer/write/rows/row_array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The tuples have two columns. The table has them in the opposite order, with another column
 * between them. */
static const struct tide_row_shape shape = {
    .oid = 0x1001,
    .columns = 2,
    .count = 3,
    .attribute = { { 25, 1 }, { 16, TIDE_ROW_NO_COLUMN }, { 23, 0 } }
};

static void put_tuples(struct tide_buf *buf)
{
    tide_buf_init(buf, 1 << 12);
    tide_copy_row(buf, 2);
    tide_copy_int4(buf, 7);
    tide_copy_bytes(buf, "ab", 2);
    tide_copy_row(buf, 2);
    tide_copy_int4(buf, -1);
    tide_copy_null(buf);
}

static void rows_become_elements(void **state)
{
    static const uint8_t want[] = "\0\0\0\1\0\0\0\0\0\0\x10\x01\0\0\0\2\0\0\0\1"
                                  "\0\0\0\x22\0\0\0\3"
                                  "\0\0\0\x19\0\0\0\2ab"
                                  "\0\0\0\x10\377\377\377\377"
                                  "\0\0\0\x17\0\0\0\4\0\0\0\7"
                                  "\0\0\0\x20\0\0\0\3"
                                  "\0\0\0\x19\377\377\377\377"
                                  "\0\0\0\x10\377\377\377\377"
                                  "\0\0\0\x17\0\0\0\4\377\377\377\377";
    struct tide_buf tuples, out;
    (void)state;
    put_tuples(&tuples);
    tide_buf_init(&out, 1 << 12);
    assert_true(tide_row_array(&out, &shape, tide_buf_view(&tuples), 2));
    assert_int_equal(out.len, sizeof want - 1);
    assert_memory_equal(out.ptr, want, sizeof want - 1);
    tide_buf_release(&tuples);
    tide_buf_release(&out);
}

/* Bytes cut at any offset, one row too few or too many, and another number of columns are
 * refused. */
static void what_is_not_whole_is_refused(void **state)
{
    struct tide_buf tuples, out;
    struct tide_row_shape other = shape;
    (void)state;
    put_tuples(&tuples);
    tide_buf_init(&out, 1 << 12);
    for (size_t len = 0; len < tuples.len; len++) {
        uint8_t *cut = malloc(len ? len : 1); /* exactly as long, for the sanitizer */
        memcpy(cut, tuples.ptr, len);
        tide_buf_reset(&out);
        assert_false(tide_row_array(&out, &shape, tide_slice_of(cut, len), 2));
        free(cut);
    }
    for (uint64_t rows = 0; rows < 4; rows++) {
        tide_buf_reset(&out);
        assert_int_equal(tide_row_array(&out, &shape, tide_buf_view(&tuples), rows), rows == 2);
    }
    other.columns = 1;
    tide_buf_reset(&out);
    assert_false(tide_row_array(&out, &other, tide_buf_view(&tuples), 2));
    tide_buf_release(&out);
    tide_buf_init(&out, 20); /* no room */
    assert_false(tide_row_array(&out, &shape, tide_buf_view(&tuples), 2));
    tide_buf_release(&tuples);
    tide_buf_release(&out);
}

int test_row_array(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rows_become_elements),
                                        cmocka_unit_test(what_is_not_whole_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
