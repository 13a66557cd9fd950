/* A queued intent: read the entries, simulate, read them again, sign, store, send. */
#include "api/attester/work_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"

enum { FEE_LEAST = 100, LATER_MS = 5000, SOON_MS = 1000, BUDGET_MS = 30000 };
/* The pause after no server simulated: 0.5 s, doubled six times, so 32 s at most. */
enum { UNAVAILABLE_MS = 500, UNAVAILABLE_DOUBLINGS = 6 };
enum { VERDICTS = 2 }; /* refusals that park a row */
static_assert(VERDICTS > 1, "one server alone parks no row");

#define SIMULATION_UNAVAILABLE "simulation_unavailable"

/* Results so far for one intent, from the answers of one server. */
struct preparation {
    struct att_tip tip;
    struct att_view view;
    struct tide_draft draft;
    int64_t resource_fee;
    bool done; /* the turn ended the intent or postponed it: do not sign */
    /* Reason why this server's answers cannot be signed, or NULL. */
    const char *refused, *detail;
    uint32_t tries; /* servers asked before this one */
    /* number of these servers that refused for another reason than trouble of the server */
    uint32_t verdicts;
    char error_name[ATT_ERROR_NAME_BYTES];
};

/* Ends the turn and postpones the row by ms milliseconds. */
static tide_status postpone_row(struct att_work *w, struct preparation *p, enum att_turn *turn,
                                uint32_t ms, const char *why, struct tide_err *err)
{
    p->done = true;
    *turn = ATT_TURN_WAIT;
    tide_log(TIDE_WARN, "attester.later", "id=%" PRIu64 " why=%s", w->row.id, why);
    return work_postpone(w, ms, why, err);
}

/* Ends this try because of the server's answers. */
static void refuse_answers(struct preparation *p, const char *why, const char *detail)
{
    p->done = true;
    p->refused = why;
    p->detail = detail;
}

/* --- entries ---------------------------------------------------------------------------------- */

/* Parks or confirms the row without an envelope. */
static tide_status end_intent(struct att_work *w, struct preparation *p,
                              const struct att_next *next, struct tide_err *err)
{
    assert(next->step == ATT_STEP_PARK || next->step == ATT_STEP_CONFIRM);
    if (next->step == ATT_STEP_PARK)
        return work_park(w, next->why, next->detail, err);
    uint32_t ledger = p->view.kyc && !w->index.follows ? p->view.kyc_ledger : p->view.ledger;
    return work_confirm(w, ledger, next->why, NULL, err);
}

/* Postpones the row because no second source confirmed the server. The next turn begins with
 * another server. */
static tide_status postpone_unconfirmed(struct att_work *w, struct preparation *p,
                                        enum att_turn *turn, struct tide_err *err)
{
    bool behind = w->index.follows && w->index.ledger < p->view.ledger;
    if (w->index.follows)
        att_rpc_select_next(w->rpc);
    else
        att_rpc_select_after_first(w->rpc);
    return postpone_row(w, p, turn, SOON_MS, behind ? "index_behind" : "not_borne_out", err);
}

/* Acts on the step for the entries: postpones the row, ends it, or goes on. Confirmation by a
 * second source is needed to end the row, and for the last check before the signature (last). */
static tide_status apply_next(struct att_work *w, struct preparation *p,
                              const struct att_next *next, bool last, enum att_turn *turn,
                              struct tide_err *err)
{
    bool agreed = true;
    if (next->step == ATT_STEP_WAIT) {
        att_rpc_select_next(w->rpc);
        return postpone_row(w, p, turn, LATER_MS, next->why, err);
    }
    if (next->step == ATT_STEP_PREPARE && !last)
        return TIDE_OK;
    tide_status status = work_agreed(w, &p->view, next, p->tip.close_time, &agreed, err);
    if (status != TIDE_OK)
        return status;
    if (!agreed)
        return postpone_unconfirmed(w, p, turn, err);
    p->done = next->step != ATT_STEP_PREPARE;
    return p->done ? end_intent(w, p, next, err) : TIDE_OK;
}

