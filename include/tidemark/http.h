/* The only HTTP client of the project: a request, an answer, and limits on both. No other file uses
 * libcurl.
 *
 * Limits   connecting, the whole exchange, and a slow body each have a time limit. A body larger
 *          than its buffer's maximum is refused before it is stored.
 * TLS      https verifies the server's certificate and name, and never falls back to plain text. A
 *          redirect is followed only if the request allows it, and only within the same scheme.
 * Secrets  no error text of this file contains a URL, a header or a body. The caller adds a name
 *          that may be shown.
 * Threads  one thread at a time uses a client, which keeps its connections alive between calls.
 *          Clients share nothing. */
#ifndef TIDEMARK_HTTP_H
#define TIDEMARK_HTTP_H

#include "tidemark/buf.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

struct tide_config;
struct tide_http; /* opaque: one client with its connections */

struct tide_http_options {
    const char *agent;   /* User-Agent, borrowed while the client lives */
    const char *ca_file; /* PEM of trusted certification authorities; NULL or "": the system's */
    uint32_t connect_ms; /* time limit for connecting, TLS included */
    uint32_t timeout_ms; /* time limit for the whole exchange */
    uint32_t stall_s;    /* give up if fewer than 1000 bytes a second arrive for this long */
    /* Set for URLs that a client chose. The client then connects to public addresses only and uses
     * no proxy. Each address is checked at the time of connecting, so a changed DNS answer is no
     * way around. */
    bool public_only;
};

enum tide_http_method { TIDE_HTTP_GET, TIDE_HTTP_HEAD, TIDE_HTTP_POST };

enum { TIDE_HTTP_HEADERS_MAX = 8, TIDE_HTTP_ERROR_BYTES = 64 << 10, TIDE_HTTP_TYPE_BYTES = 64 };

struct tide_http_request {
    enum tide_http_method method;
    const char *url;            /* http:// or https://; the path is sent unchanged */
    const char *const *headers; /* "Name: value", ended by NULL; NULL: none. At most
                                 * TIDE_HTTP_HEADERS_MAX */
    tide_slice body;            /* body of a POST; borrowed during the call */
    bool follow;                /* up to 3 redirects; not together with headers or a body */
    uint32_t timeout_ms;        /* limit of this request; 0: the client's limit applies */
    /* Called before the body's buffer grows to `total` bytes. If it returns false, the call ends.
     * May be NULL. */
    bool (*room)(void *self, size_t total);
    /* Takes the body of an answer 200 in pieces, instead of a buffer, which must be NULL. If it
     * returns another status than TIDE_OK, the call ends with that status. The caller limits the
     * length, and nothing is repeated: what a broken answer gave stays given. May be NULL. */
    tide_status (*piece)(void *self, tide_slice bytes);
    /* With piece: ask for the body from this byte on. piece then takes that of an answer 206 which
     * begins there. Another 206, and a 200, end the call with TIDE_E_IO. 0: the whole body. */
    uint64_t from;
    /* Called at least once a second. If it returns true, the call ends with TIDE_E_STOPPED. May be
     * NULL. */
    bool (*cancelled)(void *self);
    void *self;
};

/* The answer of one exchange. */
struct tide_http_answer {
    uint32_t code;     /* HTTP status; 0: no answer came */
    uint32_t after_ms; /* ms of Retry-After, at most an hour; 0: not given */
    bool again;        /* the same request may succeed later */
    bool no_room;      /* room() returned false */
    bool elsewhere;    /* the body would have begun at another byte than request->from */
    bool connected;    /* this call opened a new connection */
    bool reached;      /* a connection to the server stood */
    bool forbidden;    /* public_only is set and the host has an address that is not public */
    /* Content-Type in lower case, without parameters; "": none, or too long */
    char type[TIDE_HTTP_TYPE_BYTES];
};

/* Returns the options of the settings http_*. Connecting may take a twelfth of http_timeout_ms, and
 * a slow body is given up after a sixth. */
struct tide_http_options tide_http_configured(const struct tide_config *config, const char *agent);
/* Opens a client. TIDE_E_MEMORY, or TIDE_E_CONFIG if ca_file cannot be read. */
tide_status tide_http_open(struct tide_http **out, const struct tide_http_options *options,
                           struct tide_err *err) TIDE_MUST_USE;
void tide_http_close(struct tide_http *http); /* NULL is allowed */

/* Makes one request and reads its answer. The body is appended to *body up to the buffer's maximum;
 * NULL discards it. Of an answer other than 200 at most TIDE_HTTP_ERROR_BYTES are appended, and
 * none if request->room is set. The buffer keeps its capacity, so one buffer serves many calls.
 * TIDE_OK         a whole answer came; answer->code is its status
 * TIDE_E_IO       no answer came, or room() returned false: see answer->again, answer->no_room
 * TIDE_E_LIMIT    the body is larger than the buffer's maximum
 * TIDE_E_STOPPED  cancelled() returned true
 * TIDE_E_CONFIG   url is no valid http or https URL
 * TIDE_E_MEMORY
 * or what request->piece returned */
tide_status tide_http_call(struct tide_http *http, const struct tide_http_request *request,
                           struct tide_buf *body, struct tide_http_answer *answer,
                           struct tide_err *err) TIDE_MUST_USE;

/* Writes "https://host:port" of url, for messages. Path and query are left out: they may contain
 * keys. */
void tide_http_name(char *out, size_t size, const char *url);

#endif
