#include "api/routes/receipt_keys.h"
#include "schema/reader/receipt.h"
#include "tidemark/log.h"
#include "tidemark/secret.h"
#include "tidemark/strkey.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { FILE_MAX = 16 << 10, DOCUMENT_MAX = 8 << 10, HEADER_MAX = 512, PATH_MAX_BYTES = 4096 };

struct tide_receipt_keys {
    const struct tide_config *config;
    atomic_bool may_sign;
    bool verifiers;        /* the signing key is a verifier's: of the watching thread */
    pthread_mutex_t mutex; /* of what follows */
    struct tide_receipt_set *set;
};

static void free_set(struct tide_receipt_set *set)
{
    if (!set)
        return;
    tide_sign_close(set->signer);
    tide_buf_release(&set->header);
    tide_buf_release(&set->jwks);
    free(set);
}

/* --- files ------------------------------------------------------------------------------- */

static tide_status path_of(char out[PATH_MAX_BYTES], tide_slice name, struct tide_err *err)
{
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    bool given = !memchr(name.ptr, '/', name.len) && folder && *folder;
    int len = given
                  ? snprintf(out, PATH_MAX_BYTES, "%s/tidemark_%.*s", folder, TIDE_SLICE_FMT(name))
                  : snprintf(out, PATH_MAX_BYTES, "%.*s", TIDE_SLICE_FMT(name));
    return len > 0 && len < PATH_MAX_BYTES
               ? TIDE_OK
               : tide_fail(err, TIDE_E_CONFIG, "api_receipt_keys: a path is too long");
}

