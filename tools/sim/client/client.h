/* Declarations of `tidemark-sim tx`, which builds, simulates, signs, sends and waits, over Stellar
 * RPC and nothing else. One thread uses it. */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include "tidemark/http.h"
#include "tidemark/sign.h"
#include "tools/sim/workload/parties.h"

/* authorisations of a transaction; bytes of an answer */
enum { CLIENT_AUTHS_MAX = 32, CLIENT_BYTES_MAX = 8 << 20 };

/* A connection to a server. */
struct client {
    struct tide_http *http;
    const char *url;
    struct tide_buf request, body; /* JSON */
    struct tide_buf hold;          /* decoded bytes of the last answer; each call empties it */
};

/* Opens a client. url is borrowed. Returns an error of tide_http_open. */
tide_status client_open(struct client *client, const char *url, struct tide_err *err) TIDE_MUST_USE;
void client_close(struct client *client);

/* Each function below makes one call. Returns TIDE_E_IO if the server cannot be reached,
 * TIDE_E_DECODE if its answer is malformed, TIDE_E_USAGE with its message if it refuses. Slices
 * borrow until the next call. */

struct client_network {
    char passphrase[256];
    char friendbot[300]; /* URL; "": there is none */
};
tide_status client_network(struct client *client, struct client_network *out,
                           struct tide_err *err) TIDE_MUST_USE;
/* Reads an account's sequence number. Returns TIDE_E_MISSING if there is no such account. */
tide_status client_sequence(struct client *client, const uint8_t key[TIDE_HASH_BYTES], int64_t *seq,
                            struct tide_err *err) TIDE_MUST_USE;
/* Reads the newest ledger and its close time in unix seconds. */
tide_status client_latest(struct client *client, uint32_t *ledger, uint64_t *close_time,
                          struct tide_err *err) TIDE_MUST_USE;
/* Calls the friendbot, which answers once a ledger contains its transaction. */
tide_status client_fund(struct client *client, const char *friendbot, const char *address,
                        struct tide_err *err) TIDE_MUST_USE;

/* Answer of a simulation. */
struct client_simulated {
    char error[512]; /* "": the call passed */
    tide_slice data; /* SorobanTransactionData */
    int64_t fee;     /* resource fee, stroops */
    uint32_t auth_count;
    tide_slice auths[CLIENT_AUTHS_MAX]; /* SorobanAuthorizationEntries to sign */
};
tide_status client_simulate(struct client *client, tide_slice envelope,
                            struct client_simulated *out, struct tide_err *err) TIDE_MUST_USE;

/* Answer of sendTransaction. */
struct client_sent {
    char status[32];
    int32_t code; /* result code of an ERROR; the inner transaction's if a fee bump failed inside */
};
tide_status client_send(struct client *client, tide_slice envelope, struct client_sent *out,
                        struct tide_err *err) TIDE_MUST_USE;

/* Answer of getTransaction. */
struct client_found {
    char status[32]; /* SUCCESS, FAILED, NOT_FOUND */
    uint32_t ledger;
    uint64_t latest_close_time;
    int64_t fee; /* stroops charged */
    /* return value as JSON, NUL-terminated; borrows until the next call; NULL: none */
    char *answer;
    char error[512]; /* reason of a FAILED, from a diagnostic event */
};
tide_status client_find(struct client *client, const uint8_t hash[TIDE_HASH_BYTES],
                        struct client_found *out, struct tide_err *err) TIDE_MUST_USE;

/* Returns the return value in a TransactionMeta 3 or 4; empty if there is none. (client_meta.c) */
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
