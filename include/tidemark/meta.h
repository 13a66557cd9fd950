/* The walk: one pass over the bytes of a LedgerCloseMeta (0–2, with TransactionMeta 0–4 inside). It
 * checks every byte and passes slices to the caller's callbacks.
 *
 * Cost     no allocation, no copy; parts without a callback are stepped over.
 * Order    header · envelopes (in txSet order) · per transaction in apply order: tx, its fee
 *          changes, events and changes in the order of the bytes, tx_end · post-fee changes (V2:
 *          per transaction, with it) · upgrades · evicted keys. In V0–V2 all transactions' fee
 *          processing is stored with each transaction. Nodes list the changes of one
 *          LedgerEntryChanges in different orders.
 * Errors   the first refusal ends the walk: TIDE_E_DECODE (malformed), TIDE_E_UNKNOWN (a union arm
 *          that this build does not know), TIDE_E_LIMIT; err names ledger and byte offset. A
 *          callback's own failure ends it, too.
 * Slices   borrow from the input. */
#ifndef TIDEMARK_META_H
#define TIDEMARK_META_H

#include "tidemark/slice.h"
#include "tidemark/status.h"
#include "tidemark/xdr.h"

struct tide_envelope;

struct tide_ledger_header {
    uint32_t lcm_version; /* 0, 1, 2                                              */
    uint32_t sequence;
    uint32_t protocol;
    uint64_t close_time; /* unix seconds: the clock of contracts and time bounds */
    uint32_t close_ms;   /* milliseconds after close_time, below 1000; 0 without */
    const uint8_t *hash; /* ledgerHeader.hash: what the file claims, 32 bytes    */
    const uint8_t *previous_hash;
    const uint8_t *tx_set_hash;
    const uint8_t *result_hash; /* txSetResultHash                                    */
    const uint8_t *bucket_hash;
    tide_slice header_xdr;    /* the LedgerHeader span: SHA-256 of it is the hash      */
    tide_slice history_entry; /* the LedgerHeaderHistoryEntry span                     */
    bool no_tx_set;           /* an EMPTY_TX_SET value: the set's hash is zero         */
    tide_slice tx_set;        /* TransactionSet or GeneralizedTransactionSet span; known from the
                                 first envelope on, see tx_set callback                */
};

/* Close time in unix milliseconds. */
static inline uint64_t tide_header_closed_ms(const struct tide_ledger_header *header)
{
    return header->close_time * 1000 + header->close_ms;
}

enum tide_section {
    TIDE_SECTION_FEE,
    TIDE_SECTION_TX_BEFORE,
    TIDE_SECTION_OP,
    TIDE_SECTION_TX_AFTER,
    TIDE_SECTION_POST_FEE,
    TIDE_SECTION_UPGRADE,
};

struct tide_tx {
    uint32_t index;            /* 1-based apply order                                     */
    uint32_t count;            /* transactions in this ledger                             */
    uint32_t meta_version;     /* known from the first callback inside the meta */
    const uint8_t *hash;       /* transactionHash of the result pair (outer for fee bumps) */
    const uint8_t *inner_hash; /* hash of a fee bump's inner transaction; else NULL      */
    bool successful;
    int32_t result_code;
    int32_t inner_result_code; /* code of a fee bump's inner transaction; else result_code */
    int64_t fee_charged;
    tide_slice result_pair;     /* TransactionResultPair span, input of the result hash */
    const uint8_t *invoke_hash; /* success hash of an InvokeHostFunction op 0; else NULL */
    int32_t op_result_code;     /* InvokeHostFunction result code of op 0 when present; else 0 */
    tide_slice return_value;    /* ScVal, empty if none; known at tx_end                   */
    tide_slice op_events;       /* V3/V4: count and events span of op 0 as hashed; at tx_end */
    uint32_t op_count;          /* operations in the meta; at tx_end                       */
    tide_slice soroban_ext;     /* SorobanTransactionMetaExt span, empty if none; at tx_end */
    tide_slice meta;            /* TransactionMeta span; at tx_end                         */
};

enum tide_event_level { TIDE_EVENT_OP, TIDE_EVENT_TX, TIDE_EVENT_DIAGNOSTIC };

struct tide_event {
    enum tide_event_level level;
    uint32_t tx;    /* application index                                        */
    uint32_t op;    /* operation index, 0-based (level op)                      */
    uint32_t stage; /* level tx: 0 before all, 1 after tx, 2 after all          */
    /* level op: within the operation; level tx, stage 1: within the transaction; stages 0 and 2:
     * within the ledger */
    uint32_t index;
    uint32_t type;           /* 0 system, 1 contract, 2 diagnostic                       */
    const uint8_t *contract; /* 32 bytes or NULL                                      */
    uint32_t topic_count;
    tide_slice topics; /* the topics, back to back                                 */
    tide_slice data;
    tide_slice xdr; /* the ContractEvent                                        */
};

enum tide_change_kind {
    TIDE_CHANGE_CREATED,
    TIDE_CHANGE_UPDATED,
    TIDE_CHANGE_REMOVED,
    TIDE_CHANGE_STATE,
    TIDE_CHANGE_RESTORED,
};

