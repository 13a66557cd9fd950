/* Ledgers as the network writes them: LedgerCloseMeta 2 with TransactionMeta 4 (protocol 25), or
 * LedgerCloseMeta 1 with TransactionMeta 3 (protocol 22).
 *
 * Use      lcm_open. Then for each ledger: lcm_begin, lcm_add for each transaction in apply order,
 *          lcm_end, which returns the bytes of one LedgerCloseMeta.
 * Hashes   Header, chain link, transaction set (sorted by hash, classic and Soroban phases), result
 *          set, transactions and invocation events have true hashes. Signatures of the given keys
 *          are true. Bucket-list hashes are true with `buckets`, else made up.
 * Memory   Buffers grow to the largest ledger and stay; every slice that is passed in is copied
 *          before the call returns.
 * Errors   Only size: a ledger over TIDE_LEDGER_BYTES_MAX, or no memory. lcm_end reports it.
 * Threads  One thread uses an lcm. */
#ifndef SIM_LCM_H
#define SIM_LCM_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/limits.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"
#include "tools/sim/ledger/bucket_list.h"
#include "tools/sim/ledger/keys.h"

/* OperationType of the operations that this module writes. */
enum lcm_op {
    LCM_OP_CREATE_ACCOUNT = 0,
    LCM_OP_PAYMENT = 1,
    LCM_OP_MANAGE_DATA = 10,
    LCM_OP_INVOKE = 24,
    LCM_OP_EXTEND_TTL = 25,
    LCM_OP_RESTORE = 26,
};

#define LCM_OPS_MAX 4u

/* Changes, events or keys: their XDR back to back, and their number. */
struct lcm_list {
    tide_slice xdr;
    uint32_t count;
};

/* One operation with its result. */
struct lcm_operation {
    enum lcm_op type;
    tide_slice body;                  /* the arm of OperationBody, without the discriminant */
    int32_t code;                     /* result code of the operation's arm; 0: success */
    uint8_t success[TIDE_HASH_BYTES]; /* out, for INVOKE: hash of return value and events */
    struct lcm_list changes;          /* LedgerEntryChange */
    struct lcm_list events;           /* ContractEvent */
};

/* One transaction. Slices and pointers are read during lcm_add only. */
struct lcm_tx {
    const uint8_t *source; /* ed25519 key, 32 bytes */
    /* account that pays in a fee bump around the transaction; NULL: the source pays */
    const uint8_t *fee_source;
    uint64_t fee_source_id; /* id of a multiplexed fee_source; 0: it is not multiplexed */
    /* source account of the operations, which signs too; NULL: the transaction's */
    const uint8_t *caller;
    int64_t seq;
    int64_t fee;          /* stroops: the bid, charged before all transactions */
    int64_t fee_charged;  /* stroops: charged in the end, without the refund */
    uint64_t valid_until; /* upper time bound, unix seconds; 0: no preconditions */
    const char *memo;     /* text memo, at most 28 bytes; NULL: none */
    bool success;
    uint32_t op_count;
    struct lcm_operation ops[LCM_OPS_MAX];
    tide_slice soroban;             /* SorobanTransactionData; empty: a classic transaction */
    tide_slice return_value;        /* ScVal of a successful invocation */
    struct lcm_list fee_changes;    /* changes of charging the fee */
    struct lcm_list before;         /* changes before the operations: the sequence number */
    struct lcm_list after;          /* changes behind the operations */
    struct lcm_list refund;         /* version 1 only: in version 2, lcm_refund adds the refund */
    struct lcm_list tx_events;      /* TransactionEvent; TransactionMeta 3 has none */
    struct lcm_list diagnostics;    /* DiagnosticEvent */
    uint8_t hash[TIDE_HASH_BYTES];  /* out; with a given envelope: in */
    uint8_t inner[TIDE_HASH_BYTES]; /* out, for a fee bump: hash of the transaction in it */
    /* in: envelope as its sender signed it; empty: lcm_add makes and signs one */
    tide_slice envelope;
    const uint8_t *inner_hash; /* in: inner hash if the given envelope is a fee bump */
};

