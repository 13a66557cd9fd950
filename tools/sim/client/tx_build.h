/* Transactions as a client makes them: drafted, completed with the answer of a simulation,
 * signed. */
#ifndef SIM_TX_BUILD_H
#define SIM_TX_BUILD_H

#include "tidemark/buf.h"
#include "tidemark/sign.h"
#include "tools/sim/ledger/lcm.h"

/* A transaction with one call. Slices are read during the call only. */
struct tx_draft {
    const uint8_t *network_id;
    const uint8_t *source; /* ed25519 key                                             */
    int64_t seq;
    uint32_t fee;      /* bid in stroops: inclusion and resources */
    uint64_t max_time; /* upper time bound, unix seconds; 0: none */
    const uint8_t *contract;
    const char *fn;
    uint32_t arg_count;
    tide_slice args; /* ScVals, back to back */
    uint32_t auth_count;
    tide_slice auth;    /* SorobanAuthorizationEntries, back to back */
    tide_slice soroban; /* SorobanTransactionData; empty: none, in a draft */
};

/* Appends the envelope, signed by key unless key is NULL. hash is the transaction's. Returns
 * TIDE_E_MEMORY. */
tide_status tx_build_envelope(struct tide_buf *buf, const struct tx_draft *what,
                              struct tide_sign *key, uint8_t hash[TIDE_HASH_BYTES]) TIDE_MUST_USE;
/* Appends an authorisation entry of a simulation's answer. An entry with address credentials is
 * signed by key and valid until the ledger `expires`; one of the source stays as it is. Returns
 * TIDE_E_DECODE if the entry is malformed or of an unknown kind. */
tide_status tx_build_auth(struct tide_buf *buf, const uint8_t *network_id, tide_slice entry,
                          struct tide_sign *key, uint32_t expires) TIDE_MUST_USE;

#endif
