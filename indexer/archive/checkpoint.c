#include "indexer/archive/checkpoint.h"

#include "indexer/archive/tx_set.h"
#include "indexer/archive/votes.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

_Static_assert(CHECKPOINT_LEDGERS == VOTES_LEDGERS_MAX, "votes of a whole checkpoint");

/* The previous hash in a LedgerHeaderHistoryEntry, behind hash and version. */
enum { HEADER_PREVIOUS_AT = TIDE_HASH_BYTES + 4 };

/* One proof: the votes, and the previous hashes that decided values name. */
struct proving {
    const struct checkpoint_task *task;
    struct votes *votes;
    bool voted;                                           /* a whole file of votes was read */
    uint32_t top;                                         /* highest ledger with a decided value */
    bool known[VOTES_LEDGERS_MAX];                        /* previous[i] is of ledger first + i */
    uint8_t previous[VOTES_LEDGERS_MAX][TIDE_HASH_BYTES]; /* hashes that the quorum signed */
};

static tide_status begin_file(void *self, struct tide_err *err)
{
    struct proving *p = self;
    (void)err;
    votes_begin_file(p->votes);
    return TIDE_OK;
}

static tide_status read_file(struct proving *p, enum archive_file file, record_fn record,
                             tide_status (*end)(void *self, struct tide_err *err),
                             struct tide_err *err)
{
    const struct archive_records records = { begin_file, record, end, p, NULL };
    return archive_read_records(p->task->archive, file, p->task->last, &records, err);
}

/* --- votes ------------------------------------------------------------------------------- */

static tide_status take_entry(void *self, tide_slice record, struct tide_err *err)
{
    struct proving *p = self;
    return scp_entry_walk(record, votes_add, p->votes, err);
}

static tide_status end_votes(void *self, struct tide_err *err)
{
    struct proving *p = self;
    p->voted = true;
    p->top = votes_highest(p->votes, p->task->last);
    if (p->top)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_EOF,
                     "ledgers %u to %u: not enough of the named validators signed; at most %u of "
                     "%u signed one ledger",
                     p->task->first, p->task->last, votes_most(p->votes), p->task->quorum->count);
}

/* --- the ledger before ------------------------------------------------------------------- */

static void set_previous(struct proving *p, uint32_t ledger, const uint8_t *hash)
{
    uint32_t i = ledger - p->task->first;
    p->known[i] = true;
    memcpy(p->previous[i], hash, TIDE_HASH_BYTES);
}

static bool is_known(const struct proving *p, uint32_t ledger)
{
    return p->known[ledger - p->task->first];
}

/* Returns our hash of the ledger, or NULL with err filled if the task has none. */
static const uint8_t *our_hash(const struct proving *p, uint32_t ledger, struct tide_err *err)
{
    assert(ledger + 1 >= p->task->first);
    uint32_t index = ledger + 1 - p->task->first;
    if (index < p->task->hash_count)
        return p->task->hashes[index];
    (void)!tide_fail(err, TIDE_E_MISSING, "ledger %u is not in the tables", ledger);
    return NULL;
}

/* Finds the previous hash without a file: the value contains it, or the empty set that follows our
 * own hash has the signed hash. */
static tide_status try_value(struct proving *p, uint32_t ledger, struct tide_err *err)
{
    struct tide_stellar_value value;
    if (is_known(p, ledger) || !votes_read_decided(p->votes, ledger, &value))
        return TIDE_OK;
    if (value.previous) {
        set_previous(p, ledger, value.previous);
        return TIDE_OK;
    }
    const uint8_t *ours = our_hash(p, ledger - 1, err);
    if (ours && tx_set_is_empty(ours, value.tx_set_hash))
        set_previous(p, ledger, ours);
    return ours ? TIDE_OK : err->code;
}

