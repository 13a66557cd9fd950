/* Declarations that the files schema/hot/hot*.c share. Only the .c files include LMDB's own
 * header. */
#ifndef SCHEMA_HOT_HOT_IMPL_H
#define SCHEMA_HOT_HOT_IMPL_H

#include "tidemark/hot.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct MDB_env MDB_env;
typedef struct MDB_txn MDB_txn;

enum { HOT_PATH_MAX = 4096, HOT_NAME_MAX = 64 };

/* The header that is stored in front of each record. */
struct TIDE_HOT_PACKED hot_head {
    uint32_t check; /* checksum of key and record */
    uint32_t size;  /* bytes of the record */
    uint8_t kind;
    uint8_t format;
};
static_assert(sizeof(struct hot_head) == 10, "files of the cache have this layout");
static_assert(TIDE_HOT_KIND_COUNT <= UINT8_MAX && TIDE_HOT_FORMAT <= UINT8_MAX, "fields hold them");

/* A generation that is open. */
struct hot_env {
    MDB_env *env;
    unsigned dbi;
    uint32_t generation;
    /* number of holders: tide_hot while it is current, and readers; guarded by tide_hot.mutex */
    uint32_t refs;
};

struct tide_hot {
    char dir[HOT_PATH_MAX];
    size_t map_first, map_max;
    uint32_t readers_max;
    bool (*stopped)(void *self); /* NULL: never */
    void *stopped_self;
    /* -1: this process is not the feeder. The feeder writes it, tide_hot_tick reads it */
    atomic_int lock_fd;
    /* one thread at a time opens, builds or discards a generation; taken before mutex */
    pthread_mutex_t opening;
    pthread_mutex_t mutex;
    pthread_cond_t opened;             /* signalled when the gate opens */
    _Atomic(struct hot_env *) current; /* NULL: none */
    /* the gate: while it is closed readers wait, because the map is being enlarged */
    atomic_bool closed;
    atomic_uint seconds;             /* number of ticks: the clock of reader->late */
    struct tide_hot_reader *readers; /* list, guarded by mutex */
    MDB_txn *txn;                    /* the feeder's transaction, or NULL */
    struct hot_env *writing;         /* the generation that txn writes */
    bool building;
    bool full;        /* the map was full in this transaction */
    uint64_t written; /* records that this transaction wrote */
    atomic_ullong grown, cleared, expired, moved_aside;
    atomic_ullong waits_map, waits_generation;
};

struct tide_hot_reader {
    struct tide_hot *hot;
    struct tide_hot_reader *next;
    struct hot_env *env;
    MDB_txn *txn; /* reset, not closed, between snapshots */
    bool sure;    /* the transaction's number belongs to the snapshot that it reads */
    atomic_bool busy;
    atomic_ullong begun; /* number of the last snapshot, counted from 1 */
    atomic_ullong late;  /* number of the one that tide_hot_tick stopped, as it took too long */
    atomic_uint since;   /* hot->seconds at begin */
    tide_status trouble;
    struct tide_hot_meta meta; /* meta record of the snapshot meta_txn of env */
    size_t meta_txn;           /* 0: meta is not valid */
};

/* hot_env.c */
tide_status hot_fail(struct tide_err *err, int rc, const char *what, const char *path);
tide_status hot_env_open(struct hot_env **out, const struct tide_hot *hot, const char *path,
                         size_t map, struct tide_err *err);
/* Drops one reference. Returns env if it was the last one: close it after the mutex is released.
 * Otherwise returns NULL. Call with the mutex. */
struct hot_env *hot_env_unref(struct hot_env *env);
void hot_env_close(struct hot_env *env);
/* Makes env the current generation. The previous one stays open while readers use it. */
void hot_publish(struct tide_hot *hot, struct hot_env *env);
/* Doubles the map. TIDE_E_LIMIT if it has its largest size. No transaction of this process may be
 * open. */
tide_status hot_grow(struct tide_hot *hot, struct hot_env *env, struct tide_err *err);
/* Takes over the size of a map that another process enlarged. */
tide_status hot_remap(struct tide_hot *hot, struct hot_env *env, struct tide_err *err);

/* hot_check.c. Checks a generation in a child process. TIDE_E_MISSING, _DECODE, _SCHEMA, _IO,
 * _STOPPED as in hot.h. */
tide_status hot_check(const struct tide_hot *hot, const char *path, struct tide_err *err);
uint32_t hot_sum(tide_slice key, const void *record, size_t size);
/* Returns the record in a stored value, or NULL if the value cannot be a record of that key. */
const void *hot_record_of(const uint8_t *key, size_t key_len, const void *value, size_t size);

/* hot_folder.c */
tide_status hot_path(char out[HOT_PATH_MAX], const struct tide_hot *hot, const char *name,
                     struct tide_err *err);
/* Sets *generation to the number that the link `current` names, 0 if there is no link. */
tide_status hot_current(const struct tide_hot *hot, uint32_t *generation, struct tide_err *err);
void hot_generation_name(char out[HOT_NAME_MAX], uint32_t generation);
tide_status hot_make_dir(const char *path, struct tide_err *err);
tide_status hot_link(const struct tide_hot *hot, uint32_t generation, struct tide_err *err);
tide_status hot_move_aside(struct tide_hot *hot, uint32_t generation, const char *why,
                           struct tide_err *err);
/* Removes the files of an unused generation. Failures are ignored. */
void hot_remove(const struct tide_hot *hot, const char *name);
/* Removes all generations except keep, and all damaged ones except the two newest. */
void hot_sweep(const struct tide_hot *hot, uint32_t keep);
/* Returns the largest number that a generation has had. */
uint32_t hot_newest(const struct tide_hot *hot);

#endif
