/* A pool of threads that decode ledgers. Rows come out in the order of the ledgers.
 *
 * Chunk    consecutive ledgers, copied, that one thread decodes.
 * Rows     are byte for byte those of one decoder. A contract that a ledger names is followed from
 *          the next ledger on, so the chunks behind it are decoded again by decoders that know it.
 *          That happens at most once for each discovered contract, and their number has a limit.
 * Failure  a ledger's failure is reported after the rows of the ledgers before it, as one decoder
 *          would. No rows of later ledgers come out.
 * Memory   each thread has a decoder and TIDE_DECODE_CHUNKS chunks. The ledgers in all chunks have
 *          at most TIDE_DECODE_BYTES for each thread, plus one ledger. A chunk of several ledgers
 *          has at most 512 KiB plus one ledger. Rows that wait to be taken are not limited
 *          themselves, but their ledgers still count, and rows have about half the bytes of their
 *          ledgers (0.48 to 0.54 on simulated chains of 800 ledgers, with attackers too).
 * Threads  one thread at a time may call the functions below. */
#ifndef INDEXER_DECODE_POOL_H
#define INDEXER_DECODE_POOL_H

#include "indexer/decode/decode.h"

enum {
    TIDE_DECODE_CHUNKS = 2,         /* chunks for each thread */
    TIDE_DECODE_CHUNK_LEDGERS = 16, /* most ledgers of a chunk */
    TIDE_DECODE_BYTES = 4 << 20,    /* bytes of ledgers for each thread */
};

struct tide_decode_pool; /* opaque */

/* Starts `threads` threads; 0: one for each core. If the system refuses some, the pool works with
 * fewer. TIDE_E_MEMORY if none could be started. */
tide_status tide_decode_pool_open(struct tide_decode_pool **out,
                                  const struct tide_decode_options *options, uint32_t threads,
                                  struct tide_err *err) TIDE_MUST_USE;
/* NULL is allowed. Waits for ledgers that are being decoded. */
void tide_decode_pool_close(struct tide_decode_pool *pool);

/* Sets which ledger must be added next, see tide_decode_expect. The pool must be idle. */
void tide_decode_pool_expect(struct tide_decode_pool *pool, uint32_t next_sequence,
                             const uint8_t *previous_hash);

/* Returns true while ledgers wait, are being decoded, or have rows that were not taken. */
bool tide_decode_pool_is_busy(const struct tide_decode_pool *pool);
/* Returns true if another ledger may be added. */
bool tide_decode_pool_has_room(const struct tide_decode_pool *pool);
/* Copies a ledger into the pool, which must have room. `hash` is the hash that its header claims;
 * NULL if the header could not be read: decoding will then report it as damaged. */
tide_status tide_decode_pool_add(struct tide_decode_pool *pool, tide_slice lcm, uint32_t sequence,
                                 const uint8_t *hash, struct tide_err *err) TIDE_MUST_USE;
/* Lets the ledgers added so far be decoded without waiting for a full chunk. mark, if not 0, comes
 * out with the last of them (tide_decoded.mark). */
void tide_decode_pool_flush(struct tide_decode_pool *pool, uint32_t mark);

/* The oldest chunk, when it is decoded. */
struct tide_decoded {
    uint32_t ledgers; /* ledgers with rows */
    size_t bytes;     /* bytes of the rows */
    uint32_t mark;    /* as given to flush; 0: the chunk was full, or flush gave none */
    bool failed;      /* a ledger behind those failed: taking the rows reports it */
};
/* Returns false if the oldest chunk is not decoded yet, or there is none. */
bool tide_decode_pool_ready(struct tide_decode_pool *pool, struct tide_decoded *out);
/* Waits until the oldest chunk is decoded. The pool must be busy, and flushed. */
void tide_decode_pool_wait(struct tide_decode_pool *pool, struct tide_decoded *out);
/* Appends the rows of the oldest chunk, which must be decoded, to batch. On failure the batch has
 * the rows of the ledgers before *failed, the pool is idle, and *failed must be added next. Status
 * and err are those of tide_decode_ledger for that ledger, or TIDE_E_MEMORY. */
tide_status tide_decode_pool_take(struct tide_decode_pool *pool, struct tide_batch *batch,
                                  uint32_t *failed, struct tide_err *err) TIDE_MUST_USE;

/* Like tide_decode_batch_end, for a batch filled by this pool. */
void tide_decode_pool_batch_end(struct tide_decode_pool *pool, struct tide_batch *batch);

#endif
