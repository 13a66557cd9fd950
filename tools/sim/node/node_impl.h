/* What the files of a node share. */
#ifndef SIM_NODE_IMPL_H
#define SIM_NODE_IMPL_H

#include "tidemark/meta.h"
#include "tidemark/sign.h"
#include "tidemark/tx.h"
#include "tools/sim/chain/chain_call.h"
#include "tools/sim/node/node.h"

/* --- a transaction taken apart (node_tx.c) ----------------------------------------- */

enum {
    NODE_SIGNATURES_MAX = 20,
    NODE_FOOTPRINT_MAX = 200, /* keys                                      */
    NODE_TX_BYTES_MAX = 132096,
    NODE_AUTHS_MAX = 32,  /* entries of one transaction                */
    NODE_STEPS_MAX = 256, /* calls that they cover, all together       */
};

struct node_signature {
    const uint8_t *hint; /* 4 bytes */
    tide_slice bytes;
};

struct node_signatures {
    uint32_t count;
    struct node_signature list[NODE_SIGNATURES_MAX];
};

/* Slices borrow from the envelope. */
struct node_tx {
    tide_slice bytes;
    struct tide_envelope env; /* auth and footprint among it */
    uint8_t hash[TIDE_HASH_BYTES];
    uint8_t inner_hash[TIDE_HASH_BYTES]; /* the same unless it is a fee bump */
    int64_t inner_fee;
    uint64_t min_time, max_time;     /* 0: none */
    uint32_t min_ledger, max_ledger; /* 0: none */
    bool has_min_seq;
    int64_t min_seq;
    bool strange; /* conditions or operations that no one here knows */
    bool muxed;
    uint32_t memo; /* 0: none */
    /* the operation: only the friendbot's transactions have more than one */
    uint32_t op_type;
    const uint8_t *op_source; /* ed25519 key: its own, else the transaction's */
    struct node_signatures signatures;
    struct node_signatures payer; /* of a fee bump */
    /* contracts */
    bool soroban; /* by its operation */
    uint32_t archived_count;
    tide_slice archived; /* u32 each */
    uint32_t disk_read, write;
};

/* The envelope, strictly; TIDE_E_DECODE and so on when it is none. */
tide_status node_tx_read(struct node_tx *tx, tide_slice envelope,
                         const uint8_t network_id[TIDE_HASH_BYTES]) TIDE_MUST_USE;
static inline bool node_tx_bumped(const struct node_tx *tx)
{
    return tx->env.type == 5;
}
/* True when one of the signatures holds for key over hash. */
bool node_signed(const struct node_signatures *signatures, const uint8_t *key,
                 const uint8_t hash[TIDE_HASH_BYTES]);

/* --- what it may cost (node_cost.c) -------------------------------------------------- */

struct node_cost {
    uint32_t instructions, disk_read, write;
    uint32_t read_only, read_write; /* keys */
    uint32_t events;                /* bytes */
    uint32_t created;               /* entries that begin to live, or live longer */
};

/* What a passed call used; read before it is undone. */
struct node_cost node_cost_of(const struct chain *chain, const struct sim_outcome *out,
                              uint32_t signatures);
/* The part of a resource fee that is never given back, for what a transaction declares. */
int64_t node_fee_fixed(const struct node_cost *cost, size_t tx_bytes);
/* The part that depends on what happens: life of entries, events. */
int64_t node_fee_used(const struct node_cost *cost);

/* --- errors in the network's words (node_error.c) -------------------------------------- */

#define NODE_NO_AUTH        "Unauthorized function call for address"
#define NODE_BAD_SIGNATURE  "failed account authentication"
#define NODE_LATE_SIGNATURE "signature has expired or lives too long"
#define NODE_USED_NONCE     "nonce already exists for address"
#define NODE_NOT_ROOT                                                                         \
    "[recording authorization only] encountered authorization not tied to the root contract " \
    "invocation for an address"
#define NODE_ARCHIVED     "trying to access an archived contract data entry"
#define NODE_NO_KEY       "trying to access contract data key outside of the footprint"
#define NODE_NO_RESOURCES "operation exceeds the declared resources"

/* The whole of it, as a simulation says it. */
void node_error_message(struct tide_buf *out, const uint8_t *contract, const char *reason);
/* The DiagnosticEvent that says so. */
void node_error_event(struct tide_buf *out, const uint8_t *contract, const char *reason);