/* End of a transaction's part in `processing`, and its refund in `refunds`. */
struct lcm_part {
    size_t end;
    size_t refund_at;
    size_t refund_len;
    uint32_t refund_count;
};

/* Place of a transaction's envelope in `envelopes`, for sorting the transaction set. */
struct lcm_envelope {
    uint8_t hash[TIDE_HASH_BYTES];
    size_t at;
    size_t len;
    bool soroban;
};

/* A ledger that is being written. The caller sets the fields marked "in" before lcm_open and no
 * others. */
struct lcm {
    uint32_t version;     /* in: 1 or 2                                     */
    char passphrase[256]; /* in                                          */
    struct keys *keys;    /* in: keys that sign; NULL: envelopes bear no signature */
    uint8_t network_id[TIDE_HASH_BYTES];
    bool milliseconds; /* in: headers as of protocol 30, with close_ms */
    uint64_t shuffle;  /* in: salt of lcm_shuffle; 0: changes keep their order */
    /* in: hash of the ledger before the first; zeros usually */
    uint8_t previous_hash[TIDE_HASH_BYTES];
    struct bucket_list *buckets; /* in, after lcm_open: gets each ledger; NULL: no bucket lists */
    /* bucket list hash of the newest ledger; without `buckets` made up, but a function of all results so far */
    uint8_t bucket_hash[TIDE_HASH_BYTES];
    int64_t fee_pool; /* stroops, fees charged so far */
    uint32_t sequence;
    uint64_t close_time;
    uint32_t close_ms; /* milliseconds after it, below 1000; the caller sets it behind lcm_begin */
    uint32_t tx_count;
    uint32_t evicted_count, upgrade_count;
    union {
        struct {
            struct tide_buf envelopes; /* TransactionEnvelopes, in apply order */
            /* TransactionResultMeta or V1 of each transaction, without refunds */
            struct tide_buf processing;
            struct tide_buf results; /* TransactionResultPairs, for their hash */
            struct tide_buf evicted, upgrades;
            struct tide_buf refunds; /* changes of lcm_refund */
            struct tide_buf out;     /* the finished ledger, behind the transaction set */
        };
        struct tide_buf buffers[7]; /* all of them */
    };
    struct lcm_part *parts; /* one for each transaction, as index; index_max elements */
    struct lcm_envelope *index;
    uint32_t index_max;
};

/* Opens the buffers. lcm_close frees them. */
void lcm_open(struct lcm *lcm);
void lcm_close(struct lcm *lcm);
/* Returns the protocol version that goes with the meta's version. */
static inline uint32_t lcm_protocol(const struct lcm *lcm)
{
    return lcm->milliseconds ? 30 : lcm->version == 1 ? 22 : 25;
}

/* Begins a ledger; close_time is in unix seconds. */
void lcm_begin(struct lcm *lcm, uint32_t sequence, uint64_t close_time);
/* Appends one transaction; sets tx->hash and the success hashes. */
void lcm_add(struct lcm *lcm, struct lcm_tx *tx);
/* Version 2 only: appends the changes that give back a part of the fee of transaction i (0-based,
 * apply order). They apply behind all transactions. At most once for each transaction. */
void lcm_refund(struct lcm *lcm, uint32_t i, const struct lcm_list *changes);
/* Lists a LedgerKey as evicted by this ledger. */
void lcm_evict(struct lcm *lcm, tide_slice ledger_key);
/* Lists an upgrade with these changes. It changes nothing in the header. */
void lcm_upgrade(struct lcm *lcm, const struct lcm_list *changes);
/* Finishes the ledger; *out borrows until the next lcm_begin. Returns TIDE_E_LIMIT or
 * TIDE_E_MEMORY. */
tide_status lcm_end(struct lcm *lcm, tide_slice *out) TIDE_MUST_USE;

/* Rearranges the changes and the evicted keys of the ledger that begins at `at` in out, as a node
 * with that salt lists them. No hash changes. Returns TIDE_E_MEMORY, or a walk's error on a
 * malformed ledger. */
tide_status lcm_shuffle(struct tide_buf *out, size_t at, uint64_t salt) TIDE_MUST_USE;

