/* Declarations that the files of a node share. */
#ifndef SIM_NODE_IMPL_H
#define SIM_NODE_IMPL_H

#include "tidemark/meta.h"
#include "tidemark/sign.h"
#include "tidemark/tx.h"
#include "tools/sim/chain/chain_call.h"
#include "tools/sim/node/node.h"

/* --- a parsed transaction (node_tx.c) ----------------------------------------- */

enum {
    NODE_SIGNATURES_MAX = 20,
    NODE_FOOTPRINT_MAX = 200, /* keys of a footprint */
    NODE_AUTHS_MAX = 32,      /* authorisation entries of a transaction */
    NODE_STEPS_MAX = 256,     /* calls in all its authorisation trees */
};

struct node_signature {
    const uint8_t *hint; /* 4 bytes */
    tide_slice bytes;
};

/* DecoratedSignatures. */
struct node_signatures {
    uint32_t count;
    struct node_signature list[NODE_SIGNATURES_MAX];
};

/* A parsed TransactionEnvelope. Slices and pointers borrow from its bytes. */
struct node_tx {
    tide_slice bytes;
    struct tide_envelope env; /* fee, sources, call, authorisations, footprint */
    uint8_t hash[TIDE_HASH_BYTES];
    /* hash of the inner transaction of a fee bump; else the same as hash */
    uint8_t inner_hash[TIDE_HASH_BYTES];
    int64_t inner_fee;               /* bid of the inner transaction, stroops */
    uint64_t min_time, max_time;     /* 0: none */
    uint32_t min_ledger, max_ledger; /* 0: none */
    bool has_min_seq;
    int64_t min_seq;
    bool strange;  /* has conditions or operations that this node does not support */
    bool muxed;    /* a source is a muxed account */
    uint32_t memo; /* type of the memo; 0: none */
    /* The only operation. Transactions of the friendbot have two. */
    uint32_t op_type;
    const uint8_t *op_source; /* ed25519 key of the operation's source, or else the transaction's */
    struct node_signatures signatures;
    struct node_signatures payer; /* signatures of a fee bump's outer transaction */
    /* Contract transactions only. */
    bool soroban; /* the operation is a contract's */
    uint32_t archived_count;
    tide_slice archived;       /* u32 each: restored keys, as indexes in the read-write footprint */
    uint32_t disk_read, write; /* declared bytes */
};

/* Parses an envelope and checks every byte. Returns TIDE_E_DECODE, TIDE_E_UNKNOWN or TIDE_E_LIMIT
 * if it is no TransactionEnvelope. */
tide_status node_tx_read(struct node_tx *tx, tide_slice envelope,
                         const uint8_t network_id[TIDE_HASH_BYTES]) TIDE_MUST_USE;
/* Returns true for a fee bump. */
static inline bool node_tx_bumped(const struct node_tx *tx)
{
    return tx->env.type == 5;
}
/* Returns true if one of the signatures is valid for key over hash. */
bool node_signed(const struct node_signatures *signatures, const uint8_t *key,
                 const uint8_t hash[TIDE_HASH_BYTES]);

/* --- resources and fees (node_cost.c) ----------------------------------------- */

/* Resources of a transaction, declared or used. */
struct node_cost {
    uint32_t instructions, disk_read, write; /* bytes, but for the instructions */
    uint32_t read_only, read_write;          /* keys of the footprint */
    uint32_t events;                         /* bytes */
    uint32_t created;                        /* entries created, restored or extended */
};

/* Returns the resources that a passed call used. The caller reads them before the call is
 * undone. */
struct node_cost node_cost_of(const struct chain *chain, const struct sim_outcome *out,
                              uint32_t signatures);
/* Returns the part of a resource fee that is never given back, in stroops: the part for declared
 * resources. */
int64_t node_fee_fixed(const struct node_cost *cost, size_t tx_bytes);
/* Returns the part of a resource fee that depends on the call's effects, in stroops: lives of
 * entries, events. */
int64_t node_fee_used(const struct node_cost *cost);

/* --- errors as the network reports them (node_error.c) ---------------------------- */

/* Reasons of refusals by the node. node_error.c knows their error types and codes. */
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

/* Appends the text of a failure, as simulateTransaction returns it. */
void node_error_message(struct tide_buf *out, const uint8_t *contract, const char *reason);
/* Appends the DiagnosticEvent of a failure. */
void node_error_event(struct tide_buf *out, const uint8_t *contract, const char *reason);

/* --- authorisation (node_auth.c) ------------------------------------------------------- */

