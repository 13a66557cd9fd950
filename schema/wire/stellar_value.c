#include "tidemark/stellar_value.h"

#include "tidemark/xdr_skip.h"

static bool has_ms(const struct tide_stellar_value *value)
{
    return value->type >= TIDE_VALUE_SIGNED_MS;
}

/* Reads closeTimeMs, the whole time in milliseconds. stellar-core takes no value in which the two
 * times differ. */
static void read_close_ms(struct tide_xdr *x, struct tide_stellar_value *out)
{
    uint64_t ms = tide_xdr_u64(x);
    if (x->status == TIDE_OK && ms / 1000 != out->close_time)
        tide_xdr_refuse(x, TIDE_E_DECODE, "closeTimeMs of another second", (uint32_t)(ms % 1000));
    out->close_ms = (uint32_t)(ms % 1000);
}

void tide_stellar_value_read(struct tide_xdr *x, struct tide_stellar_value *out)
{
    *out = (struct tide_stellar_value){ 0 };
    out->tx_set_hash = out->signed_hash = tide_xdr_opaque(x, TIDE_HASH_BYTES).ptr;
    out->close_time = tide_xdr_u64(x);
    out->upgrade_count = tide_xdr_count(x, 6, 4);
    const uint8_t *upgrades = x->cur;
    for (uint32_t i = 0; i < out->upgrade_count; i++)
        tide_xdr_var(x, 128);
    out->upgrades = tide_xdr_span(x, upgrades);
    out->type = skip_enum(x, TIDE_VALUE_EMPTY_TX_SET_MS, "StellarValueExt arm");
    if (has_ms(out))
        read_close_ms(x, out);
    if (out->type == TIDE_VALUE_EMPTY_TX_SET || out->type == TIDE_VALUE_EMPTY_TX_SET_MS) {
        out->signed_hash = tide_xdr_opaque(x, TIDE_HASH_BYTES).ptr;
        out->previous = tide_xdr_opaque(x, TIDE_HASH_BYTES).ptr;
        tide_xdr_skip(x, 4); /* protocol version of the ledger before */
    }
    if (out->type != TIDE_VALUE_BASIC) {
        const uint8_t *node = x->cur;
        skip_public_key(x);
        out->node = x->status == TIDE_OK ? node + 4 : NULL;
        out->signature = tide_xdr_var(x, 64);
    }
    assert(x->status != TIDE_OK || out->tx_set_hash);
}

tide_status tide_stellar_value_of(struct tide_stellar_value *out, tide_slice bytes)
{
    struct tide_xdr x = tide_xdr_of(bytes);
    tide_stellar_value_read(&x, out);
    return tide_xdr_end(&x);
}

static void put_be64(uint8_t *out, uint64_t v)
{
    v = __builtin_bswap64(v);
    memcpy(out, &v, 8);
}

size_t tide_stellar_value_signed(uint8_t out[TIDE_VALUE_SIGNED_BYTES],
                                 const struct tide_stellar_value *value,
                                 const uint8_t network_id[TIDE_HASH_BYTES])
{
    enum { TYPE_AT = 32, HASH_AT = 36, TIME_AT = 68, MS_AT = 76 };
    static const uint8_t envelope_type_scp_value[4] = { 0, 0, 0, 4 };
    static_assert(MS_AT + 8 == TIDE_VALUE_SIGNED_BYTES, "the fields fill the message");
    assert(value->node && value->signed_hash);
    memcpy(out, network_id, TIDE_HASH_BYTES);
    memcpy(out + TYPE_AT, envelope_type_scp_value, sizeof envelope_type_scp_value);
    memcpy(out + HASH_AT, value->signed_hash, TIDE_HASH_BYTES);
    put_be64(out + TIME_AT, value->close_time);
    if (!has_ms(value))
        return MS_AT;
    put_be64(out + MS_AT, value->close_time * 1000 + value->close_ms);
    return TIDE_VALUE_SIGNED_BYTES;
}
