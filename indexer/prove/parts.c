/* Copies the parts of proofs for others from history archives: headers, results, votes, and the
 * hashes of the newest checkpoint's buckets.
 *
 * A window is the ledgers that the votes of one checkpoint can prove: its own but the last one, and
 * the last one of the checkpoint before. Their votes are about a later ledger of the checkpoint. If
 * that could only be its last one, whose transaction set is the last of a large file, and the next
 * checkpoint is proven, they are about the first ledger of that one: its votes and its set are the
 * first of their files, of which the rest is not read.
 *
 * Every part is compared with a stored hash before it is stored, so a damaged copy leads to the
 * next place. A ledger's results are stored last: where they are, the other parts are, too. */
#include "indexer/archive/snapshot.h"
#include "indexer/archive/tx_set.h"
#include "indexer/database/query.h"
#include "indexer/prove/prover_impl.h"
#include "tidemark/hash.h"
#include "tidemark/limits.h"
#include "tidemark/log.h"
#include "tidemark/meta.h"
#include "tidemark/sign.h"
#include "tidemark/stellar_value.h"
#include "tidemark/text.h"

enum {
    WINDOW = CHECKPOINT_LEDGERS + 1, /* and the checkpoint itself, as a header */
    STEPS = 8,                       /* windows that one pass collects */
    ENVELOPES_MAX = 8 << 20,
    HEADERS_MAX = 8 << 20,
    GENERALIZED_AT = 44 /* offset of the generalized set in a TransactionHistoryEntry */
};

/* The parts of one window. The arrays have its ledgers: see index_of. */
struct collecting {
    struct proving *p;
    uint32_t checkpoint; /* the window's */
    uint32_t reading;    /* the checkpoint of the file that is read */
    bool wanted[WINDOW]; /* ledgers with transactions of the deployment */
    uint32_t low, high;  /* the lowest and highest of them; 0: there is none */
    uint32_t state;      /* the window's first ledger, if its buckets are collected; else 0 */
    uint32_t behind;     /* the votes are about a ledger after this one, */
    uint32_t last;       /* up to this one */
    bool may_be_next;    /* the next checkpoint's first ledger may be it */
    uint8_t hashes[WINDOW][TIDE_HASH_BYTES];
    uint8_t results[WINDOW][TIDE_HASH_BYTES]; /* txSetResultHash of headers that were read */
    bool has_results[WINDOW], stored[WINDOW]; /* stored: its row was sent, or is in `parts` */
    struct votes *votes;
    uint32_t voted;              /* the votes taken are about this ledger; 0: none yet */
    struct tide_buf set;         /* the ledger's set; empty: its value names the ledger before */
    struct tide_buf kept;        /* the ledger's envelopes, as elements of an array of bytea */
    struct tide_signers signers; /* validators that signed these envelopes */
    bool keeping;                /* envelopes are kept from the file that is read */
    struct ledger_parts parts;   /* rows that are to be stored */
    uint32_t header_count;       /* headers from first_header on */
    struct tide_buf headers;     /* these, each behind its length */
    size_t header_at[WINDOW];    /* where each begins, behind its length */
    struct snapshot snapshot;    /* snapshot of `state` */
};

static uint32_t index_of(const struct collecting *c, uint32_t ledger)
{
    uint32_t index = ledger + CHECKPOINT_LEDGERS - c->checkpoint;
    assert(index < WINDOW);
    return index;
}

static const uint8_t *hash_of(const struct collecting *c, uint32_t ledger)
{
    return c->hashes[index_of(c, ledger)];
}

/* --- reading a file ------------------------------------------------------------------------ */

static tide_status begin_file(void *self, struct tide_err *err)
{
    struct collecting *c = self;
    (void)err;
    if (c->votes)
        votes_begin_file(c->votes);
    if (c->keeping) {
        tide_buf_reset(&c->kept);
        c->signers = (struct tide_signers){ 0 };
    }
    return TIDE_OK;
}

