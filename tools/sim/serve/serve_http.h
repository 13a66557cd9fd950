/* The simulator's HTTP server: one thread for each connection, so that a fault may block one. The
 * server is for development: no TLS, no host names, a limit on connections.
 *
 * Use      serve_http_open starts the threads; serve_http_close ends their waits and joins them. */
#ifndef SIM_SERVE_HTTP_H
#define SIM_SERVE_HTTP_H

#include "tidemark/buf.h"
#include "tidemark/status.h"

/* A request. The strings are valid during the callback. */
struct serve_request {
    const char *method;
    const char *path;         /* without the query */
    const char *addr;         /* parameter addr of the query; NULL: absent */
    const char *content_type; /* NULL: absent */
    const char *origin;       /* Origin, which browsers send; NULL: absent */
    tide_slice body;
    bool too_large; /* the body is larger than body_max, and given as empty */
    bool loopback;  /* the client is on this machine */
};

/* The ways to send an answer. */
enum serve_shape {
    SERVE_WHOLE,
    SERVE_HANG,    /* no answer at all */
    SERVE_CLOSE,   /* the connection is closed without a byte */
    SERVE_SILENCE, /* headers, then no more */
    SERVE_DRIP,    /* one byte a second */
    SERVE_CUT,     /* the connection is closed after `number` bytes of the body */
    SERVE_LONG,    /* Content-Length is `number` bytes too great */
    SERVE_PADDED,  /* `number` spaces follow the body */
};

/* An answer. */
struct serve_reply {
    unsigned status;
    const char *type;     /* Content-Type, static text; NULL: none */
    const char *allow;    /* Allow, static text; NULL: none */
    bool open;            /* pages of any origin may read the answer */
    uint32_t retry_after; /* Retry-After in seconds; 0: none */
    struct tide_buf body; /* opened by the callback's caller, which also frees it */
    enum serve_shape shape;
    uint64_t number; /* argument of shape */
};

/* Options of the server. */
struct serve_http_options {
    const char *host; /* 127.0.0.1, ::1, localhost; with public also another address */
    uint16_t port;    /* 0: any free port */
    bool public;      /* may listen on addresses that other machines reach */
    size_t body_max;  /* greatest body of a request, bytes */
    void *self;
    /* Answers a request. Called by many threads at once. */
    void (*handle)(void *self, const struct serve_request *request, struct serve_reply *reply);
};

struct serve_http;

/* Opens the server. Returns TIDE_E_USAGE if host is no address, or one that needs public; TIDE_E_IO
 * if it cannot listen. */
tide_status serve_http_open(struct serve_http **out, const struct serve_http_options *options,
                            struct tide_err *err) TIDE_MUST_USE;
/* Returns the port that the server listens on. */
uint16_t serve_http_port(const struct serve_http *http);
/* Sleeps; returns early when the server is being closed. */
void serve_http_pause(struct serve_http *http, uint64_t ms);
/* Accepts NULL. */
void serve_http_close(struct serve_http *http);

#endif
