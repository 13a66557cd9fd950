/* One ledger: callbacks of the walk over its bytes, the check of the hash chain, the row of
 * chain.ledger, and the undo of a ledger that fails. */
#include "indexer/base/copy.h"
#include "indexer/decode/decode_impl.h"
#include "tidemark/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- mentions: does a ledger contain one of a few contract ids? ---- */

static uint32_t begin_of(const uint8_t *id)
{
    return (uint32_t)id[0] << 8 | id[1];
}

static bool mention_open(struct mentions *m, const uint8_t (*ids)[TIDE_HASH_BYTES], uint32_t count)
{
    m->count = count;
    m->ids = count ? malloc((size_t)count * TIDE_HASH_BYTES) : NULL;
    if (count && !m->ids)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t begin = begin_of(ids[i]);
        memcpy(m->ids[i], ids[i], TIDE_HASH_BYTES);
        m->begins[begin / 8] |= (uint8_t)(1u << begin % 8);
    }
    return true;
}

static void mention_close(struct mentions *m)
{
    free(m->ids);
}

static bool is_one(const struct mentions *m, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (memcmp(m->ids[i], bytes, TIDE_HASH_BYTES) == 0)
            return true;
    return false;
}

/* Returns true if the XDR contains one of the ids: in an event, an entry, a key of a footprint or
 * an argument. XDR aligns everything to four bytes, so only every fourth position is compared. */
static bool mention_any(const struct mentions *m, tide_slice xdr)
{
    for (size_t at = 0; at + TIDE_HASH_BYTES <= xdr.len; at += 4) {
        uint32_t begin = begin_of(xdr.ptr + at);
        if ((m->begins[begin / 8] >> begin % 8 & 1) && is_one(m, xdr.ptr + at))
            return true;
    }
    return false;
}

/* ---- chain ---- */

enum { LEDGER_COLUMNS = 17 };

/* Checks the header's own hash, its range, and that it follows the ledger before. Errors are stated
 * before anything of the ledger is decoded. */
static tide_status check_chain(struct tide_decode *d, const struct tide_ledger_header *h)
{
    if (tide_proof_findings(d->verify)->header == TIDE_CHECK_FAILS)
        return tide_fail(d->err, TIDE_E_CHAIN,
                         "ledger %" PRIu32 ": header does not hash to the hash it carries",
                         h->sequence);
    if (h->sequence == 0 || h->sequence > INT32_MAX || h->close_time > TIDE_TIME_LAST)
        return tide_fail(d->err, TIDE_E_RANGE,
                         "ledger %" PRIu32 ": sequence or close time %" PRIu64 " out of range",
                         h->sequence, h->close_time);
    if (d->chain.next_sequence && h->sequence != d->chain.next_sequence)
        return tide_fail(d->err, TIDE_E_CHAIN, "ledger %" PRIu32 " where %" PRIu32 " must follow",
                         h->sequence, d->chain.next_sequence);
    if (d->chain.has_previous &&
        memcmp(h->previous_hash, d->chain.previous_hash, TIDE_HASH_BYTES) != 0)
        return tide_fail(d->err, TIDE_E_CHAIN,
                         "ledger %" PRIu32 ": its previous hash is not the hash of ledger %" PRIu32
                         " that we hold: another network, a reset, or a damaged source",
                         h->sequence, h->sequence - 1);
    return TIDE_OK;
}

static tide_status on_header(void *self, const struct tide_ledger_header *header)
{
    struct tide_decode *d = self;
    d->header = *header;
    d->closed_ms = (int64_t)tide_header_closed_ms(header);
    d->kept.late = header->sequence < d->known.newest_since;
    tide_proof_header(d->verify, header);
    return check_chain(d, header);
}

static tide_status on_envelope(void *self, const struct tide_envelope *envelope)
{
    struct tide_decode *d = self;
    tide_status status = tide_proof_envelope(d->verify, envelope);
    if (status != TIDE_OK)
        return tide_fail(d->err, status, "ledger %" PRIu32 ": transactions of the set",
                         d->header.sequence);
    return TIDE_OK;
}

static tide_status on_tx_set(void *self, tide_slice tx_set)
{
    struct tide_decode *d = self;
    tide_proof_tx_set(d->verify, tx_set);
    return TIDE_OK;
}

/* ---- transactions ---- */

