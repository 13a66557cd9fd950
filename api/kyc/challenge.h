/* Proof that somebody controls an account, as wallets know it (SEP-10): a transaction that can
 * never run, which we sign, then they. Pure: keys, times and random bytes are the caller's.
 *
 *   source  our key, sequence 0          time bounds  now, now + TIDE_KYC_CHALLENGE_S
 *   1  ManageData of the account: "<homeDomain> auth" = base64 of 48 random bytes
 *   2  ManageData of ours: "web_auth_domain" = host of publicUrl
 *
 * Only the account's own key signs, and it always may: accounts are not indexed, so other signers,
 * weights and thresholds are not looked up. */
#ifndef API_KYC_CHALLENGE_H
#define API_KYC_CHALLENGE_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/sign.h"

#define TIDE_KYC_CHALLENGE_S     900
#define TIDE_KYC_NONCE_BYTES     48u
#define TIDE_KYC_ENVELOPE_MAX    1024u /* bytes of an envelope, signed by both */
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

/* NULL when envelope is ours for that account, its time has come and not gone, and both signed it
 * and nobody else; hash is then the transaction's and *until its last second. Else what is wrong
 * with it: a static word, for a person. */
const char *tide_kyc_challenge_read(uint8_t hash[TIDE_HASH_BYTES], uint64_t *until,
                                    const struct tide_kyc_challenger *who, const uint8_t *account,
                                    tide_slice envelope, uint64_t now);

#endif
