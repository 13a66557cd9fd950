/* The one HTTP client: a request, an answer, and limits on both. Nothing else talks to libcurl.
 *
 * Limits   connecting, the whole exchange, and a body that trickles each have an end; a body
 *          larger than its buffer's ceiling is refused before it is kept.
 * TLS      https verifies the server's certificate and name, and never falls back to plain
 *          text. A redirect is followed only where a request says so, and only within its
 *          scheme.
 * Secrets  no message of this file holds a URL, a header or a body: who calls adds a name that
 *          may be shown.
 * Threads  a client is for one thread at a time; it keeps its connections alive between calls.
 *          Clients of different threads have nothing in common. */
#ifndef TIDEMARK_HTTP_H
#define TIDEMARK_HTTP_H

#include "tidemark/buf.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

struct tide_http; /* opaque: one client with its connections */

struct tide_http_options {
    const char *agent;   /* User-Agent, borrowed while the client lives */
    const char *ca_file; /* PEM of who may sign certificates; NULL or "": the system's list */
    uint32_t connect_ms; /* give up on connecting, TLS included */
    uint32_t timeout_ms; /* give up on an exchange, however it goes */
    uint32_t stall_s;    /* give up when fewer than 1000 bytes a second come for this long */
    /* For addresses that a client chose: connects to public addresses alone, each checked when it
     * is connected to, whatever the name resolved to before; through no proxy. */
    bool public_only;
};

enum tide_http_method { TIDE_HTTP_GET, TIDE_HTTP_HEAD, TIDE_HTTP_POST };

enum { TIDE_HTTP_HEADERS_MAX = 8, TIDE_HTTP_ERROR_BYTES = 64 << 10, TIDE_HTTP_TYPE_BYTES = 64 };

struct tide_http_request {
    enum tide_http_method method;
    const char *url;            /* http:// or https://; its path goes out as it is written */
    const char *const *headers; /* "Name: value", ended by NULL; NULL: none. At most
                                 * TIDE_HTTP_HEADERS_MAX */
    tide_slice body;            /* of a POST; borrowed during the call */
    bool follow;                /* up to 3 redirects; not together with headers or a body */
    uint32_t timeout_ms;        /* instead of the client's; 0: the client's */
    /* Asked before the body's buffer grows to total bytes; false ends the call. May be NULL. */
    bool (*room)(void *self, size_t total);
    /* Asked at least once a second; true ends the call with TIDE_E_STOPPED. May be NULL. */
    bool (*cancelled)(void *self);
    void *self;
};

/* The answer of one exchange. */
struct tide_http_answer {
    uint32_t code;     /* HTTP status; 0: none came */
    uint32_t after_ms; /* Retry-After, up to an hour; 0: not said */
    bool again;        /* the same request may succeed later */
    bool no_room;      /* room said no */
    bool connected;    /* over a connection that was made for this call */
    bool forbidden;    /* public_only: its name stands for an address that is not public */
    char type
        [TIDE_HTTP_TYPE_BYTES]; /* Content-Type in lower case, no parameters; "": none, or long */
};

/* TIDE_E_MEMORY; TIDE_E_CONFIG when ca_file cannot be read. */
tide_status tide_http_open(struct tide_http **out, const struct tide_http_options *options,
                           struct tide_err *err) TIDE_MUST_USE;
void tide_http_close(struct tide_http *http); /* NULL is fine */

/* One exchange. The body is appended to *body (NULL: thrown away), up to its ceiling; that of an
 * answer other than 200 up to TIDE_HTTP_ERROR_BYTES, and not at all where room is set. Its
 * capacity is kept, so one buffer serves many calls.
 * TIDE_OK         a whole answer came: answer->code says which
 * TIDE_E_IO       none did, or room said no; answer->again, answer->no_room
 * TIDE_E_LIMIT    its body is larger than the buffer's ceiling
 * TIDE_E_STOPPED  cancelled said so
 * TIDE_E_CONFIG   url is no address of a web server
 * TIDE_E_MEMORY */
tide_status tide_http_call(struct tide_http *http, const struct tide_http_request *request,
                           struct tide_buf *body, struct tide_http_answer *answer,
                           struct tide_err *err) TIDE_MUST_USE;

/* "https://host:port" of url into out, for messages: neither path nor query, where keys hide. */
void tide_http_name(char *out, size_t size, const char *url);

#endif
