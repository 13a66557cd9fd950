/* Several Stellar RPC servers (tidemark/rpc.h), for a sender of transactions.
 *
 * Failures  a server that does not answer, or answers with an error or malformed data, is paused.
 *           The pause doubles with each failure in a row. The next server is called at once;
 *           TIDE_E_IO if none is left.
 * Sending   one server for each call, in rotation. A server that accepts a transaction and does not
 *           forward it thus delays the transaction by one sending only.
 * Trust     none: an answer is the claim of one server. A caller that needs to be sure asks a
 *           second server (att_rpc_exclude_current), or the index.
 * Lag       an answer is refused if its newest ledger is below one that the same server reported
 *           before, or below the floor that the index sets. Exception: a server that has not
 *           reached its own highest report for ten minutes, or for 30 s if there is a floor; that
 *           ledger cannot have existed. One server's reports never limit another server.
 * Time      an answer is refused if its newest ledger closed more than clock_skew_s before or after
 *           this host's time, or if the index rules its ledger number out (att_rpc_limit_ledgers).
 * Slices    of an answer borrow from the client; valid until the next call.
 * Threads   one client belongs to one thread. */
#ifndef API_ATTESTER_CHAIN_RPC_H
#define API_ATTESTER_CHAIN_RPC_H

#include "tidemark/clock.h"
#include "tidemark/hash.h"
#include "tidemark/rpc.h"

enum { ATT_RETRY_MS = 500 }; /* first pause after a failure; doubles, with jitter */
struct att_rpc;              /* opaque */

struct att_rpc_options {
    const struct tide_config *config; /* borrowed */
    const char *passphrase;           /* passphrase of the deployment's network; borrowed */
    const struct tide_clock *clock;
    bool (*cancelled)(void *self); /* true ends a call with TIDE_E_STOPPED; may be NULL */
    /* Transport of a request to a server; NULL: HTTP. Tests replace it. */
    tide_status (*call)(void *self, const struct tide_http_request *request, struct tide_buf *body,
                        struct tide_http_answer *answer, struct tide_err *err);
    void *self;
};

/* Reads the list of servers from the configuration; sends nothing. Fails with TIDE_E_CONFIG (no
 * server, one twice, one unusable) or TIDE_E_MEMORY. */
tide_status att_rpc_open(struct att_rpc **out, const struct att_rpc_options *options,
                         struct tide_err *err) TIDE_MUST_USE;
void att_rpc_close(struct att_rpc *rpc); /* NULL is fine */

/* Returns the highest ledger that at least two servers reported; with a single server, the one
 * that this server reported. 0: none yet. */
uint32_t att_rpc_latest(const struct att_rpc *rpc);

/* Returns att_rpc_latest, or the report of the current server if that is higher. The caller uses
 * it to send to one server only once for each ledger. */
uint32_t att_rpc_newest(const struct att_rpc *rpc);

/* Sets the range that the index allows: answers whose newest ledger is below floor or above
 * ceiling are refused. 0: no limit. */
void att_rpc_limit_ledgers(struct att_rpc *rpc, uint32_t floor, uint32_t ceiling);

/* Forgets the ledgers that servers reported, and whose network they belong to. Call after a
 * network was reset: its ledgers begin again at 1. */
void att_rpc_forget_ledgers(struct att_rpc *rpc);

/* Returns the number of configured servers. */
uint32_t att_rpc_server_count(const struct att_rpc *rpc);
/* Excludes the current server (it answered last) until att_rpc_include_all, so that the next
 * call asks another one. Returns false if no server is left that may be called now. */
bool att_rpc_exclude_current(struct att_rpc *rpc);
/* Makes the first server that was excluded since att_rpc_include_all the current one again. */
void att_rpc_select_first(struct att_rpc *rpc);
/* Ends all exclusions. */
void att_rpc_include_all(struct att_rpc *rpc);
/* Makes the next server of the list the current one: the next call tries it first. */
void att_rpc_select_next(struct att_rpc *rpc);
/* Makes the server after the first excluded one the current one. Call if no other server
 * confirmed the first one's answer. Passes over paused servers: one whose tip is refused would be
 * paused again by the next turn's first call, and so never be asked to confirm the first one. */
void att_rpc_select_after_first(struct att_rpc *rpc);

/* The calls below return TIDE_OK, TIDE_E_IO (no server answers now), TIDE_E_CHAIN (all servers
 * belong to another network), TIDE_E_STOPPED or TIDE_E_MEMORY. */

/* Returns the milliseconds until the first paused server may be called; 0: one may be called
 * now. */
int64_t att_rpc_rest_ms(const struct att_rpc *rpc);

/* Pauses the current server, whose answer is unusable; problem says why. Returns TIDE_E_IO. */
tide_status att_rpc_distrust(struct att_rpc *rpc, const char *problem, struct tide_err *err);

/* The newest ledger of one server. */
struct att_tip {
    uint32_t ledger;
    uint64_t close_time; /* unix seconds of ledger time */
};
tide_status att_rpc_tip(struct att_rpc *rpc, struct att_tip *out,
                        struct tide_err *err) TIDE_MUST_USE;

/* Reads count entries, at most TIDE_RPC_KEYS_MAX. */
tide_status att_rpc_entries(struct att_rpc *rpc, struct tide_rpc_entries *out,
                            const tide_slice *keys, size_t count,
                            struct tide_err *err) TIDE_MUST_USE;

tide_status att_rpc_simulate(struct att_rpc *rpc, struct tide_rpc_simulated *out,
                             tide_slice envelope, struct tide_err *err) TIDE_MUST_USE;

tide_status att_rpc_send(struct att_rpc *rpc, struct tide_rpc_sent *out, tide_slice envelope,
                         struct tide_err *err) TIDE_MUST_USE;

tide_status att_rpc_find(struct att_rpc *rpc, struct tide_rpc_found *out,
                         const uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err) TIDE_MUST_USE;

/* Sets *out to the 90th percentile of inclusion fees in the latest ledgers, at least 100
 * stroops. */
tide_status att_rpc_fee(struct att_rpc *rpc, int64_t *out, struct tide_err *err) TIDE_MUST_USE;

#endif
