/* Transactions of the verifier, written byte by byte: one operation, unsigned.
 *
 * Only att_sign (signer.h) signs the envelopes made here. att_sign decodes the bytes again and
 * trusts nothing of this module. */
#ifndef API_ATTESTER_CHAIN_ENVELOPE_H
#define API_ATTESTER_CHAIN_ENVELOPE_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"

#define ATT_ENVELOPE_MAX (128u << 10)

enum { ATT_OP_INVOKE = 24 };
enum { ATT_TX = 2, ATT_BUMP = 5 }; /* EnvelopeType */

/* The call of a contract's function. */
struct att_call {
    uint8_t contract[TIDE_HASH_BYTES];
    const char *function;
    uint32_t arg_count;
    tide_slice args; /* the arguments, ScVals back to back; borrowed */
};

/* The content of an attestation: the arguments of attest. A revocation uses verifier and subject
 * alone. */
struct att_claim {
    uint8_t verifier[TIDE_HASH_BYTES]; /* ed25519 key */
    tide_slice subject;                /* SCAddress XDR; borrowed */
    uint32_t jurisdiction;
    uint64_t expires_at; /* unix seconds */
    uint8_t metadata[TIDE_HASH_BYTES];
    const uint8_t *attested; /* revoke: metadata of the attestation to withdraw; NULL: unknown */
};

/* Appends the arguments of attest or revoke and returns their number. */
uint32_t att_put_args(struct tide_buf *out, const struct att_claim *claim, bool revoke);

struct att_draft {
    uint8_t source[TIDE_HASH_BYTES]; /* ed25519 key */
    uint32_t fee;                    /* stroops, resources included */
    int64_t seq;
    uint64_t max_time; /* unix seconds; no ledger that closes later includes it */
    const struct att_call *call;
    uint32_t auth_count; /* number of authorisations in auth */
    /* SorobanAuthorizationEntry, back to back. */
    tide_slice auth;
    tide_slice soroban; /* SorobanTransactionData; empty: a draft to simulate */
};

/* Appends the TransactionEnvelope without signatures. Fails with TIDE_E_LIMIT if out is full. */
tide_status att_put_envelope(struct tide_buf *out, const struct att_draft *draft) TIDE_MUST_USE;

/* Appends a FeeBumpTransaction around the signed envelope inner, without a signature of its own.
 * source pays fee stroops in total, the inner transaction's resources included. Fails with
 * TIDE_E_LIMIT if out is full. */
tide_status att_put_bump(struct tide_buf *out, tide_slice inner,
                         const uint8_t source[TIDE_HASH_BYTES], int64_t fee) TIDE_MUST_USE;

/* Returns true if envelope is the transaction with that hash on that network, or a fee bump
 * around that transaction. */
bool att_envelope_is(tide_slice envelope, const uint8_t network_id[TIDE_HASH_BYTES],
                     const uint8_t hash[TIDE_HASH_BYTES]);

/* Appends the only authorisation that the signer accepts: by the source account, for exactly
 * that call and no calls below it. */
void att_put_auth(struct tide_buf *out, const struct att_call *call);

#endif
