/* The verifier's key, and the only place that uses it.
 *
 * Policy   what is signed is read again from its bytes and must be, all of it: a transaction of
 *          this account, of one operation; that calls attest or revoke of the one contract, with
 *          exactly the arguments that were meant, authorised by the source account alone; its
 *          footprint nothing but that contract's entries and the code that was allowed last, which
 *          is written only where it is restored; what it restores a persistent one of those; its
 *          fee within the ceiling; its end, in time bounds, no later than was allowed last. The
 *          hash signed is this network's. Anything else is refused.
 * Secrets  the seed lives from the file into the key pair and is wiped; nothing here says it.
 * Threads  one signer belongs to one thread. */
#ifndef API_ATTESTER_CHAIN_SIGNER_H
#define API_ATTESTER_CHAIN_SIGNER_H

#include "api/attester/chain/envelope.h"
#include "tidemark/status.h"

struct att_signer; /* opaque */

struct att_policy {
    uint8_t network_id[TIDE_HASH_BYTES];
    uint8_t contract[TIDE_HASH_BYTES]; /* the compliance registry */
    int64_t fee_max;                   /* stroops, resources included */
    uint64_t latest;                   /* unix seconds: nothing that is good for longer is signed */
    bool has_code;
    uint8_t code[TIDE_HASH_BYTES]; /* the wasm that the registry's instance names */
};

/* path: a file with the seed S…, private (tidemark/secret.h). TIDE_E_CONFIG, TIDE_E_MEMORY. */
tide_status att_signer_open(struct att_signer **out, const char *path,
                            const struct att_policy *policy, struct tide_err *err) TIDE_MUST_USE;
/* The same of a seed that is in memory; for tests. */
tide_status att_signer_of(struct att_signer **out, const uint8_t seed[TIDE_HASH_BYTES],
                          const struct att_policy *policy) TIDE_MUST_USE;
void att_signer_close(struct att_signer *signer); /* NULL is fine; wipes */

const uint8_t *att_signer_public(const struct att_signer *signer); /* 32 bytes */
const char *att_signer_address(const struct att_signer *signer);   /* G…, NUL-terminated */
const struct att_policy *att_signer_policy(const struct att_signer *signer);

/* Moves policy.latest: what an envelope may be good for grows with our clock alone. */
void att_signer_allow_until(struct att_signer *signer, uint64_t latest);

/* Moves policy.code; NULL: no footprint with code is signed. Borrows nothing. */
void att_signer_allow_code(struct att_signer *signer, const uint8_t *code);

/* Whether an envelope would restore code: it is what costs. */
bool att_restores_code(tide_slice envelope);

/* Signs the envelope in *envelope, which has no signature yet (att_put_envelope, att_put_bump).
 * meant: the call that it must be, or wrap.
 * Out  hash  of the transaction; of a bump the outer one
 * TIDE_E_CONFLICT  the policy refuses; err says what. *envelope is as it was.
 * TIDE_E_LIMIT, TIDE_E_MEMORY. */
tide_status att_sign(struct att_signer *signer, struct tide_buf *envelope,
                     const struct att_call *meant, uint8_t hash[TIDE_HASH_BYTES],
                     struct tide_err *err) TIDE_MUST_USE;

#endif