/* --- authorisation (node_auth.c) ------------------------------------------------------- */

struct node_step { /* one call in a tree of authorised ones */
    struct sim_addr contract;
    tide_slice function;
    uint32_t arg_count;
    tide_slice args;
    uint32_t parent; /* own place: a root   */
    bool callable;   /* a function of a contract */
    uint32_t frame;  /* that used it up; UINT32_MAX: none yet */
    uint32_t grant;  /* while recording: the one it belongs to */
};

struct node_grant { /* one SorobanAuthorizationEntry */
    struct sim_addr party;
    uint32_t arm; /* 0: the source of the operation */
    int64_t nonce;
    uint32_t expires;
    tide_slice address;
    tide_slice signature;  /* ScVal */
    tide_slice invocation; /* XDR   */
    uint32_t root;         /* step */
    bool used;
};

struct node_auths {
    uint32_t grant_count, step_count;
    struct node_grant grants[NODE_AUTHS_MAX];
    struct node_step steps[NODE_STEPS_MAX];
};

/* --- queue (node_queue.c) ------------------------------------------------------------------ */

struct node_waiting {
    uint8_t *bytes; /* owned */
    struct node_tx tx;
    uint32_t age;                    /* ledgers it was not in     */
    bool own;                        /* the friendbot's: no rules */
    uint8_t funded[TIDE_HASH_BYTES]; /* account that the friendbot's creates */
    bool chosen;                     /* for the ledger in the making */
    bool done;                       /* stands in it              */
    /* while it is applied */
    struct sim_account *payer;
    struct lcm_account before, after;
    int64_t charged, refund;
    uint32_t place; /* in lcm */
};

struct node_banned {
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t until;
};

struct node_nonce {
    struct sim_addr party;
    int64_t nonce;
    uint32_t expires;
    uint32_t ledger; /* that used it up */
};

enum { NODE_NONCES_MAX = 16384, NODE_HELD_MAX = 1024 };

struct node_held {
    uint32_t account; /* of the parties */
    uint32_t until;
};

struct sim_node {
    struct chain chain;
    char passphrase[256];
    struct node_waiting *queue; /* NODE_QUEUE_MAX, the oldest first */
    uint32_t waiting;
    uint32_t hold; /* ledgers to come that take nothing */
    struct node_banned *bans;
    uint32_t ban_next;
    struct node_nonce *nonces; /* NODE_NONCES_MAX, unordered */
    uint32_t nonce_count;
    struct node_held held[NODE_HELD_MAX];
    uint32_t held_count;
    uint32_t guest_until; /* ledger up to which a client is active */
    struct sim_account *friendbot;
    int64_t friendbot_seq; /* of its newest transaction, applied or not */
    struct node_auths auths;
    struct node_tx parsed; /* of the call in the making */
    uint64_t random;
    struct tide_buf result, text, events, auth_xdr, data, value, restore, keys, entries, answer,
        envelope;
    struct node_change changes[NODE_FOOTPRINT_MAX];
    tide_slice items[NODE_AUTHS_MAX];       /* auth entries of an answer */
    tide_slice event_items[NODE_STEPS_MAX]; /* its events */
};

static inline struct sim_addr node_account(const uint8_t key[TIDE_HASH_BYTES])
{
    struct sim_addr out = { .kind = SIM_ACCOUNT };
    memcpy(out.key, key, TIDE_HASH_BYTES);
    return out;
}

/* Keeps the workload off an account that a client uses. */
void node_use(struct sim_node *node, const uint8_t key[TIDE_HASH_BYTES]);

/* Hooks of the chain, see there. */
bool node_holds(void *self, uint32_t account, tide_slice args);
bool node_present(void *self);
uint32_t node_gather(void *self);
/* Behind a ledger: what stands in it goes, what has waited too long is dropped and banned. */
void node_age(struct sim_node *node);
/* Puts a copy at the end of the queue, which has room. funded: account that a transaction of the
 * friendbot creates, else NULL. TIDE_E_MEMORY. */
tide_status node_put_waiting(struct sim_node *node, const struct node_tx *tx,
                             const uint8_t *funded) TIDE_MUST_USE;