static tide_status read_file(struct collecting *c, enum archive_file file, uint32_t checkpoint,
                             record_fn record, tide_status (*end)(void *self, struct tide_err *err),
                             bool (*enough)(void *self), struct tide_err *err)
{
    const struct archive_records records = { begin_file, record, end, c, enough };
    c->reading = checkpoint;
    return archive_read_records(c->p->archive, file, checkpoint, &records, err);
}

/* --- votes and their transaction set ------------------------------------------------------- */

static bool has_votes(void *self)
{
    const struct collecting *c = self;
    return c->behind + 1 == c->last && votes_decided(c->votes, c->last);
}

static tide_status take_votes(void *self, tide_slice record, struct tide_err *err)
{
    struct collecting *c = self;
    return scp_entry_walk(record, votes_add, c->votes, err);
}

/* Chooses a ledger that needs no file for its set: its value names the one before by itself, or by
 * a set without transactions. */
static void choose_small(struct collecting *c)
{
    struct tide_stellar_value value;
    for (uint32_t ledger = c->behind + 1; ledger <= c->last && !c->voted; ledger++) {
        const uint8_t *before = hash_of(c, ledger - 1);
        if (!votes_read_decided(c->votes, ledger, &value))
            continue;
        if (value.previous) {
            if (memcmp(value.previous, before, TIDE_HASH_BYTES) == 0)
                c->voted = ledger;
        } else if (tx_set_put_empty(&c->set, before, value.tx_set_hash)) {
            c->voted = ledger;
        }
    }
}

/* Keeps the smallest transaction set of the ledgers with a decided value. */
static tide_status take_set(void *self, tide_slice record, struct tide_err *err)
{
    struct collecting *c = self;
    struct tide_stellar_value value;
    const uint8_t *previous = NULL;
    uint32_t ledger = record.len < GENERALIZED_AT ? 0 : tide_be32(record.ptr);
    if (ledger <= c->behind || ledger > c->last || !votes_read_decided(c->votes, ledger, &value) ||
        value.previous || (c->voted && record.len - GENERALIZED_AT >= c->set.len))
        return TIDE_OK;
    if (tx_set_previous(record, value.tx_set_hash, &previous) || !previous)
        return tide_fail(err, TIDE_E_DECODE, "ledger %u: not the signed transaction set", ledger);
    if (previous != record.ptr + GENERALIZED_AT + 4 ||
        memcmp(previous, hash_of(c, ledger - 1), TIDE_HASH_BYTES) != 0)
        return TIDE_OK; /* a set of the old form, or a fork, which the prover finds */
    c->voted = ledger;
    tide_buf_reset(&c->set);
    tide_buf_put(&c->set, record.ptr + GENERALIZED_AT, record.len - GENERALIZED_AT);
    return c->set.failed ? tide_fail(err, TIDE_E_MEMORY, "parts: a transaction set") : TIDE_OK;
}

/* There is no smaller set if there is one ledger to choose. */
static bool has_set(void *self)
{
    const struct collecting *c = self;
    return c->voted == c->last && c->behind + 1 == c->last;
}

static tide_status end_sets(void *self, struct tide_err *err)
{
    const struct collecting *c = self;
    if (c->voted)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_MISSING,
                     "ledgers %u to %u: no ledger with votes of a quorum has its transaction set",
                     c->behind + 1, c->last);
}

/* Keeps the envelope if it counts for the decided value, once for each validator. */
static tide_status keep_envelope(void *self, const struct scp_envelope *e, struct tide_err *err)
{
    struct collecting *c = self;
    const struct vote_value *value = votes_decided(c->votes, c->voted);
    assert(value);
    (void)err;
    if (!e->externalizes || e->slot != c->voted ||
        !tide_slice_eq(e->value, tide_slice_of(value->bytes, value->len)))
        return TIDE_OK;
    int validator = tide_quorum_find(&c->p->quorum, e->node);
    if (validator < 0 || tide_signers_has(&c->signers, (uint32_t)validator) ||
        !tide_signers_has(&value->signers, (uint32_t)validator) ||
        !scp_envelope_holds(e, c->p->network_id))
        return TIDE_OK;
    tide_signers_add(&c->signers, (uint32_t)validator);
    tide_buf_str(&c->kept, c->kept.len ? ",\"\\\\x" : "\"\\\\x");
    tide_buf_hex(&c->kept, e->statement);
    static const uint8_t length[4] = { 0, 0, 0, TIDE_SIGNATURE_BYTES };
    tide_buf_hex(&c->kept, tide_slice_of(length, sizeof length));
    tide_buf_hex(&c->kept, e->signature);
    tide_buf_u8(&c->kept, '"');
    return TIDE_OK;
}

