/* The keys of receipts: files, sets, withdrawals. */
#include "api/routes/receipt_keys.h"
#include "api/base/secret.h"
#include "tidemark/cache_meta.h"
#include "tidemark/log.h"
#include "tidemark/receipt.h"
#include "tidemark/strkey.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { FILE_MAX = 16 << 10, HEADER_MAX = 512, PATH_MAX_BYTES = 4096 };

/* The state of a set of keys according to the cache. */
struct key_state {
    bool verifiers;     /* the signing key belongs to a verifier */
    uint32_t withdrawn; /* one bit for each key */
    int64_t fed_ms;     /* monotonic time at which the database was last reached; 0: not known */
};

struct tide_receipt_keys {
    const struct tide_config *config;
    atomic_bool may_sign;  /* equals the flag of the set; read without the mutex */
    pthread_mutex_t mutex; /* guards the members below; only the watching thread changes them */
    struct tide_receipt_set *set;
    struct key_state state; /* state of that set */
};

static void free_set(struct tide_receipt_set *set)
{
    if (!set)
        return;
    tide_sign_close(set->signer);
    tide_buf_release(&set->header);
    free(set);
}

/* --- files ------------------------------------------------------------------------------- */

static tide_status key_path(char out[PATH_MAX_BYTES], tide_slice name, struct tide_err *err)
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

/* Returns whether the file is that of the attester's seed, which must never sign receipts. It is
 * not even read. */
static bool is_attester_key(const char *path, const char *attester)
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
    assert(set->count < TIDE_RECEIPT_KEYS_MAX);
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
        bool first = set->count == 0 && !set->emptied;
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
    return set->signer || set->emptied
               ? TIDE_OK
               : tide_fail(err, TIDE_E_CONFIG,
                           "%s: the first key of api_receipt_keys signs: it must be private", path);
}

/* Returns whether the file is empty: an operator empties the file of a key that must not sign
 * any more. */
static bool is_emptied(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
}