/* Begins a transaction. *inside says whether the walk calls back for its events and changes. */
static tide_status on_tx(void *self, const struct tide_tx *tx, bool *inside)
{
    struct tide_decode *d = self;
    assert(tx->index > 0);
    tide_proof_tx(d->verify, tx);
    d->tx_count++;
    d->entries.seq = d->events.op_events = d->entries.changed = 0;
    d->events.private_event = false;
    d->entries.keys.count = d->entries.ttls.count = d->entries.ttls_sorted = 0;
    d->entries.later_changes.count = d->events.later_events.count = 0;
    d->entries.footprint_hashed = false;
    d->candidate = !d->unmentioned && relevance_candidate(d, tx);
    *inside = d->candidate;
    return TIDE_OK;
}

static tide_status on_event(void *self, const struct tide_tx *tx, const struct tide_event *event)
{
    return decode_event(self, tx, event);
}

static tide_status on_change(void *self, const struct tide_tx *tx, const struct tide_change *change)
{
    return decode_change(self, tx->index ? tx : NULL, change);
}

static tide_status on_changes_end(void *self, const struct tide_tx *tx)
{
    return decode_changes_end(self, tx->index ? tx : NULL);
}

/* Ends a transaction. Only now are all its contracts known: deferred changes and events of Stellar
 * assets are stored if the transaction is the deployment's. */
static tide_status on_tx_end(void *self, const struct tide_tx *tx)
{
    struct tide_decode *d = self;
    assert(d->tx_count > 0);
    if (!d->candidate)
        return TIDE_OK;
    tide_status status = decode_ttl_owners(d);
    if (status != TIDE_OK || !relevance_transaction(d))
        return status;
    enum tide_call_proof proof = tide_proof_tx_end(d->verify, tx);
    d->our_txs++;
    status = decode_later_changes(d, tx);
    if (status != TIDE_OK)
        return status;
    decode_later_events(d);
    decode_call(d, tx, proof);
    kept_put(d, tx->index);
    return decode_ttls(d, tx);
}

static tide_status on_evicted(void *self, tide_slice key)
{
    struct tide_decode *d = self;
    return decode_evicted(d, key);
}

static tide_status on_end(void *self, const struct tide_ledger_tail *tail)
{
    (void)tail;
    return decode_evicted_end(self);
}

/* ---- the ledger's own row ---- */

static void put_ledger(struct tide_decode *d, const struct tide_batch_counts *before)
{
    assert(d->our_txs <= d->tx_count);
    const struct tide_ledger_header *h = &d->header;
    const struct tide_ledger_proof *proof = tide_proof_findings(d->verify);
    struct tide_rows *rows = decode_rows(d, TIDE_TABLE_LEDGER);
    struct tide_buf *out = &rows->copy;
    assert(d->counts.events >= before->events && d->counts.changes >= before->changes);
    tide_copy_row(out, LEDGER_COLUMNS);
    tide_copy_int2(out, (int16_t)d->deployment->id);
    tide_copy_int4(out, (int32_t)h->sequence);
    tide_copy_bytes(out, h->hash, TIDE_HASH_BYTES);
    tide_copy_bytes(out, h->previous_hash, TIDE_HASH_BYTES);
    tide_copy_time(out, d->closed_ms);
    tide_copy_int4(out, (int32_t)h->protocol);
    tide_copy_int4(out, (int32_t)d->tx_count);
    tide_copy_int4(out, (int32_t)d->our_txs);
    tide_copy_int4(out, (int32_t)(d->counts.events - before->events));
    tide_copy_int4(out, (int32_t)(d->counts.changes - before->changes));
    tide_copy_int4(out, (int32_t)(d->counts.raw_events - before->raw_events));
    tide_copy_int4(out, (int32_t)(d->counts.raw_states - before->raw_states));
    tide_copy_int2(out, (int16_t)d->proof);
    tide_copy_int4(out, (int32_t)proof->calls_verified);
    tide_copy_int4(out, (int32_t)proof->calls_rewritten);
    tide_copy_int4(out, (int32_t)proof->calls_unverified);
    tide_copy_int4(out, (int32_t)(d->counts.raw_calls - before->raw_calls));
    rows->count++;
    d->counts.ledgers++;
    d->counts.calls_verified += proof->calls_verified;
    d->counts.calls_rewritten += proof->calls_rewritten;
    d->counts.calls_unverified += proof->calls_unverified;
}