static tide_status take_envelopes(void *self, tide_slice record, struct tide_err *err)
{
    return scp_entry_walk(record, keep_envelope, self, err);
}

static bool has_envelopes(void *self)
{
    const struct collecting *c = self;
    return tide_quorum_satisfied(&c->p->quorum, &c->signers);
}

static tide_status end_envelopes(void *self, struct tide_err *err)
{
    const struct collecting *c = self;
    if (has_envelopes(self))
        return TIDE_OK;
    return tide_fail(err, TIDE_E_EOF, "ledger %u: not enough votes in one file", c->voted);
}

/* Finds the votes of a ledger after those that are to be proven, and the set that they sign. */
static tide_status collect_votes(struct collecting *c, struct tide_err *err)
{
    const struct votes_options options = { &c->p->quorum, c->p->network_id, c->behind + 1, c->last,
                                           c->behind + 1 };
    uint32_t checkpoint = checkpoint_of(c->last);
    if (votes_open(&c->votes, &options))
        return tide_fail(err, TIDE_E_MEMORY, "parts: votes");
    tide_status status = read_file(c, ARCHIVE_SCP, checkpoint, take_votes, NULL, has_votes, err);
    if (status == TIDE_OK && !votes_highest(c->votes, c->last))
        status = tide_fail(err, TIDE_E_EOF, "ledgers %u to %u: not enough votes", c->behind + 1,
                           c->last);
    if (status == TIDE_OK)
        choose_small(c);
    /* last_set is the checkpoint's last set, if the proof read it; it is empty otherwise. */
    if (status == TIDE_OK && !c->voted && c->behind + 1 == c->checkpoint)
        status = take_set(c, tide_buf_view(&c->p->last_set), err);
    if (status == TIDE_OK && !c->voted)
        status = read_file(c, ARCHIVE_TRANSACTIONS, checkpoint, take_set, end_sets, has_set, err);
    if (status != TIDE_OK)
        return status;
    c->keeping = true;
    status =
        read_file(c, ARCHIVE_SCP, checkpoint, take_envelopes, end_envelopes, has_envelopes, err);
    c->keeping = false;
    return status;
}

/* --- headers ------------------------------------------------------------------------------- */

static tide_status fail_incomplete(const struct collecting *c, uint32_t ledger,
                                   struct tide_err *err)
{
    return tide_fail(err, TIDE_E_MISSING, "checkpoint %u: ledger %u is not in its file", c->reading,
                     ledger);
}

/* Returns the first ledger whose header is needed. */
static uint32_t first_header(const struct collecting *c)
{
    return c->state ? c->state : c->low;
}

static bool has_header(const struct collecting *c, uint32_t ledger)
{
    return ledger < first_header(c) + c->header_count;
}

static tide_status take_header(void *self, const struct tide_ledger_header *h,
                               const uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    struct collecting *c = self;
    if (h->sequence < first_header(c) || h->sequence >= c->voted || has_header(c, h->sequence))
        return TIDE_OK;
    uint32_t index = index_of(c, h->sequence);
    if (h->sequence != first_header(c) + c->header_count)
        return tide_fail(err, TIDE_E_DECODE, "ledger %u: not in its place", h->sequence);
    if (memcmp(hash, c->hashes[index], TIDE_HASH_BYTES) != 0)
        return tide_fail(err, TIDE_E_DECODE, "ledger %u: another header than the indexed one",
                         h->sequence);
    memcpy(c->results[index], h->result_hash, TIDE_HASH_BYTES);
    if (h->sequence == c->state)
        memcpy(c->snapshot.bucket_hash, h->bucket_hash, TIDE_HASH_BYTES);
    c->header_at[index] = c->headers.len + 4;
    tide_xdr_put_var(&c->headers, h->header_xdr);
    c->header_count++;
    return c->headers.failed ? tide_fail(err, TIDE_E_MEMORY, "parts: headers") : TIDE_OK;
}

