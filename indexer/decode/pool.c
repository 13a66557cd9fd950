/* The pool of decoding threads: a ring of chunks, filled at its end, decoded by any free thread,
 * and taken from its front in order. Chunk states and the known contracts are under the lock. A
 * chunk's state says which thread may use its content. */
#include "indexer/decode/pool.h"
#include "indexer/decode/decode_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/limits.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

/* Capacities that a chunk keeps for its next ledgers. Larger buffers are freed: few ledgers are
 * large. KEPT_ROWS is for the rows of all tables together. */
enum { CHUNK_BYTES = 512 << 10, KEPT_BYTES = 2 << 20, KEPT_ROWS = 4 << 20 };

/* FREE: unused. OPEN: the caller adds ledgers. ASKED: waits for a thread. TAKEN: a thread decodes
 * it. DONE: the caller may take its rows. */
enum chunk_state { FREE, OPEN, ASKED, TAKEN, DONE };

struct chunk {
    enum chunk_state state;
    /* Written by the caller while OPEN, read by the decoding thread; mark: by the caller alone. */
    struct tide_buf bytes;
    uint32_t count;
    size_t end[TIDE_DECODE_CHUNK_LEDGERS]; /* offset in bytes behind each ledger */
    uint32_t sequence[TIDE_DECODE_CHUNK_LEDGERS];
    uint32_t next_sequence; /* the first ledger must follow this */
    bool has_previous;
    uint8_t previous_hash[TIDE_HASH_BYTES];
    uint32_t mark;
    /* Written by the decoding thread while TAKEN, read by the caller when DONE. */
    struct tide_batch batch;
    struct latest_map latest;
    uint32_t decoded; /* ledgers without a failure */
    tide_status status;
    struct tide_err err;
    /* The contracts after its ledgers, if those changed them; else NULL. */
    struct tide_deployment *learned;
};

struct worker {
    struct tide_decode_pool *pool;
    struct tide_decode *decode;
    uint64_t version; /* version of the contracts that its decoder knows; 0: it knows none */
    pthread_t thread;
};

struct tide_decode_pool {
    struct worker workers[THREADS_MAX];
    uint32_t worker_count;
    struct chunk *chunks; /* a ring; `used` chunks from `first` on are in use */
    struct chunk *open;   /* the last of them while ledgers may be added to it; else NULL */
    uint32_t chunk_count, first, used;
    size_t bytes; /* bytes of the ledgers in all chunks */
    /* added: the ledger that the next added one must follow. taken: the last ledger whose rows were
     * taken, to which `added` returns after a failure. */
    struct link {
        uint32_t next_sequence;
        bool has_previous;
        uint8_t previous_hash[TIDE_HASH_BYTES];
    } added, taken;
    struct latest_map latest; /* newest rows of the batch that the caller is filling */
    struct tide_buf scratch;

    pthread_mutex_t lock; /* protects the chunks' states and everything below */
    pthread_cond_t asked, done;
    bool closing, dropping;        /* dropping: threads begin no further chunk */
    struct tide_deployment *known; /* the contracts after the ledgers whose rows were taken */
    uint64_t version;              /* version of `known`; grows with each change */
};

static struct chunk *chunk_at(const struct tide_decode_pool *p, uint32_t index)
{
    assert(index <= p->used && p->used <= p->chunk_count);
    return &p->chunks[(p->first + index) % p->chunk_count];
}

/* ---- the threads ---- */

/* Returns the oldest chunk that waits for a thread, or NULL. Call with the lock. */
static struct chunk *find_waiting_chunk(const struct tide_decode_pool *p)
{
    for (uint32_t i = 0; i < p->used && !p->dropping; i++)
        if (chunk_at(p, i)->state == ASKED)
            return chunk_at(p, i);
    return NULL;
}

