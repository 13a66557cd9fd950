/* The simulator's ledger writer, compared with literal bytes and with hashes computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tidemark/text.h"
#include "tidemark/xdr.h"
#include "tools/sim/ledger/lcm.h"

static const uint8_t alice[TIDE_HASH_BYTES] = { 0xa1, [28] = 1, 2, 3, 4 };
static const uint8_t bob[TIDE_HASH_BYTES] = { 0xb0, [31] = 9 };

static void open_chain(struct lcm *lcm, uint32_t version)
{
    *lcm = (struct lcm){ .version = version, .passphrase = "Test Network" };
    memset(lcm->previous_hash, 0x77, TIDE_HASH_BYTES);
    lcm_open(lcm);
}

static void hex_is(tide_slice bytes, const char *want)
{
    char text[4096];
    assert_true(bytes.len * 2 < sizeof text);
    tide_hex(text, bytes);
    text[bytes.len * 2] = 0;
    assert_string_equal(text, want);
}

static tide_slice part_of(tide_slice whole, size_t at, size_t len)
{
    assert_true(at + len <= whole.len);
    return tide_slice_of(whole.ptr + at, len);
}

static void an_empty_ledger_is_the_bytes_of_the_network(void **state)
{
    (void)state;
    struct lcm lcm;
    tide_slice out;
    uint8_t hash[TIDE_HASH_BYTES];
    open_chain(&lcm, 2);
    lcm_begin(&lcm, 500, 1780999920);
    assert_int_equal(lcm_end(&lcm, &out), TIDE_OK);
    hex_is(part_of(out, 0, 8), "0000000200000000");
    /* header: version, previous hash */
    hex_is(part_of(out, 40, 8), "0000001977777777");
    /* close time, no upgrades, basic value, hash of an empty result set */
    hex_is(part_of(out, 40 + 68, 16 + 32),
           "000000006a27e6f0"
           "00000000"
           "00000000"
           "df3f619804a92fdb4057192dc43dd748ea778adc52bc498ce80524c014b81119");
    /* the header's hash is over its 324 bytes */
    tide_sha256(hash, part_of(out, 40, 324));
    assert_memory_equal(hash, out.ptr + 8, TIDE_HASH_BYTES);
    assert_memory_equal(hash, lcm.previous_hash, TIDE_HASH_BYTES);
    /* history extension, then the set: v1, previous hash, two phases, both empty */
    tide_slice set = part_of(out, 40 + 324 + 4, 4 + 32 + 4 + 8 + 12);
    hex_is(part_of(set, 0, 8), "0000000177777777");
    hex_is(part_of(set, 36, 24), "00000002"
                                 "0000000000000000"
                                 "000000010000000000000000");
    tide_sha256(hash, set);
    assert_memory_equal(hash, out.ptr + 40 + 36, TIDE_HASH_BYTES);
    /* no transactions, upgrades, SCP; size of state; nothing evicted */
    hex_is(part_of(out, 40 + 324 + 4 + 60, 24), "000000000000000000000000000000000010000000000000");
    assert_int_equal(out.len, 40 + 324 + 4 + 60 + 24);
    lcm_close(&lcm);
}

static struct lcm_tx payment(int64_t seq)
{
    struct lcm_tx tx = {
        .source = alice, .seq = seq, .fee = 100, .fee_charged = 100, .success = true, .op_count = 1
    };
    tx.ops[0].type = LCM_OP_MANAGE_DATA;
    tx.ops[0].body = TIDE_SLICE("\0\0\0\1k\0\0\0\0\0\0\0");
    return tx;
}