static tide_status end_headers(void *self, struct tide_err *err)
{
    const struct collecting *c = self;
    uint32_t last = c->reading < c->voted ? c->reading : c->voted - 1;
    return has_header(c, last) ? TIDE_OK
                               : fail_incomplete(c, first_header(c) + c->header_count, err);
}

/* Reads the headers of the ledgers from `first` up to the one that the votes prove. */
static tide_status collect_headers(struct collecting *c, uint32_t first, struct tide_err *err)
{
    const struct snapshot_headers headers = { NULL, take_header, end_headers, c };
    tide_status status = TIDE_OK;
    c->reading = checkpoint_of(first);
    for (; !status && c->reading <= checkpoint_of(c->voted - 1); c->reading += CHECKPOINT_LEDGERS)
        status = snapshot_headers_read(c->p->archive, c->reading, &headers, err);
    return status;
}

/* --- results -------------------------------------------------------------------------------- */

static tide_status add_ledger(struct collecting *c, uint32_t ledger, tide_slice results,
                              struct tide_err *err)
{
    uint32_t index = index_of(c, ledger);
    const uint8_t *header = c->headers.ptr + c->header_at[index];
    c->stored[index] = true;
    return prove_parts_add(&c->parts, ledger, tide_slice_of(header, tide_be32(header - 4)), results,
                           err);
}

/* Stores the rows, with those of all headers: where results are, the headers behind them are, too.
 * So a window whose results are small is one statement. */
static tide_status store_ledgers(struct collecting *c, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t ledger = c->low; ledger < c->voted && status == TIDE_OK; ledger++)
        if (!c->stored[index_of(c, ledger)])
            status = add_ledger(c, ledger, (tide_slice){ 0 }, err);
    return status == TIDE_OK ? prove_parts_store(c->p, &c->parts, err) : status;
}

/* Takes a TransactionHistoryResultEntry: the sequence, the result set, ext. */
static tide_status take_results(void *self, tide_slice record, struct tide_err *err)
{
    struct collecting *c = self;
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t ledger = record.len < 12 ? 0 : tide_be32(record.ptr);
    if (ledger < c->low || ledger > c->high || !c->wanted[index_of(c, ledger)] ||
        c->has_results[index_of(c, ledger)])
        return TIDE_OK;
    tide_slice set = tide_slice_of(record.ptr + 4, record.len - 8);
    tide_sha256(hash, set);
    if (memcmp(hash, c->results[index_of(c, ledger)], TIDE_HASH_BYTES) != 0)
        return tide_fail(err, TIDE_E_DECODE, "ledger %u: other results than the header's", ledger);
    tide_status status = add_ledger(c, ledger, set, err);
    c->has_results[index_of(c, ledger)] = status == TIDE_OK;
    return status == TIDE_OK && prove_parts_full(&c->parts) ? store_ledgers(c, err) : status;
}

static tide_status end_results(void *self, struct tide_err *err)
{
    const struct collecting *c = self;
    tide_status status = TIDE_OK;
    for (uint32_t ledger = c->low; !status && ledger <= c->high; ledger++)
        if (checkpoint_of(ledger) == c->reading && c->wanted[index_of(c, ledger)] &&
            !c->has_results[index_of(c, ledger)])
            status = fail_incomplete(c, ledger, err);
    return status;
}

/* Reads the results from the files of their checkpoints, and stores them with the headers. */
static tide_status collect_results(struct collecting *c, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    uint32_t checkpoint = checkpoint_of(c->low);
    for (; !status && checkpoint <= checkpoint_of(c->high); checkpoint += CHECKPOINT_LEDGERS)
        status = read_file(c, ARCHIVE_RESULTS, checkpoint, take_results, end_results, NULL, err);
    return status == TIDE_OK ? store_ledgers(c, err) : status;
}

