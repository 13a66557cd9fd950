/* The model that contracts run in: ledger, entries, accounts, calls.
 *
 * A call   sim_invoke runs one function of one contract as one transaction. A refusal anywhere in
 *          its call tree (sim_refuse, a failed check, an overflow, wrong argument types) undoes
 *          everything. The outcome holds what a ledger would show: the return value, the events in
 *          order, every entry touched with its state before the call, the authorisations.
 * Code     Contracts are functions over this interface; contracts/classes.def lists them. A refusal
 *          leaves their C frames by longjmp: contracts hold no malloc'd memory.
 * Time     sim_ledger sets sequence and close time of the calls that follow.
 * Memory   One arena holds the values of a call; they are freed by the next call. Entries keep
 *          their XDR in malloc'd memory that is freed when it is replaced, so memory follows the
 *          live state, not the history.
 * Threads  One thread uses a host.
 * Bugs     Wrong use aborts. Lack of memory aborts too: the simulator is a tool. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "tidemark/catalogue.h"
#include "tidemark/deployment.h"
#include "tools/sim/host/value.h"
#include <setjmp.h>

#define SIM_ASSETS_MAX 4u          /* classic assets, XLM (0) included */
#define SIM_DEPTH_MAX  16u         /* nested contract calls */
#define SIM_ARENA      (16u << 20) /* bytes for the values of one call */

#define SIM_PERSISTENT_LIFE 2073599u /* ledgers that a new entry lives */
#define SIM_TEMPORARY_LIFE  17279u
#define SIM_NONCE_LIFE      3110399u

struct sim_host;

static_assert(SIM_DEPTH_MAX > 1 && SIM_ASSETS_MAX > 1, "contracts call each other and move USDC");
static_assert(SIM_TEMPORARY_LIFE < SIM_PERSISTENT_LIFE, "a temporary entry lives shorter");

/* --- state of the ledger -------------------------------------------------- */

/* Durability of an entry, as in ContractDataDurability. */
#define SIM_TEMPORARY  0u
#define SIM_PERSISTENT 1u

/* One contract data entry. Only host*.c may change it. */
struct sim_entry {
    struct sim_entry *next; /* next entry of the same bucket */
    uint64_t hash;
    struct sim_contract *contract;
    tide_slice key; /* ScVal XDR */
    uint32_t durability;
    bool exists;
    tide_slice val;      /* ScVal XDR, owned; empty unless the entry exists */
    uint32_t live_until; /* last ledger of its life */
    uint32_t modified;   /* ledger of the last write */
    bool evicted;        /* persistent, lapsed, and moved to the hot archive by sim_entry_archive */
    uint32_t live_index; /* index in sim_host.live while the entry is not evicted */
    uint32_t touch; /* index in the outcome's touches, valid while touched_in is the present call */
    uint64_t touched_in; /* number of the last call that touched the entry */
};

/* A trustline. Amounts are in the asset's smallest unit. */
struct sim_line {
    bool exists;
    bool authorized;
    bool clawback;
    int64_t balance;
    int64_t limit;
    uint32_t modified; /* ledger of the last write */
};

/* A classic account with its trustlines. */
struct sim_account {
    struct sim_addr address; /* the first field: the tree's key */
    bool exists;
    int64_t balance; /* stroops */
    int64_t seq;     /* sequence number of its last transaction */
    uint32_t subentries;
    uint32_t flags; /* AccountFlags */
    uint32_t modified;
    struct sim_line lines[SIM_ASSETS_MAX]; /* trustline of each asset; [0] is unused */
    /* as in sim_entry: [0] for the account entry, [n] for trustline n */
    uint32_t touch[SIM_ASSETS_MAX];
    uint64_t touched_in[SIM_ASSETS_MAX];
};

/* A classic asset. */
struct sim_asset {
    char code[13];          /* NUL-terminated; "" for XLM */
    struct sim_addr issuer; /* an account */
};

