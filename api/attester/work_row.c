/* The row of a turn: moves, entries and their confirmation by a second source, budget,
 * sending. */
#include "api/attester/work_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

/* --- moves ------------------------------------------------------------------------------------ */

static void hash_text(char out[2 * TIDE_HASH_BYTES + 1], const struct att_row *row)
{
    tide_hex(out, tide_slice_of(row->hash, TIDE_HASH_BYTES));
    out[(size_t)2 * TIDE_HASH_BYTES] = 0;
}

/* Returns w->dry. In a dry run, prints the move that the caller then leaves out. */
static bool print_dry_run(const struct att_work *w, const char *what, const char *why)
{
    if (w->dry)
        printf("%" PRIu64 " %s: would be %s (%s)\n", w->row.id, w->row.revoke ? "revoke" : "attest",
               what, why);
    return w->dry;
}

static tide_status move_row(struct att_work *w, enum att_move move, const char *third,
                            const char *fourth, struct tide_err *err)
{
    return att_outbox_move(w->outbox, &w->row, move, (const char *[3]){ third, fourth }, err);
}

tide_status work_park(struct att_work *w, const char *reason, const char *detail,
                      struct tide_err *err)
{
    if (print_dry_run(w, "parked", detail ? detail : reason))
        return TIDE_OK;
    (void)TIDE_FAILPOINT("attester.park");
    tide_status status = move_row(w, ATT_MOVE_PARKED, reason, detail, err);
    w->tally.parked += status == TIDE_OK;
    if (status == TIDE_OK)
        tide_log(TIDE_ERROR, "attester.parked", "id=%" PRIu64 " reason=%s detail=%s", w->row.id,
                 reason, detail ? detail : "none");
    return status;
}

/* Logs an ERROR: the attestation overwrote a decision of the protocol's people, and only they
 * can restore it. */
static void log_attention(const struct att_work *w, uint32_t ledger, const char *attention)
{
    char subject[TIDE_STRKEY_ADDRESS_MAX + 1], hash[2 * TIDE_HASH_BYTES + 1];
    size_t len = tide_strkey_from_address(subject, w->claim.subject);
    assert(len < sizeof subject);
    subject[len] = 0;
    hash_text(hash, &w->row);
    tide_log(TIDE_ERROR, "attester.attention",
             "id=%" PRIu64 " action=%s overwrote=%s subject=%s ledger=%u hash=%s", w->row.id,
             w->call.function, attention, subject, ledger, hash);
}

tide_status work_confirm(struct att_work *w, uint32_t ledger, const char *result,
                         const char *attention, struct tide_err *err)
{
    assert(result);
    if (print_dry_run(w, "confirmed", result))
        return TIDE_OK;
    (void)TIDE_FAILPOINT("attester.confirm");
    tide_status status =
        att_outbox_move(w->outbox, &w->row, ATT_MOVE_CONFIRMED,
                        (const char *[3]){ TIDE_PG_NUMBER(ledger), result, attention }, err);
    (void)TIDE_FAILPOINT("attester.confirmed");
    w->tally.confirmed += status == TIDE_OK;
    if (status == TIDE_OK && attention)
        log_attention(w, ledger, attention);
    if (status == TIDE_OK)
        tide_log(TIDE_INFO, "attester.confirmed", "id=%" PRIu64 " ledger=%u heard=%s", w->row.id,
                 ledger, result);
    return status;
}

tide_status work_requeue(struct att_work *w, const struct att_next *next, struct tide_err *err)
{
    assert(next->step == ATT_STEP_REQUEUE && w->row.state != ATT_QUEUED);
    if (print_dry_run(w, "queued anew", next->why))
        return TIDE_OK;
    (void)TIDE_FAILPOINT("attester.requeue");
    tide_status status = move_row(w, ATT_MOVE_REQUEUED, next->why, TIDE_PG_BOOL(next->clash), err);
    if (status == TIDE_OK)
        tide_log(next->clash ? TIDE_WARN : TIDE_INFO, "attester.requeued",
                 "id=%" PRIu64 " why=%s times=%u", w->row.id, next->why,
                 w->row.bad_seq + next->clash);
    return status;
}