/* The friendbot's account (node_fund.c). TIDE_E_MEMORY. */
tide_status node_friendbot_open(struct sim_node *node) TIDE_MUST_USE;
/* Applies one of its transactions; operations and changes into tx. */
void node_apply_funding(struct sim_node *node, const struct node_waiting *item, struct lcm_tx *tx);

/* --- validity (node_check.c) ---------------------------------------------------------------- */

enum {
    TX_SUCCESS = 0,
    TX_FAILED = -1,
    TX_TOO_EARLY = -2,
    TX_TOO_LATE = -3,
    TX_MISSING_OPERATION = -4,
    TX_BAD_SEQ = -5,
    TX_BAD_AUTH = -6,
    TX_INSUFFICIENT_BALANCE = -7,
    TX_NO_ACCOUNT = -8,
    TX_INSUFFICIENT_FEE = -9,
    TX_BAD_AUTH_EXTRA = -10,
    TX_NOT_SUPPORTED = -12,
    TX_FEE_BUMP_INNER_FAILED = -13,
    TX_MALFORMED = -16,
    TX_SOROBAN_INVALID = -17,
};

struct node_verdict {
    int32_t code;  /* TX_SUCCESS: valid. Of the outer transaction of a fee bump */
    int32_t inner; /* code of the inner one, where code says it failed */
    int64_t fee;   /* for TX_INSUFFICIENT_FEE: what it takes */
    int32_t op;    /* of the operation where the code, or the inner one, is TX_FAILED */
};

/* As it would stand in a ledger of that number and time. */
struct node_verdict node_check(const struct sim_node *node, const struct node_tx *tx,
                               uint64_t close_time, uint32_t ledger);
/* TransactionResult of a refusal. */
void node_put_result(struct tide_buf *out, const struct node_tx *tx,
                     const struct node_verdict *verdict);
/* What it is charged before it applies. */
int64_t node_charge(const struct node_tx *tx);

/* --- authorisation (node_auth.c) -------------------------------------------------------------- */

/* Reads the entries of tx. False: too many, or of an unknown kind. */
bool node_auths_read(struct sim_node *node, const struct node_tx *tx);
/* NULL when every signature that the call asked for is there and holds; else why not. ledger is
 * the one it runs in. */
const char *node_auths_cover(struct sim_node *node, const struct sim_outcome *out, uint32_t ledger);
/* A contract of the protocol in whose own call this happens: it authorised the calls below it. */
bool node_auth_by_contract(struct sim_node *node, const struct sim_outcome *out,
                           const struct sim_auth *auth);
/* The entries that the call takes, unsigned, into auth_xdr, and as grants. NULL, or why there can
 * be none. */
const char *node_auths_record(struct sim_node *node, const struct sim_outcome *out,
                              const uint8_t *source);
/* Forgets nonces that have expired. */
void node_nonces_age(struct sim_node *node);
bool node_nonce_use(struct sim_node *node, const struct node_grant *grant);

/* --- the rest ------------------------------------------------------------------------------------ */

/* The hooks of the chain (node_apply.c). */
struct chain_guests node_guests(struct sim_node *node);
/* RestoreFootprint: restores what has lapsed of the footprint's entries (node_entry.c): how many. */
uint32_t node_restore(struct sim_node *node, const struct node_tx *tx, struct chain_making *m);
/* Restores what a call's list names and the call did not touch. */
void node_restore_listed(struct sim_node *node, const struct node_tx *tx, struct chain_making *m);

/* The keys of half a footprint, one by one; out has room for count (node_footprint.c). */
void node_footprint_keys(tide_slice *out, tide_slice keys, uint32_t count);
/* NULL when the declared footprint covers what the call touched; else why not. */
const char *node_footprint_covers(struct sim_node *node, struct chain_making *m,
                                  const struct node_tx *tx);
/* An entry of it that has lapsed and is not listed to be restored. */
bool node_footprint_archived(struct sim_node *node, const struct node_tx *tx);
/* The contract data entry of a LedgerKey, or NULL. */
struct sim_entry *node_data_entry(struct sim_node *node, tide_slice key);
/* The code keys of the contracts that a call ran: appends each once, returns how many. */
uint32_t node_put_code_keys(struct tide_buf *to, const struct sim_outcome *out);
/* The arguments of a call as values; NULL when there are kinds among them that no contract here
 * takes. They lie in the chain's arena. */
const sim_val *node_args(struct sim_node *node, const struct node_tx *tx);

#endif
