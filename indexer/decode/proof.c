/* Hash checks of one ledger, and the table that joins envelopes to results by hash. */
#include "indexer/decode/proof.h"
#include "indexer/decode/keyed_hash.h"
#include "indexer/decode/rewrite.h"
#include "tidemark/hash.h"
#include "tidemark/slice.h"
#include "tidemark/tx.h"

#include <pthread.h>
#include <stdlib.h>

/* --- a hash in a thread of its own ------------------------------------------------------ */

struct hash_worker;

/* IDLE: no hash was requested. ASKED: requested, and the thread has not begun. TAKEN: the thread is
 * hashing. MADE: the hash is ready. */
enum stage { IDLE, ASKED, TAKEN, MADE };

struct hash_worker {
    pthread_t thread;
    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t asked, made;
    bool closing;
    enum stage stage;
    tide_slice head, tail;
    uint8_t hash[TIDE_HASH_BYTES];
};

static void digest(const struct hash_worker *a, uint8_t hash[TIDE_HASH_BYTES])
{
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, a->head);
    tide_sha256_update(&h, a->tail);
    tide_sha256_final(&h, hash);
}

static void *run_worker(void *self)
{
    struct hash_worker *a = self;
    pthread_mutex_lock(&a->lock);
    while (!a->closing) {
        if (a->stage != ASKED) {
            pthread_cond_wait(&a->asked, &a->lock);
            continue;
        }
        a->stage = TAKEN;
        pthread_mutex_unlock(&a->lock);
        digest(a, a->hash);
        pthread_mutex_lock(&a->lock);
        assert(a->stage == TAKEN);
        a->stage = MADE;
        pthread_mutex_unlock(&a->lock);
        /* The signal is sent without the lock, so that the waiting owner gets the lock at once. */
        pthread_cond_signal(&a->made);
        pthread_mutex_lock(&a->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* NULL: no memory, or no thread */
static struct hash_worker *hash_worker_open(void)
{
    struct hash_worker *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->asked, NULL);
    pthread_cond_init(&a->made, NULL);
    if (pthread_create(&a->thread, NULL, run_worker, a) == 0)
        return a;
    pthread_cond_destroy(&a->made);
    pthread_cond_destroy(&a->asked);
    pthread_mutex_destroy(&a->lock);
    free(a);
    return NULL;
}

/* NULL is allowed */
static void hash_worker_close(struct hash_worker *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->closing = true;
    pthread_cond_signal(&a->asked);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    pthread_cond_destroy(&a->made);
    pthread_cond_destroy(&a->asked);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

/* Begins the SHA-256 of head followed by tail. Both are borrowed until hash_worker_end. At most one
 * hash may be begun. */
static void hash_worker_begin(struct hash_worker *a, tide_slice head, tide_slice tail)
{
    pthread_mutex_lock(&a->lock);
    assert(a->stage == IDLE);
    assert(!a->closing);
    a->head = head;
    a->tail = tail;
    a->stage = ASKED;
    pthread_mutex_unlock(&a->lock);
    pthread_cond_signal(&a->asked);
}

/* Waits for the hash. Returns false if none was begun. */
static bool hash_worker_end(struct hash_worker *a, uint8_t hash[TIDE_HASH_BYTES])
{
    pthread_mutex_lock(&a->lock);
    enum stage stage = a->stage;
    while (stage == TAKEN) {
        pthread_cond_wait(&a->made, &a->lock);
        stage = a->stage;
    }
    assert(stage != TAKEN);
    a->stage = IDLE;
    memcpy(hash, a->hash, TIDE_HASH_BYTES);
    pthread_mutex_unlock(&a->lock);
    /* The thread had not begun: hash here instead of waiting for it to be scheduled. */
    if (stage == ASKED)
        digest(a, hash);
    return stage != IDLE;
}

struct envelope {
    uint8_t hash[TIDE_HASH_BYTES];
    tide_slice span;
    bool used; /* a result pair carries its hash */
};

struct tide_proof_check {
    enum tide_proof level;
    bool has_network;
    uint8_t network_id[TIDE_HASH_BYTES];
    struct tide_ledger_header header;
    struct tide_ledger_proof proof;
    struct tide_sha256 results;
    uint32_t tx_count;
    uint32_t joined; /* result pairs whose envelope was found */
    bool doubled;    /* two result pairs carry the same hash */
    /* Envelopes in the order of the set, and a hash table of 1 + index; 0: free. */
    struct envelope *envelopes;
    /* The first KEPT of them as they were read; NULL before the first ledger. */
    struct tide_envelope *kept;
    uint32_t *index;
    uint64_t seed; /* random seed of the hash table */
    uint32_t count;
    uint32_t cap; /* room for envelopes, a power of two; the hash table has twice as many slots */
    struct rewrite rewrite;
    struct hash_worker *hasher; /* NULL: the caller's thread makes all hashes */
};

enum { ENVELOPES_FIRST = 1024, KEPT = 1024, THREAD_BYTES = 32 << 10 /* less is not worth it */ };

tide_status tide_proof_open(struct tide_proof_check **out, enum tide_proof level,
                            const uint8_t *network_id)
{
    struct tide_proof_check *v = calloc(1, sizeof *v);
    if (!v || !keyed_hash_seed(&v->seed)) {
        free(v);
        return TIDE_E_MEMORY;
    }
    v->level = level;
    v->has_network = network_id != NULL;
    if (network_id)
        memcpy(v->network_id, network_id, TIDE_HASH_BYTES);
    *out = v;
    return TIDE_OK;
}

void tide_proof_use_worker(struct tide_proof_check *v)
{
    if (!v->hasher && v->level >= TIDE_PROOF_RESULTS)
        v->hasher = hash_worker_open();
}

void tide_proof_close(struct tide_proof_check *v)
{
    if (!v)
        return;
    hash_worker_close(v->hasher);
    free(v->envelopes);
    free(v->kept);
    free(v->index);
    free(v);
}

static enum tide_check check_result(bool holds)
{
    return holds ? TIDE_CHECK_HOLDS : TIDE_CHECK_FAILS;
}

static enum tide_check check_hash(tide_slice bytes, const uint8_t *expected)
{
    uint8_t hash[TIDE_HASH_BYTES];
    tide_sha256(hash, bytes);
    return check_result(memcmp(hash, expected, TIDE_HASH_BYTES) == 0);
}

/* ---- the table of envelopes ---- */

static uint32_t first_slot(const struct tide_proof_check *v, const uint8_t *hash)
{
    assert(v->cap > 0 && (v->cap & (v->cap - 1)) == 0);
    return (uint32_t)keyed_hash(v->seed, hash, 0) & (2 * v->cap - 1);
}

/* Returns the slot of hash in the hash table, or the free slot where it belongs. */
static uint32_t slot_of(const struct tide_proof_check *v, const uint8_t *hash)
{
    uint32_t at = first_slot(v, hash);
    while (v->index[at] && memcmp(v->envelopes[v->index[at] - 1].hash, hash, TIDE_HASH_BYTES) != 0)
        at = (at + 1) & (2 * v->cap - 1);
    return at;
}

/* Doubles the table. On failure the table is as before. */
static tide_status grow_table(struct tide_proof_check *v)
{
    assert(v->count == v->cap);
    uint32_t cap = v->cap ? v->cap * 2 : ENVELOPES_FIRST;
    struct envelope *envelopes = realloc(v->envelopes, cap * sizeof *envelopes);
    if (!envelopes)
        return TIDE_E_MEMORY;
    v->envelopes = envelopes;
    uint32_t *index = calloc((size_t)cap * 2, sizeof *index);
    if (!index)
        return TIDE_E_MEMORY;
    /* Allocated with the first table, so that decoders that never see an envelope do without. */
    if (!v->kept && !(v->kept = malloc(KEPT * sizeof *v->kept))) {
        free(index);
        return TIDE_E_MEMORY;
    }
    free(v->index);
    v->index = index;
    v->cap = cap;
    for (uint32_t i = 0; i < v->count; i++)
        v->index[slot_of(v, v->envelopes[i].hash)] = i + 1;
    return TIDE_OK;
}

static void empty_table(struct tide_proof_check *v)
{
    if (v->index && v->count)
        memset(v->index, 0, (size_t)v->cap * 2 * sizeof *v->index);
    v->count = 0;
    v->joined = 0;
    v->doubled = false;
    v->tx_count = 0;
}

tide_status tide_proof_envelope(struct tide_proof_check *v, const struct tide_envelope *read)
{
    if (!v->has_network)
        return TIDE_OK;
    if (v->count == TIDE_TXS_PER_LEDGER_MAX)
        return TIDE_E_LIMIT;
    if (v->count == v->cap) {
        tide_status status = grow_table(v);
        if (status != TIDE_OK)
            return status;
    }
    struct envelope *envelope = &v->envelopes[v->count];
    assert(v->count < v->cap);
    *envelope = (struct envelope){ .span = read->span };
    tide_envelope_hash(envelope->hash, read, v->network_id);
    if (v->count < KEPT)
        v->kept[v->count] = *read;
    uint32_t place = slot_of(v, envelope->hash);
    v->count++;
    if (v->index[place] == 0)
        /* A second envelope with this hash is not indexed, so it stays unjoined and fails the
         * check. */
        v->index[place] = v->count;
    return TIDE_OK;
}

/* Returns the envelope with that transaction hash, or NULL. */
static struct envelope *find_envelope(const struct tide_proof_check *v, const uint8_t *hash)
{
    if (v->count == 0)
        return NULL;
    uint32_t at = v->index[slot_of(v, hash)];
    return at ? &v->envelopes[at - 1] : NULL;
}

tide_slice tide_proof_find(const struct tide_proof_check *v, const uint8_t *tx_hash)
{
    const struct envelope *envelope = find_envelope(v, tx_hash);
    return envelope ? envelope->span : (tide_slice){ 0 };
}

bool tide_proof_read(const struct tide_proof_check *v, const uint8_t *tx_hash,
                     struct tide_envelope *out)
{
    const struct envelope *envelope = find_envelope(v, tx_hash);
    struct tide_xdr x;
    if (!envelope)
        return false;
    if (envelope - v->envelopes >= KEPT)
        return tide_envelope_read(out, envelope->span, &x) == TIDE_OK;
    *out = v->kept[envelope - v->envelopes];
    return true;
}

/* ---- the checks ---- */

void tide_proof_header(struct tide_proof_check *v, const struct tide_ledger_header *header)
{
    empty_table(v);
    v->header = *header;
    v->proof = (struct tide_ledger_proof){ 0 };
    v->proof.header = check_hash(header->header_xdr, header->hash);
    if (v->level >= TIDE_PROOF_RESULTS)
        tide_sha256_init(&v->results);
}

/* Compares the transaction set's hash with the header's. A large set is hashed by the helper
 * thread; TIDE_CHECK_NONE until tide_proof_end. */
static enum tide_check check_tx_set(struct tide_proof_check *v, tide_slice tx_set)
{
    static const uint8_t zero[TIDE_HASH_BYTES];
    if (v->header.no_tx_set)
        return memcmp(v->header.tx_set_hash, zero, TIDE_HASH_BYTES) == 0 ? TIDE_CHECK_EXEMPT
                                                                         : TIDE_CHECK_FAILS;
    tide_slice head = tx_set, tail = { 0 };
    if (v->header.lcm_version == 0) {
        /* A legacy set is hashed without its count: the previous hash, then the envelopes. */
        assert(tx_set.len >= 36); /* the walk has read both fields */
        head = tide_slice_of(tx_set.ptr, 32);
        tail = tide_slice_of(tx_set.ptr + 36, tx_set.len - 36);
    }
    if (v->hasher && tx_set.len >= THREAD_BYTES) {
        hash_worker_begin(v->hasher, head, tail);
        return TIDE_CHECK_NONE; /* tide_proof_end compares it */
    }
    struct tide_sha256 h;
    uint8_t hash[TIDE_HASH_BYTES];
    tide_sha256_init(&h);
    tide_sha256_update(&h, head);
    tide_sha256_update(&h, tail);
    tide_sha256_final(&h, hash);
    return check_result(memcmp(hash, v->header.tx_set_hash, TIDE_HASH_BYTES) == 0);
}

void tide_proof_tx_set(struct tide_proof_check *v, tide_slice tx_set)
{
    if (v->level < TIDE_PROOF_RESULTS)
        return;
    assert(tx_set.len >= 36);
    const uint8_t *previous = tx_set.ptr + (v->header.lcm_version > 0 ? 4 : 0);
    v->proof.tx_set = check_tx_set(v, tx_set);
    v->proof.tx_set_previous = check_result(memcmp(previous, v->header.previous_hash, 32) == 0);
}

void tide_proof_tx(struct tide_proof_check *v, const struct tide_tx *tx)
{
    if (v->level >= TIDE_PROOF_RESULTS) {
        if (v->tx_count == 0) {
            uint32_t count = __builtin_bswap32(tx->count);
            tide_sha256_update(&v->results, tide_slice_of(&count, 4));
        }
        tide_sha256_update(&v->results, tx->result_pair);
    }
    v->tx_count++;
    struct envelope *envelope = find_envelope(v, tx->hash);
    if (envelope) {
        v->doubled |= envelope->used;
        envelope->used = true;
        v->joined++;
    }
}

/* Returns whether the return value and the events hash to the result's hash, as they stand. */
static bool call_matches(const struct tide_tx *tx)
{
    assert(tx->invoke_hash);
    struct tide_sha256 h;
    uint8_t hash[TIDE_HASH_BYTES];
    tide_sha256_init(&h);
    tide_sha256_update(&h, tx->return_value);
    tide_sha256_update(&h, tx->op_events);
    tide_sha256_final(&h, hash);
    return memcmp(hash, tx->invoke_hash, TIDE_HASH_BYTES) == 0;
}

enum tide_call_proof tide_proof_tx_end(struct tide_proof_check *v, const struct tide_tx *tx)
{
    if (v->level < TIDE_PROOF_EVENTS || !tx->successful || !tx->invoke_hash)
        return TIDE_CALL_NONE;
    if (tx->return_value.len && tx->op_events.len && call_matches(tx)) {
        v->proof.calls_verified++;
        return TIDE_CALL_VERIFIED;
    }
    if (tx->return_value.len && tx->op_events.len &&
        rewrite_matches(&v->rewrite, tx, tide_proof_find(v, tx->hash))) {
        v->proof.calls_rewritten++;
        return TIDE_CALL_REWRITTEN;
    }
    v->proof.calls_unverified++;
    return TIDE_CALL_UNVERIFIED;
}

void tide_proof_end(struct tide_proof_check *v)
{
    assert(v->joined <= v->tx_count);
    if (v->has_network)
        v->proof.envelopes =
            check_result(v->joined == v->tx_count && v->count == v->tx_count && !v->doubled);
    if (v->level < TIDE_PROOF_RESULTS)
        return;
    static const uint8_t none[4];
    uint8_t hash[TIDE_HASH_BYTES];
    if (v->hasher && hash_worker_end(v->hasher, hash))
        v->proof.tx_set = check_result(memcmp(hash, v->header.tx_set_hash, TIDE_HASH_BYTES) == 0);
    if (v->tx_count == 0)
        tide_sha256_update(&v->results, tide_slice_of(none, 4));
    tide_sha256_final(&v->results, hash);
    v->proof.results = check_result(memcmp(hash, v->header.result_hash, TIDE_HASH_BYTES) == 0);
}

void tide_proof_drop(struct tide_proof_check *v)
{
    uint8_t ignored[TIDE_HASH_BYTES];
    if (v->hasher)
        (void)hash_worker_end(v->hasher, ignored);
}

const struct tide_ledger_proof *tide_proof_findings(const struct tide_proof_check *v)
{
    return &v->proof;
}

const char tide_proof_network[] = "envelopes of the results";

bool tide_proof_holds(const struct tide_proof_check *v, const char **what)
{
    const struct {
        enum tide_check check;
        const char *what;
    } all[] = {
        { v->proof.header, "header hash" },
        { v->proof.results, "result set hash" },
        { v->proof.tx_set, "transaction set hash" },
        { v->proof.tx_set_previous, "previous hash in the transaction set" },
        { v->proof.envelopes, tide_proof_network },
    };
    for (size_t i = 0; i < TIDE_COUNT(all); i++) {
        if (all[i].check == TIDE_CHECK_FAILS) {
            *what = all[i].what;
            return false;
        }
    }
    return true;
}