/* Reads the person's entries and acts on them. Unreadable entries are left to a person. */
static tide_status check_person(struct att_work *w, struct preparation *p, bool last,
                                enum att_turn *turn, struct tide_err *err)
{
    struct att_next next = { .step = ATT_STEP_PARK,
                             .why = "manual_review",
                             .detail = "undecodable" };
    tide_status status = work_read_view(w, &p->view, err);
    if (status != TIDE_OK && status != TIDE_E_DECODE)
        return status;
    if (status == TIDE_OK)
        next = att_decide_view(w->row.revoke, &p->view, w->row.expires_at, p->tip.close_time);
    return apply_next(w, p, &next, last, turn, err);
}

/* --- simulating ------------------------------------------------------------------------------- */

/* The validity begins at ledger time, not at this host's: the network compares it with ledger
 * time. */
static void draft_call(struct att_work *w, struct preparation *p)
{
    assert(p->view.seq < INT64_MAX); /* att_decide_view lets no used-up account pass */
    assert(p->view.account);
    uint64_t from = p->tip.close_time;
    if (w->index.follows && w->index.closed_at > from)
        from = w->index.closed_at;
    p->draft = (struct tide_draft){ .fee = FEE_LEAST,
                                    .seq = p->view.seq + 1,
                                    .max_time = from + w->config->attester_valid_s,
                                    .call = &w->call };
    memcpy(p->draft.source, w->claim.verifier, TIDE_HASH_BYTES);
}

/* Copies the result of the simulation into buffers of w: the answer's slices are valid until the
 * next call only. */
static tide_status store_simulation(struct att_work *w, struct preparation *p,
                                    const struct tide_rpc_simulated *simulated,
                                    struct tide_err *err)
{
    tide_buf_reset(&w->soroban);
    tide_buf_reset(&w->auth);
    tide_buf_slice(&w->soroban, simulated->data);
    for (uint32_t i = 0; i < simulated->auth_count; i++)
        tide_buf_slice(&w->auth, simulated->auth[i]);
    if (w->soroban.failed || w->auth.failed)
        return tide_fail(err, TIDE_E_IO,
                         "simulateTransaction: the answer exceeds the size of an envelope");
    p->draft.soroban = tide_buf_view(&w->soroban);
    p->draft.auth = tide_buf_view(&w->auth);
    p->draft.auth_count = simulated->auth_count;
    p->resource_fee = simulated->resource_fee;
    return TIDE_OK;
}

/* Checks the record that the simulation read, which may be newer than the view. Servers may
 * leave the changes out. */
static tide_status check_changes(struct att_work *w, struct preparation *p,
                                 const struct tide_rpc_simulated *simulated, struct tide_err *err)
{
    bool known;
    uint32_t record;
    tide_status status =
        att_view_simulated(&known, &record, simulated, w->call.contract, &w->claim, err);
    if (status == TIDE_E_DECODE)
        refuse_answers(p, "manual_review", "undecodable");
    if (status != TIDE_OK || !known)
        return status == TIDE_E_DECODE ? TIDE_OK : status;
    p->view.status = record;
    struct att_next next =
        att_decide_view(w->row.revoke, &p->view, w->row.expires_at, p->tip.close_time);
    if (next.step == ATT_STEP_PARK)
        refuse_answers(p, next.why, next.detail);
    return TIDE_OK;
}

/* Refuses the answers because the server had trouble of its own. The error is not the
 * contract's, so the row is never parked for it. */
static void refuse_unavailable(struct att_work *w, struct preparation *p, const char *said)
{
    char quoted[300];
    tide_log(TIDE_WARN, "attester.simulation_unavailable", "id=%" PRIu64 " error=%s", w->row.id,
             tide_log_quote(quoted, sizeof quoted, said));
    refuse_answers(p, SIMULATION_UNAVAILABLE, NULL);
}

/* An error that names the host or the contract is their verdict; any other text is the server's
 * own trouble. */
static tide_status simulate_call(struct att_work *w, struct preparation *p, struct tide_err *err)
{
    struct tide_rpc_simulated simulated;
    draft_call(w, p);
    tide_buf_reset(&w->row.envelope);
    if (tide_envelope_put(&w->row.envelope, &p->draft) != TIDE_OK)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the envelope");
    tide_status status = att_rpc_simulate(w->rpc, &simulated, tide_buf_view(&w->row.envelope), err);
    if (status != TIDE_OK)
        return status;
    if (simulated.error[0]) {
        if (att_error_of_text(p->error_name, simulated.error))
            refuse_answers(p, p->error_name, "simulation");
        else
            refuse_unavailable(w, p, simulated.error);
        return TIDE_OK;
    }
    w->unavailable = 0;
    status = check_changes(w, p, &simulated, err);
    return status != TIDE_OK || p->done ? status : store_simulation(w, p, &simulated, err);
}

