/* A simulated network as one node sees it: a chain that takes transactions of clients.
 *
 * Flow     node_open; node_ledger for each ledger of the past, then for every ledger that closes.
 *          In between, clients look up entries, simulate, and send.
 * Queue    One pending transaction per account. A transaction that is in none of the next
 *          NODE_PATIENCE ledgers is dropped, and its hash is banned for NODE_BAN. A ledger holds
 *          exactly the sender's bytes.
 * Workload It goes on. It leaves an account that a client looked up, simulated for or sent from
 *          alone for NODE_LEAVE ledgers (an office, for instance a verifier, for a few). Meanwhile
 *          it stops, blocks and revokes nothing, and first undoes what it had stopped.
 * Views    Slices in answers borrow from the node until the next call of any function here.
 * Threads  None: the caller holds a lock. Nothing here waits.
 * Memory   Flat: the queue, the bans and every answer are bounded. */
#ifndef SIM_NODE_H
#define SIM_NODE_H

#include "tools/sim/chain/chain.h"

enum {
    NODE_QUEUE_MAX = 512,  /* transactions that wait                                   */
    NODE_BANS_MAX = 4096,  /* hashes; the oldest gives way                             */
    NODE_PATIENCE = 4,     /* ledgers a transaction waits                              */
    NODE_BAN = 10,         /* ledgers                                                  */
    NODE_LEAVE = 100,      /* ledgers the population keeps off a user's account          */
    NODE_LEDGER_TXS = 100, /* outside transactions that one ledger takes               */
    NODE_BYTES_MAX = 1u << 20,
};

struct sim_node;

/* options as for chain_open; copied, the passphrase too. TIDE_E_MEMORY. */
tide_status node_open(struct sim_node **out, const struct chain_options *options,
                      struct tide_err *err) TIDE_MUST_USE;
void node_close(struct sim_node *node); /* NULL is fine */

/* Closes the next ledger: the population's transactions and those that wait. *lcm is its
 * LedgerCloseMeta, good until the next node_ledger. TIDE_E_LIMIT: too many txs a ledger. */
tide_status node_ledger(struct sim_node *node, tide_slice *lcm) TIDE_MUST_USE;

/* From the next ledger on each closes so many seconds after the one before, and no longer
 * jumps ahead by days now and then. 0: as before. */
void node_pace(struct sim_node *node, uint32_t seconds);

/* The next ledgers, so many, take no transaction that waits: for tests of dropping and bans. */
void node_hold(struct sim_node *node, uint32_t ledgers);

struct node_latest {
    uint32_t sequence; /* 0: no ledger closed yet */
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t close_time;
    uint32_t protocol;
};
struct node_latest node_latest(const struct sim_node *node);
/* Names, keys and addresses. */
const struct parties *node_parties(const struct sim_node *node);

/* --- sending ------------------------------------------------------------------ */

enum node_status { NODE_PENDING, NODE_DUPLICATE, NODE_TRY_AGAIN_LATER, NODE_ERROR };

struct node_sent {
    enum node_status status;
    uint8_t hash[TIDE_HASH_BYTES]; /* of the envelope; the outer one of a fee bump   */
    tide_slice result;             /* TransactionResult of an ERROR; else empty      */
};

/* Takes a TransactionEnvelope into the queue, or says why not.
 * TIDE_E_DECODE, TIDE_E_UNKNOWN, TIDE_E_LIMIT: envelope is no such thing (RPC: invalid_xdr). */
tide_status node_send(struct sim_node *node, tide_slice envelope,
                      struct node_sent *out) TIDE_MUST_USE;
/* PENDING, DUPLICATE, TRY_AGAIN_LATER, ERROR */
const char *node_status_name(enum node_status status);

/* --- simulating --------------------------------------------------------------- */

struct node_list {
    const tide_slice *items;
    uint32_t count;
};

enum { NODE_CHANGE_CREATED = 1, NODE_CHANGE_UPDATED = 2, NODE_CHANGE_DELETED = 3 };

struct node_change {
    uint32_t type;
    tide_slice key;    /* LedgerKey                            */
    tide_slice before; /* LedgerEntry; empty: there was none   */
    tide_slice after;
};

struct node_simulated {
    tide_slice error; /* text; empty: it passed, and the rest is filled                       */
    tide_slice data;  /* SorobanTransactionData                                               */
    int64_t min_resource_fee; /* the one in data                                            */
    struct node_list events;  /* DiagnosticEvent each; of a failure too                     */
    struct node_list auth;    /* SorobanAuthorizationEntry each                             */
    tide_slice result;        /* ScVal                                                      */
    tide_slice restore;       /* SorobanTransactionData of a RestoreFootprint to send first */
    int64_t restore_fee;      /* empty: none is needed                                      */
    const struct node_change *changes;
    uint32_t change_count;
};

/* Runs the invocation on the state behind the latest ledger and keeps nothing. Signatures of the
 * envelope are not looked at. Authorisations are recorded when the operation has none, else enforced.
 * A failure of the call is no
 * error of this function: out->error says it in the network's words.
 * TIDE_E_DECODE, TIDE_E_UNKNOWN, TIDE_E_LIMIT: "Could not unmarshal transaction". */
tide_status node_simulate(struct sim_node *node, tide_slice envelope,
                          struct node_simulated *out) TIDE_MUST_USE;

/* --- state -------------------------------------------------------------------- */

struct node_entry {
    tide_slice data;     /* LedgerEntryData                                            */
    uint32_t modified;   /* ledger of the last write                                   */
    bool has_ttl;        /* contract data                                              */
    uint32_t live_until; /* 0: archived                                                */
};

/* Accounts and contract data, instances too.
 * TIDE_E_MISSING: no such entry. TIDE_E_DECODE, TIDE_E_UNKNOWN, TIDE_E_LIMIT: key is no LedgerKey.
 * TIDE_E_USAGE: a TTL key ("ledger ttl entries cannot be queried directly"). */
tide_status node_entry(struct sim_node *node, tide_slice key, struct node_entry *out) TIDE_MUST_USE;

/* A friendbot: the next ledger creates the account, with 10 000 XLM, a USDC trustline and
 * 10 000 USDC on it - no network gives a trustline unasked; this one does so that the account
 * can trade at once. hash: of the transaction. TIDE_E_CONFLICT: it exists or is about to;
 * TIDE_E_LIMIT: the queue is full. */
tide_status node_fund(struct sim_node *node, const uint8_t key[TIDE_HASH_BYTES],
                      uint8_t hash[TIDE_HASH_BYTES]) TIDE_MUST_USE;

#endif
