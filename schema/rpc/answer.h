/* Reads an answer of Stellar RPC by the shape that its question gives. */
#ifndef SCHEMA_RPC_ANSWER_H
#define SCHEMA_RPC_ANSWER_H

#include "schema/rpc/json_scan.h"
#include "tidemark/rpc.h"

struct tide_rpc_question {
    const char *method;
    const struct json_scan_member *members; /* members of the result */
    size_t member_count;
    const char *lacks; /* the fault without a needed member */
    size_t cleared;    /* bytes of the answer's struct that are zeroed before */
    void (*check)(struct json_scan *s, void *out); /* checks the members together; or NULL */
};

/* The questions of tide_rpc_client_page and tide_rpc_client_events. */
extern const struct tide_rpc_question tide_rpc_ledgers_question, tide_rpc_events_question;

/* Returns the bytes that an answer may have if its caller gives no buffer. */
size_t tide_rpc_answer_bytes_max(const struct tide_rpc_client *client);

/* Reads the answer to request `id` within the body, which is overwritten. An error of JSON-RPC is
 * an answer, too: TIDE_OK with error->code not 0. Its id may be null or missing: a gateway does not
 * read the request. TIDE_E_DECODE for everything else; err names the fault and its byte, and out is
 * zeroed. */
tide_status tide_rpc_answer_read(const struct tide_rpc_question *question,
                                 struct tide_rpc_error *error, void *out, uint8_t *body, size_t len,
                                 uint64_t id, struct tide_err *err) TIDE_MUST_USE;

#endif
