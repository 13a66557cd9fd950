/* Objects of a lake fetched ahead by background threads, handed out in order.
 *
 * Memory   objects held and under way: at most bytes_max and one object more, never more than
 *          `objects` of them.
 * Ahead    from a server as many objects at once as arrive while one is read: latency over the time
 *          that the reader takes, and two more; at most `objects`. From a folder always the same.
 * Retry    each object up to `tries` times, with doubling pauses and jitter.
 * Tip      after an object that is not there, only that one is looked for until it comes; then
 *          the look-ahead grows again.
 * Threads  the functions below are for one thread. */
#ifndef INDEXER_SOURCE_PREFETCH_H
#define INDEXER_SOURCE_PREFETCH_H

#include "indexer/source/lake_layout.h"
#include "indexer/source/object_store.h"
#include "indexer/source/source.h"

struct prefetch;

/* layout and store are borrowed. */
tide_status prefetch_open(struct prefetch **out, const struct object_store *store,
                          const struct lake_layout *layout,
                          const struct tide_source_options *options,
                          struct tide_err *err) TIDE_MUST_USE;
void prefetch_close(struct prefetch *p); /* NULL is fine */

/* Forgets everything and begins at the object of ledger first; none after last (0: no end). */
void prefetch_seek(struct prefetch *p, uint32_t first, uint32_t last);

/* Waits for the oldest object; bytes borrow until prefetch_done or prefetch_seek. key (of
 * TIDE_OBJECT_KEY_MAX) is its name, in any case. TIDE_E_MISSING, TIDE_E_IO, TIDE_E_LIMIT,
 * TIDE_E_MEMORY, TIDE_E_STOPPED; the next call tries anew. */
tide_status prefetch_take(struct prefetch *p, tide_slice *bytes, char *key,
                          struct tide_err *err) TIDE_MUST_USE;

/* Milliseconds since attempts fail, with the last reason; 0 when they do not. From any thread. */
int64_t prefetch_trouble(struct prefetch *p, char *text, size_t size);
/* Counts another caller's attempt at the store like one of ours. */
void prefetch_note(struct prefetch *p, tide_status status, const struct tide_err *err);

/* The object taken is not needed any more: on to the next one. */
void prefetch_done(struct prefetch *p);

#endif