static tide_status take_tx_set(void *self, tide_slice record, struct tide_err *err)
{
    struct proving *p = self;
    struct tide_stellar_value value;
    uint32_t ledger = record.len < 4 ? 0 : tide_be32(record.ptr);
    const uint8_t *previous = NULL;
    if (ledger < p->task->first || ledger > p->task->last || is_known(p, ledger) ||
        !votes_read_decided(p->votes, ledger, &value) || value.previous)
        return TIDE_OK;
    if (tx_set_previous(record, value.tx_set_hash, &previous))
        return tide_fail(err, TIDE_E_DECODE, "ledger %u: malformed transaction set", ledger);
    if (!previous)
        return tide_fail(err, TIDE_E_DECODE,
                         "ledger %u: the transaction set is not the one that was signed", ledger);
    set_previous(p, ledger, previous);
    struct tide_buf *last_set = ledger == p->task->last ? p->task->last_set : NULL;
    if (last_set) {
        tide_buf_reset(last_set);
        tide_buf_slice(last_set, record);
    }
    return last_set && last_set->failed ? tide_fail(err, TIDE_E_MEMORY, "checkpoint: a set")
                                        : TIDE_OK;
}

/* Finds the ledgers whose signed set is the one without transactions after this header's previous
 * hash. try_value tried our own hash; on a fork the archive's differs. */
static tide_status take_header(void *self, tide_slice record, struct tide_err *err)
{
    struct proving *p = self;
    struct tide_stellar_value value;
    (void)err;
    if (record.len < HEADER_PREVIOUS_AT + TIDE_HASH_BYTES)
        return tide_fail(err, TIDE_E_DECODE, "a header of %zu bytes", record.len);
    for (uint32_t ledger = p->task->first; ledger <= p->task->last; ledger++)
        if (!is_known(p, ledger) && votes_read_decided(p->votes, ledger, &value) &&
            !value.previous && tx_set_is_empty(record.ptr + HEADER_PREVIOUS_AT, value.tx_set_hash))
            set_previous(p, ledger, record.ptr + HEADER_PREVIOUS_AT);
    return TIDE_OK;
}

static tide_status end_sets(void *self, struct tide_err *err)
{
    const struct proving *p = self;
    if (is_known(p, p->top))
        return TIDE_OK;
    return tide_fail(err, TIDE_E_MISSING, "the signed transaction set of ledger %u is not there",
                     p->top);
}

/* Reads what names the previous hashes: transaction sets, then headers. Failures are remembered in
 * err, and matter only if no hash is found. */
static tide_status read_sets(struct proving *p, struct tide_err *err)
{
    tide_status status = read_file(p, ARCHIVE_TRANSACTIONS, take_tx_set, end_sets, err);
    if (status == TIDE_OK || status == TIDE_E_STOPPED || status == TIDE_E_MEMORY)
        return status;
    struct tide_err second;
    tide_status again = read_file(p, ARCHIVE_LEDGER, take_header, end_sets, &second);
    return again == TIDE_OK || again == TIDE_E_STOPPED || again == TIDE_E_MEMORY ? again : status;
}

/* --- the outcome ------------------------------------------------------------------------- */

static void fill_proof(const struct proving *p, uint32_t ledger, struct checkpoint_proof *out)
{
    const struct vote_value *value = votes_decided(p->votes, ledger);
    struct tide_stellar_value decided = { 0 };
    bool read = votes_read_decided(p->votes, ledger, &decided);
    assert(value && read && is_known(p, ledger));
    (void)read;
    *out = (struct checkpoint_proof){ .ledger = ledger - 1,
                                      .close_time = decided.close_time,
                                      .signers = value->signers };
    memcpy(out->hash, p->previous[ledger - p->task->first], TIDE_HASH_BYTES);
}

static tide_status fail_contradicted(const struct checkpoint_proof *proof, const uint8_t *ours,
                                     struct tide_err *err)
{
    char theirs[2 * TIDE_HASH_BYTES], mine[2 * TIDE_HASH_BYTES];
    tide_hex(theirs, tide_slice_of(proof->hash, TIDE_HASH_BYTES));
    tide_hex(mine, tide_slice_of(ours, TIDE_HASH_BYTES));
    return tide_fail(err, TIDE_E_CHAIN,
                     "ledger %u: a quorum of the named validators signed the hash %.64s, the index "
                     "has %.64s",
                     proof->ledger, theirs, mine);
}

/* Compares each hash that is known with ours, from the lowest on: the first that differs decides,
 * otherwise the highest is proven. TIDE_E_EOF if none is known. */
