/* A queued intent: look, simulate, look again, sign, keep, send. */
#include "api/attester/work_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"

enum { FEE_LEAST = 100, LATER_MS = 5000, SOON_MS = 1000, BUDGET_MS = 30000 };
enum { UNAVAILABLE_MS = 500, UNAVAILABLE_DOUBLINGS = 6 };

#define SIMULATION_UNAVAILABLE "simulation_unavailable"

/* What was found out on the way. */
struct preparation {
    struct att_tip tip;
    struct att_view view;
    struct att_draft draft;
    int64_t resource_fee;
    bool done; /* it ended, or waits: nothing to sign */
    /* Why one server's answers cannot be signed; NULL: they can. Another server is asked, then it
     * is parked. */
    const char *refused, *detail;
    bool sure; /* every server was asked: what the last one says counts */
    char word[ATT_WORD_BYTES];
};

static tide_status later(struct att_work *w, struct preparation *p, enum att_turn *turn,
                         uint32_t ms, const char *why, struct tide_err *err)
{
    p->done = true;
    *turn = ATT_TURN_WAIT;
    tide_log(TIDE_WARN, "attester.later", "id=%" PRIu64 " why=%s", w->row.id, why);
    return w->dry ? TIDE_OK : att_outbox_later(w->outbox, &w->row, ms, why, err);
}

static void refuse(struct preparation *p, const char *why, const char *detail)
{
    p->done = true;
    p->refused = why;
    p->detail = detail;
}

/* --- looking ---------------------------------------------------------------------------------- */

static tide_status end_intent(struct att_work *w, struct preparation *p,
                              const struct att_next *next, struct tide_err *err)
{
    if (next->step == ATT_STEP_PARK)
        return work_park(w, next->why, next->detail, err);
    uint32_t ledger = p->view.kyc && !w->index.follows ? p->view.kyc_ledger : p->view.ledger;
    return work_confirm(w, ledger, next->why, NULL, err);
}

/* What is not borne out is looked at again soon, at another server first. */
static tide_status doubt(struct att_work *w, struct preparation *p, enum att_turn *turn,
                         struct tide_err *err)
{
    bool behind = w->index.follows && w->index.ledger < p->view.ledger;
    if (w->index.follows)
        att_rpc_turn(w->rpc);
    else
        att_rpc_doubt(w->rpc);
    return later(w, p, turn, SOON_MS, behind ? "index_behind" : "not_borne_out", err);
}

/* last: it is signed next, unless something stands against it. */
static tide_status act_on(struct att_work *w, struct preparation *p, const struct att_next *next,
                          bool last, enum att_turn *turn, struct tide_err *err)
{
    bool agreed = true;
    if (next->step == ATT_STEP_WAIT) {
        att_rpc_turn(w->rpc);
        return later(w, p, turn, LATER_MS, next->why, err);
    }
    if (next->step == ATT_STEP_PREPARE && !last)
        return TIDE_OK;
    tide_status status = work_agreed(w, &p->view, next, p->tip.close_time, &agreed, err);
    if (status != TIDE_OK)
        return status;
    if (!agreed)
        return doubt(w, p, turn, err);
    p->done = next->step != ATT_STEP_PREPARE;
    return p->done ? end_intent(w, p, next, err) : TIDE_OK;
}

static tide_status look(struct att_work *w, struct preparation *p, bool last, enum att_turn *turn,
                        struct tide_err *err)
{
    struct att_next next = { .step = ATT_STEP_PARK,
                             .why = "manual_review",
                             .detail = "undecodable" };
    tide_status status = work_look(w, &p->view, err);
    if (status != TIDE_OK && status != TIDE_E_DECODE)
        return status;
    if (status == TIDE_OK)
        next = att_decide_view(w->row.revoke, &p->view, w->row.expires_at, p->tip.close_time);
    return act_on(w, p, &next, last, turn, err);
}

/* --- simulating ------------------------------------------------------------------------------- */

static void draft_call(struct att_work *w, struct preparation *p)
{
    uint64_t from = p->tip.close_time;
    if (w->index.follows && w->index.closed_at > from)
        from = w->index.closed_at;
    p->draft = (struct att_draft){ .fee = FEE_LEAST,
                                   .seq = p->view.seq + 1,
                                   .max_time = from + w->config->attester_valid_s,
                                   .call = &w->call };
    memcpy(p->draft.source, w->words.verifier, TIDE_HASH_BYTES);
}

/* Takes over what the simulation found; the answer's slices die with the next call. */
static tide_status adopt(struct att_work *w, struct preparation *p,
                         const struct att_simulated *simulated, struct tide_err *err)
{
    tide_buf_reset(&w->soroban);
    tide_buf_reset(&w->auth);
    tide_buf_slice(&w->soroban, simulated->data);
    tide_buf_slice(&w->auth, simulated->auth);
    if (w->soroban.failed || w->auth.failed)
        return tide_fail(err, TIDE_E_IO, "simulateTransaction: an answer too large to be true");
    p->draft.soroban = tide_buf_view(&w->soroban);
    p->draft.auth = tide_buf_view(&w->auth);
    p->draft.auth_count = simulated->auth_count;
    p->resource_fee = simulated->resource_fee;
    return TIDE_OK;
}

