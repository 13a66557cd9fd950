/* Rows of kyc.session, as several parts of KYC read them. */
#ifndef API_KYC_SESSIONS_SESSION_STORE_H
#define API_KYC_SESSIONS_SESSION_STORE_H

#include "api/kyc/base/context.h"
#include "api/kyc/base/token.h"
#include "api/kyc/providers/provider.h"

/* Texts are "" and times 0 where the row has NULL. */
struct tide_kyc_session {
    char id[TIDE_KYC_SESSION_BYTES];
    char address[TIDE_KYC_ADDRESS_BYTES];
    char provider[TIDE_KYC_WORD_BYTES];
    char integrator[TIDE_KYC_WORD_BYTES];
    enum tide_kyc_mode mode;
    char ref[TIDE_KYC_REF_BYTES];
    char provider_id[TIDE_KYC_ID_BYTES];
    char hosted_url[TIDE_KYC_LINK_BYTES];
    int64_t hosted_until; /* unix seconds, as all of these */
    enum tide_kyc_state state;
    uint32_t decision_rev;
    int64_t created_at, updated_at, expires_at;
};

/* One session of the place's deployment. TIDE_E_MISSING: there is none such. */
tide_status tide_kyc_session_get(struct tide_kyc_context *context, const char *id,
                                 struct tide_kyc_session *out, struct tide_err *err) TIDE_MUST_USE;

#define TIDE_KYC_SESSION_S (7 * 86400) /* an unused session lives so long */
/* Not used in time: it counts as expired. */
bool tide_kyc_session_unused(const struct tide_kyc_session *session, int64_t now);

/* The columns that tide_kyc_session_read takes, in its order: "SELECT " TIDE_KYC_SESSION_COLUMNS
 * " FROM kyc.session AS s …". */
#define TIDE_KYC_SESSION_COLUMNS                                                             \
    "s.id, s.address, s.provider, s.integrator, s.mode, s.ref, s.provider_id, s.hosted_url," \
    " extract(epoch FROM s.hosted_until)::bigint, s.state, s.decision_rev,"                  \
    " extract(epoch FROM s.created_at)::bigint, extract(epoch FROM s.updated_at)::bigint,"   \
    " extract(epoch FROM s.expires_at)::bigint"
/* False when a text does not fit or is no word of ours: another program wrote the row. */
bool tide_kyc_session_read(struct tide_kyc_session *out, const struct tide_pg_rows *rows,
                           uint32_t row) TIDE_MUST_USE;

/* What a provider knows the person behind an address by: the same for an address of a network, and
 * nothing without the key. */
void tide_kyc_reference(char out[TIDE_KYC_REF_BYTES], const struct tide_kyc_context *context,
                        const char *address);

const char *tide_kyc_mode_text(enum tide_kyc_mode mode);
bool tide_kyc_mode_of(tide_slice text, enum tide_kyc_mode *out);

#endif
