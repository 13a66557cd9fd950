/* Reads rows of kyc.session, and computes references of addresses. */
#include "api/kyc/sessions/session_store.h"
#include "tidemark/text.h"

/* --- texts of modes --------------------------------------------------------------------- */

static const char *const modes[] = {
    [TIDE_KYC_REDIRECT] = "redirect",
    [TIDE_KYC_IFRAME] = "iframe",
    [TIDE_KYC_DIRECT] = "direct",
};

static_assert(TIDE_COUNT(modes) == TIDE_KYC_DIRECT + 1, "a text for each mode");

const char *tide_kyc_mode_text(enum tide_kyc_mode mode)
{
    assert(mode < TIDE_COUNT(modes));
    return modes[mode];
}

bool tide_kyc_mode_of(tide_slice text, enum tide_kyc_mode *out)
{
    for (size_t i = 0; i < TIDE_COUNT(modes); i++)
        if (tide_slice_eq_str(text, modes[i])) {
            *out = (enum tide_kyc_mode)i;
            return true;
        }
    return false;
}

/* --- rows ------------------------------------------------------------------------------- */

/* Returns false if the text does not fit. */
static bool copy_column(char *out, size_t size, tide_slice text)
{
    if (text.len >= size)
        return false;
    memcpy(out, text.ptr, text.len);
    out[text.len] = 0;
    return true;
}

/* Returns false if a text does not fit or is unknown: another program wrote the row. */
static bool read_row(struct tide_kyc_session *out, const struct tide_pg_rows *rows)
{
    assert(rows->count == 1 && rows->columns == 14); /* TIDE_KYC_SESSION_COLUMNS */
    *out = (struct tide_kyc_session){ 0 };
    struct {
        char *to;
        size_t size;
        uint32_t column;
    } texts[] = {
        { out->id, sizeof out->id, 0 },
        { out->address, sizeof out->address, 1 },
        { out->provider, sizeof out->provider, 2 },
        { out->integrator, sizeof out->integrator, 3 },
        { out->ref, sizeof out->ref, 5 },
        { out->provider_id, sizeof out->provider_id, 6 },
        { out->hosted_url, sizeof out->hosted_url, 7 },
    };
    bool fits = true;
    for (size_t i = 0; i < TIDE_COUNT(texts); i++)
        fits &= copy_column(texts[i].to, texts[i].size, tide_pg_slice(rows, 0, texts[i].column));
    fits &= tide_kyc_mode_of(tide_pg_slice(rows, 0, 4), &out->mode);
    fits &= tide_kyc_state_of(tide_pg_slice(rows, 0, 9), &out->state);
    out->hosted_until = (int64_t)tide_pg_u64(rows, 0, 8);
    out->decision_rev = (uint32_t)tide_pg_u64(rows, 0, 10);
    out->created_at = (int64_t)tide_pg_u64(rows, 0, 11);
    out->updated_at = (int64_t)tide_pg_u64(rows, 0, 12);
    out->expires_at = (int64_t)tide_pg_u64(rows, 0, 13);
    return fits && strlen(out->id) == TIDE_KYC_SESSION_BYTES - 1;
}

bool tide_kyc_session_unused(const struct tide_kyc_session *session, int64_t now)
{
    bool waits = session->state == TIDE_KYC_CREATED || session->state == TIDE_KYC_ACTION_REQUIRED;
    return waits && session->expires_at <= now;
}

tide_status tide_kyc_session_query(struct tide_kyc_context *context,
                                   const struct tide_kyc_session_query *query,
                                   struct tide_kyc_session *out, bool *found, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status =
        tide_pg_query(context->pg, &rows, query->sql, query->values, query->count, err);
    if (status != TIDE_OK)
        return status;
    *found = rows.count == 1;
    if (*found && !read_row(out, &rows))
        status =
            tide_fail(err, TIDE_E_DB_FATAL, "kyc.session has a row with a value that does not fit");
    tide_pg_rows_release(&rows);
    return status;
}

tide_status tide_kyc_session_get(struct tide_kyc_context *context, const char *id,
                                 struct tide_kyc_session *out, struct tide_err *err)
{
    const struct tide_kyc_session_query query = {
        "SELECT " TIDE_KYC_SESSION_COLUMNS
        " FROM kyc.session AS s WHERE s.id = $1 AND s.deployment = $2::smallint",
        (const char *[]){ id, context->deployment_text }, 2
    };
    bool found;
    tide_status status = tide_kyc_session_query(context, &query, out, &found, err);
    return status == TIDE_OK && !found ? tide_fail(err, TIDE_E_MISSING, "no such session") : status;
}

/* --- references ------------------------------------------------------------------------- */

/* The network is part of the input: the same address has different references on different
 * networks. */
void tide_kyc_reference(char out[TIDE_KYC_REF_BYTES], const struct tide_kyc_context *context,
                        const char *address)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    uint8_t text[TIDE_HASH_BYTES + TIDE_KYC_ADDRESS_BYTES], digest[TIDE_HMAC_BYTES_MAX];
    const struct tide_kyc_settings *settings = context->settings;
    size_t len = strlen(address);
    assert(len < TIDE_KYC_ADDRESS_BYTES);
    memcpy(text, context->network_id, TIDE_HASH_BYTES);
    memcpy(text + TIDE_HASH_BYTES, address, len);
    tide_hmac(TIDE_HMAC_SHA256, digest,
              tide_slice_of(settings->reference_key, sizeof settings->reference_key),
              tide_slice_of(text, TIDE_HASH_BYTES + len));
    static_assert(5 * (TIDE_KYC_REF_BYTES - 2) / 8 + 1 < TIDE_HASH_BYTES, "within the digest");
    /* Five bits make a digit: the first 160 bits of the digest. */
    for (size_t i = 0; i < TIDE_KYC_REF_BYTES - 1; i++) {
        size_t bit = 5 * i;
        uint32_t two = (uint32_t)digest[bit / 8] << 8 | digest[bit / 8 + 1];
        out[i] = digits[two >> (11 - bit % 8) & 31];
    }
    out[TIDE_KYC_REF_BYTES - 1] = 0;
}
