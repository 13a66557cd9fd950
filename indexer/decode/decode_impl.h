/* Types and functions that the files of indexer/decode/ share. No other folder includes them. */
#ifndef INDEXER_DECODE_DECODE_IMPL_H
#define INDEXER_DECODE_DECODE_IMPL_H

#include "indexer/decode/decode.h"
#include "indexer/decode/proof.h"
#include "tidemark/catalogue.h"
#include "tidemark/hash.h"
#include "tidemark/meta.h"
#include "tidemark/tx.h"

/* Application index of rows outside of transactions (evictions), the same as in RPC's event ids. */
enum { TX_AFTER_ALL = 1048575 };

/* Bytes of the column `reason` of a raw row. */
enum { REASON_MAX = 96 };

/* A contract-data key that the present transaction changed. TTL changes name only the key's
 * hash. */
struct seen_key {
    uint8_t hash[TIDE_HASH_BYTES];
    const struct tide_contract *contract;
    uint32_t durability;
    bool follows_life; /* rows tell how long the entry lives */
};

struct ttl_change {
    const uint8_t *key_hash; /* borrows from the ledger */
    uint32_t live_until;
    bool removed;
};

/* A contract-data change, or an evicted key. Packed, since a ledger may hold half a million of
 * them. */
struct data_change {
    const uint8_t *key; /* borrows from the ledger: contract, key, durability; then the value */
    uint32_t key_len;
    uint32_t value_len; /* 0: removed */
    uint16_t contract_len;
    uint16_t kind; /* enum tide_change_kind */
};

/* The newest row of a key in the present batch. */
struct latest {
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t offset; /* in the state table's rows */
    uint32_t len;
    uint16_t table;
};

/* The earlier row of an entry of `latest`, restored if the present ledger fails. */
struct undo {
    uint32_t index;
    uint32_t offset;
    uint32_t len;
};

/* A change of a Stellar asset that names no address of the deployment. It is stored if the
 * transaction turns out to reach the protocol, which is known at its end. */
struct later_change {
    struct data_change change;
    const struct tide_contract *contract;
    uint32_t seq;
};

/* A reason for which rows of the present transaction are kept (kept_for.c). */
struct kept_reason {
    int32_t event;     /* index of the event in its operation, or KEPT_CALL or KEPT_ALL */
    uint32_t contract; /* index + 1 in the deployment's contracts; 0: the file names it */
};
enum { KEPT_CALL = -1, KEPT_ALL = -2 };

struct tide_redecode_raw_version;
struct tide_redecode_entry;

/* A growing array. decode_list_push appends. */
struct list {
    void *items;
    uint32_t count;
    uint32_t cap;
};

struct latest_map {
    struct list entries; /* struct latest */
    struct list undo;    /* struct undo: of the present ledger */
    uint32_t *slots;     /* hash table of index + 1 in entries; 0: free */
    uint32_t slot_count; /* a power of two */
    /* random seed of the hash: contracts choose keys and must not know which ones collide */
    uint64_t seed;
    uint32_t ledger_from;       /* entries.count when the present ledger began */
    bool dead[TIDE_TABLES_MAX]; /* the table's rows include some that are not the newest of their
                                 * key */
};

/* A direct-mapped cache of addresses as text: most rows name the same few. */
enum { ADDRESS_SLOTS = 4096, ADDRESS_TEXT = 56 };
struct address_slot {
    uint8_t xdr[40];         /* SCAddress of an account, or a contract (36 bytes) */
    char text[ADDRESS_TEXT]; /* text[0] zero: the slot is free */
};

/* A hash table of the accounts that the deployment file names: index + 1; 0: free. */
enum { ACCOUNT_SLOTS = 2 * TIDE_ACCOUNTS_MAX };

/* A token that a catalog names in the present ledger and that is not followed yet, or only from a
 * later ledger on. NAMED_MAX is the most contracts that a deployment holds: a ledger's tokens
 * beyond them could not be followed under any limit. */