/* Reads one file of keys. Its text is wiped from memory afterwards. */
static tide_status add_file(struct tide_receipt_set *set, const struct tide_config *config,
                            tide_slice name, struct tide_err *err)
{
    char path[PATH_MAX_BYTES];
    struct tide_buf pem;
    tide_status status = key_path(path, name, err);
    if (status != TIDE_OK)
        return status;
    if (is_attester_key(path, config->attester_key))
        return tide_fail(err, TIDE_E_CONFIG,
                         "%s: is the file of attester_key: receipts need a key of their own", path);
    if (is_emptied(path)) {
        set->emptied = set->emptied || set->count == 0;
        return TIDE_OK;
    }
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

/* Reads all files into a new set. Fails as a whole if one file is wrong. */
static tide_status read_set(struct tide_receipt_set **out, const struct tide_config *config,
                            struct tide_err *err)
{
    struct tide_receipt_set *set = calloc(1, sizeof *set);
    tide_status status = TIDE_OK;
    if (!set)
        return tide_fail(err, TIDE_E_MEMORY, "keys of receipts");
    tide_buf_init(&set->header, HEADER_MAX);
    for (const char *rest = config->api_receipt_keys; *rest && status == TIDE_OK;) {
        tide_slice name = next_name(&rest);
        status = name.len ? add_file(set, config, name, err)
                          : tide_fail(err, TIDE_E_CONFIG,
                                      "api_receipt_keys: a name in the list is empty");
    }
    if (status == TIDE_OK && set->signer && !config->api_receipt_issuer[0])
        status = tide_fail(err, TIDE_E_CONFIG,
                           "api_receipt_issuer is not set: receipts need the name of their issuer");
    assert(!set->signer || (set->count > 0 && !set->emptied)); /* keys[0] signs */
    if (set->signer)
        tide_jws_put_header(&set->header, set->keys[0], TIDE_RECEIPT_TYPE);
    if (status == TIDE_OK && set->header.failed)
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
    *out = keys;
    return TIDE_OK;
}

void tide_receipt_keys_close(struct tide_receipt_keys *keys)
{
    if (!keys)
        return;
    assert(keys->set->users == 0); /* a user would read freed keys */
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

const struct tide_sign *tide_receipt_set_signer(const struct tide_receipt_set *set)
{
    return atomic_load(&set->may_sign) ? set->signer : NULL;
}

bool tide_receipt_keys_is_signer(struct tide_receipt_keys *keys,
                                 const uint8_t public[TIDE_HASH_BYTES])
{
    struct tide_receipt_set *set = tide_receipt_keys_use(keys);
    bool is = tide_receipt_set_signer(set) && memcmp(set->keys[0], public, TIDE_HASH_BYTES) == 0;
    tide_receipt_keys_release(keys, set);
    return is;
}

/* --- state from the cache ------------------------------------------------------------------- */

bool tide_receipt_keys_may_sign(const struct tide_receipt_keys *keys)
{
    return atomic_load_explicit(&keys->may_sign, memory_order_relaxed);
}

/* Returns whether withdrawals are known: the database was reached recently enough. */
static bool is_known(const struct tide_receipt_keys *keys, const struct key_state *state,
                     int64_t host_ms)
{
    return state->fed_ms && host_ms - state->fed_ms <= (int64_t)keys->config->stale_after_ms;
}

bool tide_receipt_keys_put_jwks(struct tide_receipt_keys *keys, int64_t host_ms,
                                struct tide_buf *out)
{
    pthread_mutex_lock(&keys->mutex);
    struct tide_receipt_set *set = keys->set;
    struct key_state state = keys->state;
    set->users++;
    pthread_mutex_unlock(&keys->mutex);
    assert(state.withdrawn >> set->count == 0); /* the state is of this set */
    bool known = set->count == 0 || is_known(keys, &state, host_ms);
    if (known) {
        const char *before = "{\"keys\":[";
        for (uint32_t i = 0; i < set->count; i++) {
            if (state.withdrawn >> i & 1)
                continue;
            tide_buf_str(out, before);
            tide_jws_put_jwk(out, set->keys[i]);
            before = ",";
        }
        tide_buf_str(out, *before == ',' ? "]}" : "{\"keys\":[]}");
    }
    tide_receipt_keys_release(keys, set);
    return known;
}

uint32_t tide_receipt_keys_withdrawn(struct tide_receipt_keys *keys)
{
    pthread_mutex_lock(&keys->mutex);
    uint32_t withdrawn = keys->state.withdrawn;
    pthread_mutex_unlock(&keys->mutex);
    return (uint32_t)__builtin_popcount(withdrawn);
}

/* Returns whether the registry names the key as a verifier. */
static bool is_verifier(struct tide_hot_reader *reader, const struct tide_hot_meta *meta,
                        const uint8_t public[TIDE_HASH_BYTES])
{
    struct tide_hot_address who = { .kind = TIDE_STRKEY_ACCOUNT };
    memcpy(who.key, public, sizeof who.key);
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_VERIFIER, &who);
    return tide_hot_address_eq(&meta->canonical_verifier, &who) || tide_hot_get(reader, &key);
}

/* Reads the state from the cache. Returns false without a cache; *state is then unchanged. */
static bool read_state(struct key_state *state, const struct tide_receipt_set *set,
                       struct tide_hot_reader *reader, int64_t host_ms)
{
    static_assert(TIDE_JWS_KID == TIDE_HOT_KID, "a key's name is the key of its record");
    static_assert(TIDE_RECEIPT_KEYS_MAX < 32, "withdrawn has a bit for each key");
    const struct tide_hot_meta *meta;
    struct key_state found = { 0 };
    struct tide_err err;
    if (tide_hot_begin(reader, &meta, &err) != TIDE_OK)
        return false;
    uint64_t fed_age = tide_cache_fed_age_ms(meta, host_ms);
    found.fed_ms = fed_age < (uint64_t)host_ms ? host_ms - (int64_t)fed_age : 0;
    found.verifiers = set->signer && is_verifier(reader, meta, set->keys[0]);
    for (uint32_t i = 0; i < set->count; i++) {
        char kid[TIDE_JWS_KID + 1];
        tide_jws_kid(kid, set->keys[i]);
        struct tide_hot_key key = tide_hot_key_kid(kid);
        if (!kid[0] || tide_hot_get(reader, &key))
            found.withdrawn |= UINT32_C(1) << i;
    }
    if (tide_hot_end(reader) != TIDE_OK)
        return false;
    *state = found;
    return true;
}

/* Logs what changed for the signing key, and newly withdrawn keys. */
static void log_change(const struct tide_receipt_set *set, const struct key_state *before,
                       const struct key_state *now)
{
    if (now->verifiers && !before->verifiers)
        tide_log(TIDE_ERROR, "receipts.refused",
                 "text=\"the first key of api_receipt_keys is a verifier's: give receipts a key"
                 " of their own\"");
    else if (before->verifiers && !now->verifiers)
        tide_log(TIDE_INFO, "receipts.signed", "text=\"the key is no verifier's any more\"");
    for (uint32_t i = 0; i < set->count; i++) {
        char kid[TIDE_JWS_KID + 1];
        if (!((now->withdrawn & ~before->withdrawn) >> i & 1))
            continue;
        tide_jws_kid(kid, set->keys[i]);
        tide_log(TIDE_ERROR, "receipts.withdrawn", "kid=%s signs=%d text=\"%s\"", kid,
                 i == 0 && set->signer,
                 i == 0 && set->signer ? "nothing is signed: put another key first"
                                       : "it is not published: remove it from the files");
    }
}

static void store_state(struct tide_receipt_keys *keys, struct tide_receipt_set *set,
                        const struct key_state *state, int64_t host_ms)
{
    assert(state->withdrawn >> set->count == 0);
    bool may_sign = set->signer && !state->verifiers && !(state->withdrawn & 1) &&
                    is_known(keys, state, host_ms);
    pthread_mutex_lock(&keys->mutex);
    keys->set = set;
    keys->state = *state;
    atomic_store(&set->may_sign, may_sign);
    atomic_store(&keys->may_sign, may_sign);
    pthread_mutex_unlock(&keys->mutex);
}

void tide_receipt_keys_watch(struct tide_receipt_keys *keys, struct tide_hot_reader *reader,
                             int64_t host_ms)
{
    struct key_state before = keys->state, now = before;
    if (read_state(&now, keys->set, reader, host_ms))
        log_change(keys->set, &before, &now);
    store_state(keys, keys->set, &now, host_ms);
}

tide_status tide_receipt_keys_reload(struct tide_receipt_keys *keys, struct tide_hot_reader *reader,
                                     int64_t host_ms, struct tide_err *err)
{
    static const struct key_state unknown;
    struct tide_receipt_set *set = NULL, *old = keys->set;
    struct key_state now = unknown;
    tide_status status = read_set(&set, keys->config, err);
    if (status != TIDE_OK)
        return status;
    assert(set);
    if (read_state(&now, set, reader, host_ms))
        log_change(set, &unknown, &now);
    pthread_mutex_lock(&keys->mutex);
    old->users++; /* keeps the old set alive until this thread, or the last user, frees it */
    pthread_mutex_unlock(&keys->mutex);
    store_state(keys, set, &now, host_ms);
    tide_receipt_keys_release(keys, old);
    return TIDE_OK;
}
