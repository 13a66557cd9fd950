/* Parts of a ledger: entries, keys, addresses, the head of an event. */
#include "tidemark/scval.h"
#include "tidemark/xdr.h"
#include "tools/sim/ledger/lcm.h"

enum { ENTRY_ACCOUNT = 0, ENTRY_TRUSTLINE = 1, ENTRY_DATA = 6, ENTRY_CODE = 7, ENTRY_TTL = 9 };

void lcm_put_words(struct tide_buf *buf, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tide_buf_be32(buf, words[i]);
}

void lcm_put_vec(struct tide_buf *buf, uint32_t count)
{
    lcm_words(buf, TIDE_SCV_VEC, 1, count); /* 1: the list is present */
}

void lcm_put_map(struct tide_buf *buf, uint32_t count)
{
    lcm_words(buf, TIDE_SCV_MAP, 1, count);
}

/* Appends a PublicKey of type ed25519. */
static void put_account_id(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES])
{
    tide_buf_be32(buf, 0);
    tide_buf_put(buf, key, TIDE_HASH_BYTES);
}

void lcm_put_account(struct tide_buf *buf, const struct lcm_account *account)
{
    static const uint8_t thresholds[4] = { 1, 0, 0, 0 };
    lcm_words(buf, account->modified, ENTRY_ACCOUNT);
    put_account_id(buf, account->key);
    tide_buf_be64(buf, (uint64_t)account->balance);
    tide_buf_be64(buf, (uint64_t)account->seq);
    lcm_words(buf, account->subentries, 0, account->flags,
              0); /* no inflation destination, empty home domain */
    tide_buf_put(buf, thresholds, sizeof thresholds);
    lcm_words(buf, 0, 0, 0); /* no signers, account extension, entry extension */
}

void lcm_put_trustline(struct tide_buf *buf, const struct lcm_trustline *line)
{
    lcm_words(buf, line->modified, ENTRY_TRUSTLINE);
    put_account_id(buf, line->key);
    tide_buf_slice(buf, line->asset);
    tide_buf_be64(buf, (uint64_t)line->balance);
    tide_buf_be64(buf, (uint64_t)line->limit);
    lcm_words(buf, line->flags, 0, 0); /* trustline extension, entry extension */
}

void lcm_put_ttl(struct tide_buf *buf, uint32_t modified, const uint8_t key_hash[TIDE_HASH_BYTES],
                 uint32_t live_until)
{
    lcm_words(buf, modified, ENTRY_TTL);
    tide_buf_put(buf, key_hash, TIDE_HASH_BYTES);
    lcm_words(buf, live_until, 0); /* entry extension */
}

void lcm_put_data(struct tide_buf *buf, uint32_t modified, const struct lcm_data *data,
                  tide_slice value)
{
    lcm_words(buf, modified, ENTRY_DATA, 0); /* data extension */
    tide_buf_slice(buf, data->contract);
    tide_buf_slice(buf, data->key);
    tide_buf_be32(buf, data->durability);
    tide_buf_slice(buf, value);
    tide_buf_be32(buf, 0); /* entry extension */
}

void lcm_put_account_key(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES])
{
    tide_buf_be32(buf, ENTRY_ACCOUNT);
    put_account_id(buf, key);
}

void lcm_put_trustline_key(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES],
                           tide_slice asset)
{
    tide_buf_be32(buf, ENTRY_TRUSTLINE);
    put_account_id(buf, key);
    tide_buf_slice(buf, asset);
}

void lcm_put_data_key(struct tide_buf *buf, const struct lcm_data *data)
{
    tide_buf_be32(buf, ENTRY_DATA);
    tide_buf_slice(buf, data->contract);
    tide_buf_slice(buf, data->key);
    tide_buf_be32(buf, data->durability);
}

void lcm_put_code_key(struct tide_buf *buf, const uint8_t hash[TIDE_HASH_BYTES])
{
    tide_buf_be32(buf, ENTRY_CODE);
    tide_buf_put(buf, hash, TIDE_HASH_BYTES);
}

void lcm_put_ttl_key(struct tide_buf *buf, const uint8_t key_hash[TIDE_HASH_BYTES])
{
    tide_buf_be32(buf, ENTRY_TTL);
    tide_buf_put(buf, key_hash, TIDE_HASH_BYTES);
}

void lcm_put_address_account(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES])
{
    tide_buf_be32(buf, 0);
    put_account_id(buf, key);
}

void lcm_put_address_contract(struct tide_buf *buf, const uint8_t id[TIDE_HASH_BYTES])
{
    tide_buf_be32(buf, 1);
    tide_buf_put(buf, id, TIDE_HASH_BYTES);
}

struct lcm_data lcm_data_of(struct tide_buf *address, const uint8_t contract[TIDE_HASH_BYTES],
                            tide_slice key, uint32_t durability)
{
    tide_buf_reset(address);
    lcm_put_address_contract(address, contract);
    return (struct lcm_data){ tide_buf_view(address), key, durability };
}

void lcm_data_hash(uint8_t out[TIDE_HASH_BYTES], const struct lcm_data *data)
{
    const uint8_t type[] = { 0, 0, 0, ENTRY_DATA };
    const uint8_t durability[] = { 0, 0, 0, (uint8_t)data->durability };
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(type, sizeof type));
    tide_sha256_update(&h, data->contract);
    tide_sha256_update(&h, data->key);
    tide_sha256_update(&h, tide_slice_of(durability, sizeof durability));
    tide_sha256_final(&h, out);
}

void lcm_put_asset4(struct tide_buf *buf, const char *code, const uint8_t issuer[TIDE_HASH_BYTES])
{
    uint8_t padded[4] = { 0 };
    size_t len = strlen(code);
    /* An AlphaNum4 code is padded with zeros. */
    assert(len >= 1 && len <= sizeof padded);
    memcpy(padded, code, len);
    tide_buf_be32(buf, 1);
    tide_buf_put(buf, padded, sizeof padded);
    put_account_id(buf, issuer);
}

void lcm_put_event_head(struct tide_buf *buf, const uint8_t contract[TIDE_HASH_BYTES],
                        uint32_t type, uint32_t topic_count)
{
    lcm_words(buf, 0, 1); /* extension, the contract id is present */
    tide_buf_put(buf, contract, TIDE_HASH_BYTES);
    lcm_words(buf, type, 0, topic_count); /* 0: body v0 */
}

void lcm_put_symbol(struct tide_buf *buf, const char *text)
{
    assert(strlen(text) <= 32 && "an SCSymbol's length");
    tide_buf_be32(buf, TIDE_SCV_SYMBOL);
    tide_xdr_put_var(buf, tide_slice_str(text));
}

void lcm_put_string(struct tide_buf *buf, const char *text)
{
    tide_buf_be32(buf, TIDE_SCV_STRING);
    tide_xdr_put_var(buf, tide_slice_str(text));
}

void lcm_put_i128(struct tide_buf *buf, int64_t value)
{
    tide_buf_be32(buf, TIDE_SCV_I128);
    tide_buf_be64(buf, value < 0 ? UINT64_MAX : 0);
    /* The high half is the sign. */
    tide_buf_be64(buf, (uint64_t)value);
}
