/* Tokens in URLs: a session's id and a proof that it came from us, for one purpose. Nothing of them
 * is stored, and one made for coming back opens nothing.
 *
 *     0123456789abcdef0123456789abcdef.base64url(HMAC-SHA256(tokenKey, purpose || 0 || id)) */
#ifndef API_KYC_BASE_TOKEN_H
#define API_KYC_BASE_TOKEN_H

#include "api/kyc/base/settings.h"

#define TIDE_KYC_SESSION_BYTES 33u /* of a session's id: 32 hex digits, NUL-terminated */
#define TIDE_KYC_TOKEN_LEN     76u
#define TIDE_KYC_TOKEN_BYTES   77u /* NUL-terminated */

enum tide_kyc_purpose {
    TIDE_KYC_FOR_START,  /* /kyc/start/{token}       */
    TIDE_KYC_FOR_RETURN, /* /kyc/return/{token}      */
    TIDE_KYC_FOR_EMBED,  /* /kyc?embed=1&s={token}   */
    TIDE_KYC_PURPOSE_COUNT
};

void tide_kyc_token(char out[TIDE_KYC_TOKEN_BYTES], const struct tide_kyc_settings *settings,
                    enum tide_kyc_purpose purpose, const char *session_id);
/* The session of a token of that purpose; false for all else. Pure; its time tells nothing of the
 * proof. */
bool tide_kyc_token_read(char session_id[TIDE_KYC_SESSION_BYTES],
                         const struct tide_kyc_settings *settings, enum tide_kyc_purpose purpose,
                         tide_slice token);

/* True for 32 lower-case hex digits. */
bool tide_kyc_is_session_id(tide_slice text);
/* A new one: 128 random bits. False when the system has none to give. */
bool tide_kyc_new_session_id(char out[TIDE_KYC_SESSION_BYTES]);

#endif
