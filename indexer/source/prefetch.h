/* Fetches a lake's objects ahead in background threads, and hands them out in order.
 *
 * Memory   objects held and in transfer: at most bytes_max plus one object, and never more objects
 *          than 32.
 * Ahead    from a server, as many objects at once as arrive while one is read: its latency divided
 *          by the reader's time for one, plus two, at most 32. From a folder always
 *          the same number.
 * Retry    each object is tried up to `http_tries` times, with doubling pauses and jitter.
 * Tip      after an object that does not exist, only that one is asked for until it exists; then
 *          the number grows again.
 * Threads  one thread at a time may call these functions, unless they say otherwise. */
#ifndef INDEXER_SOURCE_PREFETCH_H
#define INDEXER_SOURCE_PREFETCH_H

#include "indexer/source/lake_layout.h"
#include "indexer/source/object_store.h"
#include "indexer/source/source.h"

struct prefetch;

/* store and layout are borrowed. */
tide_status prefetch_open(struct prefetch **out, const struct object_store *store,
                          const struct lake_layout *layout,
                          const struct tide_source_options *options,
                          struct tide_err *err) TIDE_MUST_USE;
void prefetch_close(struct prefetch *p); /* NULL is allowed */

/* Drops all objects and begins with the one of ledger `first`. Objects behind ledger `last` are not
 * fetched (0: no end). */
void prefetch_seek(struct prefetch *p, uint32_t first, uint32_t last);

/* Waits for the oldest object. bytes borrow until prefetch_done or prefetch_seek. key (of
 * TIDE_OBJECT_KEY_MAX bytes) is the object's name, also on failure. TIDE_E_MISSING, TIDE_E_IO,
 * TIDE_E_LIMIT, TIDE_E_MEMORY, TIDE_E_STOPPED; the next call tries again. */
tide_status prefetch_take(struct prefetch *p, tide_slice *bytes, char *key,
                          struct tide_err *err) TIDE_MUST_USE;

/* Notes a gap in the lake: the reader cannot go on, although attempts succeed. ledger: one behind
 * it, 0: unknown. NULL: there is no gap. */
void prefetch_note_gap(struct prefetch *p, const char *text, uint32_t ledger);
/* Returns whether the object that prefetch_take reported as TIDE_E_MISSING is forbidden: it may be
 * there. */
bool prefetch_is_forbidden(struct prefetch *p);
/* Returns the ledger of prefetch_note_gap; 0: none. Any thread may call it. */
uint32_t prefetch_behind_gap(struct prefetch *p);
/* Returns the milliseconds since attempts began to fail, or since there is a gap, with the last
 * reason; 0 if all is well. Any thread may call it. */
int64_t prefetch_trouble(struct prefetch *p, char *text, size_t size);
/* Counts an attempt that another caller made at the store. */
void prefetch_note(struct prefetch *p, tide_status status, const struct tide_err *err);

/* Frees the object that was taken, and goes on to the next one. */
void prefetch_done(struct prefetch *p);

#endif
