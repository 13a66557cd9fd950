/* A simulated chain: the model runs the workload's calls, and each ledger is written as the network
 * would write it.
 *
 * Use       chain_open, then chain_ledger once for each ledger, then chain_close.
 * Fees      All fees are charged before the first transaction applies. Refunds follow the last.
 * Strangers pay each other and call contracts of their own, which emit events with the protocol's
 *           names.
 * Attackers add transactions behind the others (hostile/).
 * Lifetimes Lapsed entries are evicted, or restored by the next call that needs them. Instances are
 *           extended before they lapse. options.life shortens lifetimes, so that a short chain
 *           shows all this.
 * Bytes     The options decide every byte.
 * Threads   One thread uses a chain. */
#ifndef SIM_CHAIN_H
#define SIM_CHAIN_H

#include "tools/sim/host/host.h"
#include "tools/sim/ledger/lcm.h"
#include "tools/sim/workload/parties.h"
#include "tools/sim/workload/workload.h"

/* One transaction with its outcome, for observers. Valid during the callback. */
struct chain_tx {
    uint32_t ledger;
    uint64_t close_time;
    uint32_t index; /* 1-based position in apply order; strangers count too */
    const uint8_t *hash;
    const uint8_t *inner_hash; /* hash of the transaction in a fee bump; NULL: no fee bump */
    struct sim_addr source;    /* the caller */
    struct sim_addr sender, payer;
    uint64_t payer_id; /* id of a multiplexed payer; 0: it is not multiplexed */
    const struct sim_contract *contract;
    const char *fn; /* NULL: a deployment */
    const sim_val *args;
    uint32_t arg_count;
    uint32_t changed; /* entries that the ledger lists as created, updated or removed */
    const struct sim_outcome *outcome;
};

/* An entry after a change. Nonces are not reported. */
struct chain_version {
    uint32_t ledger;
    uint32_t tx; /* position of the transaction; 0: evicted by the ledger itself */
    const struct sim_entry *entry;
    bool removed;
    bool life_only; /* extended, restored or evicted, with the same value */
};

/* Callbacks that see the chain while it is made. NULL: not wanted. */
struct chain_observer {
    void *self;
    void (*tx)(void *self, const struct chain_tx *tx);
    /* called before the tx that made the change */
    void (*version)(void *self, const struct chain_version *version);
    /* called after the ledger's last tx */
    void (*ledger)(void *self, uint32_t ledger, uint64_t close_time);
};

/* Callbacks that add the transactions of clients to the ledgers; zeros: there are none. The chain
 * calls them in this order, gather first, in each ledger. */
struct chain_guests {
    void *self;
    uint32_t (*gather)(void *self); /* returns how many transactions this ledger takes */
    void (*charge)(void *self);     /* charges their fees */
    void (*classic)(void *self);    /* applies those without contract calls */
    void (*invoke)(void *self);     /* applies the contract calls */
    void (*refund)(void *self);     /* gives back unused fees */
    /* Returns true if the workload must leave this account alone, or an account that the arguments
     * name. */
    bool (*holds)(void *self, uint32_t account, tide_slice args);
    /* returns true while a client is active: the workload then stops and blocks nothing */
    bool (*present)(void *self);
};

#define SIM_HALF_SECOND 500u /* milliseconds */

/* Everything that decides the bytes of a chain. */
struct chain_options {
    uint64_t seed;
    const char *passphrase;
    uint32_t version; /* LedgerCloseMeta's version: 1 or 2 */
    uint32_t first_ledger;
    uint64_t start_time; /* close time of the ledger before the first, unix seconds */
    uint32_t close_step; /* seconds */
    uint32_t txs;        /* calls of a ledger, on average */
    /* accounts of the population, at least chain_founders(txs); 0: chain_founders(txs) */
    uint32_t addresses;
    uint32_t noise; /* transactions of strangers for each hundred calls */
    uint32_t life;  /* ledgers that a persistent entry lives; 0: the network's lifetime */
    enum workload_profile profile;
    uint32_t past;    /* showcase: ledgers behind the first after which the past ends; 0: unknown */
    bool full;        /* exactly txs calls in each ledger, ledgers exactly close_step apart */
    bool strict_auth; /* protocol contracts cannot authorise by signatures, as on the network */
    bool catalog_native; /* partners' catalogs name the native asset's contract */
    bool diagnostics;    /* write diagnostic events */
    bool milliseconds;   /* headers of protocol 30; half of the ledgers share a second */
    uint64_t shuffle; /* salt of lcm_shuffle; 0: changes keep the order in which they were made */
    struct chain_observer observer; /* zeros: none */
};

