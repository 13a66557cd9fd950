/* A simulated chain: the workload's calls run in the model, and each ledger is written as the
 * network would write it.
 *
 * Flow      chain_open, then chain_ledger as often as ledgers are wanted.
 * Fees      All fees are charged before the first transaction applies. Refunds follow the last.
 * Strangers They pay each other and call contracts of their own, with events named like ours.
 * Attacks   Attackers add transactions behind the others: hostile/.
 * TTL       Lapsed entries are evicted, or restored by the next call that needs them. Instances are
 *           extended in time. options.life shortens lifetimes, so that a short chain shows this.
 * Same      The options decide every byte. */
#ifndef SIM_CHAIN_H
#define SIM_CHAIN_H

#include "tools/sim/host/host.h"
#include "tools/sim/ledger/lcm.h"
#include "tools/sim/workload/parties.h"
#include "tools/sim/workload/workload.h"

/* What became of one call: what --expect and others want to know. Good during the callback. */
struct chain_tx {
    uint32_t ledger;
    uint64_t close_time;
    uint32_t index; /* 1-based, apply order; strangers count too */
    const uint8_t *hash;
    struct sim_addr source;
    const struct sim_contract *contract;
    const char *fn; /* NULL: a deployment */
    const sim_val *args;
    uint32_t arg_count;
    uint32_t changed; /* entries that the ledger lists as created, updated or removed */
    const struct sim_outcome *outcome;
};

/* One entry as it stands after a change; nonces are not reported. */
struct chain_version {
    uint32_t ledger;
    uint32_t tx; /* 0: evicted, by no transaction */
    const struct sim_entry *entry;
    bool removed;
    bool life_only; /* extended, restored or evicted, value untouched */
};

struct chain_observer {
    void *self;
    void (*tx)(void *self, const struct chain_tx *tx);
    void (*version)(void *self, const struct chain_version *version); /* before its tx */
    void (*ledger)(void *self, uint32_t ledger, uint64_t close_time); /* behind its last tx */
};

/* Callbacks that add transactions of clients to the ledgers; zeros: none. The chain calls them in
 * this order, gather first. */
struct chain_guests {
    void *self;
    uint32_t (*gather)(void *self); /* how many this ledger takes */
    void (*charge)(void *self);
    void (*classic)(void *self); /* applies those without contracts */
    void (*invoke)(void *self);
    void (*refund)(void *self);
    /* True if the workload must leave this account alone, or one that the arguments name. */
    bool (*holds)(void *self, uint32_t account, tide_slice args);
    bool (*present)(void *self); /* a client is active: nothing is stopped or blocked meanwhile */
};

struct chain_options {
    uint64_t seed;
    const char *passphrase;
    uint32_t version; /* of LedgerCloseMeta: 1 or 2            */
    uint32_t first_ledger;
    uint64_t start_time; /* close time of the ledger before        */
    uint32_t close_step; /* seconds                                */
    uint32_t txs;        /* calls a ledger, on average             */
    uint32_t addresses;  /* accounts of the population, at least chain_founders; 0: so many */
    uint32_t noise;      /* transactions of strangers in a hundred */
    uint32_t life;       /* lifetime of a persistent entry, ledgers; 0: the network's */
    enum workload_profile profile;
    bool full; /* so many in each ledger, which close close_step apart */
    bool strict_auth;
    bool catalog_native;
    bool diagnostics;
    uint64_t shuffle;               /* salt of lcm_shuffle; 0: none */
    struct chain_observer observer; /* zeros: none */
};

/* Strangers: accounts that are no part of the protocol. */
enum { CHAIN_STRANGERS = 24, CHAIN_FOREIGN = 6 };

struct chain_stranger {
    struct lcm_account account;
    struct lcm_trustline line;
    uint32_t busy_at;
};

