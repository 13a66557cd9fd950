/* Where ledgers come from: give me ledger N onward, in order, as bytes; say when
 * the tip is reached; say which range you cover. A back end is a table of functions.
 *
 * Threads  one thread uses a source; a lake prefetches on its own.
 * Memory   bounded: prefetch count × object limit, one ledger window. */
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

    /* The next fetch is ledger first (0: whatever comes first). last 0: open end. */
    tide_status (*seek)(void *self, uint32_t first, uint32_t last, struct tide_err *err);

    /* The next ledger's LedgerCloseMeta. *lcm borrows until the next call.
     * TIDE_E_EOF     not there yet (tip of a growing source, or end of a finite one)
     * TIDE_E_IO      retries are spent; err names the object
     * TIDE_E_DECODE  an object is corrupt, also when fetched again; err names it
     * TIDE_E_MISSING a hole: a later object exists, this one does not; err names it
     * TIDE_E_CHAIN   wrong network (config of the lake) or ledgers out of order */
    tide_status (*next)(void *self, tide_slice *lcm, uint32_t *sequence, struct tide_err *err);

    /* The caller needs the bytes of the last ledger no more: the window that a large one filled is
     * given back. NULL: nothing large is kept. */
    void (*done)(void *self);

    /* A ledger that next returned is bad, as err (filled) says: damage that only a decoder sees, or
     * a break of the chain. Others may have been read behind it. True: next returns it once more,
     * from a fresh copy, and those behind it after it. False: that has been done already, or there
     * is no other copy; err then names the object. NULL: always false. */
    bool (*refetch)(void *self, uint32_t ledger, struct tide_err *err);

    /* First and last ledger known to be there; 0, 0 when unknown. */
    tide_status (*range)(void *self, uint32_t *first, uint32_t *last, struct tide_err *err);

    /* True when TIDE_E_EOF from next means that nothing will ever follow. */
    bool (*finite)(void *self);

    /* True if the last ledger returned is the network's tip, as far as this source knows. The
     * caller then commits it alone. A source that has this also waits by itself at its tip: the
     * caller may call next at once after TIDE_E_EOF. NULL: the source cannot tell. */
    bool (*newest)(void *self);

    /* Milliseconds since it cannot go on, with the reason as a sentence; 0 when all is well. From
     * any thread. A source that has it may be asked again after TIDE_E_IO. NULL: it always can, or
     * fails for good. */
    int64_t (*trouble)(void *self, char *text, size_t size);

    void (*close)(void *self);
};

enum { TIDE_SOURCE_WINDOW_KEPT = 8 << 20 }; /* a larger one is given back by done */

struct tide_source_options {
    const struct tide_config *config; /* borrowed while the source is open */
    const char *passphrase;           /* what the lake must be of; NULL: not checked */
    bool (*stopping)(void *self); /* asked while waiting, from the caller's thread; may be NULL */
    void *stopping_self;          /* true ends the wait with TIDE_E_STOPPED */
    /* Hash of a ledger that is stored; TIDE_E_MISSING when it is not, TIDE_E_DB when unknown.
     * From any thread. NULL: nothing is stored. With it a reset of the network is told from a
     * server that is behind. */
    tide_status (*stored_hash)(void *self, uint32_t ledger, uint8_t hash[TIDE_HASH_BYTES]);
    void *stored_self;
};

/* Calls refetch if err is about a ledger's content and the source has it. */
bool tide_source_refetch(const struct tide_source *source, uint32_t ledger, struct tide_err *err);

/* Whether the settings name one source, or lake and rpc together. TIDE_E_CONFIG says why not. */
tide_status tide_source_check(const struct tide_config *config, struct tide_err *err) TIDE_MUST_USE;

/* The source that the configuration names: lake, rpc, both joined, or stream. Close with
 * out->ops->close(out->self). TIDE_E_CONFIG, TIDE_E_IO, TIDE_E_CHAIN (another network's lake). */
tide_status tide_source_open(struct tide_source *out, const struct tide_source_options *options,
                             struct tide_err *err) TIDE_MUST_USE;
tide_status tide_lake_open(struct tide_source *out, const struct tide_source_options *options,
                           struct tide_err *err) TIDE_MUST_USE;
tide_status tide_rpc_open(struct tide_source *out, const struct tide_source_options *options,
                          struct tide_err *err) TIDE_MUST_USE;
/* History from the lake, the tip from RPC. */
tide_status tide_joined_open(struct tide_source *out, const struct tide_source_options *options,
                             struct tide_err *err) TIDE_MUST_USE;
tide_status tide_stream_open(struct tide_source *out, const struct tide_source_options *options,
                             struct tide_err *err) TIDE_MUST_USE;

#endif
