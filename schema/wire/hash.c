/* The only file that includes OpenSSL. The low-level calls are used on
 * purpose: for short messages the EVP set-up costs more than the hash. */
#define OPENSSL_SUPPRESS_DEPRECATED 1
#include "tidemark/hash.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

static_assert(sizeof(SHA256_CTX) <= sizeof(struct tide_sha256), "context fits the opaque body");

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

void tide_network_id(uint8_t out[TIDE_HASH_BYTES], tide_slice passphrase)
{
    tide_sha256(out, passphrase);
}

bool tide_ed25519_holds(const uint8_t *key, tide_slice signature, tide_slice message)
{
    if (signature.len != 64)
        return false;
    EVP_PKEY *pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, 32);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool holds = pkey && ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, pkey) == 1 &&
                 EVP_DigestVerify(ctx, signature.ptr, signature.len, message.ptr, message.len) == 1;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(pkey);
    return holds;
}