/* --- the order: downwards from the newest proven ledger -------------------------------------- */

enum { SWEEP_LEDGERS = 16384 }; /* ledgers that one statement looks through */

/* After windows that could not be collected, after a restart, and after a server lost proofs, a
 * sweep goes down to the oldest ledger of which parts are kept. Else it goes down to the last
 * sweep. */
void sweep_begin(struct proof_parts *parts, uint32_t proven, uint32_t oldest)
{
    assert(proven > 0);
    bool whole = parts->missing || parts->top < oldest || parts->top >= proven;
    parts->floor = whole ? oldest : parts->top + 1;
    parts->at = parts->floor <= proven ? proven : 0;
    parts->top = proven;
    parts->missing = false;
}

uint32_t sweep_from(const struct proof_parts *parts)
{
    assert(parts->at >= parts->floor && parts->at > 0);
    return parts->at - parts->floor < SWEEP_LEDGERS ? parts->floor : parts->at - SWEEP_LEDGERS + 1;
}

uint32_t sweep_window_first(uint32_t checkpoint)
{
    assert(checkpoint % CHECKPOINT_LEDGERS == CHECKPOINT_LEDGERS - 1);
    return checkpoint < CHECKPOINT_LEDGERS ? 0 : checkpoint - CHECKPOINT_LEDGERS;
}

void sweep_on(struct proof_parts *parts, uint32_t first)
{
    parts->at = first > parts->floor ? first - 1 : 0;
}

/* --- windows ------------------------------------------------------------------------------- */

/* Finds the ledgers that are to be proven. `behind` stays 0 if there are none. */
static tide_status find_wanted(struct collecting *c, struct tide_err *err)
{
    tide_status status = prove_wanted(c->p, c->checkpoint, c->wanted, err);
    c->behind = c->state;
    for (uint32_t i = 0; i < WINDOW; i++)
        if (c->wanted[i]) {
            c->behind = c->high = c->checkpoint - CHECKPOINT_LEDGERS + i;
            c->low = c->low ? c->low : c->high;
        }
    if (c->may_be_next && c->behind + 1 == c->checkpoint && c->p->proven > c->checkpoint)
        c->behind = c->checkpoint;
    c->last = c->behind < c->checkpoint ? c->checkpoint : c->checkpoint + 1;
    return status;
}

static tide_status store_transactions(struct collecting *c, struct tide_err *err)
{
    tide_status status = prove_store_votes(c->p, c->voted, tide_buf_view(&c->set), &c->kept, err);
    return status == TIDE_OK ? collect_results(c, err) : status;
}

/* Reads the hashes of the buckets, which the header of `state` proves, and stores them. */
static tide_status store_state(struct collecting *c, struct tide_err *err)
{
    c->snapshot.archive = c->p->archive;
    c->snapshot.ledger = c->state;
    tide_status status = snapshot_state(&c->snapshot, err);
    if (status != TIDE_OK)
        return status;
    const struct proof_state state = { .ledger = c->state,
                                       .buckets = &c->snapshot.state,
                                       .header_count = c->header_count,
                                       .headers = &c->headers,
                                       .signed_ledger = c->voted };
    status = prove_store_buckets(c->p, &state, tide_buf_view(&c->set), &c->kept, err);
    if (status == TIDE_OK)
        c->p->parts.state = c->state;
    return status;
}

static tide_status collect_parts(struct collecting *c, struct tide_err *err)
{
    struct proving *p = c->p;
    tide_status status = find_wanted(c, err);
    uint32_t first = first_header(c);
    if (status || !c->behind)
        return status;
    status = tide_stored_hashes(p->pg, p->deployment_id, first, c->last - first,
                                c->hashes + index_of(c, first), err);
    if (status == TIDE_OK)
        status = collect_votes(c, err);
    if (status == TIDE_OK)
        status = collect_headers(c, first, err);
    if (status == TIDE_OK && c->low)
        status = store_transactions(c, err);
    return status == TIDE_OK && c->state ? store_state(c, err) : status;
}

