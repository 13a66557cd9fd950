/* From a complete request to its reply, and the end of the request. */
#ifndef API_HTTP_SERVER_RUN_H
#define API_HTTP_SERVER_RUN_H

#include "api/http/route.h"

struct server_conn;

struct server_run {
    struct tide_job job; /* an executor's */
    bool asked_again;    /* the library was already given one more call before the job starts */
};

/* Returns the executor that runs the request's handler, or NULL if the worker runs it. */
const struct tide_executor *server_executor_of(const struct server_conn *conn);
/* Returns whether server_request_run will hand the request to an executor. */
bool server_request_waits(const struct server_conn *conn);
/* Runs the handler of a complete request (then STATE_ANSWER or STATE_ENCODE), or hands the job to
 * an executor (STATE_WAIT). */
void server_request_run(struct server_conn *conn);
/* Counts and logs the request, and resets the connection for the next one. whole: the answer was
 * sent completely. */
void server_request_end(struct server_conn *conn, bool whole);
/* Returns the counters of the request's route, or those of requests without one. */
struct server_counters *server_counters_of(struct server_conn *conn);

#endif
