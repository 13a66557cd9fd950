/* JSON Web Signatures with Ed25519 (RFC 7515, 8037) as compact texts, header.payload.signature, and
 * the JSON Web Keys that verify them (RFC 7517, 7638). Pure, except for the memory of buffers. */
#ifndef TIDEMARK_JWS_H
#define TIDEMARK_JWS_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/sign.h"

#define TIDE_JWS_KID       43u /* bytes of a kid, without NUL */
#define TIDE_JWS_SIGNATURE 86u /* bytes of a signature as text       */

/* base64url writes 4 characters for 3 bytes, without padding. */
static_assert(TIDE_JWS_KID == (4 * TIDE_HASH_BYTES + 2) / 3, "a kid is a SHA-256");
static_assert(TIDE_JWS_SIGNATURE == (4 * TIDE_SIGNATURE_BYTES + 2) / 3, "a signature is Ed25519");

/* Computes the thumbprint of RFC 7638. */
void tide_jws_thumbprint(uint8_t out[TIDE_HASH_BYTES], const uint8_t public[TIDE_HASH_BYTES]);
/* Writes the kid: base64url of the thumbprint, NUL-terminated. */
void tide_jws_kid(char out[TIDE_JWS_KID + 1], const uint8_t public[TIDE_HASH_BYTES]);
/* Appends the JSON Web Key: {"kty":"OKP", …}. */
void tide_jws_put_jwk(struct tide_buf *out, const uint8_t public[TIDE_HASH_BYTES]);
/* Appends base64url of {"alg":"EdDSA","kid":"…","typ":"…"}. type must need no JSON escape. */
void tide_jws_put_header(struct tide_buf *out, const uint8_t public[TIDE_HASH_BYTES],
                         const char *type);

/* Appends header.payload.signature. header is base64url already, payload is not. out->failed: no
 * memory. */
void tide_jws_sign(struct tide_buf *out, const struct tide_sign *key, tide_slice header,
                   tide_slice payload);

/* The parts of a compact text. They are slices into the caller's bytes. */
struct tide_jws {
    tide_slice signed_text; /* the signed text: header.payload as received */
    tide_slice header, payload;
    uint8_t signature[TIDE_SIGNATURE_BYTES];
};

/* Decodes text into bytes, which must be empty. TIDE_E_DECODE if it is no compact text with a
 * signature of 64 bytes. The signature is not verified. */
tide_status tide_jws_open(struct tide_jws *out, struct tide_buf *bytes, tide_slice text,
                          struct tide_err *err) TIDE_MUST_USE;
bool tide_jws_holds(const struct tide_jws *jws, const uint8_t public[TIDE_HASH_BYTES]);

#endif
