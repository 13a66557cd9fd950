/* The reader of buckets: records, their order, the hash, and what it hands out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "indexer/archive/bucket.h"
#include "tests/unit/schema/wire/literal.h"

#define META     "ffffffff 0000001c 00000000 "
#define META_HOT "ffffffff 0000001c 00000001 00000001 "
#define CONTRACT "00000001 32*c1 "
#define SYMBOL_A "0000000f 00000001 61000000 "
#define SYMBOL_B "0000000f 00000001 62000000 "
#define U32      "00000003 00000007 "
/* arm, ledger 42, contract data, ext; then contract, key, durability, value, ext */
#define DATA(arm, key, durability) \
    arm "0000002a 00000006 00000000 " CONTRACT key durability U32 "00000000 "
#define LIVE           "00000000 "
#define DEAD           "00000001 "
#define INIT           "00000002 "
#define TEMPORARY      "00000000 "
#define PERSISTENT     "00000001 "
#define TTL(arm, hash) arm "0000002a 00000009 32*" hash " 000003e8 00000000 "
#define ACCOUNT(id)                                                                         \
    LIVE "0000002a 00000000 00000000 32*" id " 00000000000003e8 0000000000000001 00000000 " \
         "00000000 00000000 00000000 01000000 00000000 00000000 00000000 "

/* The entries that a bucket gave. */
struct given {
    struct tide_buf bytes; /* the bucket */
    char kinds[16];        /* a letter for each entry */
    uint32_t types[16], count;
    uint32_t live_until;
};

static tide_status note_entry(void *self, enum bucket_entry_kind kind,
                              const struct tide_change *change, struct tide_err *err)
{
    struct given *g = self;
    (void)err;
    assert_in_range(g->count, 0, 14);
    g->types[g->count] = change->type;
    g->kinds[g->count++] = "LDAR"[kind];
    g->kinds[g->count] = 0;
    g->live_until = change->type == TIDE_ENTRY_TTL ? change->live_until : g->live_until;
    return TIDE_OK;
}

static void add_record(struct given *g, const char *text)
{
    struct literal l;
    literal_open(&l, text);
    tide_buf_be32(&g->bytes, UINT32_C(1) << 31 | (uint32_t)l.buf.len);
    tide_buf_slice(&g->bytes, tide_buf_view(&l.buf));
    literal_close(&l);
}

static void open_bucket(struct given *g, const char *const *records)
{
    *g = (struct given){ 0 };
    tide_buf_init(&g->bytes, 1 << 20);
    for (; *records; records++)
        add_record(g, *records);
}

/* Reads the bucket in pieces of `step` bytes under its own hash. */
static tide_status read_steps(struct given *g, enum bucket_list list, size_t step,
                              struct tide_err *err)
{
    struct bucket_reader reader;
    uint8_t name[TIDE_HASH_BYTES];
    tide_status status = TIDE_OK;
    tide_sha256(name, tide_buf_view(&g->bytes));
    bucket_reader_init(&reader, note_entry, g);
    bucket_reader_begin(&reader, list, name);
    g->count = 0;
    for (size_t at = 0; at < g->bytes.len && status == TIDE_OK; at += step) {
        size_t left = g->bytes.len - at;
        status = bucket_reader_push(
            &reader, tide_slice_of(g->bytes.ptr + at, left < step ? left : step), err);
    }
    if (status == TIDE_OK)
        status = bucket_reader_end(&reader, err);
    bucket_reader_release(&reader);
    return status;
}

static tide_status read_records(enum bucket_list list, const char *const *records,
                                struct tide_err *err)
{
    struct given g;
    open_bucket(&g, records);
    tide_status status = read_steps(&g, list, SIZE_MAX / 2, err);
    tide_buf_release(&g.bytes);
    return status;
}

static const char *const live_bucket[] = { META,
                                           ACCOUNT("a1"),
                                           DATA(INIT, SYMBOL_A, TEMPORARY),
                                           DATA(LIVE, SYMBOL_A, PERSISTENT),
                                           DEAD "00000006 " CONTRACT SYMBOL_B PERSISTENT,
                                           TTL(LIVE, "01"),
                                           DEAD "00000009 32*02",
                                           NULL };

