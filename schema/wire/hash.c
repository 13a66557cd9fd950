/* With sign.c the only file that includes OpenSSL. The low-level calls are used on
 * purpose: for short messages the EVP set-up costs more than the hash. */
#define OPENSSL_SUPPRESS_DEPRECATED 1
#include "tidemark/hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <limits.h>

static_assert(sizeof(SHA256_CTX) <= sizeof(struct tide_sha256), "context fits the opaque body");
static_assert(_Alignof(SHA256_CTX) <= _Alignof(struct tide_sha256), "and its alignment, too");

static SHA256_CTX *body(struct tide_sha256 *h)
{
    return (SHA256_CTX *)(void *)h->body;
}

void tide_sha256(uint8_t out[TIDE_HASH_BYTES], tide_slice in)
{
    SHA256_CTX ctx;
    SHA256_Init(&ctx);
    if (in.len)
        SHA256_Update(&ctx, in.ptr, in.len);
    SHA256_Final(out, &ctx);
}

void tide_sha256_init(struct tide_sha256 *h)
{
    SHA256_Init(body(h));
}

void tide_sha256_update(struct tide_sha256 *h, tide_slice in)
{
    if (in.len)
        SHA256_Update(body(h), in.ptr, in.len);
}

void tide_sha256_final(struct tide_sha256 *h, uint8_t out[TIDE_HASH_BYTES])
{
    SHA256_Final(out, body(h));
}

void tide_sha512(uint8_t out[64], tide_slice a, tide_slice b)
{
    SHA512_CTX ctx;
    SHA512_Init(&ctx);
    if (a.len)
        SHA512_Update(&ctx, a.ptr, a.len);
    if (b.len)
        SHA512_Update(&ctx, b.ptr, b.len);
    SHA512_Final(out, &ctx);
}

size_t tide_hmac(enum tide_hmac algorithm, uint8_t out[TIDE_HMAC_BYTES_MAX], tide_slice key,
                 tide_slice message)
{
    const EVP_MD *kinds[] = { [TIDE_HMAC_SHA1] = EVP_sha1(),
                              [TIDE_HMAC_SHA256] = EVP_sha256(),
                              [TIDE_HMAC_SHA512] = EVP_sha512() };
    assert((size_t)algorithm < TIDE_COUNT(kinds) && key.len <= INT_MAX);
    unsigned len = 0;
    static const uint8_t nothing[1];
    /* HMAC fails only without memory. Abort, because no signature may be made then. */
    if (!HMAC(kinds[algorithm], key.len ? key.ptr : nothing, (int)key.len,
              message.len ? message.ptr : nothing, message.len, out, &len))
        abort();
    assert(len > 0 && len <= TIDE_HMAC_BYTES_MAX);
    return len;
}

bool tide_same_secret(const void *a, const void *b, size_t len)
{
    return CRYPTO_memcmp(a, b, len) == 0;
}

void tide_network_id(uint8_t out[TIDE_HASH_BYTES], tide_slice passphrase)
{
    tide_sha256(out, passphrase);
}
