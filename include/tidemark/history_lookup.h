/* Reads single entries as of a ledger from the history tables, each with one index probe by the
 * hash of its ledger key. The rules need these entries besides the cache. For an older ledger they
 * replace the cache.
 *
 * Threads  a struct tide_history belongs to the thread of its connection. Inside a REPEATABLE READ
 *          transaction all answers are of one snapshot. */
#ifndef TIDEMARK_HISTORY_LOOKUP_H
#define TIDEMARK_HISTORY_LOOKUP_H

#include "tidemark/buf.h"
#include "tidemark/project.h"
#include "tidemark/rule.h"

struct tide_history {
    struct tide_pg *pg;
    uint16_t deployment;
    uint32_t ledger; /* entries are read as of the close of this ledger */
    struct tide_hot_address contracts[TIDE_ROLE_COUNT]; /* by role; kind 0: no such contract */
    uint8_t protocol[TIDE_HASH_BYTES];    /* hash of the deployment, see tide_deployment_protocol */
    uint8_t ledger_hash[TIDE_HASH_BYTES]; /* zeros if the ledger is not stored, as closed_ms */
    uint64_t closed_ms;                   /* close time of the ledger, unix milliseconds */
};

/* Reads the contracts of the deployment, and the ledger's hash and close time. */
tide_status tide_history_open(struct tide_history *history, struct tide_pg *pg, uint16_t deployment,
                              uint32_t ledger, struct tide_err *err) TIDE_MUST_USE;

/* One argument of a storage key. */
struct tide_key_part {
    enum { TIDE_KEY_SYMBOL, TIDE_KEY_ADDRESS, TIDE_KEY_U32 } type;
    tide_slice symbol;
    struct tide_hot_address address;
    uint32_t number;
};

#define TIDE_PART_SYMBOL(text) ((struct tide_key_part){ .type = TIDE_KEY_SYMBOL, .symbol = (text) })
#define TIDE_PART_ADDRESS(who) \
    ((struct tide_key_part){ .type = TIDE_KEY_ADDRESS, .address = (who) })
#define TIDE_PART_U32(v) ((struct tide_key_part){ .type = TIDE_KEY_U32, .number = (v) })

/* The key of an entry: variant and at most two arguments. variant NULL: the contract's instance. */
struct tide_entry_key {
    struct tide_hot_address contract; /* owner of the entry */
    const char *variant;
    uint32_t count;
    struct tide_key_part parts[2];
    bool temporary;
};

/* Appends the LedgerKey in XDR. */
void tide_entry_key_put(struct tide_buf *xdr, const struct tide_entry_key *key);

/* Writes "\x" and the hash of the ledger key in hex, as SQL takes it, NUL-terminated. */
#define TIDE_KEY_TEXT (2 + 2 * TIDE_HASH_BYTES + 1)
tide_status tide_history_key(char out[TIDE_KEY_TEXT], const struct tide_entry_key *key,
                             struct tide_err *err) TIDE_MUST_USE;

/* Puts the records of many keys of one source; missing entries are left out. The keys may differ in
 * their parts only. */
tide_status tide_history_records(struct tide_history *history, struct tide_hot_sink *sink,
                                 enum project_source_id source, const struct tide_entry_key *keys,
                                 uint32_t count, struct tide_err *err) TIDE_MUST_USE;

/* Read what the rules need of the stability pool. *found is false if there is no such entry. */
tide_status tide_history_stability(struct tide_history *history, struct tide_stability *out,
                                   bool *found, struct tide_err *err) TIDE_MUST_USE;
tide_status tide_history_saving(struct tide_history *history, struct tide_saving *out, bool *found,
                                const struct tide_hot_address *depositor,
                                struct tide_err *err) TIDE_MUST_USE;

#endif
