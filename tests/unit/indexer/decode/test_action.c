/* DAO call data as JSON: every action, and every way in which call data is malformed. */
#include "indexer/decode/decode_impl.h"
#include "tidemark/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define G          "GDANFQT3AMLJLQEVOV4GIRHW7IMVG2MUIIFJSHQCMQNWGKZT6QYM3MNK"
#define C          "CB7S6EYGV3PQEDV3UU4TZVE27QLSDUFZVFTYI4R5ATF6GANUSRCSRYNG"
#define I(lo)      lo "\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define S(literal) (const uint8_t *)(literal), sizeof(literal) - 1

static const struct {
    const uint8_t *data;
    size_t len;
    const char *json;
} table[] = {
    { S(""), "{\"action\":null,\"name\":\"none\"}" },
    { S("\1\2\3"), "{\"action\":null,\"name\":\"none\",\"undecodable\":true,\"hex\":\"010203\"}" },
    { S("\0\0\0\0"
        "\5PSOIL"
        "\x38" C "\3OIL"
        "\x38" C "\3XLM" I("\1\0") I("\2\0") I("\3\0") I("\4\0") I("\0\1")),
      "{\"action\":0,\"name\":\"deploy_asset\",\"symbol\":\"PSOIL\",\"token\":\"" C
      "\",\"oracle_symbol\":\"OIL\",\"collateral_token\":\"" C
      "\",\"coll_oracle_symbol\":\"XLM\",\"min_ratio\":\"1\",\"liq_ratio\":\"2\","
      "\"liq_penalty\":\"3\",\"stab_fee_bps\":\"4\",\"debt_ceiling\":\"256\"}" },
    { S("\1\0\0\0\3\0\0\0"), "{\"action\":1,\"name\":\"deactivate_partner\",\"partner_id\":3}" },
    { S("\1\0\0\0\3\0\0"), "{\"action\":1,\"name\":\"deactivate_partner\",\"undecodable\":true,"
                           "\"hex\":\"01000000030000\"}" },
    { S("\2\0\0\0"), "{\"action\":2,\"name\":\"retired\"}" },
    { S("\3\0\0\0\1\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
      "{\"action\":3,\"name\":\"adjust_partner_share\",\"partner_id\":1,\"share_bps\":\"-1\"}" },
    { S("\4\0\0\0" I("\x18\x28") I("\x93\1")),
      "{\"action\":4,\"name\":\"adjust_ratios\",\"min_ratio\":\"10264\",\"liq_penalty\":\"403\"}" },
    { S("\4\0\0\0" I("\x18\x28")),
      "{\"action\":4,\"name\":\"adjust_ratios\",\"min_ratio\":\"10264\"}" },
    { S("\4\0\0\0\1"),
      "{\"action\":4,\"name\":\"adjust_ratios\",\"undecodable\":true,\"hex\":\"0400000001\"}" },
    { S("\5\0\0\0\1P\x38" C "\x38" C I("\x1e\0")),
      "{\"action\":5,\"name\":\"create_pool\",\"pool_id\":\"P\",\"token_a\":\"" C
      "\",\"token_b\":\"" C "\",\"fee_tier\":\"30\"}" },
    { S("\6\0\0\0\0\0\0\0\x38" G "\xfe"), "{\"action\":6,\"name\":\"add_signer\",\"wallet_id\":0,"
                                          "\"signer\":\"" G "\",\"ignored\":\"fe\"}" },
    { S("\7\0\0\0\0\0\0\0\x38" G),
      "{\"action\":7,\"name\":\"remove_signer\",\"wallet_id\":0,\"signer\":\"" G "\"}" },
    { S("\x8\0\0\0\x38" G),
      "{\"action\":8,\"name\":\"add_oracle_provider\",\"provider\":\"" G "\"}" },
    { S("\x9\0\0\0\2\"}"), "{\"action\":9,\"name\":\"remove_oracle_provider\",\"undecodable\":true,"
                           "\"hex\":\"0900000002227d\"}" },
    { S("\xa\0\0\0\2\0\0\0"),
      "{\"action\":10,\"name\":\"set_oracle_quorum\",\"min_providers\":2}" },
    { S("\xb\0\0\0\x38" G), "{\"action\":11,\"name\":\"add_verifier\",\"verifier\":\"" G "\"}" },
    { S("\xc\0\0\0\x38" G), "{\"action\":12,\"name\":\"remove_verifier\",\"verifier\":\"" G "\"}" },
    { S("\xd\0\0\0\x38" C "\1"),
      "{\"action\":13,\"name\":\"set_collateral_allowed\",\"token\":\"" C "\",\"allowed\":true}" },
    { S("\xe\0\0\0\x38" G "\5a\"b\1c"),
      "{\"action\":14,\"name\":\"register_partner\",\"owner\":\"" G
      "\",\"partner_name\":\"a\\\"b\\u0001c\"}" },
    { S("\xe\0\0\0\x38" G "\1\0"), /* queries of its members would fail */
      "{\"action\":14,\"name\":\"register_partner\",\"undecodable\":true,\"hex\":\"0e00000038"
      "4744414e46515433414d4c4a4c5145564f5634474952485737494d5647324d554949464a534851434d514e57474b"
      "5a543651594d334d4e4b0100\"}" },
    { S("\xe\0\0\0\x38" G "\1\xff"),
      "{\"action\":14,\"name\":\"register_partner\",\"undecodable\":true,\"hex\":\"0e00000038"
      "4744414e46515433414d4c4a4c5145564f5634474952485737494d5647324d554949464a534851434d514e57474b"
      "5a543651594d334d4e4b01ff\"}" },
    { S("\xf\0\0\0\5PSOIL"),
      "{\"action\":15,\"name\":\"activate_partner_asset\",\"symbol\":\"PSOIL\"}" },
    { S("\xf\0\0\0\2A-"), "{\"action\":15,\"name\":\"activate_partner_asset\",\"undecodable\":true,"
                          "\"hex\":\"0f00000002412d\"}" },
    { S("\x10\0\0\0\x38" C "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"),
      "{\"action\":16,\"name\":\"upgrade_contract\",\"target\":\"" C "\",\"wasm_hash\":"
      "\"4142434445464748494a4b4c4d4e4f505152535455565758595a303132333435\"}" },
    { S("c\0\0\0\1"), "{\"action\":99,\"name\":\"generic\",\"hex\":\"6300000001\"}" },
    { S("\2\x10\x27\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
      "{\"action\":2560002,\"name\":\"set_param\",\"param\":\"ParamLiqPenalty\",\"value\":"
      "\"10000\"}" },
};

static void actions_read_as_the_table_says(void **state)
{
    (void)state;
    struct tide_buf json;
    tide_buf_init(&json, 1 << 16);
    for (size_t i = 0; i < TIDE_COUNT(table); i++) {
        tide_buf_reset(&json);
        assert_int_equal(tide_action_json(&json, tide_slice_of(table[i].data, table[i].len)),
                         TIDE_OK);
        tide_buf_u8(&json, 0);
        assert_string_equal((const char *)json.ptr, table[i].json);
    }
    tide_buf_release(&json);
}

/* A known action cut at any byte is not read past its end, and no part of it is shown. */
static void every_cut_is_undecodable(void **state)
{
    (void)state;
    struct tide_buf json;
    tide_buf_init(&json, 1 << 16);
    static const uint8_t whole[] = "\6\0\0\0\0\0\0\0\x38" G;
    for (size_t len = 4; len < sizeof whole - 1; len++) {
        tide_buf_reset(&json);
        assert_int_equal(tide_action_json(&json, tide_slice_of(whole, len)), TIDE_OK);
        tide_buf_u8(&json, 0);
        assert_non_null(strstr((const char *)json.ptr, "\"undecodable\":true"));
        assert_null(strstr((const char *)json.ptr, "wallet_id"));
    }
    tide_buf_release(&json);
}

static void a_full_buffer_is_reported(void **state)
{
    (void)state;
    struct tide_buf json;
    tide_buf_init(&json, 8);
    assert_int_equal(tide_action_json(&json, TIDE_SLICE("c\0\0\0")), TIDE_E_LIMIT);
    tide_buf_release(&json);
}

int test_action(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actions_read_as_the_table_says),
        cmocka_unit_test(every_cut_is_undecodable),
        cmocka_unit_test(a_full_buffer_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
