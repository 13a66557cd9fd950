/* kyc.outbox as the attester sees it: one row at a time, every move fenced and audited.
 *
 * Lock    one session of the database holds an advisory lock of the verifier's key on its network,
 *         and one of the deployment's rows, and does all the writing: who has lost them can no
 *         longer write. A second attester of the deployment waits, with another key too.
 * Moves   an UPDATE names the state that it leaves and the envelope it knows; its row in kyc.audit
 *         is of the same transaction. TIDE_E_FENCED: another process moved it; look again.
 * Errors  TIDE_E_DB (later), TIDE_E_DB_FATAL, TIDE_E_STOPPED. */
#ifndef API_ATTESTER_OUTBOX_OUTBOX_H
#define API_ATTESTER_OUTBOX_OUTBOX_H

#include "api/attester/chain/envelope.h"
#include "tidemark/deployment.h"
#include "tidemark/pg.h"

struct att_outbox; /* opaque */

struct att_outbox_options {
    const char *conninfo;
    const struct tide_deployment *deployment; /* borrowed */
    const char *contract;                     /* C…, the compliance registry; borrowed */
    const uint8_t *key;                       /* 32 bytes: whose lock; borrowed */
    const uint8_t *intent_key; /* 32 bytes: of KYC's MACs; borrowed; NULL: no row is worked on */
    bool (*stopped)(void *self);
    void *self;
};

/* Does not connect yet. TIDE_E_CONFIG, TIDE_E_MEMORY. */
tide_status att_outbox_open(struct att_outbox **out, const struct att_outbox_options *options,
                            struct tide_err *err) TIDE_MUST_USE;
void att_outbox_close(struct att_outbox *outbox); /* NULL is fine */

/* Connects where there is no connection, finds the deployment, listens. TIDE_E_MISSING: it is not
 * indexed yet. Must have succeeded before what follows. */
tide_status att_outbox_ready(struct att_outbox *outbox, struct tide_err *err) TIDE_MUST_USE;
/* Which deployment that is: another one after the network was reset. 0: none yet. */
uint32_t att_outbox_deployment(const struct att_outbox *outbox);
/* Takes the locks, *held tells; they stay taken while the session lasts. */
tide_status att_outbox_lock(struct att_outbox *outbox, bool *held,
                            struct tide_err *err) TIDE_MUST_USE;
bool att_outbox_held(const struct att_outbox *outbox);
/* Waits for news, at most ms. */
tide_status att_outbox_wait(struct att_outbox *outbox, uint32_t ms,
                            struct tide_err *err) TIDE_MUST_USE;

enum att_state { ATT_QUEUED, ATT_SIGNED, ATT_SUBMITTED };

struct att_row {
    uint64_t id;
    uint8_t subject[44]; /* SCAddress */
    size_t subject_len;  /* 0: the row's text is no address */
    bool revoke;
    uint32_t jurisdiction;
    uint64_t expires_at;
    uint8_t metadata[TIDE_HASH_BYTES];
    uint8_t attested[TIDE_HASH_BYTES]; /* revoke: metadata of the session's last attestation */
    bool has_attested;
    enum att_state state;
    bool superseded;   /* a newer decision stands: never to be sent */
    uint64_t max_time; /* of a queued one: of an envelope given up by a person; 0: none */
    uint32_t attempts, bad_seq;
    /* signed, submitted */
    int64_t seq;
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t submit_ledger, sent_ledger;
    bool bumped;
    char last_status[64];
    struct tide_buf envelope, bump;
};

void att_row_init(struct att_row *row);
void att_row_release(struct att_row *row);

/* The next one to work on into *row: the one under way, else the oldest that is due; with behind:
 * whichever comes first behind that id. *any false: nothing to do. TIDE_E_DECODE: row->id cannot be
 * acted upon; att_outbox_reject makes way for the others. */
tide_status att_outbox_next(struct att_outbox *outbox, struct att_row *row, const uint64_t *behind,
                            bool *any, struct tide_err *err) TIDE_MUST_USE;

/* Judges the MACs of rows that came since, some at a time: *forged is how many had none that is
 * valid and are now parked, *more says that others wait. Before att_outbox_next, which has only
 * rows that were found genuine. */
tide_status att_outbox_screen(struct att_outbox *outbox, uint32_t *forged, bool *more,
                              struct tide_err *err) TIDE_MUST_USE;
/* Parks a row that cannot be read, whatever is in it. */
tide_status att_outbox_reject(struct att_outbox *outbox, uint64_t id,
                              struct tide_err *err) TIDE_MUST_USE;

/* queued -> signed: row's envelope, hash, seq, max_time and submit_ledger; verifier (G…)
 * pays bid stroops at most. */
tide_status att_outbox_signed(struct att_outbox *outbox, const struct att_row *row,
                              const char *verifier, int64_t bid,
                              struct tide_err *err) TIDE_MUST_USE;
/* Stroops of the last 24 hours: what was charged, and bid where that is not known. */
tide_status att_outbox_spent(struct att_outbox *outbox, int64_t *stroops,
                             struct tide_err *err) TIDE_MUST_USE;
