/* The hot cache: records (hot_record.h) in a memory map that several processes of one host share.
 * Disposable: it is rebuilt from PostgreSQL, never repaired.
 *
 * Folder    feeder.lock, generations gen-N (data.mdb, lock.mdb), a link current to one of them,
 *           and what was found damaged. It holds private data and belongs to one user (0700).
 * Feeding   one process of the host holds the lock and writes; all others only read.
 * Checked   before a generation is opened a child process reads all of it: a damaged file kills
 *           its reader. The feeder moves a bad one aside and builds the next.
 * Fork      no handle may be used in a child; the check opens its own.
 * Reading   each thread has a reader. Between begin and end it sees one ledger; what it points
 *           at is in the map and dies at end. Nothing waits: not for the writer, not for others,
 *           but while the map is being enlarged, which its first size makes rare (it is address
 *           space; the file has what was written), and for a short lock when a generation is new
 *           to the reader. Both are counted.
 * Failure   TIDE_E_MISSING  there is no generation yet        TIDE_E_DECODE  it is damaged
 *           TIDE_E_SCHEMA   it is of another version          TIDE_E_LIMIT   full, or too slow
 *           TIDE_E_IO       folder or file; err says which and why
 * Threads   any may read, each with a reader of its own. One thread feeds. tick: one thread. */
#ifndef TIDEMARK_HOT_H
#define TIDEMARK_HOT_H

#include "tidemark/clock.h"
#include "tidemark/hot_sink.h"

#define TIDE_HOT_MAP_FIRST   ((size_t)16 << 30) /* fifty million addresses */
#define TIDE_HOT_MAP_MAX     ((size_t)64 << 30)
#define TIDE_HOT_READERS_MAX 512u  /* of all processes together */
#define TIDE_HOT_READ_MS     1000u /* a reader that takes longer is told to stop */

struct tide_hot;
struct tide_hot_reader;

struct tide_hot_options {
    const char *dir;      /* made when it is not there */
    size_t map_first;     /* bytes of a new generation's map; 0: TIDE_HOT_MAP_FIRST */
    size_t map_max;       /* ceiling of its doublings; 0: TIDE_HOT_MAP_MAX */
    uint32_t readers_max; /* 0: TIDE_HOT_READERS_MAX */
    /* Asked while a file is checked, which may take minutes; true ends the check. NULL: never */
    bool (*stopped)(void *self);
    void *stopped_self;
};

/* Opens the folder, not yet a generation: see tide_hot_refresh. */
tide_status tide_hot_open(struct tide_hot **out, const struct tide_hot_options *options,
                          struct tide_err *err) TIDE_MUST_USE;
/* Every reader is closed before. */
void tide_hot_close(struct tide_hot *hot);

/* Opens the current generation when it is not the one that is open; costs one readlink when it
 * is. Before one is opened a child process reads it whole: that takes up to three times 10 s and a
 * second for each 16 MiB, in which the calling thread marks itself alive (liveness.h). On failure
 * the generation that is open stays so, but with TIDE_E_MISSING: then it was withdrawn, and readers
 * are told the same until there is another. TIDE_E_STOPPED: the check was cut short. Any thread. */
tide_status tide_hot_refresh(struct tide_hot *hot, struct tide_err *err) TIDE_MUST_USE;
/* Once a second: ends readers that take too long, and, as the feeder, each minute, clears the slots
 * of readers that died. Does not wait for a check. */
void tide_hot_tick(struct tide_hot *hot);

struct tide_hot_stats {
    uint32_t generation; /* open here; 0: none           */
    uint32_t readers;    /* slots in use, all processes  */
    uint64_t map_bytes;  /* size of the map              */
    uint64_t used_bytes; /* of it                        */
    uint64_t records;
    uint64_t grown;            /* doublings by this process    */
    uint64_t cleared;          /* slots of dead readers        */
    uint64_t expired;          /* reads that took too long     */
    uint64_t moved_aside;      /* generations found bad        */
    uint64_t waits_map;        /* readers that waited while the map was enlarged              */
    uint64_t waits_generation; /* readers new to a generation that found the lock held */
};
void tide_hot_stats(struct tide_hot *hot, struct tide_hot_stats *out);

