/* Declarations that the files work*.c share. work.c calls work_prepare.c and work_follow.c, and
 * both call work_row.c. */
#ifndef API_ATTESTER_WORK_IMPL_H
#define API_ATTESTER_WORK_IMPL_H

#include "api/attester/work.h"

/* Takes the turn of a queued row: checks, signs and sends it, or ends or postpones it.
 * (work_prepare.c) */
tide_status work_prepare(struct att_work *w, enum att_turn *turn, struct tide_err *err);
/* Takes the turn of a row with an envelope: finds its result and acts on it. (work_follow.c) */
tide_status work_follow(struct att_work *w, enum att_turn *turn, struct tide_err *err);

/* --- work_row.c ------------------------------------------------------------------------------ */

/* Move w->row and log the move. A dry run prints the move instead. */
tide_status work_park(struct att_work *w, const char *reason, const char *detail,
                      struct tide_err *err);
tide_status work_confirm(struct att_work *w, uint32_t ledger, const char *result,
                         const char *attention, struct tide_err *err);
tide_status work_requeue(struct att_work *w, const struct att_next *next, struct tide_err *err);
tide_status work_supersede(struct att_work *w, struct tide_err *err);
tide_status work_postpone(struct att_work *w, uint32_t ms, const char *why, struct tide_err *err);
/* Stores the answer to a sending. accepted: a server has the envelope. */
tide_status work_note_sent(struct att_work *w, bool accepted, const char *answer,
                           struct tide_err *err);
/* Sends the envelope, or its fee bump, and stores the server's answer. No answer is not a
 * failure: the envelope may have arrived, so the row keeps it. */
tide_status work_send(struct att_work *w, struct tide_err *err);
/* Reads the entries of the row's person from a server. Fails with TIDE_E_DECODE if they are
 * unreadable. */
tide_status work_read_view(struct att_work *w, struct att_view *view, struct tide_err *err);

/* Returns true if a second source can confirm a server: the index, or another server. */
bool work_has_witness(const struct att_work *w);
/* Sets *agreed to whether the index, or another server if the index does not follow, leads to
 * the same step as view did. now is unix seconds of ledger time. */
tide_status work_agreed(struct att_work *w, const struct att_view *view,
                        const struct att_next *next, uint64_t now, bool *agreed,
                        struct tide_err *err);
/* Sets *agreed to whether another server names the same code as view. With a single server,
 * true: its claim counts. */
tide_status work_code_agreed(struct att_work *w, const struct att_view *view, bool *agreed,
                             struct tide_err *err);
/* Sets *out to a moment, unix seconds, that ledger time has reached: from the index, else the
 * lower one of two servers. 0: unknown. */
tide_status work_chain_time(struct att_work *w, uint64_t *out, struct tide_err *err);
/* Stores the stroops that row's envelope cost; 0: none. */
tide_status work_charge(struct att_work *w, int64_t stroops, struct tide_err *err);
/* Sets *within to whether this many stroops more are within the budget of 24 hours for this row's
 * action. */
tide_status work_within_budget(struct att_work *w, int64_t stroops, bool *within,
                               struct tide_err *err);

#endif
