/* The model that contracts run in: ledger, entries, accounts, calls.
 *
 * A call   sim_invoke runs one function of one contract as one transaction. A refusal
 *          anywhere in its call tree (sim_refuse, a failed check, overflow, wrong argument
 *          types) undoes everything. The outcome says all that a ledger would: return value,
 *          events in order, every entry touched with what it was before, authorisations.
 * Code     contracts are functions over this interface; contracts/classes.def lists them.
 *          A refusal leaves their C frames by longjmp: hold no malloc'd memory in one.
 * Time     sim_ledger sets sequence and close time of the calls that follow.
 * Memory   one arena per call (values die at the next call); entries keep their XDR in malloc'd
 *          memory that is freed when replaced, so memory follows the live state.
 * Bugs     wrong use aborts; being out of memory aborts too (the simulator is a tool). */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "tidemark/deployment.h"
#include "tools/sim/host/value.h"
#include <setjmp.h>

#define SIM_ASSETS_MAX 4u          /* classic assets, XLM (0) included     */
#define SIM_DEPTH_MAX  16u         /* contract calls within one another    */
#define SIM_ARENA      (16u << 20) /* values of one call, bytes            */

#define SIM_PERSISTENT_LIFE 2073599u /* ledgers after the one that creates */
#define SIM_TEMPORARY_LIFE  17279u
#define SIM_NONCE_LIFE      3110399u
#define SIM_LIFE_MAX        3110399u

struct sim_host;

/* --- what the ledger holds ------------------------------------------------ */

#define SIM_TEMPORARY  0u
#define SIM_PERSISTENT 1u

/* One contract data entry. Read-only outside host*.c. */
struct sim_entry {
    struct sim_entry *next; /* of its bucket */
    uint64_t hash;
    struct sim_contract *contract;
    tide_slice key; /* ScVal XDR */
    uint32_t durability;
    bool exists;
    tide_slice val; /* ScVal XDR; only while it exists */
    uint32_t live_until;
    uint32_t modified; /* ledger of the last write */
    bool evicted;      /* persistent, lapsed, and moved to the hot archive: sim_entry_archive */
    uint32_t place;    /* in the host's live entries, while it is not evicted */
    uint32_t touch;    /* place in the outcome's touches while touched_in is this call */
    uint64_t touched_in;
};

struct sim_line {
    bool exists;
    bool authorized;
    bool clawback;
    int64_t balance;
    int64_t limit;
    uint32_t modified;
};

struct sim_account {
    struct sim_account *next; /* of its bucket */
    struct sim_addr address;
    bool exists;
    int64_t balance; /* stroops */
    int64_t seq;
    uint32_t subentries;
    uint32_t flags; /* AccountFlags */
    uint32_t modified;
    struct sim_line lines[SIM_ASSETS_MAX]; /* by asset; [0] unused */
    uint32_t touch[SIM_ASSETS_MAX];        /* as in sim_entry; [0] the account itself */
    uint64_t touched_in[SIM_ASSETS_MAX];
};

struct sim_asset {
    char code[13];          /* NUL-terminated; "" for XLM */
    struct sim_addr issuer; /* an account */
};

struct sim_contract {
    struct sim_contract *next; /* of its bucket */
    struct sim_addr address;
    enum tide_role role;
    char name[TIDE_NAME_MAX];
    uint32_t asset;       /* stellar_asset: index of its asset */
    uint32_t nonces;      /* how many it has left on the ledger */
    uint32_t nonces_seen; /* of these, by a comparison under way */
    const struct sim_class *code;
    struct sim_entry *instance;
    struct sim_instance *loaded; /* instance as a tree while loaded_in is this call */
    uint64_t loaded_in;
};

/* --- code ------------------------------------------------------------------ */

typedef sim_val sim_handler(struct sim_host *h, const sim_val *args);

/* One function: its name, its arguments' types (sim_types_fit), its code. */
struct sim_fn {
    const char *name;
    const char *types;
    sim_handler *run;
};

struct sim_class {
    enum tide_role role;
    const struct sim_fn *fns; /* ends with a NULL name */
};

/* Code of a role, NULL for wallets. (contracts/classes.c) */
const struct sim_class *sim_class_of(enum tide_role role);

/* --- outcome --------------------------------------------------------------- */

enum sim_touch_kind { SIM_TOUCH_DATA, SIM_TOUCH_ACCOUNT, SIM_TOUCH_LINE };

