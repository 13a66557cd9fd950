/* An envelope under way: find its result, and act on it. */
#include "api/attester/work_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"
#include "tidemark/tx.h"

enum { BUMP_FACTOR = 10, ATTEMPTS_MAX = 3 };

/* The result of the envelope according to one source (the index or a server), and the step that
 * follows. */
struct outcome {
    struct att_next next;
    bool in_ledger; /* a ledger includes the transaction */
    /* ledger that includes the transaction, otherwise the ledger whose entries confirm the
     * intent */
    uint32_t ledger;
    /* status that the attestation overwrote, or "unchecked"; NULL: nothing to attend to */
    const char *attention;
    int64_t fee;  /* stroops that were charged; -1: unknown */
    bool doubted; /* no other server confirmed it; the next turn begins with another server */
    char error_name[ATT_ERROR_NAME_BYTES];  /* failed call: the reason to park the row */
    char result_name[ATT_ERROR_NAME_BYTES]; /* failed call: the operation's result; "": unknown */
};

#define NEXT(s, ...) ((struct att_next){ .step = ATT_STEP_##s, __VA_ARGS__ })

/* Returns whether the step ends the envelope. The other steps are repeated in later turns and cost
 * nothing, so the word of one server suffices for them. */
static bool is_final(const struct outcome *f)
{
    enum att_step step = f->next.step;
    return step == ATT_STEP_REQUEUE || step == ATT_STEP_CONFIRM || step == ATT_STEP_PARK;
}

/* --- included in a ledger --------------------------------------------------------------------- */

/* Returns whether the transaction emitted the event of the intent's call. */
static bool has_event(const struct att_work *w, const struct tide_rpc_found *found)
{
    for (uint32_t i = 0; i < found->event_count; i++)
        if (att_event_is(found->events[i], w->call.contract, w->call.function, &w->claim))
            return true;
    return false;
}

/* Returns the status that the transaction overwrote. The check before the signature cannot see a
 * suspension in the same ledger just before the call; the transaction's own changes show it. */
static const char *overwritten_status(const struct att_work *w, const struct tide_rpc_found *found)
{
    struct att_before before;
    struct tide_err err;
    tide_status status = att_view_before(&before, found->meta, w->call.contract, &w->claim, &err);
    return att_decide_overwrote(w->row.revoke, status == TIDE_OK ? &before : NULL);
}

/* Reads the result of a successful transaction. Success alone is no proof of the intended
 * change: the event must show it, else the entries. */
static tide_status read_success(struct att_work *w, const struct tide_rpc_found *found,
                                struct outcome *f, struct tide_err *err)
{
    assert(found->status == TIDE_RPC_SUCCESS);
    struct att_view view;
    f->fee = found->fee;
    f->in_ledger = true;
    f->ledger = found->ledger;
    f->attention = overwritten_status(w, found);
    f->next = NEXT(CONFIRM, .why = "SUCCESS");
    if (has_event(w, found))
        return TIDE_OK;
    tide_status status = work_read_view(w, &view, err);
    bool meant = status == TIDE_OK && (w->row.revoke ? !view.kyc_ours : view.kyc_same);
    if (!meant)
        f->next = NEXT(PARK, .why = "unverified", .detail = "SUCCESS");
    return status == TIDE_E_DECODE ? TIDE_OK : status;
}

/* True if an entry was archived between simulation and ledger. A new simulation lists the entry
 * for restoration. The result decides: the diagnostic event, whose words are core's own, has
 * "value:InvalidInput" for this and for other errors. */
static bool is_archived(const struct outcome *f)
{
    return strcmp(f->result_name, "failed:-4") == 0;
}

/* True if the failure follows only from a wrong simulation: budget, footprint, or resources.
 * Another server simulates next. */
static bool is_simulation_fault(const struct att_work *w, const struct outcome *f)
{
    return att_rpc_server_count(w->rpc) > 1 &&
           (strncmp(f->error_name, "budget:", 7) == 0 ||
            strncmp(f->error_name, "storage:", 8) == 0 ||
            strcmp(f->result_name, "failed:-3") == 0 || strcmp(f->result_name, "failed:-5") == 0);
}

