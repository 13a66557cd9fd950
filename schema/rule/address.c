#include "tidemark/hot_record.h"
#include "tidemark/strkey.h"

bool tide_hot_address_parse(struct tide_hot_address *out, tide_slice text)
{
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    *out = (struct tide_hot_address){ 0 };
    if (tide_strkey_decode(&kind, payload, &len, text) != TIDE_OK || len != TIDE_HASH_BYTES ||
        (kind != TIDE_STRKEY_ACCOUNT && kind != TIDE_STRKEY_CONTRACT))
        return false;
    out->kind = (uint8_t)kind;
    memcpy(out->key, payload, TIDE_HASH_BYTES);
    return true;
}

void tide_hot_address_text(char out[TIDE_HOT_ADDRESS_TEXT], const struct tide_hot_address *address)
{
    size_t len = 0;
    if (address->kind)
        len = tide_strkey_encode(out, (enum tide_strkey)address->kind,
                                 tide_slice_of(address->key, TIDE_HASH_BYTES));
    out[len] = 0;
}