/* A contract, deployed or not. */
struct sim_contract {
    struct sim_addr address; /* the first field: the tree's key */
    enum tide_role role;
    char name[TIDE_NAME_MAX];
    uint32_t forms;  /* synth_token: a library's forms of events; 0: the protocol's own */
    uint32_t asset;  /* stellar_asset: index of its asset in sim_host.assets */
    uint32_t nonces; /* nonces on the ledger that authorisations of this contract have used */
    const struct sim_class *code; /* NULL: a wallet */
    struct sim_entry *instance;   /* instance entry; NULL before the deployment */
    /* the instance as a tree, valid while loaded_in is the present call */
    struct sim_instance *loaded;
    uint64_t loaded_in;
};

/* --- code ------------------------------------------------------------------ */

/* The party that must authorise a function, checked before anything else. Any other text names the
 * slot that args[0] must equal; args[0] authorises then. */
#define SIM_FREE         NULL     /* none */
#define SIM_FIRST        ""       /* args[0] */
#define SIM_STORED(slot) "=" slot /* the address in the slot, whatever the arguments are */
#define SIM_NEW          "+"      /* args[0], who becomes ADMIN; refuses if there is one */

/* A function that returns the value of the entry under the key of all its arguments: the value or
 * void, a list or an empty one, a number or 0, or whether the entry exists. */
enum sim_as { SIM_AS_NONE, SIM_AS_OPTION, SIM_AS_LIST, SIM_AS_I128, SIM_AS_FLAG };

/* One function: its name, its arguments' types as sim_types_fit takes them, its authorisation, and
 * one of: its code, a slot, an entry. args of the code have these types. An answer lies in memory of
 * the call's arena or of args. A refusal does not return. */
struct sim_fn {
    const char *name;
    const char *types;
    const char *auth;
    sim_val (*answer)(struct sim_host *h, const sim_val *args);
    void (*change)(struct sim_host *h, const sim_val *args); /* returns void */
    const char *set;                                         /* stores args[1] in this slot */
    const char *slot; /* returns the value of this slot; refuses if it is absent */
    enum sim_as as;
    enum tide_entry_id entry;
};

/* The code of a contract. */
struct sim_class {
    enum tide_role role;
    const struct sim_fn *fns; /* the last one has a NULL name */
    /* returns the instance storage of a new contract; NULL: it is empty, and the code is wasm */
    sim_val (*first_storage)(struct sim_host *h, const struct sim_contract *contract);
};

/* The code of each role, NULL for wallets. (contracts/classes.c) */
extern const struct sim_class *const sim_classes[TIDE_ROLE_COUNT];

/* Names that the model writes: topic 0 of an event, the first symbol of a key. The model takes
 * nothing else from the catalogue. An event or entry that the catalogue does not know does not
 * compile. Names of fields and slots stand in the contracts; a test compares them. */
#define SIM_EVENT(role, id) (tide_events()[TIDE_EV_##role##_##id].name)
#define SIM_ENTRY(role, id) (tide_entries()[TIDE_EN_##role##_##id].name)

/* --- outcome --------------------------------------------------------------- */

enum sim_touch_kind { SIM_TOUCH_DATA, SIM_TOUCH_ACCOUNT, SIM_TOUCH_LINE };

/* An entry that a call read or wrote. The touches, in the order of the first access, are the call's
 * footprint. */
struct sim_touch {
    enum sim_touch_kind kind;
    bool written; /* read-write key of the footprint; else read-only */
    struct sim_entry *entry;
    struct sim_account *account;
    uint32_t asset; /* the trustline's asset, for SIM_TOUCH_LINE */
    /* The fields below hold the state before the call; entry and account hold the state after
     * it. */
    bool existed;
    tide_slice val;
    uint32_t live_until;
    uint32_t modified;
    int64_t balance;
    /* attempts only: a temporary entry whose life had ended. The call sees no entry; undoing the
     * attempt brings the entry back. */
    bool lapsed;
};

struct sim_event {
    const struct sim_contract *contract;
    bool system;    /* a system event; else a contract event */
    sim_val topics; /* Vec; the event's name comes first */
    sim_val data;
};

/* One call in the call tree; frame 0 is the root. */
struct sim_frame {
    struct sim_contract *contract;
    const char *fn;
    const sim_val *args;
    uint32_t arg_count;
    uint32_t parent; /* index of the caller's frame; the root has its own */
};