enum { SIM_USDC = 1 }; /* index of the only asset beside XLM */

/* Accounts and contracts that are no part of the protocol. */
enum { CHAIN_STRANGERS = 24, CHAIN_FOREIGN = 6 };

struct chain_stranger {
    struct lcm_account account;
    struct lcm_trustline line;
    uint32_t busy_at;
};

/* A call of the workload in the present ledger: its fee, and the data that its refund needs. */
struct chain_slot {
    struct workload_call call;
    struct sim_account
        *sender; /* source of the transaction: the caller, or an account that relays */
    struct sim_account
        *payer; /* account that pays the fee: the sender or, for a fee bump, another one */
    struct lcm_account before; /* payer's entry before the fee */
    struct lcm_account after;  /* payer's entry after the fee */
    int64_t fee;               /* stroops; so is the refund */
    int64_t refund;
    bool bumped; /* wrapped in a fee bump */
};

/* The code entry that all native contracts share. */
struct chain_code {
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t modified;   /* ledger that created it; 0: there is none */
    uint32_t live_until; /* last ledger of its life */
    bool evicted;        /* moved to the hot archive */
};

/* Fields marked "in" are set by the caller between chain_open and a chain_ledger. */
struct chain {
    struct chain_options options;
    struct parties parties;
    struct workload workload;
    struct sim_host host;
    struct lcm lcm;
    uint64_t random; /* state of the strangers' random numbers; the workload has its own */
    uint32_t ledger; /* sequence of the newest ledger */
    uint64_t now;    /* its close time, unix seconds */
    /* in: earliest close time of the next ledger, which closes then or one second after the last;
     * 0: the workload decides */
    uint64_t not_before;
    uint32_t pace;   /* in: seconds between ledgers, without jumps; 0: the workload decides */
    bool deployed;   /* the protocol is deployed, the population trades */
    uint64_t events; /* events of operations so far, the strangers' included */
    uint64_t txs;
    uint64_t refused;              /* transactions of the workload that failed */
    struct sim_account **accounts; /* accounts of the parties, by party_ref */
    struct chain_slot *slots;      /* calls of the present ledger */
    uint32_t slot_count;
    uint32_t slot_max;
    uint32_t index;             /* position of the transaction that is being made */
    struct chain_guests guests; /* in */
    struct chain_code code;
    struct chain_stranger strangers[CHAIN_STRANGERS];
    /* in: adds attackers' transactions behind all others; NULL: there are none */
    void (*attack)(void *attackers);
    void *attackers;         /* in: argument of attack */
    struct tide_buf asset;   /* Asset XDR of USDC */
    struct tide_arena arena; /* arguments of the running call */
    /* Parts of the transaction that is being made. A function may reuse answer and scratch. */
    union {
        struct {
            struct tide_buf changes, events_xdr, read_only, read_write, soroban, body, fee_changes,
                before, tx_events, diagnostics, archived, answer, scratch;
        };
        struct tide_buf buffers[13]; /* all of them */
    };
    struct sim_entry **lapsed; /* entries that find_lapsed found; owned */
    uint32_t lapsed_max;
};

/* Returns how many accounts the calls of a ledger need. The deployment attests them before the
 * first call. */
static inline uint32_t chain_founders(uint32_t txs)
{
    return 36 + txs * 2;
}

/* Opens a chain before its first ledger. Returns TIDE_E_MEMORY. */
tide_status chain_open(struct chain *chain, const struct chain_options *options) TIDE_MUST_USE;
void chain_close(struct chain *chain);
/* Makes the next ledger; *lcm borrows until the next call. Returns TIDE_E_LIMIT if txs makes the
 * ledger too large, or TIDE_E_MEMORY. */
tide_status chain_ledger(struct chain *chain, tide_slice *lcm) TIDE_MUST_USE;

/* Kinds of change that observers see; CHAIN_LIFE changes the lifetime only. */
enum chain_change_kind { CHAIN_WRITTEN, CHAIN_REMOVED, CHAIN_LIFE };

/* --- for the chain's own files -------------------------------------------------- */

/* Returns the next random number of the strangers and fees. */
uint64_t chain_random(struct chain *chain);
/* Returns the account's entry with its present values. */
struct lcm_account chain_account(const struct sim_account *account);
/* Returns the account's USDC trustline. */
struct lcm_trustline chain_line(const struct chain *chain, const struct sim_account *account);
/* Appends the LedgerEntry of a touch, before or after the call. */
void chain_put_touch(struct chain *chain, struct tide_buf *buf, const struct sim_touch *touch,
                     bool before);