/* Decodes ledger i of the chunk. Rows of the ledgers before it stay in the chunk if it fails. */
static tide_status decode_chunk_ledger(struct tide_decode *d, struct chunk *c, uint32_t i)
{
    size_t begin = i ? c->end[i - 1] : 0;
    assert(i < c->count && begin <= c->end[i]);
    tide_slice lcm = { c->bytes.ptr + begin, c->end[i] - begin };
    tide_status status = tide_decode_ledger(d, &c->batch, lcm, &c->err);
    if (status != TIDE_OK)
        return status;
    c->decoded++;
    return TIDE_FAILPOINT("ledger.decoded") ? tide_fail(&c->err, TIDE_E_IO, "failpoint") : TIDE_OK;
}

/* The decoder's map of newest rows belongs to one batch, so it moves into the chunk with the
 * rows. */
static void swap_latest(struct tide_decode *d, struct chunk *c)
{
    struct latest_map latest = d->latest;
    d->latest = c->latest;
    c->latest = latest;
}

/* Copies the decoder's contracts into the chunk. Without memory the chunk fails. */
static void copy_contracts(struct tide_decode *d, struct chunk *c)
{
    assert(!c->learned && c->count > 0);
    c->learned = malloc(sizeof *c->learned);
    if (c->learned)
        *c->learned = *d->deployment;
    else
        c->status = tide_fail(&c->err, TIDE_E_MEMORY, "contracts of ledger %" PRIu32,
                              c->sequence[c->count - 1]);
}

static void decode_chunk(struct worker *w, struct chunk *c)
{
    assert(c->state == TAKEN && c->count <= TIDE_DECODE_CHUNK_LEDGERS);
    struct tide_decode *d = w->decode;
    c->status = TIDE_OK;
    c->decoded = 0;
    tide_batch_reset(&c->batch);
    latest_reset(&c->latest);
    swap_latest(d, c);
    tide_decode_expect(d, c->next_sequence, c->has_previous ? c->previous_hash : NULL);
    for (uint32_t i = 0; i < c->count && c->status == TIDE_OK; i++)
        c->status = decode_chunk_ledger(d, c, i);
    swap_latest(d, c);
    if (!d->known.learned)
        return;
    /* The contracts count once the chunk's rows are taken, if ever: learn `known` again. */
    w->version = 0;
    copy_contracts(d, c);
}

static void free_contracts(struct chunk *c)
{
    free(c->learned);
    c->learned = NULL;
}

