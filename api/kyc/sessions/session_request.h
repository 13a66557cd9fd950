/* Reads POST /api/sdk/kyc/session strictly, and identifies the client, before anything is looked
 * up. Problems name the faulty member by its JSON Pointer. */
#ifndef API_KYC_SESSIONS_SESSION_REQUEST_H
#define API_KYC_SESSIONS_SESSION_REQUEST_H

#include "api/kyc/base/handler.h"
#include "api/kyc/base/token.h"
#include "api/kyc/keys/keys.h"
#include "api/kyc/providers/provider.h"
#include "api/kyc/sessions/challenge.h"

/* Says whether the address is already compliant: the session is then a renewal. */
enum tide_kyc_renewal { TIDE_KYC_RENEWAL_UNKNOWN, TIDE_KYC_RENEWAL_NO, TIDE_KYC_RENEWAL_YES };

struct tide_kyc_session_request {
    struct tide_kyc_work work;
    char id[TIDE_KYC_SESSION_BYTES]; /* id for a new session */
    char address[TIDE_KYC_ADDRESS_BYTES];
    uint8_t key[TIDE_HASH_BYTES]; /* public key or contract hash of the address */
    bool contract;
    const struct tide_kyc_provider *provider;
    enum tide_kyc_mode mode;
    char integrator[TIDE_KYC_WORD_BYTES]; /* "": the request has no key */
    uint32_t sessions_per_hour;           /* limit of the integrator */
    bool keyed;                           /* the request has an Idempotency-Key */
    uint8_t idempotency[TIDE_HASH_BYTES];
    uint8_t network[8];  /* keyed hash of the client's network; unused with an integrator */
    size_t envelope_len; /* 0: no challenge */
    uint8_t envelope[TIDE_KYC_ENVELOPE_MAX];
    struct tide_kyc_signers signers; /* the account's; fetched before the challenge is verified */
    enum tide_kyc_renewal renewal;
    uint32_t reconcile_s;
    bool claimed; /* A run has reached COMMIT, and id is its session. */
    bool made;    /* claimed, and that run made the session */
};

/* Returns the values that all challenges of this context share; borrows from the context. */
struct tide_kyc_challenger tide_kyc_challenger_of(const struct tide_kyc_context *context);

/* Reads and checks the request. Returns false if the reply holds a problem:
 *   400 bad_body             no object; errors name each faulty, missing or unknown member
 *   400 bad_idempotency_key  not 1 to 128 visible characters, or given twice
 *   401 key_unknown          no integrator has this X-API-Key
 *   503 key_unchecked        the database has been unreachable for too long to trust known keys
 *   401 proof_required       neither key nor challenge, and the file does not say open
 *   401 key_required         a contract cannot sign a challenge */
bool tide_kyc_session_request_read(struct tide_kyc_session_request *out, const struct tide_kyc *kyc,
                                   const struct tide_request *request, struct tide_reply *reply);

#endif
