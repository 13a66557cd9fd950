/* What goes out: a handler fills a reply, the server sends it. */
#ifndef API_HTTP_REPLY_H
#define API_HTTP_REPLY_H

#include "api/http/encoding.h"
#include "tidemark/buf.h"

#include <stddef.h>

#define TIDE_REPLY_BODY_MAX (8u << 20) /* bytes of one answer           */
#define TIDE_PROBLEM_FIELDS 16u        /* bad fields named in one answer */

/* The ledger an answer is true at. known false: the answer is about no ledger (documents, 404 of a
 * path). age_ms is since the indexer was last heard of (age.h); 0 for ?ledger=N. */
struct tide_answer_at {
    bool known;
    uint32_t ledger;
    uint64_t close_time; /* unix seconds */
    uint64_t age_ms;
};

/* Where the bytes of a stream come from: see api/http/server/server.h. */
struct tide_stream_out {
    ptrdiff_t (*read)(void *self, char *to, size_t max);
    void (*close)(void *self);
    void *self;
};

/* A file instead of a body: its first size bytes. The reply owns and closes the descriptor. */
struct tide_reply_file {
    uint64_t size; /* 0: none */
    int fd;
};

/* What goes out. A handler fills body, and at; the rest is right as tide_reply_init leaves it for a
 * plain JSON answer. Header lines, CORS, Request-Id, ETag and rate fields are the server's. */
struct tide_reply {
    uint16_t status;
    struct tide_buf body; /* ceiling TIDE_REPLY_BODY_MAX; kept between requests */
    size_t content_from;  /* ETag is of body from here on: what stands before says at which
                                  ledger that content is true */
    tide_slice fixed;     /* ptr not NULL: static bytes of this route, sent instead of body */
    tide_slice encoded[TIDE_ENCODING_COUNT]; /* the same bytes in other codings; empty: none     */
    const char *content_type;                /* static; NULL: application/json; charset=utf-8     */
    const char *cache_control;               /* static; NULL: as route.def says                   */
    uint32_t retry_after_s;                  /* 0: none                                           */
    char allow[64];                          /* of a 405: the methods of the path, "GET, HEAD"    */
    struct tide_answer_at at;
    uint8_t etag[16]; /* with has_etag: names the content, instead of a digest of it */
    bool has_etag;
    uint32_t field_count;
    const char *security_policy;   /* static; NULL: default-src 'none' and no frames */
    struct tide_buf lines;         /* of tide_reply_header */
    struct tide_stream_out stream; /* of kind STREAM, read not NULL: instead of body */
    struct tide_reply_file file;
};

void tide_reply_init(struct tide_reply *reply);  /* once  */
void tide_reply_reset(struct tide_reply *reply); /* per request; keeps memory */
void tide_reply_release(struct tide_reply *reply);

/* One more header line, or instead of the server's own of that name; value "": none of that name.
 * Texts are copied. A problem drops them. */
void tide_reply_header(struct tide_reply *reply, const char *name, const char *value);
/* The value that was set for name, NULL when none was. */
const char *tide_reply_header_of(const struct tide_reply *reply, const char *name);

/* Makes the reply a problem (RFC 9457): status, a stable code in snake case (its type is
 * "urn:tidemark:problem:CODE"), and a sentence for the person. Drops a body written before. */
void tide_reply_problem(struct tide_reply *reply, uint16_t status, const char *code,
                        const char *detail, ...) TIDE_PRINTF(4, 5);
/* Adds a bad field to the problem: where is a JSON Pointer into the body ("/addresses/3"; "" is all
 * of it), or "?name" of a query, or "{name}" of the path. Beyond TIDE_PROBLEM_FIELDS they are
 * counted only. */
void tide_reply_problem_field(struct tide_reply *reply, const char *where, const char *detail);
/* The same for a member of the body that the route does not know. A name that may be a secret is
 * not repeated: the pointer is "" then. */
void tide_reply_problem_unknown(struct tide_reply *reply, const char *name);

#endif
