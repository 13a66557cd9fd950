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

/* --- moves ------------------------------------------------------------------------------------ */

static void hash_text(char out[2 * TIDE_HASH_BYTES + 1], const struct att_row *row)
{
    tide_hex(out, tide_slice_of(row->hash, TIDE_HASH_BYTES));
    out[2 * TIDE_HASH_BYTES] = 0;
}

static bool say_dry(const struct att_work *w, const char *what, const char *why)
{
    if (w->dry)
        printf("%" PRIu64 " %s: would be %s (%s)\n", w->row.id, w->row.revoke ? "revoke" : "attest",
               what, why);
    return w->dry;
}

tide_status work_park(struct att_work *w, const char *reason, const char *detail,
                      struct tide_err *err)
{
    if (say_dry(w, "parked", detail ? detail : reason))
        return TIDE_OK;
    (void)TIDE_FAILPOINT("attester.park");
    tide_status status = att_outbox_parked(w->outbox, &w->row, reason, detail, err);
    w->tally.parked += status == TIDE_OK;
    if (status == TIDE_OK)
        tide_log(TIDE_ERROR, "attester.parked", "id=%" PRIu64 " reason=%s detail=%s", w->row.id,
                 reason, detail ? detail : "none");
    return status;
}

/* The loudest there is: the chain lost the word of the protocol's people, and only they can say
 * it again. */
static void say_attention(const struct att_work *w, uint32_t ledger, const char *attention)
{
    char subject[TIDE_STRKEY_ADDRESS_MAX + 1], hash[2 * TIDE_HASH_BYTES + 1];
    size_t len = tide_strkey_from_address(subject, w->words.subject);
    subject[len] = 0;
    hash_text(hash, &w->row);
    tide_log(TIDE_ERROR, "attester.attention",
             "id=%" PRIu64 " action=%s overwrote=%s subject=%s ledger=%u hash=%s", w->row.id,
             w->call.function, attention, subject, ledger, hash);
}

tide_status work_confirm(struct att_work *w, uint32_t ledger, const char *heard,
                         const char *attention, struct tide_err *err)
{
    if (say_dry(w, "confirmed", heard))
        return TIDE_OK;
    (void)TIDE_FAILPOINT("attester.confirm");
    tide_status status = att_outbox_confirmed(w->outbox, &w->row, ledger, heard, attention, err);
    (void)TIDE_FAILPOINT("attester.confirmed");
    w->tally.confirmed += status == TIDE_OK;
    if (status == TIDE_OK && attention)
        say_attention(w, ledger, attention);
    if (status == TIDE_OK)
        tide_log(TIDE_INFO, "attester.confirmed", "id=%" PRIu64 " ledger=%u heard=%s", w->row.id,
                 ledger, heard);
    return status;
}

tide_status work_requeue(struct att_work *w, const struct att_next *next, struct tide_err *err)
{
    if (say_dry(w, "queued anew", next->why))
        return TIDE_OK;
    (void)TIDE_FAILPOINT("attester.requeue");
    tide_status status = att_outbox_requeued(w->outbox, &w->row, next->clash, next->why, err);
    if (status == TIDE_OK)
        tide_log(next->clash ? TIDE_WARN : TIDE_INFO, "attester.requeued",
                 "id=%" PRIu64 " why=%s times=%u", w->row.id, next->why,
                 w->row.bad_seq + next->clash);
    return status;
}

tide_status work_look(struct att_work *w, struct att_view *view, struct tide_err *err)
{
    const struct att_policy *policy = att_signer_policy(w->signer);
    tide_status status = att_view_read(view, w->rpc, policy->contract, &w->words, err);
    if (status == TIDE_OK && !w->foreign)
        w->balance = view->account ? view->balance : -1;
    return status;
}

/* --- the second opinion ----------------------------------------------------------------------- */

