/* Declarations that outbox.c (session, reading) and outbox_move.c (writing) share. */
#ifndef API_ATTESTER_OUTBOX_OUTBOX_IMPL_H
#define API_ATTESTER_OUTBOX_OUTBOX_IMPL_H

#include "api/attester/outbox/outbox.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"

/* A database server that sends nothing for this long counts as dead. */
enum { ATT_SILENCE_MS = 30000 };

struct att_outbox {
    struct att_outbox_options options;
    struct tide_pg *pg;
    uint32_t deployment; /* id of the deployment; 0: not found yet */
    int64_t searched_ms; /* monotonic; last search for the deployment */
    bool listening, held;
};

/* True if some decision n, for which the condition `which` holds, replaces row o: a newer
 * decision of the same session, or a later row about the same person that was signed already. */
#define ATT_NEWER(which)                                                                 \
    "EXISTS (SELECT FROM kyc.outbox n WHERE n.deployment = o.deployment AND n.subject =" \
    " o.subject AND " which " AND (n.session_id = o.session_id AND n.decision_rev >"     \
    " o.decision_rev OR n.id > o.id AND n.state IN ('signed', 'submitted', 'confirmed')))"
/* Only genuine decisions replace a row. */
#define ATT_SUPERSEDED ATT_NEWER("n.genuine")
/* A decision whose MAC is not checked yet does not end row o, but prevents its signature. */
#define ATT_HELD_BACK ATT_NEWER("n.genuine IS NOT FALSE")

/* Stores whether the MACs of these rows are valid. ids is an array literal, "{1,2}". Rows that
 * are not genuine are parked. (outbox_move.c) */
tide_status att_outbox_store_genuine(struct att_outbox *outbox, const char *ids, bool genuine,
                                     struct tide_err *err) TIDE_MUST_USE;

#endif