enum { NAMED_MAX = TIDE_CONTRACTS_MAX };
struct named_token {
    uint8_t id[TIDE_HASH_BYTES];
    uint32_t tx;      /* the first transaction of the ledger that names it */
    char address[57]; /* C…, NUL-terminated */
};

/* A known token that a market of the present ledger names, and where it was named first before. */
struct named_before {
    uint32_t index; /* in the deployment's contracts */
    uint32_t named_ledger, market_ledger;
};

/* A discovered contract whose kind (Stellar asset or other token) the present ledger shows. */
struct shown_contract {
    uint32_t index; /* in deployment->contracts */
    enum tide_role role;
};

/* Contract ids of which a ledger's bytes must contain one to give rows
 * (tide_decode_options.mentioned). */
struct mentions {
    uint8_t (*ids)[TIDE_HASH_BYTES];
    uint32_t count;
    uint8_t begins[1 << 13]; /* bitmap of the ids' first two bytes */
};

/* Tokens that the chain has named so far, and those of the present ledger. relevance.c alone writes
 * them: relevance_forget undoes a ledger, relevance_settle keeps it. */
struct known {
    uint32_t listed;   /* contracts that count towards discovered_max */
    uint32_t marketed; /* contracts that markets name */
    uint32_t discovered_max;
    bool known_only; /* see tide_decode_options */
    bool learned;    /* contracts changed since relevance_know or open */
    uint16_t account_slots[ACCOUNT_SLOTS];
    struct list named;                  /* struct named_token, sorted by id */
    struct list shown;                  /* struct shown_contract */
    bool has_shown[TIDE_CONTRACTS_MAX]; /* true for contracts in `shown`, by index */
    struct list named_before;           /* struct named_before */
    /* By contract: ledgers_begun << 32 | transaction of the last row "created". */
    uint64_t created_at[TIDE_CONTRACTS_MAX];
    uint32_t newest_since; /* no followed token is discovered after that ledger */
};

/* The parts of the deployment that the present transaction reaches. relevance.c writes it, and
 * event.c and state.c the asset. */
struct reach {
    bool protocol; /* a contract of the deployment that is no wallet and no Stellar asset */
    bool wallet;
    bool asset; /* a Stellar asset, and an address that the deployment names takes part */
};

/* Reasons for which rows of the present transaction are kept. kept_for.c writes them. */
struct kept {
    bool late;           /* the ledger is older than the discovery of a followed token */
    struct list reasons; /* struct kept_reason; only while late */
    bool reaches_file;   /* reaches a contract that the deployment file names; only while late */
    /* ledgers_begun and transaction of each contract's last reason KEPT_ALL and KEPT_CALL, by index
     * + 1; 0: an address that the deployment file names */
    uint64_t noted_at[2][TIDE_CONTRACTS_MAX + 1];
};

/* Entries of the present transaction. state.c writes them, and group.c the group and the TTLs. */
struct entries {
    /* Contract-data changes of all contracts so far, in canonical order. Rows are numbered by this
     * count: a version's number must not depend on which contracts the index knew when the ledger
     * was read. */
    uint32_t seq;
    uint32_t seq_after; /* the same count for changes outside of transactions */
    uint32_t changed;
    struct list keys;          /* struct seen_key */
    struct list later_changes; /* struct later_change */
    struct list group;     /* struct data_change: of one LedgerEntryChanges, or the evicted keys */
    struct list ttls;      /* struct ttl_change */
    uint32_t ttls_sorted;  /* TTLs of earlier groups, which are sorted already */
    bool footprint_hashed; /* the footprint's keys are in `keys` */
    bool keys_sorted;      /* `keys` is sorted by hash */
};

/* Events of the present transaction. event.c writes them. */
struct events {
    uint32_t op_events;
    bool private_event;       /* an event of the registry could not be decoded */
    struct list later_events; /* struct tide_event */
};

/* A decoder. decode.c writes what stands here by itself, and begins each part anew with a ledger or
 * a transaction. */
