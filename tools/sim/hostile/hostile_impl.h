/* Declarations that the files of the hostile chain share. */
#ifndef SIM_HOSTILE_IMPL_H
#define SIM_HOSTILE_IMPL_H

#include "tidemark/catalogue.h"
#include "tools/sim/chain/chain.h"
#include "tools/sim/hostile/hostile.h"
#include "tools/sim/hostile/value.h"

enum {
    HOSTILE_ACCOUNTS = 32, /* attackers; each signs one transaction of a ledger */
    /* entries whose state is recorded, so that attackers can change them later */
    HOSTILE_ENTRIES = 768,
    HOSTILE_FOREIGN = 2048,        /* contracts of strangers */
    HOSTILE_TX_BYTES = 129 * 1024, /* the network's limit of a transaction, as the limits below */
    HOSTILE_ENTRY_BYTES = 64 * 1024,
    HOSTILE_EVENT_BYTES = 16 * 1024,
    HOSTILE_KEY_BYTES = 250,
    HOSTILE_KEYS = 400,
    HOSTILE_WRITES = 200,           /* written keys of a footprint */
    HOSTILE_FLOOD_BYTES = 25 << 20, /* bytes of the ledger that the attack flood makes */
};

/* An entry that attackers wrote, with its present state. */
struct hostile_entry {
    uint8_t contract[TIDE_HASH_BYTES];
    struct tide_buf key, val; /* ScVal XDR, owned */
    uint32_t durability, live_until, modified;
    bool exists, evicted;
    /* ledger and transaction of the last change: a transaction changes a key once */
    uint64_t touched;
};

/* The attackers of a chain. */
struct hostile {
    struct chain *chain;
    struct hostile_options options;
    struct dice dice;
    struct lcm_account accounts[HOSTILE_ACCOUNTS]; /* their accounts, used in turn */
    uint32_t next_account;
    struct hostile_entry *entries; /* HOSTILE_ENTRIES elements; owned */
    uint32_t entry_count;
    bool flooded;               /* the attack flood has happened */
    uint32_t bulks, bulk_at;    /* number of bulk attacks; the ledger of the last one */
    uint32_t listed, listed_at; /* number of listings; the ledger of the last one */
    /* tokens of the attack late, named and listed so far */
    uint32_t late_named, late_listed;
    /* contract that stands for every random address; NULL: addresses are random */
    const uint8_t *named;
    bool renamed; /* the DAO's instance names contracts of the attackers */
    union {
        struct {
            struct tide_buf args, key, value, address; /* arguments; parts of an entry; scratch */
            struct tide_buf subjects;            /* keys that one transaction changes many times */
            struct tide_buf after, refund, late; /* groups of changes, see attacks_changes.c */
        };
        struct tide_buf buffers[8]; /* all of them */
    };
};

/* A transaction that is being made. Its parts are in the chain's buffers and those above. */
struct attack {
    struct hostile *h;
    struct chain *chain;
    struct dice *dice;
    struct lcm_account *from;
    struct lcm_tx tx;
    /* items in the buffers */
    uint32_t args, read_only, read_write, archived, changes, events, diagnostics;
    /* the call may write the contract's instance, which is therefore not listed as read */
    bool own_instance;
};

/* Returns true if attackers may overwrite entries of the workload. */
static inline bool hostile_all(const struct hostile *h)
{
    return h->options.all_from && h->chain->ledger >= h->options.all_from;
}

/* --- hostile_tx.c: transactions ------------------------------------------------------- */

/* Begins a transaction of the next attacker: fee and sequence number. */
void attack_begin(struct attack *a, struct hostile *h);
/* Writes the call to the chain's body. The arguments come before: append them to h->args and count
 * them in a->args. */
void attack_call(struct attack *a, const uint8_t contract[TIDE_HASH_BYTES], tide_slice function);
/* Adds the transaction to the ledger; its operation's arm is in the chain's body. code 0: success,
 * else the operation's result code. */
void attack_end(struct attack *a, enum lcm_op type, int32_t code);
/* Lists a contract's instance as read. The network requires the instance of each contract that runs
 * or emits an event. */
