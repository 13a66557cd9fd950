#include "schema/hot/hot_impl.h"
#include "tidemark/lock.h"

#include <lmdb.h>
#include <stdlib.h>

tide_status tide_hot_reader_open(struct tide_hot_reader **out, struct tide_hot *hot,
                                 struct tide_err *err)
{
    struct tide_hot_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return tide_fail(err, TIDE_E_MEMORY, "cache: reader");
    reader->hot = hot;
    pthread_mutex_lock(&hot->mutex);
    reader->next = hot->readers;
    hot->readers = reader;
    pthread_mutex_unlock(&hot->mutex);
    *out = reader;
    return TIDE_OK;
}

/* Ends the reader's transaction and drops its generation. Returns the generation if it must be
 * closed after the mutex is released, else NULL. Call with the mutex. */
static struct hot_env *leave_env(struct tide_hot_reader *reader)
{
    if (reader->txn)
        mdb_txn_abort(reader->txn);
    reader->txn = NULL;
    struct hot_env *last = hot_env_unref(reader->env);
    reader->env = NULL;
    reader->meta_txn = 0;
    return last;
}

void tide_hot_reader_close(struct tide_hot_reader *reader)
{
    if (!reader)
        return;
    struct tide_hot *hot = reader->hot;
    assert(!atomic_load(&reader->busy));
    pthread_mutex_lock(&hot->mutex);
    for (struct tide_hot_reader **at = &hot->readers; *at; at = &(*at)->next) {
        if (*at == reader) {
            *at = reader->next;
            break;
        }
    }
    struct hot_env *last = leave_env(reader);
    pthread_mutex_unlock(&hot->mutex);
    hot_env_close(last);
    free(reader);
}

/* --- begin --------------------------------------------------------------------------------- */

static uint64_t snapshot_number(const struct tide_hot_reader *reader)
{
    return atomic_load_explicit(&reader->begun, memory_order_relaxed);
}

static void enter_generation(struct tide_hot_reader *reader)
{
    struct tide_hot *hot = reader->hot;
    for (;;) {
        atomic_store(&reader->busy, true);
        if (TIDE_LIKELY(!atomic_load(&hot->closed)))
            return;
        atomic_store(&reader->busy, false);
        atomic_fetch_add_explicit(&hot->waits_map, 1, memory_order_relaxed);
        pthread_mutex_lock(&hot->mutex);
        while (atomic_load(&hot->closed))
            pthread_cond_wait(&hot->opened, &hot->mutex);
        pthread_mutex_unlock(&hot->mutex);
    }
}

static void change_env(struct tide_hot_reader *reader)
{
    struct tide_hot *hot = reader->hot;
    tide_lock_counted(&hot->mutex, &hot->waits_generation);
    struct hot_env *last = leave_env(reader);
    reader->env = atomic_load(&hot->current);
    assert(!reader->env || reader->env->refs > 0); /* the current generation has a holder */
    if (reader->env)
        reader->env->refs++;
    pthread_mutex_unlock(&hot->mutex);
    hot_env_close(last);
}

static int renew_txn(struct tide_hot_reader *reader)
{
    if (reader->txn) {
        int rc = mdb_txn_renew(reader->txn);
        if (rc == 0 || rc == MDB_MAP_RESIZED)
            return rc;
        mdb_txn_abort(reader->txn);
        reader->txn = NULL;
    }
    assert(reader->env && !reader->txn);
    int rc = mdb_txn_begin(reader->env->env, NULL, MDB_RDONLY, &reader->txn);
    if (rc != 0)
        reader->txn = NULL;
    return rc;
}

/* Returns whether the transaction's number belongs to the snapshot that it reads. LMDB reads the
 * number of the last commit first and copies the root of the tree that this commit wrote
 * afterwards. The commit after the next one overwrites that root. A reader that is suspended
 * between the two steps therefore has the newer tree with the older number. The tree is complete,
 * but data cached by that number may belong to another snapshot. The number is right if no commit
 * followed before the copy was made. */
static bool number_is_sure(const struct tide_hot_reader *reader)
{
    MDB_envinfo info;
    atomic_thread_fence(memory_order_acquire);
    return mdb_env_info(reader->env->env, &info) == 0 &&
           info.me_last_txnid == mdb_txn_id(reader->txn);
}

