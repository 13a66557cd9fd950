/* The HTTP server: libmicrohttpd, which only the files of this folder know.
 *
 * Threads    api_threads workers, each with a listening socket (SO_REUSEPORT), a daemon, a loop and
 *            a reader of the hot cache of its own. A connection stays with its worker.
 * Routes     HOT and LOCAL handlers run on the worker. SQL routes, and HOT ones with ?ledger=, are
 *            suspended and go to the pool; when its queue is full the answer is 503 at once.
 * Refused    what request_check.h finds in the form, before a route is looked for; then
 *            what tide_route_match finds; then what is over the rate limit (rate.h).
 * Deadlines  absolute: a client that drips bytes gains nothing.
 * Stopping   drain: /readyz says 503 and nothing else changes. stop: no new connection is accepted,
 *            open ones get their answer and "Connection: close". No request is lost.
 * Streams    a handler of kind STREAM fills reply->stream; see below. */
#ifndef API_HTTP_SERVER_SERVER_H
#define API_HTTP_SERVER_SERVER_H

#include "api/http/key.h"
#include "api/http/route.h"
#include "api/http/server/metrics.h"
#include "tidemark/clock.h"
#include "tidemark/config.h"

#define TIDE_SERVER_STOP_MS 10000 /* then what is still open is cut */

struct tide_server;

#define SERVER_NETWORK_BYTES 160

/* State that each of the server's threads keeps for handlers (tide_handler_context.thread). */
struct tide_server_thread_calls {
    tide_status (*open)(void **thread, struct tide_api *api, struct tide_err *err);
    void (*close)(void *thread); /* NULL is fine */
    /* Value of the header Network; leaves "" while it is not known. On that thread, ten times a
     * second. */
    void (*network)(void *thread, char out[SERVER_NETWORK_BYTES]);
};

struct tide_server_options {
    const struct tide_config *config;
    const struct tide_clock *clock;
    struct tide_api *api; /* handed to handlers */
    const struct tide_route_table *routes;
    const struct tide_executor *executors; /* by tide_route_class.executor */
    const struct tide_server_thread_calls *thread;
    struct tide_key_check keys; /* check NULL: X-API-Key is ignored */
};

/* Binds and listens as the configuration says (group "api"); accepts no connection yet. What
 * options points at outlives the server. */
tide_status tide_server_open(struct tide_server **out, const struct tide_server_options *options,
                             struct tide_err *err) TIDE_MUST_USE;
/* Starts the workers. */
tide_status tide_server_start(struct tide_server *server, struct tide_err *err) TIDE_MUST_USE;
void tide_server_drain(struct tide_server *server);
/* Returns when all is answered, or after TIDE_SERVER_STOP_MS. The pool must still run; streams must
 * have been told to end (their read says -1), or they are cut. */
void tide_server_stop(struct tide_server *server);
void tide_server_close(struct tide_server *server);

uint16_t tide_server_port(const struct tide_server *server);
/* The version of the libmicrohttpd that runs, "0.9.75". Static. */
const char *tide_server_library(void);
bool tide_server_draining(const struct tide_server *server);
/* A worker makes no progress, and cutting its connections did not help: the program is to stop with
 * TIDE_E_STALLED. If it does not, the server ends the process with that exit code. Any thread. */
bool tide_server_stalled(const struct tide_server *server);
/* Any thread; routes and route_max are the caller's, the rest is filled. */
void tide_server_metrics(struct tide_server *server, struct tide_metrics *out);

/* --- streams ----------------------------------------------------------------------------------
 *
 * The handler of a STREAM route runs on the worker and may not wait. Either it writes a problem, or
 * it subscribes somewhere and sets reply->stream (api/http/reply.h):
 *
 *   read(self, to, max)  on the worker: bytes written, 0 when there are none now, -1 at the end
 *   close(self)          on the worker, once: the client is gone, or read said -1
 *
 * After a 0 the stream sleeps until tide_server_wake(context->wake). wake may be called any number
 * of times, by any thread, while holding any lock, also while read runs: none is lost, the handle
 * is good from the handler's call until close() returns. A stream without a wake-up sleeps for
 * ever: heartbeats are the source's. The write deadline (api_write_ms) applies while bytes wait for
 * a client that does not read. Answers are chunked; Content-Type is the reply's. */
void tide_server_wake(struct tide_wake *wake);

#endif
