/* The memory of ledger hashes that servers reported: reports of one server do not hide the fork of
 * another. */
#include "indexer/source/rpc/fleet_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { HONEST, LIAR };

static const uint8_t ours[TIDE_HASH_BYTES] = { 1 }, forged[TIDE_HASH_BYTES] = { 2 };

static struct rpc_memory *fresh(void)
{
    struct rpc_memory *memory = calloc(1, sizeof *memory);
    assert_non_null(memory);
    return memory;
}

static void two_hashes_are_told_apart(void **state)
{
    (void)state;
    uint32_t other = 9;
    struct rpc_memory *memory = fresh();
    assert_true(rpc_memory_note(memory, 7, ours, HONEST, &other));
    assert_true(rpc_memory_note(memory, 7, ours, LIAR, &other));
    assert_false(rpc_memory_note(memory, 7, forged, LIAR, &other));
    assert_int_equal(other, HONEST);
    assert_null(rpc_memory_find(memory, 8, &other));
    assert_null(rpc_memory_find(memory, 0, &other));
    free(memory);
}

/* False claims of a server about far ledgers displace only that server's own entries. */
static void false_claims_displace_nothing(void **state)
{
    (void)state;
    uint32_t other = 9;
    struct rpc_memory *memory = fresh();
    for (uint32_t i = 0; i < RPC_MEMORY_LEDGERS; i++)
        assert_true(rpc_memory_note(memory, UINT32_MAX - i, forged, LIAR, &other));
    assert_true(rpc_memory_note(memory, 1000, ours, HONEST, &other));
    assert_false(rpc_memory_note(memory, 1000, forged, LIAR, &other));
    assert_int_equal(other, HONEST);
    free(memory);
}

static void older_ledgers_are_forgotten(void **state)
{
    (void)state;
    uint32_t other = 9;
    struct rpc_memory *memory = fresh();
    assert_true(rpc_memory_note(memory, 5, ours, HONEST, &other));
    assert_true(rpc_memory_note(memory, 5 + RPC_MEMORY_LEDGERS, ours, HONEST, &other));
    assert_null(rpc_memory_find(memory, 5, &other));
    assert_true(rpc_memory_note(memory, 5, forged, HONEST, &other));
    assert_null(rpc_memory_find(memory, 5, &other));
    free(memory);
}

int test_rpc_memory(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_hashes_are_told_apart),
        cmocka_unit_test(false_claims_displace_nothing),
        cmocka_unit_test(older_ledgers_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