tide_status work_supersede(struct att_work *w, struct tide_err *err)
{
    if (print_dry_run(w, "superseded", "a newer decision stands"))
        return TIDE_OK;
    tide_log(TIDE_INFO, "attester.superseded", "id=%" PRIu64, w->row.id);
    return move_row(w, ATT_MOVE_SUPERSEDED, "newer_decision", NULL, err);
}

tide_status work_postpone(struct att_work *w, uint32_t ms, const char *why, struct tide_err *err)
{
    return w->dry ? TIDE_OK : move_row(w, ATT_MOVE_POSTPONED, TIDE_PG_NUMBER(ms), why, err);
}

/* The entries say in which ledger they last changed. One that neither the index nor the outbox
 * knows may be newer than the decision. An index that follows has it soon, and then its history
 * tells. One that does not, as right after a restore, leaves the question to a person. */
static void note_unknown_change(const struct att_work *w, struct att_view *view)
{
    uint32_t known = w->index.ledger > w->row.known_ledger ? w->index.ledger : w->row.known_ledger;
    const char *what = NULL;
    uint32_t ledger = view->kyc_ledger;
    if (view->kyc_ours && view->kyc_ledger > known && (w->row.revoke || !view->kyc_same)) {
        what = "attested_since";
    } else if (!w->row.revoke && view->record && view->status != ATT_VERIFIED &&
               view->record_ledger > known) {
        what = view->kyc ? "status_since" : "revoked_since";
        ledger = view->record_ledger;
    }
    view->unindexed = what && w->index.follows;
    if (what && !w->index.follows)
        snprintf(view->since, sizeof view->since, "%s %u", what, ledger);
}

/* Asks the chain's own history about the person: see att_index_since. */
static tide_status read_since(struct att_work *w, struct att_view *view, struct tide_err *err)
{
    if (!w->index.ledger)
        return TIDE_OK;
    tide_status status =
        att_index_since(view, w->outbox, &w->row, w->call.contract, &w->claim, err);
    if (status == TIDE_OK && !view->since[0] && !w->row.reviewed)
        note_unknown_change(w, view);
    return status;
}

tide_status work_read_view(struct att_work *w, struct att_view *view, struct tide_err *err)
{
    const struct att_policy *policy = att_signer_policy(w->signer);
    tide_status status = att_view_read(view, w->rpc, policy->contract, &w->claim, err);
    if (status == TIDE_OK && !w->foreign)
        w->balance = view->account ? view->balance : -1;
    return status == TIDE_OK ? read_since(w, view, err) : status;
}

/* --- confirmation by a second source ---------------------------------------------------------- */