struct tide_decode {
    struct tide_deployment *deployment; /* own copy; relevance.c appends the tokens */
    enum tide_proof proof;
    struct tide_proof_check *verify;
    bool history_only, with_log; /* see tide_decode_options */
    struct mentions mentions;
    struct address_slot *addresses; /* ADDRESS_SLOTS of them */

    /* the ledger that the next one must follow */
    struct {
        uint32_t next_sequence; /* 0: any ledger is accepted */
        bool has_previous;
        uint8_t previous_hash[TIDE_HASH_BYTES];
    } chain;

    /* the present ledger */
    bool unmentioned; /* contains none of `mentions`: gives no rows */
    struct tide_batch *batch;
    struct tide_err *err;
    struct tide_ledger_header header;
    int64_t closed_ms;
    uint32_t tx_count;
    uint32_t our_txs;
    struct tide_batch_counts counts;
    uint32_t ledgers_begun;
    struct known known;

    /* the present transaction */
    struct tide_envelope envelope;
    bool candidate; /* the walk calls back for its events and changes */
    struct reach reach;
    struct kept kept;
    struct entries entries;
    struct events events;

    struct latest_map latest;
    struct latest_map lives; /* rows of history.ttl in the present ledger */
    struct tide_buf scratch;
    char reason[REASON_MAX];
    /* the batch before the present ledger, for undo_ledger */
    struct {
        uint32_t contracts;
        size_t len[TIDE_TABLES_MAX];
        uint64_t count[TIDE_TABLES_MAX];
    } saved;
};

/* Appends a zeroed item of `size` bytes and returns it, or NULL without memory. No count is a limit
 * here: how many items a ledger may hold is a setting of the network, and the ledger's bytes bound
 * it. */
void *decode_list_push(struct list *list, size_t size);

static inline struct tide_rows *decode_rows(struct tide_decode *d, int table)
{
    return &d->batch->rows[table];
}

/* value.c: appends one value as a column. Returns false if the value does not fit the type. The
 * buffer may then hold part of a column, which the caller removes. */
bool value_put(struct tide_decode *d, struct tide_buf *out, enum tide_type type, tide_slice value);
/* Returns whether the value has the type's ScVal arm. */
bool value_fits(enum tide_type type, tide_slice value);
/* Returns the name of a TIDE_T_MUXED value's type, "void", or NULL for other values. */
const char *value_muxed_type(tide_slice value);
/* Reads the members of an entry's map value into `values`, by the kind's field names. `outer` is
 * the member of which value is the struct, or NULL. *unknown is the name of the first member
 * without a field, or empty. Returns false if the value is not a map with symbol keys. */
bool value_members(const struct tide_kind *kind, const char *outer, tide_slice value,
                   tide_slice *values, tide_slice *unknown);
bool value_is_void(tide_slice value);
/* Returns the index of the kind's field with that column. The kind must have it. */
int value_field_index(const struct tide_kind *kind, const char *column);

/* Writes to d->reason why something is stored raw, and returns false. `name` is appended as far as
 * it is printable ASCII. */
bool value_reject(struct tide_decode *d, const char *why, tide_slice name);

/* relevance.c: decides which transactions and addresses are the deployment's. */
void relevance_open(struct tide_decode *d);
/* Returns the followed contract with that id, or NULL. A discovered token whose kind is not known
 * yet is not followed. */
const struct tide_contract *relevance_find(const struct tide_decode *d, const uint8_t *id);
/* Returns true for the deployment's contracts (discovered tokens included) and accounts, and false
 * for Stellar assets' contracts: the whole network names those. */
bool relevance_names(const struct tide_decode *d, tide_slice address_xdr);
/* Returns the same as relevance_names. If true, also notes why rows are kept for the address: event
 * is KEPT_CALL, or an event's index. */
