/* The program behind `tidemark-sim tx`: it builds, simulates, signs, sends and waits, over
 * Stellar RPC and nothing else. */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include "tidemark/http.h"
#include "tidemark/sign.h"
#include "tools/sim/workload/parties.h"

enum { CLIENT_AUTHS_MAX = 32, CLIENT_BYTES_MAX = 8 << 20 };

struct client {
    struct tide_http *http;
    const char *url;
    struct tide_buf request, body; /* JSON */
    struct tide_buf hold;          /* bytes of the last answer; reset by each call */
};

/* url is borrowed. */
tide_status client_open(struct client *client, const char *url, struct tide_err *err) TIDE_MUST_USE;
void client_close(struct client *client);

/* Each call: TIDE_E_IO when the server cannot be asked, TIDE_E_DECODE when its answer is none,
 * TIDE_E_USAGE with its words when it refuses. Slices borrow until the next call. */

struct client_network {
    char passphrase[256];
    char friendbot[300]; /* "": there is none */
};
tide_status client_network(struct client *client, struct client_network *out,
                           struct tide_err *err) TIDE_MUST_USE;
/* TIDE_E_MISSING: no such account. */
tide_status client_sequence(struct client *client, const uint8_t key[TIDE_HASH_BYTES], int64_t *seq,
                            struct tide_err *err) TIDE_MUST_USE;
tide_status client_latest(struct client *client, uint32_t *ledger, uint64_t *close_time,
                          struct tide_err *err) TIDE_MUST_USE;
/* Asks the friendbot and waits for it. */
tide_status client_fund(struct client *client, const char *friendbot, const char *address,
                        struct tide_err *err) TIDE_MUST_USE;

struct client_simulated {
    char error[512]; /* "": it passed */
    tide_slice data;
    int64_t fee;
    uint32_t auth_count;
    tide_slice auths[CLIENT_AUTHS_MAX];
    tide_slice restore; /* empty: nothing has to be restored first */
    int64_t restore_fee;
};
tide_status client_simulate(struct client *client, tide_slice envelope,
                            struct client_simulated *out, struct tide_err *err) TIDE_MUST_USE;

struct client_sent {
    char status[32];
    int32_t code; /* of an ERROR; the inner one of a fee bump that failed inside */
};
tide_status client_send(struct client *client, tide_slice envelope, struct client_sent *out,
                        struct tide_err *err) TIDE_MUST_USE;

struct client_found {
    char status[32]; /* SUCCESS, FAILED, NOT_FOUND */
    uint32_t ledger;
    uint64_t latest_close_time;
    int64_t fee;
    char *answer;    /* JSON of the return value, NUL-terminated; borrows; NULL: none */
    char error[512]; /* of a FAILED: what a diagnostic event says */
};
tide_status client_find(struct client *client, const uint8_t hash[TIDE_HASH_BYTES],
                        struct client_found *out, struct tide_err *err) TIDE_MUST_USE;

/* The return value in a TransactionMeta 3 or 4; empty when there is none. (client_meta.c) */
tide_slice client_return_value(tide_slice meta);
/* What a DiagnosticEvent of an error says, "Error(…): text"; false when it is none. */
bool client_error(char *out, size_t size, tide_slice diagnostic);

/* --- what can be said (client_calls.c) --------------------------------------------------- */

struct client_options {
    const char *rpc, *as, *user, *sender;
    const char *subject, *signer, *owner, *pool, *amount, *amount_b, *min, *synth, *asset, *price,
        *metadata, *title, *text;
    uint64_t seed, country, expires_in, proposal;
    bool reverse, against;
};

struct client_call {
    const char *name;
    uint32_t place; /* of the contract in the parties */
    const char *fn;
    const char *parts; /* of its arguments, a letter each: see client_calls.c */
    const char *help;
};
/* Ended by a NULL name. */
extern const struct client_call client_calls[];

/* The arguments as ScVals; *count of them. close_time: of the latest ledger. */
tide_status client_args(struct tide_buf *out, uint32_t *count, const struct client_call *call,
                        const struct client_options *o, const struct parties *parties,
                        struct tide_err *err) TIDE_MUST_USE;

#endif
