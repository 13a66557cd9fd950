/* tidemark-attester as a program: declarations that its commands share.
 *
 * The process holds the verifier's key, listens on no port, and has one thread. All its state is in
 * kyc.outbox: after a crash, a new process continues from the rows there. */
#ifndef API_ATTESTER_ATTESTER_H
#define API_ATTESTER_ATTESTER_H

#include "api/attester/chain/signer.h"
#include "api/attester/outbox/outbox.h"
#include "tidemark/clock.h"
#include "tidemark/config.h"

struct att_program {
    const struct tide_config *config;
    const struct tide_clock *clock;
    struct tide_deployment *deployment;
    const struct tide_contract *contract; /* points into deployment: the compliance registry */
    struct att_signer *signer;            /* NULL if the command does not sign */
    uint8_t intent_key[TIDE_HASH_BYTES];  /* verifies KYC's MACs; set only if signer is */
    struct att_outbox *outbox;
    bool (*stopped)(void *self); /* returns true after SIGTERM or SIGINT */
};

struct att_run {
    bool once; /* end as soon as no row can be moved further */
    bool dry;  /* print one line for each row; sign and write nothing */
};
/* Moves rows of the outbox until program->stopped returns true (TIDE_OK). With once, returns the
 * first failure instead of retrying. Fails with TIDE_E_CHAIN if every server belongs to another
 * network. (run.c) */
tide_status att_run(struct att_program *program, const struct att_run *mode,
                    struct tide_err *err) TIDE_MUST_USE;

/* Prints the rows of the outbox by state, and whether the chain of hashes in kyc.audit is
 * intact. Fails with TIDE_E_CONFLICT if it is broken. (command.c) */
tide_status att_status(struct att_program *program, struct tide_err *err) TIDE_MUST_USE;
/* Records the review of intent id by a person: queues a parked intent again, or notes that a person
 * restored the status that a confirmed one overwrote (attended). Fails with TIDE_E_USAGE if id is
 * no number, and with TIDE_E_MISSING if the intent waits for nothing of that. */
tide_status att_review(struct att_program *program, const char *id, bool attended,
                       struct tide_err *err) TIDE_MUST_USE;

#endif