static void an_envelope_hashes_as_its_network_says(void **state)
{
    (void)state;
    struct lcm lcm;
    tide_slice out;
    uint8_t want[TIDE_HASH_BYTES], payload[256];
    open_chain(&lcm, 2);
    lcm_begin(&lcm, 7, 1000);
    struct lcm_tx tx = payment(0x0102030405060708);
    lcm_add(&lcm, &tx);
    size_t n = 0;
    tide_network_id(payload, TIDE_SLICE("Test Network"));
    n += 32;
    memcpy(payload + n, "\0\0\0\2\0\0\0\0", 8);
    n += 8;
    memcpy(payload + n, alice, 32);
    n += 32;
    /* fee, sequence, no conditions, no memo, one operation: no source, manage data, "k" */
    memcpy(payload + n, "\0\0\0\x64\1\2\3\4\5\6\7\x8\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\xa", 32);
    n += 32;
    memcpy(payload + n, "\0\0\0\1k\0\0\0\0\0\0\0\0\0\0\0", 16);
    n += 16;
    tide_sha256(want, tide_slice_of(payload, n));
    assert_memory_equal(tx.hash, want, TIDE_HASH_BYTES);
    assert_int_equal(lcm_end(&lcm, &out), TIDE_OK);
    /* alice's transaction has no signature */
    hex_is(tide_slice_of(lcm.envelopes.ptr + lcm.envelopes.len - 8, 8), "0000000000000000");
    lcm_close(&lcm);
}

static void an_envelope_is_signed_by_its_source_and_its_payer(void **state)
{
    (void)state;
    struct lcm lcm;
    struct keys keys = { 0 };
    uint8_t carol[TIDE_HASH_BYTES], dave[TIDE_HASH_BYTES];
    open_chain(&lcm, 2);
    assert_int_equal(keys_add(&keys, alice, carol), TIDE_OK);
    assert_int_equal(keys_add(&keys, bob, dave), TIDE_OK);
    lcm.keys = &keys;
    lcm_begin(&lcm, 7, 1000);
    struct lcm_tx tx = payment(5);
    tx.source = carol;
    lcm_add(&lcm, &tx);
    /* the envelope ends with one signature: the last four bytes of the key, then 64 bytes */
    const uint8_t *end = lcm.envelopes.ptr + lcm.envelopes.len;
    assert_memory_equal(end - 76, "\0\0\0\1", 4);
    assert_memory_equal(end - 72, carol + 28, 4);
    assert_memory_equal(end - 68, "\0\0\0\x40", 4);
    assert_true(tide_ed25519_holds(carol, tide_slice_of(end - 64, 64),
                                   tide_slice_of(tx.hash, TIDE_HASH_BYTES)));
    tx.fee_source = dave;
    lcm_add(&lcm, &tx);
    end = lcm.envelopes.ptr + lcm.envelopes.len;
    assert_true(tide_ed25519_holds(dave, tide_slice_of(end - 64, 64),
                                   tide_slice_of(tx.hash, TIDE_HASH_BYTES)));
    lcm_close(&lcm);
    keys_close(&keys);
}

static void the_success_hash_covers_the_return_value_and_the_events(void **state)
{
    (void)state;
    struct lcm lcm;
    uint8_t want[TIDE_HASH_BYTES];
    open_chain(&lcm, 2);
    lcm_begin(&lcm, 7, 1000);
    struct lcm_tx tx = payment(1);
    tx.ops[0].type = LCM_OP_INVOKE;
    tx.soroban = TIDE_SLICE("\0\0\0\0");
    tx.return_value = TIDE_SLICE("\0\0\0\1");
    tx.ops[0].events = (struct lcm_list){ TIDE_SLICE("evts"), 3 };
    lcm_add(&lcm, &tx);
    tide_sha256(want, TIDE_SLICE("\0\0\0\1\0\0\0\3evts"));
    assert_memory_equal(tx.ops[0].success, want, TIDE_HASH_BYTES);
    lcm_close(&lcm);
}

static void a_failed_transaction_has_no_operations_in_its_meta(void **state)
{
    (void)state;
    struct lcm lcm;
    open_chain(&lcm, 2);
    lcm_begin(&lcm, 7, 1000);
    struct lcm_tx tx = payment(1);
    tx.success = false;
    tx.ops[0].code = -4;
    tx.ops[0].changes = (struct lcm_list){ TIDE_SLICE("kept out"), 1 };
    lcm_add(&lcm, &tx);
    /* result: fee, txFAILED, one result: opINNER, manage data, code */
    tide_slice all = tide_buf_view(&lcm.processing);
    hex_is(part_of(all, 36, 32), "0000000000000064"
                                 "ffffffff"
                                 "00000001"
                                 "00000000"
                                 "0000000a"
                                 "fffffffc"
                                 "00000000");
    /* no fee changes; meta 4: ext, before, operations, after, soroban, events, diagnostics */
    static const uint8_t want[36] = { [7] = 4 };
    assert_int_equal(all.len, 68 + sizeof want);
    assert_memory_equal(all.ptr + 68, want, sizeof want);
    lcm_close(&lcm);
}

