/* What the files of indexer/decode/ share. Private to them. */
#ifndef INDEXER_DECODE_DECODE_IMPL_H
#define INDEXER_DECODE_DECODE_IMPL_H

#include "indexer/decode/decode.h"
#include "indexer/decode/proof.h"
#include "tidemark/catalogue.h"
#include "tidemark/hash.h"
#include "tidemark/limits.h"
#include "tidemark/meta.h"
#include "tidemark/tx.h"

/* Rows outside a transaction (evictions) carry this application index, as RPC's event ids do. */
enum { TX_AFTER_ALL = 1048575 };

enum { REASON_MAX = 96 };

/* A contract-data key seen in the present transaction, for its TTL. */
struct seen_key {
    uint8_t hash[TIDE_HASH_BYTES];
    const struct tide_contract *contract;
    uint32_t durability;
};

struct ttl_change {
    const uint8_t *key_hash; /* borrows from the ledger */
    uint32_t live_until;
    bool removed;
};

/* A contract-data change, or an evicted key. A ledger may hold half a million of them. */
struct data_change {
    const uint8_t *key; /* contract, key, durability; then the value. Borrows from the ledger */
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

/* What a ledger changed in `latest`, to be taken back when it fails. */
struct undo {
    uint32_t index;
    uint32_t offset;
    uint32_t len;
};

/* A change, or an event, of a stellar asset that names no address of the deployment: it is kept if
 * the transaction reaches the protocol, which may show later. */
struct later_change {
    struct data_change change;
    const struct tide_contract *contract;
    uint32_t seq;
};

/* A reason for which rows of the present transaction are kept (kept_for.c). */
struct kept_reason {
    int32_t event;     /* of the operation, or one of those below */
    uint32_t contract; /* index + 1 in the deployment's contracts; 0: the file names it */
};
enum { KEPT_CALL = -1, KEPT_ALL = -2 };

struct tide_redecode_raw_version;

struct list {
    void *items;
    uint32_t count;
    uint32_t cap;
};

struct latest_map {
    struct list entries;        /* struct latest */
    struct list undo;           /* struct undo: of the present ledger */
    uint32_t *slots;            /* index + 1 */
    uint32_t slot_count;        /* a power of two */
    uint32_t ledger_from;       /* entries.count when the present ledger began */
    bool dead[TIDE_TABLES_MAX]; /* the table has rows that are not the newest */
};

/* Addresses as text, those seen lately: most rows name the same few. */
enum { ADDRESS_SLOTS = 4096, ADDRESS_TEXT = 56 };
struct address_slot {
    uint8_t xdr[40];         /* SCAddress of an account, or a contract (36 bytes) */
    char text[ADDRESS_TEXT]; /* text[0] zero: free */
};

/* The accounts that the deployment's file names, by key: index + 1, 0 is free. */
enum { ACCOUNT_SLOTS = 2 * TIDE_ACCOUNTS_MAX };

/* A token that a catalog names in the present ledger and that is not followed. Those behind as many
 * as a deployment has room for can never be followed, whatever the limit is raised to. */
enum { NAMED_MAX = TIDE_CONTRACTS_MAX };
struct named_token {
    uint8_t id[TIDE_HASH_BYTES];
    uint32_t tx;      /* the first one that names it */
    char address[57]; /* C…, NUL-terminated */
};

/* A token that the present ledger names, and a newer one before. */
struct named_before {
    uint32_t index;  /* in the deployment's contracts */
    uint32_t ledger; /* the newer one */
};

/* An unsettled contract of which the present ledger shows what it is. */
struct shown_contract {
    uint32_t index; /* in the deployment's contracts */
    enum tide_role role;
};

/* Ids that a ledger must hold to give rows. */
struct mentions {
    uint8_t (*ids)[TIDE_HASH_BYTES];
    uint32_t count;
    uint8_t begins[1 << 13]; /* a bit for each two first bytes */
};

struct tide_decode {
    struct tide_deployment *deployment; /* own copy: tokens the chain names are added */
    uint32_t listed;                    /* contracts of it that have a place of catalogs' tokens */
    uint32_t marketed;                  /* contracts of it that markets name */
    uint32_t discovered_max;
    bool known_only;
    bool learned; /* ledgers have changed the contracts since relevance_know, or open */
    enum tide_proof proof;
    struct tide_proof_check *verify;
    bool wanted[TIDE_TABLES_MAX];
    bool want_events;
    bool want_state;
    bool want_calls;
    struct mentions mentions;
    uint16_t account_slots[ACCOUNT_SLOTS];
    struct address_slot *addresses; /* ADDRESS_SLOTS of them */

