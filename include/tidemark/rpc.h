/* The only client of Stellar RPC: one server, its methods, its errors. The caller says which answer
 * it wants. The client decides what an answer must look like, how large it may be and of which
 * network it must be. Its users choose between several servers.
 *
 * Network   before an answer that came over a new connection is used, the server is asked for its
 *           network's passphrase.
 * Strict    no HTML, no second value, no answer to another request, no field of another type and
 *           none twice. Unknown fields, their order and white space do not matter. A whole number
 *           may be a text of its digits.
 * Memory    a ledger's bytes are decoded within the received text. Slices of an answer borrow from
 *           the buffer of the call, and without one from the client, until its next call.
 * Words     a server's own words are shown: at most 200 bytes, as one line of ASCII, none that
 *           repeat a key.
 * Rate      clients may share a limit of requests a second.
 * Threads   one thread uses a client; any thread may use the limit.
 *
 * Each call returns
 * TIDE_OK       an answer
 * TIDE_E_IO     no answer, one that is not HTTP 200, or an error of JSON-RPC (client->last.error)
 * TIDE_E_DECODE the answer is malformed; err names the fault and its byte
 * TIDE_E_LIMIT  the answer is larger than the maximum
 * TIDE_E_CHAIN  the server is of another network
 * TIDE_E_STOPPED, TIDE_E_MEMORY. err names the server and the method. */
#ifndef TIDEMARK_RPC_H
#define TIDEMARK_RPC_H

#include "tidemark/config.h"
#include "tidemark/http.h"
#include "tidemark/limits.h"

#include <pthread.h>

enum {
    TIDE_RPC_SERVERS_MAX = 8,
    TIDE_RPC_NAME_BYTES = 160,
    TIDE_RPC_URL_BYTES = TIDE_CONFIG_TEXT_MAX,
    TIDE_RPC_TEXT_MAX = 256,
    TIDE_RPC_PAGE_MAX = 200, /* ledgers of a page */
    TIDE_RPC_TOPICS_MAX = 4,
    TIDE_RPC_KEYS_MAX = 8,  /* entries that are asked for at once */
    TIDE_RPC_LIST_MAX = 32, /* events, authorisations or changes of an answer */
};

/* --- the limit on requests ---------------------------------------------------------------- */

/* A sliding window: at most per_s requests in any second, as servers count them. A token bucket
 * would let twice as many pass in the second after a pause. */
struct tide_rpc_rate {
    pthread_mutex_t lock;
    uint32_t per_s, oldest;
    int64_t *asked_ms; /* times of the last per_s requests; a ring that begins at oldest */
};

tide_status tide_rpc_rate_init(struct tide_rpc_rate *rate, uint32_t per_s) TIDE_MUST_USE;
void tide_rpc_rate_destroy(struct tide_rpc_rate *rate);
/* Returns 0 if a request may be sent at now_ms, and counts it; otherwise the milliseconds to
 * wait. */
int64_t tide_rpc_rate_take(struct tide_rpc_rate *rate, int64_t now_ms);

/* --- one server --------------------------------------------------------------------------- */

struct tide_rpc_options {
    const struct tide_config *config; /* borrowed */
    const char *agent;                /* name of the program; static */
    const char *passphrase;           /* borrowed; NULL: any network will do */
    struct tide_rpc_rate *rate;       /* borrowed; NULL: no limit */
    bool (*cancelled)(void *self);    /* if it returns true, the call ends with TIDE_E_STOPPED */
    /* Transport of a request; NULL: HTTP. Tests replace it. */
    tide_status (*call)(void *self, const struct tide_http_request *request, struct tide_buf *body,
                        struct tide_http_answer *answer, struct tide_err *err);
    void *self;
};

/* An error of JSON-RPC. */
struct tide_rpc_error {
    int64_t code; /* 0: no error */
    char message[TIDE_RPC_TEXT_MAX];
    uint32_t oldest, latest; /* the server's range if the message contains it, else 0, 0 */
};

struct tide_rpc_client {
    struct tide_rpc_options options;
    struct tide_http *http;
    uint64_t id;                          /* id of the last request */
    bool known;                           /* the connection's network was checked */
    struct tide_buf request, body, small; /* small: for answers of getNetwork */
    /* The last call, as advice for the next: */
    struct {
        uint32_t after_ms; /* ms of Retry-After; 0: not given */
        bool reached;      /* a server took the request */
        bool busy;         /* a pause was asked for: Retry-After, 429 or 503 */
        struct tide_rpc_error error;
    } last;
    char url[TIDE_RPC_URL_BYTES];
    char name[TIDE_RPC_NAME_BYTES]; /* for messages: scheme, host, port */
};

