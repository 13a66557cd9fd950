/* Decisions about a queued intent and about an envelope under way. */
#include "api/attester/decide.h"

/* Answers of one kind after which an intent is parked. */
enum { BAD_SEQ_MAX = 3, REFUSED_MAX = 5 };

#define NEXT(s, ...) ((struct att_next){ .step = ATT_STEP_##s, __VA_ARGS__ })

/* --- before signing --------------------------------------------------------------------------- */

/* Returns the name of a status that no call may overwrite, or NULL. On the contract, attest
 * replaces any status, and so does the revocation of one's own attestation. Both would undo a
 * suspension or a sanction. */
static_assert(ATT_VERIFIED == 2 && ATT_SUSPENDED == 3 && ATT_SANCTIONED == 4 && ATT_EXPIRED == 5,
              "as the contract numbers them");

static const char *blocking_status(uint32_t status)
{
    if (status == ATT_SUSPENDED)
        return "suspended";
    if (status == ATT_SANCTIONED)
        return "sanctioned";
    return status > ATT_EXPIRED ? "unknown_status" : NULL;
}

/* Returns the reason why the intent needs review, or NULL. A revocation only has to respect the
 * status: freezes and blocked countries forbid attesting. */
static const char *blocking_reason(bool revoke, const struct att_view *view)
{
    const char *reason = blocking_status(view->status);
    if (reason || revoke)
        return reason;
    if (view->frozen)
        return "frozen";
    return view->blocked ? "jurisdiction_blocked" : NULL;
}

/* Freezes and blocked countries are separate entries that neither call changes. A revocation
 * that changed no record overwrote none: the contract keeps a record of another provider. */
const char *att_decide_overwrote(bool revoke, const struct att_before *before)
{
    if (!before || (!before->changed && !revoke))
        return "unchecked";
    return before->changed ? blocking_status(before->status) : NULL;
}

struct att_next att_decide_view(bool revoke, const struct att_view *view, uint64_t expires_at,
                                uint64_t now)
{
    /* The order matters: an intent that the chain already fulfils is confirmed even if the
     * person is suspended or the key is no verifier any more. */
    if (!view->account)
        return NEXT(WAIT, .why = "no_account");
    if (!revoke && view->same)
        return NEXT(CONFIRM, .why = "already_so");
    /* The contract lets only the key that attested revoke. */
    if (revoke && view->kyc_former)
        return NEXT(PARK, .why = "other_key");
    if (revoke && (!view->kyc || !view->kyc_ours))
        return NEXT(CONFIRM, .why = "nothing_to_revoke");
    const char *detail = blocking_reason(revoke, view);
    if (!detail && view->since[0])
        detail = view->since;
    if (detail)
        return NEXT(PARK, .why = "manual_review", .detail = detail);
    if (view->unindexed)
        return NEXT(WAIT, .why = "index_behind");
    if (!revoke && !view->verifier)
        return NEXT(PARK, .why = "not_verifier");
    if (!revoke && expires_at && expires_at <= now)
        return NEXT(PARK, .why = "expired");
    /* The account has used its last sequence number. */
    if (view->seq == INT64_MAX)
        return NEXT(WAIT, .why = "sequence_exhausted");
    return NEXT(PREPARE, .why = "due");
}

/* --- under way -------------------------------------------------------------------------------- */

/* True if the server still has every ledger since the signature, so that NOT_FOUND proves
 * absence. */
static bool covers_signing(const struct att_flight *flight, const struct tide_rpc_found *found)
{
    return found->oldest <= flight->submit_ledger;
}

/* True if a ledger closed after the envelope's last moment: no later ledger can include it. */
static bool is_too_late(const struct att_flight *flight, const struct tide_rpc_found *found)
{
    return found->close_time > flight->max_time;
}

struct att_next att_decide_missing(const struct att_flight *flight,
                                   const struct tide_rpc_found *found)
{
    assert(found->status == TIDE_RPC_NOT_FOUND);
    bool waited = found->latest >= flight->submit_ledger + ATT_BUMP_LEDGERS;
    if (is_too_late(flight, found))
        return NEXT(READ_VIEW, .why = "too_late");
    if (!covers_signing(flight, found))
        return NEXT(READ_VIEW, .why = "window_passed");
    if (flight->code == ATT_TX_BAD_SEQ)
        return NEXT(READ_VIEW, .why = "bad_seq");
    if (!flight->bumped && flight->code == ATT_TX_INSUFFICIENT_FEE)
        return NEXT(BUMP, .why = "insufficient_fee");
    if (!flight->bumped && flight->submitted && waited)
        return NEXT(BUMP, .why = "not_included");
    if (found->latest > flight->sent_ledger)
        return NEXT(SEND, .why = flight->sent_ledger ? "again" : "first");
    return NEXT(WAIT, .why = "queued_there");
}

/* Returns the step if the sequence number is used but no ledger has the envelope: another
 * program holds the key and used the number. After three times in a row an operator has to find
 * it. */
static struct att_next decide_clash(const struct att_flight *flight)
{
    if (flight->bad_seq + 1 >= BAD_SEQ_MAX)
        return NEXT(PARK, .why = "key_in_use", .clash = true);
    return NEXT(REQUEUE, .why = "number_taken", .clash = true);
}

/* True if the result code blames the envelope itself, so that sending again cannot help. */
static bool is_refused(int32_t code)
{
    return code && code != ATT_TX_BAD_SEQ && code != ATT_TX_INSUFFICIENT_FEE &&
           code != ATT_TX_TOO_LATE;
}

/* True if the Kyc entry is as the intent demands. */
static bool is_fulfilled(const struct att_flight *flight, const struct att_view *view)
{
    return flight->revoke ? !view->kyc || !view->kyc_ours : view->kyc_same;
}

struct att_next att_decide_ended(const struct att_flight *flight,
                                 const struct tide_rpc_found *found, const struct att_view *view)
{
    assert(found->status == TIDE_RPC_NOT_FOUND);
    bool used = view->account && view->seq >= flight->seq;
    bool late = is_too_late(flight, found);
    /* An answer older than the view cannot exclude that the view's ledger includes the envelope. */
    if (found->latest < view->ledger)
        return NEXT(WAIT, .why = "server_behind");
    if (used && is_fulfilled(flight, view))
        return NEXT(CONFIRM, .why = "chain_says_so");
    if (used && covers_signing(flight, found))
        return decide_clash(flight);
    if (used)
        return NEXT(PARK, .why = "unknown_outcome");
    if (late && is_refused(flight->code) && flight->attempts >= REFUSED_MAX)
        return NEXT(PARK, .why = "refused", .detail = att_code_name(flight->code));
    if (late)
        return NEXT(REQUEUE, .why = "too_late");
    if (found->latest > flight->sent_ledger)
        return NEXT(SEND, .why = "again");
    return NEXT(WAIT, .why = "queued_there");
}

struct att_next att_decide_unread(const struct att_flight *flight,
                                  const struct tide_rpc_found *found)
{
    assert(found->status == TIDE_RPC_NOT_FOUND);
    if (is_too_late(flight, found))
        return NEXT(PARK, .why = "manual_review", .detail = "undecodable");
    return NEXT(WAIT, .why = "undecodable");
}
