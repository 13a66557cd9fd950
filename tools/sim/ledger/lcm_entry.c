/* Parts of a ledger: entries, keys, addresses, the head of an event. */
#include "tidemark/scval.h"
#include "tidemark/xdr.h"
#include "tools/sim/ledger/lcm.h"

enum { ENTRY_ACCOUNT = 0, ENTRY_TRUSTLINE = 1, ENTRY_DATA = 6, ENTRY_CODE = 7, ENTRY_TTL = 9 };

/* Appends a PublicKey of type ed25519. */
static void put_account_id(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES])
{
    tide_buf_be32(buf, 0);
    tide_buf_put(buf, key, TIDE_HASH_BYTES);
}

void lcm_put_account(struct tide_buf *buf, const struct lcm_account *account)
{
    static const uint8_t thresholds[4] = { 1, 0, 0, 0 };
    tide_buf_be32(buf, account->modified);
    tide_buf_be32(buf, ENTRY_ACCOUNT);
    put_account_id(buf, account->key);
    tide_buf_be64(buf, (uint64_t)account->balance);
    tide_buf_be64(buf, (uint64_t)account->seq);
    tide_buf_be32(buf, account->subentries);
    tide_buf_be32(buf, 0); /* no inflation destination */
    tide_buf_be32(buf, account->flags);
    tide_buf_be32(buf, 0); /* empty home domain */
    tide_buf_put(buf, thresholds, sizeof thresholds);
    tide_buf_be32(buf, 0); /* no signers */
    tide_buf_be32(buf, 0); /* account extension */
    tide_buf_be32(buf, 0); /* entry extension */
}

void lcm_put_trustline(struct tide_buf *buf, const struct lcm_trustline *line)
{
    tide_buf_be32(buf, line->modified);
    tide_buf_be32(buf, ENTRY_TRUSTLINE);
    put_account_id(buf, line->key);
    tide_buf_slice(buf, line->asset);
    tide_buf_be64(buf, (uint64_t)line->balance);
    tide_buf_be64(buf, (uint64_t)line->limit);
    tide_buf_be32(buf, line->flags);
    tide_buf_be32(buf, 0); /* trustline extension */
    tide_buf_be32(buf, 0); /* entry extension */
}

void lcm_put_ttl(struct tide_buf *buf, uint32_t modified, const uint8_t key_hash[TIDE_HASH_BYTES],
                 uint32_t live_until)
{
    tide_buf_be32(buf, modified);
    tide_buf_be32(buf, ENTRY_TTL);
    tide_buf_put(buf, key_hash, TIDE_HASH_BYTES);
    tide_buf_be32(buf, live_until);
    tide_buf_be32(buf, 0); /* entry extension */
}

void lcm_put_data(struct tide_buf *buf, uint32_t modified, const struct lcm_data *data,
                  tide_slice value)
{
    tide_buf_be32(buf, modified);
    tide_buf_be32(buf, ENTRY_DATA);
    tide_buf_be32(buf, 0); /* data extension */
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
                        uint32_t topic_count)
{
    tide_buf_be32(buf, 0); /* extension */
    tide_buf_be32(buf, 1); /* the contract id is present */
    tide_buf_put(buf, contract, TIDE_HASH_BYTES);
    tide_buf_be32(buf, 1); /* CONTRACT */
    tide_buf_be32(buf, 0); /* body v0 */
    tide_buf_be32(buf, topic_count);
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