bool relevance_takes_part(struct tide_decode *d, tide_slice address_xdr, int32_t event);
/* A transaction is stored if it
 *   calls or creates a contract of the deployment,
 *   carries an event or an entry change of one (a router called it), or
 *   failed and lists one in its footprint. A successful one that only lists a contract is not
 *   stored: anyone can list it.
 * Stellar assets count only where an address that the deployment names takes part.
 *
 * relevance_candidate reads the envelope into d->envelope and returns false if the walk need not
 * look into the transaction. relevance_touched notes an event or a change of the contract.
 * relevance_transaction gives the verdict at the transaction's end. */
bool relevance_candidate(struct tide_decode *d, const struct tide_tx *tx);
void relevance_touched(struct tide_decode *d, const struct tide_contract *contract);
bool relevance_transaction(const struct tide_decode *d);
/* Returns whether the set of contracts that the transaction reaches is complete. */
bool relevance_is_known(const struct tide_decode *d);
/* Returns the deployment's contract that the transaction calls or creates, or NULL. */
const struct tide_contract *relevance_called(const struct tide_decode *d);
/* Returns the address of a key [Balance, address]. Empty for every other key. */
tide_slice relevance_balance_holder(tide_slice key);
/* Returns false for entries that are not mirrored: nonces, wallets' own entries, and balances that
 * a Stellar asset keeps for others. */
bool relevance_entry(const struct tide_decode *d, const struct tide_contract *contract,
                     tide_slice key);
/* Append rows of chain.contract_seen. relevance_created: the contract's instance appeared; one row
 * a transaction, however often the meta lists that. relevance_discover: follow the token from here
 * on (an address ScVal; known ones are skipped), its kind unsettled. If `market`, a market of the
 * engine names the token, and another limit applies. A token that a catalog names waits for the end
 * of the ledger. */
void relevance_created(struct tide_decode *d, const struct tide_contract *contract, uint32_t tx);
void relevance_discover(struct tide_decode *d, tide_slice address_value, bool market, uint32_t tx);
/* Discovers, at the end of a ledger, the tokens that its catalogs name, in order of transaction and
 * address, up to discovered_max. Every other token gets a row "ignored" for each ledger that names
 * it, for at most NAMED_MAX tokens of a ledger; so does a followed one if the ledger is older than
 * those that are known to name it. */
void relevance_take_named(struct tide_decode *d);
/* Settle the kind of a discovered contract by its first event or by its instance, with a row of
 * chain.contract_seen (asset, token). The last topic of a Stellar asset's event names the asset,
 * and the contract's id is a hash of that. `topic` is the event's last topic, or empty. */
void relevance_see_event(struct tide_decode *d, const struct tide_contract *contract,
                         tide_slice topic, uint32_t tx);
void relevance_see_instance(struct tide_decode *d, const struct tide_contract *contract,
                            tide_slice value, uint32_t tx);
/* Returns whether the ledger may be the first one that shows the kind of the contract. A contract
 * that was named before is followed since then. */
bool relevance_may_show(const struct tide_decode *d, const struct tide_contract *contract);
/* Applies the settled kinds at the end of a ledger that is kept. They hold from the next ledger on,
 * so that no row depends on the order of transactions within a ledger. */
void relevance_settle(struct tide_decode *d);
/* Replaces the deployment's contracts by those of `known`. Call between two ledgers. */
void relevance_know(struct tide_decode *d, const struct tide_deployment *known);
/* Removes contracts that were discovered beyond the first contract_count, and the present ledger's
 * settled kinds. */
void relevance_forget(struct tide_decode *d, uint32_t contract_count);

/* kept_for.c: rows of chain.kept_for. They say for which contracts a transaction's rows are kept,
 * if they are kept only for tokens and one of these is discovered in a later ledger. kept_note adds
 * a reason (contract NULL: an address that the deployment file names). kept_put writes the rows at
 * the end of a stored transaction. */
uint32_t kept_since(const struct tide_contract *contract);
void kept_note(struct tide_decode *d, const struct tide_contract *contract, int32_t event);
void kept_put(struct tide_decode *d, uint32_t tx);

