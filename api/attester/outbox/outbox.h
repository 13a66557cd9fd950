/* Access to kyc.outbox: one row at a time; every move is fenced and audited.
 *
 * Lock    one database session holds two advisory locks: of the verifier's key on its network, and
 *         of the deployment's rows. This session does all the writing, so a process that lost its
 *         locks can't write any more. A second attester of the deployment waits, also with another
 *         key.
 * Moves   each UPDATE names the states that it may leave and the hash of the envelope that the
 *         caller knows. A trigger writes the row of kyc.audit in the same transaction.
 *         TIDE_E_FENCED: another process moved the row; read it again.
 * Errors  TIDE_E_DB (retry later), TIDE_E_DB_FATAL (retrying cannot help), TIDE_E_STOPPED.
 * Threads one outbox belongs to one thread. */
#ifndef API_ATTESTER_OUTBOX_OUTBOX_H
#define API_ATTESTER_OUTBOX_OUTBOX_H

#include "api/attester/chain/signer.h"
#include "tidemark/deployment.h"
#include "tidemark/pg.h"

struct att_outbox; /* opaque */

struct att_outbox_options {
    const char *conninfo; /* connection to the primary; NULL: libpq's defaults */
    const struct tide_deployment *deployment; /* borrowed */
    const char *contract; /* C…, address of the compliance registry; borrowed */
    const uint8_t *key; /* 32 bytes, the verifier's public key, part of the lock's name; borrowed */
    const uint8_t *intent_key; /* 32 bytes, verifies MACs; borrowed; NULL: for commands */
    bool (*stopped)(void *self);
    void *self;
};

/* Copies the options; connects only in att_outbox_ready. Fails with TIDE_E_MEMORY. */
tide_status att_outbox_open(struct att_outbox **out, const struct att_outbox_options *options,
                            struct tide_err *err) TIDE_MUST_USE;
void att_outbox_close(struct att_outbox *outbox); /* NULL is fine */

/* Connects if no connection is alive, finds the newest deployment of the network, and listens
 * for new rows. Fails with TIDE_E_MISSING if the deployment is not indexed yet, and with
 * TIDE_E_CONFIG if the roles in the file are not those of the index. Must have succeeded before
 * the calls below. */
tide_status att_outbox_ready(struct att_outbox *outbox, struct tide_err *err) TIDE_MUST_USE;
/* Returns the id of the deployment; a different one after the network was reset; 0: none yet. */
uint32_t att_outbox_deployment(const struct att_outbox *outbox);
/* Tries to take both locks and sets *held to whether this session has them. The locks stay taken
 * until the session ends. */
tide_status att_outbox_lock(struct att_outbox *outbox, bool *held,
                            struct tide_err *err) TIDE_MUST_USE;
/* Returns true if the locks are taken and the session is alive. */
bool att_outbox_has_lock(const struct att_outbox *outbox);
/* Waits at most ms milliseconds for a notification of new rows. Returns TIDE_OK also without
 * one. */
tide_status att_outbox_wait(struct att_outbox *outbox, uint32_t ms,
                            struct tide_err *err) TIDE_MUST_USE;

enum att_state { ATT_QUEUED, ATT_SIGNED, ATT_SUBMITTED };

/* One intent. The texts of the row are decoded and checked. */
struct att_row {
    uint64_t id;
    uint8_t subject[44]; /* SCAddress */
    size_t subject_len;  /* 0: the row's text is not an address */
    bool revoke;
    uint32_t jurisdiction;
    uint64_t expires_at;
    uint8_t metadata[TIDE_HASH_BYTES];
    uint8_t attested[TIDE_HASH_BYTES]; /* revoke: metadata of the session's last attestation */
    bool has_attested;
    uint32_t known_ledger; /* ledger that confirmed the person's newest intent; 0: none was */
    enum att_state state;
    bool superseded;   /* a newer decision replaces this one: never to be sent */
    bool reviewed;     /* a person released it after review */
    uint64_t max_time; /* end of the envelope; of a queued row: of one given up, 0: none */
    uint32_t attempts, bad_seq;
    /* The fields below are set if state is not ATT_QUEUED. */
    int64_t seq;
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t submit_ledger, sent_ledger;
    bool bumped;
    char last_status[64];
    struct tide_buf envelope, bump; /* TransactionEnvelope; fee bump around it */
};

void att_row_init(struct att_row *row);
void att_row_release(struct att_row *row);

/* Reads the next row to work on into *row: the one under way, else the oldest that is due. With
 * after, reads the row with the smallest id above *after instead. Sets *any to false if there is
 * none. Fails with TIDE_E_DECODE if the row with id row->id is malformed or its MAC is not
 * valid; att_outbox_reject then parks it, so that others can follow. */
tide_status att_outbox_next(struct att_outbox *outbox, struct att_row *row, const uint64_t *after,
                            bool *any, struct tide_err *err) TIDE_MUST_USE;