/* A required authorisation that the direct caller does not give by itself: it needs a signature. */
struct sim_auth {
    struct sim_addr party;
    uint32_t frame; /* the call that required it */
    bool first;     /* the first of this address in the call tree: the one that uses a nonce */
};

/* Outcome of a call. All pointers are valid until the next sim_invoke, sim_view, sim_attempt or
 * sim_deploy. */
struct sim_outcome {
    bool ok;
    const char *reason; /* static text that names the reason of a refusal; else NULL */
    sim_val ret;        /* the answer; void if refused */
    uint32_t event_count;
    uint32_t touch_count;
    uint32_t frame_count;
    uint32_t auth_count;
    bool code_created; /* the deployment also created the code entry of the empty wasm */
    /* entries that were created, updated or removed, nonces included; 0 if refused */
    uint32_t changed;
    struct sim_event *events;
    struct sim_touch *touches;
    struct sim_frame *frames;
    struct sim_auth *auths;
};

/* --- world ----------------------------------------------------------------- */

/* The whole model: state of the ledger, and the running or last call. */
struct sim_host {
    uint8_t network_id[TIDE_HASH_BYTES];
    uint32_t seq;     /* sequence of the ledger being built */
    uint64_t now;     /* its close time, unix seconds */
    bool strict_auth; /* a protocol contract cannot authorise by a signature, as on the network */
    uint32_t persistent_life; /* SIM_PERSISTENT_LIFE unless an option shortens it */
    uint32_t temporary_life;
    uint32_t asset_count;
    struct sim_asset assets[SIM_ASSETS_MAX];
    const struct sim_class *const *classes; /* by role */

    /* The running or last call. */
    struct tide_arena arena;
    uint64_t call;             /* its number; 0 before the first call */
    struct sim_addr source;    /* source account of the transaction */
    struct sim_contract *self; /* the contract that runs */
    uint32_t frame;            /* index of its frame */
    uint32_t depth;
    struct sim_outcome out;
    jmp_buf refused; /* sim_refuse jumps here */

    /* For host*.c only. */
    bool attempt;      /* the call is a sim_attempt that may still be undone */
    bool code_present; /* the code entry of the empty wasm exists */
    uint32_t event_max, touch_max, frame_max, auth_max;
    struct tide_buf scratch;
    void **garbage; /* values that this call replaced; the next call frees them */
    uint32_t garbage_count, garbage_max;
    struct sim_entry **entries; /* hash table of all entries */
    uint32_t entry_count, entry_buckets;
    struct sim_entry **live; /* entries that are not evicted, in no order */
    uint32_t live_count, live_max;
    void *accounts, *contracts; /* trees of search.h, by address */
};

/* Opens a host without accounts and contracts; asset 0 is XLM. classes: sim_classes. */
void sim_open(struct sim_host *h, const uint8_t network_id[TIDE_HASH_BYTES],
              const struct sim_class *const *classes);
void sim_close(struct sim_host *h);
/* Sets the ledger of the calls that follow. */
static inline void sim_ledger(struct sim_host *h, uint32_t seq, uint64_t close_time)
{
    h->seq = seq;
    h->now = close_time;
}

/* Creates an account entry, as genesis would: it is part of no outcome. The account must not
 * exist. */
struct sim_account *sim_account_add(struct sim_host *h, struct sim_addr address, int64_t balance);
/* Returns the account, or NULL if no such entry exists. */
struct sim_account *sim_account_find(struct sim_host *h, struct sim_addr address);
/* Gives the account a trustline of balance 0 and limit 2^63-1, authorised; counts a subentry. */
void sim_trust(struct sim_account *account, uint32_t asset);
/* Registers a classic asset and returns its index. Index 0 is XLM, which always exists. */
uint32_t sim_asset_add(struct sim_host *h, const char *code, struct sim_addr issuer);

/* Registers a contract without an entry: a wallet, or a contract to be deployed later. */
struct sim_contract *sim_contract_add(struct sim_host *h, struct sim_addr address,
                                      enum tide_role role, const char *name);
