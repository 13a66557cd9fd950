/* Writing of transactions with one operation. Comments name the field that a constant is. */
#include "tidemark/sign.h"
#include "tidemark/tx.h"

static void put_key(struct tide_buf *out, const uint8_t key[TIDE_HASH_BYTES])
{
    tide_buf_be32(out, 0); /* ed25519 */
    tide_buf_put(out, key, TIDE_HASH_BYTES);
}

void tide_call_put(struct tide_buf *out, const struct tide_call *call)
{
    assert(call->function);
    tide_buf_be32(out, 1); /* a contract */
    tide_buf_put(out, call->contract, TIDE_HASH_BYTES);
    tide_xdr_put_var(out, tide_slice_str(call->function));
    tide_buf_be32(out, call->arg_count);
    tide_buf_slice(out, call->args);
}

static void put_operation(struct tide_buf *out, const struct tide_draft *draft)
{
    tide_buf_be32(out, 0); /* operation source: the same as the transaction's */
    tide_buf_be32(out, TIDE_OP_INVOKE);
    tide_buf_be32(out, 0); /* a contract's function */
    tide_call_put(out, draft->call);
    tide_buf_be32(out, draft->auth_count);
    tide_buf_slice(out, draft->auth);
}

tide_status tide_envelope_put(struct tide_buf *out, const struct tide_draft *draft)
{
    assert(draft->call && draft->max_time > 0); /* 0 would mean no end */
    tide_buf_be32(out, TIDE_ENVELOPE_TX);
    put_key(out, draft->source);
    tide_buf_be32(out, draft->fee);
    tide_buf_be64(out, (uint64_t)draft->seq);
    tide_buf_be32(out, 1); /* preconditions: time bounds */
    tide_buf_be64(out, 0); /* no earliest time: the envelope is valid at once */
    tide_buf_be64(out, draft->max_time);
    tide_buf_be32(out, 0); /* memo: none */
    tide_buf_be32(out, 1); /* number of operations */
    put_operation(out, draft);
    tide_buf_be32(out, draft->soroban.len > 0);
    tide_buf_slice(out, draft->soroban);
    tide_buf_be32(out, 0); /* signatures */
    return out->failed ? TIDE_E_MEMORY : TIDE_OK;
}

/* The EnvelopeType of `inner` is also the discriminant of the union's inner arm. */
tide_status tide_envelope_put_bump(struct tide_buf *out, tide_slice inner,
                                   const uint8_t source[TIDE_HASH_BYTES], int64_t fee)
{
    assert(inner.len > 0 && fee > 0);
    tide_buf_be32(out, TIDE_ENVELOPE_BUMP);
    put_key(out, source);
    tide_buf_be64(out, (uint64_t)fee);
    tide_buf_slice(out, inner);
    tide_buf_be32(out, 0);
    tide_buf_be32(out, 0); /* signatures */
    return out->failed ? TIDE_E_MEMORY : TIDE_OK;
}

tide_status tide_envelope_sign(struct tide_buf *envelope, struct tide_sign *key,
                               const uint8_t hash[TIDE_HASH_BYTES])
{
    uint8_t signature[TIDE_SIGNATURE_BYTES];
    size_t before = envelope->len;
    assert(before >= 4 && tide_be32(envelope->ptr + before - 4) == 0); /* no signature yet */
    tide_sign(key, signature, tide_slice_of(hash, TIDE_HASH_BYTES));
    envelope->len -= 4;
    tide_buf_be32(envelope, 1);
    /* The hint: the last four bytes of the public key. */
    tide_buf_put(envelope, tide_sign_public(key) + TIDE_HASH_BYTES - 4, 4);
    tide_xdr_put_var(envelope, tide_slice_of(signature, sizeof signature));
    if (!envelope->failed)
        return TIDE_OK;
    envelope->failed = false;
    envelope->len = before;
    return TIDE_E_MEMORY;
}
