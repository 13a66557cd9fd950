/* Hashes that identify contracts, ledger keys and transactions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "literal.h"
#include "tidemark/hash.h"
#include "tidemark/strkey.h"
#include "tidemark/tx.h"

static void contract_is(const char *passphrase, const char *preimage, const char *text)
{
    struct literal l;
    uint8_t network[TIDE_HASH_BYTES];
    uint8_t id[TIDE_HASH_BYTES];
    char strkey[TIDE_STRKEY_TEXT_MAX];
    literal_open(&l, preimage);
    tide_network_id(network, tide_slice_str(passphrase));
    tide_contract_id(id, network, tide_buf_view(&l.buf));
    size_t len =
        tide_strkey_encode(strkey, TIDE_STRKEY_CONTRACT, tide_slice_of(id, TIDE_HASH_BYTES));
    assert_int_equal(len, strlen(text));
    assert_memory_equal(strkey, text, len);
    literal_close(&l);
}

static void the_native_asset_has_its_known_contracts(void **state)
{
    (void)state;
    contract_is("Public Global Stellar Network ; September 2015", "00000001 00000000",
                "CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA");
    contract_is("Test SDF Network ; September 2015", "00000001 00000000",
                "CDLZFC3SYJYDZT7K67VZ75HPJVIEUVNIXF47ZG2FB2RMQQVU2HHGCYSC");
}

static void a_data_key_is_hashed_as_its_ledger_key(void **state)
{
    (void)state;
    struct literal l;
    uint8_t parts[TIDE_HASH_BYTES];
    uint8_t whole[TIDE_HASH_BYTES];
    literal_open(&l,
                 "00000006 @contract 00000001 32*c1 @key 0000000f 00000001 61000000 @dur 00000001");
    tide_data_key_hash(parts, literal_between(&l, "contract", "key"),
                       literal_between(&l, "key", "dur"), 1);
    tide_sha256(whole, tide_buf_view(&l.buf));
    assert_memory_equal(parts, whole, TIDE_HASH_BYTES);
    literal_close(&l);
}

#define V1_BODY "32*a1 00000064 0000000000000001 00000000 00000000 00000000 00000000 "

static void hash_of(uint8_t out[TIDE_HASH_BYTES], const char *envelope)
{
    static const uint8_t network[TIDE_HASH_BYTES] = { 5 };
    struct literal l;
    struct tide_envelope e;
    struct tide_xdr x;
    literal_open(&l, envelope);
    assert_int_equal(tide_envelope_read(&e, tide_buf_view(&l.buf), &x), TIDE_OK);
    tide_envelope_hash(out, &e, network);
    literal_close(&l);
}

static void an_old_envelope_hashes_as_a_new_one(void **state)
{
    (void)state;
    struct literal l;
    uint8_t v0[TIDE_HASH_BYTES];
    uint8_t v1[TIDE_HASH_BYTES];
    uint8_t bump[TIDE_HASH_BYTES];
    uint8_t want[TIDE_HASH_BYTES];
    hash_of(v0, "00000000 " V1_BODY "00000000");
    hash_of(v1, "00000002 00000000 " V1_BODY "00000001 01020304 00000004 05060708");
    assert_memory_equal(v0, v1, TIDE_HASH_BYTES);
    literal_open(&l, "05 31*00 00000002 00000000 " V1_BODY);
    tide_sha256(want, tide_buf_view(&l.buf));
    assert_memory_equal(v1, want, TIDE_HASH_BYTES);
    literal_close(&l);

#define BUMP_BODY                                                                 \
    "00000100 0000000000000009 32*b2 00000000000000c8 00000002 00000000 " V1_BODY \
    "00000001 01020304 00000004 05060708 00000000 "
    hash_of(bump, "00000005 " BUMP_BODY "00000000");
    literal_open(&l, "05 31*00 00000005 " BUMP_BODY);
    tide_sha256(want, tide_buf_view(&l.buf));
    assert_memory_equal(bump, want, TIDE_HASH_BYTES);
    literal_close(&l);
}

/* Three accounts: c3 calls (multiplexed, id 7), a1 pays the sequence number, b2 the fee (id 9). The
 * call creates a contract with a constructor of two arguments; so does its authorisation. */
#define CREATE_V2                                                                       \
    "00000000 00000000 00000000 32*d4 32*e5 00000000 32*f6 00000002 00000003 0000002a " \
    "00000001 "
#define CREATE_TX                                                                                 \
    "00000000 32*a1 00000064 0000000000000001 00000000 00000000 00000001 00000001 00000100 "      \
    "0000000000000007 32*c3 00000018 00000003 " CREATE_V2 "00000001 00000000 00000002 " CREATE_V2 \
    "00000000 00000000 "

static void a_fee_bump_names_who_calls_and_who_pays(void **state)
{
    (void)state;
    static const uint8_t network[TIDE_HASH_BYTES] = { 5 };
    struct literal l;
    struct tide_envelope e;
    struct tide_xdr x;
    uint8_t inner[TIDE_HASH_BYTES], want[TIDE_HASH_BYTES];
    uint64_t id;
    literal_open(&l, "00000005 00000100 0000000000000009 32*b2 00000000000000c8 00000002 " CREATE_TX
                     "00000000 00000000 00000000");
    assert_int_equal(tide_envelope_read(&e, tide_buf_view(&l.buf), &x), TIDE_OK);
    assert_int_equal(e.caller_key[0], 0xc3);
    assert_true(tide_muxed_id(&id, e.caller) && id == 7);
    assert_int_equal(e.source_key[0], 0xa1);
    assert_false(tide_muxed_id(&id, e.source));
    assert_int_equal(e.fee_source_key[0], 0xb2);
    assert_true(tide_muxed_id(&id, e.fee_source) && id == 9);
    assert_true(tide_envelope_inner_hash(inner, &e, network));
    hash_of(want, "00000002 " CREATE_TX "00000000");
    assert_memory_equal(inner, want, TIDE_HASH_BYTES);
    /* the constructor's arguments: u32 42 and void */
    assert_int_equal(e.host_function, 3);
    assert_int_equal(e.arg_count, 2);
    assert_int_equal(e.args.len, 12);
    assert_int_equal(tide_be32(e.args.ptr + 4), 42);
    assert_int_equal(e.auth_count, 1);
    literal_close(&l);
    literal_open(&l, "00000002 00000000 " V1_BODY "00000000");
    assert_int_equal(tide_envelope_read(&e, tide_buf_view(&l.buf), &x), TIDE_OK);
    assert_false(tide_envelope_inner_hash(inner, &e, network));
    assert_ptr_equal(e.caller_key, e.source_key);
    literal_close(&l);
}

int test_tx(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_native_asset_has_its_known_contracts),
        cmocka_unit_test(a_data_key_is_hashed_as_its_ledger_key),
        cmocka_unit_test(an_old_envelope_hashes_as_a_new_one),
        cmocka_unit_test(a_fee_bump_names_who_calls_and_who_pays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
