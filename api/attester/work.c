/* A turn: the limits of the moment, then the choice of the row. */
#include "api/attester/work.h"
#include "api/attester/work_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tidemark/tx.h"

void att_work_init(struct att_work *work)
{
    att_row_init(&work->row);
    work->balance = -1;
    tide_buf_init(&work->args, ATT_ENVELOPE_MAX);
    tide_buf_init(&work->soroban, ATT_ENVELOPE_MAX);
    tide_buf_init(&work->auth, ATT_ENVELOPE_MAX);
}

void att_work_release(struct att_work *work)
{
    att_row_release(&work->row);
    tide_buf_release(&work->args);
    tide_buf_release(&work->soroban);
    tide_buf_release(&work->auth);
}

/* --- a turn ----------------------------------------------------------------------------------- */

/* Sets the claim's verifier to the key that signed the row's envelope. If the key was replaced
 * since, the old key's account and sequence numbers decide the result. */
static void read_signer(struct att_work *w)
{
    struct tide_envelope e;
    struct tide_xdr x;
    const uint8_t *own = att_signer_public(w->signer);
    memcpy(w->claim.verifier, own, TIDE_HASH_BYTES);
    if (w->row.state != ATT_QUEUED &&
        tide_envelope_read(&e, tide_buf_view(&w->row.envelope), &x) == TIDE_OK && e.source_key)
        memcpy(w->claim.verifier, e.source_key, TIDE_HASH_BYTES);
    w->foreign = memcmp(w->claim.verifier, own, TIDE_HASH_BYTES) != 0;
}

/* Derives claim and call from the row. Fails with TIDE_E_MEMORY. */
static tide_status read_claim(struct att_work *w, struct tide_err *err)
{
    struct att_row *row = &w->row;
    assert(row->subject_len > 0 && row->subject_len <= sizeof row->subject);
    w->claim = (struct att_claim){ .subject = tide_slice_of(row->subject, row->subject_len),
                                   .attested = row->has_attested ? row->attested : NULL,
                                   .jurisdiction = row->jurisdiction,
                                   .expires_at = row->expires_at };
    read_signer(w);
    memcpy(w->claim.metadata, row->metadata, TIDE_HASH_BYTES);
    tide_buf_reset(&w->args);
    w->call = (struct tide_call){ .function = row->revoke ? "revoke" : "attest" };
    memcpy(w->call.contract, att_signer_policy(w->signer)->contract, TIDE_HASH_BYTES);
    w->call.arg_count = att_put_args(&w->args, &w->claim, row->revoke);
    assert(w->call.arg_count == (row->revoke ? 2u : 5u));
    w->call.args = tide_buf_view(&w->args);
    return w->args.failed ? tide_fail(err, TIDE_E_MEMORY, "no memory for arguments") : TIDE_OK;
}

/* True if the stored envelope has the stored hash, by which the network is asked. Otherwise the
 * row was altered. */
static bool has_stored_hash(const struct att_work *w)
{
    const struct att_row *row = &w->row;
    return att_envelope_is(tide_buf_view(&row->envelope), att_signer_policy(w->signer)->network_id,
                           row->hash);
}

/* Moves w->row one step further, by its state. */
static tide_status work_on_row(struct att_work *w, enum att_turn *turn, struct tide_err *err)
{
    if (w->row.subject_len == 0)
        return work_park(w, "bad_subject", NULL, err);
    tide_status status = read_claim(w, err);
    if (status != TIDE_OK)
        return status;
    if (w->row.state != ATT_QUEUED && !has_stored_hash(w))
        return work_park(w, "bad_row", NULL, err);
    if (w->row.state != ATT_QUEUED)
        return work_follow(w, turn, err);
    return w->row.superseded ? work_supersede(w, err) : work_prepare(w, turn, err);
}

/* Reads the index and the clocks, and sets the limits of this turn: the ledgers that servers may
 * report, and the latest end that the signer allows. Fails with TIDE_E_CONFLICT if the clocks
 * differ, or if validators contradict the index: the servers' chain is in doubt, too. */
