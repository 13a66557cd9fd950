/* Beside hash.c the only file that includes OpenSSL. */
#include "tidemark/sign.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

struct tide_sign {
    EVP_PKEY *pair;
    uint8_t public[TIDE_HASH_BYTES];
};

tide_status tide_sign_open(struct tide_sign **out, const uint8_t seed[TIDE_SEED_BYTES])
{
    struct tide_sign *key = calloc(1, sizeof *key);
    if (!key)
        return TIDE_E_MEMORY;
    size_t len = sizeof key->public;
    key->pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, TIDE_SEED_BYTES);
    if (!key->pair || EVP_PKEY_get_raw_public_key(key->pair, key->public, &len) != 1) {
        tide_sign_close(key);
        return TIDE_E_MEMORY;
    }
    *out = key;
    return TIDE_OK;
}

void tide_sign_close(struct tide_sign *key)
{
    if (!key)
        return;
    EVP_PKEY_free(key->pair);
    free(key);
}

const uint8_t *tide_sign_public(const struct tide_sign *key)
{
    assert(key);
    return key->public;
}

tide_status tide_sign(struct tide_sign *key, uint8_t out[TIDE_SIGNATURE_BYTES], tide_slice message)
{
    assert(key && key->pair);
    size_t len = TIDE_SIGNATURE_BYTES;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool made = ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key->pair) == 1 &&
                EVP_DigestSign(ctx, out, &len, message.ptr, message.len) == 1;
    EVP_MD_CTX_free(ctx);
    return made ? TIDE_OK : TIDE_E_MEMORY;
}

bool tide_ed25519_holds(const uint8_t *key, tide_slice signature, tide_slice message)
{
    if (signature.len != TIDE_SIGNATURE_BYTES)
        return false;
    EVP_PKEY *pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, 32);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool holds = pkey && ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, pkey) == 1 &&
                 EVP_DigestVerify(ctx, signature.ptr, signature.len, message.ptr, message.len) == 1;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(pkey);
    return holds;
}

void tide_sign_wipe(void *bytes, size_t len)
{
    OPENSSL_cleanse(bytes, len);
}
