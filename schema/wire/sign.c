/* Ed25519 with libsodium, as in stellar-core, so that both accept the same signatures. PEM with
 * OpenSSL, which besides this file only hash.c uses. */
#include "tidemark/sign.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <sodium.h>

_Static_assert(crypto_sign_ed25519_SEEDBYTES == TIDE_SEED_BYTES, "a seed");
_Static_assert(crypto_sign_ed25519_BYTES == TIDE_SIGNATURE_BYTES, "a signature");
_Static_assert(crypto_sign_ed25519_PUBLICKEYBYTES == TIDE_HASH_BYTES, "a public key");

struct tide_sign {
    uint8_t secret[crypto_sign_ed25519_SECRETKEYBYTES]; /* libsodium's form: seed and public key */
    uint8_t public[TIDE_HASH_BYTES];
};

static int started;

static void start_sodium(void)
{
    started = sodium_init();
}

/* Initialises libsodium once: it chooses its code for this processor. */
static bool is_started(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return pthread_once(&once, start_sodium) == 0 && started >= 0;
}

tide_status tide_sign_open(struct tide_sign **out, const uint8_t seed[TIDE_SEED_BYTES])
{
    struct tide_sign *key = is_started() ? calloc(1, sizeof *key) : NULL;
    if (!key)
        return TIDE_E_MEMORY;
    crypto_sign_ed25519_seed_keypair(key->public, key->secret, seed);
    *out = key;
    return TIDE_OK;
}

void tide_sign_close(struct tide_sign *key)
{
    if (!key)
        return;
    sodium_memzero(key, sizeof *key);
    free(key);
}

const uint8_t *tide_sign_public(const struct tide_sign *key)
{
    assert(key);
    return key->public;
}

void tide_sign(const struct tide_sign *key, uint8_t out[TIDE_SIGNATURE_BYTES], tide_slice message)
{
    assert(key);
    int made = crypto_sign_ed25519_detached(out, NULL, message.ptr, message.len, key->secret);
    assert(made == 0); /* crypto_sign cannot fail */
    (void)made;
}

bool tide_ed25519_holds(const uint8_t *key, tide_slice signature, tide_slice message)
{
    assert(key);
    return signature.len == TIDE_SIGNATURE_BYTES && is_started() &&
           crypto_sign_ed25519_verify_detached(signature.ptr, message.ptr, message.len, key) == 0;
}

void tide_sign_wipe(void *bytes, size_t len)
{
    sodium_memzero(bytes, len);
}

/* --- PEM --------------------------------------------------------------------------------- */

/* Decodes a key. Returns NULL if it is no Ed25519 key, or its form is not the one that the PEM name
 * says. */
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
    assert(len == TIDE_HASH_BYTES);
    uint8_t seed[TIDE_SEED_BYTES];
    tide_status status = TIDE_OK;
    if (private) {
        len = sizeof seed;
        status = EVP_PKEY_get_raw_private_key(key, seed, &len) == 1 ? tide_sign_open(out, seed)
                                                                    : TIDE_E_CONFIG;
        tide_sign_wipe(seed, sizeof seed);
    }
    EVP_PKEY_free(key);
    return status;
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
    assert(left <= pem->len);
    *pem = tide_slice_of(pem->ptr + pem->len - left, left);
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_clear_free(der, len > 0 ? (size_t)len : 0);
    BIO_free(text);
    return status;
}