/* Begins a transaction, again if a commit came in between. After TRIES such attempts it continues
 * with sure = false: the meta record is then read anew, not taken from the cache by number. */
static int begin_txn(struct tide_hot_reader *reader)
{
    enum { TRIES = 3 };
    for (int i = 0;; i++) {
        int rc = renew_txn(reader);
        if (rc != 0)
            return rc;
        reader->sure = number_is_sure(reader);
        if (TIDE_LIKELY(reader->sure) || i == TRIES)
            return 0;
        mdb_txn_reset(reader->txn);
    }
}

/* Handles a failed begin: takes over the size of an enlarged map, or clears the slots of dead
 * readers. Returns TIDE_OK if the caller should try again. */
static tide_status mend_and_begin(struct tide_hot_reader *reader, int rc, struct tide_err *err)
{
    int dead = 0;
    atomic_store(&reader->busy, false);
    if (rc == MDB_MAP_RESIZED) {
        atomic_fetch_add_explicit(&reader->hot->waits_map, 1, memory_order_relaxed);
        tide_status status = hot_remap(reader->hot, reader->env, err);
        enter_generation(reader);
        return status;
    }
    if (rc == MDB_READERS_FULL && mdb_reader_check(reader->env->env, &dead) == 0)
        atomic_fetch_add(&reader->hot->cleared, (unsigned long long)dead);
    enter_generation(reader);
    return rc == MDB_READERS_FULL && dead > 0 ? TIDE_OK
                                              : hot_fail(err, rc, "read", reader->hot->dir);
}

static tide_status begin_snapshot(struct tide_hot_reader *reader, struct tide_err *err)
{
    enum { TRIES = 4 };
    for (int i = 0; i < TRIES; i++) {
        if (TIDE_UNLIKELY(reader->env != atomic_load(&reader->hot->current)))
            change_env(reader);
        if (!reader->env)
            return tide_fail(err, TIDE_E_MISSING, "cache: not built yet");
        int rc = begin_txn(reader);
        if (TIDE_LIKELY(rc == 0))
            return TIDE_OK;
        tide_status status = mend_and_begin(reader, rc, err);
        if (status != TIDE_OK)
            return status;
    }
    return tide_fail(err, TIDE_E_LIMIT, "cache: its map keeps growing");
}

/* Copies the meta record unless the snapshot is that of the last copy, which is the usual case. */
static bool read_meta(struct tide_hot_reader *reader)
{
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    size_t id = mdb_txn_id(reader->txn);
    if (TIDE_UNLIKELY(!reader->sure || reader->meta_txn != id)) {
        const struct tide_hot_meta *meta = tide_hot_get(reader, &key);
        reader->meta_txn = meta && reader->sure ? id : 0;
        if (!meta)
            return false;
        reader->meta = *meta;
    }
    return true;
}

