/* Transactions of the verifier, byte by byte: one operation, unsigned.
 *
 * What is made here is signed in one place alone (signer.h), which reads the bytes again. */
#ifndef API_ATTESTER_CHAIN_ENVELOPE_H
#define API_ATTESTER_CHAIN_ENVELOPE_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"

#define ATT_ENVELOPE_MAX (128u << 10)

enum { ATT_OP_INVOKE = 24 };
enum { ATT_TX = 2, ATT_BUMP = 5 }; /* EnvelopeType */

/* A call of a contract. */
struct att_call {
    uint8_t contract[TIDE_HASH_BYTES];
    const char *function;
    uint32_t arg_count;
    tide_slice args; /* ScVal back to back; borrowed */
};

/* What the two calls say; a revocation reads verifier and subject alone. */
struct att_words {
    uint8_t verifier[TIDE_HASH_BYTES]; /* ed25519 key */
    tide_slice subject;                /* SCAddress XDR; borrowed */
    uint32_t jurisdiction;
    uint64_t expires_at; /* unix seconds */
    uint8_t metadata[TIDE_HASH_BYTES];
    const uint8_t *attested; /* revoke: metadata of the attestation meant; NULL: not known */
};

/* Appends the arguments of attest or revoke; returns how many. */
uint32_t att_put_args(struct tide_buf *out, const struct att_words *words, bool revoke);

struct att_draft {
    uint8_t source[TIDE_HASH_BYTES]; /* ed25519 key */
    uint32_t fee;                    /* stroops, resources included */
    int64_t seq;
    uint64_t max_time; /* ledger time after which it is void */
    const struct att_call *call;
    uint32_t auth_count; /* 0 or more entries, back to back */
    tide_slice auth;
    tide_slice soroban; /* SorobanTransactionData; empty: a draft for the simulation */
};

/* Appends the TransactionEnvelope without signatures. TIDE_E_LIMIT when out is full. */
tide_status att_put_envelope(struct tide_buf *out, const struct att_draft *draft) TIDE_MUST_USE;

/* Appends a FeeBumpTransaction around a signed envelope, without signatures: fee stroops in all,
 * paid by source. TIDE_E_LIMIT when out is full. */
tide_status att_put_bump(struct tide_buf *out, tide_slice inner,
                         const uint8_t source[TIDE_HASH_BYTES], int64_t fee) TIDE_MUST_USE;

/* True when envelope is the transaction of that hash, or a fee bump around it. */
bool att_envelope_is(tide_slice envelope, const uint8_t network_id[TIDE_HASH_BYTES],
                     const uint8_t hash[TIDE_HASH_BYTES]);

/* Appends the one authorisation there may be: by the source account, of exactly that call. */
void att_put_auth(struct tide_buf *out, const struct att_call *call);

#endif
