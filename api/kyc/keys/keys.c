/* Keeps the copy of integrators and API keys up to date, and checks keys against the copy. */
#include "api/kyc/keys/keys.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    POLL_MS = 500,
    SILENCE_MS = 3000,
    REVISION_BYTES = 40,
    DAY_S = 86400,
    USED_MAX = 64,
    SKEW_S = 60 /* largest difference of clocks with which a copy is kept */
};

struct tide_kyc_keys {
    const char *conninfo;
    const struct tide_clock *clock;
    pthread_t thread;
    bool started;
    struct tide_pg *pg; /* owned by the thread, like revision and away */
    char revision[REVISION_BYTES];
    bool away;
    bool doubtful; /* the copy was read while the database's clock differed from this host's */
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t woken;
    bool stopping;
    struct tide_kyc_directory *current; /* NULL: not read yet */
    /* monotonic: when current was last known to be the newest */
    int64_t fresh_ms;
};

static int64_t now_ms(const struct tide_kyc_keys *keys)
{
    return keys->clock->now_ms(keys->clock->self);
}

static int64_t wall_s(const struct tide_kyc_keys *keys)
{
    return keys->clock->wall_ms(keys->clock->self) / 1000;
}

/* --- look-ups ------------------------------------------------------------------------------- */

static bool is_valid_now(const struct tide_kyc_key *key, int64_t now)
{
    return key->not_before <= now && (key->ends_at == 0 || now < key->ends_at);
}

static bool allows_network(const struct tide_kyc_key *key, const struct tide_peer *from)
{
    return !from || key->networks.count == 0 || tide_peer_is_proxy(&key->networks, from);
}

/* Checks the key with the hash in out. The caller holds the mutex. */
static enum tide_kyc_key_verdict check_key(struct tide_kyc_keys *keys, struct tide_kyc_key_use *out,
                                           const struct tide_peer *from)
{
    if (!keys->current || now_ms(keys) - keys->fresh_ms > TIDE_KYC_KEYS_TRUST_MS)
        return TIDE_KYC_KEY_AWAY;
    struct tide_kyc_key *key = tide_kyc_directory_key(keys->current, out->hash);
    if (!key || !is_valid_now(key, wall_s(keys)))
        return TIDE_KYC_KEY_UNKNOWN;
    if (!allows_network(key, from))
        return TIDE_KYC_KEY_NETWORK;
    static_assert(sizeof out->integrator == sizeof key->integrator, "copied whole");
    atomic_store_explicit(&key->used, true, memory_order_relaxed);
    memcpy(out->integrator, key->integrator, sizeof out->integrator);
    out->scopes = key->scopes;
    out->rate = key->rate;
    out->burst = key->burst;
    return TIDE_KYC_KEY_GOOD;
}

enum tide_kyc_key_verdict tide_kyc_keys_check(struct tide_kyc_keys *keys,
                                              struct tide_kyc_key_use *out, tide_slice key,
                                              const struct tide_peer *from)
{
    assert(keys);
    *out = (struct tide_kyc_key_use){ 0 };
    tide_sha256(out->hash, key);
    pthread_mutex_lock(&keys->mutex);
    enum tide_kyc_key_verdict verdict = check_key(keys, out, from);
    pthread_mutex_unlock(&keys->mutex);
    return verdict;
}

bool tide_kyc_keys_integrator(struct tide_kyc_keys *keys, struct tide_kyc_integrator *out,
                              tide_slice id)
{
    const struct tide_kyc_integrator *found = NULL;
    pthread_mutex_lock(&keys->mutex);
    if (keys->current)
        found = tide_kyc_directory_integrator(keys->current, id);
    if (found)
        *out = *found;
    pthread_mutex_unlock(&keys->mutex);
    return found != NULL;
}

bool tide_kyc_keys_origin(struct tide_kyc_keys *keys, tide_slice origin)
{
    pthread_mutex_lock(&keys->mutex);
    bool known = keys->current && tide_kyc_directory_origin(keys->current, origin);
    pthread_mutex_unlock(&keys->mutex);
    return known;
}

struct tide_kyc_keys_figures tide_kyc_keys_figures(struct tide_kyc_keys *keys)
{
    struct tide_kyc_keys_figures out = { .age_ms = -1 };
    pthread_mutex_lock(&keys->mutex);
    if (keys->current) {
        out.integrators = keys->current->integrator_count;
        out.keys = keys->current->key_count;
        out.age_ms = now_ms(keys) - keys->fresh_ms;
    }
    pthread_mutex_unlock(&keys->mutex);
    return out;
}

/* --- the copy ------------------------------------------------------------------------------- */

/* Carries over which keys were used, so that a replaced copy loses no use that is not stored
 * yet. */
static void keep_use(struct tide_kyc_directory *to, struct tide_kyc_directory *from)
{
    for (uint32_t i = 0; from && i < to->key_count; i++) {
        struct tide_kyc_key *was = tide_kyc_directory_key(from, to->keys[i].hash);
        if (!was)
            continue;
        atomic_store(&to->keys[i].used, atomic_load(&was->used));
        to->keys[i].noted_day = was->noted_day;
    }
}