/* Returns the registered contract, or NULL. */
struct sim_contract *sim_contract_find(struct sim_host *h, struct sim_addr address);
/* Creates the instance entry as one transaction; a Stellar asset's instance holds its metadata.
 * Refused if the contract has an instance. */
const struct sim_outcome *sim_deploy(struct sim_host *h, struct sim_addr source,
                                     struct sim_contract *contract);

/* Runs contract.fn(args) as one transaction of source and keeps its effects unless it is refused.
 * args are copied shallowly: the memory that they point to must live until the next call. */
const struct sim_outcome *sim_invoke(struct sim_host *h, struct sim_addr source,
                                     struct sim_addr contract, const char *fn, const sim_val *args,
                                     uint32_t arg_count);
/* Runs a read function. Its effects are undone. */
const struct sim_outcome *sim_view(struct sim_host *h, struct sim_addr contract, const char *fn,
                                   const sim_val *args, uint32_t arg_count);

/* A call whose effects a callback accepts or rejects. */
struct sim_attempt {
    struct sim_addr source, contract;
    const char *fn;
    const sim_val *args;
    uint32_t arg_count;
    void *self;
    /* Called once the call has passed, while all its effects stand. Returns NULL to keep them, or
     * static text to undo them as if a contract had refused with that text. Not called for a
     * refused call. */
    const char *(*judge)(void *self, const struct sim_outcome *outcome);
};
/* Runs the attempt like sim_invoke. A refused or rejected attempt leaves no trace, not even on
 * lapsed temporary entries. */
const struct sim_outcome *sim_attempt(struct sim_host *h, const struct sim_attempt *attempt);

/* Returns the entry, or NULL; key is ScVal XDR. The look-up is no touch. */
struct sim_entry *sim_entry_find(struct sim_host *h, struct sim_contract *contract, tide_slice key,
                                 uint32_t durability);
/* Appends the event as ContractEvent XDR. */
void sim_event_xdr(struct tide_buf *buf, const struct sim_event *event);

/* Iterates over the existing entries that are not evicted, in no order. *at starts at 0. Returns
 * NULL at the end. Faster than sim_entry_next: most entries of a long chain are evicted. */
struct sim_entry *sim_entry_live(struct sim_host *h, uint32_t *at);
/* Moves a lapsed persistent entry to the hot archive; sim_entry_restore moves it back. */
void sim_entry_archive(struct sim_host *h, struct sim_entry *entry);
void sim_entry_restore(struct sim_host *h, struct sim_entry *entry);

/* Position of a walk over every existing entry, evicted ones too, in no order. Zeros: the start. */
struct sim_walk {
    uint32_t bucket;
    struct sim_entry *entry;
};
/* Returns the next entry of the walk, or NULL at the end. */
struct sim_entry *sim_entry_next(struct sim_host *h, struct sim_walk *walk);
/* Frees a temporary entry whose life is over (eviction). A walk that has returned the entry may go
 * on. */
void sim_entry_evict(struct sim_host *h, struct sim_entry *entry);

/* --- for contracts: refusals, arithmetic, authorisation ---------------------- */

/* Ends the whole call tree as refused. reason is static text. */
_Noreturn void sim_refuse(struct sim_host *h, const char *reason);

/* Refuses unless holds. */
TIDE_INLINE void sim_require(struct sim_host *h, bool holds, const char *reason)
{
    if (TIDE_UNLIKELY(!holds))
        sim_refuse(h, reason);
}

/* Checked arithmetic: an overflow or a division by zero refuses. The division truncates toward
 * zero. */
sim_amount sim_add(struct sim_host *h, sim_amount a, sim_amount b);
sim_amount sim_sub(struct sim_host *h, sim_amount a, sim_amount b);
sim_amount sim_mul(struct sim_host *h, sim_amount a, sim_amount b);
sim_amount sim_div(struct sim_host *h, sim_amount a, sim_amount b);
/* Returns a * b / c, computed from left to right; the product may overflow. */
sim_amount sim_mul_div(struct sim_host *h, sim_amount a, sim_amount b, sim_amount c);
/* Saturates at the ends of i128 instead of refusing. */
sim_amount sim_sat_add(sim_amount a, sim_amount b);
sim_amount sim_sat_mul(sim_amount a, sim_amount b);

