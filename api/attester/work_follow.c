/* An envelope under way: what became of it. */
#include "api/attester/work_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"
#include "tidemark/tx.h"

enum { BUMP_FACTOR = 10, ATTEMPTS_MAX = 3 };

/* What one witness says became of the envelope, and what follows from it. */
struct fate {
    struct att_next next;
    bool in_ledger;        /* it stands in one */
    uint32_t ledger;       /* that one; of a confirmation without: of what confirms it */
    const char *attention; /* likewise */
    int64_t fee;           /* charged, stroops; -1: not known */
    bool doubted;          /* no other server says so: the next one is asked first already */
    char word[ATT_WORD_BYTES];
};

#define FATE(s, ...) ((struct att_next){ .step = ATT_STEP_##s, __VA_ARGS__ })

/* The rest goes on by itself: it is asked again, and costs nothing. */
static bool is_final(const struct fate *f)
{
    enum att_step step = f->next.step;
    return step == ATT_STEP_REQUEUE || step == ATT_STEP_CONFIRM || step == ATT_STEP_PARK;
}

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
static tide_status succeed(struct att_work *w, const struct att_found *found, struct fate *f,
                           struct tide_err *err)
{
    struct att_view view;
    f->fee = found->fee;
    f->in_ledger = true;
    f->ledger = found->ledger;
    f->attention = overwrote(w, found);
    f->next = FATE(CONFIRM, .why = "SUCCESS");
    if (has_event(w, found))
        return TIDE_OK;
    tide_status status = work_look(w, &view, err);
    bool meant = status == TIDE_OK && (w->row.revoke ? !view.kyc_ours : view.kyc_same);
    if (!meant)
        f->next = FATE(PARK, .why = "unverified", .detail = "SUCCESS");
    return status == TIDE_E_DECODE ? TIDE_OK : status;
}

/* An entry lapsed between simulation and ledger: the next simulation lists it. */
static bool is_archived(const char *word)
{
    return strcmp(word, "storage:InvalidAction") == 0 || strcmp(word, "failed:-4") == 0;
}

/* What only a wrong simulation leads to: another server simulates next. */
static bool is_misled(const struct att_work *w, const char *word)
{
    return att_rpc_servers(w->rpc) > 1 &&
           (strncmp(word, "budget:", 7) == 0 || strncmp(word, "storage:", 8) == 0 ||
            strcmp(word, "failed:-3") == 0 || strcmp(word, "failed:-5") == 0);
}

static void fail_with(struct att_work *w, struct fate *f)
{
    bool again = is_archived(f->word) || is_misled(w, f->word);
    f->next = again && w->row.attempts < ATTEMPTS_MAX
                  ? FATE(REQUEUE, .why = is_archived(f->word) ? "archived" : "misled")
                  : FATE(PARK, .why = f->word, .detail = "FAILED");
}

