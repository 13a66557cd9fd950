/* Reads the answers of a Stellar RPC server that the indexer uses, directly in the received body.
 *
 * Strict      no HTML, no second value, no answer to another request, no field of another type.
 *             Unknown fields, their order and white space do not matter.
 * Memory      none of its own: a ledger's bytes are decoded within the body. The body is
 *             overwritten and must stay valid as long as they are used.
 * Errors      an error of JSON-RPC is an answer, too: TIDE_OK with error->code not 0. Its id may be
 *             null or missing: a gateway does not read the request.
 *             TIDE_E_DECODE for everything else; err names the fault and its byte. */
#ifndef INDEXER_SOURCE_RPC_ANSWER_H
#define INDEXER_SOURCE_RPC_ANSWER_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

enum { RPC_PAGE_MAX = 200, RPC_TEXT_MAX = 256, RPC_TOPICS_MAX = 4 };

/* JSON-RPC error codes after which a later attempt may succeed. */
enum { RPC_E_INTERNAL = -32603, RPC_E_REQUEST = -32600, RPC_E_PARAMS = -32602 };

struct rpc_error {
    int64_t code; /* 0: no error */
    char message[RPC_TEXT_MAX];
    uint32_t oldest, latest; /* the server's range if the message contains it, else 0, 0 */
};

struct rpc_ledger {
    uint32_t sequence; /* sequence of the field and of the ledger's own header, which agree */
    uint8_t hash[TIDE_HASH_BYTES];
    uint8_t previous[TIDE_HASH_BYTES]; /* previous hash in its header */
    /* the ledger has a version newer than this build: previous is unknown and nothing is checked */
    bool unknown;
    tide_slice lcm; /* LedgerCloseMeta; borrows from the body */
};

struct rpc_page {
    struct rpc_error error;
    uint32_t latest, oldest; /* range of the server; latest 0: not reported */
    uint32_t count;
    struct rpc_ledger ledgers[RPC_PAGE_MAX]; /* ascending, each once */
};

/* Reads an answer of getLedgers. A ledger that occurs twice is stored once if both agree. */
tide_status rpc_answer_page(struct rpc_page *out, uint8_t *body, size_t len, uint64_t id,
                            struct tide_err *err) TIDE_MUST_USE;

struct rpc_network {
    struct rpc_error error;
    char passphrase[RPC_TEXT_MAX];
};

tide_status rpc_answer_network(struct rpc_network *out, uint8_t *body, size_t len, uint64_t id,
                               struct tide_err *err) TIDE_MUST_USE;

struct rpc_latest {
    struct rpc_error error;
    uint32_t sequence;
    uint8_t hash[TIDE_HASH_BYTES];
};

/* Reads an answer of getLatestLedger. */
tide_status rpc_answer_latest(struct rpc_latest *out, uint8_t *body, size_t len, uint64_t id,
                              struct tide_err *err) TIDE_MUST_USE;

struct rpc_event {
    uint32_t ledger;
    tide_slice id, contract, transaction; /* texts; transaction is the hash in hex */
    uint32_t topic_count;
    tide_slice topics[RPC_TOPICS_MAX]; /* XDR */
    tide_slice value;                  /* XDR */
};

struct rpc_events {
    struct rpc_error error;
    uint32_t count;
    char cursor[64];
    /* Called with each event in order. Any status but TIDE_OK ends the reading and is returned. */
    tide_status (*each)(void *self, const struct rpc_event *event, struct tide_err *err);
    void *self;
};

/* Reads an answer of getEvents. The caller sets out->each and out->self before. */
tide_status rpc_answer_events(struct rpc_events *out, uint8_t *body, size_t len, uint64_t id,
                              struct tide_err *err) TIDE_MUST_USE;

#endif
