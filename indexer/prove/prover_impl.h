/* Internal to the files of this folder. */
#ifndef INDEXER_PROVE_PROVER_IMPL_H
#define INDEXER_PROVE_PROVER_IMPL_H

#include "indexer/archive/checkpoint.h"
#include "indexer/archive/history_state.h"
#include "indexer/archive/votes.h"
#include "indexer/prove/prover.h"
#include "tidemark/pg.h"
#include "tidemark/retry.h"

#include <pthread.h>
#include <stdatomic.h>

/* Progress of collecting the parts of proofs. A sweep goes down from the newest proven ledger. */
struct proof_parts {
    uint32_t top;       /* the newest ledger of the last sweep; 0: none yet */
    uint32_t at, floor; /* the sweep goes on at `at`, down to `floor`; at is 0 when it has ended */
    bool missing;       /* a window of the last sweep could not be collected */
    uint32_t state;     /* the checkpoint whose state is stored; 0: none */
};

/* The parts that prove entries, beside the votes of a window. */
struct proof_state {
    uint32_t ledger;
    const struct history_state *buckets;
    uint32_t header_count;
    const struct tide_buf *headers; /* each behind its length */
    uint32_t signed_ledger;
};

/* Headers and results of ledgers until one statement stores them. An array of bytea would take the
 * server longer to read than to store. */
struct ledger_parts {
    struct tide_buf places; /* an array without its end; of each ledger: its number, where its
                               header begins, the bytes of its header and of its results */
    struct tide_buf hex;    /* headers, with the ledger's results behind each */
};

/* Statements of each pass and window, which the session keeps prepared. */
enum prove_statement { PROVE_PLACE, PROVE_WANTED, PROVE_UNPROVEN, PROVE_LEDGERS, PROVE_STATEMENTS };

/* The state of the prover's thread. Owner: the prover. Thread: the prover's alone, from the start
 * of the thread to its end. */
struct proving {
    struct tide_config config; /* http_tries is 1: the next pass asks again */
    struct tide_quorum quorum;
    uint8_t network_id[TIDE_HASH_BYTES];
    char deployment[12];
    uint32_t deployment_id;
    struct tide_pg *pg;              /* NULL: not connected */
    bool prepared[PROVE_STATEMENTS]; /* the session has the statement */
    struct archive *archive;
    bool (*stopping)(void *self); /* called while the thread waits */
    void *stopping_self;

    uint32_t from, to; /* indexed ledgers, linked by their hashes; 0, 0: none */
    uint32_t proven;   /* the highest of them that is proven; 0: none */
    uint32_t used;     /* the newest checkpoint with a quorum's votes that was read; 0: none */
    struct proof_parts parts;
    struct checkpoint_task task;
    struct tide_buf last_set;                            /* the task's; empty: it read none */
    uint8_t hashes[CHECKPOINT_LEDGERS][TIDE_HASH_BYTES]; /* hashes[0]: of the task's first - 1 */
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
    _Atomic uint32_t indexed;    /* the newest ledger that the owner reported */
    pthread_mutex_t lock;        /* used for the condition only */
    pthread_cond_t wake;
};

/* prover.c */
/* Returns the first checkpoint that may prove more than is proven. */
uint32_t prove_next(const struct proving *p);
/* Returns whether a pass may find work in an index up to the ledger: the next checkpoint, or what
 * the last pass left undone. */
bool prove_due(const struct proving *p, uint32_t indexed);

/* parts.c */
/* Collects parts of some windows. p->parts.at is 0 when there is nothing left to do. */
tide_status prove_collect(struct proving *p, struct tide_err *err) TIDE_MUST_USE;
/* Begins a sweep from the newest proven ledger. at is 0 if nothing proven is kept. */
void sweep_begin(struct proof_parts *parts, uint32_t proven, uint32_t oldest);
/* Returns the first ledger that the next statement looks through; the last one is at. */
uint32_t sweep_from(const struct proof_parts *parts);
/* Returns the first ledger that the votes of the checkpoint can prove. */
uint32_t sweep_window_first(uint32_t checkpoint);
/* Goes on below `first`; at becomes 0 when the sweep has ended. */
void sweep_on(struct proof_parts *parts, uint32_t first);

/* store.c: parts of proofs */
/* Returns the oldest ledger of which parts are kept. */
uint32_t prove_oldest_kept(const struct proving *p);
/* Marks the window's ledgers that have transactions of the deployment and are proven. */
tide_status prove_wanted(struct proving *p, uint32_t checkpoint, bool wanted[CHECKPOINT_LEDGERS],
                         struct tide_err *err) TIDE_MUST_USE;
/* Finds the highest ledger of the range that has transactions of the deployment and no results; 0:
 * there is none. */
tide_status prove_find_unproven(struct proving *p, uint32_t from, uint32_t to, uint32_t *found,
                                struct tide_err *err) TIDE_MUST_USE;
void prove_parts_init(struct ledger_parts *parts);
void prove_parts_release(struct ledger_parts *parts);
/* Adds a ledger's row. results is empty if the ledger has none, or if they follow: a stored row
 * without results takes them. */
tide_status prove_parts_add(struct ledger_parts *parts, uint32_t ledger, tide_slice header,
                            tide_slice results, struct tide_err *err) TIDE_MUST_USE;
/* Returns whether the rows fill a statement. */
bool prove_parts_full(const struct ledger_parts *parts);
/* Stores what was added, and empties it. */
tide_status prove_parts_store(struct proving *p, struct ledger_parts *parts,
                              struct tide_err *err) TIDE_MUST_USE;
/* envelopes: elements of an array of bytea as text. An empty set is stored as NULL. */
tide_status prove_store_votes(struct proving *p, uint32_t ledger, tide_slice set,
                              const struct tide_buf *envelopes, struct tide_err *err) TIDE_MUST_USE;
/* Replaces the state that is stored. set and envelopes: as prove_store_votes has them. */
tide_status prove_store_buckets(struct proving *p, const struct proof_state *state, tide_slice set,
                                const struct tide_buf *envelopes,
                                struct tide_err *err) TIDE_MUST_USE;
/* Deletes the parts of the ledgers that are older than proof_ledgers. */
tide_status prove_drop_parts(struct proving *p, struct tide_err *err) TIDE_MUST_USE;

/* store.c: proofs, forks, the state */
tide_status prove_connect(struct proving *p, struct tide_err *err) TIDE_MUST_USE;
/* Sets p->from, p->to and p->proven from the database, and the checkpoint whose state is stored. */
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