/* --- reading ------------------------------------------------------------------------- */

tide_status tide_hot_reader_open(struct tide_hot_reader **out, struct tide_hot *hot,
                                 struct tide_err *err) TIDE_MUST_USE;
void tide_hot_reader_close(struct tide_hot_reader *reader);
/* A snapshot; *meta is what it stands for. Nothing is begun on failure. */
tide_status tide_hot_begin(struct tide_hot_reader *reader, const struct tide_hot_meta **meta,
                           struct tide_err *err) TIDE_MUST_USE;
/* The record of that key, NULL when there is none, or after a failure that end will tell. */
const void *tide_hot_get(struct tide_hot_reader *reader, const struct tide_hot_key *key);
/* Records whose key begins with prefix and is not below from (NULL: all), in the order of keys,
 * until each says false. What each is given dies at end. */
typedef bool tide_hot_each_fn(void *self, tide_slice key, const void *record);
void tide_hot_scan(struct tide_hot_reader *reader, const struct tide_hot_key *prefix,
                   const struct tide_hot_key *from, tide_hot_each_fn *each, void *self);
/* The last record whose key begins with the first prefix_len bytes of key and is not above it. */
const void *tide_hot_floor(struct tide_hot_reader *reader, const struct tide_hot_key *key,
                           size_t prefix_len);
/* Whether a jurisdiction is blocked: a bit of meta, or a look-up for numbers beyond ISO. */
bool tide_hot_blocked(struct tide_hot_reader *reader, const struct tide_hot_meta *meta,
                      uint32_t code);
/* Ends the snapshot. What was read is good only if this is TIDE_OK: TIDE_E_DECODE for a damaged
 * record, TIDE_E_LIMIT when it took longer than TIDE_HOT_READ_MS. */
tide_status tide_hot_end(struct tide_hot_reader *reader) TIDE_MUST_USE;

/* --- feeding ---------------------------------------------------------------------------- */

/* Takes the feeder's lock if no process has it: *mine. It is kept until tide_hot_close. */
tide_status tide_hot_lock(struct tide_hot *hot, bool *mine, struct tide_err *err) TIDE_MUST_USE;

/* Changes records in one transaction: change is called with the sink and its effects are kept if
 * it says TIDE_OK. It may be called again, from the start, when the map had to be enlarged.
 * TIDE_E_LIMIT when that is not possible any more: rebuild. */
typedef tide_status tide_hot_change_fn(void *self, struct tide_hot_sink *sink,
                                       struct tide_err *err);
tide_status tide_hot_update(struct tide_hot *hot, tide_hot_change_fn *change, void *self,
                            struct tide_err *err) TIDE_MUST_USE;
/* A new generation: build fills it (in many transactions, invisible to readers), then it becomes
 * the current one and the old one is retired. The records must hold a meta record at the end;
 * its format and generation are set here. */
tide_status tide_hot_rebuild(struct tide_hot *hot, tide_hot_change_fn *build, void *self,
                             struct tide_err *err) TIDE_MUST_USE;
/* Moves the current generation aside, so that tide_hot_rebuild is what comes next. */
tide_status tide_hot_discard(struct tide_hot *hot, const char *why,
                             struct tide_err *err) TIDE_MUST_USE;
/* Within change: records whose key is below end and begins as prefix does are dropped. */
tide_status tide_hot_drop_below(struct tide_hot_sink *sink, const struct tide_hot_key *prefix,
                                const struct tide_hot_key *end, struct tide_err *err) TIDE_MUST_USE;

/* Reads all of a generation's folder as the check does, in this process. (tests, the child) */
tide_status tide_hot_scan_files(const char *path, struct tide_err *err) TIDE_MUST_USE;

#endif
