/* Values of the model as JSON. 64-bit and 128-bit numbers are strings: JSON readers keep only 53
 * bits. */
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tools/sim/chain/expect.h"

void expect_address(struct tide_buf *json, struct sim_addr party)
{
    char text[TIDE_STRKEY_TEXT_MAX];
    enum tide_strkey kind = party.kind == SIM_ACCOUNT ? TIDE_STRKEY_ACCOUNT : TIDE_STRKEY_CONTRACT;
    size_t len = tide_strkey_encode(text, kind, tide_slice_of(party.key, TIDE_HASH_BYTES));
    assert(len == 56 && party.kind <= SIM_CONTRACT);
    tide_buf_u8(json, '"');
    tide_buf_put(json, text, len);
    tide_buf_u8(json, '"');
}

static void put_amount(struct tide_buf *json, sim_amount amount)
{
    char text[TIDE_I128_TEXT_MAX];
    tide_buf_u8(json, '"');
    tide_buf_put(json, text, tide_i128_text(text, (tide_i128){ amount }));
    tide_buf_u8(json, '"');
}

static void put_vec(struct tide_buf *json, const sim_val *val)
{
    tide_buf_u8(json, '[');
    for (uint32_t i = 0; i < val->len; i++) {
        if (i)
            tide_buf_u8(json, ',');
        expect_value(json, &val->vec[i]);
    }
    tide_buf_u8(json, ']');
}

/* Writes a symbol as it is, any other key as its JSON text in a string. */
static void put_key(struct tide_buf *json, const sim_val *key)
{
    if (key->type == TIDE_SCV_SYMBOL) {
        tide_buf_json_string(json, key->bytes);
        return;
    }
    struct tide_buf text;
    tide_buf_init(&text, SIM_ARENA);
    expect_value(&text, key);
    tide_buf_json_string(json, tide_buf_view(&text));
    tide_buf_release(&text);
}

static void put_map(struct tide_buf *json, const sim_val *val)
{
    tide_buf_u8(json, '{');
    for (uint32_t i = 0; i < val->len; i++) {
        if (i)
            tide_buf_u8(json, ',');
        put_key(json, &val->map[i].key);
        tide_buf_u8(json, ':');
        expect_value(json, &val->map[i].val);
    }
    tide_buf_u8(json, '}');
}

static void put_instance(struct tide_buf *json, const struct sim_instance *instance)
{
    if (instance->stellar_asset) {
        tide_buf_str(json, "{\"executable\":\"contractExecutableStellarAsset\"");
    } else {
        tide_buf_str(json, "{\"executable\":\"contractExecutableWasm\",\"wasm\":\"");
        tide_buf_hex(json, tide_slice_of(instance->wasm, TIDE_HASH_BYTES));
        tide_buf_u8(json, '"');
    }
    tide_buf_str(json, ",\"storage\":");
    put_map(json, &instance->storage);
    tide_buf_u8(json, '}');
}

void expect_value(struct tide_buf *json, const sim_val *val)
{
    switch (val->type) {
    case TIDE_SCV_BOOL:
        tide_buf_str(json, val->b ? "true" : "false");
        break;
    case TIDE_SCV_U32:
        tide_buf_putf(json, "%u", val->u32);
        break;
    case TIDE_SCV_U64:
        tide_buf_putf(json, "\"%" PRIu64 "\"", val->u64);
        break;
    case TIDE_SCV_I128:
        put_amount(json, val->i128);
        break;
    case TIDE_SCV_BYTES:
        tide_buf_u8(json, '"');
        tide_buf_hex(json, val->bytes);
        tide_buf_u8(json, '"');
        break;
    case TIDE_SCV_STRING:
    case TIDE_SCV_SYMBOL:
        tide_scval_json_string(json, val->bytes);
        break;
    case TIDE_SCV_VEC:
        put_vec(json, val);
        break;
    case TIDE_SCV_MAP:
        put_map(json, val);
        break;
    case TIDE_SCV_ADDRESS:
        expect_address(json, val->addr);
        break;
    case TIDE_SCV_CONTRACT_INSTANCE:
        put_instance(json, val->instance);
        break;
    case TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE:
        tide_buf_str(json, "\"LedgerKeyContractInstance\"");
        break;
    default: /* the model has no value of another type */
        assert(val->type == TIDE_SCV_VOID);
        tide_buf_str(json, "null");
        break;
    }
}