/* Copies the next address of a comma-separated list to url and moves *list behind it. Returns false
 * after the last one. */
bool tide_rpc_next_url(const char **list, char url[TIDE_RPC_URL_BYTES]);
/* Checks the list of servers: TIDE_E_CONFIG if it names none, too many, or one twice. */
tide_status tide_rpc_check_list(const char *list, struct tide_err *err) TIDE_MUST_USE;

/* Sends nothing. TIDE_E_CONFIG if the address or rpc_header is unusable. */
tide_status tide_rpc_client_open(struct tide_rpc_client *client, const char *url,
                                 const struct tide_rpc_options *options,
                                 struct tide_err *err) TIDE_MUST_USE;
void tide_rpc_client_close(struct tide_rpc_client *client); /* a zeroed client is allowed */

/* --- questions ---------------------------------------------------------------------------- */

/* A method with the shape of its answer. */
struct tide_rpc_question;

/* Asks a server. params is JSON; out is the struct named beside the question. body NULL: that of
 * the client, which takes object_max_mib. */
tide_status tide_rpc_ask(struct tide_rpc_client *client, const struct tide_rpc_question *question,
                         tide_slice params, struct tide_buf *body, void *out,
                         struct tide_err *err) TIDE_MUST_USE;

extern const struct tide_rpc_question tide_rpc_get_network;   /* {}; struct tide_rpc_network */
extern const struct tide_rpc_question tide_rpc_latest_ledger; /* {}; struct tide_rpc_latest */
extern const struct tide_rpc_question
    tide_rpc_ledger_entries; /* tide_rpc_params_keys; struct tide_rpc_entries */
extern const struct tide_rpc_question
    tide_rpc_simulation; /* tide_rpc_params_tx; struct tide_rpc_simulated */
extern const struct tide_rpc_question
    tide_rpc_sending; /* tide_rpc_params_tx; struct tide_rpc_sent */
extern const struct tide_rpc_question
    tide_rpc_get_transaction; /* tide_rpc_params_hash; struct tide_rpc_found */
extern const struct tide_rpc_question tide_rpc_fee_stats; /* {}; struct tide_rpc_fees */

/* Write params. */
void tide_rpc_params_keys(struct tide_buf *out, const tide_slice *keys, size_t count);
void tide_rpc_params_tx(struct tide_buf *out, tide_slice envelope);
void tide_rpc_params_hash(struct tide_buf *out, const uint8_t hash[TIDE_HASH_BYTES]);

struct tide_rpc_network {
    char passphrase[TIDE_RPC_TEXT_MAX];
    char friendbot[300]; /* address; "": none */
};

struct tide_rpc_latest {
    uint32_t sequence;
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t close_time; /* unix seconds; 0: not told, as older servers do */
};

/* Entries at one ledger. data[i] is the LedgerEntryData of keys[i], empty if the entry does not
 * exist; an archived entry exists. modified[i] is the ledger of its last change. */
struct tide_rpc_entries {
    uint32_t ledger;
    tide_slice data[TIDE_RPC_KEYS_MAX];
    uint32_t modified[TIDE_RPC_KEYS_MAX];
    /* The keys that were asked for, set by the caller. An answer with another key, or one twice, is
     * malformed: the entry that was asked for would count as absent. */
    const tide_slice *keys;
    size_t count;
};

struct tide_rpc_change {
    tide_slice key, before, after; /* LedgerKey, LedgerEntry, LedgerEntry; empty: no entry */
};

struct tide_rpc_simulated {
    uint32_t ledger;
    char error[512];       /* first line of the error, as ASCII; "": the call passed */
    tide_slice data;       /* SorobanTransactionData */
    uint32_t resource_fee; /* stroops */
    uint32_t result_count;
    uint32_t auth_count;
    tide_slice auth[TIDE_RPC_LIST_MAX]; /* SorobanAuthorizationEntry */
    uint32_t change_count;
    struct tide_rpc_change changes[TIDE_RPC_LIST_MAX];
    tide_slice event; /* the first DiagnosticEvent; empty: none */
};

enum tide_rpc_sent_status {
    TIDE_RPC_PENDING,
    TIDE_RPC_DUPLICATE,
    TIDE_RPC_TRY_AGAIN,
    TIDE_RPC_ERROR
};
struct tide_rpc_sent {
    enum tide_rpc_sent_status status;
    uint32_t latest;  /* newest ledger that the server has */
    int32_t code;     /* TransactionResultCode of ERROR; of a bump, its inner one */
    tide_slice error; /* TransactionResult of ERROR; empty: left out */
};

