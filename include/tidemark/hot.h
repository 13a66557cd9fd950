/* The hot cache: records (hot_record.h) in a memory map that several processes of one host share.
 * The cache is disposable: it is rebuilt from PostgreSQL, never repaired.
 *
 * Folder    feeder.lock, generations gen-N (data.mdb, lock.mdb), a link `current` to one of them,
 *           and damaged generations that were moved aside. The folder holds private data and
 *           belongs to one user (0700).
 * Feeding   one process of the host, the feeder, holds the lock and writes. All others only read.
 * Checked   before a process opens a generation, a child process reads all of it, because a damaged
 *           file kills the process that reads it. The feeder moves a damaged generation aside and
 *           builds the next one.
 * Fork      no handle may be used in a child. The check opens its own.
 * Reading   each thread has a reader. Between begin and end it sees one ledger. Pointers that it
 *           gets lead into the map and are invalid after end. A reader waits neither for the writer
 *           nor for other readers. There are two exceptions, both counted: while the map is being
 *           enlarged, and for a short lock when a generation is new to the reader. Enlarging is
 *           rare, because the map's first size is large: it is address space, and the file is only
 *           as large as what was written.
 * Failure   TIDE_E_MISSING  there is no generation yet
 *           TIDE_E_DECODE   the generation is damaged
 *           TIDE_E_SCHEMA   the generation has another format
 *           TIDE_E_LIMIT    the map is full, or a read took too long
 *           TIDE_E_IO       folder or file; err says which and why
 * Threads   any may read, each with a reader of its own. One thread feeds. tick: one thread. */
#ifndef TIDEMARK_HOT_H
#define TIDEMARK_HOT_H

#include "tidemark/clock.h"
#include "tidemark/hot_sink.h"

#define TIDE_HOT_MAP_FIRST   ((size_t)16 << 30) /* fifty million addresses */
#define TIDE_HOT_MAP_MAX     ((size_t)64 << 30)
#define TIDE_HOT_READERS_MAX 512u  /* readers of all processes together */
#define TIDE_HOT_READ_MS     1000u /* a reader that takes longer is told to stop */

struct tide_hot;
struct tide_hot_reader;

struct tide_hot_options {
    const char *dir;      /* created if missing */
    size_t map_first;     /* bytes of a new generation's map; 0: TIDE_HOT_MAP_FIRST */
    size_t map_max;       /* largest size after doubling; 0: TIDE_HOT_MAP_MAX */
    uint32_t readers_max; /* 0: TIDE_HOT_READERS_MAX */
    /* Called while a file is checked, which may take minutes. If it returns true, the check ends.
     * NULL: never. */
    bool (*stopped)(void *self);
    void *stopped_self;
};

/* Opens the folder. tide_hot_refresh then opens a generation. */
tide_status tide_hot_open(struct tide_hot **out, const struct tide_hot_options *options,
                          struct tide_err *err) TIDE_MUST_USE;
/* Close every reader first. Gives the feeder's lock up. */
void tide_hot_close(struct tide_hot *hot);

/* Opens the current generation if another one, or none, is open. Otherwise the call costs one
 * readlink. A child process reads the generation whole before it is opened. That may take up to
 * three times 10 s plus one second for each 16 MiB; meanwhile the calling thread marks itself alive
 * (liveness.h). After a failure the generation that was open stays open, except after
 * TIDE_E_MISSING: the generation was withdrawn, and readers get TIDE_E_MISSING until there is
 * another one. TIDE_E_STOPPED: stopped() ended the check. Any thread. */
tide_status tide_hot_refresh(struct tide_hot *hot, struct tide_err *err) TIDE_MUST_USE;
/* Call once a second. Stops readers that take too long. In the feeder, also clears the slots of
 * readers that died, once a minute. Does not wait for a check. */
void tide_hot_tick(struct tide_hot *hot);

