/* An envelope under way: what became of it. */
#include "api/attester/work_own.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"
#include "tidemark/tx.h"

enum { BUMP_FACTOR = 10, ATTEMPTS_MAX = 3 };

/* --- ends in a ledger ------------------------------------------------------------------------- */

static bool has_event(const struct att_work *w, const struct att_found *found)
{
    for (uint32_t i = 0; i < found->event_count; i++)
        if (att_event_is(found->events[i], w->call.contract, w->call.function, &w->words))
            return true;
    return false;
}

/* The last look before the signature cannot see what the same ledger did just before the call. */
static const char *overwrote(const struct att_work *w, const struct att_found *found)
{
    struct att_before before;
    struct tide_err err;
    tide_status status = att_view_before(&before, found->meta, w->call.contract, &w->words, &err);
    return att_decide_overwrote(w->row.revoke, status == TIDE_OK ? &before : NULL);
}

/* It stands in a ledger; that it did what was meant is its event's word, or the entries'. */
static tide_status succeed(struct att_work *w, const struct att_found *found, struct tide_err *err)
{
    static const struct att_next restored = { .step = ATT_STEP_REQUEUE, .why = "restored" };
    struct att_view view;
    bool parked;
    if (w->row.restore)
        return work_requeue(w, &restored, err);
    const char *attention = overwrote(w, found);
    if (has_event(w, found))
        return work_confirm(w, found->ledger, "SUCCESS", attention, err);
    uint32_t ledger = found->ledger;
    tide_status status = work_view(w, &view, &parked, err);
    if (status != TIDE_OK || parked)
        return status;
    if (w->row.revoke ? !view.kyc_ours : view.kyc_same)
        return work_confirm(w, ledger, "SUCCESS", attention, err);
    return work_park(w, "unverified", "SUCCESS", err);
}

/* An entry lapsed between simulation and ledger: the next simulation lists it. */
static bool is_archived(const char *word)
{
    return strcmp(word, "storage:InvalidAction") == 0 || strcmp(word, "failed:-4") == 0;
}

static tide_status fail(struct att_work *w, const struct att_found *found, struct tide_err *err)
{
    static const struct att_next archived = { .step = ATT_STEP_REQUEUE, .why = "archived" };
    char word[ATT_WORD_BYTES] = "";
    for (uint32_t i = 0; i < found->diagnostic_count && !word[0]; i++)
        if (!att_error_of_event(word, found->diagnostics[i]))
            word[0] = 0;
    if (!word[0])
        att_error_of_result(word, found->result);
    if (is_archived(word) && w->row.attempts < ATTEMPTS_MAX)
        return work_requeue(w, &archived, err);
    return work_park(w, word, "FAILED", err);
}

/* --- a fee bump ------------------------------------------------------------------------------- */

/* Stroops in all that replace the inner transaction where it still waits: ten times its bid, for
 * two operations instead of one. 0: more than may be paid. */
static int64_t bump_fee(const struct att_work *w, int64_t inclusion, int64_t resources, int64_t bid)
{
    int64_t most = att_signer_policy(w->signer)->fee_max;
    int64_t least = 2 * BUMP_FACTOR * inclusion + resources;
    int64_t wanted = 2 * bid + resources;
    if (least > most)
        return 0;
    return wanted < least ? least : wanted > most ? most : wanted;
}

/* As it is: no bump can be paid, or signed. */
static tide_status send_unbumped(struct att_work *w, struct tide_err *err)
{
    return w->row.sent_ledger < att_rpc_latest(w->rpc) ? work_send(w, err) : TIDE_OK;
}

static tide_status bump(struct att_work *w, const struct att_next *next, struct tide_err *err)
{
    struct att_row *row = &w->row;
    struct tide_envelope e;
    struct tide_xdr x;
    uint8_t hash[TIDE_HASH_BYTES];
    int64_t bid;
    if (w->foreign)
        return send_unbumped(w, err);
    tide_status status = att_rpc_fee(w->rpc, &bid, err);
    if (status != TIDE_OK)
        return status;
    if (tide_envelope_read(&e, tide_buf_view(&row->envelope), &x) != TIDE_OK)
        return work_park(w, "bad_envelope", NULL, err);
    int64_t fee = bump_fee(w, e.fee - e.resource_fee, e.resource_fee, bid);
    if (!fee) {
        tide_log(TIDE_WARN, "attester.fee_ceiling", "id=%" PRIu64 " why=%s", row->id, next->why);
        return send_unbumped(w, err);
    }
    tide_buf_reset(&row->bump);
    if (att_put_bump(&row->bump, tide_buf_view(&row->envelope), att_signer_public(w->signer),
                     fee) != TIDE_OK)
        status = tide_fail(err, TIDE_E_MEMORY, "no memory");
    if (status == TIDE_OK)
        status = att_sign(w->signer, &row->bump, row->restore ? NULL : &w->call, hash, err);
    if (status != TIDE_OK) /* the inner one may still come: it is not left */
        return tide_fail_context(err, "a fee bump");
    (void)TIDE_FAILPOINT("attester.bump");
    status = att_outbox_bumped(w->outbox, row, fee, hash, err);
    (void)TIDE_FAILPOINT("attester.bumped");
    if (status != TIDE_OK)
        return status;
    row->bumped = true;
    tide_log(TIDE_WARN, "attester.bumped", "id=%" PRIu64 " why=%s fee=%" PRId64, row->id, next->why,
             fee);
    return work_send(w, err);
}

