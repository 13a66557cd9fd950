/* One turn of the attester: the next row of the outbox moves one step further.
 *
 * Order   if an envelope is under way, the turn works on that row alone, so the verifier has one
 *         transaction at a time. Every envelope is in the database before it is sent.
 * Trust   one server is believed if an error costs little: sending again, or waiting. To end an
 *         intent or to sign, the index must agree; if the index does not follow the network, a
 *         second server. Without either, nothing is signed.
 * Clocks  no turn if host and database differ, or if the host is behind the chain.
 * Threads one. */
#ifndef API_ATTESTER_WORK_H
#define API_ATTESTER_WORK_H

#include "api/attester/chain/rpc.h"
#include "api/attester/chain/signer.h"
#include "api/attester/decide.h"
#include "api/attester/index.h"
#include "tidemark/config.h"

struct att_work {
    const struct tide_config *config; /* borrowed, as all pointers here */
    const struct tide_clock *clock;
    struct att_rpc *rpc;
    struct att_signer *signer;
    struct att_outbox *outbox;
    uint32_t deployment;    /* deployment of the last turn; 0: none yet */
    struct att_index index; /* as of the start of the turn */
    uint64_t now;           /* unix seconds of this host at the start of the turn */
    bool dry;               /* prints what would be done; signs and writes nothing */
    uint64_t skip;          /* dry: rows up to this id were printed */
    struct att_row row;
    struct att_claim claim; /* claim of row; its verifier is the key that has signed it or will */
    bool foreign; /* another key signed the row: it is followed, but nothing is signed for it */
    struct tide_call call;
    struct tide_buf args, soroban, auth;
    struct att_tally tally; /* counts since the last heartbeat, which clears them */
    uint32_t unavailable;   /* pauses in a row without a simulation */
    int64_t balance;        /* stroops of the verifier's account when read last; -1: unknown */
};

void att_work_init(struct att_work *work);
void att_work_release(struct att_work *work); /* frees its buffers, not what it borrows */

enum att_turn {
    ATT_TURN_IDLE,  /* no row is due */
    ATT_TURN_AGAIN, /* a row moved: take the next turn at once */
    ATT_TURN_WAIT,  /* wait for the network first */
};

/* Takes one turn and sets *turn. Fails with TIDE_E_IO or TIDE_E_CHAIN (servers), TIDE_E_CONFLICT
 * (clocks differ, or the index is forked), TIDE_E_DB, TIDE_E_DB_FATAL (database), TIDE_E_MEMORY or
 * TIDE_E_STOPPED. A failure leaves every row consistent; take another turn later. */
tide_status att_work_turn(struct att_work *work, enum att_turn *turn,
                          struct tide_err *err) TIDE_MUST_USE;

#endif
