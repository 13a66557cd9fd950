/* The loop of a worker's thread, and waking it from other threads. */
#ifndef API_HTTP_SERVER_LOOP_H
#define API_HTTP_SERVER_LOOP_H

#include "tidemark/base.h"

struct server_conn;
struct server_worker;

/* A connection's entry in its worker's list of connections to wake. Other threads add it. */
struct tide_wake {
    struct server_conn *conn;
    struct tide_wake *next;
    bool listed; /* under the worker's mutex */
};

void *server_loop(void *self);
/* Makes the loop's poll return. Any thread. */
void server_wake_loop(struct server_worker *worker);
/* Removes the entry from the list of connections to wake. */
void server_unlist(struct tide_wake *wake);

#endif
