/* The HTTP server, over libmicrohttpd. No file outside this folder includes that library.
 *
 * Threads    api_threads workers, each with its own listening socket (SO_REUSEPORT), daemon, loop
 *            and reader of the hot cache. A connection stays with its worker.
 * Routes     Handlers of class HOT and LOCAL run on the worker. SQL routes, and HOT ones with
 *            ?ledger=, are suspended and go to the worker pool. If its queue is full, the answer is
 *            503 at once.
 * Rejected   First faults in the form (request_check.h), then those that tide_route_match finds,
 *            then requests over the rate limit (rate.h).
 * Deadlines  Absolute: a client that sends byte by byte gains no time.
 * Stopping   drain: /readyz answers 503, nothing else changes. stop: no new connection is accepted,
 *            open ones get their answer and "Connection: close". No request is lost.
 * Streams    A handler of kind STREAM fills reply->stream; see below. */
#ifndef API_HTTP_SERVER_SERVER_H
#define API_HTTP_SERVER_SERVER_H

#include "api/http/route.h"
#include "api/http/server/metrics.h"
#include "tidemark/clock.h"
#include "tidemark/config.h"

#define TIDE_SERVER_STOP_MS 10000 /* time after which a stop cuts all connections still open */

struct tide_server;

#define SERVER_NETWORK_BYTES 160

/* The state that each thread of the server holds for handlers (tide_handler_context.thread). */
struct tide_server_thread_calls {
    tide_status (*open)(void **thread, struct tide_api *api, struct tide_err *err);
    void (*close)(void *thread); /* NULL is allowed */
    /* Writes the value of the header Network, or leaves out empty while it is unknown. On that
     * thread, ten times a second. */
    void (*network)(void *thread, char out[SERVER_NETWORK_BYTES]);
};

struct tide_server_options {
    const struct tide_config *config;
    const struct tide_clock *clock;
    struct tide_api *api; /* passed to handlers */
    const struct tide_route_table *routes;
    const struct tide_executor *executors; /* indexed by tide_route_class.executor */
    const struct tide_server_thread_calls *thread;
    struct tide_key_check keys; /* check == NULL: X-API-Key is ignored */
};

/* Binds and listens as the configuration's group "api" says. Accepts no connection yet. Fails
 * with TIDE_E_CONFIG, TIDE_E_IO or TIDE_E_MEMORY. The objects that options points at must
 * outlive the server. */
tide_status tide_server_open(struct tide_server **out, const struct tide_server_options *options,
                             struct tide_err *err) TIDE_MUST_USE;
/* Starts the workers and the encoder. On failure call tide_server_close. */
tide_status tide_server_start(struct tide_server *server, struct tide_err *err) TIDE_MUST_USE;
/* Makes /readyz answer 503. Any thread. */
void tide_server_drain(struct tide_server *server);
/* Stops the workers. Returns when all requests are answered, or after TIDE_SERVER_STOP_MS. The
 * worker pool must still run. Streams must have ended (their read returns -1); others are cut. */
void tide_server_stop(struct tide_server *server);
void tide_server_close(struct tide_server *server);

uint16_t tide_server_port(const struct tide_server *server);
/* Returns the version of libmicrohttpd at run time, "0.9.75". Static. */
const char *tide_server_library(void);
bool tide_server_draining(const struct tide_server *server);
/* Observes the workers, for the thread that opened the server: between start and stop, at least
 * twice a second. Returns whether a worker makes no progress although its connections were cut. The
 * program must then stop with TIDE_E_STALLED; if the stop does not end, tide_server_stop ends the
 * process with that exit code. */
bool tide_server_observe(struct tide_server *server);
/* Returns what the last observation did. Any thread. */
bool tide_server_stalled(const struct tide_server *server);
/* Fills out, except routes and route_max, which the caller sets. Any thread. */
void tide_server_metrics(struct tide_server *server, struct tide_metrics *out);

/* --- streams ----------------------------------------------------------------------------------
 *
 * The handler of a STREAM route runs on the worker and must not wait. It writes a problem, or
 * subscribes somewhere and sets reply->stream (api/http/reply.h):
 *
 *   read(self, to, max)  on the worker: returns the bytes written, 0 if none now, -1 at the end
 *   close(self)          on the worker, once: the client is gone, or read returned -1
 *
 * After a 0 the stream sleeps until tide_server_wake(context->wake). wake may be called any number
 * of times, by any thread, with any lock held, also while read runs: no wake-up is lost. The handle
 * is valid from the handler's call until close() returns. A stream without a wake-up sleeps for
 * ever: its source sends the heartbeats. The write deadline (twice api_idle_ms) applies while bytes
 * wait for a client that does not read. Answers are chunked, with the reply's Content-Type. */
void tide_server_wake(struct tide_wake *wake);

#endif
