/* Proof that a client controls an account, as wallets know it (SEP-10): a transaction that can
 * never be applied, signed by this server and then by the account's signers. Pure: the caller
 * provides keys, times and random bytes.
 *
 *   source  this server's key, sequence 0     time bounds  now, now + TIDE_KYC_CHALLENGE_S
 *   1  ManageData of the account: "<homeDomain> auth" = base64 of 48 random bytes
 *   2  ManageData of this server: "web_auth_domain" = host of publicUrl
 *
 * The client's signatures count with the weights of the account's signers and must reach its medium
 * threshold. account.h asks the network for both. */
#ifndef API_KYC_SESSIONS_CHALLENGE_H
#define API_KYC_SESSIONS_CHALLENGE_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/sign.h"

#define TIDE_KYC_CHALLENGE_S     900
#define TIDE_KYC_NONCE_BYTES     48u
#define TIDE_KYC_ENVELOPE_MAX    2048u /* bytes of an envelope with all signatures */
#define TIDE_KYC_SIGNATURES_MAX  19u   /* the client's; an envelope has at most twenty */
#define TIDE_KYC_SIGNERS_MAX     21u   /* most signers of an account, including its own key */
#define TIDE_KYC_HOME_DOMAIN_MAX 59u   /* "<homeDomain> auth" has at most 64 bytes */

/* Values that all challenges of this server share. */
struct tide_kyc_challenger {
    const char *home_domain; /* at most TIDE_KYC_HOME_DOMAIN_MAX bytes */
    const char *web_domain;  /* at most 64 bytes */
    const uint8_t *network_id;
    const uint8_t *server; /* public key, 32 bytes */
};

/* Appends the envelope for an account's key, signed with sign. TIDE_E_MEMORY. */
tide_status tide_kyc_challenge_write(struct tide_buf *out, const struct tide_kyc_challenger *who,
                                     const uint8_t *account,
                                     const uint8_t nonce[TIDE_KYC_NONCE_BYTES], uint64_t now,
                                     struct tide_sign *sign) TIDE_MUST_USE;

/* Signatures of an answered challenge. tide_kyc_proof_weigh finds the signers they belong to. */
struct tide_kyc_proof {
    uint8_t hash[TIDE_HASH_BYTES]; /* hash of the transaction */
    uint64_t until;                /* end of its time bounds, unix seconds */
    uint32_t count;
    struct {
        uint8_t hint[4], signature[TIDE_SIGNATURE_BYTES];
    } signatures[TIDE_KYC_SIGNATURES_MAX];
};

/* Returns NULL if this server issued the envelope for that account, its time bounds contain now,
 * and the client has added at least one signature. Otherwise returns a static text for people that
 * says what is wrong. */
const char *tide_kyc_challenge_read(struct tide_kyc_proof *out,
                                    const struct tide_kyc_challenger *who, const uint8_t *account,
                                    tide_slice envelope, uint64_t now);

/* Signers of an account, with their weights. */
struct tide_kyc_signers {
    uint32_t medium; /* medium threshold */
    uint32_t count;
    struct {
        uint8_t key[TIDE_HASH_BYTES];
        uint32_t weight; /* 0: may not sign */
    } list[TIDE_KYC_SIGNERS_MAX];
};

/* Returns NULL if each signature belongs to a different signer and their weights reach the medium
 * threshold. Otherwise returns a static text. A signature of an unknown key is an error too. */
const char *tide_kyc_proof_weigh(const struct tide_kyc_proof *proof,
                                 const struct tide_kyc_signers *signers);

#endif