static void a_refund_stands_behind_its_transaction(void **state)
{
    (void)state;
    struct lcm lcm;
    tide_slice out;
    open_chain(&lcm, 2);
    lcm_begin(&lcm, 7, 1000);
    struct lcm_tx one = payment(1), two = payment(2);
    lcm_add(&lcm, &one);
    lcm_add(&lcm, &two);
    size_t each = lcm.processing.len / 2;
    lcm_refund(&lcm, 0, &(struct lcm_list){ TIDE_SLICE("back"), 7 });
    assert_int_equal(lcm_end(&lcm, &out), TIDE_OK);
    size_t tail = 20 + each + 4; /* upgrades to evictions, the second transaction, no refund */
    hex_is(part_of(out, out.len - tail - 8, 8), "000000076261636b");
    lcm_close(&lcm);
}

static void the_set_is_sorted_by_hash_and_results_by_application(void **state)
{
    (void)state;
    struct lcm lcm;
    tide_slice out;
    uint8_t applied[40][TIDE_HASH_BYTES], hash[TIDE_HASH_BYTES];
    open_chain(&lcm, 1);
    lcm_begin(&lcm, 7, 1000);
    for (int i = 0; i < 40; i++) {
        struct lcm_tx tx = payment(i + 1);
        lcm_add(&lcm, &tx);
        memcpy(applied[i], tx.hash, TIDE_HASH_BYTES);
    }
    struct tide_buf results = lcm.results;
    for (int i = 0; i < 40; i++)
        assert_memory_equal(results.ptr + (size_t)i * (results.len / 40), applied[i], 32);
    assert_int_equal(lcm_end(&lcm, &out), TIDE_OK);
    for (uint32_t i = 1; i < 40; i++)
        assert_true(memcmp(lcm.index[i - 1].hash, lcm.index[i].hash, TIDE_HASH_BYTES) < 0);
    uint8_t *set = malloc(results.len + 4);
    memcpy(set, "\0\0\0\x28", 4);
    memcpy(set + 4, results.ptr, results.len);
    tide_sha256(hash, tide_slice_of(set, results.len + 4));
    assert_memory_equal(out.ptr + 40 + 84, hash, TIDE_HASH_BYTES);
    free(set);
    lcm_close(&lcm);
}

static void ledgers_are_linked_and_the_same_twice(void **state)
{
    (void)state;
    uint8_t last[2][TIDE_HASH_BYTES];
    for (int go = 0; go < 2; go++) {
        struct lcm lcm;
        tide_slice out;
        uint8_t previous[TIDE_HASH_BYTES];
        open_chain(&lcm, 2);
        for (uint32_t i = 1; i < 5; i++) {
            memcpy(previous, lcm.previous_hash, TIDE_HASH_BYTES);
            lcm_begin(&lcm, i, 1000 + i);
            struct lcm_tx tx = payment(i);
            tx.fee_source = i % 2 ? bob : NULL;
            lcm_add(&lcm, &tx);
            assert_int_equal(lcm_end(&lcm, &out), TIDE_OK);
            assert_memory_equal(out.ptr + 44, previous, TIDE_HASH_BYTES);
        }
        memcpy(last[go], lcm.previous_hash, TIDE_HASH_BYTES);
        lcm_close(&lcm);
    }
    assert_memory_equal(last[0], last[1], TIDE_HASH_BYTES);
}

int test_lcm(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_ledger_is_the_bytes_of_the_network),
        cmocka_unit_test(an_envelope_hashes_as_its_network_says),
        cmocka_unit_test(an_envelope_is_signed_by_its_source_and_its_payer),
        cmocka_unit_test(the_success_hash_covers_the_return_value_and_the_events),
        cmocka_unit_test(a_failed_transaction_has_no_operations_in_its_meta),
        cmocka_unit_test(a_refund_stands_behind_its_transaction),
        cmocka_unit_test(the_set_is_sorted_by_hash_and_results_by_application),
        cmocka_unit_test(ledgers_are_linked_and_the_same_twice),
    };
    return cmocka_run_group_tests_name("lcm", tests, NULL, NULL);
}
