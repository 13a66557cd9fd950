/* The network as several Stellar RPC servers tell it.
 *
 * Failures  a server that does not answer, answers nonsense, or an error, is left alone for a
 *           while that doubles, and the next one is asked; TIDE_E_IO when none is left.
 * Sending   one server a call, and each call the next one: a server that takes a transaction and
 *           passes it on to no other delays it by one sending.
 * Trust     none: an answer is what one server says. Who needs to know asks a second server
 *           (att_rpc_second), or the index.
 * Lag       the newest ledger that a server told does not go back for that server, nor behind what
 *           the index has: an answer from before it is no answer. Only when the server got there no
 *           more for ten minutes was it a ledger that never was. What one server claims says
 *           nothing about the others.
 * Time      a newest ledger that closed more than clock_skew_s from this host's time, before or
 *           after it, is refused; so is a ledger number that the index rules out.
 * Network   a new connection is asked for its network before an answer over it counts.
 * Slices    of an answer borrow until the next call.
 * Threads   one client belongs to one thread. */
#ifndef API_ATTESTER_CHAIN_RPC_H
#define API_ATTESTER_CHAIN_RPC_H

#include "tidemark/clock.h"
#include "tidemark/config.h"
#include "tidemark/hash.h"
#include "tidemark/http.h"

enum { ATT_SERVERS_MAX = 8, ATT_ANSWER_MAX = 8 << 20, ATT_KEYS_MAX = 8, ATT_LIST_MAX = 32 };

struct att_rpc; /* opaque */

struct att_rpc_options {
    const struct tide_config *config; /* borrowed */
    const char *passphrase;           /* what the network must be; borrowed */
    const struct tide_clock *clock;
    bool (*cancelled)(void *self); /* ends a call with TIDE_E_STOPPED; may be NULL */
    /* How a request gets to a server and its answer back; NULL: over HTTP. For tests. */
    tide_status (*call)(void *self, const struct tide_http_request *request, struct tide_buf *body,
                        struct tide_http_answer *answer, struct tide_err *err);
    void *self;
};

/* Sends nothing yet. TIDE_E_CONFIG, TIDE_E_MEMORY. */
tide_status att_rpc_open(struct att_rpc **out, const struct att_rpc_options *options,
                         struct tide_err *err) TIDE_MUST_USE;
void att_rpc_close(struct att_rpc *rpc); /* NULL is fine */

/* The newest ledger that two servers told; of a single server, that it told. 0: none yet. */
uint32_t att_rpc_latest(const struct att_rpc *rpc);

/* The same, or what the server told that answered last, if that is newer: nothing is sent twice to
 * one server in one ledger. */
uint32_t att_rpc_newest(const struct att_rpc *rpc);

/* What the index rules out: answers of ledgers before floor or behind ceiling. 0, 0: nothing. */
void att_rpc_bound(struct att_rpc *rpc, uint32_t floor, uint32_t ceiling);

/* The network began anew: what servers told of its ledgers is forgotten. */
void att_rpc_forget(struct att_rpc *rpc);

/* How many servers there are. */
uint32_t att_rpc_servers(const struct att_rpc *rpc);
/* A second opinion: the server that answered last is not asked again before att_rpc_any. False:
 * there is none left that can be asked now. */
bool att_rpc_second(struct att_rpc *rpc);
/* The server whose answer the others were asked about is the one that answered last. */
void att_rpc_back(struct att_rpc *rpc);
/* Each may answer again. */
void att_rpc_any(struct att_rpc *rpc);
/* The next call is another server's first, where there is one. */
void att_rpc_turn(struct att_rpc *rpc);
/* The same, where no second opinion bore out the server that was asked first. */
void att_rpc_doubt(struct att_rpc *rpc);

/* Each call: TIDE_OK, TIDE_E_IO (no server answers now), TIDE_E_CHAIN (all that answer are of
 * another network), TIDE_E_STOPPED, TIDE_E_MEMORY. */

/* How long each server is left alone yet; 0: one may be asked. */
int64_t att_rpc_rest_ms(const struct att_rpc *rpc);

/* The server that answered last is left alone for a while: its answer says nothing. TIDE_E_IO. */
tide_status att_rpc_distrust(struct att_rpc *rpc, const char *what, struct tide_err *err);

struct att_tip {
    uint32_t ledger;
    uint64_t close_time; /* unix seconds, of the network */
};
tide_status att_rpc_tip(struct att_rpc *rpc, struct att_tip *out,
                        struct tide_err *err) TIDE_MUST_USE;

/* data[i] is the LedgerEntryData of keys[i], empty where there is none; count up to ATT_KEYS_MAX.
 * An archived entry counts as there. *ledger: as of. modified[i]: the ledger of its last change. */
struct att_entries {
    uint32_t ledger;
    tide_slice data[ATT_KEYS_MAX];
    uint32_t modified[ATT_KEYS_MAX];
};
tide_status att_rpc_entries(struct att_rpc *rpc, struct att_entries *out, const tide_slice *keys,
                            size_t count, struct tide_err *err) TIDE_MUST_USE;

struct att_change {
    tide_slice key, before, after; /* LedgerKey; LedgerEntry, empty: none */
};

struct att_simulated {
    uint32_t ledger;
    char error[256]; /* the first line of it; "": it passed */
    tide_slice data; /* SorobanTransactionData */
    int64_t resource_fee;
    uint32_t auth_count;
    tide_slice auth; /* entries back to back */
    uint32_t change_count;
    struct att_change changes[ATT_LIST_MAX];
};
tide_status att_rpc_simulate(struct att_rpc *rpc, struct att_simulated *out, tide_slice envelope,
                             struct tide_err *err) TIDE_MUST_USE;

enum att_sent_status { ATT_PENDING, ATT_DUPLICATE, ATT_TRY_AGAIN, ATT_ERROR };
struct att_sent {
    enum att_sent_status status;
    int32_t
        code; /* TransactionResultCode of an error; the inner one of a bump that failed inside */
};
tide_status att_rpc_send(struct att_rpc *rpc, struct att_sent *out, tide_slice envelope,
                         struct tide_err *err) TIDE_MUST_USE;

enum att_found_status { ATT_NOT_FOUND, ATT_SUCCESS, ATT_FAILED };
struct att_found {
    enum att_found_status status;
    uint32_t latest, oldest; /* ledgers that the server knows */
    uint64_t close_time;     /* of the latest */
    uint32_t ledger;         /* that it stands in */
    int64_t fee;             /* charged, stroops */
    tide_slice result;       /* TransactionResult */
    tide_slice envelope;     /* TransactionEnvelope, of a found one */
    tide_slice meta;         /* TransactionMeta; empty: not told     */
    uint32_t event_count;
    tide_slice events[ATT_LIST_MAX]; /* ContractEvent of its operation */
    uint32_t diagnostic_count;
    tide_slice diagnostics[ATT_LIST_MAX];
};
tide_status att_rpc_find(struct att_rpc *rpc, struct att_found *out,
                         const uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err) TIDE_MUST_USE;

/* What most bid for a place in the latest ledgers: the 90th percentile, at least 100 stroops. */
tide_status att_rpc_fee(struct att_rpc *rpc, int64_t *out, struct tide_err *err) TIDE_MUST_USE;

#endif