struct tide_hot_stats {
    uint32_t generation; /* the one that this process has open; 0: none */
    uint32_t readers;    /* slots in use, of all processes */
    uint64_t map_bytes;  /* size of the map              */
    uint64_t used_bytes; /* bytes of the map that are used */
    uint64_t records;
    uint64_t grown;            /* times that this process doubled the map */
    uint64_t cleared;          /* slots of dead readers that were cleared */
    uint64_t expired;          /* reads that took too long     */
    uint64_t moved_aside;      /* damaged generations */
    uint64_t waits_map;        /* times that a reader waited while the map was enlarged */
    uint64_t waits_generation; /* times that a reader found the lock of a new generation held */
};
void tide_hot_stats(struct tide_hot *hot, struct tide_hot_stats *out);

/* --- reading ------------------------------------------------------------------------- */

tide_status tide_hot_reader_open(struct tide_hot_reader **out, struct tide_hot *hot,
                                 struct tide_err *err) TIDE_MUST_USE;
void tide_hot_reader_close(struct tide_hot_reader *reader);
/* Begins a snapshot. *meta is its meta record, valid until the next begin. After a failure do not
 * call end. */
tide_status tide_hot_begin(struct tide_hot_reader *reader, const struct tide_hot_meta **meta,
                           struct tide_err *err) TIDE_MUST_USE;
/* Returns the record of that key, or NULL if there is none or the read failed. tide_hot_end reports
 * the failure. */
const void *tide_hot_get(struct tide_hot_reader *reader, const struct tide_hot_key *key);
/* Calls each with every record whose key begins with prefix and is not below from (NULL: from the
 * first), in key order, until each returns false. The record is valid until end. */
typedef bool tide_hot_each_fn(void *self, tide_slice key, const void *record);
void tide_hot_scan(struct tide_hot_reader *reader, const struct tide_hot_key *prefix,
                   const struct tide_hot_key *from, tide_hot_each_fn *each, void *self);
/* Returns the record with the largest key that is not above `key` and shares its first prefix_len
 * bytes, or NULL. */
const void *tide_hot_floor(struct tide_hot_reader *reader, const struct tide_hot_key *key,
                           size_t prefix_len);
/* Returns whether a jurisdiction is blocked. Codes below TIDE_HOT_CODES are bits of meta; a larger
 * one costs a look-up. */
bool tide_hot_blocked(struct tide_hot_reader *reader, const struct tide_hot_meta *meta,
                      uint32_t code);
/* Ends the snapshot. If the result is not TIDE_OK, discard everything that was read: TIDE_E_DECODE
 * for a damaged record, TIDE_E_LIMIT if the snapshot lasted longer than TIDE_HOT_READ_MS,
 * TIDE_E_MEMORY. */
tide_status tide_hot_end(struct tide_hot_reader *reader) TIDE_MUST_USE;

/* --- feeding ---------------------------------------------------------------------------- */

/* Takes the feeder's lock unless another process has it. *mine says whether this process has it.
 * The lock is kept until tide_hot_close. */
tide_status tide_hot_lock(struct tide_hot *hot, bool *mine, struct tide_err *err) TIDE_MUST_USE;

/* Changes records in one transaction: calls change with the sink, and commits if change returns
 * TIDE_OK. If the map is full, the function enlarges it and calls change again from the start.
 * TIDE_E_LIMIT if the map cannot be enlarged any more: rebuild the cache. */
typedef tide_status tide_hot_change_fn(void *self, struct tide_hot_sink *sink,
                                       struct tide_err *err);
tide_status tide_hot_update(struct tide_hot *hot, tide_hot_change_fn *change, void *self,
                            struct tide_err *err) TIDE_MUST_USE;
/* Makes a new generation: build fills it in many transactions that readers do not see, then it
 * becomes the current one and the old one is retired. build must write a meta record. This function
 * sets the record's format and generation. */
tide_status tide_hot_rebuild(struct tide_hot *hot, tide_hot_change_fn *build, void *self,
                             struct tide_err *err) TIDE_MUST_USE;
/* Moves the current generation aside. The feeder must then call tide_hot_rebuild. */
tide_status tide_hot_discard(struct tide_hot *hot, const char *why,
                             struct tide_err *err) TIDE_MUST_USE;
/* Deletes the records whose key begins with prefix and is below end. Call within change. */
tide_status tide_hot_drop_below(struct tide_hot_sink *sink, const struct tide_hot_key *prefix,
                                const struct tide_hot_key *end, struct tide_err *err) TIDE_MUST_USE;

#endif
