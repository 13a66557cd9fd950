#include "indexer/verify/proof_check.h"
#include "indexer/archive/envelope.h"
#include "indexer/archive/tx_set.h"
#include "tidemark/hash.h"
#include "tidemark/scval.h"
#include "tidemark/stellar_value.h"
#include "tidemark/xdr_skip.h"

enum {
    HEADERS_MAX = 128,
    HEADER_BYTES_MAX = 4096,
    ENVELOPES_MAX = 1000,
    ENVELOPE_BYTES_MAX = 4096,
    KEY_BYTES_MAX = 4096
};

/* One check: what is left of the proof, and what is known so far. */
struct proof_reading {
    struct tide_xdr x;
    const struct tide_quorum *quorum;
    const uint8_t *network_id;
    uint8_t last[TIDE_HASH_BYTES]; /* hash of the last header */
    tide_slice set, value;         /* the signed ledger's transaction set, and its value */
    bool has_set;
    struct proof_claim *claim;
};

static tide_status fail_proof(struct tide_err *err, const char *why)
{
    return tide_fail(err, TIDE_E_CONFLICT, "%s", why);
}

/* Reads one length and as many bytes: a whole number of words, so that none is padding. */
static tide_slice read_part(struct tide_xdr *x, uint32_t max)
{
    tide_slice part = tide_xdr_var(x, max);
    if (!x->status && (part.len == 0 || part.len % 4))
        tide_xdr_refuse(x, TIDE_E_DECODE, "length of a part", (uint32_t)part.len);
    return part;
}

static tide_status read_magic(struct proof_reading *r, struct tide_err *err)
{
    tide_slice magic = tide_xdr_opaque(&r->x, 8);
    if (r->x.status ||
        !(tide_slice_eq_str(magic, "TIDEPRF1") || tide_slice_eq_str(magic, "TIDEPRE1")))
        return tide_fail(err, TIDE_E_DECODE, "these bytes are no proof");
    r->claim->kind = tide_slice_eq_str(magic, "TIDEPRE1") ? PROOF_ENTRY : PROOF_TRANSACTION;
    return TIDE_OK;
}

/* --- headers --------------------------------------------------------------------------------- */

static tide_status read_header(struct proof_reading *r, uint32_t i, struct tide_err *err)
{
    struct tide_ledger_header h = { 0 };
    tide_slice part = read_part(&r->x, HEADER_BYTES_MAX);
    if (r->x.status)
        return tide_xdr_error(&r->x, err, "proof");
    struct tide_xdr x = tide_xdr_of(part);
    tide_bare_header_read(&x, &h);
    if (tide_xdr_end(&x))
        return tide_xdr_error(&x, err, "LedgerHeader");
    if (i && (h.sequence != r->claim->signed_ledger ||
              memcmp(h.previous_hash, r->last, TIDE_HASH_BYTES) != 0))
        return fail_proof(err, "a header does not follow the one before it");
    if (h.sequence == 0 || h.sequence > INT32_MAX - 1)
        return fail_proof(err, "a header has a sequence that no ledger has");
    tide_sha256(r->last, part);
    if (i == 0) {
        r->claim->header = h;
        memcpy(r->claim->hash, r->last, TIDE_HASH_BYTES);
    }
    r->claim->signed_ledger = h.sequence + 1;
    return TIDE_OK;
}

static tide_status read_headers(struct proof_reading *r, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    uint32_t count = tide_xdr_count(&r->x, HEADERS_MAX, 8);
    if (!r->x.status && count == 0)
        return fail_proof(err, "the proof has no header");
    for (uint32_t i = 0; i < count && !status; i++)
        status = read_header(r, i, err);
    return r->x.status ? tide_xdr_error(&r->x, err, "proof") : status;
}

/* --- votes ----------------------------------------------------------------------------------- */

/* Counts an envelope. Those of validators that the quorum set does not name count nothing. */
static tide_status read_vote(struct proof_reading *r, struct tide_err *err)
{
    struct scp_envelope e;
    tide_slice part = read_part(&r->x, ENVELOPE_BYTES_MAX);
    if (r->x.status)
        return tide_xdr_error(&r->x, err, "proof");
    struct tide_xdr x = tide_xdr_of(part);
    scp_envelope_read(&x, &e);
    if (tide_xdr_end(&x))
        return tide_xdr_error(&x, err, "SCPEnvelope");
    if (!e.externalizes || e.slot != r->claim->signed_ledger)
        return fail_proof(err, "an envelope is no final vote about the ledger behind the headers");
    if (!r->value.len)
        r->value = e.value;
    if (e.value.len == 0 || !tide_slice_eq(r->value, e.value))
        return fail_proof(err, "the envelopes vote for different values");
    int validator = tide_quorum_find(r->quorum, e.node);
    if (validator < 0)
        return TIDE_OK;
    if (tide_signers_has(&r->claim->signers, (uint32_t)validator))
        return fail_proof(err, "a validator votes twice");
    if (!scp_envelope_holds(&e, r->network_id))
        return fail_proof(err, "a validator's signature does not hold on this network");
    tide_signers_add(&r->claim->signers, (uint32_t)validator);
    return TIDE_OK;
}

