/* POST /api/sdk/kyc/session as it was asked: read strictly, and who asks, before anything is looked
 * up. What is wrong is said by JSON Pointer. */
#ifndef API_KYC_SESSIONS_SESSION_REQUEST_H
#define API_KYC_SESSIONS_SESSION_REQUEST_H

#include "api/kyc/base/handler.h"
#include "api/kyc/base/token.h"
#include "api/kyc/keys/keys.h"
#include "api/kyc/providers/provider.h"
#include "api/kyc/sessions/challenge.h"

/* Whether the address may trade already: then this is a renewal. */
enum tide_kyc_renewal { TIDE_KYC_RENEWAL_UNKNOWN, TIDE_KYC_RENEWAL_NO, TIDE_KYC_RENEWAL_YES };

struct tide_kyc_session_request {
    struct tide_kyc_work work;
    char id[TIDE_KYC_SESSION_BYTES]; /* of the session, if one must be made */
    char address[TIDE_KYC_ADDRESS_BYTES];
    uint8_t key[TIDE_HASH_BYTES]; /* of an account */
    bool contract;
    const struct tide_kyc_provider *provider;
    enum tide_kyc_mode mode;
    char integrator[TIDE_KYC_WORD_BYTES]; /* "": none asks */
    uint32_t sessions_per_hour;           /* the integrator's */
    bool keyed;                           /* with an Idempotency-Key */
    uint8_t idempotency[TIDE_HASH_BYTES];
    uint8_t network[8];  /* keyed hash of the client's network; of no integrator's */
    size_t envelope_len; /* 0: no challenge */
    uint8_t envelope[TIDE_KYC_ENVELOPE_MAX];
    struct tide_kyc_signers signers; /* of the account, fetched before a challenge is taken */
    enum tide_kyc_renewal renewal;
    uint32_t reconcile_s;
    bool claimed; /* a run of it came to its COMMIT: id is the session; made: by that run */
    bool made;
};

/* What challenges of this place have in common; borrows from it. */
struct tide_kyc_challenger tide_kyc_challenger_of(const struct tide_kyc_context *context);

/* False: the reply holds the problem.
 *   400 bad_body             not an object; errors name each member that is wrong, missing, unknown
 *   400 bad_idempotency_key  not 1..128 visible characters, or given twice
 *   401 key_unknown          X-API-Key is no integrator's
 *   503 key_unchecked        the database that knows keys is away for long
 *   401 proof_required       neither key nor challenge, and the file does not say open
 *   401 key_required         a contract cannot sign a challenge */
bool tide_kyc_session_request_read(struct tide_kyc_session_request *out, const struct tide_kyc *kyc,
                                   const struct tide_request *request, struct tide_reply *reply);

#endif
