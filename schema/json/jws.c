#include "tidemark/jws.h"
#include "tidemark/text.h"

#include <stdio.h>

/* Writes the members whose hash is the thumbprint of RFC 7638, in its order and without spaces. */
static void put_members(struct tide_buf *out, const uint8_t public[TIDE_HASH_BYTES])
{
    tide_buf_str(out, "\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"");
    tide_buf_base64url(out, tide_slice_of(public, TIDE_HASH_BYTES));
    tide_buf_u8(out, '"');
}

void tide_jws_thumbprint(uint8_t out[TIDE_HASH_BYTES], const uint8_t public[TIDE_HASH_BYTES])
{
    struct tide_buf text;
    tide_buf_init(&text, 256);
    tide_buf_u8(&text, '{');
    put_members(&text, public);
    tide_buf_u8(&text, '}');
    tide_sha256(out, tide_buf_view(&text));
    tide_buf_release(&text);
}

void tide_jws_kid(char out[TIDE_JWS_KID + 1], const uint8_t public[TIDE_HASH_BYTES])
{
    uint8_t hash[TIDE_HASH_BYTES];
    struct tide_buf text;
    tide_jws_thumbprint(hash, public);
    tide_buf_init(&text, 256);
    tide_buf_base64url(&text, tide_slice_of(hash, sizeof hash));
    bool made = !text.failed && text.len == TIDE_JWS_KID;
    if (made)
        memcpy(out, text.ptr, TIDE_JWS_KID);
    out[made ? TIDE_JWS_KID : 0] = 0;
    tide_buf_release(&text);
}

void tide_jws_put_jwk(struct tide_buf *out, const uint8_t public[TIDE_HASH_BYTES])
{
    char kid[TIDE_JWS_KID + 1];
    tide_jws_kid(kid, public);
    tide_buf_u8(out, '{');
    put_members(out, public);
    tide_buf_putf(out, ",\"kid\":\"%s\",\"use\":\"sig\",\"alg\":\"EdDSA\"}", kid);
}

void tide_jws_put_header(struct tide_buf *out, const uint8_t public[TIDE_HASH_BYTES],
                         const char *type)
{
    char kid[TIDE_JWS_KID + 1], text[256];
    tide_jws_kid(kid, public);
    int len =
        snprintf(text, sizeof text, "{\"alg\":\"EdDSA\",\"kid\":\"%s\",\"typ\":\"%s\"}", kid, type);
    assert(len > 0 && (size_t)len < sizeof text);
    tide_buf_base64url(out, tide_slice_of(text, (size_t)len));
}

void tide_jws_sign(struct tide_buf *out, const struct tide_sign *key, tide_slice header,
                   tide_slice payload)
{
    assert(key && header.len > 0);
    uint8_t signature[TIDE_SIGNATURE_BYTES];
    size_t from = out->len;
    (void)tide_buf_room(out, header.len + payload.len / 3 * 4 + TIDE_JWS_SIGNATURE + 8);
    tide_buf_slice(out, header);
    tide_buf_u8(out, '.');
    tide_buf_base64url(out, payload);
    if (out->failed)
        return;
    tide_slice text = tide_slice_of(out->ptr + from, out->len - from);
    tide_sign(key, signature, text);
    tide_buf_u8(out, '.');
    tide_buf_base64url(out, tide_slice_of(signature, sizeof signature));
}

/* Takes the part before the next dot; *text becomes the rest. Returns false if there is no dot. */
static bool next_part(tide_slice *out, tide_slice *text)
{
    const uint8_t *dot = text->len ? memchr(text->ptr, '.', text->len) : NULL;
    if (!dot)
        return false;
    size_t len = (size_t)(dot - text->ptr);
    assert(len < text->len);
    *out = tide_slice_of(text->ptr, len);
    *text = tide_slice_of(dot + 1, text->len - len - 1);
    return true;
}

tide_status tide_jws_open(struct tide_jws *out, struct tide_buf *bytes, tide_slice text,
                          struct tide_err *err)
{
    tide_slice rest = text, header, payload;
    assert(bytes->len == 0);
    if (!next_part(&header, &rest) || !next_part(&payload, &rest) ||
        rest.len != TIDE_JWS_SIGNATURE || memchr(rest.ptr, '.', rest.len))
        return tide_fail(err, TIDE_E_DECODE, "not a signed receipt: header.payload.signature");
    tide_status status = tide_buf_base64url_decode(bytes, header);
    size_t header_end = bytes->len;
    if (status == TIDE_OK)
        status = tide_buf_base64url_decode(bytes, payload);
    size_t payload_end = bytes->len;
    if (status == TIDE_OK)
        status = tide_buf_base64url_decode(bytes, rest);
    if (status != TIDE_OK || bytes->len - payload_end != TIDE_SIGNATURE_BYTES)
        return tide_fail(err, TIDE_E_DECODE, "not a signed receipt: a part is not base64url");
    assert(header_end <= payload_end && payload_end <= bytes->len);
    out->signed_text = tide_slice_of(text.ptr, header.len + 1 + payload.len);
    out->header = tide_slice_of(bytes->ptr, header_end);
    out->payload = tide_slice_of(bytes->ptr + header_end, payload_end - header_end);
    memcpy(out->signature, bytes->ptr + payload_end, sizeof out->signature);
    return TIDE_OK;
}

bool tide_jws_holds(const struct tide_jws *jws, const uint8_t public[TIDE_HASH_BYTES])
{
    return tide_ed25519_holds(public, tide_slice_of(jws->signature, sizeof jws->signature),
                              jws->signed_text);
}