/* A failed call is parked unless a new simulation can help; at most ATTEMPTS_MAX envelopes. */
static void decide_failure(struct att_work *w, struct outcome *f)
{
    assert(f->error_name[0]); /* a row is parked for a reason */
    bool again = is_archived(f) || is_simulation_fault(w, f);
    f->next = again && w->row.attempts < ATTEMPTS_MAX
                  ? NEXT(REQUEUE, .why = is_archived(f) ? "archived" : "misled")
                  : NEXT(PARK, .why = f->error_name, .detail = "FAILED");
}

/* Reads the result of a failed transaction, and the name of its error from diagnostic events.
 * Servers may leave those out: then the result is the name. */
static void read_failure(struct att_work *w, const struct tide_rpc_found *found, struct outcome *f)
{
    assert(found->status == TIDE_RPC_FAILED);
    f->fee = found->fee;
    f->in_ledger = true;
    f->ledger = found->ledger;
    for (uint32_t i = 0; i < found->diagnostic_count && !f->error_name[0]; i++)
        if (!att_error_of_event(f->error_name, found->diagnostics[i]))
            f->error_name[0] = 0;
    att_error_of_result(f->result_name, found->result);
    if (!f->error_name[0])
        memcpy(f->error_name, f->result_name, sizeof f->error_name);
    decide_failure(w, f);
}

/* --- a fee bump ------------------------------------------------------------------------------- */

/* Returns the total fee of a bump in stroops; 0 if it exceeds fee_max, or if the stored envelope
 * has no fee. Core replaces a waiting transaction only for ten times its inclusion fee, and a bump
 * counts as two operations. */
static int64_t bump_fee(const struct att_work *w, int64_t inclusion, int64_t resources, int64_t bid)
{
    int64_t most = att_signer_policy(w->signer)->fee_max;
    int64_t least = (int64_t)2 * BUMP_FACTOR * inclusion + resources;
    int64_t wanted = 2 * bid + resources;
    if (least > most || least <= 0)
        return 0;
    return wanted < least ? least : wanted > most ? most : wanted;
}

/* Sends the envelope as it is, once for each ledger: a bump cannot be paid or signed. */
static tide_status send_unbumped(struct att_work *w, struct tide_err *err)
{
    return w->row.sent_ledger < att_rpc_latest(w->rpc) ? work_send(w, err) : TIDE_OK;
}

/* Stores a fee bump before it is sent. The inner envelope stays valid, so both may be in queues,
 * but the network applies only one of them: they share the sequence number. */
