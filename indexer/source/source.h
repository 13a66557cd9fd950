/* A source of ledgers, in order, as bytes. A back end is a table of functions: it returns ledger
 * after ledger from the one that seek named, says when the tip is reached, and which range it has.
 *
 * Threads  one thread at a time uses a source. A lake prefetches with threads of its own.
 * Memory   bounded: prefetched objects, and a window of one ledger. */
#ifndef INDEXER_SOURCE_SOURCE_H
#define INDEXER_SOURCE_SOURCE_H

#include "tidemark/config.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

struct tide_source {
    const struct tide_source_ops *ops;
    void *self;
};

struct tide_source_ops {
    const char *name; /* for logs: "lake", "stream", "rpc" */

    /* Makes ledger `first` the next one (0: the source's first). last 0: no end. */
    tide_status (*seek)(void *self, uint32_t first, uint32_t last, struct tide_err *err);

    /* Returns the next ledger's LedgerCloseMeta. *lcm borrows until the next call.
     * TIDE_E_EOF     not there yet (tip of a growing source), or the end of a finite one
     * TIDE_E_IO      all retries failed; err names the object
     * TIDE_E_DECODE  an object is damaged, also when fetched again; err names it
     * TIDE_E_MISSING a hole: a later object exists, this one does not; err names it. Without an
     *                end (no `last`, no stop_at_end) that is TIDE_E_IO and trouble: a lake may be
     *                filled
     * TIDE_E_CHAIN   wrong network (config of the lake), or ledgers out of order */
    tide_status (*next)(void *self, tide_slice *lcm, uint32_t *sequence, struct tide_err *err);

    /* The caller no longer needs the bytes of the last ledger: a window that a large ledger filled
     * is freed. NULL: the source keeps no large window. */
    void (*done)(void *self);

    /* Asks for a fresh copy of a ledger that next returned and the caller found bad: damage that
     * only a decoder sees, or a break of the chain; err (filled) has the reason. Later ledgers may
     * have been read. Returns true if next returns the ledger once more, from that copy, and the
     * later ones after it. Returns false if that was done before, or there is no other copy; err
     * then names the object. NULL: always false. */
    bool (*refetch)(void *self, uint32_t ledger, struct tide_err *err);

    /* Finds the first and last ledger that the source has; 0, 0 if it does not know. */
    tide_status (*range)(void *self, uint32_t *first, uint32_t *last, struct tide_err *err);

    /* Returns true if TIDE_E_EOF from next means that no ledger will ever follow. */
    bool (*finite)(void *self);

    /* Returns true if the last ledger returned is the network's tip, as far as this source knows.
     * The caller then commits it alone. A source with this function waits by itself at its tip: the
     * caller may call next at once after TIDE_E_EOF. NULL: the source cannot tell. */
    bool (*newest)(void *self);

    /* Returns the milliseconds since the source cannot go on, with the reason as a sentence; 0 if
     * there is no trouble. Any thread may call it. A source with this function may be asked again
     * after TIDE_E_IO. NULL: the source never is in such a state. */
    int64_t (*trouble)(void *self, char *text, size_t size);

    /* Returns a ledger that exists behind those that the source cannot give; 0: none. Any thread
     * may call it. NULL: the source cannot tell. */
    uint32_t (*ahead)(void *self);

    void (*close)(void *self);
};

enum { TIDE_SOURCE_WINDOW_KEPT = 8 << 20 }; /* done() frees a larger window */

struct tide_source_options {
    const struct tide_config *config; /* borrowed while the source is open */
    const char *passphrase;           /* network that the lake must be of; NULL: not checked */
    bool (*stopping)(void *self); /* called while waiting, from the caller's thread; may be NULL */
    /* Argument of stopping, which returns true to end the wait with TIDE_E_STOPPED. */
    void *stopping_self;
    /* Reads the stored hash of a ledger: TIDE_E_MISSING if the ledger is not stored, TIDE_E_DB if
     * that is not known. Any thread may call it. NULL: nothing is stored. With the hash a source
     * can tell a reset of the network from a server that is behind. */
    tide_status (*stored_hash)(void *self, uint32_t ledger, uint8_t hash[TIDE_HASH_BYTES]);
    void *stored_self;
    /* A source beside another one: next fails with TIDE_E_IO after so long without an answer, and
     * goes on fetching. 0: it waits. */
    uint32_t patience_ms;
};

/* Calls refetch if err is about a ledger's content, and the source has it. */
bool tide_source_refetch(const struct tide_source *source, uint32_t ledger, struct tide_err *err);

/* Checks that the settings name one source, or lake and rpc together. TIDE_E_CONFIG says why
 * not. */
tide_status tide_source_check(const struct tide_config *config, struct tide_err *err) TIDE_MUST_USE;

/* Opens the source that the configuration names: lake, rpc, both joined, or stream. Close it with
 * out->ops->close(out->self). TIDE_E_CONFIG, TIDE_E_IO, TIDE_E_CHAIN (a lake of another
 * network). */
tide_status tide_source_open(struct tide_source *out, const struct tide_source_options *options,
                             struct tide_err *err) TIDE_MUST_USE;
tide_status tide_lake_open(struct tide_source *out, const struct tide_source_options *options,
                           struct tide_err *err) TIDE_MUST_USE;
tide_status tide_rpc_open(struct tide_source *out, const struct tide_source_options *options,
                          struct tide_err *err) TIDE_MUST_USE;
tide_status tide_stream_open(struct tide_source *out, const struct tide_source_options *options,
                             struct tide_err *err) TIDE_MUST_USE;

#endif