/* Checks the MACs of one batch of new rows, oldest first, and stores the results. Rows without a
 * valid MAC are parked; *forged is their number. *more is true if further rows may wait.
 * att_outbox_next returns only rows that were found genuine, so call this function first. */
tide_status att_outbox_check_macs(struct att_outbox *outbox, uint32_t *forged, bool *more,
                                  struct tide_err *err) TIDE_MUST_USE;
/* Parks a malformed row. Not fenced: the unreadable field may be one that the fence compares. */
tide_status att_outbox_reject(struct att_outbox *outbox, uint64_t id,
                              struct tide_err *err) TIDE_MUST_USE;

/* Moves a row from queued to signed and stores row's envelope, hash, seq, max_time and
 * submit_ledger. verifier (G…) pays at most bid stroops. Also fenced by a newer decision about
 * the person, or a row whose MAC is not checked yet. */
tide_status att_outbox_signed(struct att_outbox *outbox, const struct att_row *row,
                              const char *verifier, int64_t bid,
                              struct tide_err *err) TIDE_MUST_USE;
/* Sums the stroops of the last 24 hours: the charged amount, or the bid of an envelope whose
 * charge is unknown. */
tide_status att_outbox_spent(struct att_outbox *outbox, uint64_t *stroops,
                             struct tide_err *err) TIDE_MUST_USE;
/* Stores the stroops that row's envelope cost; 0: no ledger included it. */
tide_status att_outbox_charged(struct att_outbox *outbox, const struct att_row *row,
                               int64_t stroops, struct tide_err *err) TIDE_MUST_USE;
/* Stores row's fee bump and its hash before it is sent; fee in stroops. */
tide_status att_outbox_bumped(struct att_outbox *outbox, const struct att_row *row, int64_t fee,
                              const uint8_t hash[TIDE_HASH_BYTES],
                              struct tide_err *err) TIDE_MUST_USE;
/* The other moves, with the values that the caller gives to each. */
enum att_move {
    ATT_MOVE_SENT,       /* stays: newest ledger, and the answer to a sending */
    ATT_MOVE_SUBMITTED,  /* the same, and a server has the envelope */
    ATT_MOVE_CONFIRMED,  /* ledger, last_status, the status that the call overwrote
                          * (att_decide_overwrote), which asks for a review and adds a row to the
                          * audit; NULL: none */
    ATT_MOVE_PARKED,     /* reason, last_status; NULL leaves last_status unchanged */
    ATT_MOVE_REQUEUED,   /* without an envelope: last_status, "true" if another program used its
                          * sequence number */
    ATT_MOVE_SUPERSEDED, /* from queued: last_status; a newer decision replaces it */
    ATT_MOVE_POSTPONED,  /* stays queued, and att_outbox_next skips it: milliseconds, last_status */
};
tide_status att_outbox_move(struct att_outbox *outbox, const struct att_row *row,
                            enum att_move move, const char *const with[3],
                            struct tide_err *err) TIDE_MUST_USE;
/* Adds a row to kyc.audit that records no move: event what about the subject about; detail is
 * JSON. */
tide_status att_outbox_note(struct att_outbox *outbox, const char *what, const char *about,
                            const char *detail, struct tide_err *err) TIDE_MUST_USE;

/* Records what the person who did about row id: released a parked row, which is queued again, or
 * attended to a confirmed one. Sets *found to false if the row waits for nothing of that. */
tide_status att_outbox_review(struct att_outbox *outbox, uint64_t id, const char *who,
                              bool attended, bool *found, struct tide_err *err) TIDE_MUST_USE;
/* Counts since the last heartbeat. */
struct att_tally {
    uint64_t sent, confirmed, parked; /* envelopes sent; intents that ended so */
    uint64_t failures;                /* turns that failed */
};
/* The attester's row of kyc.attester, written every few seconds. Only the process with the lock
 * writes it. */
struct att_heartbeat {
    const char *verifier; /* G… */
    const char *state;    /* working, waiting, stopped */
    uint32_t ledger;      /* newest ledger that servers reported; 0: none */
    int64_t balance;      /* stroops; -1: not known, or no account */
    uint64_t standing;    /* last result of att_outbox_standing */
    struct att_tally tally;
    const char *error; /* last failure; NULL: none since the last heartbeat */
};
/* Writes the heartbeat and adds the tally to the stored counts. */
tide_status att_outbox_heartbeat(struct att_outbox *outbox, const struct att_heartbeat *heartbeat,
                                 struct tide_err *err) TIDE_MUST_USE;
/* Standing attestations: confirmed revocations (o) that are the last decision of their session,
 * although the index still has the session's attestation (k). $1 is the deployment, $2 the
 * registry. A revocation is left out while the index is up to 100 ledgers behind its
 * confirmation. */
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
/* Counts the standing attestations, up to 1000. The query reads all revocations, so do not call
 * it in every turn. */
tide_status att_outbox_standing(struct att_outbox *outbox, uint64_t *count,
                                struct tide_err *err) TIDE_MUST_USE;
/* Returns the session, for the command status. */
struct tide_pg *att_outbox_pg(struct att_outbox *outbox);

#endif