static void *run_worker(void *self)
{
    struct worker *w = self;
    struct tide_decode_pool *p = w->pool;
    pthread_mutex_lock(&p->lock);
    while (!p->closing) {
        struct chunk *c = find_waiting_chunk(p);
        if (!c) {
            pthread_cond_wait(&p->asked, &p->lock);
            continue;
        }
        uint64_t version = p->version;
        c->state = TAKEN;
        if (w->version != version)
            relevance_know(w->decode, p->known);
        w->version = version;
        pthread_mutex_unlock(&p->lock);
        decode_chunk(w, c);
        pthread_mutex_lock(&p->lock);
        /* The contracts changed while this thread decoded: its rows may lack some, so decode the
         * chunk again. */
        bool stale = version != p->version;
        if (stale)
            free_contracts(c);
        c->state = stale ? ASKED : DONE;
        pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* ---- ledgers in ---- */

bool tide_decode_pool_is_busy(const struct tide_decode_pool *p)
{
    return p->used > 0;
}

bool tide_decode_pool_has_room(const struct tide_decode_pool *p)
{
    if (p->used && p->bytes >= (size_t)p->worker_count * TIDE_DECODE_BYTES)
        return false;
    return p->used < p->chunk_count || p->open;
}

static struct chunk *begin_chunk(struct tide_decode_pool *p)
{
    assert(p->used < p->chunk_count);
    struct chunk *c = chunk_at(p, p->used);
    assert(c->state == FREE && !c->learned);
    tide_buf_reset(&c->bytes);
    tide_batch_reset(&c->batch);
    c->count = c->mark = c->decoded = 0;
    c->status = TIDE_OK;
    c->next_sequence = p->added.next_sequence;
    c->has_previous = p->added.has_previous;
    memcpy(c->previous_hash, p->added.previous_hash, TIDE_HASH_BYTES);
    pthread_mutex_lock(&p->lock);
    c->state = OPEN;
    p->used++;
    pthread_mutex_unlock(&p->lock);
    p->open = c;
    return c;
}

tide_status tide_decode_pool_add(struct tide_decode_pool *p, tide_slice lcm, uint32_t sequence,
                                 const uint8_t *hash, struct tide_err *err)
{
    struct chunk *c = p->open ? p->open : begin_chunk(p);
    assert(c->count < TIDE_DECODE_CHUNK_LEDGERS);
    size_t len = c->bytes.len;
    tide_buf_slice(&c->bytes, lcm);
    if (c->bytes.failed) {
        c->bytes.len = len;
        c->bytes.failed = false;
        return tide_fail(err, TIDE_E_MEMORY, "ledger %" PRIu32 ": decoding", sequence);
    }
    c->end[c->count] = c->bytes.len;
    c->sequence[c->count++] = sequence;
    p->bytes += lcm.len;
    p->added.next_sequence = sequence + 1;
    p->added.has_previous = hash != NULL;
    if (hash)
        memcpy(p->added.previous_hash, hash, TIDE_HASH_BYTES);
    if (c->count == TIDE_DECODE_CHUNK_LEDGERS || c->bytes.len >= CHUNK_BYTES)
        tide_decode_pool_flush(p, 0);
    return TIDE_OK;
}

/* The mark is kept in the newest chunk, open or not. */
void tide_decode_pool_flush(struct tide_decode_pool *p, uint32_t mark)
{
    if (p->used && mark)
        chunk_at(p, p->used - 1)->mark = mark;
    if (!p->open)
        return;
    assert(p->open->state == OPEN);
    pthread_mutex_lock(&p->lock);
    /* An empty chunk has no work: memory for its first ledger was lacking. */
    p->open->state = p->open->count ? ASKED : DONE;
    pthread_mutex_unlock(&p->lock);
    pthread_cond_signal(&p->asked);
    p->open = NULL;
}

/* ---- rows out ---- */

static void describe_chunk(const struct chunk *c, struct tide_decoded *out)
{
    *out = (struct tide_decoded){ c->decoded, c->batch.bytes, c->mark, c->status != TIDE_OK };
}

bool tide_decode_pool_ready(struct tide_decode_pool *p, struct tide_decoded *out)
{
    if (!p->used)
        return false;
    struct chunk *c = chunk_at(p, 0);
    pthread_mutex_lock(&p->lock);
    bool ready = c->state == DONE;
    pthread_mutex_unlock(&p->lock);
    if (ready)
        describe_chunk(c, out);
    return ready;
}

void tide_decode_pool_wait(struct tide_decode_pool *p, struct tide_decoded *out)
{
    assert(p->used && p->open != chunk_at(p, 0));
    struct chunk *c = chunk_at(p, 0);
    pthread_mutex_lock(&p->lock);
    while (c->state != DONE)
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
    describe_chunk(c, out);
}

static void add_counts(struct tide_batch_counts *to, const struct tide_batch_counts *more)
{
    to->ledgers += more->ledgers;
    to->transactions += more->transactions;
    to->calls += more->calls;
    to->events += more->events;
    to->changes += more->changes;
    to->raw_events += more->raw_events;
    to->raw_states += more->raw_states;
    to->raw_calls += more->raw_calls;
    to->calls_verified += more->calls_verified;
    to->calls_rewritten += more->calls_rewritten;
    to->calls_unverified += more->calls_unverified;
}

/* Appends rows of state tables one key at a time and notes each in the batch's map, so that
 * tide_decode_pool_batch_end finds the newest row of each key as a single decoder would. */
static bool append_states(struct tide_decode_pool *p, const struct chunk *c, struct tide_batch *to)
{
    const struct latest *entries = c->latest.entries.items;
    for (uint32_t i = 0; i < c->latest.entries.count; i++) {
        const struct latest *e = &entries[i];
        assert(e->table < TIDE_TABLES_MAX &&
               e->offset + e->len <= c->batch.rows[e->table].copy.len);
        struct tide_rows *rows = &to->rows[e->table];
        size_t offset = rows->copy.len;
        tide_buf_put(&rows->copy, c->batch.rows[e->table].copy.ptr + e->offset, e->len);
        rows->count++;
        if (rows->copy.failed || !latest_note(&p->latest, e->hash, e->table, rows, offset))
            return false;
    }
    return true;
}

static bool append_tables(const struct chunk *c, struct tide_batch *to)
{
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    assert(count <= TIDE_TABLES_MAX);
    bool all = true;
    for (uint32_t i = 0; i < count; i++) {
        if (tables[i].kind == TIDE_TABLE_STATE)
            continue;
        tide_buf_slice(&to->rows[i].copy, tide_buf_view(&c->batch.rows[i].copy));
        to->rows[i].count += c->batch.rows[i].count;
        all &= !to->rows[i].copy.failed;
    }
    return all;
}

/* Appends the chunk's rows. Without memory, returns false and removes what was appended. */
static bool append_rows(struct tide_decode_pool *p, const struct chunk *c, struct tide_batch *to)
{
    size_t len[TIDE_TABLES_MAX];
    uint64_t count[TIDE_TABLES_MAX];
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++) {
        len[i] = to->rows[i].copy.len;
        count[i] = to->rows[i].count;
    }
    latest_begin_ledger(&p->latest);
    if (append_tables(c, to) && append_states(p, c, to))
        return true;
    latest_take_back(&p->latest);
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++) {
        to->rows[i].copy.len = len[i];
        to->rows[i].copy.failed = false;
        to->rows[i].count = count[i];
    }
    return false;
}