/* --- not found -------------------------------------------------------------------------------- */

static struct att_flight flight_of(const struct att_work *w)
{
    const struct att_row *row = &w->row;
    return (struct att_flight){ .revoke = row->revoke,
                                .restore = row->restore,
                                .submitted = row->state == ATT_SUBMITTED,
                                .bumped = row->bumped,
                                .seq = row->seq,
                                .max_time = row->max_time,
                                .submit_ledger = row->submit_ledger,
                                .sent_ledger = row->sent_ledger,
                                .bad_seq = row->bad_seq,
                                .attempts = row->attempts,
                                .code = att_code_of(row->last_status) };
}

/* Whatever happened to the person since the signature: what would overwrite it is not sent again.
 * It may still come; once it cannot, the intent is queued anew, and parked there. */
static tide_status is_held(struct att_work *w, bool *held, struct tide_err *err)
{
    struct att_view view;
    *held = false;
    if (w->row.restore)
        return TIDE_OK;
    tide_status status = work_look(w, &view, err);
    if (status != TIDE_OK && status != TIDE_E_DECODE)
        return status;
    struct att_next now = { .step = ATT_STEP_PARK, .why = "undecodable" };
    if (status == TIDE_OK)
        now = att_decide_view(w->row.revoke, &view, w->row.expires_at, 0);
    *held = now.step == ATT_STEP_PARK;
    if (!*held)
        return TIDE_OK;
    tide_log(TIDE_WARN, "attester.held", "id=%" PRIu64 " why=%s", w->row.id,
             now.detail ? now.detail : now.why);
    w->row.sent_ledger = att_rpc_latest(w->rpc);
    return att_outbox_sent(w->outbox, &w->row, false, "held", err);
}

static tide_status send_again(struct att_work *w, const struct att_next *next, struct tide_err *err)
{
    bool held;
    tide_status status = is_held(w, &held, err);
    if (status != TIDE_OK || held)
        return status;
    return next->step == ATT_STEP_BUMP ? bump(w, next, err) : work_send(w, err);
}

static tide_status act(struct att_work *w, const struct att_next *next, uint32_t ledger,
                       enum att_turn *turn, struct tide_err *err)
{
    switch (next->step) {
    case ATT_STEP_SEND:
    case ATT_STEP_BUMP:
        *turn = ATT_TURN_WAIT;
        return w->dry ? TIDE_OK : send_again(w, next, err);
    case ATT_STEP_REQUEUE:
        return work_requeue(w, next, err);
    case ATT_STEP_CONFIRM:
        return work_confirm(w, ledger, next->why, "unchecked", err);
    case ATT_STEP_PARK:
        if (next->clash)
            tide_log(TIDE_ERROR, "attester.alarm", "what=key_in_use times=%u", w->row.bad_seq + 1);
        return work_park(w, next->why, next->detail, err);
    case ATT_STEP_WAIT:
    case ATT_STEP_LOOK:
    case ATT_STEP_PREPARE:
        break;
    }
    *turn = ATT_TURN_WAIT;
    return TIDE_OK;
}

static tide_status resolve(struct att_work *w, const struct att_found *found, enum att_turn *turn,
                           struct tide_err *err);

/* The entries first, then the transaction once more: a ledger between the two would show it. */
static tide_status look(struct att_work *w, const struct att_flight *flight, enum att_turn *turn,
                        struct tide_err *err)
{
    struct att_view view;
    struct att_found found;
    tide_status status = work_look(w, &view, err);
    bool readable = status != TIDE_E_DECODE;
    if (status != TIDE_OK && readable)
        return status;
    status = att_rpc_find(w->rpc, &found, w->row.hash, err);
    if (status != TIDE_OK)
        return status;
    if (found.status != ATT_NOT_FOUND)
        return resolve(w, &found, turn, err);
    if (!readable) {
        struct att_next unread = att_decide_unread(flight, &found);
        return act(w, &unread, 0, turn, err);
    }
    struct att_next next = att_decide_ended(flight, &found, &view);
    return act(w, &next, view.kyc ? view.kyc_ledger : view.ledger, turn, err);
}

static tide_status resolve(struct att_work *w, const struct att_found *found, enum att_turn *turn,
                           struct tide_err *err)
{
    const uint8_t *network = att_signer_policy(w->signer)->network_id;
    if (found->status != ATT_NOT_FOUND && !att_envelope_is(found->envelope, network, w->row.hash))
        return att_rpc_distrust(w->rpc, "getTransaction: told of another transaction", err);
    if (found->status == ATT_SUCCESS)
        return succeed(w, found, err);
    if (found->status == ATT_FAILED)
        return fail(w, found, err);
    struct att_flight flight = flight_of(w);
    struct att_next next = att_decide_missing(&flight, found);
    return next.step == ATT_STEP_LOOK ? look(w, &flight, turn, err) : act(w, &next, 0, turn, err);
}

tide_status work_follow(struct att_work *w, enum att_turn *turn, struct tide_err *err)
{
    struct att_found found;
    tide_status status = att_rpc_find(w->rpc, &found, w->row.hash, err);
    (void)TIDE_FAILPOINT("attester.found");
    return status == TIDE_OK ? resolve(w, &found, turn, err) : status;
}