static void entries_of_contracts_are_given(void **state)
{
    (void)state;
    struct given g;
    struct tide_err err;
    open_bucket(&g, live_bucket);
    for (size_t step = 1; step < 200; step += 7) {
        assert_int_equal(read_steps(&g, BUCKET_LIST_LIVE, step, &err), TIDE_OK);
        assert_string_equal(g.kinds, "LLDLD"); /* without the account */
        assert_int_equal(g.types[2], TIDE_ENTRY_CONTRACT_DATA);
        assert_int_equal(g.types[4], TIDE_ENTRY_TTL);
        assert_int_equal(g.live_until, 0); /* the last one is a removal */
    }
    tide_buf_release(&g.bytes);
}

static void the_hot_archive_has_its_own_arms(void **state)
{
    (void)state;
    struct given g;
    struct tide_err err;
    open_bucket(&g, (const char *const[]){ META_HOT, DATA(LIVE, SYMBOL_A, PERSISTENT),
                                           DEAD "00000006 " CONTRACT SYMBOL_B PERSISTENT, NULL });
    assert_int_equal(read_steps(&g, BUCKET_LIST_HOT_ARCHIVE, 64, &err), TIDE_OK);
    assert_string_equal(g.kinds, "AR");
    tide_buf_release(&g.bytes);
    assert_int_equal(
        read_records(BUCKET_LIST_HOT_ARCHIVE,
                     (const char *const[]){ META_HOT, DATA(INIT, SYMBOL_A, PERSISTENT), NULL },
                     &err),
        TIDE_E_UNKNOWN);
}

static void metadata_says_the_list(void **state)
{
    (void)state;
    struct tide_err err;
    assert_int_equal(read_records(BUCKET_LIST_LIVE, (const char *const[]){ META_HOT, NULL }, &err),
                     TIDE_E_DECODE);
    assert_int_equal(
        read_records(BUCKET_LIST_HOT_ARCHIVE, (const char *const[]){ META, NULL }, &err),
        TIDE_E_DECODE);
    assert_int_equal(
        read_records(BUCKET_LIST_LIVE, (const char *const[]){ TTL(LIVE, "01"), META, NULL }, &err),
        TIDE_E_DECODE);
    assert_int_equal(
        read_records(BUCKET_LIST_LIVE, (const char *const[]){ META, META, NULL }, &err),
        TIDE_E_DECODE);
    /* Buckets from before protocol 11 have none. */
    assert_int_equal(
        read_records(BUCKET_LIST_LIVE, (const char *const[]){ TTL(LIVE, "01"), NULL }, &err),
        TIDE_OK);
}

static void keys_must_ascend(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
    } cases[] = {
        { TTL(LIVE, "01"), TTL(LIVE, "01") },
        { TTL(LIVE, "01"), DEAD "00000009 32*01" },
        { TTL(LIVE, "02"), TTL(LIVE, "01") },
        { TTL(LIVE, "01"), DATA(LIVE, SYMBOL_A, PERSISTENT) },
        { DATA(LIVE, SYMBOL_A, PERSISTENT), DATA(INIT, SYMBOL_A, TEMPORARY) },
        { DATA(LIVE, SYMBOL_B, PERSISTENT), DEAD "00000006 " CONTRACT SYMBOL_A PERSISTENT },
        { ACCOUNT("a2"), ACCOUNT("a1") },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct tide_err err;
        const char *const wrong[] = { META, cases[i].first, cases[i].second, NULL };
        assert_int_equal(read_records(BUCKET_LIST_LIVE, wrong, &err), TIDE_E_DECODE);
    }
}

static void another_byte_is_another_bucket(void **state)
{
    (void)state;
    struct given g;
    struct tide_err err;
    struct bucket_reader reader;
    uint8_t name[TIDE_HASH_BYTES];
    open_bucket(&g, live_bucket);
    tide_sha256(name, tide_buf_view(&g.bytes));
    name[31] ^= 1;
    bucket_reader_init(&reader, note_entry, &g);
    bucket_reader_begin(&reader, BUCKET_LIST_LIVE, name);
    assert_int_equal(bucket_reader_push(&reader, tide_buf_view(&g.bytes), &err), TIDE_OK);
    assert_int_equal(bucket_reader_end(&reader, &err), TIDE_E_CHAIN);
    bucket_reader_release(&reader);
    g.bytes.len -= 4; /* the hash is right, the last record is not whole */
    assert_int_equal(read_steps(&g, BUCKET_LIST_LIVE, 64, &err), TIDE_E_DECODE);
    tide_buf_release(&g.bytes);
}