/* One call in a tree of authorised calls: SorobanAuthorizedInvocation. */
struct node_step {
    struct sim_addr contract;
    tide_slice function;
    uint32_t arg_count;
    tide_slice args;
    uint32_t parent; /* index of the parent step; a root has its own */
    bool callable;   /* a contract's function, no creation of a contract */
    uint32_t frame;  /* frame of the call that has used the step; UINT32_MAX: none yet */
    uint32_t grant;  /* recording only: grant that the step belongs to */
};

/* One SorobanAuthorizationEntry. */
struct node_grant {
    struct sim_addr party;
    uint32_t arm; /* credentials: 0 the operation's source, 1 an address */
    int64_t nonce;
    uint32_t expires;
    tide_slice address;    /* SCAddress */
    tide_slice signature;  /* ScVal */
    tide_slice invocation; /* XDR   */
    uint32_t root;         /* index of its root step */
    bool used;             /* a call has used one of its steps */
};

/* The authorisations of one transaction: given, or recorded. */
struct node_auths {
    uint32_t grant_count, step_count;
    struct node_grant grants[NODE_AUTHS_MAX];
    struct node_step steps[NODE_STEPS_MAX];
};

/* --- queue (node_queue.c) ------------------------------------------------------------------ */

/* A transaction in the queue. */
struct node_waiting {
    uint8_t *bytes;                  /* owned */
    struct node_tx tx;               /* borrows from bytes */
    uint32_t age;                    /* ledgers that did not contain it */
    bool own;                        /* the friendbot's: always valid */
    uint8_t funded[TIDE_HASH_BYTES]; /* account that the friendbot's transaction creates */
    bool chosen;                     /* selected for the ledger that is being made */
    bool done;                       /* applied in it */
    /* While it is applied: */
    struct sim_account *payer;
    struct lcm_account before, after;
    int64_t charged, refund; /* stroops */
    uint32_t place;          /* index of the transaction in lcm */
};

/* A hash that the queue does not accept before ledger `until`. */
struct node_banned {
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t until;
};

/* A nonce that an authorisation has used. */
struct node_nonce {
    struct sim_addr party;
    int64_t nonce;
    uint32_t expires;
    uint32_t ledger; /* ledger that used it */
};

enum { NODE_NONCES_MAX = 16384, NODE_HELD_MAX = 1024 };

/* An account that the workload leaves alone until a ledger. */
struct node_held {
    uint32_t account; /* place among the parties */
    uint32_t until;
};

/* A node. The buffers hold the last answer; a function may reuse those that no answer needs. */
struct sim_node {
    struct chain chain;
    char passphrase[256];
    struct node_waiting *queue; /* NODE_QUEUE_MAX elements, the oldest first */
    uint32_t waiting;
    uint32_t hold; /* ledgers still to come without transactions of the queue */
    struct node_banned *bans;
    uint32_t ban_next;         /* bans so far: the next one's place, modulo NODE_BANS_MAX */
    struct node_nonce *nonces; /* NODE_NONCES_MAX elements, in no order */
    uint32_t nonce_count;
    struct node_held held[NODE_HELD_MAX];
    uint32_t held_count;
    uint32_t guest_until; /* clients count as active up to this ledger */
    struct sim_account *friendbot;
    int64_t friendbot_seq; /* sequence number of its newest transaction, applied or queued */
    struct node_auths auths;
    struct node_tx parsed; /* transaction of the running send or simulation */
    uint64_t random;       /* state of the random nonces */
    union {
        struct {
            struct tide_buf result, text, events, auth_xdr, data, value, keys, entries, answer,
                envelope;
        };
        struct tide_buf buffers[10]; /* all of them */
    };
    struct node_change changes[NODE_FOOTPRINT_MAX];
    tide_slice items[NODE_AUTHS_MAX];       /* authorisation entries of an answer */
    tide_slice event_items[NODE_STEPS_MAX]; /* events of an answer */
};

/* Returns the address of an account. */
static inline struct sim_addr node_account(const uint8_t key[TIDE_HASH_BYTES])
{
    struct sim_addr out = { .kind = SIM_ACCOUNT };
    memcpy(out.key, key, TIDE_HASH_BYTES);
    return out;
}

/* Marks clients as active, and keeps the workload off an account that one uses. */
void node_use(struct sim_node *node, const uint8_t key[TIDE_HASH_BYTES]);

/* Callbacks of the chain: struct chain_guests describes them. */
bool node_holds(void *self, uint32_t account, tide_slice args);
bool node_present(void *self);
uint32_t node_gather(void *self);
/* Ends a ledger: removes applied transactions from the queue, drops and bans those that have waited
 * too long. */
void node_age(struct sim_node *node);
/* Appends a copy of a parsed transaction to the queue, which has room. funded: account that a
 * transaction of the friendbot creates; NULL for other transactions. Returns TIDE_E_MEMORY. */
tide_status node_put_waiting(struct sim_node *node, const struct node_tx *tx,
                             const uint8_t *funded) TIDE_MUST_USE;
