/* The boundaries of ledgers, in every container and in pieces of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "indexer/source/split.h"
#include "tests/unit/schema/wire/literal.h"

static void the_first_twelve_bytes_tell(void **state)
{
    (void)state;
    static const struct {
        const char *hex;
        enum tide_framing framing;
    } cases[] = {
        { "00000002 00000000 00000000", TIDE_FRAMING_BARE }, /* V2, a hash follows            */
        { "00000002 00000001 00000000", TIDE_FRAMING_BARE }, /* V2, ext v1                    */
        { "00000001 00000000 ffffffff", TIDE_FRAMING_BARE },
        { "00000000 00000007 00000001", TIDE_FRAMING_BARE },  /* V0: the hash is any bytes     */
        { "00000002 00000007 00000006", TIDE_FRAMING_BATCH }, /* the first object of a lake    */
        { "00000002 00000002 00000001", TIDE_FRAMING_BATCH },
        { "00000001 00000001 00000001", TIDE_FRAMING_BATCH },
        { "03c4b2bc 03c4b2bc 00000001", TIDE_FRAMING_BATCH },
        { "80000270 00000002 00000000", TIDE_FRAMING_STREAM },
        { "00000009 00000008 00000001", TIDE_FRAMING_NONE }, /* last before first             */
        { "28b52ffd 00000000 00000000", TIDE_FRAMING_NONE }, /* zstd is not ledgers           */
        { "00000002 00000000", TIDE_FRAMING_NONE },          /* too short to say              */
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct literal l;
        literal_open(&l, cases[i].hex);
        assert_int_equal(tide_split_framing(tide_buf_view(&l.buf)), cases[i].framing);
        literal_close(&l);
    }
}

/* Splits `whole`, which is given in growing windows of at first `step` bytes. */
static tide_status split_all(tide_slice whole, size_t step, unsigned *count, size_t *bytes)
{
    struct tide_split split = { 0 };
    struct tide_err err;
    tide_slice lcm;
    size_t at = 0;
    size_t end = step < whole.len ? step : whole.len;
    *count = 0;
    *bytes = 0;
    for (;;) {
        tide_slice in = tide_slice_of(whole.ptr + at, end - at);
        tide_status status = tide_split_next(&split, &in, end == whole.len, &lcm, &err);
        at = end - in.len;
        if (status == TIDE_OK) {
            ++*count;
            *bytes += lcm.len;
        } else if (status != TIDE_E_EOF || end == whole.len) {
            return status;
        } else {
            assert_true(split.wanted > in.len); /* or nothing would ever change */
            end = end + step < whole.len ? end + step : whole.len;
        }
    }
}

static void put_ledger(struct tide_buf *b, enum tide_framing framing, const struct literal *l)
{
    if (framing == TIDE_FRAMING_STREAM)
        tide_buf_be32(b, 0x80000000u | (uint32_t)l->buf.len);
    tide_buf_slice(b, tide_buf_view(&l->buf));
}

static void in_any_pieces_the_ledgers_are_the_same(void **state)
{
    (void)state;
    static const size_t steps[] = { 1, 3, 12, 13, 500, 5000, 1 << 20 };
    struct literal l;
    literal_open(&l, ledger_literal);
    for (int framing = TIDE_FRAMING_BARE; framing <= TIDE_FRAMING_STREAM; framing++) {
        struct tide_buf b;
        unsigned ledgers = framing == TIDE_FRAMING_BARE ? 1 : 3;
        tide_buf_init(&b, 1 << 20);
        if (framing == TIDE_FRAMING_BATCH) {
            tide_buf_be32(&b, 40);
            tide_buf_be32(&b, 42);
            tide_buf_be32(&b, 3);
        }
        for (unsigned i = 0; i < ledgers; i++)
            put_ledger(&b, (enum tide_framing)framing, &l);
        for (size_t i = 0; i < TIDE_COUNT(steps); i++) {
            unsigned count;
            size_t bytes;
            assert_int_equal(split_all(tide_buf_view(&b), steps[i], &count, &bytes), TIDE_E_EOF);
            assert_int_equal(count, ledgers);
            assert_int_equal(bytes, ledgers * l.buf.len);
            /* an input that is cut short gives its complete ledgers, then the error "malformed" */
            tide_slice cut = tide_slice_of(b.ptr, b.len - 4);
            assert_int_equal(split_all(cut, steps[i], &count, &bytes), TIDE_E_DECODE);
            assert_int_equal(count, ledgers - 1);
        }
        unsigned count;
        size_t bytes;
        tide_buf_be32(&b, 0);
        assert_int_equal(split_all(tide_buf_view(&b), 1 << 20, &count, &bytes), TIDE_E_DECODE);
        assert_int_equal(count, ledgers);
        tide_buf_release(&b);
    }
    literal_close(&l);
}

static void lies_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *hex;
        tide_status status;
    } cases[] = {
        { "0000000a 0000000b 00000003 00000000", TIDE_E_DECODE },  /* 3 ledgers in 10..11        */
        { "ffffffff 00000002 00000000", TIDE_E_LIMIT },            /* a record of 2 GiB          */
        { "80000010 00000002 00000000 00000000", TIDE_E_DECODE },  /* shorter than it says       */
        { "00000009 00000008 00000001", TIDE_E_DECODE },           /* nothing known              */
        { "00000002 00000002 00000001 00000003", TIDE_E_UNKNOWN }, /* LedgerCloseMeta arm 3     */
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct literal l;
        unsigned count;
        size_t bytes;
        literal_open(&l, cases[i].hex);
        assert_int_equal(split_all(tide_buf_view(&l.buf), 1 << 20, &count, &bytes),
                         cases[i].status);
        literal_close(&l);
    }
}

int test_split(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_twelve_bytes_tell),
        cmocka_unit_test(in_any_pieces_the_ledgers_are_the_same),
        cmocka_unit_test(lies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
