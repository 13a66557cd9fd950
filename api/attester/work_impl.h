/* What work.c, work_prepare.c and work_follow.c share. */
#ifndef API_ATTESTER_WORK_IMPL_H
#define API_ATTESTER_WORK_IMPL_H

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
/* Asks a server for the entries. TIDE_E_DECODE: they cannot be read. */
tide_status work_look(struct att_work *w, struct att_view *view, struct tide_err *err);

/* Whether there is anything that can bear a server out: the index, or a second server. */
bool work_has_witness(const struct att_work *w);
/* Whether what a server's view led to is so: the index says the same, or another server does. */
tide_status work_agreed(struct att_work *w, const struct att_view *view,
                        const struct att_next *next, uint64_t now, bool *agreed,
                        struct tide_err *err);
/* Whether another server names the code that view does; of a single server: its word. */
tide_status work_code_agreed(struct att_work *w, const struct att_view *view, bool *agreed,
                             struct tide_err *err);
/* Unix seconds that the chain has reached: of the index, else of two servers. 0: unknown. */
tide_status work_chain_time(struct att_work *w, uint64_t *out, struct tide_err *err);
/* The envelope that row has, or had, cost so much. */
tide_status work_charge(struct att_work *w, int64_t stroops, struct tide_err *err);
/* Whether so many stroops more are within the day's budget, for this row's action. */
tide_status work_affords(struct att_work *w, int64_t stroops, bool *affords, struct tide_err *err);

#endif