#define SIM_I128_MAX ((sim_amount)(((tide_raw_u128)1 << 127) - 1))

static inline sim_amount sim_min(sim_amount a, sim_amount b)
{
    return a < b ? a : b;
}

static inline sim_amount sim_max(sim_amount a, sim_amount b)
{
    return a > b ? a : b;
}

/* Requires that the party authorises the running call. The direct caller does so by calling. Any
 * other party needs a signature, recorded in the outcome's auths; see strict_auth. */
void sim_auth(struct sim_host *h, struct sim_addr party);

/* --- for contracts: storage of the running contract --------------------------- */

/* A storage key of the running contract. */
struct sim_key {
    sim_val val;
    uint32_t durability;
};

/* Returns the key Variant(args…), a Vec of the symbol variant and args: persistent, the second with
 * one argument, the third temporary. */
struct sim_key sim_key(struct sim_host *h, const char *variant, const sim_val *args,
                       uint32_t count);
struct sim_key sim_key1(struct sim_host *h, const char *variant, sim_val arg);
struct sim_key sim_key_temporary(struct sim_host *h, const char *variant, const sim_val *args,
                                 uint32_t count);

/* Returns true if the entry exists. */
bool sim_has(struct sim_host *h, struct sim_key key);
/* Returns the stored value as a tree that belongs to the caller, or NULL. To change the value,
 * change the tree and put it. */
sim_val *sim_get(struct sim_host *h, struct sim_key key);
/* Returns the stored value; refuses with the reason if there is none. */
sim_val *sim_get_needed(struct sim_host *h, struct sim_key key, const char *reason);
/* Returns a stored list, or an empty one. */
sim_val sim_get_list(struct sim_host *h, struct sim_key key);
/* Appends an item to a stored list, which is created if need be. */
void sim_append(struct sim_host *h, struct sim_key key, sim_val item);
/* Adds to a stored i128, 0 if absent; refuses on overflow. */
void sim_raise(struct sim_host *h, struct sim_key key, sim_amount by);
/* Stores true, or removes the entry. */
void sim_put_flag(struct sim_host *h, struct sim_key key, bool on);
/* Creates or replaces an entry. A new entry lives as long as its durability allows. */
void sim_put(struct sim_host *h, struct sim_key key, sim_val val);
/* Removes the entry if it exists. */
void sim_remove(struct sim_host *h, struct sim_key key);

/* Extends the life of an existing entry to `by` ledgers from now if at most `threshold` ledgers of
 * it are left. */
void sim_extend(struct sim_host *h, struct sim_key key, uint32_t threshold, uint32_t by);

/* Shorthands that return a default for an absent entry. */
sim_amount sim_get_i128(struct sim_host *h, struct sim_key key); /* absent: 0 */
uint32_t sim_get_u32(struct sim_host *h, struct sim_key key);    /* absent: 0 */

/* Instance storage. A name that contains a lower-case letter is keyed by a Vec of that one symbol
 * ("PoolCount"), any other by the bare symbol ("ADMIN"). sim_slot returns NULL for an absent
 * slot. */
sim_val *sim_slot(struct sim_host *h, const char *name);
void sim_slot_put(struct sim_host *h, const char *name, sim_val val);
/* Stores one value for each name. SIM_NAMES("A", "B") expands to two arguments. */
void sim_slots_put(struct sim_host *h, const char *const *names, uint32_t count,
                   const sim_val *vals);
#define SIM_NAMES(...)                    \
    (const char *const[]){ __VA_ARGS__ }, \
        (uint32_t)TIDE_COUNT(((const char *const[]){ __VA_ARGS__ }))
/* Returns the value of the slot. Refuses if it is absent: the contract was never initialised. */
struct sim_addr sim_slot_addr(struct sim_host *h, const char *name);
uint32_t sim_slot_u32(struct sim_host *h, const char *name); /* absent: 0 */
uint64_t sim_slot_u64(struct sim_host *h, const char *name); /* absent: 0 */
bool sim_slot_bool(struct sim_host *h, const char *name);    /* absent: false */

