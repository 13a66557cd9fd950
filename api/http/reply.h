/* A reply: a handler fills it, the server sends it. */
#ifndef API_HTTP_REPLY_H
#define API_HTTP_REPLY_H

#include "api/http/encoding.h"
#include "tidemark/buf.h"

#include <stddef.h>

#define TIDE_REPLY_BODY_MAX (8u << 20) /* bytes of one answer's body */
#define TIDE_PROBLEM_FIELDS 16u        /* invalid fields that one problem names */

/* The ledger as of which an answer is true. known is false for answers that concern no ledger
 * (documents, 404 of a path). age_ms: since the newest sign of the indexer (age.h); 0 for
 * ?ledger=N. proven: last ledger proven by signatures of validators; 0: none.
 * history_from: what is told of the past begins with this ledger; 0: there is no such limit. */
struct tide_answer_at {
    bool known;
    uint32_t ledger;
    uint64_t closed_ms; /* unix milliseconds */
    uint64_t age_ms;
    uint32_t proven;
    uint32_t history_from;
};

/* The source of a stream's bytes: see api/http/server/server.h. */
struct tide_stream_out {
    ptrdiff_t (*read)(void *self, char *to, size_t max);
    void (*close)(void *self);
    void *self;
};

/* A file instead of a body: its first size bytes. The reply owns the descriptor and closes it. */
struct tide_reply_file {
    uint64_t size; /* 0: none */
    int fd;
};

/* A reply. A handler fills body and at; for a plain JSON answer the rest stays as
 * tide_reply_init leaves it. The server adds header lines, CORS, Request-Id, ETag and rate
 * fields. */
struct tide_reply {
    uint16_t status;
    struct tide_buf body; /* at most TIDE_REPLY_BODY_MAX; its memory is kept between requests */
    /* The ETag covers the body from here on; the part before names the ledger as of which the
     * content is true */
    size_t content_from;
    tide_slice fixed; /* if ptr is not NULL: static bytes of this route, sent instead of body */
    /* The bytes of fixed in other codings; empty: not available */
    tide_slice encoded[TIDE_ENCODING_COUNT];
    const char *content_type;  /* static; NULL: application/json; charset=utf-8     */
    const char *cache_control; /* static; NULL: as route.def says                   */
    uint32_t retry_after_s;    /* 0: none                                           */
    char allow[64];            /* for a 405: the methods of the path, "GET, HEAD" */
    struct tide_answer_at at;
    uint8_t etag[16]; /* if has_etag: stands for the content, instead of a digest of the body */
    bool has_etag;
    uint32_t field_count;
    const char *security_policy; /* static; NULL: default-src 'none' and no frames */
    struct tide_buf lines;       /* set by tide_reply_header */
    /* For STREAM routes, if read is not NULL: sent instead of body */
    struct tide_stream_out stream;
    struct tide_reply_file file;
};

/* Initialises a reply, once. */
void tide_reply_init(struct tide_reply *reply);
/* Resets for the next request; keeps the buffers' memory */
void tide_reply_reset(struct tide_reply *reply);
void tide_reply_release(struct tide_reply *reply);

/* Adds a header line. If the server has one of that name, it is replaced; an empty value removes
 * it. The texts are copied. tide_reply_problem discards these lines. */
void tide_reply_header(struct tide_reply *reply, const char *name, const char *value);
/* Returns the value that the handler set for name, or NULL. */
const char *tide_reply_header_of(const struct tide_reply *reply, const char *name);

/* Makes the reply a problem (RFC 9457): status, a stable code in snake case (the type is
 * "urn:tidemark:problem:CODE"), and a sentence for a person. Discards a body written before. */
void tide_reply_problem(struct tide_reply *reply, uint16_t status, const char *code,
                        const char *detail, ...) TIDE_PRINTF(4, 5);
/* Adds an invalid field to the problem. where: a JSON Pointer into the body ("/addresses/3"; ""
 * is the whole body), "?name" of the query, or "{name}" of the path. Fields beyond
 * TIDE_PROBLEM_FIELDS are only counted. */
void tide_reply_problem_field(struct tide_reply *reply, const char *where, const char *detail);
/* Adds a member of the body that the route does not know. A name that may be a secret is not
 * repeated: the pointer is then "". */
void tide_reply_problem_unknown(struct tide_reply *reply, const char *name);

#endif
