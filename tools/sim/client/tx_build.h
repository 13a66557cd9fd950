/* Transactions as a client makes them: drafted, completed with what a simulation
 * answered, signed. */
#ifndef SIM_TX_BUILD_H
#define SIM_TX_BUILD_H

#include "tidemark/buf.h"
#include "tidemark/sign.h"
#include "tools/sim/ledger/lcm.h"

/* One operation. Slices are read during the call. */
struct tx_draft {
    const uint8_t *network_id;
    const uint8_t *source; /* ed25519 key                                             */
    int64_t seq;
    uint32_t fee;      /* all of it: inclusion and resources                      */
    uint64_t max_time; /* 0: no time bounds                                       */
    enum lcm_op op;    /* LCM_OP_INVOKE, LCM_OP_RESTORE                           */
    /* invoke */
    const uint8_t *contract;
    const char *fn;
    uint32_t arg_count;
    tide_slice args; /* ScVal back to back */
    uint32_t auth_count;
    tide_slice auth;    /* SorobanAuthorizationEntry back to back      */
    tide_slice soroban; /* SorobanTransactionData; empty: none (draft) */
};

/* Appends the envelope, signed by key; NULL: unsigned. hash: of the transaction. TIDE_E_MEMORY. */
tide_status tx_build_envelope(struct tide_buf *buf, const struct tx_draft *what,
                              struct tide_sign *key, uint8_t hash[TIDE_HASH_BYTES]) TIDE_MUST_USE;
/* Appends an authorisation entry as a simulation gave it; one for another address is signed by
 * key until that ledger. TIDE_E_DECODE: not such an entry. */
tide_status tx_build_auth(struct tide_buf *buf, const uint8_t *network_id, tide_slice entry,
                          struct tide_sign *key, uint32_t expires) TIDE_MUST_USE;

#endif
