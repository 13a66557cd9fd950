/* Internal to the files of this folder. */
#ifndef INDEXER_PROVE_PROVER_IMPL_H
#define INDEXER_PROVE_PROVER_IMPL_H

#include "indexer/archive/checkpoint.h"
#include "indexer/prove/prover.h"
#include "tidemark/pg.h"
#include "tidemark/retry.h"

#include <pthread.h>
#include <stdatomic.h>

/* The state of the prover's thread. Owner: the prover. Thread: the prover's alone, from the start
 * of the thread to its end. */
struct proving {
    struct tide_config config; /* http_tries is 1: the next pass asks again */
    struct tide_quorum quorum;
    uint8_t network_id[TIDE_HASH_BYTES];
    char deployment[12];
    uint32_t deployment_id;
    struct tide_pg *pg; /* NULL: not connected */
    struct archive *archive;
    bool (*stopping)(void *self); /* called while the thread waits */
    void *stopping_self;

    uint32_t from, to; /* indexed ledgers, linked by their hashes; 0, 0: none */
    uint32_t proven;   /* the highest of them that is proven; 0: none */
    struct checkpoint_task task;
    uint8_t hashes[CHECKPOINT_LEDGERS][TIDE_HASH_BYTES]; /* of the task, from first - 1 on */
    bool asked;                                          /* this pass asked an archive */
    char reason[TIDE_ERR_TEXT_MAX];  /* why the last checkpoint that was asked for has no proof */
    char trouble[TIDE_ERR_TEXT_MAX]; /* the reason that chain.prover has; "": none */
    bool failing;                    /* the database's failure is logged */
};

struct tide_prover {
    struct proving proving;
    pthread_t thread;
    bool started;                /* the thread is to be joined; the owner's */
    struct tide_err fork;        /* valid once forked is set */
    atomic_bool forked, closing; /* closing: the thread ends as soon as it can */
    atomic_bool finishing;       /* the thread ends after a pass */
    pthread_mutex_t lock;        /* of the condition alone */
    pthread_cond_t wake;
};

/* pass.c */
/* Proves what can be proven now. TIDE_E_CHAIN: a fork was stored. TIDE_E_STOPPED, TIDE_E_MEMORY,
 * or a failure of the database. */
tide_status prove_pass(struct proving *p, struct tide_err *err) TIDE_MUST_USE;
/* Returns the first checkpoint that may prove more than is proven. */
uint32_t prove_next(const struct proving *p);

/* store.c */
tide_status prove_connect(struct proving *p, struct tide_err *err) TIDE_MUST_USE;
/* Reads from, to and proven. */
tide_status prove_read_place(struct proving *p, struct tide_err *err) TIDE_MUST_USE;
/* Stores a proof, or a fork, if the index still has that hash of the ledger. *stored: it had. */
tide_status prove_store(struct proving *p, const struct checkpoint_proof *proof, bool *stored,
                        struct tide_err *err) TIDE_MUST_USE;
tide_status prove_store_fork(struct proving *p, const struct checkpoint_proof *proof, bool *stored,
                             struct tide_err *err) TIDE_MUST_USE;
/* Stores that archives were asked, and the trouble: "" is none. */
tide_status prove_store_state(struct proving *p, const char *trouble,
                              struct tide_err *err) TIDE_MUST_USE;

#endif
