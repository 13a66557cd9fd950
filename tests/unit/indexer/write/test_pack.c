/* Versions that share a stored row: what the row has, and which versions keep rows of their own. */
#include "indexer/base/copy.h"
#include "indexer/write/rows/pack.h"
#include "tidemark/catalogue.h"
#include "tidemark/xdr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TX = 3, SEQ = 4, REMOVED = 7, NONE = -1 };

struct lot {
    struct write_pack pack;
    const struct tide_table *stored; /* earnings_distributor_epoch, if no test takes another one */
    struct tide_buf rows;
    uint64_t count;
    tide_slice packed;
};

/* A version of an epoch. The columns that are not named here are equal in all versions. */
struct version {
    char key;
    int ledger, tx, seq;
    bool removed;
    int64_t life, revenue; /* total_revenue */
    const char *text;      /* in a column that no array has */
};

static int column(const struct lot *l, const char *name)
{
    for (uint32_t i = 0; i < l->stored->column_count; i++)
        if (strcmp(l->stored->columns[i].name, name) == 0)
            return (int)i;
    return NONE;
}

static void put_column(struct lot *l, uint32_t i, const struct version *v)
{
    uint8_t hash[TIDE_HASH_BYTES] = { (uint8_t)v->key };
    const struct tide_column *c = &l->stored->columns[i];
    if (strcmp(c->name, "ledger") == 0)
        tide_copy_int4(&l->rows, v->ledger);
    else if (i == TX || i == SEQ)
        tide_copy_int4(&l->rows, i == TX ? v->tx : v->seq);
    else if (c->type == TIDE_PG_BYTEA)
        tide_copy_bytes(&l->rows, hash, sizeof hash);
    else if (strcmp(c->name, "life") == 0)
        tide_copy_int8(&l->rows, v->life);
    else if (c->type == TIDE_PG_TIMESTAMPTZ)
        tide_copy_time(&l->rows, INT64_C(1700000000000));
    else if (c->type == TIDE_PG_INT2)
        tide_copy_int2(&l->rows, 1);
    else if (c->type == TIDE_PG_BOOL)
        tide_copy_bool(&l->rows, i == REMOVED && v->removed);
    else if (c->type == TIDE_PG_NUMERIC20 || c->type == TIDE_PG_NUMERIC39)
        tide_copy_u64(&l->rows, strcmp(c->name, "total_revenue") == 0 ? (uint64_t)v->revenue : 7);
    else
        tide_copy_int4(&l->rows, v->text && i > REMOVED ? v->text[0] : 5);
}

static void put_version(struct lot *l, struct version v)
{
    tide_copy_row(&l->rows, (uint16_t)l->stored->own_columns);
    for (uint32_t i = 0; i < l->stored->own_columns; i++)
        put_column(l, i, &v);
    l->count++;
}

static void pack(struct lot *l, uint64_t rows)
{
    struct tide_err err;
    uint64_t count = l->count;
    l->packed = tide_buf_view(&l->rows);
    assert_int_equal(write_pack_rows(&l->pack, l->stored, &l->packed, &count, &err), TIDE_OK);
    assert_int_equal(count, rows);
}

/* Returns a column of a packed row, without its length. NULL: the column is null. */
static const uint8_t *value(const struct lot *l, uint64_t row, int wanted)
{
    const uint8_t *at = l->packed.ptr, *found = NULL;
    assert_int_not_equal(wanted, NONE);
    for (uint64_t r = 0; r <= row; r++) {
        assert_int_equal(at[0] << 8 | at[1], l->stored->column_count);
        at += 2;
        for (int i = 0; i < (int)l->stored->column_count; i++) {
            uint32_t len = tide_be32(at);
            found = i == wanted ? (len == UINT32_MAX ? NULL : at + 4) : found;
            at += 4 + (len == UINT32_MAX ? 0 : len);
        }
    }
    return found;
}

static void has_no_earlier(const struct lot *l, uint64_t row)
{
    for (uint32_t i = l->stored->own_columns; i < l->stored->column_count; i++)
        assert_null(value(l, row, (int)i));
}