/* What row's envelope cost; 0: it never came. */
tide_status att_outbox_charged(struct att_outbox *outbox, const struct att_row *row,
                               int64_t stroops, struct tide_err *err) TIDE_MUST_USE;
/* Keeps the fee bump before it is sent. */
tide_status att_outbox_bumped(struct att_outbox *outbox, const struct att_row *row, int64_t fee,
                              const uint8_t hash[TIDE_HASH_BYTES],
                              struct tide_err *err) TIDE_MUST_USE;
/* What was heard of sending, at that ledger; taken: a server has it, the row becomes submitted. */
tide_status att_outbox_sent(struct att_outbox *outbox, const struct att_row *row, bool taken,
                            const char *heard, struct tide_err *err) TIDE_MUST_USE;
/* attention: why a person must look nevertheless (att_decide_overwrote), a line of the audit of its
 * own; NULL: nothing. */
tide_status att_outbox_confirmed(struct att_outbox *outbox, const struct att_row *row,
                                 uint32_t ledger, const char *heard, const char *attention,
                                 struct tide_err *err) TIDE_MUST_USE;
/* reason and detail as kyc.outbox has them (detail NULL: what was heard before stays). */
tide_status att_outbox_parked(struct att_outbox *outbox, const struct att_row *row,
                              const char *reason, const char *detail,
                              struct tide_err *err) TIDE_MUST_USE;
/* Back to queued, without an envelope. clash: another program used its number. */
tide_status att_outbox_requeued(struct att_outbox *outbox, const struct att_row *row, bool clash,
                                const char *heard, struct tide_err *err) TIDE_MUST_USE;
tide_status att_outbox_superseded(struct att_outbox *outbox, const struct att_row *row,
                                  struct tide_err *err) TIDE_MUST_USE;
/* A queued one is not looked at again before that many milliseconds. */
tide_status att_outbox_later(struct att_outbox *outbox, const struct att_row *row, uint32_t ms,
                             const char *heard, struct tide_err *err) TIDE_MUST_USE;
/* A line of kyc.audit that is no move: what, about whom; detail is JSON. */
tide_status att_outbox_note(struct att_outbox *outbox, const char *what, const char *about,
                            const char *detail, struct tide_err *err) TIDE_MUST_USE;

/* A person's word: a parked one may be tried again. *found false: it is not parked. */
tide_status att_outbox_release(struct att_outbox *outbox, uint64_t id, const char *who, bool *found,
                               struct tide_err *err) TIDE_MUST_USE;
/* A person looked at what a confirmed one did. *found false: it needs no attention. */
tide_status att_outbox_attended(struct att_outbox *outbox, uint64_t id, const char *who,
                                bool *found, struct tide_err *err) TIDE_MUST_USE;
/* What happened since the last heartbeat. */
struct att_tally {
    uint64_t sent, confirmed, parked; /* envelopes sent; intents that came to such an end */
    uint64_t failures;                /* turns that a server or the database failed      */
};
/* What the attester says of itself every few seconds: kyc.attester. Who holds the lock alone. */
struct att_heartbeat {
    const char *verifier; /* G… */
    const char *state;    /* working, waiting, stopped */
    uint32_t ledger;      /* newest that a server told; 0: none */
    int64_t balance;      /* stroops; -1: not known, or no account */
    uint64_t standing;    /* as att_outbox_standing counted last */
    struct att_tally tally;
    const char *error; /* what failed last; NULL: nothing since the last heartbeat */
};
/* (outbox_heartbeat.c) */
tide_status att_outbox_heartbeat(struct att_outbox *outbox, const struct att_heartbeat *heartbeat,
                                 struct tide_err *err) TIDE_MUST_USE;
/* Rows o of kyc.outbox, $1 the deployment, $2 the registry: a revocation is confirmed and is its
 * session's last word, and the index still has the session's attestation, k. Left out while the
 * index has not reached the ledger that is named. */
#define ATT_STANDING                                                                               \
    " FROM kyc.outbox AS o"                                                                        \
    " JOIN chain.cursor AS c ON c.deployment = o.deployment AND o.confirmed_ledger NOT BETWEEN"    \
    " c.ledger AND c.ledger + 100"                                                                 \
    " JOIN state.compliance_registry_kyc AS k ON k.deployment = o.deployment AND k.contract = $2"  \
    " AND k.address = o.subject WHERE o.deployment = $1::int AND o.action = 'revoke' AND o.state"  \
    " = 'confirmed' AND EXISTS (SELECT FROM kyc.outbox AS a WHERE a.session_id = o.session_id AND" \
    " a.action = 'attest' AND a.genuine AND a.meta_hash = k.metadata) AND NOT EXISTS (SELECT FROM" \
    " kyc.outbox AS n WHERE n.session_id = o.session_id AND n.genuine AND n.decision_rev >"        \
    " o.decision_rev)"
/* Their number, 1000 at most. It reads all revocations: not for every turn. (outbox_heartbeat.c) */
tide_status att_outbox_standing(struct att_outbox *outbox, uint64_t *count,
                                struct tide_err *err) TIDE_MUST_USE;
/* The session, for the command status. */
struct tide_pg *att_outbox_pg(struct att_outbox *outbox);

#endif
