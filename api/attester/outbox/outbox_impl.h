/* What outbox.c (the session, reading) and outbox_move.c (writing) share. */
#ifndef API_ATTESTER_OUTBOX_OUTBOX_IMPL_H
#define API_ATTESTER_OUTBOX_OUTBOX_IMPL_H

#include "api/attester/outbox/outbox.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"

enum { ATT_SILENCE_MS = 30000 };

struct att_outbox {
    struct att_outbox_options options;
    struct tide_pg *pg;
    uint32_t deployment; /* 0: not found yet */
    int64_t looked_ms;   /* monotonic: when it was last looked for */
    bool listening, held;
};

/* Of row o: a decision stands that is newer, in its session; or about its subject, and sent. which:
 * a condition on that row, n. */
#define ATT_NEWER(which)                                                                 \
    "EXISTS (SELECT FROM kyc.outbox n WHERE n.deployment = o.deployment AND n.subject =" \
    " o.subject AND " which " AND (n.session_id = o.session_id AND n.decision_rev >"     \
    " o.decision_rev OR n.id > o.id AND n.state IN ('signed', 'submitted', 'confirmed')))"
/* KYC signed it. */
#define ATT_SUPERSEDED ATT_NEWER("n.genuine")
/* The same, or its MAC was not judged yet: no reason to end row o, but it may not be signed. */
#define ATT_HELD_BACK ATT_NEWER("n.genuine IS NOT FALSE")

/* Writes what was found of the MACs of these rows: "{1,2}". (outbox_move.c) */
tide_status att_outbox_judge(struct att_outbox *outbox, const char *ids, bool genuine,
                             struct tide_err *err) TIDE_MUST_USE;

/* 32 bytes as "\x…", NUL-terminated. */
static inline void att_hex_literal(char out[2 * TIDE_HASH_BYTES + 3],
                                   const uint8_t hash[TIDE_HASH_BYTES])
{
    memcpy(out, "\\x", 2);
    tide_hex(out + 2, tide_slice_of(hash, TIDE_HASH_BYTES));
    out[2 + 2 * TIDE_HASH_BYTES] = 0;
}

#endif