/* --- signing ---------------------------------------------------------------------------------- */

/* Sets the fee: the resources plus the usual bid, as far as fee_max allows. Postpones the row if
 * the budget of 24 hours does not allow the fee. */
static tide_status set_fee(struct att_work *w, struct preparation *p, enum att_turn *turn,
                           struct tide_err *err)
{
    bool within;
    int64_t bid, most = att_signer_policy(w->signer)->fee_max - p->resource_fee;
    tide_status status = att_rpc_fee(w->rpc, &bid, err);
    if (status != TIDE_OK)
        return status;
    if (most < FEE_LEAST) {
        refuse_answers(p, "fee_ceiling", NULL);
        return TIDE_OK;
    }
    assert(p->resource_fee >= 0 && bid > 0 && p->resource_fee + most <= UINT32_MAX);
    p->draft.fee = (uint32_t)(p->resource_fee + (bid < most ? bid : most));
    assert(p->draft.fee >= FEE_LEAST && p->draft.fee <= p->resource_fee + most);
    status = work_within_budget(w, p->draft.fee, &within, err);
    if (status != TIDE_OK || within)
        return status;
    att_rpc_select_next(w->rpc); /* the high price may be this server's alone */
    return postpone_row(w, p, turn, BUDGET_MS, "fee_budget", err);
}

static void log_signed(const struct att_work *w, const struct preparation *p)
{
    const struct att_row *row = &w->row;
    tide_log(TIDE_INFO, "attester.signed",
             "id=%" PRIu64 " action=%s seq=%" PRId64 " fee=%u ledger=%u", row->id, w->call.function,
             row->seq, p->draft.fee, row->submit_ledger);
}

/* Stores the envelope before it is sent: after a crash the next process sends the same bytes
 * again. */
static tide_status store_signed(struct att_work *w, struct preparation *p,
                                const uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    struct att_row *row = &w->row;
    assert(row->state == ATT_QUEUED && p->draft.max_time > 0);
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
    log_signed(w, p);
    return TIDE_OK;
}

/* Sets the code that the signer allows. Restoring code costs much, so another server must name
 * the same code before. */
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
        att_rpc_select_after_first(w->rpc);
        return postpone_row(w, p, turn, SOON_MS, "not_borne_out", err);
    }
    att_signer_allow_code(w->signer, p->view.has_code ? p->view.code : NULL);
    return TIDE_OK;
}

static tide_status sign_draft(struct att_work *w, struct preparation *p, enum att_turn *turn,
                              struct tide_err *err)
{
    assert(!w->dry && !w->foreign);
    assert(p->view.seq < INT64_MAX);
    struct att_row *row = &w->row;
    char quoted[300];
    /* The second check may have read a newer sequence number than the simulation used. */
    p->draft.seq = p->view.seq + 1;
    tide_buf_reset(&row->envelope);
    if (tide_envelope_put(&row->envelope, &p->draft) != TIDE_OK)
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
        refuse_answers(p, "policy", NULL);
        return TIDE_OK;
    }
    return status == TIDE_OK ? store_signed(w, p, hash, err) : status;
}

static void print_ready(const struct att_work *w, const struct preparation *p)
{
    printf("%" PRIu64 " %s: would be signed, for %u stroops at most\n", w->row.id, w->call.function,
           p->draft.fee);
}

/* Postpones the row until ledger time is past the end of an envelope that a person gave up.
 * Before that, the old envelope could still be included, and the decision would become two
 * transactions. */
static tide_status wait_for_old_envelope(struct att_work *w, struct preparation *p,
                                         enum att_turn *turn, struct tide_err *err)
{
    uint64_t now;
    if (!w->row.max_time)
        return TIDE_OK;
    tide_status status = work_chain_time(w, &now, err);
    if (status == TIDE_OK && now <= w->row.max_time)
        return postpone_row(w, p, turn, SOON_MS, "old_envelope", err);
    return status;
}

