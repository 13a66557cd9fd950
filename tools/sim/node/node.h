/* A simulated network as one node sees it: a chain that applies transactions of clients.
 *
 * Use      node_open; then node_ledger for each ledger of the past, and for every ledger that
 *          closes later. In between, clients look entries up, simulate, and send.
 * Queue    One pending transaction for each source account. A transaction that none of the next
 *          NODE_PATIENCE ledgers contains is dropped, and its hash is banned for NODE_BAN ledgers.
 *          A ledger contains exactly the bytes that the sender sent.
 * Workload The population goes on. For NODE_LEAVE ledgers, it leaves alone an account that a client
 *          looked up, simulated for or sent from. Accounts with a role in the protocol, such as
 *          verifiers, are left alone for a few ledgers only. Meanwhile the population stops, blocks
 *          and revokes nothing, and first undoes its own stops.
 * Slices   Slices in answers borrow from the node until the next call of any function here.
 * Threads  The node has no lock: the caller holds one. No function here waits.
 * Memory   Bounded: the queue, the bans and every answer have limits. */
#ifndef SIM_NODE_H
#define SIM_NODE_H

#include "tools/sim/chain/chain.h"

enum {
    NODE_QUEUE_MAX = 512,      /* transactions in the queue */
    NODE_BANS_MAX = 4096,      /* banned hashes; a new one replaces the oldest */
    NODE_PATIENCE = 4,         /* ledgers that a transaction waits at most */
    NODE_BAN = 10,             /* ledgers that a dropped hash is banned */
    NODE_LEAVE = 100,          /* ledgers that the population leaves a user's account alone */
    NODE_LEDGER_TXS = 100,     /* clients' transactions in one ledger */
    NODE_BYTES_MAX = 1u << 20, /* length of an envelope */
};

struct sim_node;

/* Opens a node before its first ledger. options are those of chain_open; they and the passphrase
 * are copied. Returns TIDE_E_MEMORY. */
tide_status node_open(struct sim_node **out, const struct chain_options *options,
                      struct tide_err *err) TIDE_MUST_USE;
void node_close(struct sim_node *node); /* accepts NULL */

/* Closes the next ledger with the population's and the queue's transactions. *lcm is its
 * LedgerCloseMeta, valid until the next node_ledger. Returns TIDE_E_LIMIT if options.txs makes the
 * ledger too large. */
tide_status node_ledger(struct sim_node *node, tide_slice *lcm) TIDE_MUST_USE;

/* Makes every later ledger close exactly `seconds` after the one before, without jumps of days. 0:
 * the workload decides again. */
void node_pace(struct sim_node *node, uint32_t seconds);

/* Keeps the queue out of the next `ledgers` ledgers: tests of dropping and bans use it. */
void node_hold(struct sim_node *node, uint32_t ledgers);

/* The newest ledger. */
struct node_latest {
    uint32_t sequence; /* 0: no ledger has closed */
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t close_time;
    uint32_t protocol;
};
/* Returns the newest ledger. */
struct node_latest node_latest(const struct sim_node *node);
/* Returns the names, keys and addresses of the chain's accounts and contracts. */
const struct parties *node_parties(const struct sim_node *node);

/* --- sending ------------------------------------------------------------------ */

/* Outcome of node_send, with the names of sendTransaction. */
enum node_status { NODE_PENDING, NODE_DUPLICATE, NODE_TRY_AGAIN_LATER, NODE_ERROR };

struct node_sent {
    enum node_status status;
    uint8_t hash[TIDE_HASH_BYTES]; /* hash of the envelope; the outer one of a fee bump */
    tide_slice result;             /* TransactionResult of an ERROR; else empty */
};

/* Appends a TransactionEnvelope to the queue, or reports why it does not. Returns TIDE_E_DECODE,
 * TIDE_E_UNKNOWN or TIDE_E_LIMIT if envelope is no TransactionEnvelope (RPC: invalid_xdr). */
tide_status node_send(struct sim_node *node, tide_slice envelope,
                      struct node_sent *out) TIDE_MUST_USE;
/* Returns the status's name in sendTransaction: PENDING, DUPLICATE, TRY_AGAIN_LATER, ERROR. */
const char *node_status_name(enum node_status status);

/* --- simulating --------------------------------------------------------------- */

/* A list of XDR items. */
struct node_list {
    const tide_slice *items;
    uint32_t count;
};

/* Types of a state change, with the numbers of simulateTransaction. */
enum { NODE_CHANGE_CREATED = 1, NODE_CHANGE_UPDATED = 2, NODE_CHANGE_DELETED = 3 };

/* The change of one ledger entry. */
struct node_change {
    uint32_t type;
    tide_slice key;    /* LedgerKey */
    tide_slice before; /* LedgerEntry; empty: the entry did not exist */
    tide_slice after;  /* LedgerEntry; empty: the entry was removed */
};

/* Answer of a simulation. */
struct node_simulated {
    tide_slice error; /* text of a failure; empty: the call passed, and the other fields are set */
    tide_slice data;  /* SorobanTransactionData to send */
    int64_t min_resource_fee; /* stroops; data contains it too */
    struct node_list events;  /* DiagnosticEvents; a failure has some too */
    struct node_list auth;    /* SorobanAuthorizationEntries to sign */
    tide_slice result;        /* ScVal that the call returned */
    const struct node_change *changes;
    uint32_t change_count;
};

/* Runs the envelope's call on the state behind the newest ledger and undoes it. The envelope's
 * signatures are not checked. If the operation has no authorisations, they are recorded, else
 * enforced.
 *
 * A failed call is no error of this function: out->error has its text. Returns TIDE_E_DECODE,
 * TIDE_E_UNKNOWN or TIDE_E_LIMIT if envelope is no TransactionEnvelope (RPC: "Could not unmarshal
 * transaction"). */
tide_status node_simulate(struct sim_node *node, tide_slice envelope,
                          struct node_simulated *out) TIDE_MUST_USE;

/* --- state -------------------------------------------------------------------- */

/* A ledger entry. */
struct node_entry {
    tide_slice data;     /* LedgerEntryData */
    uint32_t modified;   /* ledger of the last write */
    bool has_ttl;        /* contract data: live_until is set */
    uint32_t live_until; /* last ledger of its life; 0: archived */
};

/* Looks up accounts and contract data, instances included. Returns TIDE_E_MISSING if there is no
 * such entry, TIDE_E_DECODE, TIDE_E_UNKNOWN or TIDE_E_LIMIT if key is no LedgerKey, and
 * TIDE_E_USAGE for a TTL key (RPC: "ledger ttl entries cannot be queried directly"). */
tide_status node_entry(struct sim_node *node, tide_slice key, struct node_entry *out) TIDE_MUST_USE;

/* A friendbot: queues a transaction that creates the account with 10 000 XLM, a USDC trustline and
 * 10 000 USDC. A real network never creates a trustline unasked; this one does, so that the account
 * can trade at once. hash is the transaction's. Returns TIDE_E_CONFLICT if the account exists or is
 * queued, TIDE_E_LIMIT if the queue is full or the friendbot has too little XLM. */
tide_status node_fund(struct sim_node *node, const uint8_t key[TIDE_HASH_BYTES],
                      uint8_t hash[TIDE_HASH_BYTES]) TIDE_MUST_USE;

#endif