static tide_status begin_turn(struct att_work *w, struct tide_err *err)
{
    enum { LAG_LEDGERS = 5 }; /* how far a server may be behind the index */
    uint32_t skew = w->config->clock_skew_s, floor = 0;
    uint64_t ceiling = 0;
    uint32_t deployment = att_outbox_deployment(w->outbox);
    if (w->deployment && w->deployment != deployment)
        att_rpc_forget_ledgers(w->rpc);
    w->deployment = deployment;
    tide_status status = att_index_read(&w->index, w->outbox, w->clock, skew, err);
    if (status != TIDE_OK)
        return status;
    if (w->index.clocks == TIDE_CLOCKS_DATABASE || w->index.clocks == TIDE_CLOCKS_BEFORE_CHAIN)
        return tide_fail(err, TIDE_E_CONFLICT, "nothing is signed: %s", w->index.text);
    if (w->index.fork)
        return tide_fail(
            err, TIDE_E_CONFLICT,
            "nothing is signed or sent: forked at ledger %u, of which validators signed"
            " another hash; see `tidemark-indexer fork`",
            w->index.fork);
    w->now = (uint64_t)w->clock->wall_ms(w->clock->self) / 1000;
    if (w->index.follows) { /* at most one ledger closes each second */
        floor = w->index.ledger > LAG_LEDGERS ? w->index.ledger - LAG_LEDGERS : 0;
        ceiling = w->index.ledger + (w->now + skew - w->index.closed_at) + 1;
    }
    att_rpc_limit_ledgers(w->rpc, floor, ceiling > UINT32_MAX ? UINT32_MAX : (uint32_t)ceiling);
    att_rpc_include_all(w->rpc);
    att_signer_allow_until(w->signer, w->now + skew + w->config->attester_valid_s);
    return TIDE_OK;
}

/* Parks a malformed row for a person, so that the others go on. */
static tide_status reject_row(struct att_work *w, struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX];
    tide_log(TIDE_ERROR, "attester.parked", "id=%" PRIu64 " reason=bad_row detail=%s", w->row.id,
             tide_log_quote(quoted, sizeof quoted, err->text));
    w->tally.parked += !w->dry;
    return w->dry ? TIDE_OK : att_outbox_reject(w->outbox, w->row.id, err);
}

/* Checks the MACs of one batch of new rows. One batch for each turn, so that genuine rows and
 * the heartbeat go on however many rows are new. */
static tide_status check_macs(struct att_work *w, bool *more, struct tide_err *err)
{
    uint32_t forged;
    tide_status status = att_outbox_check_macs(w->outbox, &forged, more, err);
    if (status != TIDE_OK)
        return status;
    w->tally.parked += forged;
    if (forged)
        tide_log(TIDE_ERROR, "attester.parked", "rows=%u reason=not_signed", forged);
    return TIDE_OK;
}

/* Handles TIDE_E_FENCED: another process moved the row, or a newer row about the person is not
 * checked yet. A queued row is postponed so that the others go first. */
static tide_status postpone_fenced(struct att_work *w, bool bad, struct tide_err *err)
{
    enum { LATER_MS = 1000 };
    tide_log(TIDE_WARN, "attester.fenced", "id=%" PRIu64, w->row.id);
    if (bad || w->row.state != ATT_QUEUED)
        return TIDE_OK;
    tide_status status = work_postpone(w, LATER_MS, "fenced", err);
    return status == TIDE_E_FENCED ? TIDE_OK : status;
}

tide_status att_work_turn(struct att_work *work, enum att_turn *turn, struct tide_err *err)
{
    bool any, more = false;
    *turn = ATT_TURN_IDLE;
    tide_status status = begin_turn(work, err);
    if (status == TIDE_OK && !work->dry)
        status = check_macs(work, &more, err);
    if (more)
        *turn = ATT_TURN_AGAIN;
    if (status == TIDE_OK)
        status =
            att_outbox_next(work->outbox, &work->row, work->dry ? &work->skip : NULL, &any, err);
    bool bad = status == TIDE_E_DECODE;
    if (!bad && (status != TIDE_OK || !any))
        return status;
    *turn = ATT_TURN_AGAIN;
    status = bad ? reject_row(work, err) : work_on_row(work, turn, err);
    if (work->dry)
        work->skip = work->row.id;
    if (work->dry || more)
        *turn = ATT_TURN_AGAIN;
    return status == TIDE_E_FENCED ? postpone_fenced(work, bad, err) : status;
}