bool work_has_witness(const struct att_work *w)
{
    return w->index.follows || att_rpc_servers(w->rpc) > 1;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_next(const struct att_next *a, const struct att_next *b)
{
    return a->step == b->step && same_text(a->why, b->why) && same_text(a->detail, b->detail);
}

static const struct att_next unreadable = { .step = ATT_STEP_PARK,
                                            .why = "manual_review",
                                            .detail = "undecodable" };

static bool same_code(const struct att_view *a, const struct att_view *b)
{
    return a->has_code == b->has_code &&
           (!a->has_code || memcmp(a->code, b->code, TIDE_HASH_BYTES) == 0);
}

/* Whether the next server's entries name the same code and lead to the same. */
static tide_status ask_server(struct att_work *w, const struct att_view *view,
                              const struct att_next *next, uint64_t now, bool *agreed,
                              struct tide_err *err)
{
    struct att_view other;
    struct att_next then = unreadable;
    tide_status status = work_look(w, &other, err);
    if (status == TIDE_OK)
        then = att_decide_view(w->row.revoke, &other, w->row.expires_at, now);
    bool known = status == TIDE_OK || status == TIDE_E_DECODE;
    *agreed = known && same_next(next, &then) &&
              (next->step != ATT_STEP_PREPARE || same_code(view, &other));
    return known ? TIDE_OK : status;
}

static tide_status ask_servers(struct att_work *w, const struct att_view *view,
                               const struct att_next *next, uint64_t now, bool *agreed,
                               struct tide_err *err)
{
    tide_status status = TIDE_OK;
    att_rpc_any(w->rpc);
    bool alone = !att_rpc_second(w->rpc);
    /* A view that cannot be read is for a person, who may find that one server says so. */
    *agreed = alone && same_next(next, &unreadable);
    while (status == TIDE_OK && !*agreed && !alone) {
        status = ask_server(w, view, next, now, agreed, err);
        alone = !att_rpc_second(w->rpc);
    }
    att_rpc_any(w->rpc);
    att_rpc_back(w->rpc);
    return status;
}

tide_status work_agreed(struct att_work *w, const struct att_view *view,
                        const struct att_next *next, uint64_t now, bool *agreed,
                        struct tide_err *err)
{
    struct att_view indexed = *view; /* the account is not indexed */
    *agreed = false;
    if (!w->index.follows || same_next(next, &unreadable))
        return ask_servers(w, view, next, now, agreed, err);
    tide_status status = att_index_view(&indexed, w->outbox, w->call.contract, &w->words, err);
    if (status != TIDE_OK)
        return status;
    struct att_next other = att_decide_view(w->row.revoke, &indexed, w->row.expires_at, now);
    *agreed = same_next(next, &other);
    if (!*agreed && indexed.ledger >= view->ledger)
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
    *agreed = att_rpc_servers(w->rpc) == 1;
    if (*agreed)
        return TIDE_OK;
    att_rpc_any(w->rpc);
    while (status == TIDE_OK && !*agreed && att_rpc_second(w->rpc)) {
        status = att_view_code(&other.has_code, other.code, w->rpc, w->call.contract, err);
        *agreed = status == TIDE_OK && same_code(view, &other);
    }
    att_rpc_any(w->rpc);
    att_rpc_back(w->rpc);
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
    if (status == TIDE_OK && att_rpc_second(w->rpc)) {
        status = att_rpc_tip(w->rpc, &two, err);
        *out = one.close_time < two.close_time ? one.close_time : two.close_time;
    }
    att_rpc_any(w->rpc);
    return status;
}

/* --- money ------------------------------------------------------------------------------------ */

enum { STROOPS_PER_XLM = 10000000 };

tide_status work_charge(struct att_work *w, int64_t stroops, struct tide_err *err)
{
    return w->dry ? TIDE_OK : att_outbox_charged(w->outbox, &w->row, stroops, err);
}

/* A server that makes everything dear, or the market, must not keep a revocation from the chain: a
 * fifth is left for those. */
tide_status work_affords(struct att_work *w, int64_t stroops, bool *affords, struct tide_err *err)
{
    int64_t spent, most = (int64_t)w->config->attester_budget_xlm * STROOPS_PER_XLM;
    if (!w->row.revoke)
        most -= most / 5;
    tide_status status = att_outbox_spent(w->outbox, &spent, err);
    *affords = status == TIDE_OK && stroops <= most && spent <= most - stroops;
    if (status == TIDE_OK && !*affords)
        tide_log(TIDE_ERROR, "attester.budget",
                 "id=%" PRIu64 " spent=%" PRId64 " wanted=%" PRId64 " most=%" PRId64, w->row.id,
                 spent, stroops, most);
    return status;
}

/* --- sending ---------------------------------------------------------------------------------- */

static const char *heard_of(const struct att_sent *sent)
{
    static const char *const words[] = { "PENDING", "DUPLICATE", "TRY_AGAIN_LATER" };
    return sent->status == ATT_ERROR ? att_code_name(sent->code) : words[sent->status];
}

tide_status work_send(struct att_work *w, struct tide_err *err)
{
    struct att_sent sent;
    char hash[2 * TIDE_HASH_BYTES + 1];
    struct att_row *row = &w->row;
    const struct tide_buf *envelope = row->bumped ? &row->bump : &row->envelope;
    if (say_dry(w, "sent again", row->last_status))
        return TIDE_OK;
    (void)TIDE_FAILPOINT("attester.send");
    tide_status status = att_rpc_send(w->rpc, &sent, tide_buf_view(envelope), err);
    (void)TIDE_FAILPOINT("attester.sent");
    w->tally.sent++;
    if (status != TIDE_OK && status != TIDE_E_IO)
        return status;
    bool taken = status == TIDE_OK && sent.status <= ATT_DUPLICATE;
    const char *heard = status == TIDE_OK ? heard_of(&sent) : "unknown";
    row->sent_ledger = att_rpc_newest(w->rpc);
    hash_text(hash, row);
    if (status != TIDE_OK) {
        char quoted[300];
        tide_log(TIDE_WARN, "attester.send_unknown", "id=%" PRIu64 " hash=%s error=%s", row->id,
                 hash, tide_log_quote(quoted, sizeof quoted, err->text));
    } else {
        tide_log(taken ? TIDE_INFO : TIDE_WARN, "attester.sent",
                 "id=%" PRIu64 " hash=%s heard=%s bump=%s ledger=%u", row->id, hash, heard,
                 row->bumped ? "true" : "false", row->sent_ledger);
    }
    status = att_outbox_sent(w->outbox, row, taken, heard, err);
    (void)TIDE_FAILPOINT("attester.submitted");
    return status;
}

/* --- a turn ----------------------------------------------------------------------------------- */

/* Who signed what is under way: a key that was replaced meanwhile has its own numbers. */
static void read_signer(struct att_work *w)
{
    struct tide_envelope e;
    struct tide_xdr x;
    const uint8_t *own = att_signer_public(w->signer);
    memcpy(w->words.verifier, own, TIDE_HASH_BYTES);
    if (w->row.state != ATT_QUEUED &&
        tide_envelope_read(&e, tide_buf_view(&w->row.envelope), &x) == TIDE_OK && e.source_key)
        memcpy(w->words.verifier, e.source_key, TIDE_HASH_BYTES);
    w->foreign = memcmp(w->words.verifier, own, TIDE_HASH_BYTES) != 0;
}

static tide_status read_words(struct att_work *w, struct tide_err *err)
{
    struct att_row *row = &w->row;
    w->words = (struct att_words){ .subject = tide_slice_of(row->subject, row->subject_len),
                                   .attested = row->has_attested ? row->attested : NULL,
                                   .jurisdiction = row->jurisdiction,
                                   .expires_at = row->expires_at };
    read_signer(w);
    memcpy(w->words.metadata, row->metadata, TIDE_HASH_BYTES);
    tide_buf_reset(&w->args);
    w->call = (struct att_call){ .function = row->revoke ? "revoke" : "attest" };
    memcpy(w->call.contract, att_signer_policy(w->signer)->contract, TIDE_HASH_BYTES);
    w->call.arg_count = att_put_args(&w->args, &w->words, row->revoke);
    w->call.args = tide_buf_view(&w->args);
    return w->args.failed ? tide_fail(err, TIDE_E_MEMORY, "no memory for arguments") : TIDE_OK;
}

/* What is under way is what was signed: its bytes have the hash that the network knows it by. */
static bool is_sound(const struct att_work *w)
{
    const struct att_row *row = &w->row;
    return att_envelope_is(tide_buf_view(&row->envelope), att_signer_policy(w->signer)->network_id,
                           row->hash);
}

static tide_status take_turn(struct att_work *w, enum att_turn *turn, struct tide_err *err)
{
    if (w->row.subject_len == 0)
        return work_park(w, "bad_subject", NULL, err);
    tide_status status = read_words(w, err);
    if (status != TIDE_OK)
        return status;
    if (w->row.state != ATT_QUEUED && !is_sound(w))
        return work_park(w, "bad_row", NULL, err);
    if (w->row.state != ATT_QUEUED)
        return work_follow(w, turn, err);
    if (w->row.superseded && !say_dry(w, "superseded", "a newer decision stands")) {
        tide_log(TIDE_INFO, "attester.superseded", "id=%" PRIu64, w->row.id);
        return att_outbox_superseded(w->outbox, &w->row, err);
    }
    if (w->row.superseded)
        return TIDE_OK;
    return work_prepare(w, turn, err);
}

/* What may be believed in this turn: where the index stands, and what time it is. */
static tide_status begin_turn(struct att_work *w, struct tide_err *err)
{
    enum { LAG_LEDGERS = 5 }; /* of a server behind the index */
    uint32_t skew = w->config->clock_skew_s, floor = 0;
    uint64_t ceiling = 0;
    uint32_t deployment = att_outbox_deployment(w->outbox);
    if (w->deployment && w->deployment != deployment)
        att_rpc_forget(w->rpc);
    w->deployment = deployment;
    tide_status status = att_index_read(&w->index, w->outbox, w->clock, skew, err);
    if (status != TIDE_OK)
        return status;
    if (w->index.clocks == TIDE_CLOCKS_DATABASE || w->index.clocks == TIDE_CLOCKS_BEFORE_CHAIN)
        return tide_fail(err, TIDE_E_CONFLICT, "nothing is signed: %s", w->index.text);
    w->now = (uint64_t)w->clock->wall_ms(w->clock->self) / 1000;
    if (w->index.follows) { /* a ledger closes a second after the one before, or later */
        floor = w->index.ledger > LAG_LEDGERS ? w->index.ledger - LAG_LEDGERS : 0;
        ceiling = w->index.ledger + (w->now + skew - w->index.closed_at) + 1;
    }
    att_rpc_bound(w->rpc, floor, ceiling > UINT32_MAX ? UINT32_MAX : (uint32_t)ceiling);
    att_rpc_any(w->rpc);
    att_signer_allow_until(w->signer, w->now + skew + w->config->attester_valid_s);
    return TIDE_OK;
}

/* A row that cannot be acted upon is a person's, and the others go on. */
static tide_status reject_row(struct att_work *w, struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX];
    tide_log(TIDE_ERROR, "attester.parked", "id=%" PRIu64 " reason=bad_row detail=%s", w->row.id,
             tide_log_quote(quoted, sizeof quoted, err->text));
    w->tally.parked += !w->dry;
    return w->dry ? TIDE_OK : att_outbox_reject(w->outbox, w->row.id, err);
}

