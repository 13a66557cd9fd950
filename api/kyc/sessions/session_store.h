/* Reads rows of kyc.session, and computes references of addresses. */
#ifndef API_KYC_SESSIONS_SESSION_STORE_H
#define API_KYC_SESSIONS_SESSION_STORE_H

#include "api/kyc/base/context.h"
#include "api/kyc/base/token.h"
#include "api/kyc/providers/provider.h"

/* A row. NULL is "" in texts and 0 in times. */
struct tide_kyc_session {
    char id[TIDE_KYC_SESSION_BYTES];
    char address[TIDE_KYC_ADDRESS_BYTES];
    char provider[TIDE_KYC_WORD_BYTES];
    char integrator[TIDE_KYC_WORD_BYTES];
    enum tide_kyc_mode mode;
    char ref[TIDE_KYC_REF_BYTES];
    char provider_id[TIDE_KYC_ID_BYTES];
    char hosted_url[TIDE_KYC_LINK_BYTES];
    int64_t hosted_until; /* unix seconds, like the other times */
    enum tide_kyc_state state;
    uint32_t decision_rev;
    int64_t created_at, updated_at, expires_at;
};

/* Reads a session of the context's deployment. TIDE_E_MISSING: there is no such session. */
tide_status tide_kyc_session_get(struct tide_kyc_context *context, const char *id,
                                 struct tide_kyc_session *out, struct tide_err *err) TIDE_MUST_USE;

#define TIDE_KYC_SESSION_S (7 * UINT64_C(86400)) /* lifetime of an unused session, seconds */
/* True if the session waits for the person and its time is over. The row may still say
 * otherwise. */
bool tide_kyc_session_unused(const struct tide_kyc_session *session, int64_t now);

/* The columns of a statement that returns a session: "SELECT " TIDE_KYC_SESSION_COLUMNS " FROM
 * kyc.session AS s …". */
#define TIDE_KYC_SESSION_COLUMNS                                                             \
    "s.id, s.address, s.provider, s.integrator, s.mode, s.ref, s.provider_id, s.hosted_url," \
    " extract(epoch FROM s.hosted_until)::bigint, s.state, s.decision_rev,"                  \
    " extract(epoch FROM s.created_at)::bigint, extract(epoch FROM s.updated_at)::bigint,"   \
    " extract(epoch FROM s.expires_at)::bigint"
struct tide_kyc_session_query {
    const char *sql;
    const char *const *values;
    size_t count;
};
/* Reads the session that the statement returns. *found false: not exactly one. */
tide_status tide_kyc_session_query(struct tide_kyc_context *context,
                                   const struct tide_kyc_session_query *query,
                                   struct tide_kyc_session *out, bool *found,
                                   struct tide_err *err) TIDE_MUST_USE;

/* Computes the reference by which a provider knows the person behind an address. The same address
 * of the same network always has the same reference. Without reference_key it reveals nothing. */
void tide_kyc_reference(char out[TIDE_KYC_REF_BYTES], const struct tide_kyc_context *context,
                        const char *address);

const char *tide_kyc_mode_text(enum tide_kyc_mode mode);
bool tide_kyc_mode_of(tide_slice text, enum tide_kyc_mode *out);

#endif