/* Prepares and signs the row by the answers of one server. A dry run stops before the signature. */
static tide_status prepare_with_server(struct att_work *w, struct preparation *p,
                                       enum att_turn *turn, struct tide_err *err)
{
    tide_status status = att_rpc_tip(w->rpc, &p->tip, err);
    (void)TIDE_FAILPOINT("attester.look");
    if (status == TIDE_OK)
        status = check_person(w, p, false, turn, err);
    if (status == TIDE_OK && !p->done)
        status = simulate_call(w, p, err);
    (void)TIDE_FAILPOINT("attester.simulated");
    if (status == TIDE_OK && !p->done)
        status = set_fee(w, p, turn, err);
    /* Read the entries again right before the signature: the person may have been suspended
     * since. */
    if (status == TIDE_OK && !p->done)
        status = check_person(w, p, true, turn, err);
    if (status != TIDE_OK || p->done)
        return status;
    if (w->dry)
        print_ready(w, p);
    return w->dry ? TIDE_OK : sign_draft(w, p, turn, err);
}

static bool is_unavailable(const struct preparation *p)
{
    return p->refused && strcmp(p->refused, SIMULATION_UNAVAILABLE) == 0;
}

/* Prepares the row with one server after the other, until one's answers are signed or two are
 * refused with a verdict: a server that lies or errs alone parks no row. A server that cannot
 * simulate is passed over. A single server is asked twice for its verdict. */
static tide_status prepare_with_any(struct att_work *w, struct preparation *p, enum att_turn *turn,
                                    struct tide_err *err)
{
    tide_status status = prepare_with_server(w, p, turn, err);
    uint32_t most = att_rpc_server_count(w->rpc) > 2 ? att_rpc_server_count(w->rpc) : 2;
    while (status == TIDE_OK && p->refused) {
        p->tries++;
        p->verdicts += !is_unavailable(p);
        assert(p->verdicts <= p->tries && p->tries <= most);
        if (p->verdicts == VERDICTS || p->tries == most)
            break;
        tide_log(TIDE_WARN, "attester.refused", "id=%" PRIu64 " why=%s detail=%s", w->row.id,
                 p->refused, p->detail ? p->detail : "none");
        bool another = att_rpc_exclude_current(w->rpc);
        if (!another)
            att_rpc_include_all(w->rpc);
        if (!another && (is_unavailable(p) || p->tries > 1))
            break;
        *p = (struct preparation){ .tries = p->tries, .verdicts = p->verdicts };
        status = prepare_with_server(w, p, turn, err);
    }
    att_rpc_include_all(w->rpc);
    return status;
}

/* Postpones the row by a pause that doubles; the next turn begins with another server. */
static tide_status wait_for_simulation(struct att_work *w, struct preparation *p,
                                       enum att_turn *turn, struct tide_err *err)
{
    assert(w->unavailable <= UNAVAILABLE_DOUBLINGS);
    uint32_t pause = (uint32_t)UNAVAILABLE_MS << w->unavailable;
    w->unavailable += w->unavailable < UNAVAILABLE_DOUBLINGS;
    att_rpc_select_next(w->rpc);
    return postpone_row(w, p, turn, pause, SIMULATION_UNAVAILABLE, err);
}

tide_status work_prepare(struct att_work *w, enum att_turn *turn, struct tide_err *err)
{
    assert(w->row.state == ATT_QUEUED && !w->foreign);
    struct preparation p = { 0 };
    tide_status status = wait_for_old_envelope(w, &p, turn, err);
    if (status != TIDE_OK || p.done)
        return status;
    if (!work_has_witness(w))
        return postpone_row(w, &p, turn, LATER_MS, "no_witness", err);
    status = prepare_with_any(w, &p, turn, err);
    if (status != TIDE_OK)
        return status;
    if (p.refused && p.verdicts < VERDICTS)
        return wait_for_simulation(w, &p, turn, err);
    if (p.refused)
        return work_park(w, p.refused, p.detail, err);
    if (p.done || w->dry)
        return TIDE_OK;
    *turn = ATT_TURN_WAIT;
    assert(w->row.state == ATT_SIGNED); /* sign_draft stored the envelope */
    return work_send(w, err);
}