/* The record as the simulation saw it, where it says so. */
static tide_status check_changes(struct att_work *w, struct preparation *p,
                                 const struct att_simulated *simulated, struct tide_err *err)
{
    bool told;
    uint32_t record;
    tide_status status =
        att_view_simulated(&told, &record, simulated, w->call.contract, &w->words, err);
    if (status == TIDE_E_DECODE)
        refuse(p, "manual_review", "undecodable");
    if (status != TIDE_OK || !told)
        return status == TIDE_E_DECODE ? TIDE_OK : status;
    p->view.status = record;
    struct att_next next =
        att_decide_view(w->row.revoke, &p->view, w->row.expires_at, p->tip.close_time);
    if (next.step == ATT_STEP_PARK)
        refuse(p, next.why, next.detail);
    return TIDE_OK;
}

/* No verdict of the contract, but passing trouble of the server: nothing ends by it. */
static void note_trouble(struct att_work *w, struct preparation *p, const char *said)
{
    char quoted[300];
    tide_log(TIDE_WARN, "attester.simulation_unavailable", "id=%" PRIu64 " error=%s", w->row.id,
             tide_log_quote(quoted, sizeof quoted, said));
    refuse(p, SIMULATION_UNAVAILABLE, NULL);
}

static tide_status simulate(struct att_work *w, struct preparation *p, struct tide_err *err)
{
    struct att_simulated simulated;
    draft_call(w, p);
    tide_buf_reset(&w->row.envelope);
    if (att_put_envelope(&w->row.envelope, &p->draft) != TIDE_OK)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the envelope");
    tide_status status = att_rpc_simulate(w->rpc, &simulated, tide_buf_view(&w->row.envelope), err);
    if (status != TIDE_OK)
        return status;
    if (simulated.error[0]) {
        if (att_error_of_text(p->word, simulated.error))
            refuse(p, p->word, "simulation");
        else
            note_trouble(w, p, simulated.error);
        return TIDE_OK;
    }
    w->unavailable = 0;
    status = check_changes(w, p, &simulated, err);
    return status != TIDE_OK || p->done ? status : adopt(w, p, &simulated, err);
}

/* --- signing ---------------------------------------------------------------------------------- */

/* What is bid for a place, as much of it as the ceiling leaves. */
static tide_status price(struct att_work *w, struct preparation *p, enum att_turn *turn,
                         struct tide_err *err)
{
    bool affords;
    int64_t bid, most = att_signer_policy(w->signer)->fee_max - p->resource_fee;
    tide_status status = att_rpc_fee(w->rpc, &bid, err);
    if (status != TIDE_OK)
        return status;
    if (most < FEE_LEAST) {
        refuse(p, "fee_ceiling", NULL);
        return TIDE_OK;
    }
    p->draft.fee = (uint32_t)(p->resource_fee + (bid < most ? bid : most));
    status = work_affords(w, p->draft.fee, &affords, err);
    if (status != TIDE_OK || affords)
        return status;
    att_rpc_turn(w->rpc); /* it may be this server's price */
    return later(w, p, turn, BUDGET_MS, "fee_budget", err);
}

static void say_signed(const struct att_work *w, const struct preparation *p)
{
    const struct att_row *row = &w->row;
    tide_log(TIDE_INFO, "attester.signed",
             "id=%" PRIu64 " action=%s seq=%" PRId64 " fee=%u ledger=%u", row->id, w->call.function,
             row->seq, p->draft.fee, row->submit_ledger);
}

static tide_status keep(struct att_work *w, struct preparation *p,
                        const uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    struct att_row *row = &w->row;
    memcpy(row->hash, hash, TIDE_HASH_BYTES);
    row->seq = p->draft.seq;
    row->max_time = p->draft.max_time;
    row->submit_ledger = att_rpc_latest(w->rpc);
    (void)TIDE_FAILPOINT("attester.keep");
    tide_status status =
        att_outbox_signed(w->outbox, row, att_signer_address(w->signer), p->draft.fee, err);
    (void)TIDE_FAILPOINT("attester.kept");
    if (status != TIDE_OK)
        return status;
    row->state = ATT_SIGNED;
    row->bumped = false;
    say_signed(w, p);
    return TIDE_OK;
}

/* Code is restored for money, so another server has to name it too. */
static tide_status allow_code(struct att_work *w, struct preparation *p, enum att_turn *turn,
                              struct tide_err *err)
{
    bool agreed = true;
    tide_status status = TIDE_OK;
    if (att_restores_code(tide_buf_view(&w->row.envelope)))
        status = work_code_agreed(w, &p->view, &agreed, err);
    if (status != TIDE_OK)
        return status;
    if (!agreed) {
        att_rpc_doubt(w->rpc);
        return later(w, p, turn, SOON_MS, "not_borne_out", err);
    }
    att_signer_allow_code(w->signer, p->view.has_code ? p->view.code : NULL);
    return TIDE_OK;
}