/* Notes the lengths of all tables, so that undo_ledger can remove the ledger's rows. */
static void begin_ledger(struct tide_decode *d, struct tide_batch *batch, struct tide_err *err)
{
    d->batch = batch;
    d->err = err;
    d->tx_count = d->our_txs = 0;
    d->ledgers_begun++;
    d->entries.seq_after = 0;
    d->entries.group.count = 0;
    assert(d->known.shown.count == 0); /* relevance_settle or relevance_forget emptied it */
    d->known.named.count = d->known.named_before.count = 0;
    d->saved.contracts = d->deployment->contract_count;
    d->counts = batch->counts;
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++) {
        d->saved.len[i] = batch->rows[i].copy.len;
        d->saved.count[i] = batch->rows[i].count;
    }
    latest_begin_ledger(&d->latest);
    latest_reset(&d->lives);
}

static void undo_ledger(struct tide_decode *d)
{
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++) {
        assert(d->batch->rows[i].copy.len >= d->saved.len[i]);
        assert(d->batch->rows[i].count >= d->saved.count[i]);
        d->batch->rows[i].copy.len = d->saved.len[i];
        d->batch->rows[i].copy.failed = false;
        d->batch->rows[i].count = d->saved.count[i];
    }
    latest_take_back(&d->latest);
    relevance_forget(d, d->saved.contracts);
}

/* Fails if a table's buffer could not grow, and computes the batch's size. */
static tide_status check_room(struct tide_decode *d)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++) {
        if (d->batch->rows[i].copy.failed)
            return tide_fail(d->err, TIDE_E_LIMIT,
                             "ledger %" PRIu32 ": rows exceed memory or %u bytes a table",
                             d->header.sequence, TIDE_TABLE_BYTES_MAX);
        bytes += d->batch->rows[i].copy.len;
    }
    d->batch->bytes = bytes;
    return TIDE_OK;
}

static void commit_ledger(struct tide_decode *d)
{
    struct tide_batch *batch = d->batch;
    const struct tide_ledger_header *h = &d->header;
    if (batch->from == 0) {
        batch->from = h->sequence;
        memcpy(batch->previous_hash, h->previous_hash, TIDE_HASH_BYTES);
    }
    batch->to = h->sequence;
    batch->closed_ms = tide_header_closed_ms(h);
    memcpy(batch->hash, h->hash, TIDE_HASH_BYTES);
    batch->counts = d->counts;
    relevance_settle(d);
    d->chain.next_sequence = h->sequence + 1;
    d->chain.has_previous = true;
    memcpy(d->chain.previous_hash, h->hash, TIDE_HASH_BYTES);
}

/* `what` is the failed check, as tide_proof_holds named it. */
static tide_status reject_ledger(struct tide_decode *d, const char *what)
{
    if (what == tide_proof_network)
        return tide_fail(d->err, TIDE_E_CHAIN,
                         "ledger %" PRIu32 ": its transactions do not hash to its results on the"
                         " network \"%.120s\": another network's ledger, or an altered one",
                         d->header.sequence, d->deployment->passphrase);
    return tide_fail(d->err, TIDE_E_CHAIN, "ledger %" PRIu32 ": %s does not hold",
                     d->header.sequence, what);
}

static tide_status finish_ledger(struct tide_decode *d)
{
    struct tide_batch_counts before = d->batch->counts;
    const char *what = NULL;
    tide_proof_end(d->verify);
    if (!tide_proof_holds(d->verify, &what))
        return reject_ledger(d, what);
    if (d->unmentioned) {
        undo_ledger(d);
        d->counts = before;
        return TIDE_OK;
    }
    relevance_take_named(d);
    put_ledger(d, &before);
    return check_room(d);
}