tide_status tide_hot_begin(struct tide_hot_reader *reader, const struct tide_hot_meta **meta,
                           struct tide_err *err)
{
    assert(!atomic_load(&reader->busy));
    enter_generation(reader);
    reader->trouble = TIDE_OK;
    atomic_store_explicit(&reader->since,
                          atomic_load_explicit(&reader->hot->seconds, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&reader->begun, snapshot_number(reader) + 1, memory_order_release);
    tide_status status = begin_snapshot(reader, err);
    if (status == TIDE_OK) {
        *meta = &reader->meta;
        if (TIDE_LIKELY(read_meta(reader)))
            return TIDE_OK;
        mdb_txn_reset(reader->txn);
        status = tide_fail(err, TIDE_E_DECODE, "cache: it does not say what it stands for");
    }
    atomic_store(&reader->busy, false);
    return status;
}

tide_status tide_hot_end(struct tide_hot_reader *reader)
{
    assert(atomic_load(&reader->busy));
    mdb_txn_reset(reader->txn);
    atomic_store(&reader->busy, false);
    return reader->trouble;
}

/* --- look-ups ------------------------------------------------------------------------------ */

static const void *record_of(struct tide_hot_reader *reader, int rc, const MDB_val *key,
                             const MDB_val *value)
{
    const void *record = NULL;
    if (rc == 0)
        record = hot_record_of(key->mv_data, key->mv_size, value->mv_data, value->mv_size);
    if (TIDE_UNLIKELY(!record && rc != MDB_NOTFOUND))
        reader->trouble = TIDE_E_DECODE;
    return record;
}

static bool too_late(struct tide_hot_reader *reader)
{
    if (TIDE_LIKELY(atomic_load_explicit(&reader->late, memory_order_relaxed) !=
                    snapshot_number(reader)))
        return false;
    reader->trouble = TIDE_E_LIMIT;
    return true;
}

static const void *get_value(struct tide_hot_reader *reader, const struct tide_hot_key *key)
{
    MDB_val name = { key->len, (void *)(uintptr_t)key->bytes }, value;
    int rc = mdb_get(reader->txn, reader->env->dbi, &name, &value);
    return record_of(reader, rc, &name, &value);
}

const void *tide_hot_get(struct tide_hot_reader *reader, const struct tide_hot_key *key)
{
    assert(atomic_load_explicit(&reader->busy, memory_order_relaxed)); /* within a snapshot */
    if (too_late(reader))
        return NULL;
    return get_value(reader, key);
}

static bool has_prefix(const MDB_val *key, const uint8_t *prefix, size_t len)
{
    return key->mv_size >= len && memcmp(key->mv_data, prefix, len) == 0;
}

void tide_hot_scan(struct tide_hot_reader *reader, const struct tide_hot_key *prefix,
                   const struct tide_hot_key *from, tide_hot_each_fn *each, void *self)
{
    assert(atomic_load_explicit(&reader->busy, memory_order_relaxed));
    const struct tide_hot_key *first = from ? from : prefix;
    assert(first->len > 0 && prefix->len <= TIDE_HOT_KEY_MAX); /* LMDB takes no empty key */
    MDB_val key = { first->len, (void *)(uintptr_t)first->bytes }, value;
    MDB_cursor *cursor;
    if (mdb_cursor_open(reader->txn, reader->env->dbi, &cursor) != 0) {
        reader->trouble = TIDE_E_MEMORY;
        return;
    }
    int rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (rc != MDB_NOTFOUND && !too_late(reader)) {
        const void *record = record_of(reader, rc, &key, &value);
        if (!record || !has_prefix(&key, prefix->bytes, prefix->len) ||
            !each(self, tide_slice_of(key.mv_data, key.mv_size), record))
            break;
        rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
}

/* Moves the cursor to the largest key that is not above the wanted one. Returns LMDB's code. */
static int find_floor(MDB_cursor *cursor, const struct tide_hot_key *wanted, MDB_val *key,
                      MDB_val *value)
{
    *key = (MDB_val){ wanted->len, (void *)(uintptr_t)wanted->bytes };
    int rc = mdb_cursor_get(cursor, key, value, MDB_SET_RANGE);
    if (rc == MDB_NOTFOUND)
        return mdb_cursor_get(cursor, key, value, MDB_LAST);
    if (rc == 0 && (key->mv_size != wanted->len || !has_prefix(key, wanted->bytes, wanted->len)))
        return mdb_cursor_get(cursor, key, value, MDB_PREV);
    return rc;
}

const void *tide_hot_floor(struct tide_hot_reader *reader, const struct tide_hot_key *key,
                           size_t prefix_len)
{
    assert(atomic_load_explicit(&reader->busy, memory_order_relaxed));
    assert(prefix_len > 0 && prefix_len <= key->len);
    MDB_cursor *cursor;
    MDB_val found, value;
    if (too_late(reader))
        return NULL;
    if (mdb_cursor_open(reader->txn, reader->env->dbi, &cursor) != 0) {
        reader->trouble = TIDE_E_MEMORY;
        return NULL;
    }
    int rc = find_floor(cursor, key, &found, &value);
    mdb_cursor_close(cursor);
    if (rc == 0 && !has_prefix(&found, key->bytes, prefix_len))
        return NULL;
    return record_of(reader, rc, &found, &value);
}

bool tide_hot_blocked(struct tide_hot_reader *reader, const struct tide_hot_meta *meta,
                      uint32_t code)
{
    struct tide_hot_key key = tide_hot_key_u32(TIDE_HOT_BLOCKED, code);
    if (TIDE_LIKELY(code < TIDE_HOT_CODES))
        return meta->blocked[code / 8] >> code % 8 & 1;
    return tide_hot_get(reader, &key) != NULL;
}