/* event.c: rows of contract events. */
tide_status decode_event(struct tide_decode *d, const struct tide_tx *tx,
                         const struct tide_event *event);
/* Stores the events that waited for the end of their transaction. Call if the transaction is
 * stored. */
void decode_later_events(struct tide_decode *d);
/* Appends an event that was stored raw to its typed table and the log. Returns false, with
 * d->reason, if it still fits no kind. */
bool decode_event_again(struct tide_decode *d, const struct tide_event *event);
/* call.c: rows of chain.tx and chain.call. Call for stored transactions only. */
void decode_call(struct tide_decode *d, const struct tide_tx *tx, enum tide_call_proof proof);

/* group.c: puts the changes of one LedgerEntryChanges into canonical order: by key, changes of the
 * same key in the order of the ledger. group_add takes contract data and TTLs. group_each calls
 * `take` for the group's contract data and ends the group; its TTLs are appended behind those of
 * the transaction's earlier groups. */
typedef tide_status group_take(struct tide_decode *d, const struct tide_tx *tx,
                               const struct tide_change *change);
tide_status group_add(struct tide_decode *d, const struct tide_change *change);
tide_status group_each(struct tide_decode *d, const struct tide_tx *tx, group_take *take);
/* Takes an evicted key into the group, at the end of a ledger. */
tide_status decode_evicted(struct tide_decode *d, tide_slice key);
struct data_change group_pack(const struct tide_change *change);
/* Returns the change with kind, type, contract, key, durability and value set. */
struct tide_change group_unpack(const struct data_change *packed);

/* state.c: rows of entries. tx is NULL outside of transactions. */
tide_status decode_change(struct tide_decode *d, const struct tide_tx *tx,
                          const struct tide_change *change);
tide_status decode_changes_end(struct tide_decode *d, const struct tide_tx *tx);
/* Stores the evicted entries in canonical order. Call at the end of a ledger. */
tide_status decode_evicted_end(struct tide_decode *d);
/* Finds the entries to which the transaction's TTL changes belong. Call at the transaction's
 * end. */
tide_status decode_ttl_owners(struct tide_decode *d);
/* Stores the changes that waited for the end of the transaction. Call decode_ttls behind it. */
tide_status decode_later_changes(struct tide_decode *d, const struct tide_tx *tx);
tide_status decode_ttls(struct tide_decode *d, const struct tide_tx *tx);

/* Appends a version that was stored raw to its typed history. Returns false, with d->reason, if it
 * still does not fit. */
bool decode_version_again(struct tide_decode *d, const struct tide_redecode_raw_version *again);
/* Stores an entry as of the present ledger, see tide_redecode_entry. */
void decode_entry_as_of(struct tide_decode *d, const struct tide_redecode_entry *entry);

/* action.c: appends the meaning of a DAO proposal's call_data. Returns TIDE_E_LIMIT if json is
 * full. */
tide_status tide_action_json(struct tide_buf *json, tide_slice call_data) TIDE_MUST_USE;

/* latest.c: knows the newest row of each key in a batch. */
void latest_begin_ledger(struct latest_map *map);
void latest_take_back(struct latest_map *map);
/* Notes that the state table's rows from offset to their end are the newest version of hash.
 * Returns false without memory. */
bool latest_note(struct latest_map *map, const uint8_t *hash, int table, struct tide_rows *rows,
                 size_t offset);
/* Returns the newest row of hash in that state table, or NULL. The pointer is valid until a row is
 * appended. */
const uint8_t *latest_row(const struct latest_map *map, const uint8_t *hash, int table,
                          const struct tide_rows *rows);
/* Removes all but the newest row of each key from the state tables. Without memory, sets the
 * table's `failed`: the writer then does not commit the batch. */
void latest_compact(struct latest_map *map, struct tide_batch *batch, struct tide_buf *scratch);
void latest_reset(struct latest_map *map);
void latest_release(struct latest_map *map);

#endif
