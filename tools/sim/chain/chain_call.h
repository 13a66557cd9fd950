/* What the files that write a call's transaction share. */
#ifndef SIM_CHAIN_CALL_H
#define SIM_CHAIN_CALL_H

#include "tools/sim/chain/chain.h"

/* What one transaction is made of while it is made. */
struct chain_making {
    struct chain *chain;
    struct chain_slot *slot;
    const struct sim_outcome *out;
    const struct sim_contract *contract;
    const sim_val *args;
    uint32_t read_only, read_write; /* keys of the footprint */
    uint32_t changed;               /* entries created, updated, removed */
    uint32_t changes, events, tx_events, diagnostics;
    uint32_t archived; /* places of restored keys in the read-write footprint */
    bool failed_by_network;
};

/* The parts of a transaction, each into its buffer of the chain. */
void chain_reset(struct chain *chain);
/* The account's next number; its change, counted. */
void chain_bump_sequence(struct chain *chain, struct sim_account *source, uint32_t *count);
void chain_put_touches(struct chain_making *m);
void chain_put_events(struct chain_making *m);
void chain_put_diagnostics(struct chain_making *m);
void chain_put_footprint(struct chain_making *m);
/* The key of the code that the instance names: read-only, or read-write if the call created it. */
void chain_put_code_key(struct chain_making *m);
/* Used nonces, and with a call that passed, everything that it touched. */
void chain_put_changes(struct chain_making *m);
void chain_put_touch_key(struct chain_making *m, struct tide_buf *to,
                         const struct sim_touch *touch);
/* A persistent entry whose life had ended: a call that touches it restores it first. */
bool chain_was_lapsed(const struct chain_making *m, const struct sim_touch *touch);
/* Temporary entries whose life had ended when they were looked at: the ledger sweeps them. */
void chain_sweep(struct chain_making *m);
/* What TransactionMeta 3 has in its place: the refund comes with the transaction. */
void chain_refund_at_once(struct chain *chain, struct sim_account *payer, int64_t refund,
                          struct lcm_list *to);
/* The entry of a nonce that is used up, and its key in the footprint. */
void chain_put_nonce(struct chain_making *m, struct sim_addr party, int64_t nonce,
                     uint32_t live_until);

void chain_put_addr(struct tide_buf *buf, struct sim_addr party);
/* The nonce that goes with out->auths[i], and its key as ScVal. */
int64_t chain_nonce(const struct chain_making *m, uint32_t i);
void chain_nonce_key(struct tide_buf *key, int64_t nonce);
/* What the signature of an authorisation covers. */
struct chain_signed {
    int64_t nonce;
    uint32_t expires;
    tide_slice invocation;
};
void chain_auth_hash(const uint8_t network_id[TIDE_HASH_BYTES], const struct chain_signed *what,
                     uint8_t out[TIDE_HASH_BYTES]);
/* The key that signs for a contract of the parties; NULL when there is none. */
const uint8_t *chain_signer(const struct parties *parties, struct sim_addr party);
/* A signature as accounts take it: a Vec of one Map. */
void chain_put_signature(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES],
                         const uint8_t signature[TIDE_SIGNATURE_BYTES]);

/* InvokeHostFunctionOp, signatures included, into the chain's body buffer. */
void chain_create_body(struct chain_making *m);
void chain_invoke_body(struct chain_making *m);

#endif