enum tide_rpc_found_status { TIDE_RPC_NOT_FOUND, TIDE_RPC_SUCCESS, TIDE_RPC_FAILED };
struct tide_rpc_found {
    enum tide_rpc_found_status status;
    uint32_t latest, oldest; /* newest and oldest ledger that the server has */
    uint64_t close_time;     /* close time of the newest ledger, unix seconds */
    uint32_t ledger;         /* ledger that includes the transaction; 0: not found */
    int64_t fee;             /* stroops that were charged */
    tide_slice result;       /* TransactionResult */
    tide_slice envelope;     /* TransactionEnvelope; empty: not found */
    tide_slice meta;         /* TransactionMeta; empty: the server left it out */
    /* Lists end at TIDE_RPC_LIST_MAX: they are evidence only. */
    uint32_t list_count, event_count;
    tide_slice events[TIDE_RPC_LIST_MAX]; /* ContractEvent of the operation */
    uint32_t diagnostic_count;
    tide_slice diagnostics[TIDE_RPC_LIST_MAX]; /* DiagnosticEvent; servers may leave them out */
};

struct tide_rpc_fees {
    uint32_t latest; /* newest ledger that the server has */
    uint32_t p90;    /* 90th percentile of inclusion fees in the latest ledgers; stroops */
};

/* --- ledgers and events ------------------------------------------------------------------- */

tide_status tide_rpc_client_network(struct tide_rpc_client *client,
                                    struct tide_err *err) TIDE_MUST_USE;
tide_status tide_rpc_client_latest(struct tide_rpc_client *client, struct tide_rpc_latest *out,
                                   struct tide_err *err) TIDE_MUST_USE;

struct tide_rpc_ledger {
    uint32_t sequence; /* sequence of the field and of the ledger's own header, which agree */
    uint8_t hash[TIDE_HASH_BYTES];
    uint8_t previous[TIDE_HASH_BYTES]; /* previous hash in its header */
    /* the ledger has a version newer than this build: previous is unknown and nothing is checked */
    bool unknown;
    tide_slice lcm; /* LedgerCloseMeta; borrows from the body */
};

struct tide_rpc_page {
    uint32_t latest, oldest; /* range of the server; latest 0: not reported */
    uint32_t count;
    struct tide_rpc_ledger ledgers[TIDE_RPC_PAGE_MAX]; /* ascending, each once */
};

struct tide_rpc_page_request {
    uint32_t start, limit; /* ledgers */
};

/* The largest answer with one ledger: base64 makes four bytes of three, and the header and names
 * beside it are small. */
#define TIDE_RPC_LEDGER_ANSWER_BYTES ((TIDE_LEDGER_BYTES_MAX + 2u) / 3u * 4u + (64u << 10))

/* Reads ledgers. The answer may have object_max_mib, and with one ledger at least
 * TIDE_RPC_LEDGER_ANSWER_BYTES, because a smaller page cannot be requested. */
tide_status tide_rpc_client_page(struct tide_rpc_client *client,
                                 const struct tide_rpc_page_request *request,
                                 struct tide_rpc_page *out, struct tide_buf *body,
                                 struct tide_err *err) TIDE_MUST_USE;

/* A server's word about one ledger, and the range that it has. */
struct tide_rpc_one {
    uint32_t oldest, latest; /* 0: not told */
    bool given;              /* the server gave the ledger */
    uint8_t hash[TIDE_HASH_BYTES];
};
/* TIDE_OK also after an error of JSON-RPC: it may tell the range. */
tide_status tide_rpc_client_one(struct tide_rpc_client *client, uint32_t ledger,
                                struct tide_rpc_one *out, struct tide_err *err) TIDE_MUST_USE;

struct tide_rpc_event {
    uint32_t ledger;
    tide_slice id, contract, transaction; /* texts; transaction is the hash in hex */
    uint32_t topic_count;
    tide_slice topics[TIDE_RPC_TOPICS_MAX]; /* XDR */
    tide_slice value;                       /* XDR */
};

struct tide_rpc_events {
    uint32_t count;
    char cursor[64];
    /* Called with each event in order; set by the caller. Any status but TIDE_OK ends the reading
     * and is returned. */
    tide_status (*each)(void *self, const struct tide_rpc_event *event, struct tide_err *err);
    void *self;
    tide_status status; /* result of `each`, with its reason */
    struct tide_err why;
};

struct tide_rpc_events_request {
    uint32_t start, end; /* ledgers; end is exclusive; both 0 with a cursor */
    const char *cursor;  /* NULL: begin at ledger start */
    const char *filters; /* JSON: [{"contractIds":["C…"]}] */
    uint32_t limit;
};

tide_status tide_rpc_client_events(struct tide_rpc_client *client,
                                   const struct tide_rpc_events_request *request,
                                   struct tide_rpc_events *out, struct tide_err *err) TIDE_MUST_USE;

#endif
