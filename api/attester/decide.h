/* The state machine: observations in, next step out. The functions are pure: no clock, no I/O.
 *
 *   queued ──sign──▶ signed ──send──▶ submitted ──▶ confirmed
 *     ▲                 │                 │
 *     └── proved dead ──┴─────────────────┤          parked: needs review by a person
 *
 * Only the network ends an envelope, in one of three ways:
 * - A ledger includes the transaction.
 * - A ledger closed after the envelope's max_time, and the account's sequence number is still below
 *   the envelope's.
 * - The account reached that number, and a server that has every ledger since the signature does
 *   not have the transaction: another program used the number.
 * Before that, no second envelope is signed for the intent. */
#ifndef API_ATTESTER_DECIDE_H
#define API_ATTESTER_DECIDE_H

#include "api/attester/chain/view.h"

enum att_step {
    ATT_STEP_WAIT,      /* do nothing until the next turn */
    ATT_STEP_PREPARE,   /* a queued row: simulate, sign, store, send */
    ATT_STEP_READ_VIEW, /* read the entries, then call att_decide_ended */
    ATT_STEP_SEND,      /* send the stored envelope again, or its fee bump */
    ATT_STEP_BUMP,      /* wrap the envelope in a fee bump, store that, send it */
    ATT_STEP_REQUEUE,   /* the envelope is dead: start again with a new number */
    ATT_STEP_CONFIRM,   /* the entries are as the intent demands */
    ATT_STEP_PARK,      /* needs review by a person */
};

struct att_next {
    enum att_step step;
    const char *why;    /* static; PARK: the reason, else a word for the log */
    const char *detail; /* static, of the view, or NULL */
    bool clash;         /* REQUEUE, PARK: another program used the number */
};

enum { ATT_BUMP_LEDGERS = 3 };

/* Returns the step for a queued intent before it is signed: PREPARE, CONFIRM, PARK or WAIT. view
 * holds the entries at the newest ledger; the detail may borrow view->since. now is that ledger's
 * close time, unix seconds. */
struct att_next att_decide_view(bool revoke, const struct att_view *view, uint64_t expires_at,
                                uint64_t now);

/* Returns the status that a confirmed call overwrote although only the protocol's people may
 * change it: "suspended", "sanctioned" or "unknown_status". Returns NULL if there was none, and
 * "unchecked" if the transaction's changes do not show it. before is NULL if they are
 * unreadable. */
const char *att_decide_overwrote(bool revoke, const struct att_before *before);

/* A signed envelope whose result is not known yet. */
struct att_flight {
    bool revoke;    /* the call is revoke, not attest */
    bool submitted; /* a server accepted it */
    bool bumped;
    int64_t seq;
    uint64_t max_time;
    uint32_t submit_ledger; /* newest ledger at the signature */
    uint32_t sent_ledger;   /* newest ledger at the last sending; 0: never sent */
    uint32_t bad_seq;       /* how often in a row another program used the number */
    uint32_t attempts;      /* envelopes signed for this intent */
    int32_t code;           /* result code of the last answer ERROR; 0: none */
};

/* Returns the step for an envelope that a server reported as NOT_FOUND: READ_VIEW, SEND, BUMP or
 * WAIT. found is that answer. */
struct att_next att_decide_missing(const struct att_flight *flight,
                                   const struct tide_rpc_found *found);

/* Returns the step once the entries are known too: REQUEUE, CONFIRM, PARK, SEND or WAIT. The
 * caller asked for the transaction again after it read view, so found is NOT_FOUND at view's
 * ledger or later. That order matters: a ledger closed in between would otherwise look like a
 * lost envelope. */
struct att_next att_decide_ended(const struct att_flight *flight,
                                 const struct tide_rpc_found *found, const struct att_view *view);

/* Returns the step if the entries are unreadable: PARK once the envelope can no longer be
 * applied, else WAIT. */
struct att_next att_decide_unread(const struct att_flight *flight,
                                  const struct tide_rpc_found *found);

#endif
