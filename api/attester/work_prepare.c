/* A queued intent: look, simulate, look again, sign, keep, send. */
#include "api/attester/work_own.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"

enum { FEE_LEAST = 100, LATER_MS = 5000, OLD_ENVELOPE_MS = 1000 };

/* What was found out on the way. */
struct preparation {
    struct att_tip tip;
    struct att_view view;
    struct att_draft draft;
    int64_t resource_fee;
    bool done; /* it ended, or waits: nothing to sign */
};

static tide_status later(struct att_work *w, struct preparation *p, enum att_turn *turn,
                         uint32_t ms, const char *why, struct tide_err *err)
{
    p->done = true;
    *turn = ATT_TURN_WAIT;
    tide_log(TIDE_WARN, "attester.later", "id=%" PRIu64 " why=%s", w->row.id, why);
    return w->dry ? TIDE_OK : att_outbox_later(w->outbox, &w->row, ms, why, err);
}

/* --- looking ---------------------------------------------------------------------------------- */

static tide_status act_on_view(struct att_work *w, struct preparation *p, enum att_turn *turn,
                               struct tide_err *err)
{
    struct att_next next =
        att_decide_view(w->row.revoke, &p->view, w->row.expires_at, p->tip.close_time);
    p->done = next.step != ATT_STEP_PREPARE;
    if (next.step == ATT_STEP_PARK)
        return work_park(w, next.why, next.detail, err);
    if (next.step == ATT_STEP_CONFIRM)
        return work_confirm(w, p->view.kyc ? p->view.kyc_ledger : p->view.ledger, next.why, NULL,
                            err);
    return p->done ? later(w, p, turn, LATER_MS, next.why, err) : TIDE_OK;
}

static tide_status look(struct att_work *w, struct preparation *p, enum att_turn *turn,
                        struct tide_err *err)
{
    tide_status status = work_view(w, &p->view, &p->done, err);
    return status != TIDE_OK || p->done ? status : act_on_view(w, p, turn, err);
}

/* --- simulating ------------------------------------------------------------------------------- */

static void draft_call(struct att_work *w, struct preparation *p)
{
    p->draft = (struct att_draft){ .fee = FEE_LEAST,
                                   .seq = p->view.seq + 1,
                                   .max_time = p->tip.close_time + w->config->attester_valid_s,
                                   .call = &w->call };
    memcpy(p->draft.source, w->words.verifier, TIDE_HASH_BYTES);
}

/* Takes over what the simulation found; the answer's slices die with the next call. */
static tide_status adopt(struct att_work *w, struct preparation *p,
                         const struct att_simulated *simulated, struct tide_err *err)
{
    bool restore = simulated->restore.len > 0;
    tide_buf_reset(&w->soroban);
    tide_buf_reset(&w->auth);
    tide_buf_slice(&w->soroban, restore ? simulated->restore : simulated->data);
    tide_buf_slice(&w->auth, restore ? (tide_slice){ 0 } : simulated->auth);
    if (w->soroban.failed || w->auth.failed)
        return tide_fail(err, TIDE_E_IO, "simulateTransaction: an answer too large to be true");
    p->draft.soroban = tide_buf_view(&w->soroban);
    p->draft.auth = tide_buf_view(&w->auth);
    p->draft.auth_count = restore ? 0 : simulated->auth_count;
    p->draft.call = restore ? NULL : &w->call;
    p->resource_fee = restore ? simulated->restore_fee : simulated->resource_fee;
    w->row.restore = restore;
    return TIDE_OK;
}

/* The record as the simulation saw it, where it says so. */
static tide_status check_changes(struct att_work *w, struct preparation *p, enum att_turn *turn,
                                 const struct att_simulated *simulated, struct tide_err *err)
{
    bool told;
    uint32_t record;
    tide_status status =
        att_view_simulated(&told, &record, simulated, w->call.contract, &w->words, err);
    p->done = status == TIDE_E_DECODE;
    if (p->done)
        return work_park(w, "manual_review", "undecodable", err);
    if (status != TIDE_OK || !told)
        return status;
    p->view.status = record;
    return act_on_view(w, p, turn, err);
}