    uint32_t next_sequence; /* 0: any */
    bool has_previous;
    uint8_t previous_hash[TIDE_HASH_BYTES];

    /* the present ledger */
    bool unmentioned; /* gives no rows */
    struct tide_batch *batch;
    struct tide_err *err;
    struct tide_ledger_header header;
    int64_t closed_at;
    uint32_t tx_count;
    uint32_t our_txs;
    struct tide_batch_counts counts;
    struct list named;                  /* struct named_token, sorted by id */
    struct list shown;                  /* struct shown_contract */
    bool has_shown[TIDE_CONTRACTS_MAX]; /* those in shown, by index */
    struct list markets;      /* uint32_t: contracts that a market names since, by index */
    struct list named_before; /* struct named_before */
    uint32_t ledgers_begun;
    /* ledgers_begun and transaction of each contract's last row "created", by index */
    uint64_t created_at[TIDE_CONTRACTS_MAX];
    uint32_t newest_since; /* no token that is followed is found behind that ledger */
    bool late;             /* the ledger is older than the finding of a token that is followed */
    /* ledgers_begun and transaction of each contract's last reason KEPT_ALL, KEPT_CALL, by index
     * + 1; 0: what the file names */
    uint64_t noted_at[2][TIDE_CONTRACTS_MAX + 1];

    /* the present transaction */
    struct tide_envelope envelope;
    bool candidate; /* looked into */
    bool protocol;  /* reaches a contract that is more than a token of the network or a wallet */
    bool wallet;    /* reaches a wallet */
    bool as_asset;  /* a stellar asset's, and an address that the deployment names takes part */
    /* Contract-data changes so far in canonical order, of every contract: a version's number must
     * not depend on which contracts this index knew when it read the ledger. */
    uint32_t seq;
    uint32_t seq_after; /* the same of the ledger, outside of transactions */
    uint32_t op_events;
    uint32_t changed;
    struct list reasons;       /* struct kept_reason; while late */
    bool reaches_file;         /* reaches such a contract of the deployment file; while late */
    struct list keys;          /* struct seen_key */
    struct list later_changes; /* struct later_change */
    struct list later_events;  /* struct tide_event */
    struct list group;         /* struct data_change: of one LedgerEntryChanges, or evicted */
    struct list ttls;          /* struct ttl_change */
    uint32_t ttls_sorted;      /* those of the groups before this one */
    bool footprint_hashed;
    bool keys_sorted; /* by hash */