static tide_status compare_hashes(const struct proving *p, struct checkpoint_proof *out,
                                  struct tide_err *err)
{
    bool any = false;
    for (uint32_t ledger = p->task->first; ledger <= p->task->last; ledger++) {
        if (!is_known(p, ledger))
            continue;
        const uint8_t *ours = our_hash(p, ledger - 1, err);
        if (!ours)
            return err->code;
        any = true;
        fill_proof(p, ledger, out);
        if (memcmp(ours, out->hash, TIDE_HASH_BYTES) != 0)
            return fail_contradicted(out, ours, err);
    }
    return any ? TIDE_OK : TIDE_E_EOF;
}

static tide_status prove_ledgers(struct proving *p, struct checkpoint_proof *out,
                                 struct tide_err *err)
{
    struct tide_err sets = { 0 };
    tide_status status = read_file(p, ARCHIVE_SCP, take_entry, end_votes, err);
    for (uint32_t ledger = p->task->first; !status && ledger <= p->task->last; ledger++)
        status = try_value(p, ledger, err);
    if (status)
        return status;
    status = compare_hashes(p, out, err);
    if (status == TIDE_OK && is_known(p, p->top))
        return TIDE_OK;
    if (status != TIDE_OK && status != TIDE_E_EOF && status != TIDE_E_CHAIN)
        return status;
    /* The sets are needed: the previous hash of the highest ledger is not known yet, or a known
     * hash contradicts ours, and a set may show that an earlier ledger does. */
    tide_status reading = read_sets(p, &sets);
    if (reading == TIDE_E_STOPPED || reading == TIDE_E_MEMORY) {
        *err = sets;
        return reading;
    }
    status = compare_hashes(p, out, err);
    if (status != TIDE_E_EOF)
        return status;
    if (reading)
        *err = sets;
    else /* values of a newer protocol */
        tide_fail(err, TIDE_E_UNKNOWN, "ledger %u: the signed value is of a newer protocol",
                  p->top);
    return err->code;
}

/* Does what checkpoint_prove says, but believes votes about ledgers before checked_from without
 * their signatures. The caller must not take an outcome that follows from one of them. *voted: a
 * whole file of votes was read. */
static tide_status prove_checked(const struct checkpoint_task *task, uint32_t checked_from,
                                 bool *voted, struct checkpoint_proof *out, struct tide_err *err)
{
    const struct votes_options options = { task->quorum, task->network_id, task->first, task->last,
                                           checked_from };
    *voted = false;
    struct proving *p = calloc(1, sizeof *p);
    if (!p || votes_open(&p->votes, &options)) {
        free(p);
        return tide_fail(err, TIDE_E_MEMORY, "checkpoint: out of memory");
    }
    p->task = task;
    tide_status status = prove_ledgers(p, out, err);
    *voted = p->voted;
    votes_close(p->votes);
    free(p);
    return status;
}

/* The last ledger's votes prove all ledgers before it. All signatures are checked only if these
 * votes are missing, or if votes of the file contradict our hashes. */
tide_status checkpoint_prove(const struct checkpoint_task *task, struct checkpoint_proof *out,
                             struct tide_err *err)
{
    bool voted;
    assert(task->first >= 1 && task->first <= task->last);
    tide_status status = prove_checked(task, task->last, &voted, out, err);
    bool is_proven = status == TIDE_OK && out->ledger + 1 == task->last;
    if (is_proven || !voted || status == TIDE_E_STOPPED || status == TIDE_E_MEMORY)
        return status;
    return prove_checked(task, task->first, &voted, out, err);
}

const char *checkpoint_put_signers(const struct tide_quorum *quorum,
                                   const struct tide_signers *signers, struct tide_buf *out)
{
    char key[TIDE_STRKEY_ADDRESS_MAX];
    tide_buf_init(out, 128u << 10);
    tide_buf_u8(out, '{');
    for (uint32_t i = 0; i < quorum->count; i++) {
        if (!tide_signers_has(signers, i))
            continue;
        size_t len = tide_strkey_encode(key, TIDE_STRKEY_ACCOUNT,
                                        tide_slice_of(quorum->validators[i].key, TIDE_HASH_BYTES));
        tide_buf_putf(out, "%s%.*s", out->len > 1 ? "," : "", (int)len, key);
    }
    tide_buf_put(out, "}", 2);
    return out->failed ? NULL : (const char *)out->ptr;
}
