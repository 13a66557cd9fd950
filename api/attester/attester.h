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

/* Reads the deployment file, opens the key if with_key, and prepares the outbox without
 * connecting. Sets the fields of *program below clock. Fails with TIDE_E_CONFIG (a setting is
 * missing or wrong), TIDE_E_IO or TIDE_E_MEMORY. Call att_program_close also after a failure. */
tide_status att_program_open(struct att_program *program, bool with_key,
                             struct tide_err *err) TIDE_MUST_USE;
/* Closes the connection and wipes both keys. */
void att_program_close(struct att_program *program);

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
/* Queues the parked intent id again after review by a person. Fails with TIDE_E_MISSING if it is
 * not parked. */
tide_status att_requeue(struct att_program *program, const char *id,
                        struct tide_err *err) TIDE_MUST_USE;
/* Records that a person restored the status that the confirmed intent id overwrote. Fails with
 * TIDE_E_MISSING if it needs no attention. */
tide_status att_attended(struct att_program *program, const char *id,
                         struct tide_err *err) TIDE_MUST_USE;

#endif