/* Publishes a new copy and frees the old one after the mutex is released: no reader holds a pointer
 * without the mutex. */
void tide_kyc_keys_take(struct tide_kyc_keys *keys, struct tide_kyc_directory *directory,
                        int64_t at_ms)
{
    struct tide_kyc_directory *old;
    pthread_mutex_lock(&keys->mutex);
    old = keys->current;
    keep_use(directory, old);
    keys->current = directory;
    keys->fresh_ms = at_ms;
    pthread_mutex_unlock(&keys->mutex);
    free(old);
}

/* Reads a whole new copy and publishes it, so that readers never see half of a change. changed: its
 * revision is another one. */
static tide_status read_all(struct tide_kyc_keys *keys, int64_t at_ms, bool changed,
                            struct tide_err *err)
{
    struct tide_kyc_directory *directory = tide_kyc_directory_new();
    if (!directory)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: copy of the API keys");
    tide_status status = tide_kyc_directory_read(directory, keys->pg, err);
    if (status != TIDE_OK) {
        free(directory);
        return status;
    }
    tide_log(changed ? TIDE_INFO : TIDE_DEBUG, "keys.read", "integrators=%" PRIu32 " keys=%" PRIu32,
             directory->integrator_count, directory->key_count);
    tide_kyc_keys_take(keys, directory, at_ms);
    return TIDE_OK;
}

/* Reads the revision, and whether the database's clock differs from this host's. */
static tide_status read_revision(struct tide_kyc_keys *keys, char revision[REVISION_BYTES],
                                 bool *differs, struct tide_err *err)
{
    struct tide_pg_rows rows;
    revision[0] = 0;
    tide_status status =
        tide_pg_query(keys->pg, &rows,
                      "SELECT revision, floor(extract(epoch FROM clock_timestamp()))::bigint"
                      " FROM kyc.integrator_revision",
                      NULL, 0, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.columns == 2);
    if (rows.count == 1) {
        int64_t ahead_s = (int64_t)tide_pg_u64(&rows, 0, 1) - wall_s(keys);
        snprintf(revision, REVISION_BYTES, "%s", tide_pg_text(&rows, 0, 0));
        *differs = ahead_s > SKEW_S || ahead_s < -SKEW_S;
    }
    tide_pg_rows_release(&rows);
    return *revision ? TIDE_OK
                     : tide_fail(err, TIDE_E_DB_FATAL,
                                 "kyc.integrator_revision has no row; a migration inserts it");
}

/* Reads the rows again if the revision has changed. Reads the revision first: rows committed in
 * between have a newer revision, so the next poll reads them again. The copy lacks keys that have
 * ended by the database's clock. If that clock is wrong, each poll reads them again. */
static tide_status refresh_copy(struct tide_kyc_keys *keys, struct tide_err *err)
{
    char revision[REVISION_BYTES];
    bool differs = false;
    int64_t at_ms = now_ms(keys);
    tide_status status = read_revision(keys, revision, &differs, err);
    if (status != TIDE_OK)
        return status;
    bool changed = strcmp(revision, keys->revision) != 0;
    if (!changed && !keys->doubtful) {
        pthread_mutex_lock(&keys->mutex);
        keys->fresh_ms = at_ms;
        pthread_mutex_unlock(&keys->mutex);
        return TIDE_OK;
    }
    static_assert(sizeof keys->revision == sizeof revision, "copied whole");
    status = read_all(keys, at_ms, changed, err);
    if (status != TIDE_OK)
        return status;
    memcpy(keys->revision, revision, sizeof keys->revision);
    keys->doubtful = differs;
    return TIDE_OK;
}

/* Stores for at most USED_MAX keys that they were used today. Reads the copy without the mutex,
 * because only this thread replaces it. On failure the keys stay marked as used. */
static tide_status note_use(struct tide_kyc_keys *keys, struct tide_err *err)
{
    struct tide_kyc_directory *directory = keys->current;
    assert(directory); /* refresh_copy succeeded */
    char list[USED_MAX * TIDE_KYC_KEY_ID_BYTES + 2] = "{";
    struct tide_kyc_key *noted[USED_MAX];
    size_t len = 1, count = 0;
    int64_t today = wall_s(keys) / DAY_S;
    for (uint32_t i = 0; i < directory->key_count && count < USED_MAX; i++) {
        struct tide_kyc_key *key = &directory->keys[i];
        if (key->noted_day == today || !atomic_load(&key->used))
            continue;
        atomic_store(&key->used, false);
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", count ? "," : "", key->id);
        noted[count++] = key;
    }
    if (count == 0)
        return TIDE_OK;
    assert(count <= USED_MAX && len + 1 < sizeof list);
    snprintf(list + len, sizeof list - len, "}");
    tide_status status = tide_pg_query(keys->pg, NULL, "SELECT kyc.key_used($1::text[])",
                                       (const char *[]){ list }, 1, err);
    for (size_t i = 0; i < count; i++) {
        if (status == TIDE_OK)
            noted[i]->noted_day = today;
        else
            atomic_store(&noted[i]->used, true);
    }
    return status;
}