/* The attester's seed never signs for this program: its file is not even read. */
static bool is_attesters(const char *path, const char *attester)
{
    struct stat a, b;
    return *attester && stat(path, &a) == 0 && stat(attester, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static tide_status add_key(struct tide_receipt_set *set, const uint8_t public[TIDE_HASH_BYTES],
                           const char *path, struct tide_err *err)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (memcmp(set->keys[i], public, TIDE_HASH_BYTES) == 0)
            return tide_fail(err, TIDE_E_CONFIG, "%s: a key that api_receipt_keys has twice", path);
    if (set->count == TIDE_RECEIPT_KEYS_MAX)
        return tide_fail(err, TIDE_E_CONFIG, "api_receipt_keys: more than %u keys",
                         TIDE_RECEIPT_KEYS_MAX);
    memcpy(set->keys[set->count++], public, TIDE_HASH_BYTES);
    return TIDE_OK;
}

static tide_status add_text(struct tide_receipt_set *set, tide_slice pem, const char *path,
                            struct tide_err *err)
{
    uint32_t before = set->count;
    for (;;) {
        uint8_t public[TIDE_HASH_BYTES];
        struct tide_sign *pair = NULL;
        tide_status status = tide_sign_pem(&pair, public, &pem);
        if (status == TIDE_E_EOF)
            break;
        if (status != TIDE_OK)
            return tide_fail(err, TIDE_E_CONFIG,
                             "%s: holds what is no Ed25519 key in PEM (PKCS #8, not encrypted)",
                             path);
        bool first = set->count == 0;
        status = add_key(set, public, path, err);
        if (first && pair)
            set->signer = pair;
        else
            tide_sign_close(pair);
        if (status != TIDE_OK)
            return status;
    }
    if (set->count == before)
        return tide_fail(err, TIDE_E_CONFIG, "%s: holds no key in PEM", path);
    return set->signer
               ? TIDE_OK
               : tide_fail(err, TIDE_E_CONFIG,
                           "%s: the first key of api_receipt_keys signs: it must be private", path);
}

static tide_status add_file(struct tide_receipt_set *set, const struct tide_config *config,
                            tide_slice name, struct tide_err *err)
{
    char path[PATH_MAX_BYTES];
    struct tide_buf pem;
    tide_status status = path_of(path, name, err);
    if (status != TIDE_OK)
        return status;
    if (is_attesters(path, config->attester_key))
        return tide_fail(err, TIDE_E_CONFIG,
                         "%s: is attester_key: receipts need a key of their own", path);
    tide_buf_init(&pem, FILE_MAX);
    status = tide_secret_file(&pem, path, err);
    if (status == TIDE_OK)
        status = add_text(set, tide_buf_view(&pem), path, err);
    if (pem.ptr)
        tide_sign_wipe(pem.ptr, pem.cap);
    tide_buf_release(&pem);
    return status;
}

/* --- a set ------------------------------------------------------------------------------- */

static tide_slice next_name(const char **text)
{
    size_t len = strcspn(*text, ",");
    tide_slice name = tide_slice_of(*text, len);
    *text += len + ((*text)[len] == ',');
    while (name.len && name.ptr[0] == ' ')
        name = tide_slice_of(name.ptr + 1, name.len - 1);
    while (name.len && name.ptr[name.len - 1] == ' ')
        name.len--;
    return name;
}

static void write_documents(struct tide_receipt_set *set)
{
    if (set->signer)
        tide_jws_put_header(&set->header, set->keys[0], TIDE_RECEIPT_TYPE);
    tide_buf_str(&set->jwks, "{\"keys\":[");
    for (uint32_t i = 0; i < set->count; i++) {
        if (i)
            tide_buf_u8(&set->jwks, ',');
        tide_jws_put_jwk(&set->jwks, set->keys[i]);
    }
    tide_buf_str(&set->jwks, "]}");
}

static tide_status read_set(struct tide_receipt_set **out, const struct tide_config *config,
                            struct tide_err *err)
{
    struct tide_receipt_set *set = calloc(1, sizeof *set);
    tide_status status = TIDE_OK;
    if (!set)
        return tide_fail(err, TIDE_E_MEMORY, "keys of receipts");
    tide_buf_init(&set->header, HEADER_MAX);
    tide_buf_init(&set->jwks, DOCUMENT_MAX);
    for (const char *rest = config->api_receipt_keys; *rest && status == TIDE_OK;) {
        tide_slice name = next_name(&rest);
        status = name.len ? add_file(set, config, name, err)
                          : tide_fail(err, TIDE_E_CONFIG, "api_receipt_keys: an empty name");
    }
    if (status == TIDE_OK && set->signer && !config->api_receipt_issuer[0])
        status = tide_fail(err, TIDE_E_CONFIG,
                           "api_receipt_issuer is not set: the name that receipts are issued in");
    write_documents(set);
    if (status == TIDE_OK && (set->header.failed || set->jwks.failed))
        status = tide_fail(err, TIDE_E_MEMORY, "keys of receipts");
    if (status == TIDE_OK)
        *out = set;
    else
        free_set(set);
    return status;
}

tide_status tide_receipt_keys_open(struct tide_receipt_keys **out, const struct tide_config *config,
                                   struct tide_err *err)
{
    struct tide_receipt_keys *keys = calloc(1, sizeof *keys);
    if (!keys)
        return tide_fail(err, TIDE_E_MEMORY, "keys of receipts");
    keys->config = config;
    tide_status status = read_set(&keys->set, config, err);
    if (status != TIDE_OK) {
        free(keys);
        return status;
    }
    pthread_mutex_init(&keys->mutex, NULL);
    atomic_store(&keys->may_sign, keys->set->signer != NULL);
    *out = keys;
    return TIDE_OK;
}

void tide_receipt_keys_close(struct tide_receipt_keys *keys)
{
    if (!keys)
        return;
    free_set(keys->set);
    pthread_mutex_destroy(&keys->mutex);
    free(keys);
}

/* --- use --------------------------------------------------------------------------------- */

struct tide_receipt_set *tide_receipt_keys_use(struct tide_receipt_keys *keys)
{
    pthread_mutex_lock(&keys->mutex);
    struct tide_receipt_set *set = keys->set;
    set->users++;
    pthread_mutex_unlock(&keys->mutex);
    return set;
}

void tide_receipt_keys_release(struct tide_receipt_keys *keys, struct tide_receipt_set *set)
{
    pthread_mutex_lock(&keys->mutex);
    assert(set->users);
    bool last = --set->users == 0 && set != keys->set;
    pthread_mutex_unlock(&keys->mutex);
    if (last)
        free_set(set);
}

tide_status tide_receipt_keys_reload(struct tide_receipt_keys *keys, struct tide_err *err)
{
    struct tide_receipt_set *set;
    tide_status status = read_set(&set, keys->config, err);
    if (status != TIDE_OK)
        return status;
    pthread_mutex_lock(&keys->mutex);
    struct tide_receipt_set *old = keys->set;
    keys->set = set;
    atomic_store(&keys->may_sign, set->signer && !keys->verifiers);
    bool unused = old->users == 0;
    pthread_mutex_unlock(&keys->mutex);
    if (unused)
        free_set(old);
    return TIDE_OK;
}

/* --- the registry ------------------------------------------------------------------------ */

bool tide_receipt_keys_may_sign(const struct tide_receipt_keys *keys)
{
    return atomic_load_explicit(&keys->may_sign, memory_order_relaxed);
}

/* False as well when there is no cache to look in: *known is false then. */
static bool is_verifier(struct tide_hot_reader *reader, const uint8_t public[TIDE_HASH_BYTES],
                        bool *known)
{
    const struct tide_hot_meta *meta;
    struct tide_hot_address who = { .kind = TIDE_STRKEY_ACCOUNT };
    struct tide_err err;
    memcpy(who.key, public, sizeof who.key);
    *known = tide_hot_begin(reader, &meta, &err) == TIDE_OK;
    if (!*known)
        return false;
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_VERIFIER, &who);
    bool is = tide_hot_address_eq(&meta->canonical_verifier, &who) || tide_hot_get(reader, &key);
    *known = tide_hot_end(reader) == TIDE_OK;
    return is;
}

void tide_receipt_keys_watch(struct tide_receipt_keys *keys, struct tide_hot_reader *reader)
{
    struct tide_receipt_set *set = tide_receipt_keys_use(keys);
    bool known, is = set->signer && is_verifier(reader, set->keys[0], &known);
    if (set->signer && known && is != keys->verifiers) {
        keys->verifiers = is;
        atomic_store(&keys->may_sign, !is);
        if (is)
            tide_log(TIDE_ERROR, "receipts.refused",
                     "text=\"the first key of api_receipt_keys is a verifier's: give receipts a key"
                     " of their own\"");
        else
            tide_log(TIDE_INFO, "receipts.signed", "text=\"the key is no verifier's any more\"");
    }
    tide_receipt_keys_release(keys, set);
}