static void fail(struct att_work *w, const struct att_found *found, struct fate *f)
{
    f->fee = found->fee;
    f->in_ledger = true;
    f->ledger = found->ledger;
    for (uint32_t i = 0; i < found->diagnostic_count && !f->word[0]; i++)
        if (!att_error_of_event(f->word, found->diagnostics[i]))
            f->word[0] = 0;
    if (!f->word[0])
        att_error_of_result(f->word, found->result);
    fail_with(w, f);
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
    bool affords = true;
    int64_t fee = bump_fee(w, e.fee - e.resource_fee, e.resource_fee, bid);
    if (fee)
        status = work_affords(w, fee - e.fee, &affords, err);
    if (status != TIDE_OK)
        return status;
    if (!fee || !affords) {
        tide_log(TIDE_WARN, "attester.fee_ceiling", "id=%" PRIu64 " why=%s", row->id, next->why);
        return send_unbumped(w, err);
    }
    tide_buf_reset(&row->bump);
    if (att_put_bump(&row->bump, tide_buf_view(&row->envelope), att_signer_public(w->signer),
                     fee) != TIDE_OK)
        status = tide_fail(err, TIDE_E_MEMORY, "no memory");
    if (status == TIDE_OK)
        status = att_sign(w->signer, &row->bump, &w->call, hash, err);
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
    tide_status status = work_look(w, &view, err);
    if (status != TIDE_OK && status != TIDE_E_DECODE)
        return status;
    att_signer_allow_code(w->signer, status == TIDE_OK && view.has_code ? view.code : NULL);
    struct att_next now = { .step = ATT_STEP_PARK, .why = "undecodable" };
    if (status == TIDE_OK)
        now = att_decide_view(w->row.revoke, &view, w->row.expires_at, 0);
    *held = now.step == ATT_STEP_PARK;
    if (!*held)
        return TIDE_OK;
    tide_log(TIDE_WARN, "attester.held", "id=%" PRIu64 " why=%s", w->row.id,
             now.detail ? now.detail : now.why);
    w->row.sent_ledger = att_rpc_newest(w->rpc);
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

/* --- what a server says ----------------------------------------------------------------------- */

static tide_status resolve(struct att_work *w, const struct att_found *found, struct fate *f,
                           struct tide_err *err);

/* The entries first, then the transaction once more: a ledger between the two would show it. */
static tide_status look(struct att_work *w, const struct att_flight *flight, struct fate *f,
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
        return resolve(w, &found, f, err);
    f->next =
        readable ? att_decide_ended(flight, &found, &view) : att_decide_unread(flight, &found);
    f->ledger = readable && view.kyc ? view.kyc_ledger : found.latest;
    f->attention = "unchecked";
    return TIDE_OK;
}

static tide_status resolve(struct att_work *w, const struct att_found *found, struct fate *f,
                           struct tide_err *err)
{
    const uint8_t *network = att_signer_policy(w->signer)->network_id;
    if (found->status != ATT_NOT_FOUND && !att_envelope_is(found->envelope, network, w->row.hash))
        return att_rpc_distrust(w->rpc, "getTransaction: told of another transaction", err);
    if (found->status == ATT_SUCCESS)
        return succeed(w, found, f, err);
    if (found->status == ATT_FAILED) {
        fail(w, found, f);
        return TIDE_OK;
    }
    struct att_flight flight = flight_of(w);
    f->next = att_decide_missing(&flight, found);
    return f->next.step == ATT_STEP_LOOK ? look(w, &flight, f, err) : TIDE_OK;
}

static tide_status ask_server(struct att_work *w, struct fate *f, struct tide_err *err)
{
    struct att_found found;
    *f = (struct fate){ .fee = -1 };
    tide_status status = att_rpc_find(w->rpc, &found, w->row.hash, err);
    (void)TIDE_FAILPOINT("attester.found");
    return status == TIDE_OK ? resolve(w, &found, f, err) : status;
}

static bool same_fate(const struct fate *a, const struct fate *b)
{
    return a->next.step == b->next.step && strcmp(a->next.why, b->next.why) == 0 &&
           a->in_ledger == b->in_ledger && (!a->in_ledger || a->ledger == b->ledger);
}

/* An end needs a second server that says the same. */
static tide_status ask_servers(struct att_work *w, struct fate *f, struct tide_err *err)
{
    struct fate other;
    bool agreed = false;
    tide_status status = ask_server(w, f, err);
    while (status == TIDE_OK && is_final(f) && !agreed && att_rpc_second(w->rpc)) {
        status = ask_server(w, &other, err);
        agreed = status == TIDE_OK && same_fate(f, &other);
    }
    att_rpc_any(w->rpc);
    if (status != TIDE_OK || !is_final(f))
        return status;
    if (!agreed) {
        tide_log(TIDE_WARN, "attester.not_borne_out", "id=%" PRIu64 " why=%s", w->row.id,
                 f->next.why);
        att_rpc_doubt(w->rpc);
        f->next = FATE(WAIT, .why = "not_borne_out");
        f->doubted = true;
        return TIDE_OK;
    }
    if (f->attention && !other.attention)
        f->attention = "unchecked";
    else if (!f->attention)
        f->attention = other.attention ? "unchecked" : NULL;
    if (f->fee != other.fee)
        f->fee = -1;
    return TIDE_OK;
}

/* --- what the index says ---------------------------------------------------------------------- */

/* A server may know why the contract refused; that it failed is the index's word. */
static tide_status fail_indexed(struct att_work *w, const struct att_indexed *indexed,
                                struct fate *f, struct tide_err *err)
{
    struct att_found found;
    tide_status status = att_rpc_find(w->rpc, &found, w->row.hash, err);
    if (status == TIDE_OK && found.status == ATT_FAILED)
        fail(w, &found, f);
    else
        snprintf(f->word, sizeof f->word, "%s", att_code_name(indexed->code));
    f->fee = indexed->fee;
    fail_with(w, f);
    return status == TIDE_E_IO ? TIDE_OK : status;
}

/* A ledger behind its last moment is there, and it is in none: it cannot come any more. Whether its
 * number was used is a server's word; wrong, it costs an attempt. */
static tide_status end_indexed(struct att_work *w, struct fate *f, struct tide_err *err)
{
    struct att_view view;
    struct att_flight flight = flight_of(w);
    const struct att_found found = { .status = ATT_NOT_FOUND,
                                     .latest = w->index.ledger,
                                     .close_time = w->index.closed_at };
    f->fee = 0;
    tide_status status = work_look(w, &view, err);
    if (status == TIDE_E_DECODE) {
        f->next = att_decide_unread(&flight, &found);
        return TIDE_OK;
    }
    if (status == TIDE_OK)
        status = att_index_view(&view, w->outbox, w->call.contract, &w->words, err);
    if (status != TIDE_OK)
        return status;
    view.ledger = found.latest;
    f->next = att_decide_ended(&flight, &found, &view);
    f->ledger = view.kyc ? view.kyc_ledger : view.ledger;
    f->attention = "unchecked";
    return TIDE_OK;
}

static tide_status ask_index(struct att_work *w, struct fate *f, struct tide_err *err)
{
    struct att_indexed indexed;
    *f = (struct fate){ .next = FATE(WAIT, .why = "not_indexed"), .fee = -1 };
    tide_status status =
        att_index_find(&indexed, w->outbox, &w->row, w->call.contract, &w->words, err);
    if (status != TIDE_OK)
        return status;
    if (!indexed.found)
        return w->index.closed_at > w->row.max_time ? end_indexed(w, f, err) : TIDE_OK;
    f->ledger = indexed.ledger;
    f->fee = indexed.fee;
    if (!indexed.ok)
        return fail_indexed(w, &indexed, f, err);
    f->next = indexed.as_meant ? FATE(CONFIRM, .why = "SUCCESS")
                               : FATE(PARK, .why = "unverified", .detail = "SUCCESS");
    f->attention = att_decide_overwrote(w->row.revoke, &indexed.before);
    return TIDE_OK;
}

/* The index has the last word. Until it does, a server's decides what costs little. */
static tide_status follow_indexed(struct att_work *w, struct fate *f, struct tide_err *err)
{
    struct fate told;
    tide_status status = ask_index(w, f, err);
    if (status != TIDE_OK || is_final(f))
        return status;
    status = ask_server(w, &told, err);
    if (status == TIDE_OK && !is_final(&told))
        *f = told;
    else if (status == TIDE_OK && told.in_ledger && told.ledger <= w->index.ledger)
        status = att_rpc_distrust(w->rpc,
                                  "getTransaction: the index has that ledger, and it is"
                                  " not in it",
                                  err);
    return status;
}

/* --- what follows ----------------------------------------------------------------------------- */

/* What goes on is asked of another server next: one that always says wait, or what holds it back,
 * does not keep the others from being heard. */
static tide_status act(struct att_work *w, const struct fate *f, enum att_turn *turn,
                       struct tide_err *err)
{
    const struct att_next *next = &f->next;
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
        att_rpc_turn(w->rpc);
        return status;
    case ATT_STEP_REQUEUE:
        att_rpc_turn(w->rpc); /* the next attempt is another server's */
        return work_requeue(w, next, err);
    case ATT_STEP_CONFIRM:
        return work_confirm(w, f->ledger, next->why, f->attention, err);
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
    if (!f->doubted)
        att_rpc_turn(w->rpc);
    return TIDE_OK;
}

tide_status work_follow(struct att_work *w, enum att_turn *turn, struct tide_err *err)
{
    struct fate fate;
    tide_status status =
        w->index.follows ? follow_indexed(w, &fate, err) : ask_servers(w, &fate, err);
    return status == TIDE_OK ? act(w, &fate, turn, err) : status;
}