/* --- parts ----------------------------------------------------------------- */

/* AccountEntry. Amounts are in stroops. */
struct lcm_account {
    uint8_t key[TIDE_HASH_BYTES];
    int64_t balance;
    int64_t seq;
    uint32_t subentries;
    uint32_t flags;
    uint32_t modified; /* ledger that wrote the entry last */
};

/* TrustLineEntry. */
struct lcm_trustline {
    uint8_t key[TIDE_HASH_BYTES];
    tide_slice asset; /* Asset XDR, not native */
    int64_t balance;
    int64_t limit;
    uint32_t flags;
    uint32_t modified;
};

/* Append a whole LedgerEntry: last modified ledger, data, extension. */
void lcm_put_account(struct tide_buf *buf, const struct lcm_account *account);
void lcm_put_trustline(struct tide_buf *buf, const struct lcm_trustline *line);
void lcm_put_ttl(struct tide_buf *buf, uint32_t modified, const uint8_t key_hash[TIDE_HASH_BYTES],
                 uint32_t live_until);
/* A contract data entry without its value. All slices are XDR. */
struct lcm_data {
    tide_slice contract; /* SCAddress */
    tide_slice key;      /* ScVal */
    uint32_t durability; /* 0 temporary, 1 persistent */
};
void lcm_put_data(struct tide_buf *buf, uint32_t modified, const struct lcm_data *data,
                  tide_slice value);

/* Append a LedgerKey. */
void lcm_put_account_key(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES]);
void lcm_put_trustline_key(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES],
                           tide_slice asset);
void lcm_put_data_key(struct tide_buf *buf, const struct lcm_data *data);
void lcm_put_code_key(struct tide_buf *buf, const uint8_t hash[TIDE_HASH_BYTES]);
void lcm_put_ttl_key(struct tide_buf *buf, const uint8_t key_hash[TIDE_HASH_BYTES]);

/* Lists a contract's entry and its lifetime as evicted. */
void lcm_evict_data(struct lcm *lcm, const struct lcm_data *data);
/* Returns a contract's entry. Writes the contract's address to the buffer. */
struct lcm_data lcm_data_of(struct tide_buf *address, const uint8_t contract[TIDE_HASH_BYTES],
                            tide_slice key, uint32_t durability);
/* Hashes the LedgerKey of a contract's entry: the key of its lifetime. */
void lcm_data_hash(uint8_t out[TIDE_HASH_BYTES], const struct lcm_data *data);

/* Append the SCAddress of an account or a contract. */
void lcm_put_address_account(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES]);
void lcm_put_address_contract(struct tide_buf *buf, const uint8_t id[TIDE_HASH_BYTES]);
/* Appends an Asset: a code of 1 to 4 letters and the issuer. */
void lcm_put_asset4(struct tide_buf *buf, const char *code, const uint8_t issuer[TIDE_HASH_BYTES]);

/* Appends a ContractEvent up to the number of topics. type: 0 SYSTEM, 1 CONTRACT, 2 DIAGNOSTIC. The
 * caller appends topics and data. */
void lcm_put_event_head(struct tide_buf *buf, const uint8_t contract[TIDE_HASH_BYTES],
                        uint32_t type, uint32_t topic_count);
/* Appends 32-bit words. */
#define lcm_words(buf, ...)                               \
    lcm_put_words(buf, (const uint32_t[]){ __VA_ARGS__ }, \
                  TIDE_COUNT(((const uint32_t[]){ __VA_ARGS__ })))
void lcm_put_words(struct tide_buf *buf, const uint32_t *words, size_t count);
/* Append the head of a Vec or Map ScVal; count items or pairs follow. */
void lcm_put_vec(struct tide_buf *buf, uint32_t count);
void lcm_put_map(struct tide_buf *buf, uint32_t count);
/* Append an ScVal. */
void lcm_put_symbol(struct tide_buf *buf, const char *text);
void lcm_put_string(struct tide_buf *buf, const char *text);
void lcm_put_i128(struct tide_buf *buf, int64_t value);

#endif