static tide_status send_bump(struct att_work *w, const struct att_next *next, struct tide_err *err)
{
    assert(!w->row.bumped && next->step == ATT_STEP_BUMP);
    struct att_row *row = &w->row;
    struct tide_envelope e;
    struct tide_xdr x;
    uint8_t hash[TIDE_HASH_BYTES];
    int64_t bid;
    /* Only the key that signed the envelope could pay for its bump. */
    if (w->foreign)
        return send_unbumped(w, err);
    tide_status status = att_rpc_fee(w->rpc, &bid, err);
    if (status != TIDE_OK)
        return status;
    if (tide_envelope_read(&e, tide_buf_view(&row->envelope), &x) != TIDE_OK)
        return work_park(w, "bad_envelope", NULL, err);
    bool within = true;
    int64_t fee = bump_fee(w, e.fee - e.resource_fee, e.resource_fee, bid);
    if (fee)
        status = work_within_budget(w, fee - e.fee, &within, err);
    if (status != TIDE_OK)
        return status;
    if (!fee || !within) {
        tide_log(TIDE_WARN, "attester.fee_ceiling", "id=%" PRIu64 " why=%s", row->id, next->why);
        return send_unbumped(w, err);
    }
    tide_buf_reset(&row->bump);
    if (tide_envelope_put_bump(&row->bump, tide_buf_view(&row->envelope),
                               att_signer_public(w->signer), fee) != TIDE_OK)
        status = tide_fail(err, TIDE_E_MEMORY, "no memory");
    if (status == TIDE_OK)
        status = att_sign(w->signer, &row->bump, &w->call, hash, err);
    if (status != TIDE_OK) /* the inner envelope may still be included: go on with it */
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

/* Checks the person again before a second sending. If the entries now forbid the call, the
 * envelope is not sent again; *forbidden is true then. The envelope may still be included. Once
 * that is impossible, the row is queued again, and parked by the check of queued rows. */
static tide_status hold_if_forbidden(struct att_work *w, bool *forbidden, struct tide_err *err)
{
    struct att_view view;
    *forbidden = false;
    tide_status status = work_read_view(w, &view, err);
    if (status != TIDE_OK && status != TIDE_E_DECODE)
        return status;
    att_signer_allow_code(w->signer, status == TIDE_OK && view.has_code ? view.code : NULL);
    struct att_next now = { .step = ATT_STEP_PARK, .why = "undecodable" };
    if (status == TIDE_OK)
        now = att_decide_view(w->row.revoke, &view, w->row.expires_at, 0);
    *forbidden = now.step == ATT_STEP_PARK;
    if (!*forbidden)
        return TIDE_OK;
    tide_log(TIDE_WARN, "attester.held", "id=%" PRIu64 " why=%s", w->row.id,
             now.detail ? now.detail : now.why);
    return work_note_sent(w, false, "held", err);
}

/* Sends the envelope or its bump, unless the entries now forbid it. */
static tide_status send_again(struct att_work *w, const struct att_next *next, struct tide_err *err)
{
    bool forbidden;
    tide_status status = hold_if_forbidden(w, &forbidden, err);
    if (status != TIDE_OK || forbidden)
        return status;
    return next->step == ATT_STEP_BUMP ? send_bump(w, next, err) : work_send(w, err);
}

/* --- the result according to a server --------------------------------------------------------- */

static tide_status read_transaction(struct att_work *w, const struct tide_rpc_found *found,
                                    struct outcome *f, struct tide_err *err);

/* Decides by the entries, then asks for the transaction once more. In the other order, a ledger
 * closed between the two calls would hide its transaction. */
static tide_status read_entries(struct att_work *w, const struct att_flight *flight,
                                struct outcome *f, struct tide_err *err)
{
    struct att_view view;
    struct tide_rpc_found found;
    tide_status status = work_read_view(w, &view, err);
    bool readable = status != TIDE_E_DECODE;
    if (status != TIDE_OK && readable)
        return status;
    status = att_rpc_find(w->rpc, &found, w->row.hash, err);
    if (status != TIDE_OK)
        return status;
    if (found.status != TIDE_RPC_NOT_FOUND)
        return read_transaction(w, &found, f, err);
    f->next =
        readable ? att_decide_ended(flight, &found, &view) : att_decide_unread(flight, &found);
    f->ledger = readable && view.kyc ? view.kyc_ledger : found.latest;
    f->attention = "unchecked";
    return TIDE_OK;
}

static tide_status read_transaction(struct att_work *w, const struct tide_rpc_found *found,
                                    struct outcome *f, struct tide_err *err)
{
    const uint8_t *network = att_signer_policy(w->signer)->network_id;
    if (found->status != TIDE_RPC_NOT_FOUND &&
        !att_envelope_is(found->envelope, network, w->row.hash))
        return att_rpc_distrust(w->rpc, "getTransaction: the answer has another transaction", err);
    if (found->status == TIDE_RPC_SUCCESS)
        return read_success(w, found, f, err);
    if (found->status == TIDE_RPC_FAILED) {
        read_failure(w, found, f);
        return TIDE_OK;
    }
    struct att_flight flight = flight_of(w);
    f->next = att_decide_missing(&flight, found);
    return f->next.step == ATT_STEP_READ_VIEW ? read_entries(w, &flight, f, err) : TIDE_OK;
}

static tide_status read_from_server(struct att_work *w, struct outcome *f, struct tide_err *err)
{
    struct tide_rpc_found found;
    *f = (struct outcome){ .fee = -1 };
    tide_status status = att_rpc_find(w->rpc, &found, w->row.hash, err);
    (void)TIDE_FAILPOINT("attester.found");
    return status == TIDE_OK ? read_transaction(w, &found, f, err) : status;
}

/* True if two servers report the same result; fees and errors may differ in detail. */
static bool same_outcome(const struct outcome *a, const struct outcome *b)
{
    assert(a->next.why && b->next.why);
    return a->next.step == b->next.step && strcmp(a->next.why, b->next.why) == 0 &&
           a->in_ledger == b->in_ledger && (!a->in_ledger || a->ledger == b->ledger);
}

/* Asks a server. If the step that follows from its answer ends the envelope, asks further servers
 * until one reports the same; if none does, the step becomes WAIT. */
static tide_status read_from_servers(struct att_work *w, struct outcome *f, struct tide_err *err)
{
    struct outcome other;
    bool agreed = false;
    tide_status status = read_from_server(w, f, err);
    while (status == TIDE_OK && is_final(f) && !agreed && att_rpc_exclude_current(w->rpc)) {
        status = read_from_server(w, &other, err);
        agreed = status == TIDE_OK && same_outcome(f, &other);
    }
    att_rpc_include_all(w->rpc);
    if (status != TIDE_OK || !is_final(f))
        return status;
    if (!agreed) {
        tide_log(TIDE_WARN, "attester.not_borne_out", "id=%" PRIu64 " why=%s", w->row.id,
                 f->next.why);
        att_rpc_select_after_first(w->rpc);
        f->next = NEXT(WAIT, .why = "not_borne_out");
        f->doubted = true;
        return TIDE_OK;
    }
    /* Two servers that agree on the end but not on the overwritten status need a person's check.
     * Only a fee that both report is charged. */
    if (f->attention && !other.attention)
        f->attention = "unchecked";
    else if (!f->attention)
        f->attention = other.attention ? "unchecked" : NULL;
    if (f->fee != other.fee)
        f->fee = -1;
    return TIDE_OK;
}

/* --- the result according to the index -------------------------------------------------------- */

/* Reads the error of a transaction that failed according to the index. A server may add the
 * contract's error; without it, the result code is the reason. */
static tide_status read_indexed_failure(struct att_work *w, const struct att_indexed *indexed,
                                        struct outcome *f, struct tide_err *err)
{
    struct tide_rpc_found found;
    tide_status status = att_rpc_find(w->rpc, &found, w->row.hash, err);
    if (status == TIDE_OK && found.status == TIDE_RPC_FAILED)
        read_failure(w, &found, f);
    else
        snprintf(f->error_name, sizeof f->error_name, "%s", att_code_name(indexed->code));
    f->fee = indexed->fee;
    decide_failure(w, f);
    return status == TIDE_E_IO ? TIDE_OK : status;
}

/* Decides about an envelope that no ledger includes although one closed after its end: it can no
 * longer be applied. Whether its sequence number was used is one server's claim; an error there
 * costs one attempt. */
static tide_status decide_expired(struct att_work *w, struct outcome *f, struct tide_err *err)
{
    struct att_view view;
    struct att_flight flight = flight_of(w);
    const struct tide_rpc_found found = { .status = TIDE_RPC_NOT_FOUND,
                                          .latest = w->index.ledger,
                                          .close_time = w->index.closed_at };
    f->fee = 0;
    tide_status status = work_read_view(w, &view, err);
    if (status == TIDE_E_DECODE) {
        f->next = att_decide_unread(&flight, &found);
        return TIDE_OK;
    }
    if (status == TIDE_OK)
        status = att_index_view(&view, w->outbox, w->call.contract, &w->claim, err);
    if (status != TIDE_OK)
        return status;
    view.ledger = found.latest;
    f->next = att_decide_ended(&flight, &found, &view);
    f->ledger = view.kyc ? view.kyc_ledger : view.ledger;
    f->attention = "unchecked";
    return TIDE_OK;
}

/* Reads the result from the index. *f stays at WAIT while neither a transaction nor an expiry is
 * indexed. */
static tide_status read_from_index(struct att_work *w, struct outcome *f, struct tide_err *err)
{
    struct att_indexed indexed;
    *f = (struct outcome){ .next = NEXT(WAIT, .why = "not_indexed"), .fee = -1 };
    tide_status status =
        att_index_find(&indexed, w->outbox, &w->row, w->call.contract, &w->claim, err);
    if (status != TIDE_OK)
        return status;
    if (!indexed.found)
        return w->index.closed_at > w->row.max_time ? decide_expired(w, f, err) : TIDE_OK;
    f->ledger = indexed.ledger;
    f->fee = indexed.fee;
    if (!indexed.ok)
        return read_indexed_failure(w, &indexed, f, err);
    f->next = indexed.as_meant ? NEXT(CONFIRM, .why = "SUCCESS")
                               : NEXT(PARK, .why = "unverified", .detail = "SUCCESS");
    f->attention = att_decide_overwrote(w->row.revoke, &indexed.before);
    return TIDE_OK;
}

/* Follows the transaction in the index, which alone can end the envelope. A server decides only the
 * steps that cost little. It is paused if it reports that the transaction is in a ledger which the
 * index has without that transaction. */
static tide_status read_from_both(struct att_work *w, struct outcome *f, struct tide_err *err)
{
    struct outcome reported;
    tide_status status = read_from_index(w, f, err);
    if (status != TIDE_OK || is_final(f))
        return status;
    status = read_from_server(w, &reported, err);
    if (status == TIDE_OK && !is_final(&reported))
        *f = reported;
    else if (status == TIDE_OK && reported.in_ledger && reported.ledger <= w->index.ledger)
        status = att_rpc_distrust(w->rpc,
                                  "getTransaction: the index has that ledger, without the"
                                  " transaction",
                                  err);
    return status;
}

/* --- the step --------------------------------------------------------------------------------- */

/* Takes the step. If the envelope stays under way, the next turn begins with another server, so
 * that one server which always answers "wait" cannot hide the others. */
static tide_status apply_outcome(struct att_work *w, const struct outcome *f, enum att_turn *turn,
                                 struct tide_err *err)
{
    const struct att_next *next = &f->next;
    assert(next->why);
    tide_status status = TIDE_OK;
    if (is_final(f) && f->fee >= 0)
        status = work_charge(w, f->fee, err);
    if (status != TIDE_OK)
        return status;
    switch (next->step) {
    case ATT_STEP_SEND:
    case ATT_STEP_BUMP:
        *turn = ATT_TURN_WAIT;
        status = w->dry ? TIDE_OK : send_again(w, next, err);
        att_rpc_select_next(w->rpc);
        return status;
    case ATT_STEP_REQUEUE:
        att_rpc_select_next(w->rpc); /* the next attempt begins with another server */
        return work_requeue(w, next, err);
    case ATT_STEP_CONFIRM:
        return work_confirm(w, f->ledger, next->why, f->attention, err);
    case ATT_STEP_PARK:
        if (next->clash)
            tide_log(TIDE_ERROR, "attester.alarm", "what=key_in_use times=%u", w->row.bad_seq + 1);
        return work_park(w, next->why, next->detail, err);
    case ATT_STEP_WAIT:
    case ATT_STEP_READ_VIEW:
    case ATT_STEP_PREPARE:
        break;
    }
    *turn = ATT_TURN_WAIT;
    if (!f->doubted)
        att_rpc_select_next(w->rpc);
    return TIDE_OK;
}

tide_status work_follow(struct att_work *w, enum att_turn *turn, struct tide_err *err)
{
    assert(w->row.state != ATT_QUEUED);
    struct outcome outcome;
    tide_status status =
        w->index.follows ? read_from_both(w, &outcome, err) : read_from_servers(w, &outcome, err);
    return status == TIDE_OK ? apply_outcome(w, &outcome, turn, err) : status;
}