static void what_is_malformed_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        tide_status status;
    } cases[] = {
        { "00000003 ", TIDE_E_UNKNOWN },               /* an arm behind INIT */
        { LIVE "0000002a 0000000a ", TIDE_E_UNKNOWN }, /* a type of entry behind TTL */
        { DEAD "00000009 31*01", TIDE_E_DECODE },      /* a hash without its last byte */
        { TTL(LIVE, "01") "00000000", TIDE_E_DECODE }, /* bytes behind the entry */
        { "", TIDE_E_DECODE },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct tide_err err;
        const char *const records[] = { META, cases[i].record, NULL };
        assert_int_equal(read_records(BUCKET_LIST_LIVE, records, &err), cases[i].status);
    }
}

/* Returns the order of two contract-data keys with these ScVals. */
static int order_of(const char *left, const char *right)
{
    struct literal a, b;
    char text[512];
    snprintf(text, sizeof text, CONTRACT "%s " PERSISTENT, left);
    literal_open(&a, text);
    snprintf(text, sizeof text, CONTRACT "%s " PERSISTENT, right);
    literal_open(&b, text);
    struct tide_bucket_key x = { TIDE_ENTRY_CONTRACT_DATA, tide_buf_view(&a.buf) };
    struct tide_bucket_key y = { TIDE_ENTRY_CONTRACT_DATA, tide_buf_view(&b.buf) };
    int order = tide_bucket_key_order(&x, &y), back = tide_bucket_key_order(&y, &x);
    assert_int_equal(order<0, back> 0);
    assert_int_equal(order == 0, back == 0);
    literal_close(&a);
    literal_close(&b);
    return order;
}

/* In each pair the first sorts before the second, although its XDR may not. */
static void keys_are_sorted_field_by_field(void **state)
{
    (void)state;
    static const struct {
        const char *before, *behind;
    } cases[] = {
        { "00000003 00000009", "0000000f 00000001 61000000" },          /* arms */
        { "0000000f 00000002 61610000", "0000000f 00000001 62000000" }, /* aa, b */
        { "0000000f 00000001 61000000", "0000000f 00000002 61610000" }, /* a, aa */
        { "00000004 ffffffff", "00000004 00000000" },                   /* -1, 0 as i32 */
        { "00000006 ffffffffffffffff", "00000006 0000000000000001" },
        { "0000000a ffffffffffffffff 8*00", "0000000a 8*00 8*00" }, /* i128 */
        { "0000000c ff000000 28*00", "0000000c 32*00" },            /* i256 */
        { "00000003 00000001", "00000003 ffffffff" },               /* u32 */
        { "00000010 00000001 00000002 0000000f 00000001 61000000 00000003 00000001",
          "00000010 00000001 00000001 0000000f 00000001 62000000" }, /* [a, 1], [b] */
        { "00000010 00000001 00000001 0000000f 00000001 61000000",
          "00000010 00000001 00000002 0000000f 00000001 61000000 00000003 00000001" },
        { "00000010 00000000", "00000010 00000001 00000000" }, /* no vec, an empty one */
        { "00000011 00000001 00000001 00000003 00000001 00000003 00000001",
          "00000011 00000001 00000001 00000003 00000001 00000003 00000002" }, /* a map's value */
        { "00000012 00000000 00000000 32*ff", "00000012 00000001 32*00" },    /* addresses */
        { "00000015 ffffffffffffffff", "00000015 0000000000000000" },         /* nonces */
        { "00000013 00000000 32*01 00000000", "00000013 00000001 00000000" }, /* instances */
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        assert_true(order_of(cases[i].before, cases[i].behind) < 0);
        assert_int_equal(order_of(cases[i].before, cases[i].before), 0);
        assert_int_equal(order_of(cases[i].behind, cases[i].behind), 0);
    }
}

int test_bucket(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_of_contracts_are_given),
        cmocka_unit_test(the_hot_archive_has_its_own_arms),
        cmocka_unit_test(metadata_says_the_list),
        cmocka_unit_test(keys_must_ascend),
        cmocka_unit_test(another_byte_is_another_bucket),
        cmocka_unit_test(what_is_malformed_is_refused),
        cmocka_unit_test(keys_are_sorted_field_by_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
