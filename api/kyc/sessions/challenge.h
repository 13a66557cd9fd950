/* Proof that a client controls an account, as wallets know it (SEP-10): a transaction that can
 * never run, which we sign, then they. Pure: keys, times and random bytes are the caller's.
 *
 *   source  our key, sequence 0          time bounds  now, now + TIDE_KYC_CHALLENGE_S
 *   1  ManageData of the account: "<homeDomain> auth" = base64 of 48 random bytes
 *   2  ManageData of ours: "web_auth_domain" = host of publicUrl
 *
 * The client's signatures count with the weights of the account's signers and have to reach its
 * medium threshold: account.h asks the network for both. */
#ifndef API_KYC_SESSIONS_CHALLENGE_H
#define API_KYC_SESSIONS_CHALLENGE_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/sign.h"

#define TIDE_KYC_CHALLENGE_S     900
#define TIDE_KYC_NONCE_BYTES     48u
#define TIDE_KYC_ENVELOPE_MAX    2048u /* bytes of an envelope with all signatures */
#define TIDE_KYC_SIGNATURES_MAX  19u   /* of the client: an envelope has twenty at most */
#define TIDE_KYC_SIGNERS_MAX     21u   /* of an account, its own key included */
#define TIDE_KYC_HOME_DOMAIN_MAX 59u   /* "<homeDomain> auth" is a name of 64 bytes at most */

/* What all challenges of a server have in common. */
struct tide_kyc_challenger {
    const char *home_domain; /* TIDE_KYC_HOME_DOMAIN_MAX bytes at most */
    const char *web_domain;  /* 64 bytes at most */
    const uint8_t *network_id;
    const uint8_t *server; /* public key, 32 bytes */
};

/* The envelope for an account's key, signed by sign. TIDE_E_MEMORY. */
tide_status tide_kyc_challenge_write(struct tide_buf *out, const struct tide_kyc_challenger *who,
                                     const uint8_t *account,
                                     const uint8_t nonce[TIDE_KYC_NONCE_BYTES], uint64_t now,
                                     struct tide_sign *sign) TIDE_MUST_USE;

/* An answered challenge: whose the signatures are is not known yet. */
struct tide_kyc_proof {
    uint8_t hash[TIDE_HASH_BYTES]; /* of the transaction */
    uint64_t until;                /* its last second */
    uint32_t count;
    struct {
        uint8_t hint[4], signature[TIDE_SIGNATURE_BYTES];
    } signatures[TIDE_KYC_SIGNATURES_MAX];
};

/* NULL when envelope is ours for that account, signed by us, its time has come and not gone, and
 * the client has signed it at all. Else what is wrong with it: a static text, for a person. */
const char *tide_kyc_challenge_read(struct tide_kyc_proof *out,
                                    const struct tide_kyc_challenger *who, const uint8_t *account,
                                    tide_slice envelope, uint64_t now);

/* Whose signatures count for an account. */
struct tide_kyc_signers {
    uint32_t medium; /* threshold */
    uint32_t count;
    struct {
        uint8_t key[TIDE_HASH_BYTES];
        uint32_t weight; /* 0: may not sign */
    } list[TIDE_KYC_SIGNERS_MAX];
};

/* NULL when each signature is a different signer's and together they reach the medium threshold.
 * A signature of no signer is a mistake, not ignored. */
const char *tide_kyc_proof_weigh(const struct tide_kyc_proof *proof,
                                 const struct tide_kyc_signers *signers);

#endif
