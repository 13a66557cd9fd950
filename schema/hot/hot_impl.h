/* Shared by the files schema/hot/hot*.c. LMDB's own header stays in the .c files. */
#ifndef SCHEMA_HOT_HOT_IMPL_H
#define SCHEMA_HOT_HOT_IMPL_H

#include "tidemark/hot.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct MDB_env MDB_env;
typedef struct MDB_txn MDB_txn;

enum { HOT_PATH_MAX = 4096, HOT_NAME_MAX = 64 };

/* In front of each record. */
struct TIDE_HOT_PACKED hot_head {
    uint32_t check; /* of key and record */
    uint32_t size;  /* of the record     */
    uint8_t kind;
    uint8_t format;
};

/* A generation that is open. */
struct hot_env {
    MDB_env *env;
    unsigned dbi;
    uint32_t generation;
    uint32_t refs; /* hot itself and its readers; under the mutex */
};

struct tide_hot {
    char dir[HOT_PATH_MAX];
    size_t map_first, map_max;
    uint32_t readers_max;
    bool (*stopped)(void *self); /* NULL: never */
    void *stopped_self;
    atomic_int lock_fd;      /* -1: not the feeder; the feeder writes it, the ticker asks */
    pthread_mutex_t opening; /* one at a time opens, builds or discards; taken before mutex */
    pthread_mutex_t mutex;
    pthread_cond_t opened;             /* the gate */
    _Atomic(struct hot_env *) current; /* NULL: none */
    atomic_bool closed;                /* the gate: readers wait, the map moves */
    atomic_uint seconds;               /* ticks */
    struct tide_hot_reader *readers;   /* list, under the mutex */
    MDB_txn *txn;                      /* the feeder's */
    struct hot_env *writing;           /* it is of */
    bool building;
    bool full;        /* the map was, in this transaction */
    uint64_t written; /* records in this transaction */
    atomic_ullong grown, cleared, expired, moved_aside;
    atomic_ullong waits_map, waits_generation;
};

struct tide_hot_reader {
    struct tide_hot *hot;
    struct tide_hot_reader *next;
    struct hot_env *env;
    MDB_txn *txn; /* reset between snapshots */
    bool sure;    /* its number is that of what it reads */
    atomic_bool busy;
    atomic_bool late;  /* took too long */
    atomic_uint since; /* hot->seconds at begin */
    tide_status trouble;
    struct tide_hot_meta meta; /* of the snapshot meta_txn of env */
    size_t meta_txn;           /* 0: of none */
};

/* hot_env.c */
tide_status hot_fail(struct tide_err *err, int rc, const char *what, const char *path);
tide_status hot_env_open(struct hot_env **out, const struct tide_hot *hot, const char *path,
                         size_t map, struct tide_err *err);
/* Under the mutex: env if it was the last reference, to be closed without the mutex; else NULL. */
struct hot_env *hot_env_unref(struct hot_env *env);
void hot_env_close(struct hot_env *env);
/* Makes env the current one; the one before stays open while readers are in it. */
void hot_publish(struct tide_hot *hot, struct hot_env *env);
/* Stops readers at the gate and waits for those inside; then lets them on. */
void hot_gate_close(struct tide_hot *hot);
void hot_gate_open(struct tide_hot *hot);
/* Doubles the map; TIDE_E_LIMIT at the ceiling. No transaction of this process may be open. */
tide_status hot_grow(struct tide_hot *hot, struct hot_env *env, struct tide_err *err);
/* Another process enlarged the map: take its size. */
tide_status hot_remap(struct tide_hot *hot, struct hot_env *env, struct tide_err *err);

/* hot_check.c: in a child. TIDE_E_MISSING, _DECODE, _SCHEMA, _IO, _STOPPED as said in hot.h. */
tide_status hot_check(const struct tide_hot *hot, const char *path, struct tide_err *err);
uint32_t hot_sum(tide_slice key, const void *record, size_t size);
/* The record in a value, or NULL when it cannot be one of that key. */
const void *hot_record_of(const uint8_t *key, size_t key_len, const void *value, size_t size);

/* hot_folder.c */
tide_status hot_path(char out[HOT_PATH_MAX], const struct tide_hot *hot, const char *name,
                     struct tide_err *err);
/* Number of the generation that the link names, 0 when there is none. */
tide_status hot_current(const struct tide_hot *hot, uint32_t *generation, struct tide_err *err);
void hot_generation_name(char out[HOT_NAME_MAX], uint32_t generation);
tide_status hot_make_dir(const char *path, struct tide_err *err);
tide_status hot_link(const struct tide_hot *hot, uint32_t generation, struct tide_err *err);
tide_status hot_move_aside(struct tide_hot *hot, uint32_t generation, const char *why,
                           struct tide_err *err);
/* Best effort: removes the files of an unused generation. */
void hot_remove(const struct tide_hot *hot, const char *name);
/* Removes generations but keep, and all but the two newest damaged ones. */
void hot_sweep(const struct tide_hot *hot, uint32_t keep);
/* Largest number that a generation has had. */
uint32_t hot_newest(const struct tide_hot *hot);

#endif
