/* Beside hash.c the only file that includes OpenSSL. */
#include "tidemark/sign.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

struct tide_sign {
    EVP_PKEY *pair;
    EVP_MD_CTX *ready; /* to sign with the pair; each signature takes a copy */
    uint8_t public[TIDE_HASH_BYTES];
};

/* Owns pair, on failure too. */
static tide_status open_pair(struct tide_sign **out, EVP_PKEY *pair)
{
    struct tide_sign *key = calloc(1, sizeof *key);
    if (!key) {
        EVP_PKEY_free(pair);
        return TIDE_E_MEMORY;
    }
    size_t len = sizeof key->public;
    key->pair = pair;
    key->ready = EVP_MD_CTX_new();
    if (!pair || !key->ready || EVP_PKEY_get_raw_public_key(pair, key->public, &len) != 1 ||
        EVP_DigestSignInit(key->ready, NULL, NULL, NULL, pair) != 1) {
        tide_sign_close(key);
        return TIDE_E_MEMORY;
    }
    *out = key;
    return TIDE_OK;
}

tide_status tide_sign_open(struct tide_sign **out, const uint8_t seed[TIDE_SEED_BYTES])
{
    return open_pair(out,
                     EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, TIDE_SEED_BYTES));
}

void tide_sign_close(struct tide_sign *key)
{
    if (!key)
        return;
    EVP_MD_CTX_free(key->ready);
    EVP_PKEY_free(key->pair);
    free(key);
}

const uint8_t *tide_sign_public(const struct tide_sign *key)
{
    assert(key);
    return key->public;
}

tide_status tide_sign(const struct tide_sign *key, uint8_t out[TIDE_SIGNATURE_BYTES],
                      tide_slice message)
{
    assert(key && key->pair);
    size_t len = TIDE_SIGNATURE_BYTES;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool made = ctx && EVP_MD_CTX_copy_ex(ctx, key->ready) == 1 &&
                EVP_DigestSign(ctx, out, &len, message.ptr, message.len) == 1;
    EVP_MD_CTX_free(ctx);
    return made ? TIDE_OK : TIDE_E_MEMORY;
}

/* --- PEM --------------------------------------------------------------------------------- */

/* NULL for what is no Ed25519 key, or stands in another form than the name says. */
static EVP_PKEY *read_key(const char *name, const unsigned char *der, long len, bool private)
{
    const unsigned char *at = der;
    EVP_PKEY *key = NULL;
    if (private) {
        PKCS8_PRIV_KEY_INFO *info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &at, len);
        key = info ? EVP_PKCS82PKEY(info) : NULL;
        PKCS8_PRIV_KEY_INFO_free(info);
    } else if (strcmp(name, "PUBLIC KEY") == 0) {
        key = d2i_PUBKEY(NULL, &at, len);
    }
    if (key && EVP_PKEY_get_id(key) == EVP_PKEY_ED25519)
        return key;
    EVP_PKEY_free(key);
    return NULL;
}

static tide_status open_read(struct tide_sign **out, uint8_t public[TIDE_HASH_BYTES], EVP_PKEY *key,
                             bool private)
{
    size_t len = TIDE_HASH_BYTES;
    if (!key || EVP_PKEY_get_raw_public_key(key, public, &len) != 1) {
        EVP_PKEY_free(key);
        return TIDE_E_CONFIG;
    }
    if (private)
        return open_pair(out, key);
    EVP_PKEY_free(key);
    return TIDE_OK;
}

tide_status tide_sign_pem(struct tide_sign **out, uint8_t public[TIDE_HASH_BYTES], tide_slice *pem)
{
    char *name = NULL, *header = NULL;
    unsigned char *der = NULL;
    long len = 0;
    *out = NULL;
    BIO *text = pem->len ? BIO_new_mem_buf(pem->ptr, (int)pem->len) : NULL;
    if (!text)
        return pem->len ? TIDE_E_MEMORY : TIDE_E_EOF;
    ERR_set_mark();
    tide_status status = TIDE_E_EOF;
    if (PEM_read_bio(text, &name, &header, &der, &len) == 1) {
        bool private = strcmp(name, "PRIVATE KEY") == 0;
        status = open_read(out, public, read_key(name, der, len, private), private);
    }
    ERR_pop_to_mark();
    size_t left = (size_t)BIO_pending(text);
    *pem = tide_slice_of(pem->ptr + pem->len - left, left);
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_clear_free(der, len > 0 ? (size_t)len : 0);
    BIO_free(text);
    return status;
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