/* An entry that a call looked at, in the order of first touch: the footprint. */
struct sim_touch {
    enum sim_touch_kind kind;
    bool written; /* read-write key; else read-only */
    struct sim_entry *entry;
    struct sim_account *account;
    uint32_t asset; /* LINE */
    /* before the call; after is in entry / account */
    bool existed;
    tide_slice val;
    uint32_t live_until;
    uint32_t modified;
    int64_t balance;
    bool lapsed; /* temporary, its life over: gone for the call, there again unless it is kept */
};

struct sim_event {
    const struct sim_contract *contract;
    bool system;    /* else a contract event */
    sim_val topics; /* Vec, the name first */
    sim_val data;
};

/* One call in the tree; [0] is the root. */
struct sim_frame {
    struct sim_contract *contract;
    const char *fn;
    const sim_val *args;
    uint32_t arg_count;
    uint32_t parent; /* own index for the root */
};

/* A require_auth that was not met by being the direct caller: needs a signature. */
struct sim_auth {
    struct sim_addr party;
    uint32_t frame; /* the call that asked */
    bool first;     /* first of this address in the call: the one that takes a nonce */
};

/* All pointers are good until the next sim_invoke, sim_view or sim_deploy. */
struct sim_outcome {
    bool ok;
    const char *reason; /* static text; of a refusal only */
    sim_val ret;
    uint32_t event_count;
    uint32_t touch_count;
    uint32_t frame_count;
    uint32_t auth_count;
    bool code_created; /* the code entry of the empty wasm came with it */
    uint32_t changed;  /* entries that differ, appeared or went, nonces included; 0 if refused */
    struct sim_event *events;
    struct sim_touch *touches;
    struct sim_frame *frames;
    struct sim_auth *auths;
};

/* --- world ----------------------------------------------------------------- */

struct sim_host {
    uint8_t network_id[TIDE_HASH_BYTES];
    uint32_t seq; /* of the ledger being built */
    uint64_t now; /* its close time, unix seconds */
    bool
        strict_auth; /* refuse signatures in the name of a protocol contract, as the network does */
    uint32_t persistent_life; /* SIM_PERSISTENT_LIFE unless an option shortens it */
    uint32_t temporary_life;
    uint32_t asset_count;
    struct sim_asset assets[SIM_ASSETS_MAX];

    /* the running or last call */
    struct tide_arena arena;
    uint64_t call; /* number of it; 0 before the first */
    struct sim_addr source;
    struct sim_contract *self; /* contract that runs */
    uint32_t frame;
    uint32_t depth;
    struct sim_outcome out;
    jmp_buf refused;

    /* host*.c only */
    bool attempt; /* the call may yet be undone as a whole */
    bool code_present;
    uint32_t event_max, touch_max, frame_max, auth_max;
    struct tide_buf scratch;
    void **garbage; /* values replaced within this call, freed at the next */
    uint32_t garbage_count, garbage_max;
    struct sim_entry **entries;
    uint32_t entry_count, entry_buckets;
    struct sim_entry **live; /* entries that are not evicted, in no order */
    uint32_t live_count, live_max;
    struct sim_account **accounts;
    uint32_t account_count, account_buckets;
    struct sim_contract **contracts;
    uint32_t contract_count, contract_buckets;
};

void sim_open(struct sim_host *h, const uint8_t network_id[TIDE_HASH_BYTES]);
void sim_close(struct sim_host *h);
static inline void sim_ledger(struct sim_host *h, uint32_t seq, uint64_t close_time)
{
    h->seq = seq;
    h->now = close_time;
}

/* Creates an account entry as genesis would; no outcome. */
struct sim_account *sim_account_add(struct sim_host *h, struct sim_addr address, int64_t balance);
/* The account, or NULL when no such entry exists. */
struct sim_account *sim_account_find(struct sim_host *h, struct sim_addr address);
/* Gives a trustline of balance 0, limit 2^63-1, authorised; counts a subentry. */
void sim_trust(struct sim_account *account, uint32_t asset);
/* A classic asset; returns its index. Index 0 is XLM and always there. */
uint32_t sim_asset_add(struct sim_host *h, const char *code, struct sim_addr issuer);

/* Makes a contract known without an entry: a wallet, or one to be deployed later. */
struct sim_contract *sim_contract_add(struct sim_host *h, struct sim_addr address,
                                      enum tide_role role, const char *name);
struct sim_contract *sim_contract_find(struct sim_host *h, struct sim_addr address);
/* Creates the instance entry (a Stellar asset's with its metadata), as one transaction. */
const struct sim_outcome *sim_deploy(struct sim_host *h, struct sim_addr source,
                                     struct sim_contract *contract);