void attack_instance(struct attack *a, const uint8_t contract[TIDE_HASH_BYTES]);
/* Lists a key in the footprint. */
void attack_key(struct attack *a, bool write, const struct lcm_data *data);

/* --- hostile_entry.c: ledger entries ------------------------------------------------------ */

/* Creates, updates or restores an entry with its lifetime; its value is in h->value. Records its
 * state, if need be in place of another entry's. */
void attack_write(struct attack *a, const uint8_t contract[TIDE_HASH_BYTES], uint32_t durability,
                  tide_slice key);
/* Create an entry, or update it from the same value. The state is not recorded; the caller lists
 * the key in the footprint. */
void attack_create(struct attack *a, const struct lcm_data *data, tide_slice value);
void attack_update(struct attack *a, const struct lcm_data *data, tide_slice value);
/* Removes a recorded entry. */
void attack_remove(struct attack *a, struct hostile_entry *entry);
/* Restores a recorded entry and its lifetime. */
void attack_restore(struct attack *a, struct hostile_entry *entry);
/* Extends an entry's lifetime. The caller updates the recorded state. */
void attack_extend(struct attack *a, const struct hostile_entry *entry, uint32_t live_until);
/* Overwrites an entry of the model, which does not learn of it. */
void attack_overwrite(struct attack *a, const struct sim_entry *entry, tide_slice value);
/* Returns a random recorded entry that exists, lapsed or not as requested; NULL if there is
 * none. */
struct hostile_entry *hostile_any_entry(struct hostile *h, bool lapsed);
/* Evicts some of the lapsed entries. */
void hostile_evict(struct hostile *h);
/* Frees the recorded entries. */
void hostile_forget(struct hostile *h);

/* --- hostile_shape.c: imitations of the protocol's events and entries ----------------------- */

/* The distance of a value from the catalogue's shape: right with extreme content, a little wrong,
 * or any value. */
enum hostile_style { STYLE_EXTREME, STYLE_BENT, STYLE_ANY };
/* Returns a random style: mostly STYLE_EXTREME. */
enum hostile_style hostile_style(struct dice *d);

/* Returns a random contract of the protocol, but no Stellar asset. */
const struct sim_contract *hostile_ours(struct hostile *h);
/* Computes the id of a stranger's contract. */
void hostile_foreign(const struct hostile *h, uint32_t i, uint8_t out[TIDE_HASH_BYTES]);
/* Appends the SCAddress of an attacker, of a stranger's contract or of an unused key; from all_from
 * on also of the population. */
void hostile_put_any_address(struct hostile *h, struct tide_buf *out);
/* Appends a ContractEvent of a random kind of that role. */
void hostile_put_event(struct hostile *h, struct tide_buf *out, const uint8_t id[TIDE_HASH_BYTES],
                       enum tide_role role, enum hostile_style style);
/* Appends a ContractEvent of that kind. */
void hostile_put_event_of(struct hostile *h, struct tide_buf *out,
                          const uint8_t id[TIDE_HASH_BYTES], const struct tide_kind *kind,
                          enum hostile_style style);
/* Returns the kind of a model's entry, or NULL if the catalogue has no such key. */
const struct tide_kind *hostile_kind_of(const struct sim_entry *entry);
/* Returns a random kind of entry of that role, or NULL if there is none. */
const struct tide_kind *hostile_kind(struct hostile *h, enum tide_role role);
/* Writes key and value of an entry of that kind to h->key and h->value. */
void hostile_put_entry(struct hostile *h, const struct tide_kind *kind, enum hostile_style style);
/* Writes the value alone to h->value. */
void hostile_put_entry_value(struct hostile *h, const struct tide_kind *kind,
                             enum hostile_style style);
/* Writes an instance of that role as ScVal to h->value. */
void hostile_put_instance(struct hostile *h, enum tide_role role, enum hostile_style style);

/* --- attacks*.c ------------------------------------------------------------------------- */

#define HOSTILE_ATTACK(name, weight, doc) void hostile_##name(struct hostile *h);
#include "tools/sim/hostile/attacks.def"
#undef HOSTILE_ATTACK

#endif
