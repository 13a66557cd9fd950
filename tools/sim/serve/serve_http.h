/* The simulator's HTTP server: one thread per connection, so that a fault may block one.
 * For development: no TLS, no host names, a limit on connections.
 *
 * Flow     serve_http_open starts it, serve_http_close ends all waiting and joins. */
#ifndef SIM_SERVE_HTTP_H
#define SIM_SERVE_HTTP_H

#include "tidemark/buf.h"
#include "tidemark/status.h"

enum { SERVE_CONNECTIONS_MAX = 256 };

/* Borrowed for the call. */
struct serve_request {
    const char *method;
    const char *path;         /* without the query */
    const char *addr;         /* of the query; NULL: not there */
    const char *content_type; /* NULL: none */
    const char *origin;       /* NULL: none; a browser sends one */
    tide_slice body;
    bool too_large; /* more than the body's ceiling; body is empty then */
    bool loopback;  /* from this machine */
};

/* How the answer goes out. */
enum serve_shape {
    SERVE_WHOLE,
    SERVE_HANG,    /* never                                            */
    SERVE_CLOSE,   /* the connection is cut without a byte             */
    SERVE_SILENCE, /* headers, then nothing                            */
    SERVE_DRIP,    /* a byte a second                                  */
    SERVE_CUT,     /* cut after `number` bytes of the body             */
    SERVE_LONG,    /* Content-Length is `number` too much              */
    SERVE_PADDED,  /* `number` bytes of spaces behind the body         */
};

struct serve_reply {
    unsigned status;
    const char *type;     /* Content-Type, static; NULL: none */
    const char *allow;    /* Allow, static; NULL: none        */
    bool open;            /* to pages of any origin              */
    uint32_t retry_after; /* 0: none */
    struct tide_buf body; /* open; taken over */
    enum serve_shape shape;
    uint64_t number;
};

struct serve_http_options {
    const char *host; /* 127.0.0.1, ::1, localhost, or another with public */
    uint16_t port;    /* 0: any that is free */
    bool public;      /* may listen beyond loopback */
    size_t body_max;  /* of a request */
    void *self;
    /* Any number of threads at once. */
    void (*handle)(void *self, const struct serve_request *request, struct serve_reply *reply);
};

struct serve_http;

/* TIDE_E_USAGE: an address that is none, or beyond loopback without leave; TIDE_E_IO. */
tide_status serve_http_open(struct serve_http **out, const struct serve_http_options *options,
                            struct tide_err *err) TIDE_MUST_USE;
uint16_t serve_http_port(const struct serve_http *http);
/* Sleeps; returns early when stopped. */
void serve_http_pause(struct serve_http *http, uint64_t ms);
void serve_http_close(struct serve_http *http);

#endif