/* Runs contract.fn(args) as one transaction of source and keeps its effects if it passes.
 * args are copied shallowly: what they point to must live until the outcome is dropped. */
const struct sim_outcome *sim_invoke(struct sim_host *h, struct sim_addr source,
                                     struct sim_addr contract, const char *fn, const sim_val *args,
                                     uint32_t arg_count);
/* The same without keeping anything: a read function's answer. */
const struct sim_outcome *sim_view(struct sim_host *h, struct sim_addr contract, const char *fn,
                                   const sim_val *args, uint32_t arg_count);

/* A call whose outcome a callback judges before it is kept. */
struct sim_attempt {
    struct sim_addr source, contract;
    const char *fn;
    const sim_val *args;
    uint32_t arg_count;
    void *self;
    /* Asked about a call that passed, while all stands as it left it; not about a refused one.
     * NULL: keep it; else static text: undone, as if a contract had refused with it. */
    const char *(*judge)(void *self, const struct sim_outcome *outcome);
};
/* Like sim_invoke. An attempt that is not kept leaves no trace at all. */
const struct sim_outcome *sim_attempt(struct sim_host *h, const struct sim_attempt *attempt);

/* The entry as it stands, or NULL; key is ScVal XDR. Not a touch. */
struct sim_entry *sim_entry_find(struct sim_host *h, struct sim_contract *contract, tide_slice key,
                                 uint32_t durability);
/* The function of that name in the contract's code, or NULL. */
const struct sim_fn *sim_fn_find(const struct sim_contract *contract, const char *name);
/* Appends the event as ContractEvent XDR. */
void sim_event_xdr(struct tide_buf *buf, const struct sim_event *event);

/* The next entry that is not evicted, in no order; NULL ends. *at starts at 0. A long chain has many
 * times as many evicted ones. */
struct sim_entry *sim_entry_live(struct sim_host *h, uint32_t *at);
/* Moves a persistent entry to the hot archive, and back. */
void sim_entry_archive(struct sim_host *h, struct sim_entry *entry);
void sim_entry_restore(struct sim_host *h, struct sim_entry *entry);

/* Every entry, evicted ones too, in no order; NULL ends. */
struct sim_walk {
    uint32_t bucket;
    struct sim_entry *entry;
};
struct sim_entry *sim_entry_next(struct sim_host *h, struct sim_walk *walk);
/* Drops a temporary entry whose life is over (eviction). The walk may go on. */
void sim_entry_evict(struct sim_host *h, struct sim_entry *entry);

/* --- for contracts: refusals, arithmetic, authorisation ---------------------- */

/* Ends the whole call. reason is static text. */
_Noreturn void sim_refuse(struct sim_host *h, const char *reason);

TIDE_INLINE void sim_require(struct sim_host *h, bool holds, const char *reason)
{
    if (TIDE_UNLIKELY(!holds))
        sim_refuse(h, reason);
}

/* Checked: an overflow or a division by zero refuses. Division truncates toward zero. */
sim_amount sim_add(struct sim_host *h, sim_amount a, sim_amount b);
sim_amount sim_sub(struct sim_host *h, sim_amount a, sim_amount b);
sim_amount sim_mul(struct sim_host *h, sim_amount a, sim_amount b);
sim_amount sim_div(struct sim_host *h, sim_amount a, sim_amount b);
/* a * b / c, left to right. */
sim_amount sim_mul_div(struct sim_host *h, sim_amount a, sim_amount b, sim_amount c);
/* Saturating at the ends of i128. */
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

/* Refuses unless the party has authorised this call (see strict_auth). */
void sim_auth(struct sim_host *h, struct sim_addr party);

/* --- for contracts: storage of the running contract --------------------------- */

struct sim_key {
    sim_val val;
    uint32_t durability;
};

/* Variant(args…): a Vec of Symbol variant and args; persistent. */
struct sim_key sim_key(struct sim_host *h, const char *variant, const sim_val *args,
                       uint32_t count);
struct sim_key sim_key_temporary(struct sim_host *h, const char *variant, const sim_val *args,
                                 uint32_t count);

bool sim_has(struct sim_host *h, struct sim_key key);
/* The stored value as a tree of the caller's own, or NULL. Change it in place, then put it. */
sim_val *sim_get(struct sim_host *h, struct sim_key key);
/* Creates or replaces. A created entry gets the life of its durability. */
void sim_put(struct sim_host *h, struct sim_key key, sim_val val);
void sim_remove(struct sim_host *h, struct sim_key key);

