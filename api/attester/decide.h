/* The state machine: what was heard, in; what to do next, out. Pure.
 *
 *   queued ──sign──▶ signed ──send──▶ submitted ──▶ confirmed
 *     ▲                 │                 │
 *     └── provably dead ┴─────────────────┤          parked: a person must look
 *
 * An envelope's end is known only from the network: it stands in a ledger; or a ledger closed
 * behind its last moment and the server knows every ledger since it was signed; or its sequence
 * number is used up. Nothing is signed anew before that. */
#ifndef API_ATTESTER_DECIDE_H
#define API_ATTESTER_DECIDE_H

#include "api/attester/chain/result_code.h"
#include "api/attester/chain/view.h"

enum att_step {
    ATT_STEP_WAIT,    /* until the next look                                      */
    ATT_STEP_PREPARE, /* of a queued one: simulate, sign, keep, send              */
    ATT_STEP_LOOK,    /* read the entries, then ask att_decide_ended              */
    ATT_STEP_SEND,    /* the same envelope (the bump where there is one), again   */
    ATT_STEP_BUMP,    /* wrap it in a fee bump, keep that, send it                */
    ATT_STEP_REQUEUE, /* it is dead: from the start, with a new number            */
    ATT_STEP_CONFIRM, /* the chain says what was meant                            */
    ATT_STEP_PARK,    /* a person must look                                       */
};

struct att_next {
    enum att_step step;
    const char *why;    /* static; parked: the reason; else a word for the log */
    const char *detail; /* static or NULL */
    bool clash;         /* requeue, park: another program used the number */
};

enum { ATT_BUMP_LEDGERS = 3, ATT_BAD_SEQ_MAX = 3, ATT_REFUSED_MAX = 5 };

/* Of a queued intent, before signing: the entries at the newest ledger, ledger time now.
 * PREPARE, CONFIRM, PARK or WAIT. */
struct att_next att_decide_view(bool revoke, const struct att_view *view, uint64_t expires_at,
                                uint64_t now);

/* Of one that stands in a ledger: what it undid that it never should have, "suspended" …; NULL:
 * nothing. "unchecked": the transaction does not tell (before NULL: unreadable). */
const char *att_decide_overwrote(bool revoke, const struct att_before *before);

/* An envelope under way. */
struct att_flight {
    bool revoke;    /* what is meant */
    bool submitted; /* a server took it */
    bool bumped;
    int64_t seq;
    uint64_t max_time;
    uint32_t submit_ledger; /* newest when it was signed */
    uint32_t sent_ledger;   /* newest when it was sent; 0: never */
    uint32_t bad_seq;       /* how often another program used the number */
    uint32_t attempts;      /* envelopes signed for this intent */
    int32_t code;           /* of the last answer ERROR; 0: none */
};

/* Of one under way that is NOT_FOUND: found is what the server said. LOOK, SEND, BUMP, WAIT. */
struct att_next att_decide_missing(const struct att_flight *flight, const struct att_found *found);

/* The same once the entries were read, and the transaction looked up again behind them (found is
 * NOT_FOUND and its ledger not before the view's). REQUEUE, CONFIRM, PARK, SEND, WAIT. */
struct att_next att_decide_ended(const struct att_flight *flight, const struct att_found *found,
                                 const struct att_view *view);

/* The same where the entries are unreadable. PARK once it cannot come any more, else WAIT. */
struct att_next att_decide_unread(const struct att_flight *flight, const struct att_found *found);

#endif