enum {
    TIDE_ENTRY_ACCOUNT,
    TIDE_ENTRY_TRUSTLINE,
    TIDE_ENTRY_CONTRACT_DATA = 6,
    TIDE_ENTRY_CONTRACT_CODE = 7,
    TIDE_ENTRY_TTL = 9
};
static_assert(TIDE_ENTRY_TRUSTLINE == 1, "LedgerEntryType's numbers");
static_assert(TIDE_CHANGE_CREATED == 0 && TIDE_CHANGE_STATE == 3 && TIDE_CHANGE_RESTORED == 4,
              "LedgerEntryChangeType's numbers");

struct tide_change {
    enum tide_section section;
    uint32_t tx;    /* application index; 0 for upgrades */
    uint32_t op;    /* section op                        */
    uint32_t index; /* within its LedgerEntryChanges  */
    enum tide_change_kind kind;
    uint32_t type;          /* LedgerEntryType */
    uint32_t last_modified; /* 0 for removed */
    tide_slice entry;       /* LedgerEntry span; for REMOVED the LedgerKey span          */
    /* contract data */
    tide_slice contract; /* SCAddress span                                            */
    tide_slice key;      /* ScVal                                                     */
    uint32_t durability; /* 0 temporary, 1 persistent                                 */
    tide_slice value;    /* ScVal; empty for REMOVED                                  */
    /* TTL; contract code: key_hash is its hash, value its bytes */
    const uint8_t *key_hash;
    uint32_t live_until; /* 0 for REMOVED */
};

/* Counts and sizes that come after the transactions. */
struct tide_ledger_tail {
    uint32_t upgrade_count;
    uint32_t scp_count;        /* SCPHistoryEntry records: 0 in practice        */
    uint32_t evicted_count;    /* V1, V2                                        */
    uint64_t live_state_bytes; /* totalByteSizeOfLiveSorobanState; 0 in V0      */
};

/* Every callback may be NULL. Returning anything but TIDE_OK ends the walk. */
struct tide_walk {
    void *self;
    tide_status (*header)(void *self, const struct tide_ledger_header *header);
    tide_status (*envelope)(void *self, const struct tide_envelope *envelope);
    tide_status (*tx_set)(void *self, tide_slice tx_set); /* after its envelopes */
    /* *inside = false steps over the transaction's changes, events and meta */
    tide_status (*tx)(void *self, const struct tide_tx *tx, bool *inside);
    tide_status (*event)(void *self, const struct tide_tx *tx, const struct tide_event *event);
    tide_status (*change)(void *self, const struct tide_tx *tx, const struct tide_change *change);
    /* after the changes of one LedgerEntryChanges, if it has any */
    tide_status (*changes_end)(void *self, const struct tide_tx *tx);
    tide_status (*tx_end)(void *self, const struct tide_tx *tx);
    tide_status (*upgrade)(void *self, tide_slice ledger_upgrade);
    tide_status (*evicted)(void *self, tide_slice ledger_key);
    bool diagnostics; /* the callback event gets diagnostic events, too */
    tide_status (*end)(void *self, const struct tide_ledger_tail *tail); /* all bytes read */
};

/* Walks exactly one LedgerCloseMeta; trailing bytes are refused. */
tide_status tide_ledger_walk(const struct tide_walk *walk, tide_slice lcm,
                             struct tide_err *err) TIDE_MUST_USE;

/* Walks a single TransactionMeta, as RPC servers return it: its changes and events, then tx_end.
 * The transaction has no index, hash or result. */
tide_status tide_tx_meta_walk(const struct tide_walk *walk, tide_slice meta,
                              struct tide_err *err) TIDE_MUST_USE;

/* Steps over one LedgerCloseMeta at x and checks it, to find its end. If x->truncated is set, more
 * bytes may complete it. */
void tide_ledger_skip(struct tide_xdr *x);

/* Reads one LedgerHeaderHistoryEntry at x: all fields of header except lcm_version and tx_set. */
void tide_ledger_header_read(struct tide_xdr *x, struct tide_ledger_header *header);

/* Reads one LedgerHeader at x: the same without hash and history_entry. */
void tide_bare_header_read(struct tide_xdr *x, struct tide_ledger_header *header);

/* Reads one TransactionResultPair at x: the fields of tx from hash to op_result_code. */
void tide_result_pair_read(struct tide_xdr *x, struct tide_tx *tx);

/* Reads one ContractEvent at x: all fields except level, tx, op, stage and index. */
void tide_event_read(struct tide_xdr *x, struct tide_event *event);

/* Reads one LedgerKey of contract data: contract, key, durability. Returns false if it is another
 * kind of key, or malformed; then x has failed. The cursor moves behind the key. */
bool tide_ledger_key_data(struct tide_xdr *x, struct tide_change *out);

/* The first fields of a LedgerCloseMeta, without a walk. */
struct ledger_peek {
    uint32_t sequence;
    /* TIDE_HASH_BYTES each, as the ledger claims; borrow from the ledger. */
    const uint8_t *hash, *previous;
};

/* Returns TIDE_E_DECODE if the bytes are no LedgerCloseMeta, TIDE_E_UNKNOWN if this build does not
 * know its version or an arm. */
tide_status ledger_peek(struct ledger_peek *out, tide_slice lcm) TIDE_MUST_USE;
/* Returns the ledger's sequence; 0 if ledger_peek fails. */
uint32_t ledger_peek_sequence(tide_slice lcm);

#endif
