/* Ledgers as the network writes them: LedgerCloseMeta 2 with TransactionMeta 4
 * (protocol 25), or LedgerCloseMeta 1 with TransactionMeta 3 (protocol 22).
 *
 * Flow     lcm_open, then for each ledger lcm_begin, lcm_add for each transaction
 *          in apply order, lcm_end: the bytes of one LedgerCloseMeta.
 * Hashes   header, chain link, transaction set (sorted by hash, classic and Soroban
 *          phases), result set, transactions and invocation events are all true.
 *          So are signatures of keys that lcm knows. Made up: bucket-list hashes.
 * Memory   four buffers that grow to the largest ledger and stay; every slice that is
 *          handed in is copied before the call returns.
 * Errors   only size: a ledger over TIDE_LEDGER_BYTES_MAX or without memory. */
#ifndef SIM_LCM_H
#define SIM_LCM_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/limits.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"
#include "tools/sim/ledger/keys.h"

enum lcm_op {
    LCM_OP_CREATE_ACCOUNT = 0,
    LCM_OP_PAYMENT = 1,
    LCM_OP_MANAGE_DATA = 10,
    LCM_OP_INVOKE = 24,
    LCM_OP_EXTEND_TTL = 25,
    LCM_OP_RESTORE = 26,
};

#define LCM_OPS_MAX 4u

/* Changes, events or keys back to back with their number. */
struct lcm_list {
    tide_slice xdr;
    uint32_t count;
};

/* One operation with what became of it. */
struct lcm_operation {
    enum lcm_op type;
    tide_slice body; /* the arm of OperationBody, without the discriminant          */
    int32_t code;    /* result code of its arm: 0 success                           */
    uint8_t success[TIDE_HASH_BYTES]; /* out: hash of return value and events, for INVOKE */
    struct lcm_list changes;          /* LedgerEntryChange                                       */
    struct lcm_list events;           /* ContractEvent                                           */
};

/* One transaction. Slices are read during lcm_add only. */
struct lcm_tx {
    const uint8_t *source;     /* ed25519 key, 32 bytes                                  */
    const uint8_t *fee_source; /* pays by a fee bump around it; NULL: the source does    */
    int64_t seq;
    int64_t fee;          /* bid in stroops, as charged first                       */
    int64_t fee_charged;  /* after the refund                                       */
    uint64_t valid_until; /* upper time bound; 0: no preconditions                  */
    const char *memo;     /* text memo, at most 28 bytes; NULL: none                */
    bool success;
    uint32_t op_count;
    struct lcm_operation ops[LCM_OPS_MAX];
    tide_slice soroban;          /* SorobanTransactionData; empty: a classic transaction   */
    tide_slice return_value;     /* ScVal of a successful invocation                       */
    struct lcm_list fee_changes; /* charging the fee                                    */
    struct lcm_list before;      /* sequence number                                     */
    struct lcm_list after;       /* applying                                              */
    struct lcm_list refund;    /* V1 only, where it stands with the transaction: else lcm_refund */
    struct lcm_list tx_events; /* TransactionEvent; left out of TransactionMeta 3     */
    struct lcm_list diagnostics;   /* DiagnosticEvent                                     */
    uint8_t hash[TIDE_HASH_BYTES]; /* out; in: of a given envelope                        */
    tide_slice envelope;       /* given, signed by its sender; empty: made of the above        */
    const uint8_t *inner_hash; /* of a given fee bump                                          */
};

/* Where a transaction's part of the meta ends, and its refund. */
struct lcm_part {
    size_t end;
    size_t refund_at;
    size_t refund_len;
    uint32_t refund_count;
};

struct lcm_envelope {
    uint8_t hash[TIDE_HASH_BYTES];
    size_t at;
    size_t len;
    bool soroban;
};

/* The fields are lcm's own but those marked "in": set them before lcm_open. */
struct lcm {
    uint32_t version;     /* in: 1 or 2                                     */
    char passphrase[256]; /* in                                          */
    struct keys *keys;    /* in: keys that sign; NULL: envelopes bear no signature */
    uint8_t network_id[TIDE_HASH_BYTES];
    uint64_t shuffle; /* in: salt of lcm_shuffle; 0: changes stand as they were made */
    uint8_t previous_hash[TIDE_HASH_BYTES]; /* in: of the ledger before the first; usually zero */
    uint8_t bucket_hash[TIDE_HASH_BYTES];
    int64_t fee_pool;
    uint32_t sequence;
    uint64_t close_time;
    uint32_t tx_count;
    struct tide_buf envelopes;
    struct tide_buf processing;
    struct tide_buf results;
    struct tide_buf evicted;
    uint32_t evicted_count;
    struct tide_buf upgrades;
    uint32_t upgrade_count;
    struct tide_buf refunds;
    struct tide_buf out;
    struct lcm_part *parts;
    struct lcm_envelope *index;
    uint32_t index_max;
};