bool work_has_witness(const struct att_work *w)
{
    return w->index.follows || att_rpc_server_count(w->rpc) > 1;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_next(const struct att_next *a, const struct att_next *b)
{
    return a->step == b->step && same_text(a->why, b->why) && same_text(a->detail, b->detail);
}

/* Returns whether entries of that ledger may show that an intent is done: they are not from before
 * the person's last intent was done. */
static bool shows_last_intent(const struct att_work *w, const struct att_next *next,
                              uint32_t ledger)
{
    return next->step != ATT_STEP_CONFIRM || ledger >= w->row.known_ledger;
}

/* The step for entries that cannot be decoded. */
static const struct att_next unreadable = { .step = ATT_STEP_PARK,
                                            .why = "manual_review",
                                            .detail = "undecodable" };

static bool same_code(const struct att_view *a, const struct att_view *b)
{
    return a->has_code == b->has_code &&
           (!a->has_code || memcmp(a->code, b->code, TIDE_HASH_BYTES) == 0);
}

/* Sets *agreed to whether the next server's entries lead to the same step and, before a
 * signature, name the same code. */
static tide_status compare_server(struct att_work *w, const struct att_view *view,
                                  const struct att_next *next, uint64_t now, bool *agreed,
                                  struct tide_err *err)
{
    struct att_view other;
    struct att_next then = unreadable;
    tide_status status = work_read_view(w, &other, err);
    if (status == TIDE_OK)
        then = att_decide_view(w->row.revoke, &other, w->row.expires_at, now);
    bool known = status == TIDE_OK || status == TIDE_E_DECODE;
    *agreed = known && same_next(next, &then) && shows_last_intent(w, next, view->ledger) &&
              shows_last_intent(w, next, other.ledger) &&
              (next->step != ATT_STEP_PREPARE || same_code(view, &other));
    return known ? TIDE_OK : status;
}

/* Asks the other servers until one agrees. Restores the first server as the current one: the
 * answers used next must come from the server that was confirmed. */
static tide_status compare_servers(struct att_work *w, const struct att_view *view,
                                   const struct att_next *next, uint64_t now, bool *agreed,
                                   struct tide_err *err)
{
    tide_status status = TIDE_OK;
    att_rpc_include_all(w->rpc);
    bool alone = !att_rpc_exclude_current(w->rpc);
    /* Unreadable entries only send the row to a person: a single server's claim is enough. */
    *agreed = alone && same_next(next, &unreadable);
    while (status == TIDE_OK && !*agreed && !alone) {
        status = compare_server(w, view, next, now, agreed, err);
        alone = !att_rpc_exclude_current(w->rpc);
    }
    att_rpc_include_all(w->rpc);
    att_rpc_select_first(w->rpc);
    return status;
}

/* The index does not give raw entries. Entries that cannot be read are therefore compared between
 * servers even if the index follows the network. */
tide_status work_agreed(struct att_work *w, const struct att_view *view,
                        const struct att_next *next, uint64_t now, bool *agreed,
                        struct tide_err *err)
{
    struct att_view indexed = *view; /* accounts are not indexed: keep the server's values */
    *agreed = false;
    if (!w->index.follows || same_next(next, &unreadable))
        return compare_servers(w, view, next, now, agreed, err);
    tide_status status = att_index_view(&indexed, w->outbox, w->call.contract, &w->claim, err);
    if (status != TIDE_OK)
        return status;
    struct att_next other = att_decide_view(w->row.revoke, &indexed, w->row.expires_at, now);
    *agreed = same_next(next, &other) && shows_last_intent(w, next, indexed.ledger);
    /* An index behind the view may lack a change; at the view's ledger or later, one of the two
     * is wrong. */
    if (!same_next(next, &other) && indexed.ledger >= view->ledger)
        tide_log(TIDE_ERROR, "attester.contradicted",
                 "id=%" PRIu64 " server_says=%s index_says=%s ledger=%u", w->row.id,
                 next->detail ? next->detail : next->why, other.detail ? other.detail : other.why,
                 view->ledger);
    return TIDE_OK;
}

tide_status work_code_agreed(struct att_work *w, const struct att_view *view, bool *agreed,
                             struct tide_err *err)
{
    struct att_view other = { 0 };
    tide_status status = TIDE_OK;
    *agreed = att_rpc_server_count(w->rpc) == 1;
    if (*agreed)
        return TIDE_OK;
    att_rpc_include_all(w->rpc);
    while (status == TIDE_OK && !*agreed && att_rpc_exclude_current(w->rpc)) {
        status = att_view_code(&other.has_code, other.code, w->rpc, w->call.contract, err);
        *agreed = status == TIDE_OK && same_code(view, &other);
    }
    att_rpc_include_all(w->rpc);
    att_rpc_select_first(w->rpc);
    return status;
}

tide_status work_chain_time(struct att_work *w, uint64_t *out, struct tide_err *err)
{
    struct att_tip one, two;
    *out = w->index.closed_at;
    if (w->index.follows)
        return TIDE_OK;
    *out = 0;
    tide_status status = att_rpc_tip(w->rpc, &one, err);
    if (status == TIDE_OK && att_rpc_exclude_current(w->rpc)) {
        status = att_rpc_tip(w->rpc, &two, err);
        /* The lower time: one lying server must not end the wait for an old envelope early. */
        *out = one.close_time < two.close_time ? one.close_time : two.close_time;
    }
    att_rpc_include_all(w->rpc);
    return status;
}

/* --- budget ----------------------------------------------------------------------------------- */

enum { STROOPS_PER_XLM = 10000000 };

tide_status work_charge(struct att_work *w, int64_t stroops, struct tide_err *err)
{
    return w->dry ? TIDE_OK : att_outbox_charged(w->outbox, &w->row, stroops, err);
}

/* A fifth of the budget is reserved for revocations. Otherwise a server that inflates the fees,
 * or a high market price, could keep revocations off the chain. */
tide_status work_within_budget(struct att_work *w, int64_t stroops, bool *within,
                               struct tide_err *err)
{
    uint64_t spent;
    int64_t most = (int64_t)w->config->attester_budget_xlm * STROOPS_PER_XLM;
    if (!w->row.revoke)
        most -= most / 5;
    tide_status status = att_outbox_spent(w->outbox, &spent, err);
    *within = status == TIDE_OK && stroops <= most && spent <= (uint64_t)(most - stroops);
    if (status == TIDE_OK && !*within)
        tide_log(TIDE_ERROR, "attester.budget",
                 "id=%" PRIu64 " spent=%" PRIu64 " wanted=%" PRId64 " most=%" PRId64, w->row.id,
                 spent, stroops, most);
    return status;
}

/* --- sending ---------------------------------------------------------------------------------- */

tide_status work_note_sent(struct att_work *w, bool accepted, const char *answer,
                           struct tide_err *err)
{
    enum att_move move =
        accepted && w->row.state != ATT_SUBMITTED ? ATT_MOVE_SUBMITTED : ATT_MOVE_SENT;
    w->row.sent_ledger = att_rpc_newest(w->rpc);
    return move_row(w, move, TIDE_PG_NUMBER(w->row.sent_ledger), answer, err);
}

/* The name for last_status; att_code_of decodes it in later turns. */
static const char *send_result_name(const struct tide_rpc_sent *sent)
{
    static const char *const names[] = { "PENDING", "DUPLICATE", "TRY_AGAIN_LATER" };
    assert(sent->status == TIDE_RPC_ERROR || sent->status < TIDE_COUNT(names));
    return sent->status == TIDE_RPC_ERROR ? att_code_name(sent->code) : names[sent->status];
}

tide_status work_send(struct att_work *w, struct tide_err *err)
{
    struct tide_rpc_sent sent;
    char hash[2 * TIDE_HASH_BYTES + 1];
    struct att_row *row = &w->row;
    const struct tide_buf *envelope = row->bumped ? &row->bump : &row->envelope;
    assert(row->state != ATT_QUEUED); /* the envelope is in the database */
    if (print_dry_run(w, "sent again", row->last_status))
        return TIDE_OK;
    (void)TIDE_FAILPOINT("attester.send");
    tide_status status = att_rpc_send(w->rpc, &sent, tide_buf_view(envelope), err);
    (void)TIDE_FAILPOINT("attester.sent");
    w->tally.sent++;
    if (status != TIDE_OK && status != TIDE_E_IO)
        return status;
    /* A duplicate is in the server's queue already. */
    bool taken = status == TIDE_OK && sent.status <= TIDE_RPC_DUPLICATE;
    const char *result = status == TIDE_OK ? send_result_name(&sent) : "unknown";
    hash_text(hash, row);
    if (status != TIDE_OK) {
        char quoted[300];
        tide_log(TIDE_WARN, "attester.send_unknown", "id=%" PRIu64 " hash=%s error=%s", row->id,
                 hash, tide_log_quote(quoted, sizeof quoted, err->text));
    } else {
        tide_log(taken ? TIDE_INFO : TIDE_WARN, "attester.sent",
                 "id=%" PRIu64 " hash=%s heard=%s bump=%s ledger=%u", row->id, hash, result,
                 TIDE_PG_BOOL(row->bumped), att_rpc_newest(w->rpc));
    }
    status = work_note_sent(w, taken, result, err);
    (void)TIDE_FAILPOINT("attester.submitted");
    return status;
}
