#include "api/attester/work.h"
#include "api/attester/work_own.h"
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

tide_status work_view(struct att_work *w, struct att_view *view, bool *parked, struct tide_err *err)
{
    tide_status status = work_look(w, view, err);
    *parked = status == TIDE_E_DECODE;
    return *parked ? work_park(w, "manual_review", "undecodable", err) : status;
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
    row->sent_ledger = att_rpc_latest(w->rpc);
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

static tide_status take_turn(struct att_work *w, enum att_turn *turn, struct tide_err *err)
{
    tide_status status = read_words(w, err);
    if (status != TIDE_OK)
        return status;
    if (w->row.state != ATT_QUEUED)
        return work_follow(w, turn, err);
    if (w->row.superseded && !say_dry(w, "superseded", "a newer decision stands")) {
        tide_log(TIDE_INFO, "attester.superseded", "id=%" PRIu64, w->row.id);
        return att_outbox_superseded(w->outbox, &w->row, err);
    }
    if (w->row.superseded)
        return TIDE_OK;
    if (w->row.subject_len == 0)
        return work_park(w, "bad_subject", NULL, err);
    return work_prepare(w, turn, err);
}

tide_status att_work_turn(struct att_work *work, enum att_turn *turn, struct tide_err *err)
{
    bool any;
    *turn = ATT_TURN_IDLE;
    tide_status status =
        att_outbox_next(work->outbox, &work->row, work->dry ? &work->skip : NULL, &any, err);
    if (status != TIDE_OK || !any)
        return status;
    *turn = ATT_TURN_AGAIN;
    status = take_turn(work, turn, err);
    if (work->dry) {
        work->skip = work->row.id;
        *turn = ATT_TURN_AGAIN;
    }
    if (status != TIDE_E_FENCED)
        return status;
    tide_log(TIDE_WARN, "attester.fenced", "id=%" PRIu64, work->row.id);
    return TIDE_OK;
}
