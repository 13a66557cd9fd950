#include "api/attester/decide.h"

#define NEXT(s, ...) ((struct att_next){ .step = ATT_STEP_##s, __VA_ARGS__ })

/* --- before signing --------------------------------------------------------------------------- */

/* Attesting overwrites any status, and so does revoking one's own: neither may undo what the
 * protocol's people did. NULL: nothing stands against it. */
static const char *held_status(uint32_t status)
{
    if (status == ATT_SUSPENDED)
        return "suspended";
    if (status == ATT_SANCTIONED)
        return "sanctioned";
    return status > ATT_EXPIRED ? "unknown_status" : NULL;
}

static const char *held(bool revoke, const struct att_view *view)
{
    const char *word = held_status(view->status);
    if (word || revoke)
        return word;
    if (view->frozen)
        return "frozen";
    return view->blocked ? "jurisdiction_blocked" : NULL;
}

/* A freeze and a blocked country are entries of their own: no call of ours touches them. A
 * revocation leaves the record alone where another's word stands in it. */
const char *att_decide_overwrote(bool revoke, const struct att_before *before)
{
    if (!before || (!before->told && !revoke))
        return "unchecked";
    return before->told ? held_status(before->status) : NULL;
}

struct att_next att_decide_view(bool revoke, const struct att_view *view, uint64_t expires_at,
                                uint64_t now)
{
    if (!view->account)
        return NEXT(WAIT, .why = "no_account");
    if (!revoke && view->same)
        return NEXT(CONFIRM, .why = "already_so");
    if (revoke && view->kyc_former)
        return NEXT(PARK, .why = "other_key");
    if (revoke && (!view->kyc || !view->kyc_ours))
        return NEXT(CONFIRM, .why = "nothing_to_revoke");
    const char *detail = held(revoke, view);
    if (detail)
        return NEXT(PARK, .why = "manual_review", .detail = detail);
    if (!revoke && !view->verifier)
        return NEXT(PARK, .why = "not_verifier");
    if (!revoke && expires_at && expires_at <= now)
        return NEXT(PARK, .why = "expired");
    return NEXT(PREPARE, .why = "due");
}

/* --- under way -------------------------------------------------------------------------------- */

static bool window_open(const struct att_flight *flight, const struct att_found *found)
{
    return found->oldest <= flight->submit_ledger;
}

static bool too_late(const struct att_flight *flight, const struct att_found *found)
{
    return found->close_time > flight->max_time;
}

struct att_next att_decide_missing(const struct att_flight *flight, const struct att_found *found)
{
    bool waited = found->latest >= flight->submit_ledger + ATT_BUMP_LEDGERS;
    if (too_late(flight, found))
        return NEXT(LOOK, .why = "too_late");
    if (!window_open(flight, found))
        return NEXT(LOOK, .why = "window_passed");
    if (flight->code == ATT_TX_BAD_SEQ)
        return NEXT(LOOK, .why = "bad_seq");
    if (!flight->bumped && flight->code == ATT_TX_INSUFFICIENT_FEE)
        return NEXT(BUMP, .why = "insufficient_fee");
    if (!flight->bumped && flight->submitted && waited)
        return NEXT(BUMP, .why = "not_included");
    if (found->latest > flight->sent_ledger)
        return NEXT(SEND, .why = flight->sent_ledger ? "again" : "first");
    return NEXT(WAIT, .why = "queued_there");
}

/* Its number is used up and no ledger has it: another holder of the key used it. */
static struct att_next clash(const struct att_flight *flight)
{
    if (flight->bad_seq + 1 >= ATT_BAD_SEQ_MAX)
        return NEXT(PARK, .why = "key_in_use", .clash = true);
    return NEXT(REQUEUE, .why = "number_taken", .clash = true);
}

/* A code that says what is wrong with the envelope, not with the moment. */
static bool is_refused(int32_t code)
{
    return code && code != ATT_TX_BAD_SEQ && code != ATT_TX_INSUFFICIENT_FEE &&
           code != ATT_TX_TOO_LATE;
}

static bool fulfilled(const struct att_flight *flight, const struct att_view *view)
{
    return flight->revoke ? !view->kyc || !view->kyc_ours : view->kyc_same;
}

struct att_next att_decide_ended(const struct att_flight *flight, const struct att_found *found,
                                 const struct att_view *view)
{
    bool used = view->account && view->seq >= flight->seq;
    bool late = too_late(flight, found);
    if (found->latest < view->ledger)
        return NEXT(WAIT, .why = "server_behind");
    if (used && fulfilled(flight, view))
        return NEXT(CONFIRM, .why = "chain_says_so");
    if (used && window_open(flight, found))
        return clash(flight);
    if (used)
        return NEXT(PARK, .why = "unknown_outcome");
    if (late && is_refused(flight->code) && flight->attempts >= ATT_REFUSED_MAX)
        return NEXT(PARK, .why = "refused", .detail = att_code_name(flight->code));
    if (late)
        return NEXT(REQUEUE, .why = "too_late");
    if (found->latest > flight->sent_ledger)
        return NEXT(SEND, .why = "again");
    return NEXT(WAIT, .why = "queued_there");
}

struct att_next att_decide_unread(const struct att_flight *flight, const struct att_found *found)
{
    if (too_late(flight, found))
        return NEXT(PARK, .why = "manual_review", .detail = "undecodable");
    return NEXT(WAIT, .why = "undecodable");
}
