/* A client of one Stellar RPC server: requests over a connection that is kept alive, answers as
 * text.
 *
 * Network   before an answer that came over a new connection is used, the server is asked for its
 *           network's passphrase.
 * Rate      all clients of a source share one limit of requests a second.
 * Threads   one thread uses a client; any thread may use the limit. */
#ifndef INDEXER_SOURCE_RPC_CLIENT_H
#define INDEXER_SOURCE_RPC_CLIENT_H

#include "indexer/source/rpc/answer.h"
#include "tidemark/config.h"
#include "tidemark/http.h"
#include "tidemark/limits.h"

#include <pthread.h>

enum { RPC_NAME_BYTES = 160, RPC_URL_BYTES = TIDE_CONFIG_TEXT_MAX };

/* A sliding window: at most per_s requests in any second, as servers count them. A token bucket
 * would let twice as many pass in the second after a pause. */
struct rpc_rate {
    pthread_mutex_t lock;
    uint32_t per_s, oldest;
    int64_t *asked_ms; /* times of the last per_s requests; a ring that begins at oldest */
};

tide_status rpc_rate_init(struct rpc_rate *rate, uint32_t per_s) TIDE_MUST_USE;
void rpc_rate_destroy(struct rpc_rate *rate);
/* Returns 0 if a request may be sent at now_ms, and counts it; otherwise the milliseconds to
 * wait. */
int64_t rpc_rate_take(struct rpc_rate *rate, int64_t now_ms);

struct rpc_client_options {
    const struct tide_config *config; /* borrowed */
    /* passphrase that the server must report; NULL: not checked; borrowed */
    const char *passphrase;
    struct rpc_rate *rate;         /* borrowed */
    bool (*cancelled)(void *self); /* if it returns true, the call ends with TIDE_E_STOPPED */
    void *self;
};

struct rpc_client {
    struct rpc_client_options options;
    struct tide_http *http;
    uint64_t id;           /* id of the last request */
    bool known;            /* the connection's network was checked */
    struct tide_buf small; /* buffer for answers of getNetwork */
    char url[RPC_URL_BYTES];
    char name[RPC_NAME_BYTES]; /* for messages: scheme, host, port */
};

/* Advice for retrying a call that failed with TIDE_E_IO. */
struct rpc_hint {
    uint32_t after_ms; /* ms of Retry-After; 0: not given */
    bool reached;      /* a server took the request */
    bool busy;         /* a pause was asked for: Retry-After, 429 or 503 */
};

/* Copies the next address of a comma-separated list to url and moves *list behind it. Returns false
 * after the last one. */
bool rpc_client_next_url(const char **list, char url[RPC_URL_BYTES]);

tide_status rpc_client_open(struct rpc_client *client, const char *url,
                            const struct rpc_client_options *options,
                            struct tide_err *err) TIDE_MUST_USE;
void rpc_client_close(struct rpc_client *client); /* a zeroed client is allowed */

/* The largest answer with one ledger: base64 makes four bytes of three, and the header and names
 * beside it are small. */
#define RPC_LEDGER_ANSWER_BYTES ((TIDE_LEDGER_BYTES_MAX + 2u) / 3u * 4u + (64u << 10))

/* The functions below send a request and read the answer into *body, which is overwritten. The
 * buffer's maximum is set for each request: rpc_page_max_mib, and for a page of one ledger at least
 * RPC_LEDGER_ANSWER_BYTES.
 * TIDE_OK       an answer, which may be an error of JSON-RPC
 * TIDE_E_IO     no answer, or one that is not HTTP 200
 * TIDE_E_DECODE the answer is malformed
 * TIDE_E_LIMIT  the answer is larger than the maximum
 * TIDE_E_CHAIN  the server is of another network
 * TIDE_E_STOPPED, TIDE_E_MEMORY. err names the server. */
tide_status rpc_client_network(struct rpc_client *client, struct rpc_hint *hint,
                               struct tide_err *err) TIDE_MUST_USE;
tide_status rpc_client_latest(struct rpc_client *client, struct rpc_latest *out,
                              struct tide_buf *body, struct rpc_hint *hint,
                              struct tide_err *err) TIDE_MUST_USE;

struct rpc_page_request {
    uint32_t start, limit; /* ledgers */
};

tide_status rpc_client_page(struct rpc_client *client, const struct rpc_page_request *request,
                            struct rpc_page *out, struct tide_buf *body, struct rpc_hint *hint,
                            struct tide_err *err) TIDE_MUST_USE;

struct rpc_events_request {
    uint32_t start, end; /* ledgers; end is exclusive; both 0 with a cursor */
    const char *cursor;  /* NULL: begin at ledger start */
    const char *filters; /* JSON: [{"contractIds":["C…"]}] */
    uint32_t limit;
};

tide_status rpc_client_events(struct rpc_client *client, const struct rpc_events_request *request,
                              struct rpc_events *out, struct tide_buf *body, struct rpc_hint *hint,
                              struct tide_err *err) TIDE_MUST_USE;

#endif
