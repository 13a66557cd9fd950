/* Declarations that the files which write a call's transaction share. */
#ifndef SIM_CHAIN_CALL_H
#define SIM_CHAIN_CALL_H

#include "tools/sim/chain/chain.h"

/* A transaction that is being made. */
struct chain_making {
    struct chain *chain; /* the call and its fee */
    struct chain_slot *slot;
    const struct sim_outcome *out; /* outcome of the call */
    const struct sim_contract *contract;
    const sim_val *args;
    uint32_t read_only, read_write;                   /* keys of the footprint */
    uint32_t changed;                                 /* entries created, updated or removed */
    uint32_t changes, events, tx_events, diagnostics; /* items in the buffers of the chain */
    uint32_t archived;      /* restored keys: their indexes in the read-write footprint */
    bool failed_by_network; /* resources ran out: the contract did not refuse */
    bool code_lapsed;       /* the call runs the shared code, whose life had ended */
};

/* The functions below append a part of the transaction to its buffer of the chain and count it in
 * m. */
void chain_put_touches(struct chain_making *m);
void chain_put_events(struct chain_making *m);
void chain_put_diagnostics(struct chain_making *m);
void chain_put_footprint(struct chain_making *m);
/* Returns the hash of a contract's code; NULL for Stellar assets and before the deployment. */
const uint8_t *chain_code_of(const struct sim_contract *contract);
/* Appends the key of code to the footprint: read-write if the call creates or restores it, else
 * read-only. */
void chain_put_code_key(struct chain_making *m, const uint8_t *hash);
/* Appends the changes of used nonces and, if the call passed, of all that it touched. */
void chain_put_changes(struct chain_making *m);
/* Appends the LedgerKey of a touch. */
void chain_put_touch_key(struct chain_making *m, struct tide_buf *to,
                         const struct sim_touch *touch);
/* Returns true for a persistent entry whose life had ended: the call that touches it restores it
 * first. */
bool chain_was_lapsed(const struct chain_making *m, const struct sim_touch *touch);
/* Evicts temporary entries whose life had ended when the call read them, as the network's eviction
 * scan would. */
void chain_sweep(struct chain_making *m);
/* Gives the refund with the transaction, as TransactionMeta 3 does. Overwrites chain->archived, to
 * whose bytes `to` points then. */
void chain_refund_at_once(struct chain *chain, struct sim_account *payer, int64_t refund,
                          struct lcm_list *to);
/* Appends the entry of a used nonce, and its key to the footprint. */
void chain_put_nonce(struct chain_making *m, struct sim_addr party, int64_t nonce,
                     uint32_t live_until);

/* Appends an SCAddress. */
void chain_put_addr(struct tide_buf *buf, struct sim_addr party);
/* Returns the nonce of out->auths[i], a function of ledger, transaction and i. */
int64_t chain_nonce(const struct chain_making *m, uint32_t i);
/* Appends the nonce's key as ScVal. */
void chain_nonce_key(struct tide_buf *key, int64_t nonce);
/* The content that the signature of an authorisation covers. */
struct chain_signed {
    int64_t nonce;
    uint32_t expires;      /* last ledger in which the signature is valid */
    tide_slice invocation; /* SorobanAuthorizedInvocation XDR */
};
/* Hashes the preimage of an authorisation's signature. */
void chain_auth_hash(const uint8_t network_id[TIDE_HASH_BYTES], const struct chain_signed *what,
                     uint8_t out[TIDE_HASH_BYTES]);
/* Returns the key that signs for a contract of the parties, or NULL if there is none. */
const uint8_t *chain_signer(const struct parties *parties, struct sim_addr party);
/* Appends a signature in the form that accounts check: a Vec of one Map. */
void chain_put_signature(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES],
                         const uint8_t signature[TIDE_SIGNATURE_BYTES]);

/* Append the InvokeHostFunctionOp to chain->body, signatures included. */
void chain_create_body(struct chain_making *m);
void chain_invoke_body(struct chain_making *m);

#endif