/* Rows that KYC did not sign are told apart before one of them is worked on. One batch a turn,
 * oldest first: however many there are, the rows that were found genuine go on, and so does the
 * heartbeat. */
static tide_status screen_rows(struct att_work *w, bool *more, struct tide_err *err)
{
    uint32_t forged;
    tide_status status = att_outbox_screen(w->outbox, &forged, more, err);
    if (status != TIDE_OK)
        return status;
    w->tally.parked += forged;
    if (forged)
        tide_log(TIDE_ERROR, "attester.parked", "rows=%u reason=not_signed", forged);
    return TIDE_OK;
}

/* Another process moved the row; or a newer decision was written, which is not judged yet. A queued
 * row lets the others go first. */
static tide_status step_back(struct att_work *w, bool bad, struct tide_err *err)
{
    enum { LATER_MS = 1000 };
    tide_log(TIDE_WARN, "attester.fenced", "id=%" PRIu64, w->row.id);
    if (bad || w->row.state != ATT_QUEUED)
        return TIDE_OK;
    tide_status status = att_outbox_later(w->outbox, &w->row, LATER_MS, "fenced", err);
    return status == TIDE_E_FENCED ? TIDE_OK : status;
}

tide_status att_work_turn(struct att_work *work, enum att_turn *turn, struct tide_err *err)
{
    bool any, more = false;
    *turn = ATT_TURN_IDLE;
    tide_status status = begin_turn(work, err);
    if (status == TIDE_OK && !work->dry)
        status = screen_rows(work, &more, err);
    if (more)
        *turn = ATT_TURN_AGAIN;
    if (status == TIDE_OK)
        status =
            att_outbox_next(work->outbox, &work->row, work->dry ? &work->skip : NULL, &any, err);
    bool bad = status == TIDE_E_DECODE;
    if (!bad && (status != TIDE_OK || !any))
        return status;
    *turn = ATT_TURN_AGAIN;
    status = bad ? reject_row(work, err) : take_turn(work, turn, err);
    if (work->dry)
        work->skip = work->row.id;
    if (work->dry || more)
        *turn = ATT_TURN_AGAIN;
    return status == TIDE_E_FENCED ? step_back(work, bad, err) : status;
}