static tide_status read_votes(struct proof_reading *r, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    r->has_set = tide_xdr_bool(&r->x);
    if (r->has_set)
        r->set = read_part(&r->x, PROOF_BYTES_MAX);
    uint32_t count = tide_xdr_count(&r->x, ENVELOPES_MAX, 8);
    for (uint32_t i = 0; i < count && !status; i++)
        status = read_vote(r, err);
    if (r->x.status)
        return tide_xdr_error(&r->x, err, "proof");
    if (status == TIDE_OK && !tide_quorum_satisfied(r->quorum, &r->claim->signers))
        return fail_proof(err, "not enough of the named validators signed");
    return status;
}

/* Checks that the signed value names the last header: by itself, or by its transaction set. */
static tide_status check_binding(struct proof_reading *r, struct tide_err *err)
{
    struct tide_stellar_value value;
    tide_status status = tide_stellar_value_of(&value, r->value);
    if (status != TIDE_OK)
        return tide_fail(err, status, "the signed value is none that this build can read");
    if (r->has_set == (value.previous != NULL))
        return fail_proof(err, r->has_set ? "the signed value has no transaction set"
                                          : "the transaction set of the signed value is missing");
    const uint8_t *previous = value.previous;
    if (r->has_set)
        previous = tx_set_names(r->set, value.tx_set_hash);
    if (!previous)
        return fail_proof(err, "the transaction set is not the one that was signed");
    if (memcmp(previous, r->last, TIDE_HASH_BYTES) != 0)
        return fail_proof(err, "the signed value names another ledger than the last header");
    return TIDE_OK;
}

/* --- the transaction ------------------------------------------------------------------------- */

/* Finds the transaction in the result set, which is read whole. */
static tide_status find_result(struct proof_reading *r, const uint8_t *hash, tide_slice results,
                               struct tide_err *err)
{
    struct tide_xdr x = tide_xdr_of(results);
    uint32_t count = tide_xdr_count(&x, UINT32_MAX, TIDE_HASH_BYTES + 16), found = 0;
    for (uint32_t i = 0; i < count && !x.status; i++) {
        struct tide_tx tx = { .index = i + 1, .count = count };
        tide_result_pair_read(&x, &tx);
        if (x.status || memcmp(tx.hash, hash, TIDE_HASH_BYTES) != 0)
            continue;
        r->claim->tx = tx;
        found++;
    }
    if (tide_xdr_end(&x))
        return tide_xdr_error(&x, err, "TransactionResultSet");
    if (found != 1)
        return fail_proof(err, "the transaction is not one of the ledger's results");
    return TIDE_OK;
}

static tide_status read_result(struct proof_reading *r, struct tide_err *err)
{
    uint8_t made[TIDE_HASH_BYTES];
    tide_slice hash = tide_xdr_opaque(&r->x, TIDE_HASH_BYTES);
    tide_slice results = read_part(&r->x, PROOF_BYTES_MAX);
    if (r->x.status)
        return tide_xdr_error(&r->x, err, "proof");
    tide_sha256(made, results);
    if (memcmp(made, r->claim->header.result_hash, TIDE_HASH_BYTES) != 0)
        return fail_proof(err, "the results are not those of the first header");
    return find_result(r, hash.ptr, results, err);
}

/* Reads answer and events, which the result's hash covers. */
static tide_status read_preimage(struct proof_reading *r, struct tide_err *err)
{
    struct proof_claim *claim = r->claim;
    uint8_t made[TIDE_HASH_BYTES];
    claim->has_events = tide_xdr_bool(&r->x);
    if (!claim->has_events)
        return r->x.status ? tide_xdr_error(&r->x, err, "proof") : TIDE_OK;
    tide_slice part = read_part(&r->x, PROOF_BYTES_MAX);
    if (r->x.status)
        return tide_xdr_error(&r->x, err, "proof");
    tide_sha256(made, part);
    if (!claim->tx.successful || !claim->tx.invoke_hash ||
        memcmp(made, claim->tx.invoke_hash, TIDE_HASH_BYTES) != 0)
        return fail_proof(err, "answer and events are not those of the transaction's result");
    struct tide_xdr x = tide_xdr_of(part);
    struct tide_event event = { 0 };
    claim->answer = tide_scval_span(&x);
    claim->event_count = tide_xdr_count(&x, UINT32_MAX, 24);
    const uint8_t *mark = x.cur;
    for (uint32_t i = 0; i < claim->event_count && !x.status; i++)
        tide_event_read(&x, &event);
    claim->events = tide_xdr_span(&x, mark);
    return tide_xdr_end(&x) ? tide_xdr_error(&x, err, "InvokeHostFunctionSuccessPreImage")
                            : TIDE_OK;
}