static tide_status sign(struct att_work *w, struct preparation *p, enum att_turn *turn,
                        struct tide_err *err)
{
    struct att_row *row = &w->row;
    char quoted[300];
    p->draft.seq = p->view.seq + 1;
    tide_buf_reset(&row->envelope);
    if (att_put_envelope(&row->envelope, &p->draft) != TIDE_OK)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the envelope");
    tide_status status = allow_code(w, p, turn, err);
    if (status != TIDE_OK || p->done)
        return status;
    (void)TIDE_FAILPOINT("attester.sign");
    uint8_t hash[TIDE_HASH_BYTES];
    status = att_sign(w->signer, &row->envelope, p->draft.call, hash, err);
    if (status == TIDE_E_CONFLICT) {
        tide_log(TIDE_ERROR, "attester.policy", "id=%" PRIu64 " error=%s", row->id,
                 tide_log_quote(quoted, sizeof quoted, err->text));
        refuse(p, "policy", NULL);
        return TIDE_OK;
    }
    return status == TIDE_OK ? keep(w, p, hash, err) : status;
}

static void say_ready(const struct att_work *w, const struct preparation *p)
{
    printf("%" PRIu64 " %s: would be signed, for %u stroops at most\n", w->row.id, w->call.function,
           p->draft.fee);
}

/* A person gave up an envelope of this intent: nothing is signed before its last moment. */
static tide_status wait_for_old(struct att_work *w, struct preparation *p, enum att_turn *turn,
                                struct tide_err *err)
{
    uint64_t now;
    if (!w->row.max_time)
        return TIDE_OK;
    tide_status status = work_chain_time(w, &now, err);
    if (status == TIDE_OK && now <= w->row.max_time)
        return later(w, p, turn, SOON_MS, "old_envelope", err);
    return status;
}

/* Everything up to what can be signed, by the answers of one server. */
static tide_status prepare(struct att_work *w, struct preparation *p, enum att_turn *turn,
                           struct tide_err *err)
{
    tide_status status = att_rpc_tip(w->rpc, &p->tip, err);
    (void)TIDE_FAILPOINT("attester.look");
    if (status == TIDE_OK)
        status = look(w, p, false, turn, err);
    if (status == TIDE_OK && !p->done)
        status = simulate(w, p, err);
    (void)TIDE_FAILPOINT("attester.simulated");
    if (status == TIDE_OK && !p->done)
        status = price(w, p, turn, err);
    /* The newest there is, right before the signature. */
    if (status == TIDE_OK && !p->done)
        status = look(w, p, true, turn, err);
    if (status != TIDE_OK || p->done)
        return status;
    if (w->dry)
        say_ready(w, p);
    return w->dry ? TIDE_OK : sign(w, p, turn, err);
}

static bool is_unavailable(const struct preparation *p)
{
    return p->refused && strcmp(p->refused, SIMULATION_UNAVAILABLE) == 0;
}

/* The same with the next server where the answers of one cannot be signed: one that lies, or errs,
 * sends nothing to a person while another is there. */
static tide_status prepare_with_any(struct att_work *w, struct preparation *p, enum att_turn *turn,
                                    struct tide_err *err)
{
    tide_status status = prepare(w, p, turn, err);
    while (status == TIDE_OK && p->refused && !p->sure) {
        tide_log(TIDE_WARN, "attester.refused", "id=%" PRIu64 " why=%s detail=%s", w->row.id,
                 p->refused, p->detail ? p->detail : "none");
        bool another = att_rpc_second(w->rpc);
        if (!another)
            att_rpc_any(w->rpc);
        if (!another && is_unavailable(p))
            break;
        *p = (struct preparation){ .sure = true };
        status = prepare(w, p, turn, err);
    }
    att_rpc_any(w->rpc);
    return status;
}

/* No server simulates: the next one is asked first once a pause is over, which doubles. */
static tide_status wait_for_simulation(struct att_work *w, struct preparation *p,
                                       enum att_turn *turn, struct tide_err *err)
{
    uint32_t pause = (uint32_t)UNAVAILABLE_MS << w->unavailable;
    w->unavailable += w->unavailable < UNAVAILABLE_DOUBLINGS;
    att_rpc_turn(w->rpc);
    return later(w, p, turn, pause, SIMULATION_UNAVAILABLE, err);
}

tide_status work_prepare(struct att_work *w, enum att_turn *turn, struct tide_err *err)
{
    struct preparation p = { 0 };
    tide_status status = wait_for_old(w, &p, turn, err);
    if (status != TIDE_OK || p.done)
        return status;
    if (!work_has_witness(w))
        return later(w, &p, turn, LATER_MS, "no_witness", err);
    status = prepare_with_any(w, &p, turn, err);
    if (status != TIDE_OK)
        return status;
    if (is_unavailable(&p))
        return wait_for_simulation(w, &p, turn, err);
    if (p.refused)
        return work_park(w, p.refused, p.detail, err);
    if (p.done || w->dry)
        return TIDE_OK;
    *turn = ATT_TURN_WAIT;
    return work_send(w, err);
}