static tide_status simulate(struct att_work *w, struct preparation *p, enum att_turn *turn,
                            struct tide_err *err)
{
    struct att_simulated simulated;
    char word[ATT_WORD_BYTES];
    draft_call(w, p);
    tide_buf_reset(&w->row.envelope);
    if (att_put_envelope(&w->row.envelope, &p->draft) != TIDE_OK)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the envelope");
    tide_status status = att_rpc_simulate(w->rpc, &simulated, tide_buf_view(&w->row.envelope), err);
    if (status != TIDE_OK)
        return status;
    if (simulated.error[0]) {
        p->done = true;
        bool known = att_error_of_text(word, simulated.error);
        return work_park(w, known ? word : "simulation", "simulation", err);
    }
    status = check_changes(w, p, turn, &simulated, err);
    return status != TIDE_OK || p->done ? status : adopt(w, p, &simulated, err);
}

/* --- signing ---------------------------------------------------------------------------------- */

/* What is bid for a place, as much of it as the ceiling leaves. */
static tide_status price(struct att_work *w, struct preparation *p, struct tide_err *err)
{
    int64_t bid, most = att_signer_policy(w->signer)->fee_max - p->resource_fee;
    tide_status status = att_rpc_fee(w->rpc, &bid, err);
    if (status != TIDE_OK)
        return status;
    p->done = most < FEE_LEAST;
    if (p->done)
        return work_park(w, "fee_ceiling", NULL, err);
    p->draft.fee = (uint32_t)(p->resource_fee + (bid < most ? bid : most));
    return TIDE_OK;
}

static tide_status sign(struct att_work *w, struct preparation *p, struct tide_err *err)
{
    struct att_row *row = &w->row;
    char quoted[300];
    p->draft.seq = p->view.seq + 1;
    tide_buf_reset(&row->envelope);
    if (att_put_envelope(&row->envelope, &p->draft) != TIDE_OK)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the envelope");
    (void)TIDE_FAILPOINT("attester.sign");
    uint8_t hash[TIDE_HASH_BYTES];
    tide_status status = att_sign(w->signer, &row->envelope, p->draft.call, hash, err);
    p->done = status == TIDE_E_CONFLICT;
    if (p->done) {
        tide_log(TIDE_ERROR, "attester.policy", "id=%" PRIu64 " error=%s", row->id,
                 tide_log_quote(quoted, sizeof quoted, err->text));
        return work_park(w, "policy", NULL, err);
    }
    if (status != TIDE_OK)
        return status;
    memcpy(row->hash, hash, TIDE_HASH_BYTES);
    row->seq = p->draft.seq;
    row->max_time = p->draft.max_time;
    row->submit_ledger = att_rpc_latest(w->rpc);
    (void)TIDE_FAILPOINT("attester.keep");
    status = att_outbox_signed(w->outbox, row, err);
    (void)TIDE_FAILPOINT("attester.kept");
    if (status != TIDE_OK)
        return status;
    row->state = ATT_SIGNED;
    row->bumped = false;
    tide_log(TIDE_INFO, "attester.signed",
             "id=%" PRIu64 " action=%s kind=%s seq=%" PRId64 " fee=%u ledger=%u", row->id,
             w->call.function, row->restore ? "restore" : "call", row->seq, p->draft.fee,
             row->submit_ledger);
    return TIDE_OK;
}

static void say_ready(const struct att_work *w, const struct preparation *p)
{
    printf("%" PRIu64 " %s: would be signed%s, for %u stroops at most\n", w->row.id,
           w->call.function, w->row.restore ? " (first a restoration of archived entries)" : "",
           p->draft.fee);
}

tide_status work_prepare(struct att_work *w, enum att_turn *turn, struct tide_err *err)
{
    struct preparation p = { 0 };
    tide_status status = att_rpc_tip(w->rpc, &p.tip, err);
    if (status != TIDE_OK)
        return status;
    if (w->row.max_time && p.tip.close_time <= w->row.max_time)
        return later(w, &p, turn, OLD_ENVELOPE_MS, "old_envelope", err);
    (void)TIDE_FAILPOINT("attester.look");
    status = look(w, &p, turn, err);
    if (status == TIDE_OK && !p.done)
        status = simulate(w, &p, turn, err);
    (void)TIDE_FAILPOINT("attester.simulated");
    if (status == TIDE_OK && !p.done)
        status = price(w, &p, err);
    /* The newest there is, right before the signature. */
    if (status == TIDE_OK && !p.done)
        status = look(w, &p, turn, err);
    if (status != TIDE_OK || p.done)
        return status;
    if (w->dry) {
        say_ready(w, &p);
        return TIDE_OK;
    }
    status = sign(w, &p, err);
    if (status == TIDE_OK && !p.done)
        status = work_send(w, err);
    if (status == TIDE_OK && !p.done)
        *turn = ATT_TURN_WAIT;
    return status;
}