tide_status tide_decode_ledger(struct tide_decode *decode, struct tide_batch *batch, tide_slice lcm,
                               struct tide_err *err)
{
    const struct tide_walk walk = { .self = decode,
                                    .header = on_header,
                                    .envelope = on_envelope,
                                    .tx_set = on_tx_set,
                                    .tx = on_tx,
                                    .event = on_event,
                                    .change = on_change,
                                    .changes_end = on_changes_end,
                                    .tx_end = on_tx_end,
                                    .evicted = on_evicted,
                                    .end = on_end };
    begin_ledger(decode, batch, err);
    decode->unmentioned = decode->mentions.count && !mention_any(&decode->mentions, lcm);
    tide_status status = tide_ledger_walk(&walk, lcm, err);
    if (status == TIDE_OK)
        status = finish_ledger(decode);
    if (status != TIDE_OK) {
        tide_proof_drop(decode->verify);
        undo_ledger(decode);
        return status;
    }
    commit_ledger(decode);
    return TIDE_OK;
}

void tide_decode_expect(struct tide_decode *decode, uint32_t next_sequence,
                        const uint8_t *previous_hash)
{
    decode->chain.next_sequence = next_sequence;
    decode->chain.has_previous = previous_hash != NULL;
    if (previous_hash)
        memcpy(decode->chain.previous_hash, previous_hash, TIDE_HASH_BYTES);
}

void tide_decode_batch_end(struct tide_decode *decode, struct tide_batch *batch)
{
    latest_compact(&decode->latest, batch, &decode->scratch);
    latest_reset(&decode->latest);
}

tide_status tide_decode_open(struct tide_decode **out, const struct tide_decode_options *options,
                             struct tide_err *err)
{
    struct tide_decode *d = calloc(1, sizeof *d);
    struct tide_deployment *deployment = malloc(sizeof *deployment);
    struct address_slot *addresses = calloc(ADDRESS_SLOTS, sizeof *addresses);
    tide_status status =
        d && deployment && addresses
            ? tide_proof_open(&d->verify, options->proof, options->deployment->network_id)
            : TIDE_E_MEMORY;
    if (status != TIDE_OK) {
        free(addresses);
        free(deployment);
        free(d);
        return tide_fail(err, status, "opening the decoder");
    }
    *deployment = *options->deployment;
    d->deployment = deployment;
    d->known.discovered_max = options->discovered_max;
    d->known.known_only = options->known_only;
    d->addresses = addresses;
    if (!mention_open(&d->mentions, options->mentioned, options->mentioned_count)) {
        tide_decode_close(d);
        return tide_fail(err, TIDE_E_MEMORY, "opening the decoder");
    }
    relevance_open(d);
    tide_proof_use_worker(d->verify);
    d->proof = options->proof;
    tide_buf_init(&d->scratch, TIDE_TABLE_BYTES_MAX);
    d->history_only = options->history_only;
    d->with_log = options->with_log;
    *out = d;
    return TIDE_OK;
}

void tide_decode_close(struct tide_decode *decode)
{
    if (!decode)
        return;
    latest_release(&decode->latest);
    latest_release(&decode->lives);
    tide_proof_close(decode->verify);
    tide_buf_release(&decode->scratch);
    mention_close(&decode->mentions);
    free(decode->entries.keys.items);
    free(decode->entries.group.items);
    free(decode->entries.ttls.items);
    free(decode->entries.later_changes.items);
    free(decode->events.later_events.items);
    free(decode->kept.reasons.items);
    free(decode->known.named.items);
    free(decode->known.shown.items);
    free(decode->known.named_before.items);
    free(decode->addresses);
    free(decode->deployment);
    free(decode);
}

/* --- a batch ---------------------------------------------------------------------------- */

void tide_batch_init(struct tide_batch *batch)
{
    memset(batch, 0, sizeof *batch);
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++)
        tide_buf_init(&batch->rows[i].copy, TIDE_TABLE_BYTES_MAX);
}

void tide_batch_reset(struct tide_batch *batch)
{
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++) {
        tide_buf_reset(&batch->rows[i].copy);
        batch->rows[i].count = 0;
    }
    batch->from = batch->to = 0;
    batch->closed_ms = 0;
    batch->bytes = 0;
    batch->settled = false;
    batch->counts = (struct tide_batch_counts){ 0 };
}

void tide_batch_release(struct tide_batch *batch)
{
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++)
        tide_buf_release(&batch->rows[i].copy);
    tide_batch_reset(batch);
}

bool tide_batch_saw(const struct tide_batch *batch, const char *what)
{
    assert(what[0]);
    tide_slice rows = tide_buf_view(&batch->rows[TIDE_TABLE_CONTRACT_SEEN].copy);
    return rows.len && memmem(rows.ptr, rows.len, what, strlen(what));
}
