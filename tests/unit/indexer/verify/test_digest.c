/* The arithmetic of row digests: sums modulo 2^256, and the changes of rows that change the sum. */
#include "indexer/verify/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct tide_table table = {
    .schema = "event",
    .name = "t",
    .column_count = 3,
    .columns = { { .name = "a", .type = TIDE_PG_INT4 },
                 { .name = "seen_at", .type = TIDE_PG_INT4, .no_digest = true },
                 { .name = "b", .type = TIDE_PG_TEXT, .nullable = true } },
};

#define ROW(a, seen, b) "\0\3\0\0\0\4\0\0\0" a "\0\0\0\4\0\0\0" seen b

static const char row1[] = ROW("\1", "\1", "\0\0\0\2hi");
static const char row1_seen_later[] = ROW("\1", "\2", "\0\0\0\2hi");
static const char row2[] = ROW("\2", "\1", "\377\377\377\377");
static const char row2_empty[] = ROW("\2", "\1", "\0\0\0\0");

static void add_row(struct tide_digest *digest, const char *row, size_t size)
{
    assert_int_equal(tide_digest_tuple(digest, &table, tide_slice_of(row, size - 1)), TIDE_OK);
}

#define ADD(digest, row) add_row((digest), (row), sizeof(row))

static void order_does_not_matter(void **state)
{
    (void)state;
    struct tide_digest a = { 0 }, b = { 0 };
    ADD(&a, row1);
    ADD(&a, row2);
    ADD(&b, row2);
    ADD(&b, row1);
    assert_true(tide_digest_eq(&a, &b));
    assert_int_equal(a.rows, 2);
}

static void undigested_columns_do_not_matter(void **state)
{
    (void)state;
    struct tide_digest a = { 0 }, b = { 0 };
    ADD(&a, row1);
    ADD(&b, row1_seen_later);
    assert_true(tide_digest_eq(&a, &b));
}

static void rows_of_another_value_are_left_out(void **state)
{
    (void)state;
    struct tide_table some = table;
    struct tide_digest a = { 0 }, b = { 0 };
    some.digest_column = "b";
    some.digest_value = "hi";
    ADD(&a, row1);
    assert_int_equal(tide_digest_tuple(&b, &some, tide_slice_of(row1, sizeof row1 - 1)), TIDE_OK);
    assert_int_equal(tide_digest_tuple(&b, &some, tide_slice_of(row2, sizeof row2 - 1)), TIDE_OK);
    assert_int_equal(tide_digest_tuple(&b, &some, tide_slice_of(row2_empty, sizeof row2_empty - 1)),
                     TIDE_OK);
    assert_true(tide_digest_eq(&a, &b));
}

static void lost_doubled_altered_rows_show(void **state)
{
    (void)state;
    struct tide_digest both = { 0 }, lost = { 0 }, doubled = { 0 }, altered = { 0 };
    ADD(&both, row1);
    ADD(&both, row2);
    ADD(&lost, row1);
    ADD(&doubled, row1);
    ADD(&doubled, row2);
    ADD(&doubled, row2);
    ADD(&altered, row1);
    ADD(&altered, row2_empty);
    assert_false(tide_digest_eq(&both, &lost));
    assert_false(tide_digest_eq(&both, &doubled));
    assert_false(tide_digest_eq(&both, &altered));
}

/* The expected value is the SHA-256 of four bytes of length, the int4 1, the length 2 and "hi",
 * computed by another program. */
static void digest_of_one_row_is_its_hash(void **state)
{
    (void)state;
    struct tide_digest a = { 0 };
    char text[TIDE_DIGEST_TEXT_BYTES + 1];
    ADD(&a, row1);
    tide_digest_text(text, &a);
    assert_string_equal(text, "fad8c92c6c4d014dfaa06f07491009caf07fa3b10a25b8be5c26591c4165906f");
}

static void sums_carry_and_wrap(void **state)
{
    (void)state;
    struct tide_digest a = { .limb = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX } };
    struct tide_digest one = { .rows = 1, .limb = { 1 } };
    char text[TIDE_DIGEST_TEXT_BYTES + 1];
    tide_digest_add(&a, &one);
    tide_digest_add(&a, &one);
    tide_digest_text(text, &a);
    assert_string_equal(text, "0000000000000000000000000000000000000000000000000000000000000001");
    struct tide_digest b = { .limb = { UINT64_MAX, 0, UINT64_MAX, 0 } };
    struct tide_digest c = { .limb = { UINT64_MAX, UINT64_MAX, 0, 7 } };
    tide_digest_add(&b, &c);
    tide_digest_text(text, &b);
    assert_string_equal(text, "00000000000000080000000000000000"
                              "0000000000000000fffffffffffffffe");
}

static void broken_tuples_are_refused(void **state)
{
    (void)state;
    struct tide_digest a = { 0 };
    for (size_t len = 0; len + 1 < sizeof row1; len++)
        assert_int_equal(tide_digest_tuple(&a, &table, tide_slice_of(row1, len)), TIDE_E_DECODE);
    char longer[sizeof row1];
    memcpy(longer, row1, sizeof row1); /* with the NUL: one byte too many */
    assert_int_equal(tide_digest_tuple(&a, &table, tide_slice_of(longer, sizeof longer)),
                     TIDE_E_DECODE);
    assert_int_equal(a.rows, 0);
}

static void fields_are_found(void **state)
{
    (void)state;
    tide_slice field;
    bool null;
    tide_slice tuple = tide_slice_of(row1, sizeof row1 - 1);
    assert_int_equal(tide_digest_field(tuple, 2, &field, &null), TIDE_OK);
    assert_false(null);
    assert_true(tide_slice_eq_str(field, "hi"));
    tuple = tide_slice_of(row2, sizeof row2 - 1);
    assert_int_equal(tide_digest_field(tuple, 2, &field, &null), TIDE_OK);
    assert_true(null);
    assert_int_equal(tide_digest_field(tuple, 3, &field, &null), TIDE_E_DECODE);
}

int test_digest(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(undigested_columns_do_not_matter),
        cmocka_unit_test(rows_of_another_value_are_left_out),
        cmocka_unit_test(lost_doubled_altered_rows_show),
        cmocka_unit_test(digest_of_one_row_is_its_hash),
        cmocka_unit_test(sums_carry_and_wrap),
        cmocka_unit_test(broken_tuples_are_refused),
        cmocka_unit_test(fields_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
