/* Tokens in URLs: a session's id and an HMAC that proves that this server made it, for one purpose.
 * No token is stored, and a token for one purpose is invalid for another.
 *
 *     0123456789abcdef0123456789abcdef.base64url(HMAC-SHA256(tokenKey, purpose || 0 || id)) */
#ifndef API_KYC_BASE_TOKEN_H
#define API_KYC_BASE_TOKEN_H

#include "api/kyc/base/settings.h"

#define TIDE_KYC_SESSION_BYTES 33u /* session id: 32 hex digits, NUL-terminated */
#define TIDE_KYC_TOKEN_LEN     76u
#define TIDE_KYC_TOKEN_BYTES   77u /* NUL-terminated */

enum tide_kyc_purpose {
    TIDE_KYC_FOR_START,  /* /kyc/start/{token} */
    TIDE_KYC_FOR_RETURN, /* /kyc/return/{token} */
    TIDE_KYC_FOR_EMBED,  /* /kyc?embed=1&s={token} */
    TIDE_KYC_PURPOSE_COUNT
};

/* Writes the token of a session for that purpose. */
void tide_kyc_token(char out[TIDE_KYC_TOKEN_BYTES], const struct tide_kyc_settings *settings,
                    enum tide_kyc_purpose purpose, const char *session_id);
/* Reads the session's id from a token of that purpose. Returns false for any other text. Pure;
 * compares the proof in constant time. */
bool tide_kyc_token_read(char session_id[TIDE_KYC_SESSION_BYTES],
                         const struct tide_kyc_settings *settings, enum tide_kyc_purpose purpose,
                         tide_slice token);

/* True for 32 lower-case hex digits. */
bool tide_kyc_is_session_id(tide_slice text);
/* Makes an id of 128 random bits. Returns false if the system provides no random numbers. */
bool tide_kyc_new_session_id(char out[TIDE_KYC_SESSION_BYTES]);

#endif
