/* What the files of the hostile chain share. */
#ifndef SIM_HOSTILE_IMPL_H
#define SIM_HOSTILE_IMPL_H

#include "tidemark/catalogue.h"
#include "tools/sim/chain/chain.h"
#include "tools/sim/hostile/hostile.h"
#include "tools/sim/hostile/value.h"

enum {
    HOSTILE_ACCOUNTS = 32,  /* attackers; each signs one transaction of a ledger       */
    HOSTILE_ENTRIES = 768,  /* entries that are remembered, to be changed again later  */
    HOSTILE_FOREIGN = 2048, /* strangers' contracts                                    */
    HOSTILE_TX_BYTES = 129 * 1024,
    HOSTILE_ENTRY_BYTES = 64 * 1024,
    HOSTILE_EVENT_BYTES = 16 * 1024,
    HOSTILE_KEY_BYTES = 250,
    HOSTILE_KEYS = 400,
    HOSTILE_WRITES = 200,
    HOSTILE_FLOOD_BYTES = 25 << 20,
};

/* An entry that attackers wrote. */
struct hostile_entry {
    uint8_t contract[TIDE_HASH_BYTES];
    struct tide_buf key, val; /* ScVal XDR, owned */
    uint32_t durability, live_until, modified;
    bool exists, evicted;
    uint64_t touched; /* ledger and transaction that changed it last: a key changes once in each */
};

struct hostile {
    struct chain *chain;
    struct hostile_options options;
    struct dice dice;
    struct lcm_account accounts[HOSTILE_ACCOUNTS];
    uint32_t next_account;
    struct hostile_entry *entries; /* HOSTILE_ENTRIES of them */
    uint32_t entry_count;
    bool flooded;
    uint32_t bulks, bulk_at;    /* bulks so far; the ledger of the last one */
    uint32_t listed, listed_at; /* contracts that catalogs list; the ledger of the last one */
    const uint8_t *named;       /* the contract that every address is; NULL: any address */
    bool renamed;               /* the DAO's instance names attackers' contracts */
    struct tide_buf args, key, value, address, hash_key;
    struct tide_buf subjects;            /* keys that one transaction changes again and again */
    struct tide_buf after, refund, late; /* groups of changes, see attacks_changes.c          */
};

/* One transaction in the making; buffers are the chain's and the above. */
struct attack {
    struct hostile *h;
    struct chain *chain;
    struct dice *dice;
    struct lcm_account *from;
    struct lcm_tx tx;
    uint32_t args, read_only, read_write, archived, changes, events, diagnostics;
    bool own_instance; /* the called contract's instance may be written: it is not listed as read */
};

static inline bool hostile_all(const struct hostile *h)
{
    return h->options.all_from && h->chain->ledger >= h->options.all_from;
}

/* --- hostile_tx.c: transactions ------------------------------------------------------- */

void attack_begin(struct attack *a, struct hostile *h);
/* Arguments first: hostile_value and others append to h->args, attack_args counts. */
void attack_call(struct attack *a, const uint8_t contract[TIDE_HASH_BYTES], tide_slice function);
/* Of the operation whose arm is in the chain's body. success: code 0; else the code. */
void attack_end(struct attack *a, enum lcm_op type, int32_t code);
/* Lists a contract's instance as read: each contract that runs or emits an event is in the footprint. */
void attack_instance(struct attack *a, const uint8_t contract[TIDE_HASH_BYTES]);
/* A key of the footprint. */
void attack_key(struct attack *a, bool write, const struct lcm_data *data);

/* --- hostile_entry.c: ledger entries ------------------------------------------------------ */

/* Creates, updates or restores the entry, with its life; remembered as far as there is room. */
void attack_write(struct attack *a, const uint8_t contract[TIDE_HASH_BYTES], uint32_t durability,
                  tide_slice key, tide_slice value);
/* Creates the entry, or updates it from the same value; not remembered. The key is not listed in the
 * footprint. */
void attack_create(struct attack *a, const struct lcm_data *data, tide_slice value);
void attack_update(struct attack *a, const struct lcm_data *data, tide_slice value);
void attack_remove(struct attack *a, struct hostile_entry *entry);
/* RESTORED: the entry and its life. */
void attack_restore(struct attack *a, struct hostile_entry *entry);
/* STATE and UPDATED of its life alone; the entry's own record is left to the caller. */
void attack_extend(struct attack *a, const struct hostile_entry *entry, uint32_t live_until);
/* Overwrites an entry of the model's world, which does not learn of it. */
void attack_overwrite(struct attack *a, const struct sim_entry *entry, tide_slice value);
/* Any remembered entry, alive or as asked; NULL when there is none. */
struct hostile_entry *hostile_any_entry(struct hostile *h, bool lapsed);
/* Lapsed entries leave the live state. */
void hostile_evict(struct hostile *h);
void hostile_forget(struct hostile *h);

/* --- hostile_shape.c: what looks like the protocol's --------------------------------------- */

/* How far from what the catalogue says. */
enum hostile_style { STYLE_EXTREME, STYLE_BENT, STYLE_ANY };
enum hostile_style hostile_style(struct dice *d);

/* A contract of ours with a role that the catalogue knows; never a Stellar asset. */
const struct sim_contract *hostile_ours(struct hostile *h);
/* A stranger's contract. */
void hostile_foreign(const struct hostile *h, uint32_t i, uint8_t out[TIDE_HASH_BYTES]);
/* Appends an SCAddress of an attacker, a stranger's contract or an unused key; with all_from also
 * of the population's. */
void hostile_put_any_address(struct hostile *h, struct tide_buf *out);
/* Appends one ContractEvent of a random kind of that role. */
void hostile_put_event(struct hostile *h, struct tide_buf *out, const uint8_t id[TIDE_HASH_BYTES],
                       enum tide_role role, enum hostile_style style);
/* Appends one ContractEvent of that kind. */
void hostile_put_event_of(struct hostile *h, struct tide_buf *out,
                          const uint8_t id[TIDE_HASH_BYTES], const struct tide_kind *kind,
                          enum hostile_style style);
/* Appends an event's head with any type, then topic count. */
void hostile_put_event_head(struct tide_buf *out, const uint8_t id[TIDE_HASH_BYTES], uint32_t type,
                            uint32_t topics);
/* The kind of an entry of the model's world; NULL when the catalogue has no such key. */
const struct tide_kind *hostile_kind_of(const struct sim_entry *entry);
/* A kind of entry of that role, at random; NULL when it has none. */
const struct tide_kind *hostile_kind(struct hostile *h, enum tide_role role);
/* Key and value of such an entry, into h->key and h->value. */
void hostile_put_entry(struct hostile *h, const struct tide_kind *kind, enum hostile_style style);
/* Value of an entry of that kind alone, into h->value. */
void hostile_put_entry_value(struct hostile *h, const struct tide_kind *kind,
                             enum hostile_style style);
/* An instance of that role as ScVal, into h->value. */
void hostile_put_instance(struct hostile *h, enum tide_role role, enum hostile_style style);

/* --- attacks*.c ------------------------------------------------------------------------- */

#define HOSTILE_ATTACK(name, weight, doc) void hostile_##name(struct hostile *h);
#include "tools/sim/hostile/attacks.def"
#undef HOSTILE_ATTACK

#endif