/* --- the thread ----------------------------------------------------------------------------- */

static bool is_stopping(void *self)
{
    struct tide_kyc_keys *keys = self;
    pthread_mutex_lock(&keys->mutex);
    bool stopping = keys->stopping;
    pthread_mutex_unlock(&keys->mutex);
    return stopping;
}

/* Connects if needed, and refreshes the copy. A failure to store the use of keys is ignored: the
 * next poll tries again. */
static tide_status poll_database(struct tide_kyc_keys *keys, struct tide_err *err)
{
    const struct tide_pg_options to = { .conninfo = keys->conninfo,
                                        .application = "tidemark-keys",
                                        .server = TIDE_PG_PRIMARY,
                                        .silence_ms = SILENCE_MS,
                                        .stopped = is_stopping,
                                        .stopped_self = keys };
    tide_status status = TIDE_OK;
    if (!keys->pg || !tide_pg_alive(keys->pg)) {
        keys->revision[0] = 0; /* another server may have other rows */
        status = tide_pg_connect(&keys->pg, &to, err);
        if (status == TIDE_OK)
            status = tide_pg_run(keys->pg,
                                 "SET statement_timeout = '2s'; SET lock_timeout = '100ms';"
                                 " SET search_path = pg_catalog",
                                 "SET", err);
    }
    if (status == TIDE_OK)
        status = refresh_copy(keys, err);
    struct tide_err ignored; /* a transaction of the console may have locked the row */
    if (status == TIDE_OK && note_use(keys, &ignored) == TIDE_E_STOPPED)
        status = TIDE_E_STOPPED;
    return status;
}

/* Logs once when the database becomes unreachable and once when it answers again. */
static void log_availability(struct tide_kyc_keys *keys, tide_status status,
                             const struct tide_err *err)
{
    if (status == TIDE_E_STOPPED || (status != TIDE_OK) == keys->away)
        return;
    keys->away = status != TIDE_OK;
    if (keys->away)
        tide_log(TIDE_WARN, "keys.away",
                 "trust_s=%d text=\"integrators and keys cannot be read: %s\"",
                 TIDE_KYC_KEYS_TRUST_MS / 1000, err->text);
    else
        tide_log(TIDE_INFO, "keys.back", "text=\"integrators and keys are read again\"");
}

/* Waits until the next poll. Returns false when the thread must end. */
static bool wait_for_poll(struct tide_kyc_keys *keys)
{
    struct timespec until = tide_monotonic_in(POLL_MS);
    pthread_mutex_lock(&keys->mutex);
    while (!keys->stopping &&
           pthread_cond_timedwait(&keys->woken, &keys->mutex, &until) != ETIMEDOUT)
        continue;
    bool stopping = keys->stopping;
    pthread_mutex_unlock(&keys->mutex);
    return !stopping;
}

static void *poll_keys(void *self)
{
    struct tide_kyc_keys *keys = self;
    do {
        struct tide_err err;
        tide_status status = poll_database(keys, &err);
        log_availability(keys, status, &err);
    } while (wait_for_poll(keys));
    return NULL;
}

/* The condition uses the monotonic clock: a changed wall clock must not stretch a wait. */
tide_status tide_kyc_keys_open(struct tide_kyc_keys **out, const char *conninfo,
                               const struct tide_clock *clock, struct tide_err *err)
{
    struct tide_kyc_keys *keys = calloc(1, sizeof *keys);
    *out = keys;
    if (!keys)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: API keys");
    keys->conninfo = conninfo;
    keys->clock = clock;
    pthread_mutex_init(&keys->mutex, NULL);
    (void)tide_cond_init(&keys->woken);
    return TIDE_OK;
}

tide_status tide_kyc_keys_start(struct tide_kyc_keys *keys, struct tide_err *err)
{
    assert(!keys->started && !keys->stopping);
    log_availability(keys, poll_database(keys, err), err); /* the first request then finds a copy */
    keys->started = pthread_create(&keys->thread, NULL, poll_keys, keys) == 0;
    return keys->started ? TIDE_OK
                         : tide_fail(err, TIDE_E_IO, "cannot start the thread that reads API keys");
}

void tide_kyc_keys_close(struct tide_kyc_keys *keys)
{
    if (!keys)
        return;
    pthread_mutex_lock(&keys->mutex);
    keys->stopping = true;
    pthread_cond_signal(&keys->woken);
    pthread_mutex_unlock(&keys->mutex);
    if (keys->started)
        pthread_join(keys->thread, NULL);
    tide_pg_close(keys->pg);
    free(keys->current);
    pthread_cond_destroy(&keys->woken);
    pthread_mutex_destroy(&keys->mutex);
    free(keys);
}
