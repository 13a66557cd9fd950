/* Connections that end while their clients may still send. */
#ifndef API_HTTP_SERVER_LINGER_H
#define API_HTTP_SERVER_LINGER_H

#include "tidemark/status.h"

struct server_conn;
struct server_worker;

/* The way in which a connection ends after its request. */
struct server_ending {
    bool close;    /* close the connection after this answer */
    bool early;    /* the answer is queued in the library's first call, which ends the connection */
    bool unended;  /* the client may still send the rest of the last request */
    uint64_t sent; /* bytes sent to the client before an early answer */
};

tide_status server_linger_open(struct server_worker *worker, struct tide_err *err);
void server_linger_close(struct server_worker *worker);
/* Keeps the socket open if its client may still send. Called before the library closes the
 * connection. */
void server_linger_begin(struct server_conn *conn);
void server_linger_read(struct server_worker *worker);
void server_linger_sweep(struct server_worker *worker);
/* Answers 503 and cuts: the connection is beyond the limit. */
void server_reject_connection(struct server_conn *conn);
/* Cuts a connection whose deadline has passed, after a 408 if a request has begun. */
void server_time_out(struct server_conn *conn);
/* Answers 414 or 431 if the library ends a request with an error (unsent), or closes the
 * connection (unread), and the request would get no answer. */
void server_answer_unsent(struct server_conn *conn);
void server_answer_unread(struct server_conn *conn);
/* Return the bytes written to the connection's socket, and those plus the bytes read from it. 0
 * if the system does not say. */
uint64_t server_bytes_sent(const struct server_conn *conn);
uint64_t server_bytes_moved(const struct server_conn *conn);

#endif
