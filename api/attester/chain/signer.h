/* The verifier's key, and the only module that uses it.
 *
 * Policy   att_sign decodes the envelope's bytes and refuses it unless all of this holds:
 *          - the transaction's source and payer are this account, and it has one operation;
 *          - the operation calls attest or revoke of the registry with exactly the arguments meant,
 *            and the source account alone authorises it;
 *          - the footprint names only the registry's entries and its code (att_signer_allow_code);
 *            code is written only if it is restored; only persistent entries are restored;
 *          - the fee is at most fee_max;
 *          - the time bounds end at the latest moment allowed (att_signer_allow_until) or before.
 *          The signed hash includes the id of this network.
 * Secrets  the seed is wiped after it was read into the key pair. No message contains it.
 * Threads  one signer belongs to one thread. */
#ifndef API_ATTESTER_CHAIN_SIGNER_H
#define API_ATTESTER_CHAIN_SIGNER_H

#include "tidemark/tx.h"

#define ATT_ENVELOPE_MAX (128u << 10)

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
/* Appends the only authorisation that the signer accepts: by the source account, for exactly
 * that call and no calls below it. */
void att_put_auth(struct tide_buf *out, const struct tide_call *call);
/* Returns true if envelope is the transaction with that hash on that network, or a fee bump
 * around that transaction. */
bool att_envelope_is(tide_slice envelope, const uint8_t network_id[TIDE_HASH_BYTES],
                     const uint8_t hash[TIDE_HASH_BYTES]);

struct att_signer; /* opaque */

struct att_policy {
    uint8_t network_id[TIDE_HASH_BYTES];
    uint8_t contract[TIDE_HASH_BYTES]; /* the compliance registry */
    int64_t fee_max;                   /* stroops, resources included */
    uint64_t latest;                   /* unix seconds; an envelope must not be valid after this */
    bool has_code;                     /* false: no footprint with code is signed */
    uint8_t code[TIDE_HASH_BYTES];     /* if has_code: hash of the wasm that may be restored */
};

/* Opens the key in the file path: the seed S…, readable by this account only
 * (api/base/secret.h). Fails with TIDE_E_CONFIG (missing, readable by others, not a seed) or
 * TIDE_E_MEMORY. */
tide_status att_signer_open(struct att_signer **out, const char *path,
                            const struct att_policy *policy, struct tide_err *err) TIDE_MUST_USE;
/* Opens a key from a seed in memory; for tests. */
tide_status att_signer_of(struct att_signer **out, const uint8_t seed[TIDE_HASH_BYTES],
                          const struct att_policy *policy) TIDE_MUST_USE;
void att_signer_close(struct att_signer *signer); /* wipes the key; NULL is allowed */

const uint8_t *att_signer_public(const struct att_signer *signer); /* 32 bytes */
const char *att_signer_address(const struct att_signer *signer);   /* G…, NUL-terminated */
const struct att_policy *att_signer_policy(const struct att_signer *signer);

/* Sets policy.latest. The caller derives it from this host's clock alone, so no server can
 * extend it. */
void att_signer_allow_until(struct att_signer *signer, uint64_t latest);

/* Sets policy.code to a copy of code. NULL: no footprint with code is signed. */
void att_signer_allow_code(struct att_signer *signer, const uint8_t *code);

/* Returns true if the envelope would restore the registry's code, which is the costly case.
 * Returns false for an unreadable envelope; att_sign refuses that one. */
bool att_restores_code(tide_slice envelope);

/* Signs *envelope, which has no signature yet (tide_envelope_put, tide_envelope_put_bump).
 * meant: the call that the envelope, or the one it wraps, must contain.
 * Out  hash  of the transaction; of a fee bump, the outer one
 * TIDE_E_CONFLICT  the policy refuses; err names the rule. *envelope is unchanged.
 * TIDE_E_LIMIT  the envelope is full; *envelope is unchanged. */
tide_status att_sign(struct att_signer *signer, struct tide_buf *envelope,
                     const struct tide_call *meant, uint8_t hash[TIDE_HASH_BYTES],
                     struct tide_err *err) TIDE_MUST_USE;

#endif