/* Swaps the chunk's rows with the buffers of an empty batch: no copy, so that large rows are in
 * memory once. */
static void exchange_rows(struct tide_decode_pool *p, struct chunk *c, struct tide_batch *to)
{
    struct latest_map latest = p->latest;
    assert(to->to == 0 && p->latest.entries.count == 0);
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++) {
        struct tide_rows rows = to->rows[i];
        assert(rows.copy.len == 0 && rows.count == 0);
        to->rows[i] = c->batch.rows[i];
        c->batch.rows[i] = rows;
    }
    p->latest = c->latest;
    c->latest = latest;
}

static bool move_rows(struct tide_decode_pool *p, struct chunk *c, struct tide_batch *to)
{
    if (to->to)
        return append_rows(p, c, to);
    exchange_rows(p, c, to);
    return true;
}

/* Extends the batch's range, hash and counts by those of the chunk. */
static void append_head(struct tide_batch *to, const struct tide_batch *from)
{
    assert(to->to == 0 || to->to + 1 == from->from);
    if (to->from == 0) {
        to->from = from->from;
        memcpy(to->previous_hash, from->previous_hash, TIDE_HASH_BYTES);
    }
    to->to = from->to;
    to->closed_ms = from->closed_ms;
    memcpy(to->hash, from->hash, TIDE_HASH_BYTES);
    to->settled |= from->settled;
    add_counts(&to->counts, &from->counts);
    to->bytes = 0;
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++)
        to->bytes += to->rows[i].copy.len;
}

static void note_taken(struct tide_decode_pool *p, const struct tide_batch *batch)
{
    p->taken.next_sequence = batch->to + 1;
    p->taken.has_previous = true;
    memcpy(p->taken.previous_hash, batch->hash, TIDE_HASH_BYTES);
}