/* Returns the checkpoint whose state the newest votes prove, if it is not stored and the index has
 * its ledger; else 0. */
static uint32_t state_due(const struct proving *p)
{
    uint32_t checkpoint = checkpoint_of(p->proven + 1);
    uint32_t state = checkpoint > CHECKPOINT_LEDGERS ? checkpoint - CHECKPOINT_LEDGERS : 0;
    return state >= p->from && state != p->parts.state ? state : 0;
}

/* Sets *next to whether the votes were those of the next checkpoint; they may be if it is true. */
static tide_status try_window(struct proving *p, uint32_t checkpoint, bool *next,
                              struct tide_err *err)
{
    struct collecting *c = calloc(1, sizeof *c);
    if (!c)
        return tide_fail(err, TIDE_E_MEMORY, "parts");
    c->p = p;
    c->checkpoint = checkpoint;
    c->may_be_next = *next;
    c->state = checkpoint == checkpoint_of(p->proven + 1) ? state_due(p) : 0;
    tide_buf_init(&c->set, TIDE_LEDGER_BYTES_MAX);
    tide_buf_init(&c->kept, ENVELOPES_MAX);
    tide_buf_init(&c->headers, HEADERS_MAX);
    prove_parts_init(&c->parts);
    tide_status status = collect_parts(c, err);
    *next = c->last > checkpoint;
    votes_close(c->votes);
    tide_buf_release(&c->set);
    tide_buf_release(&c->kept);
    tide_buf_release(&c->headers);
    prove_parts_release(&c->parts);
    free(c);
    return status;
}

/* Returns whether a failure is not that of the archives. */
static bool ends_collecting(const struct proving *p, tide_status status)
{
    return status == TIDE_E_STOPPED || status == TIDE_E_MEMORY || !tide_pg_alive(p->pg);
}

/* The next checkpoint's files may lack the votes of its first ledger where its own last ledger has
 * some: few signed that one, or an accelerated network's files have eight ledgers. */
static tide_status collect_window(struct proving *p, uint32_t checkpoint, struct tide_err *err)
{
    bool next = true;
    tide_status status = try_window(p, checkpoint, &next, err);
    if (status == TIDE_OK || !next || ends_collecting(p, status))
        return status;
    next = false;
    return try_window(p, checkpoint, &next, err);
}

/* Notes a window that could not be collected. The next sweep tries it again. */
static void note_missing(struct proving *p, uint32_t checkpoint, const struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    if (!p->parts.missing)
        tide_log(TIDE_WARN, "proof.part_missing", "checkpoint=%u reason=%s", checkpoint,
                 tide_log_quote(quoted, sizeof quoted, err->text));
    p->parts.missing = true;
}

/* Collects the next window of the sweep, downwards. */
static tide_status collect_next(struct proving *p, struct tide_err *err)
{
    struct proof_parts *parts = &p->parts;
    uint32_t found = 0, from = sweep_from(parts);
    tide_status status = TIDE_OK;
    if (parts->at == p->proven && state_due(p))
        found = p->proven; /* its window has the state, too */
    else
        status = prove_find_unproven(p, from, parts->at, &found, err);
    if (status)
        return status;
    uint32_t checkpoint = found ? checkpoint_of(found + 1) : 0;
    if (found)
        status = collect_window(p, checkpoint, err);
    if (ends_collecting(p, status))
        return status;
    if (status)
        note_missing(p, checkpoint, err);
    sweep_on(parts, found ? sweep_window_first(checkpoint) : from);
    return TIDE_OK;
}

tide_status prove_collect(struct proving *p, struct tide_err *err)
{
    struct proof_parts *parts = &p->parts;
    tide_status status = TIDE_OK;
    if (!p->pg || !p->proven || !p->config.proof_ledgers)
        return TIDE_OK;
    if (!parts->at && p->proven != parts->top) {
        sweep_begin(parts, p->proven, prove_oldest_kept(p));
        status = prove_drop_parts(p, err);
    }
    for (int i = 0; i < STEPS && status == TIDE_OK && parts->at; i++)
        status = collect_next(p, err);
    return status;
}
