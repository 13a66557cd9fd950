/* One turn of the attester: the next row of the outbox, one step further.
 *
 * Order   a turn that finds an envelope under way works on that one alone: one transaction of the
 *         verifier at a time. What is signed is in the database before it is sent.
 * Trust   what one server says is believed where it costs little: sending again, waiting. Where it
 *         ends an intent, or leads to a signature, the index has to say the same; without an index
 *         that follows, a second server. Without either nothing is signed.
 * Clocks  no turn while host and database differ, or the host is behind the chain.
 * Threads one. */
#ifndef API_ATTESTER_WORK_H
#define API_ATTESTER_WORK_H

#include "api/attester/chain/rpc.h"
#include "api/attester/chain/signer.h"
#include "api/attester/decide.h"
#include "api/attester/index.h"
#include "tidemark/config.h"

struct att_work {
    const struct tide_config *config; /* borrowed, as all here */
    const struct tide_clock *clock;
    struct att_rpc *rpc;
    struct att_signer *signer;
    struct att_outbox *outbox;
    uint32_t deployment;    /* of the last turn; 0: none yet */
    struct att_index index; /* when the turn began */
    uint64_t now;           /* unix seconds of this host, when the turn began */
    bool dry;               /* says what it would do; signs and writes nothing */
    uint64_t skip;          /* dry: rows up to this id have had their turn */
    struct att_row row;
    struct att_words words; /* of row; the verifier of one under way is who signed it */
    bool foreign;           /* that was another key: it is followed, never signed for */
    struct att_call call;
    struct tide_buf args, soroban, auth;
    struct att_tally tally; /* since its reader emptied it */
    uint32_t unavailable;   /* pauses in a row since a server simulated */
    int64_t balance;        /* of our account when it was seen last, stroops; -1: not known */
};

void att_work_init(struct att_work *work);
void att_work_release(struct att_work *work); /* its own buffers */

enum att_turn {
    ATT_TURN_IDLE,  /* nothing is due                              */
    ATT_TURN_AGAIN, /* something moved: look again at once         */
    ATT_TURN_WAIT,  /* the network has to do something first       */
};

/* TIDE_OK; TIDE_E_IO, TIDE_E_CHAIN of the servers; TIDE_E_DB … of the database; TIDE_E_STOPPED. */
tide_status att_work_turn(struct att_work *work, enum att_turn *turn,
                          struct tide_err *err) TIDE_MUST_USE;

#endif
