/* JSON Web Signatures by Ed25519 (RFC 7515, 8037): compact texts, header.payload.signature, and the
 * JSON Web Keys that verify them (RFC 7517, 7638). Pure but for the memory of buffers. */
#ifndef TIDEMARK_JWS_H
#define TIDEMARK_JWS_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/sign.h"

#define TIDE_JWS_KID       43u /* bytes of a key's name, without NUL */
#define TIDE_JWS_SIGNATURE 86u /* bytes of a signature as text       */

/* The thumbprint of RFC 7638. */
void tide_jws_thumbprint(uint8_t out[TIDE_HASH_BYTES], const uint8_t public[TIDE_HASH_BYTES]);
/* The key's name: base64url of the thumbprint, NUL-terminated. */
void tide_jws_kid(char out[TIDE_JWS_KID + 1], const uint8_t public[TIDE_HASH_BYTES]);
/* {"kty":"OKP", …} */
void tide_jws_put_jwk(struct tide_buf *out, const uint8_t public[TIDE_HASH_BYTES]);
/* base64url of {"alg":"EdDSA","kid":"…","typ":"…"}; type needs no escape. */
void tide_jws_put_header(struct tide_buf *out, const uint8_t public[TIDE_HASH_BYTES],
                         const char *type);

/* Appends header.payload.signature. header is already base64url, payload is not. What failed is
 * memory: out->failed. */
void tide_jws_sign(struct tide_buf *out, const struct tide_sign *key, tide_slice header,
                   tide_slice payload);

/* A compact text taken apart. The parts are slices into bytes, which is the caller's. */
struct tide_jws {
    tide_slice signed_text; /* header.payload as it came */
    tide_slice header, payload;
    uint8_t signature[TIDE_SIGNATURE_BYTES];
};

/* Decodes text into bytes, which is empty; TIDE_E_DECODE when it is no compact text with a
 * signature of 64 bytes. Nothing is verified. */
tide_status tide_jws_open(struct tide_jws *out, struct tide_buf *bytes, tide_slice text,
                          struct tide_err *err) TIDE_MUST_USE;
bool tide_jws_holds(const struct tide_jws *jws, const uint8_t public[TIDE_HASH_BYTES]);

#endif
