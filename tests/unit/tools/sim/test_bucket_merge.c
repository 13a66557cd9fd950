/* Merging buckets of the simulated network: each pair of records of one key, in both lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tidemark/xdr.h"
#include "tools/sim/ledger/bucket.h"
#include "tools/sim/ledger/lcm.h"

/* An arm that no record has: the bucket lacks the key. */
enum { NONE = 9 };

/* Makes a bucket with a TTL entry, or its key, between two others that stay the same. */
static struct bucket *make_bucket(const struct bucket_form *form, uint32_t arm, uint32_t live_until)
{
    struct bucket *bucket = bucket_begin(form);
    assert_non_null(bucket);
    for (uint8_t i = 1; i <= 3; i++) {
        uint8_t hash[TIDE_HASH_BYTES] = { i };
        struct tide_buf body;
        tide_buf_init(&body, 256);
        if (i == 2 && arm == BUCKET_DEAD)
            lcm_put_ttl_key(&body, hash);
        else
            lcm_put_ttl(&body, 7, hash, live_until);
        if (i != 2 || arm != NONE)
            bucket_put(bucket, i == 2 ? (enum bucket_arm)arm : BUCKET_LIVE, tide_buf_view(&body));
        tide_buf_release(&body);
    }
    return bucket_end(bucket);
}

/* Returns the arm of the record whose key begins with 2, or NONE; *live_until is its value's. */
static uint32_t arm_of(const struct bucket *bucket, uint32_t *live_until)
{
    tide_slice rest = tide_buf_view(&bucket->bytes);
    while (rest.len) {
        uint32_t len = tide_be32(rest.ptr) & INT32_MAX, arm = tide_be32(rest.ptr + 4);
        size_t hash_at = arm == BUCKET_DEAD ? 12 : 16;
        if (arm != UINT32_MAX && rest.ptr[hash_at] == 2) {
            *live_until = arm == BUCKET_DEAD ? 0 : tide_be32(rest.ptr + hash_at + TIDE_HASH_BYTES);
            return arm;
        }
        rest = tide_slice_of(rest.ptr + 4 + len, rest.len - 4 - len);
    }
    return NONE;
}

struct merge_case {
    uint32_t older, newer, kept, at_bottom; /* arms: of both, with removals and without */
};

static void check_cases(const struct bucket_form *form, const struct merge_case *cases,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct bucket *older = make_bucket(form, cases[i].older, 100);
        struct bucket *newer = make_bucket(form, cases[i].newer, 200);
        uint32_t live_until = 0;
        for (int dead = 0; dead < 2; dead++) {
            struct bucket *merged;
            assert_int_equal(bucket_merge(&merged, form, older, newer, dead), TIDE_OK);
            uint32_t wanted = dead ? cases[i].kept : cases[i].at_bottom;
            assert_int_equal(arm_of(merged, &live_until), wanted);
            if (wanted != NONE && wanted != BUCKET_DEAD)
                assert_int_equal(live_until, cases[i].newer == NONE ? 100 : 200);
            bucket_release(merged);
        }
        bucket_release(older);
        bucket_release(newer);
    }
}

static void the_newer_record_counts(void **state)
{
    (void)state;
    static const struct bucket_form live = { .protocol = 25 };
    static const struct merge_case cases[] = {
        { BUCKET_LIVE, BUCKET_LIVE, BUCKET_LIVE, BUCKET_LIVE },
        { BUCKET_INIT, BUCKET_LIVE, BUCKET_INIT, BUCKET_INIT },
        { BUCKET_LIVE, BUCKET_DEAD, BUCKET_DEAD, NONE },
        { BUCKET_INIT, BUCKET_DEAD, NONE, NONE },
        { BUCKET_DEAD, BUCKET_INIT, BUCKET_LIVE, BUCKET_LIVE },
        { BUCKET_DEAD, NONE, BUCKET_DEAD, NONE },
        { NONE, BUCKET_DEAD, BUCKET_DEAD, NONE },
        { NONE, BUCKET_INIT, BUCKET_INIT, BUCKET_INIT },
        { BUCKET_INIT, NONE, BUCKET_INIT, BUCKET_INIT },
    };
    check_cases(&live, cases, TIDE_COUNT(cases));
}

static void restored_entries_hide_archived_ones(void **state)
{
    (void)state;
    static const struct bucket_form hot = { .protocol = 25, .hot = true };
    static const struct merge_case cases[] = {
        { BUCKET_LIVE, BUCKET_DEAD, BUCKET_DEAD, NONE }, /* archived, then restored */
        { BUCKET_DEAD, BUCKET_LIVE, BUCKET_LIVE, BUCKET_LIVE },
        { NONE, BUCKET_LIVE, BUCKET_LIVE, BUCKET_LIVE },
    };
    check_cases(&hot, cases, TIDE_COUNT(cases));
}

static void empty_buckets_stay_empty(void **state)
{
    (void)state;
    static const struct bucket_form live = { .protocol = 25 };
    struct bucket *merged;
    assert_int_equal(bucket_merge(&merged, &live, NULL, NULL, true), TIDE_OK);
    assert_null(merged);
    struct bucket *one = make_bucket(&live, BUCKET_LIVE, 100);
    assert_int_equal(bucket_merge(&merged, &live, NULL, one, true), TIDE_OK);
    assert_memory_equal(merged->hash, one->hash, TIDE_HASH_BYTES);
    bucket_release(merged);
    assert_int_equal(bucket_merge(&merged, &live, one, NULL, true), TIDE_OK);
    assert_memory_equal(merged->hash, one->hash, TIDE_HASH_BYTES);
    bucket_release(merged);
    bucket_release(one);
}

int test_bucket_merge(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newer_record_counts),
        cmocka_unit_test(restored_entries_hide_archived_ones),
        cmocka_unit_test(empty_buckets_stay_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
