/* Making of envelopes and of signed authorisations. */
#include "tools/sim/client/tx_build.h"
#include "tidemark/hash.h"
#include "tidemark/xdr.h"
#include "tools/sim/chain/chain_call.h"

enum { ENVELOPE_TX = 2 };

/* Appends an ed25519 key as account id or muxed account. */
static void put_key(struct tide_buf *buf, const uint8_t *key)
{
    tide_buf_be32(buf, 0);
    tide_buf_put(buf, key, TIDE_HASH_BYTES);
}

/* Appends the operation. */
static void put_operation(struct tide_buf *buf, const struct tx_draft *what)
{
    tide_buf_be32(buf, 0); /* the source is the transaction's */
    tide_buf_be32(buf, LCM_OP_INVOKE);
    tide_buf_be32(buf, 0); /* invoke contract */
    lcm_put_address_contract(buf, what->contract);
    tide_xdr_put_var(buf, tide_slice_str(what->fn));
    tide_buf_be32(buf, what->arg_count);
    tide_buf_slice(buf, what->args);
    tide_buf_be32(buf, what->auth_count);
    tide_buf_slice(buf, what->auth);
}

/* Appends the Transaction, which the signature covers. */
static void put_transaction(struct tide_buf *buf, const struct tx_draft *what)
{
    put_key(buf, what->source);
    tide_buf_be32(buf, what->fee);
    tide_buf_be64(buf, (uint64_t)what->seq);
    tide_buf_be32(buf, what->max_time > 0);
    if (what->max_time) {
        tide_buf_be64(buf, 0); /* no lower time bound */
        tide_buf_be64(buf, what->max_time);
    }
    tide_buf_be32(buf, 0); /* no memo */
    tide_buf_be32(buf, 1);
    put_operation(buf, what);
    tide_buf_be32(buf, what->soroban.len > 0);
    tide_buf_slice(buf, what->soroban);
}

/* Hashes the payload of a signature: network id, envelope type, content. */
static void hash_part(uint8_t out[TIDE_HASH_BYTES], const uint8_t *network_id, uint8_t type,
                      tide_slice part)
{
    const uint8_t kind[4] = { 0, 0, 0, type };
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(network_id, TIDE_HASH_BYTES));
    tide_sha256_update(&h, tide_slice_of(kind, sizeof kind));
    tide_sha256_update(&h, part);
    tide_sha256_final(&h, out);
}

/* Appends the list of signatures: one, or none without a key. */
static void put_signature(struct tide_buf *buf, struct tide_sign *key,
                          const uint8_t hash[TIDE_HASH_BYTES])
{
    uint8_t signature[TIDE_SIGNATURE_BYTES];
    tide_buf_be32(buf, key != NULL);
    if (!key)
        return;
    tide_sign(key, signature, tide_slice_of(hash, TIDE_HASH_BYTES));
    tide_buf_put(buf, tide_sign_public(key) + TIDE_HASH_BYTES - 4, 4);
    tide_xdr_put_var(buf, tide_slice_of(signature, sizeof signature));
}

tide_status tx_build_envelope(struct tide_buf *buf, const struct tx_draft *what,
                              struct tide_sign *key, uint8_t hash[TIDE_HASH_BYTES])
{
    tide_buf_be32(buf, ENVELOPE_TX);
    size_t mark = buf->len;
    put_transaction(buf, what);
    if (buf->failed)
        return TIDE_E_MEMORY;
    hash_part(hash, what->network_id, ENVELOPE_TX, tide_slice_of(buf->ptr + mark, buf->len - mark));
    put_signature(buf, key, hash);
    return buf->failed ? TIDE_E_MEMORY : TIDE_OK;
}

/* Address credentials are rewritten with an expiry and a signature; nonce and invocation stay. */
tide_status tx_build_auth(struct tide_buf *buf, const uint8_t *network_id, tide_slice entry,
                          struct tide_sign *key, uint32_t expires)
{
    uint8_t hash[TIDE_HASH_BYTES], signature[TIDE_SIGNATURE_BYTES];
    struct tide_xdr x = tide_xdr_of(entry);
    uint32_t arm = tide_xdr_u32(&x);
    if (arm == 0) {
        tide_buf_slice(buf, entry);
        return TIDE_OK;
    }
    const uint8_t *mark = x.cur;
    tide_scaddress_skip(&x);
    tide_slice address = tide_xdr_span(&x, mark);
    struct chain_signed what = { .nonce = tide_xdr_i64(&x), .expires = expires };
    tide_xdr_skip(&x, 4);
    tide_scval_skip(&x);
    what.invocation = tide_slice_of(x.cur, tide_xdr_left(&x));
    if (arm > 1 || x.status != TIDE_OK)
        return TIDE_E_DECODE;
    chain_auth_hash(network_id, &what, hash);
    tide_sign(key, signature, tide_slice_of(hash, sizeof hash));
    tide_buf_be32(buf, arm);
    tide_buf_slice(buf, address);
    tide_buf_be64(buf, (uint64_t)what.nonce);
    tide_buf_be32(buf, expires);
    chain_put_signature(buf, tide_sign_public(key), signature);
    tide_buf_slice(buf, what.invocation);
    return buf->failed ? TIDE_E_MEMORY : TIDE_OK;
}
