/* Declarations of `tidemark-sim tx`, which builds, simulates, signs, sends and waits, over Stellar
 * RPC and nothing else. One thread uses it. */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include "tidemark/rpc.h"
#include "tidemark/sign.h"
#include "tools/sim/workload/parties.h"

enum { CLIENT_BYTES_MAX = 8 << 20 };

/* A connection to a server. Slices of its answers borrow until the next call. */
struct client {
    struct tide_rpc_client rpc;
    struct tide_buf params; /* params of the call that is made */
};

/* Opens a client. */
tide_status client_open(struct client *client, const char *url, struct tide_err *err) TIDE_MUST_USE;
void client_close(struct client *client);

/* Each function below makes one call and returns what tide_rpc_ask does; TIDE_E_USAGE if the server
 * refuses it with an error of JSON-RPC. */
tide_status client_network(struct client *client, struct tide_rpc_network *out,
                           struct tide_err *err) TIDE_MUST_USE;
/* Reads an account's sequence number. Returns TIDE_E_MISSING if there is no such account. */
tide_status client_sequence(struct client *client, const uint8_t key[TIDE_HASH_BYTES], int64_t *seq,
                            struct tide_err *err) TIDE_MUST_USE;
/* The error of a call that failed is followed by what its event says. */
tide_status client_simulate(struct client *client, tide_slice envelope,
                            struct tide_rpc_simulated *out, struct tide_err *err) TIDE_MUST_USE;
tide_status client_send(struct client *client, tide_slice envelope, struct tide_rpc_sent *out,
                        struct tide_err *err) TIDE_MUST_USE;
tide_status client_find(struct client *client, const uint8_t hash[TIDE_HASH_BYTES],
                        struct tide_rpc_found *out, struct tide_err *err) TIDE_MUST_USE;
/* Calls the friendbot, which answers once a ledger contains its transaction. */
tide_status client_fund(struct client *client, const char *friendbot, const char *address,
                        struct tide_err *err) TIDE_MUST_USE;

/* Returns the return value in a TransactionMeta 3 or 4; empty if there is none. */
tide_slice client_return_value(tide_slice meta);
/* Copies the text of a DiagnosticEvent of an error. Returns false if the event is none. */
bool client_error(char *out, size_t size, tide_slice diagnostic);

/* --- the calls (client_calls.c) ---------------------------------------------------------- */

/* The command's options, as client.c describes them. */
struct client_options {
    const char *rpc, *as, *user, *sender;
    const char *subject, *signer, *owner, *pool, *amount, *amount_b, *min, *synth, *asset, *price,
        *metadata, *title, *text;
    uint64_t seed, country, expires_in, proposal;
    bool reverse, against;
};

/* A call that the command offers. */
struct client_call {
    const char *name;
    uint32_t place; /* contract, by its place among the parties */
    const char *fn;
    const char *parts; /* its arguments, a letter each: see client_calls.c */
    const char *help;
};
/* All calls; the last one has a NULL name. */
extern const struct client_call client_calls[];

/* Appends the call's arguments as ScVals and counts them. Returns TIDE_E_USAGE if an option is
 * missing or malformed. */
tide_status client_args(struct tide_buf *out, uint32_t *count, const struct client_call *call,
                        const struct client_options *o, const struct parties *parties,
                        struct tide_err *err) TIDE_MUST_USE;

#endif
