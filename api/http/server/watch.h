/* The watch: a thread that checks that the workers make progress. */
#ifndef API_HTTP_SERVER_WATCH_H
#define API_HTTP_SERVER_WATCH_H

#include "tidemark/status.h"

#include <pthread.h>

struct tide_server;

struct server_watch {
    pthread_t thread;
    bool started, stopping;
    pthread_mutex_t mutex;
    pthread_cond_t wanted;
    bool stalled;  /* the stall was reported */
    uint32_t left; /* observations left before the watch ends the process */
};

void server_watch_init(struct server_watch *watch);
void server_watch_destroy(struct server_watch *watch);
tide_status server_watch_start(struct tide_server *server, struct tide_err *err);
/* Stops the thread. Call after the workers have ended. */
void server_watch_stop(struct server_watch *watch);

#endif