void lcm_open(struct lcm *lcm);
void lcm_close(struct lcm *lcm);
static inline uint32_t lcm_protocol(const struct lcm *lcm)
{
    return lcm->version == 1 ? 22 : 25;
}

void lcm_begin(struct lcm *lcm, uint32_t sequence, uint64_t close_time);
/* Appends one transaction; sets tx->hash and the success hashes. */
void lcm_add(struct lcm *lcm, struct lcm_tx *tx);
/* V2: the changes that give transaction i (0-based, apply order) part of its fee back, after all
 * transactions. At most once for each. */
void lcm_refund(struct lcm *lcm, uint32_t i, const struct lcm_list *changes);
/* A LedgerKey that leaves live state with this ledger. */
void lcm_evict(struct lcm *lcm, tide_slice ledger_key);
/* Lists an upgrade that changes nothing in the header, with these changes. */
void lcm_upgrade(struct lcm *lcm, const struct lcm_list *changes);
/* The finished ledger; *out borrows until the next lcm_begin. TIDE_E_LIMIT, TIDE_E_MEMORY. */
tide_status lcm_end(struct lcm *lcm, tide_slice *out) TIDE_MUST_USE;

/* Rearranges the changes and the evicted keys of the ledger that begins at `at` in out, as a node
 * with that salt lists them. No hash changes. */
tide_status lcm_shuffle(struct tide_buf *out, size_t at, uint64_t salt) TIDE_MUST_USE;

/* --- parts ----------------------------------------------------------------- */

struct lcm_account {
    uint8_t key[TIDE_HASH_BYTES];
    int64_t balance;
    int64_t seq;
    uint32_t subentries;
    uint32_t flags;
    uint32_t modified; /* ledger that wrote it last */
};

struct lcm_trustline {
    uint8_t key[TIDE_HASH_BYTES];
    tide_slice asset; /* Asset XDR, not native */
    int64_t balance;
    int64_t limit;
    uint32_t flags;
    uint32_t modified;
};

/* Each appends the whole LedgerEntry: last modified, data, extension. */
void lcm_put_account(struct tide_buf *buf, const struct lcm_account *account);
void lcm_put_trustline(struct tide_buf *buf, const struct lcm_trustline *line);
void lcm_put_ttl(struct tide_buf *buf, uint32_t modified, const uint8_t key_hash[TIDE_HASH_BYTES],
                 uint32_t live_until);
/* contract (SCAddress), key and value are XDR. */
struct lcm_data {
    tide_slice contract;
    tide_slice key;
    uint32_t durability; /* 0 temporary, 1 persistent */
};
void lcm_put_data(struct tide_buf *buf, uint32_t modified, const struct lcm_data *data,
                  tide_slice value);

/* LedgerKeys. */
void lcm_put_account_key(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES]);
void lcm_put_trustline_key(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES],
                           tide_slice asset);
void lcm_put_data_key(struct tide_buf *buf, const struct lcm_data *data);
void lcm_put_code_key(struct tide_buf *buf, const uint8_t hash[TIDE_HASH_BYTES]);
void lcm_put_ttl_key(struct tide_buf *buf, const uint8_t key_hash[TIDE_HASH_BYTES]);

/* SCAddress of an account or a contract. */
void lcm_put_address_account(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES]);
void lcm_put_address_contract(struct tide_buf *buf, const uint8_t id[TIDE_HASH_BYTES]);
/* Asset: code of 1 to 4 letters and its issuer. */
void lcm_put_asset4(struct tide_buf *buf, const char *code, const uint8_t issuer[TIDE_HASH_BYTES]);

/* A ContractEvent up to its body: contract, type 1; then topic count, topics, data follow. */
void lcm_put_event_head(struct tide_buf *buf, const uint8_t contract[TIDE_HASH_BYTES],
                        uint32_t topic_count);
void lcm_put_symbol(struct tide_buf *buf, const char *text);
void lcm_put_string(struct tide_buf *buf, const char *text);
void lcm_put_i128(struct tide_buf *buf, int64_t value);

#endif
