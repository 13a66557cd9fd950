/* Decoders at work in several threads; rows come out in the order of the ledgers.
 *
 * Chunk    consecutive ledgers, copied, that one thread decodes.
 * Rows     those of one decoder, byte for byte. A contract that a ledger names is watched from the
 *          next one on, so the chunks behind it are decoded again by decoders that know it. That
 *          happens no more often than contracts are discovered, which has a limit.
 * Failure  of a ledger comes out where one decoder would have met it: behind the rows of those
 *          before it. Nothing behind it comes out.
 * Memory   a thread has its decoder and TIDE_DECODE_CHUNKS chunks; ledgers in them are at most
 *          TIDE_DECODE_BYTES a thread, and one more. Rows that wait to be taken are not counted:
 *          their ledgers still are, and the rows have about half the bytes of those (0.48 to 0.54
 *          on simulated chains of 800 ledgers, with attackers too). A chunk that is not a single
 *          ledger has 512 KiB of ledgers and one more at most.
 * Threads  the functions below are for one thread. */
#ifndef INDEXER_DECODE_POOL_H
#define INDEXER_DECODE_POOL_H

#include "indexer/decode/decode.h"

enum {
    TIDE_DECODE_THREADS_MAX = 64,
    TIDE_DECODE_CHUNKS = 2,         /* a thread */
    TIDE_DECODE_CHUNK_LEDGERS = 16, /* at most */
    TIDE_DECODE_BYTES = 4 << 20,    /* a thread */
};

struct tide_decode_pool; /* opaque */

/* threads 0: as many as there are cores. With fewer than asked for it goes on; TIDE_E_MEMORY
 * without any. */
tide_status tide_decode_pool_open(struct tide_decode_pool **out,
                                  const struct tide_decode_options *options, uint32_t threads,
                                  struct tide_err *err) TIDE_MUST_USE;
void tide_decode_pool_close(struct tide_decode_pool *pool); /* NULL is allowed */

/* What the next ledger must follow, see tide_decode_expect. The pool is idle. */
void tide_decode_pool_expect(struct tide_decode_pool *pool, uint32_t next_sequence,
                             const uint8_t *previous_hash);

/* Ledgers are being decoded, or wait for it, or their rows wait to be taken. */
bool tide_decode_pool_is_busy(const struct tide_decode_pool *pool);
/* Another ledger may be added. */
bool tide_decode_pool_has_room(const struct tide_decode_pool *pool);
/* Copies a ledger. hash is the one that it says it has; NULL: it says none, so it is damaged. */
tide_status tide_decode_pool_add(struct tide_decode_pool *pool, tide_slice lcm, uint32_t sequence,
                                 const uint8_t *hash, struct tide_err *err) TIDE_MUST_USE;
/* Ledgers added so far are decoded without waiting for more. mark comes out behind their rows. */
void tide_decode_pool_flush(struct tide_decode_pool *pool, uint32_t mark);

/* The oldest chunk, decoded. */
struct tide_decoded {
    uint32_t ledgers; /* that have rows */
    size_t bytes;     /* of the rows */
    uint32_t mark;    /* of flush; 0: the chunk was full */
};
/* False: it is not decoded yet, or there is none. */
bool tide_decode_pool_ready(struct tide_decode_pool *pool, struct tide_decoded *out);
/* Waits for it. The pool is busy and flushed. */
void tide_decode_pool_wait(struct tide_decode_pool *pool, struct tide_decoded *out);
/* Appends its rows to batch; it is ready. On failure the batch has the rows before the ledger
 * *failed, and the pool is idle and goes on with *failed. Status and err as of tide_decode_ledger,
 * of that ledger, or TIDE_E_MEMORY. */
tide_status tide_decode_pool_take(struct tide_decode_pool *pool, struct tide_batch *batch,
                                  uint32_t *failed, struct tide_err *err) TIDE_MUST_USE;

/* As tide_decode_batch_end. */
void tide_decode_pool_batch_end(struct tide_decode_pool *pool, struct tide_batch *batch);

#endif