/* When at most threshold ledgers of life are left: the life becomes by ledgers from now. */
void sim_extend(struct sim_host *h, struct sim_key key, uint32_t threshold, uint32_t by);

/* Shorthands: the number, flag or default when the entry is absent. */
sim_amount sim_get_i128(struct sim_host *h, struct sim_key key); /* absent: 0 */
uint32_t sim_get_u32(struct sim_host *h, struct sim_key key);    /* absent: 0 */

/* Instance storage. A name with a small letter is keyed by a Vec of that one symbol
 * ("PoolCount"), else by the bare symbol ("ADMIN"). */
sim_val *sim_slot(struct sim_host *h, const char *name); /* NULL when absent */
void sim_slot_put(struct sim_host *h, const char *name, sim_val val);
/* The value; its absence refuses (the contract was never initialised). */
struct sim_addr sim_slot_addr(struct sim_host *h, const char *name);
uint32_t sim_slot_u32(struct sim_host *h, const char *name); /* absent: 0 */
uint64_t sim_slot_u64(struct sim_host *h, const char *name); /* absent: 0 */
bool sim_slot_bool(struct sim_host *h, const char *name);    /* absent: false */

/* caller equals the address in slot, else refused; then auth of it. */
void sim_only(struct sim_host *h, const char *slot, struct sim_addr caller);
/* The address in slot must authorise; the arguments are not looked at. */
void sim_only_stored(struct sim_host *h, const char *slot);

/* Fields of a struct value: present by contract, asserted. */
sim_val *sim_field(const sim_val *map, const char *name);
static inline sim_amount sim_field_i128(const sim_val *map, const char *name)
{
    return sim_field(map, name)->i128;
}
static inline uint64_t sim_field_u64(const sim_val *map, const char *name)
{
    return sim_field(map, name)->u64;
}
static inline uint32_t sim_field_u32(const sim_val *map, const char *name)
{
    return sim_field(map, name)->u32;
}
static inline bool sim_field_bool(const sim_val *map, const char *name)
{
    return sim_field(map, name)->b;
}
static inline struct sim_addr sim_field_addr(const sim_val *map, const char *name)
{
    return sim_field(map, name)->addr;
}
/* Replaces a field's value in place. */
void sim_set(const sim_val *map, const char *name, sim_val val);
/* Adds to an i128 field, checked; returns the sum. */
sim_amount sim_bump(struct sim_host *h, const sim_val *map, const char *name, sim_amount by);
/* A struct value of the fields. */
sim_val sim_make(struct sim_host *h, const struct sim_field *fields, uint32_t count);

/* --- for contracts: events and calls ------------------------------------------ */

/* name, then topics; data is a Map of the fields. */
void sim_emit(struct sim_host *h, const char *name, const sim_val *topics, uint32_t topic_count,
              const struct sim_field *fields, uint32_t field_count);
/* The same with any data. */
void sim_emit_val(struct sim_host *h, const char *name, const sim_val *topics, uint32_t topic_count,
                  sim_val data);

/* Calls another contract; the answer. A refusal there ends the whole call. */
sim_val sim_call(struct sim_host *h, struct sim_addr to, const char *name, const sim_val *args,
                 uint32_t arg_count);
static inline struct sim_addr sim_self(const struct sim_host *h)
{
    return h->self->address;
}

/* Calls that most contracts make. */
void sim_transfer(struct sim_host *h, struct sim_addr token, struct sim_addr from,
                  struct sim_addr to, sim_amount amount);
void sim_assert_compliant(struct sim_host *h, struct sim_addr user); /* on the stored COMPL */

/* Handlers that contracts share (the first argument is the caller). */
void sim_upgrade(struct sim_host *h, tide_slice hash); /* effect only: authorise before */
sim_val sim_upgrade_by_dao(struct sim_host *h, const sim_val *args);
sim_val sim_set_compliance(struct sim_host *h, const sim_val *args); /* =DAO; puts COMPL */
/* initialize: refused when ADMIN is stored; auth of admin; puts ADMIN. */
void sim_initialize(struct sim_host *h, struct sim_addr admin);

/* --- for the Stellar Asset Contract: classic balances ---------------------------- */

/* An account's holding of an asset, touched; refuses by the network's rules. */
void sim_classic_take(struct sim_host *h, struct sim_addr from, uint32_t asset, sim_amount amount);
void sim_classic_give(struct sim_host *h, struct sim_addr to, uint32_t asset, sim_amount amount);
/* Without touching: 0 when there is none. */
int64_t sim_classic_balance(struct sim_host *h, struct sim_addr party, uint32_t asset);

#endif