static tide_status read_transaction(struct proof_reading *r, struct tide_err *err)
{
    tide_status status = read_result(r, err);
    return status == TIDE_OK ? read_preimage(r, err) : status;
}

/* --- the entry ------------------------------------------------------------------------------- */

/* Reads the buckets' hashes, which the first header's hash covers. */
static tide_status read_buckets(struct proof_reading *r, struct tide_err *err)
{
    struct history_state *state = &r->claim->buckets;
    enum { LIST = 2 * HISTORY_LEVELS };
    static_assert(sizeof state->live == (size_t)LIST * TIDE_HASH_BYTES, "hashes alone");
    uint8_t made[TIDE_HASH_BYTES];
    uint32_t count = tide_xdr_count(&r->x, 2 * LIST, TIDE_HASH_BYTES);
    if (!r->x.status && count != LIST && count != 2 * LIST)
        tide_xdr_refuse(&r->x, TIDE_E_DECODE, "number of buckets", count);
    tide_slice live = tide_xdr_opaque(&r->x, sizeof state->live);
    tide_slice hot = tide_xdr_opaque(&r->x, count == 2 * LIST ? sizeof state->hot : 0);
    if (r->x.status)
        return tide_xdr_error(&r->x, err, "proof");
    state->version = count == LIST ? 1 : 2;
    state->current_ledger = r->claim->header.sequence;
    assert(live.ptr && live.len == sizeof state->live);
    memcpy(state->live, live.ptr, live.len);
    if (hot.len)
        memcpy(state->hot, hot.ptr, hot.len);
    history_state_hash(made, state);
    if (memcmp(made, r->claim->header.bucket_hash, TIDE_HASH_BYTES) != 0)
        return fail_proof(err, "the buckets are not those of the first header");
    return TIDE_OK;
}

static tide_status read_key(struct proof_reading *r, struct tide_err *err)
{
    struct proof_claim *claim = r->claim;
    claim->key = read_part(&r->x, KEY_BYTES_MAX);
    if (r->x.status)
        return tide_xdr_error(&r->x, err, "proof");
    struct tide_xdr x = tide_xdr_of(claim->key);
    skip_ledger_key(&x, &claim->of);
    if (!x.status && claim->of.type != TIDE_ENTRY_CONTRACT_DATA)
        tide_xdr_refuse(&x, TIDE_E_UNKNOWN, "LedgerEntryType of a proven entry", claim->of.type);
    return tide_xdr_end(&x) ? tide_xdr_error(&x, err, "LedgerKey") : TIDE_OK;
}

static tide_status read_said(struct proof_reading *r, struct tide_err *err)
{
    struct proof_claim *claim = r->claim;
    uint32_t said = skip_enum(&r->x, PROOF_SAID_VALUE, "what is said of the entry");
    if (said == PROOF_SAID_VALUE)
        claim->value = read_part(&r->x, PROOF_BYTES_MAX);
    if (r->x.status)
        return tide_xdr_error(&r->x, err, "proof");
    claim->said = (enum proof_said)said;
    if (said != PROOF_SAID_VALUE)
        return TIDE_OK;
    struct tide_xdr x = tide_xdr_of(claim->value);
    tide_scval_skip(&x);
    return tide_xdr_end(&x) ? tide_xdr_error(&x, err, "SCVal") : TIDE_OK;
}

static tide_status read_entry(struct proof_reading *r, struct tide_err *err)
{
    tide_status status = read_buckets(r, err);
    if (status == TIDE_OK)
        status = read_key(r, err);
    return status == TIDE_OK ? read_said(r, err) : status;
}

/* --------------------------------------------------------------------------------------------- */

tide_status proof_check(tide_slice proof, const struct tide_quorum *quorum,
                        const uint8_t network_id[TIDE_HASH_BYTES], struct proof_claim *out,
                        struct tide_err *err)
{
    memset(out, 0, sizeof *out);
    if (proof.len > PROOF_BYTES_MAX)
        return tide_fail(err, TIDE_E_LIMIT, "a proof of more than %u bytes", PROOF_BYTES_MAX);
    struct proof_reading r = {
        .x = tide_xdr_of(proof), .quorum = quorum, .network_id = network_id, .claim = out
    };
    tide_status status = read_magic(&r, err);
    if (status == TIDE_OK)
        status = read_headers(&r, err);
    if (status == TIDE_OK)
        status = read_votes(&r, err);
    if (status == TIDE_OK)
        status = check_binding(&r, err);
    if (status == TIDE_OK)
        status = out->kind == PROOF_ENTRY ? read_entry(&r, err) : read_transaction(&r, err);
    if (status == TIDE_OK && tide_xdr_end(&r.x))
        status = tide_xdr_error(&r.x, err, "proof");
    return status;
}
