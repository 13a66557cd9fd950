/* Makes and checks the tokens of links. */
#include "api/kyc/base/token.h"
#include "tidemark/text.h"

#include <sys/random.h>

enum { ID_LEN = TIDE_KYC_SESSION_BYTES - 1, PROOF_LEN = 43 };
static_assert(PROOF_LEN == (8 * TIDE_HASH_BYTES + 5) / 6, "six bits in each character");
static_assert(TIDE_KYC_TOKEN_LEN == ID_LEN + 1 + PROOF_LEN, "id, dot, proof");
static_assert(TIDE_KYC_TOKEN_BYTES == TIDE_KYC_TOKEN_LEN + 1, "NUL-terminated");

/* Writes the digest as base64url without padding. */
static void put_proof(char out[PROOF_LEN], const uint8_t digest[TIDE_HASH_BYTES])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t bits = 0, have = 0;
    size_t at = 0;
    for (size_t i = 0; i < TIDE_HASH_BYTES; i++) {
        bits = bits << 8 | digest[i];
        for (have += 8; have >= 6; have -= 6)
            out[at++] = digits[bits >> (have - 6) & 63];
    }
    out[at++] = digits[bits << (6 - have) & 63];
    assert(at == PROOF_LEN);
}

void tide_kyc_token(char out[TIDE_KYC_TOKEN_BYTES], const struct tide_kyc_settings *settings,
                    enum tide_kyc_purpose purpose, const char *session_id)
{
    assert(purpose < TIDE_KYC_PURPOSE_COUNT);
    static const char *const words[TIDE_KYC_PURPOSE_COUNT] = { "start", "return", "embed" };
    char text[16 + TIDE_KYC_SESSION_BYTES];
    uint8_t digest[TIDE_HMAC_BYTES_MAX];
    size_t word = strlen(words[purpose]) + 1;
    assert(strlen(session_id) == ID_LEN);
    assert(word + ID_LEN <= sizeof text);
    memcpy(text, words[purpose], word); /* The NUL separates purpose and id. */
    memcpy(text + word, session_id, ID_LEN);
    tide_hmac(TIDE_HMAC_SHA256, digest,
              tide_slice_of(settings->token_key, sizeof settings->token_key),
              tide_slice_of(text, word + ID_LEN));
    memcpy(out, session_id, ID_LEN);
    out[ID_LEN] = '.';
    put_proof(out + ID_LEN + 1, digest);
    out[TIDE_KYC_TOKEN_LEN] = 0;
}

/* Computes the token that the id should have, and compares in constant time. */
bool tide_kyc_token_read(char session_id[TIDE_KYC_SESSION_BYTES],
                         const struct tide_kyc_settings *settings, enum tide_kyc_purpose purpose,
                         tide_slice token)
{
    char want[TIDE_KYC_TOKEN_BYTES];
    if (token.len != TIDE_KYC_TOKEN_LEN ||
        !tide_kyc_is_session_id(tide_slice_of(token.ptr, ID_LEN)))
        return false;
    memcpy(session_id, token.ptr, ID_LEN);
    session_id[ID_LEN] = 0;
    tide_kyc_token(want, settings, purpose, session_id);
    return tide_same_secret(want, token.ptr, TIDE_KYC_TOKEN_LEN);
}

bool tide_kyc_is_session_id(tide_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!((text.ptr[i] >= '0' && text.ptr[i] <= '9') ||
              (text.ptr[i] >= 'a' && text.ptr[i] <= 'f')))
            return false;
    return text.len == ID_LEN;
}

bool tide_kyc_new_session_id(char out[TIDE_KYC_SESSION_BYTES])
{
    uint8_t bytes[ID_LEN / 2];
    static_assert(2 * sizeof bytes == ID_LEN, "two digits for each byte");
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return false;
    tide_hex(out, tide_slice_of(bytes, sizeof bytes));
    out[ID_LEN] = 0;
    return true;
}