/* Makes the contracts that the chunk's ledgers changed the known ones. Chunks behind it were
 * decoded without them and are decoded again. */
static void adopt_contracts(struct tide_decode_pool *p, struct chunk *c)
{
    assert(chunk_at(p, 0) == c && c->state == DONE);
    if (!c->learned)
        return;
    pthread_mutex_lock(&p->lock);
    free(p->known);
    p->known = c->learned;
    c->learned = NULL;
    p->version++;
    for (uint32_t i = 1; i < p->used; i++) {
        struct chunk *behind = chunk_at(p, i);
        if (behind->state != DONE)
            continue;
        free_contracts(behind);
        behind->state = ASKED;
    }
    pthread_mutex_unlock(&p->lock);
    pthread_cond_broadcast(&p->asked);
}

static size_t rows_kept(const struct tide_batch *batch)
{
    size_t kept = 0;
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++)
        kept += batch->rows[i].copy.cap;
    return kept;
}

/* Removes the oldest chunk from the ring. */
static void free_chunk(struct tide_decode_pool *p)
{
    assert(p->used > 0);
    struct chunk *c = chunk_at(p, 0);
    assert(p->bytes >= c->bytes.len);
    p->bytes -= c->bytes.len;
    if (c->bytes.cap > KEPT_BYTES)
        tide_buf_release(&c->bytes);
    if (rows_kept(&c->batch) > KEPT_ROWS) {
        tide_batch_release(&c->batch);
        tide_batch_init(&c->batch);
    }
    free_contracts(c);
    pthread_mutex_lock(&p->lock);
    c->state = FREE;
    p->first = (p->first + 1) % p->chunk_count;
    p->used--;
    pthread_mutex_unlock(&p->lock);
}

/* Removes all chunks from the ring, waiting for threads that decode some. The next ledger must
 * follow the last one whose rows were taken. */
static void drop_all(struct tide_decode_pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->dropping = true;
    for (uint32_t i = 0; i < p->used; i++)
        while (chunk_at(p, i)->state == TAKEN)
            pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
    while (p->used)
        free_chunk(p);
    assert(p->bytes == 0);
    pthread_mutex_lock(&p->lock);
    p->dropping = false;
    pthread_mutex_unlock(&p->lock);
    p->open = NULL;
    p->added = p->taken;
}

tide_status tide_decode_pool_take(struct tide_decode_pool *p, struct tide_batch *batch,
                                  uint32_t *failed, struct tide_err *err)
{
    assert(p->used && chunk_at(p, 0)->state == DONE);
    struct chunk *c = chunk_at(p, 0);
    /* A chunk is empty if memory for its first ledger was lacking. */
    assert(c->decoded <= c->count && (c->count > 0 || c->status == TIDE_OK));
    tide_status status = c->status;
    /* The failed ledger, or the chunk's first one if a ledger's contracts could not be copied. */
    *failed = c->decoded < c->count ? c->sequence[c->decoded] : c->sequence[0];
    if (status != TIDE_OK)
        *err = c->err;
    if (c->decoded && !move_rows(p, c, batch)) {
        *failed = c->sequence[0];
        status = tide_fail(err, TIDE_E_MEMORY, "rows from ledger %" PRIu32 " on", c->sequence[0]);
    } else if (c->decoded) {
        append_head(batch, &c->batch);
        note_taken(p, batch);
        adopt_contracts(p, c);
    }
    free_chunk(p);
    if (status != TIDE_OK)
        drop_all(p);
    return status;
}

void tide_decode_pool_batch_end(struct tide_decode_pool *p, struct tide_batch *batch)
{
    latest_compact(&p->latest, batch, &p->scratch);
    latest_reset(&p->latest);
}

/* ---- life ---- */

