/* The encoder: a thread that compresses large answers of look-ups. */
#ifndef API_HTTP_SERVER_ENCODE_H
#define API_HTTP_SERVER_ENCODE_H

#include "tidemark/status.h"

#include <pthread.h>

struct server_conn;
struct tide_server;

/* A connection's entry in the queue, under the encoder's mutex. */
struct server_encode_entry {
    struct server_conn *next;
};

struct server_encoder {
    pthread_t thread;
    bool started, stopping;
    pthread_mutex_t mutex;
    pthread_cond_t wanted;
    struct server_conn *first, *last; /* the queue */
    size_t bytes;                     /* bytes of the bodies in the queue and in work */
};

void server_encoder_init(struct server_encoder *encoder);
tide_status server_encoder_start(struct tide_server *server, struct tide_err *err);
/* Stops the thread. Call after the workers have ended. */
void server_encoder_stop(struct tide_server *server);
/* Queues the reply for compression (STATE_WAIT). If the encoder has enough to do, the answer goes
 * uncompressed (STATE_ANSWER). */
void server_encoder_submit(struct server_conn *conn);

#endif
