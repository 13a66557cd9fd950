/* XDR of the verifier's transactions. The comments name the field that a constant stands for. */
#include "api/attester/chain/envelope.h"
#include "tidemark/scval.h"
#include "tidemark/tx.h"
#include "tidemark/xdr.h"

static void put_key(struct tide_buf *out, const uint8_t key[TIDE_HASH_BYTES])
{
    tide_buf_be32(out, 0); /* ed25519 */
    tide_buf_put(out, key, TIDE_HASH_BYTES);
}

/* --- the call --------------------------------------------------------------------------------- */

uint32_t att_put_args(struct tide_buf *out, const struct att_claim *claim, bool revoke)
{
    tide_buf_be32(out, TIDE_SCV_ADDRESS);
    tide_buf_be32(out, 0); /* an account */
    put_key(out, claim->verifier);
    tide_buf_be32(out, TIDE_SCV_ADDRESS);
    tide_buf_slice(out, claim->subject);
    if (revoke)
        return 2;
    tide_buf_be32(out, TIDE_SCV_U32);
    tide_buf_be32(out, claim->jurisdiction);
    tide_buf_be32(out, TIDE_SCV_U64);
    tide_buf_be64(out, claim->expires_at);
    tide_buf_be32(out, TIDE_SCV_BYTES);
    tide_xdr_put_var(out, tide_slice_of(claim->metadata, TIDE_HASH_BYTES));
    return 5;
}

/* InvokeContractArgs */
static void put_call(struct tide_buf *out, const struct att_call *call)
{
    assert(call->function);
    tide_buf_be32(out, 1); /* a contract */
    tide_buf_put(out, call->contract, TIDE_HASH_BYTES);
    tide_xdr_put_var(out, tide_slice_str(call->function));
    tide_buf_be32(out, call->arg_count);
    tide_buf_slice(out, call->args);
}

void att_put_auth(struct tide_buf *out, const struct att_call *call)
{
    tide_buf_be32(out, 0); /* SorobanCredentials: source account */
    tide_buf_be32(out, 0); /* a contract's function */
    put_call(out, call);
    tide_buf_be32(out, 0); /* number of sub-invocations */
}

/* --- envelopes -------------------------------------------------------------------------------- */

static void put_operation(struct tide_buf *out, const struct att_draft *draft)
{
    tide_buf_be32(out, 0); /* operation source: the same as the transaction's */
    tide_buf_be32(out, ATT_OP_INVOKE);
    tide_buf_be32(out, 0); /* a contract's function */
    put_call(out, draft->call);
    tide_buf_be32(out, draft->auth_count);
    tide_buf_slice(out, draft->auth);
}

tide_status att_put_envelope(struct tide_buf *out, const struct att_draft *draft)
{
    assert(draft->call && draft->max_time > 0); /* 0 would mean no end */
    tide_buf_be32(out, ATT_TX);
    put_key(out, draft->source);
    tide_buf_be32(out, draft->fee);
    tide_buf_be64(out, (uint64_t)draft->seq);
    tide_buf_be32(out, 1); /* preconditions: time bounds */
    /* No earliest time: the envelope is valid at once. */
    tide_buf_be64(out, 0);
    tide_buf_be64(out, draft->max_time);
    tide_buf_be32(out, 0); /* memo: none */
    /* The number of operations. */
    tide_buf_be32(out, 1);
    put_operation(out, draft);
    tide_buf_be32(out, draft->soroban.len > 0);
    tide_buf_slice(out, draft->soroban);
    tide_buf_be32(out, 0); /* signatures */
    return out->failed ? TIDE_E_LIMIT : TIDE_OK;
}

tide_status att_put_bump(struct tide_buf *out, tide_slice inner,
                         const uint8_t source[TIDE_HASH_BYTES], int64_t fee)
{
    assert(inner.len > 0 && fee > 0);
    tide_buf_be32(out, ATT_BUMP);
    put_key(out, source);
    tide_buf_be64(out, (uint64_t)fee);
    tide_buf_slice(
        out,
        inner); /* the EnvelopeType of inner is also the discriminant of the union's inner arm */
    tide_buf_be32(out, 0);
    tide_buf_be32(out, 0); /* signatures */
    return out->failed ? TIDE_E_LIMIT : TIDE_OK;
}

bool att_envelope_is(tide_slice envelope, const uint8_t network_id[TIDE_HASH_BYTES],
                     const uint8_t hash[TIDE_HASH_BYTES])
{
    struct tide_envelope e;
    struct tide_xdr x;
    uint8_t own[TIDE_HASH_BYTES];
    if (tide_envelope_read(&e, envelope, &x) != TIDE_OK)
        return false;
    if (e.type == ATT_BUMP) { /* hash the wrapped transaction as if it stood alone */
        e.type = ATT_TX;
        e.signed_part = e.inner_signed_part;
    }
    tide_envelope_hash(own, &e, network_id);
    return memcmp(own, hash, TIDE_HASH_BYTES) == 0;
}