    struct latest_map latest;
    struct tide_buf scratch;
    uint32_t saved_contracts;
    size_t saved_len[TIDE_TABLES_MAX];
    uint64_t saved_count[TIDE_TABLES_MAX];
    char reason[REASON_MAX];
};

/* The next free item of a list of items of size bytes, zeroed; NULL without memory. The ledger's
 * bytes bound a list: how many items a ledger may hold is a setting of the network. */
void *decode_list_push(struct list *list, size_t size);

static inline struct tide_rows *decode_rows(struct tide_decode *d, int table)
{
    return &d->batch->rows[table];
}

/* value.c: one value as a column. False when it does not fit the type; the buffer then
 * holds a partial column that the caller takes back. */
bool value_put(struct tide_decode *d, struct tide_buf *out, enum tide_type type, tide_slice value);
/* Reads the members of a map value into values by name. unknown is the first member without a
 * field (len 0: none). False when value is not a map with symbol keys. */
bool value_members(const struct tide_kind *kind, const char *outer, tide_slice value,
                   tide_slice *values, tide_slice *unknown);
bool value_is_void(tide_slice value);
/* Index of the kind's field of that column, which it has. */
int value_field_index(const struct tide_kind *kind, const char *column);

/* Notes in d->reason why something is kept raw, and returns false. name is shown as far as it is
 * plain text. */
bool value_reject(struct tide_decode *d, const char *why, tide_slice name);

/* relevance.c: which transactions and addresses are the deployment's. */
void relevance_open(struct tide_decode *d);
/* The contract with that id if it is followed; NULL for one that is unsettled. */
const struct tide_contract *relevance_find(const struct tide_decode *d, const uint8_t *id);
/* True for the deployment's contracts and accounts, discovered tokens among them, but not for
 * Stellar assets' contracts. */
bool relevance_names(const struct tide_decode *d, tide_slice address_xdr);
/* The same, and notes what is kept for the address: KEPT_CALL, or an event of that index. */
bool relevance_takes_part(struct tide_decode *d, tide_slice address_xdr, int32_t event);
/* Which transactions are stored: those that call or create a contract of the deployment, those that
 * carry an event or an entry change of one (a router called it), and failed ones that list one in
 * their footprint. A successful one that only lists it is not: anyone can list it. Stellar assets
 * count where an address that the deployment names takes part.
 *
 * candidate reads the envelope into d->envelope; false: the transaction is not looked into. touched
 * notes an event or a change of that contract. transaction answers at the transaction's end. */
bool relevance_candidate(struct tide_decode *d, const struct tide_tx *tx);
void relevance_touched(struct tide_decode *d, const struct tide_contract *contract);
bool relevance_transaction(const struct tide_decode *d);
/* Whether nothing can be added to what the transaction reaches. */
bool relevance_is_known(const struct tide_decode *d);
/* The deployment's contract that the transaction calls or creates; NULL: another's. */
const struct tide_contract *relevance_called(const struct tide_decode *d);
/* The address of a key [Balance, address]; empty for every other key. */
tide_slice relevance_balance_holder(tide_slice key);
/* False for entries that are not mirrored: nonces, wallets' own, strangers' balances of assets. */
bool relevance_entry(const struct tide_decode *d, const struct tide_contract *contract,
                     tide_slice key);
/* Rows of chain.contract_seen. created: the contract's instance appeared, one row for each
 * transaction however often it lists that. discovered: that token (an address ScVal; known ones
 * are skipped) is followed from here on, unsettled so far. market: a market of the engine names it,
 * which has a limit of its own. A token that a catalog names waits for the end of the ledger. */
void relevance_created(struct tide_decode *d, const struct tide_contract *contract, uint32_t tx);
void relevance_discover(struct tide_decode *d, tide_slice address_value, bool market, uint32_t tx);
/* At the end of a ledger: the tokens that its catalogs name first, by transaction and address, are
 * discovered while there are places. The others are ignored: one row for each ledger that names
 * them, for at most NAMED_MAX tokens of a ledger. */
void relevance_take_named(struct tide_decode *d);
/* An unsettled contract shows what it is by its first event or by its instance. The last topic of a
 * Stellar asset's event names the asset, and the contract's id is a hash of that. A row of
 * chain.contract_seen says so (asset, token). topic is the event's last one; empty: it has none. */
void relevance_see_event(struct tide_decode *d, const struct tide_contract *contract,
                         tide_slice topic, uint32_t tx);
void relevance_see_instance(struct tide_decode *d, const struct tide_contract *contract,
                            tide_slice value, uint32_t tx);
/* Whether the ledger may be the first one that shows what the contract is: it is followed since
 * then, if it was named before. */
bool relevance_may_show(const struct tide_decode *d, const struct tide_contract *contract);
/* At the end of a ledger that is kept: what it showed holds from the next ledger on, so that the
 * rows of no ledger depend on the order of its transactions. */
void relevance_settle(struct tide_decode *d);
/* The contracts of the deployment become those of known; between two ledgers. */
void relevance_know(struct tide_decode *d, const struct tide_deployment *known);
/* Takes back discoveries down to that many contracts, and what the ledger showed. */
void relevance_forget(struct tide_decode *d, uint32_t contract_count);

/* kept_for.c: rows of chain.kept_for. Those of a transaction say for which contracts its rows are
 * kept, if they are kept for tokens alone and one of these is found in a later ledger. note adds a
 * reason (contract NULL: an address that the file names), put writes the rows at the end of a
 * transaction that is stored. */
uint32_t kept_since(const struct tide_contract *contract);
void kept_note(struct tide_decode *d, const struct tide_contract *contract, int32_t event);
void kept_put(struct tide_decode *d, uint32_t tx);

/* mention.c */
bool mention_open(struct mentions *m, const uint8_t (*ids)[TIDE_HASH_BYTES], uint32_t count);
void mention_close(struct mentions *m);
/* True if the XDR holds one of the ids. */
bool mention_any(const struct mentions *m, tide_slice xdr);

/* event.c */
tide_status decode_event(struct tide_decode *d, const struct tide_tx *tx,
                         const struct tide_event *event);
/* At the end of a transaction that is stored: events that waited for it. */
void decode_later_events(struct tide_decode *d);
/* The event in its typed table and the log; false, with the reason, when it fits no kind. */
bool decode_event_again(struct tide_decode *d, const struct tide_event *event);
/* call.c */
void decode_call(struct tide_decode *d, const struct tide_tx *tx, enum tide_call_proof proof);

/* group.c: the changes of one LedgerEntryChanges in canonical order: by key, those of one key as
 * they stand. add takes contract data and TTLs. each hands out the group's contract data and ends
 * the group; its TTLs stand behind those of the transaction's earlier groups. */
typedef tide_status group_take(struct tide_decode *d, const struct tide_tx *tx,
                               const struct tide_change *change);
tide_status group_add(struct tide_decode *d, const struct tide_change *change);
tide_status group_each(struct tide_decode *d, const struct tide_tx *tx, group_take *take);
struct data_change group_pack(const struct tide_change *change);
/* Sets kind, type, contract, key, durability and value. */
struct tide_change group_unpack(const struct data_change *packed);

/* state.c. tx is NULL outside of transactions. */
tide_status decode_change(struct tide_decode *d, const struct tide_tx *tx,
                          const struct tide_change *change);
tide_status decode_changes_end(struct tide_decode *d, const struct tide_tx *tx);
tide_status decode_evicted(struct tide_decode *d, tide_slice key);
/* At the end of a ledger: the evicted entries in canonical order. */
tide_status decode_evicted_end(struct tide_decode *d);
/* At the end of a transaction: whose entries its TTL changes are. */
tide_status decode_ttl_owners(struct tide_decode *d);
/* At the end of a transaction that is stored: changes that waited for it, then the TTLs. */
tide_status decode_later_changes(struct tide_decode *d, const struct tide_tx *tx);
tide_status decode_ttls(struct tide_decode *d, const struct tide_tx *tx);

/* The version in its typed history; false, with the reason, when it does not fit. */
bool decode_version_again(struct tide_decode *d, const struct tide_redecode_raw_version *again);

/* latest.c */
void latest_begin_ledger(struct latest_map *map);
void latest_take_back(struct latest_map *map);
/* Notes that the bytes from offset to the end of the state table's rows are the newest of hash. */
bool latest_note(struct latest_map *map, const uint8_t *hash, int table, struct tide_rows *rows,
                 size_t offset);
/* The newest row of hash in that state table, or NULL. Valid until the next row. */
const uint8_t *latest_row(const struct latest_map *map, const uint8_t *hash, int table,
                          const struct tide_rows *rows);
void latest_compact(struct latest_map *map, struct tide_batch *batch, struct tide_buf *scratch);
void latest_reset(struct latest_map *map);
void latest_release(struct latest_map *map);

#endif