/* Looks at an array of int4. */
static void has_numbers(const struct lot *l, uint64_t row, const char *name, const int *numbers,
                        uint32_t count)
{
    const uint8_t *array = value(l, row, column(l, name));
    assert_non_null(array);
    assert_int_equal(tide_be32(array), 1);
    assert_int_equal(tide_be32(array + 8), TIDE_OID_INT4);
    assert_int_equal(tide_be32(array + 12), count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(tide_be32(array + 20 + 8 * (size_t)i + 4), numbers[i]);
}

static void versions_of_a_ledger_share_the_row_of_the_last(void **state)
{
    struct lot *l = *state;
    put_version(l, (struct version){ 'a', 9, 1, 4, .revenue = 10 });
    put_version(l, (struct version){ 'b', 9, 1, 5, .revenue = 1 });
    put_version(l, (struct version){ 'a', 9, 2, 1, .revenue = 20 });
    put_version(l, (struct version){ 'a', 9, 5, 3, .life = 77, .revenue = 30 });
    put_version(l, (struct version){ 'a', 10, 1, 4, .revenue = 30 });
    pack(l, 3);
    has_no_earlier(l, 1);
    assert_int_equal(tide_be32(value(l, 0, TX)), 5);
    assert_int_equal(tide_be64(value(l, 0, column(l, "life"))), 77);
    has_numbers(l, 0, "earlier_tx", (int[]){ 1, 2 }, 2);
    has_numbers(l, 0, "earlier_seq", (int[]){ 4, 1 }, 2);
    const uint8_t *revenue = value(l, 0, column(l, "earlier_total_revenue"));
    assert_int_equal(tide_be32(revenue + 8), TIDE_OID_NUMERIC);
    assert_int_equal(tide_be32(revenue + 12), 2);
    assert_null(value(l, 0, column(l, "earlier_finalized"))); /* equal in all versions */
    assert_int_equal(column(l, "earlier_key_id"), NONE);      /* always equal */
    has_no_earlier(l, 2);
}

static void what_the_last_version_does_not_imply_keeps_its_row(void **state)
{
    struct lot *l = *state;
    put_version(l, (struct version){ 'a', 9, 1, 1, .removed = true });
    put_version(l, (struct version){ 'a', 9, 2, 1, .life = 5 });
    put_version(l, (struct version){ 'a', 9, 3, 1, .life = 0 });
    put_version(l, (struct version){ 'a', 9, 4, 1, .life = 0 });
    put_version(l, (struct version){ 'b', 9, 1, 2, .life = 0 });
    put_version(l, (struct version){ 'b', 9, 2, 2, .removed = true });
    pack(l, 5);
    has_no_earlier(l, 0);
    has_no_earlier(l, 1);
    has_numbers(l, 2, "earlier_tx", (int[]){ 3 }, 1);
    has_no_earlier(l, 3);
    has_no_earlier(l, 4);
}

static void rows_may_come_in_any_order(void **state)
{
    struct lot *l = *state;
    put_version(l, (struct version){ 'a', 9, 2, 1, .life = 0 });
    put_version(l, (struct version){ 'a', 8, 2, 1, .life = 0 });
    put_version(l, (struct version){ 'a', 9, 1, 2, .life = 0 });
    put_version(l, (struct version){ 'a', 9, 1, 1, .life = 0 });
    pack(l, 2);
    has_no_earlier(l, 0);
    assert_int_equal(tide_be32(value(l, 1, TX)), 2);
    has_numbers(l, 1, "earlier_tx", (int[]){ 1, 1 }, 2);
    has_numbers(l, 1, "earlier_seq", (int[]){ 1, 2 }, 2);
}

static void columns_without_an_array_must_be_equal(void **state)
{
    struct lot *l = *state;
    int table = tide_entries()[TIDE_EN_earnings_distributor_epoch_token_list].table;
    uint32_t count;
    l->stored = tide_tables(&count)[table].stored;
    assert_int_equal(column(l, "earlier_value"), NONE);
    put_version(l, (struct version){ 'a', 9, 1, 1, .text = "x" });
    put_version(l, (struct version){ 'a', 9, 2, 1, .text = "y" });
    put_version(l, (struct version){ 'a', 9, 3, 1, .text = "y" });
    pack(l, 2);
    has_no_earlier(l, 0);
    has_numbers(l, 1, "earlier_tx", (int[]){ 2 }, 1);
}

static void many_keys_and_versions(void **state)
{
    struct lot *l = *state;
    enum { KEYS = 50, VERSIONS = 300 };
    for (int tx = 1; tx <= VERSIONS; tx++)
        for (int key = 0; key < KEYS; key++)
            put_version(l, (struct version){ (char)(key + 1), 9, tx, key, .revenue = tx });
    pack(l, KEYS);
    int numbers[VERSIONS - 1];
    for (int i = 0; i < VERSIONS - 1; i++)
        numbers[i] = i + 1;
    for (uint64_t i = 0; i < KEYS; i++) {
        assert_int_equal(tide_be32(value(l, i, TX)), VERSIONS);
        has_numbers(l, i, "earlier_tx", numbers, VERSIONS - 1);
        assert_null(value(l, i, column(l, "earlier_seq")));
    }
}

static int make_lot(void **state)
{
    struct lot *l = calloc(1, sizeof *l);
    uint32_t count;
    assert_non_null(l);
    tide_buf_init(&l->rows, INT32_MAX);
    l->stored =
        tide_tables(&count)[tide_entries()[TIDE_EN_earnings_distributor_epoch].table].stored;
    write_pack_open(&l->pack);
    *state = l;
    return 0;
}

static int drop_lot(void **state)
{
    struct lot *l = *state;
    write_pack_close(&l->pack);
    tide_buf_release(&l->rows);
    free(l);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_lot, drop_lot)

int test_pack(void)
{
    const struct CMUnitTest tests[] = {
        TEST(versions_of_a_ledger_share_the_row_of_the_last),
        TEST(what_the_last_version_does_not_imply_keeps_its_row),
        TEST(rows_may_come_in_any_order),
        TEST(columns_without_an_array_must_be_equal),
        TEST(many_keys_and_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
