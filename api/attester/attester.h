/* tidemark-attester as a program: what its commands share.
 *
 * The process holds the verifier's key, listens on nothing, and has one thread. What it knows is in
 * kyc.outbox; it may be killed at any moment, and the next one goes on from there. */
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
    const struct tide_contract *contract; /* the compliance registry, of deployment */
    struct att_signer *signer;            /* NULL for commands that need none */
    uint8_t intent_key[TIDE_HASH_BYTES];  /* checks KYC's MACs; where signer is there */
    struct att_outbox *outbox;
    bool (*stopped)(void *self); /* a signal came */
};

/* Reads the deployment, opens the key where with_key, prepares the outbox. TIDE_E_CONFIG,
 * TIDE_E_IO, TIDE_E_MEMORY. */
tide_status att_program_open(struct att_program *program, bool with_key,
                             struct tide_err *err) TIDE_MUST_USE;
void att_program_close(struct att_program *program);

struct att_run {
    bool once; /* ends when nothing more can be done */
    bool dry;  /* says what it would do, once; signs and writes nothing */
};
/* Works until stopped. TIDE_OK; with once also what stood in the way. TIDE_E_CHAIN: every server is
 * of another network. (run.c) */
tide_status att_run(struct att_program *program, const struct att_run *how,
                    struct tide_err *err) TIDE_MUST_USE;

/* Prints what is in the outbox, and whether the audit is whole (TIDE_E_CONFLICT when not).
 * (command.c) */
tide_status att_status(struct att_program *program, struct tide_err *err) TIDE_MUST_USE;
/* A parked intent may be tried again: a person looked. TIDE_E_MISSING: there is none such. */
tide_status att_requeue(struct att_program *program, const char *id,
                        struct tide_err *err) TIDE_MUST_USE;
/* What a confirmed intent overwrote was set right: a person did. TIDE_E_MISSING: it asks for none.
 */
tide_status att_attended(struct att_program *program, const char *id,
                         struct tide_err *err) TIDE_MUST_USE;

#endif