/* Returns the address of a party. */
struct sim_addr chain_addr(const struct chain *chain, party_ref party);
/* Empties the chain's buffers of transaction parts. */
void chain_reset(struct chain *chain);
/* Changes the account's balance; appends the change to buf and counts it. */
void chain_move(struct chain *chain, struct tide_buf *buf, uint32_t *count,
                struct sim_account *account, int64_t by);
/* Uses the account's next sequence number; appends the change to chain->before and counts it. */
void chain_bump_sequence(struct chain *chain, struct sim_account *source, uint32_t *count);
/* Returns the entry as the lcm functions take it. Its contract borrows from address. */
struct lcm_data chain_data(const struct sim_entry *entry, struct tide_buf *address);
/* Appends a change of an entry's lifetime to chain->changes and counts it. */
void chain_put_ttl(struct chain *chain, uint32_t *count, uint32_t kind, const struct lcm_data *data,
                   uint32_t modified, uint32_t live_until);
/* Runs the slot's call and adds its transaction to the ledger. */
void chain_call(struct chain *chain, struct chain_slot *slot);
/* Adds the strangers' transactions of this ledger. */
void chain_add_foreign(struct chain *chain);
/* A classic payment. */
struct chain_payment {
    bool usdc; /* else XLM */
    int64_t amount;
    const char *memo; /* NULL: none. Else the event's data is a map with the memo as muxed id */
};
/* Appends the transfer event of a classic payment to chain->events_xdr. */
void chain_put_transfer(struct chain *chain, const uint8_t from[TIDE_HASH_BYTES],
                        const uint8_t to[TIDE_HASH_BYTES], const struct chain_payment *payment);
/* Creates the strangers' accounts. */
tide_status chain_strangers(struct chain *chain) TIDE_MUST_USE;
/* Evicts or restores lapsed entries and extends the lives of instances. Does so in some ledgers
 * only. */
void chain_ttl(struct chain *chain);
/* Reports a change to the observer, if there is one. */
void chain_report_version(struct chain *chain, uint32_t tx, const struct sim_entry *entry,
                          enum chain_change_kind what);
/* Lists an entry and its lifetime entry as evicted by this ledger. */
void chain_evict(struct chain *chain, const struct sim_entry *entry);
/* Restores a lapsed entry: appends its changes to chain->changes and counts them. */
void chain_restore(struct chain *chain, uint32_t tx, struct sim_entry *entry, uint32_t *count);
/* Appends the shared code entry, which exists. */
void chain_put_code(const struct chain *chain, struct tide_buf *buf);
/* Returns true for the hash of the shared code. hash: NULL for contracts without code. */
bool chain_is_code(const struct chain *chain, const uint8_t *hash);
/* Returns true if the shared code's life has ended: a call that runs it restores it. */
bool chain_code_lapsed(const struct chain *chain);
/* Create, restore or extend the shared code: append its changes to chain->changes and count them.
 * None of them shortens its life. */
void chain_code_create(struct chain *chain, uint32_t *count);
void chain_code_restore(struct chain *chain, uint32_t *count);
void chain_code_extend(struct chain *chain, uint32_t live_until, uint32_t *count);
/* Lists the shared code as evicted by this ledger if its life has ended and no ledger has yet. */
void chain_code_evict(struct chain *chain);
/* Appends a fee event to chain->tx_events: the stroops that the payer paid at that stage (0: before
 * all transactions, 2: after all). Negative: the payer got them back. */
void chain_fee_event(struct chain *chain, const uint8_t payer[TIDE_HASH_BYTES], uint32_t stage,
                     int64_t amount);
/* Appends the discriminant of a LedgerEntryChange and counts it. The caller appends the entry or
 * key. */
void chain_change(struct tide_buf *buf, uint32_t *count, uint32_t kind);
/* Appends the changes STATE and UPDATED of an account. */
void chain_account_change(struct tide_buf *buf, uint32_t *count, const struct lcm_account *before,
                          const struct lcm_account *after);

/* LedgerEntryChangeType. */
enum { CHANGE_CREATED, CHANGE_UPDATED, CHANGE_REMOVED, CHANGE_STATE, CHANGE_RESTORED };
static_assert(CHANGE_STATE == 3 && CHANGE_RESTORED == 4, "discriminants, as written");

#endif
