/* Decodes what is stored raw, one event or one version of an entry at a time, with the code that
 * decodes ledgers. */
#ifndef INDEXER_DECODE_REDECODE_H
#define INDEXER_DECODE_REDECODE_H

#include "indexer/decode/decode.h"
#include "tidemark/buf.h"

struct tide_redecode_raw_event {
    uint32_t ledger, tx, op, event;
    int64_t closed_ms; /* unix milliseconds */
    uint8_t contract[TIDE_HASH_BYTES];
    tide_slice xdr; /* ContractEvent */
};

struct tide_redecode_raw_version {
    uint8_t key_hash[TIDE_HASH_BYTES];
    uint32_t ledger, tx, seq;
    int64_t closed_ms;
    uint8_t contract[TIDE_HASH_BYTES];
    uint32_t durability;
    bool removed;
    tide_slice key, value; /* ScVals; value is empty if the entry was removed */
};

/* Append the rows of event.<kind>, or of history.<kind>. Return false, with batch as
 * before, if the event or version still fits no kind. The batch's state rows, from and to stay
 * empty. */
bool tide_redecode_event(struct tide_decode *decode, struct tide_batch *batch,
                         const struct tide_redecode_raw_event *event);
bool tide_redecode_version(struct tide_decode *decode, struct tide_batch *batch,
                           const struct tide_redecode_raw_version *version);

/* An entry as of a ledger, from a bucket that is proven by the ledger's header. When it was written
 * before is not known. */
struct tide_redecode_entry {
    uint8_t key_hash[TIDE_HASH_BYTES];
    uint32_t ledger;
    uint32_t seq;      /* number of its version; its life has the next one */
    int64_t closed_ms; /* close time of ledger, unix milliseconds */
    uint8_t contract[TIDE_HASH_BYTES];
    uint32_t durability;
    tide_slice key, value; /* ScVals */
    bool archived;
    uint32_t live_until; /* 0: it has no TTL */
};
/* Transaction of the rows of such entries, which no transaction of a ledger has. */
#define TIDE_REDECODE_ENTRY_TX 0u

/* Appends the rows of a contract's entry as of the ledger: its version and its life in history,
 * which batch->counts counts, and what a ledger would tell of contracts in chain.contract_seen. An
 * entry that is not followed gives none. Tokens that it names, and kinds that it shows, count from
 * tide_redecode_settle on. */
void tide_redecode_entry(struct tide_decode *decode, struct tide_batch *batch,
                         const struct tide_redecode_entry *entry);
/* Call behind all entries of the ledger. Returns whether they named a token, or showed a kind, that
 * was not known: the entries of that contract are followed from now on. */
bool tide_redecode_settle(struct tide_decode *decode, struct tide_batch *batch);
/* Returns the contracts that the decoder knows. Borrowed until the next call that decodes. */
const struct tide_deployment *tide_redecode_contracts(const struct tide_decode *decode);

/* Returns the contract whose tables mirror the entry with this SCAddress and key, or NULL.
 * *followed is true if every change of the entry is stored, and its TTL. It is false for what a
 * Stellar asset keeps beside balances, of which only changes in the deployment's transactions are
 * stored. */
const struct tide_contract *tide_redecode_owner(const struct tide_decode *decode,
                                                tide_slice contract, tide_slice key,
                                                bool *followed);

/* An event that is stored as XDR because the catalogue did not know it. */
struct tide_raw_event {
    bool system;
    uint32_t topic_count;
    tide_slice topics; /* ScVals, back to back */
    tide_slice data;   /* ScVal */
};

/* Reads a ContractEvent. Slices borrow from xdr. Returns false if the XDR is no ContractEvent. */
bool tide_raw_event_read(struct tide_raw_event *out, tide_slice xdr);
/* Reads a ContractEvent from its hex. The decoded bytes are appended to `bytes`, and out borrows
 * from them. */
bool tide_raw_event_hex(struct tide_raw_event *out, struct tide_buf *bytes, tide_slice hex);

/* Appends the bytes that hex stands for. Returns false if the text is no hex, or out is full. */
bool tide_raw_hex(struct tide_buf *out, tide_slice hex);

#endif
