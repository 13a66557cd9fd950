/* What work.c, work_prepare.c and work_follow.c share. */
#ifndef API_ATTESTER_WORK_OWN_H
#define API_ATTESTER_WORK_OWN_H

#include "api/attester/work.h"

/* Of a queued row. (work_prepare.c) */
tide_status work_prepare(struct att_work *w, enum att_turn *turn, struct tide_err *err);
/* Of one under way. (work_follow.c) */
tide_status work_follow(struct att_work *w, enum att_turn *turn, struct tide_err *err);

/* Ends and moves, with their line of the log. (work.c) */
tide_status work_park(struct att_work *w, const char *reason, const char *detail,
                      struct tide_err *err);
tide_status work_confirm(struct att_work *w, uint32_t ledger, const char *heard,
                         const char *attention, struct tide_err *err);
tide_status work_requeue(struct att_work *w, const struct att_next *next, struct tide_err *err);
/* Sends the envelope, or its bump, and keeps what was heard. */
tide_status work_send(struct att_work *w, struct tide_err *err);
/* Reads the entries. TIDE_E_DECODE: nobody can. */
tide_status work_look(struct att_work *w, struct att_view *view, struct tide_err *err);
/* The same; parks, and *parked, when nobody can read them. */
tide_status work_view(struct att_work *w, struct att_view *view, bool *parked,
                      struct tide_err *err);

#endif
