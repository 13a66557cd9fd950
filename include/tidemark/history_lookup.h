/* Single entries as of a ledger, from the history tables: one index probe each, by the hash of
 * the ledger key. What the rules need beside the cache, and what stands for the cache when an
 * older ledger is asked for.
 *
 * Threads  a loader belongs to the thread of its connection. Inside a REPEATABLE READ transaction
 *          all answers are of one snapshot. */
#ifndef TIDEMARK_HISTORY_LOOKUP_H
#define TIDEMARK_HISTORY_LOOKUP_H

#include "tidemark/project.h"
#include "tidemark/record_set.h"
#include "tidemark/rule.h"

struct tide_history {
    struct tide_pg *pg;
    uint16_t deployment;
    uint32_t ledger;    /* as of its close */
    const char *scope;  /* NULL, or what the index keeps: other tables are not read … */
    const char *unkept; /* … and the last of these is noted here */
    struct tide_hot_address
        contracts[TIDE_ROLE_COUNT];       /* the one of each role, where there is one */
    uint8_t protocol[TIDE_HASH_BYTES];    /* the deployment's: tide_deployment_protocol     */
    uint8_t ledger_hash[TIDE_HASH_BYTES]; /* zeros, as close_time: the ledger is not stored */
    uint64_t close_time;                  /* of the ledger, unix seconds                    */
};

/* Learns the contracts of the deployment, and the ledger's hash and time. */
tide_status tide_history_open(struct tide_history *history, struct tide_pg *pg, uint16_t deployment,
                              uint32_t ledger, struct tide_err *err) TIDE_MUST_USE;

/* One argument of a storage key. */
struct tide_key_part {
    enum { TIDE_KEY_SYMBOL, TIDE_KEY_ADDRESS, TIDE_KEY_U32, TIDE_KEY_U64 } type;
    tide_slice symbol;
    struct tide_hot_address address;
    uint64_t number;
};

#define TIDE_PART_SYMBOL(text) ((struct tide_key_part){ .type = TIDE_KEY_SYMBOL, .symbol = (text) })
#define TIDE_PART_ADDRESS(who) \
    ((struct tide_key_part){ .type = TIDE_KEY_ADDRESS, .address = (who) })
#define TIDE_PART_U32(v) ((struct tide_key_part){ .type = TIDE_KEY_U32, .number = (v) })
#define TIDE_PART_U64(v) ((struct tide_key_part){ .type = TIDE_KEY_U64, .number = (v) })

/* An entry by its key: variant and at most two arguments; variant NULL is the instance. */
struct tide_entry_key {
    const char *table;                /* of the entry, without schema */
    struct tide_hot_address contract; /* that owns it */
    const char *variant;
    uint32_t count;
    struct tide_key_part parts[2];
    bool temporary;
};

/* "\x" and the hash of the ledger key, as SQL takes it, NUL-terminated. */
#define TIDE_KEY_TEXT (2 + 2 * TIDE_HASH_BYTES + 1)
tide_status tide_history_key(char out[TIDE_KEY_TEXT], const struct tide_entry_key *key,
                             struct tide_err *err) TIDE_MUST_USE;

/* The named columns of the entry as of the ledger. *found false when it was never there or is
 * removed; else rows has one row, the caller's to release. TIDE_E_MISSING: the index does not keep
 * its table. */
tide_status tide_history_entry(struct tide_history *history, struct tide_pg_rows *rows, bool *found,
                               const struct tide_entry_key *key, const char *columns,
                               struct tide_err *err) TIDE_MUST_USE;

/* The same, applied to the records of the sink. */
tide_status tide_history_record(struct tide_history *history, struct tide_hot_sink *sink,
                                enum project_source_id source, const struct tide_entry_key *key,
                                struct tide_err *err) TIDE_MUST_USE;

/* And of many keys of that source, those that are there. keys differ in their parts alone. */
tide_status tide_history_records(struct tide_history *history, struct tide_hot_sink *sink,
                                 enum project_source_id source, const struct tide_entry_key *keys,
                                 uint32_t count, struct tide_err *err) TIDE_MUST_USE;

/* Everything the rules ask of one address, market, pool …, as records of the set: those that
 * are there. (history_records.c) */
tide_status tide_history_person(struct tide_history *history, struct record_set *set,
                                const struct tide_hot_address *who,
                                struct tide_err *err) TIDE_MUST_USE;
/* The same for many at once, in one statement a table. An unknown person gets an empty record: the
 * rules treat it as none, and no second look-up follows. */
tide_status tide_history_people(struct tide_history *history, struct record_set *set,
                                const struct tide_hot_address *who, uint32_t count,
                                struct tide_err *err) TIDE_MUST_USE;
tide_status tide_history_pool(struct tide_history *history, struct record_set *set,
                              const struct tide_hot_symbol *id, struct tide_err *err) TIDE_MUST_USE;
tide_status tide_history_feed(struct tide_history *history, struct record_set *set,
                              const struct tide_hot_symbol *asset,
                              struct tide_err *err) TIDE_MUST_USE;
tide_status tide_history_market(struct tide_history *history, struct record_set *set,
                                const struct tide_hot_symbol *symbol,
                                struct tide_err *err) TIDE_MUST_USE;
tide_status tide_history_partner(struct tide_history *history, struct record_set *set, uint32_t id,
                                 struct tide_err *err) TIDE_MUST_USE;
/* Whether a jurisdiction was blocked. */
tide_status tide_history_blocked(struct tide_history *history, uint32_t code, bool *out,
                                 struct tide_err *err) TIDE_MUST_USE;
/* A vault with its market and both feeds; in's pointers live in the set. */
tide_status tide_history_vault(struct tide_history *history, struct record_set *set,
                               struct tide_vault_inputs *in, const struct tide_hot_symbol *market,
                               const struct tide_hot_address *owner,
                               struct tide_err *err) TIDE_MUST_USE;
/* Read one entry that the cache does not hold; *found is false if it is not on the ledger. */
tide_status tide_history_position(struct tide_history *history, struct tide_position *out,
                                  bool *found, const struct tide_hot_symbol *pool,
                                  const struct tide_hot_address *provider,
                                  struct tide_err *err) TIDE_MUST_USE;
tide_status tide_history_stability(struct tide_history *history, struct tide_stability *out,
                                   bool *found, struct tide_err *err) TIDE_MUST_USE;
tide_status tide_history_saving(struct tide_history *history, struct tide_saving *out, bool *found,
                                const struct tide_hot_address *depositor,
                                struct tide_err *err) TIDE_MUST_USE;
tide_status tide_history_epoch(struct tide_history *history, struct tide_epoch *out, bool *found,
                               uint64_t id, struct tide_err *err) TIDE_MUST_USE;

#endif