/* Creates the friendbot's account (node_fund.c). Returns TIDE_E_MEMORY. */
tide_status node_friendbot_open(struct sim_node *node) TIDE_MUST_USE;
/* Applies a transaction of the friendbot; writes operations and changes to tx. */
void node_apply_funding(struct sim_node *node, const struct node_waiting *item, struct lcm_tx *tx);

/* --- validity (node_check.c) ---------------------------------------------------------------- */

/* TransactionResultCode. */
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

/* Result of a check. */
struct node_verdict {
    int32_t code;  /* TX_SUCCESS: valid. Code of the outer transaction of a fee bump */
    int32_t inner; /* code of the inner transaction if code is TX_FEE_BUMP_INNER_FAILED */
    int64_t fee;   /* stroops; with TX_INSUFFICIENT_FEE, the least that would do */
    int32_t op;    /* code of the operation if code or inner is TX_FAILED */
};

/* Checks a transaction as if a ledger of that number and close time contained it. */
struct node_verdict node_check(const struct sim_node *node, const struct node_tx *tx,
                               uint64_t close_time, uint32_t ledger);
/* Appends the TransactionResult of an invalid transaction. */
void node_put_result(struct tide_buf *out, const struct node_tx *tx,
                     const struct node_verdict *verdict);
/* Returns the stroops that are charged before the transaction applies. */
int64_t node_charge(const struct node_tx *tx);

/* --- authorisation (node_auth.c) -------------------------------------------------------------- */

/* Parses tx's authorisation entries into node->auths. Returns false if there are too many or one of
 * an unknown kind. */
bool node_auths_read(struct sim_node *node, const struct node_tx *tx);
/* Returns NULL if node->auths has a valid signature for every authorisation that the call required,
 * else the reason of the refusal. ledger is the one in which the call runs. Marks used grants and
 * steps. */
const char *node_auths_cover(struct sim_node *node, const struct sim_outcome *out, uint32_t ledger);
/* Returns true if the party is a protocol contract whose own call contains the frame: it has
 * authorised the calls below its own. */
bool node_auth_by_contract(struct sim_node *node, const struct sim_outcome *out,
                           const struct sim_auth *auth);
/* Writes the authorisation entries that the call requires, unsigned, to auth_xdr and node->auths.
 * Returns NULL, or the reason why none can satisfy the call. */
const char *node_auths_record(struct sim_node *node, const struct sim_outcome *out,
                              const uint8_t *source);
/* Removes expired nonces. */
void node_nonces_age(struct sim_node *node);
/* Records the nonce of a used grant. Returns false if the table is full. */
bool node_nonce_use(struct sim_node *node, const struct node_grant *grant);

/* --- application, footprints, arguments --------------------------------------------- */

/* Returns the callbacks of the chain (node_apply.c). */
struct chain_guests node_guests(struct sim_node *node);
/* Applies RestoreFootprint: restores the lapsed entries of the footprint (node_entry.c). Returns
 * how many. */
uint32_t node_restore(struct sim_node *node, const struct node_tx *tx, struct chain_making *m);
/* Restores the entries that a call's transaction lists and the call did not touch. */
void node_restore_listed(struct sim_node *node, const struct node_tx *tx, struct chain_making *m);

/* Splits one half of a footprint into its keys; out has room for count (node_footprint.c). */
void node_footprint_keys(tide_slice *out, tide_slice keys, uint32_t count);
/* Returns NULL if the declared footprint covers all that the call touched, else the reason of the
 * refusal. */
const char *node_footprint_covers(struct sim_node *node, struct chain_making *m,
                                  const struct node_tx *tx);
/* Returns true if the footprint has a lapsed entry that is not listed for restoration. */
bool node_footprint_archived(struct sim_node *node, const struct node_tx *tx);
/* Returns the existing contract data entry of a LedgerKey, or NULL. */
struct sim_entry *node_data_entry(struct sim_node *node, tide_slice key);
/* Lists the hashes of the code that a call ran, each once. Returns how many. */
uint32_t node_codes(const uint8_t *codes[SIM_DEPTH_MAX], const struct sim_outcome *out);
/* Returns true if a call ran the shared code, whose life had ended. */
bool node_code_lapsed(const struct chain *chain, const struct sim_outcome *out);
/* Returns true for the key of the shared code. */
bool node_is_code(const struct sim_node *node, tide_slice key);
/* Restores the entry of a key if its life has ended. */
void node_restore_key(struct sim_node *node, tide_slice key, struct chain_making *m);
/* Returns a call's arguments as values in the chain's arena. Returns NULL if an argument has a type
 * that no contract here takes. */
const sim_val *node_args(struct sim_node *node, const struct node_tx *tx);

#endif