void tide_decode_pool_expect(struct tide_decode_pool *p, uint32_t next_sequence,
                             const uint8_t *previous_hash)
{
    assert(p->used == 0);
    p->taken.next_sequence = next_sequence;
    p->taken.has_previous = previous_hash != NULL;
    if (previous_hash)
        memcpy(p->taken.previous_hash, previous_hash, TIDE_HASH_BYTES);
    p->added = p->taken;
}

/* Starts up to `threads` threads. Fails only if none could be started. */
static tide_status start_workers(struct tide_decode_pool *p,
                                 const struct tide_decode_options *options, uint32_t threads,
                                 struct tide_err *err)
{
    assert(threads > 0 && threads <= THREADS_MAX);
    tide_status status = TIDE_OK;
    while (p->worker_count < threads && status == TIDE_OK) {
        struct worker *w = &p->workers[p->worker_count];
        *w = (struct worker){ .pool = p };
        status = tide_decode_open(&w->decode, options, err);
        if (status == TIDE_OK && pthread_create(&w->thread, NULL, run_worker, w) != 0)
            status = tide_fail(err, TIDE_E_MEMORY, "decoder: no thread");
        if (status == TIDE_OK)
            p->worker_count++;
        else
            tide_decode_close(w->decode);
    }
    return p->worker_count ? TIDE_OK : status;
}

static tide_status open_chunks(struct tide_decode_pool *p, uint32_t threads, struct tide_err *err)
{
    uint32_t count = threads * TIDE_DECODE_CHUNKS + 1;
    p->chunks = calloc(count, sizeof *p->chunks);
    if (!p->chunks)
        return tide_fail(err, TIDE_E_MEMORY, "opening the decoders");
    p->chunk_count = count;
    for (uint32_t i = 0; i < count; i++) {
        tide_buf_init(&p->chunks[i].bytes, CHUNK_BYTES + TIDE_LEDGER_BYTES_MAX);
        tide_batch_init(&p->chunks[i].batch);
    }
    return TIDE_OK;
}

static uint32_t threads_wanted(uint32_t threads)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t wanted = threads ? threads : (uint32_t)(cores > 0 ? cores : 1);
    return wanted < THREADS_MAX ? wanted : THREADS_MAX;
}

tide_status tide_decode_pool_open(struct tide_decode_pool **out,
                                  const struct tide_decode_options *options, uint32_t threads,
                                  struct tide_err *err)
{
    struct tide_decode_pool *p = calloc(1, sizeof *p);
    if (!p)
        return tide_fail(err, TIDE_E_MEMORY, "opening the decoders");
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->asked, NULL);
    pthread_cond_init(&p->done, NULL);
    tide_buf_init(&p->scratch, TIDE_TABLE_BYTES_MAX);
    threads = threads_wanted(threads);
    p->version = 1;
    p->known = malloc(sizeof *p->known);
    tide_status status = p->known ? open_chunks(p, threads, err)
                                  : tide_fail(err, TIDE_E_MEMORY, "opening the decoders");
    if (status == TIDE_OK) {
        *p->known = *options->deployment;
        status = start_workers(p, options, threads, err);
    }
    if (status != TIDE_OK) {
        tide_decode_pool_close(p);
        return status;
    }
    *out = p;
    return TIDE_OK;
}

void tide_decode_pool_close(struct tide_decode_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_mutex_unlock(&p->lock);
    pthread_cond_broadcast(&p->asked);
    for (uint32_t i = 0; i < p->worker_count; i++) {
        pthread_join(p->workers[i].thread, NULL);
        tide_decode_close(p->workers[i].decode);
    }
    for (uint32_t i = 0; i < p->chunk_count; i++) {
        tide_buf_release(&p->chunks[i].bytes);
        tide_batch_release(&p->chunks[i].batch);
        latest_release(&p->chunks[i].latest);
        free_contracts(&p->chunks[i]);
    }
    free(p->chunks);
    free(p->known);
    latest_release(&p->latest);
    tide_buf_release(&p->scratch);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->asked);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