/* Returns a String that is copied into the call's arena. */
sim_val sim_text(struct sim_host *h, const char *text);
/* Returns the Vec of a symbol and count values: topics of events, keys, enum variants. */
sim_val sim_named_vec(struct sim_host *h, const char *name, const sim_val *values, uint32_t count);

/* Fields of a struct value. The field must exist: contracts read only structs that they wrote. */
sim_val *sim_field(const sim_val *map, const char *name);
static inline sim_amount sim_field_i128(const sim_val *map, const char *name)
{
    const sim_val *field = sim_field(map, name);
    assert(field->type == TIDE_SCV_I128);
    return field->i128;
}
static inline uint64_t sim_field_u64(const sim_val *map, const char *name)
{
    const sim_val *field = sim_field(map, name);
    assert(field->type == TIDE_SCV_U64);
    return field->u64;
}
static inline uint32_t sim_field_u32(const sim_val *map, const char *name)
{
    const sim_val *field = sim_field(map, name);
    assert(field->type == TIDE_SCV_U32);
    return field->u32;
}
static inline bool sim_field_bool(const sim_val *map, const char *name)
{
    const sim_val *field = sim_field(map, name);
    assert(field->type == TIDE_SCV_BOOL);
    return field->b;
}
static inline struct sim_addr sim_field_addr(const sim_val *map, const char *name)
{
    const sim_val *field = sim_field(map, name);
    assert(field->type == TIDE_SCV_ADDRESS);
    return field->addr;
}
/* Replaces a field's value in live_index. */
void sim_set(const sim_val *map, const char *name, sim_val val);
/* Adds to an i128 field, refuses on overflow; returns the sum. */
sim_amount sim_bump(struct sim_host *h, const sim_val *map, const char *name, sim_amount by);
/* Returns a struct value with these fields; fields of type VOID are left out. */
sim_val sim_make(struct sim_host *h, const struct sim_field *fields, uint32_t count);

/* --- for contracts: events and calls ------------------------------------------ */

/* Emits a contract event. The first topic is name; data is a Map of the fields. */
void sim_emit(struct sim_host *h, const char *name, const sim_val *topics, uint32_t topic_count,
              const struct sim_field *fields, uint32_t field_count);
/* Emits a contract event with any data. */
void sim_emit_val(struct sim_host *h, const char *name, const sim_val *topics, uint32_t topic_count,
                  sim_val data);

/* Emits an event of the catalogue in one of its forms, counted from 0. values: its fields by the names
 * of their columns, void ones too. Optional fields without a value are left out. */
void sim_emit_form(struct sim_host *h, enum tide_event_id id, uint32_t form,
                   const struct sim_field *values, uint32_t count);

/* Calls another contract and returns its answer. A refusal there ends the whole call tree. */
sim_val sim_call(struct sim_host *h, struct sim_addr to, const char *name, const sim_val *args,
                 uint32_t arg_count);
static inline struct sim_addr sim_self(const struct sim_host *h)
{
    return h->self->address;
}

/* Calls that most contracts make: a token's transfer; the check of the registry in slot COMPL. */
void sim_transfer(struct sim_host *h, struct sim_addr token, struct sim_addr from,
                  struct sim_addr to, sim_amount amount);
void sim_assert_compliant(struct sim_host *h, struct sim_addr user);

/* Replace the running contract's code: by a hash, or by the hash in args[1]. */
void sim_upgrade(struct sim_host *h, tide_slice hash);
void sim_upgrade_arg(struct sim_host *h, const sim_val *args);

/* --- for the Stellar Asset Contract: classic balances ---------------------------- */

/* Changes an account's holding of an asset, which becomes a touch. Refuses by the network's
 * rules. */
void sim_classic_take(struct sim_host *h, struct sim_addr from, uint32_t asset, sim_amount amount);
void sim_classic_give(struct sim_host *h, struct sim_addr to, uint32_t asset, sim_amount amount);
/* Returns the holding without touching it; 0 if there is none. */
int64_t sim_classic_balance(struct sim_host *h, struct sim_addr party, uint32_t asset);

#endif