/* Fee paid by a transaction of the parties; what its refund needs. */
struct chain_slot {
    struct workload_call call;
    struct sim_account *payer;
    struct lcm_account before;
    struct lcm_account after;
    int64_t fee;
    int64_t refund;
    bool bumped;
};

struct chain {
    struct chain_options options;
    struct parties parties;
    struct workload workload;
    struct sim_host host;
    struct lcm lcm;
    uint64_t random; /* for strangers: apart from the workload's */
    uint32_t ledger;
    uint64_t now;
    uint64_t not_before; /* in: the next ledger closes then, or a second after the last */
    uint32_t pace;       /* in: seconds between ledgers, no jumps; 0: the workload's */
    bool deployed;
    uint64_t events; /* of operations so far, strangers' too */
    uint64_t txs;
    uint64_t refused;
    struct sim_account **accounts; /* of the parties, by place */
    struct chain_slot *slots;
    uint32_t slot_count;
    uint32_t slot_max;
    uint32_t index;             /* of the transaction in the making */
    struct chain_guests guests; /* in */
    uint32_t code_ledger;       /* that brought the code entry; 0: there is none */
    struct chain_stranger strangers[CHAIN_STRANGERS];
    void (*attack)(void *attackers); /* in: adds transactions behind all others; NULL: none */
    void *attackers;                 /* in */
    struct tide_buf asset;           /* Asset XDR of USDC */
    struct tide_arena arena;         /* arguments */
    struct tide_buf changes, events_xdr, read_only, read_write, soroban, body, fee_changes, before,
        tx_events, diagnostics, archived, scratch, answer;
    struct sim_entry **lapsed;
    uint32_t lapsed_max;
};

/* Accounts of the population that the calls of a ledger need, attested before the first of them. */
static inline uint32_t chain_founders(uint32_t txs)
{
    return 36 + txs * 2;
}

tide_status chain_open(struct chain *chain, const struct chain_options *options) TIDE_MUST_USE;
void chain_close(struct chain *chain);
/* The next ledger; *lcm borrows until the next call. TIDE_E_LIMIT: too many txs a ledger. */
tide_status chain_ledger(struct chain *chain, tide_slice *lcm) TIDE_MUST_USE;

enum chain_what { CHAIN_WRITTEN, CHAIN_REMOVED, CHAIN_LIFE };

/* --- for the chain's own files -------------------------------------------------- */

uint64_t chain_random(struct chain *chain);
/* The account as its entry stands now. */
struct lcm_account chain_account(const struct sim_account *account);
struct sim_addr chain_addr(const struct chain *chain, party_ref party);
void chain_call(struct chain *chain, struct chain_slot *slot);
void chain_add_foreign(struct chain *chain);
tide_status chain_strangers(struct chain *chain) TIDE_MUST_USE;
/* Evicts what lapsed, and cares for instances, every so many ledgers. */
void chain_ttl(struct chain *chain);
/* Tells the observer, if there is one. */
void chain_report_version(struct chain *chain, uint32_t tx, const struct sim_entry *entry,
                          enum chain_what what);
/* Lists an entry and its life as evicted by this ledger. */
void chain_evict(struct chain *chain, const struct sim_entry *entry);
void chain_restore(struct chain *chain, uint32_t tx, struct sim_entry *entry, uint32_t *count);
/* A fee event: what the payer paid (negative: got back) at that stage. */
void chain_fee_event(struct chain *chain, const uint8_t payer[TIDE_HASH_BYTES], uint32_t stage,
                     int64_t amount);
/* Appends a change and counts it. */
void chain_change(struct tide_buf *buf, uint32_t *count, uint32_t kind);
/* Appends STATE and UPDATED of an account. */
void chain_account_change(struct tide_buf *buf, uint32_t *count, const struct lcm_account *before,
                          const struct lcm_account *after);

enum { CHANGE_CREATED, CHANGE_UPDATED, CHANGE_REMOVED, CHANGE_STATE, CHANGE_RESTORED };

#endif
