/* What all of one tidemark-api process shares. Made by main.c, outlives every request. */
#ifndef API_API_H
#define API_API_H

#include "api/feed.h"
#include "api/route.h"
#include "tidemark/clock.h"
#include "tidemark/config.h"

struct tide_deployment_select; /* api/deployment_select.h */
struct tide_pool;              /* threads that answer from PostgreSQL: api/pool.h */
struct tide_live;              /* the stream's hub, and the indexer's figures: api/live.h */
struct tide_kyc;               /* sessions, webhooks: api/kyc/kyc.h                    */
struct tide_server;            /* the HTTP server: api/server.h                    */

struct tide_api {
    const struct tide_config *config;
    const struct tide_clock *clock;
    struct tide_deployment_select *select; /* which deployment is served */
    struct tide_hot *hot;
    struct tide_feed *feed;
    struct tide_pool *pool; /* NULL: look-ups alone (api_sql_threads 0) */
    struct tide_live *live;
    struct tide_kyc *kyc; /* NULL: not configured */
    struct tide_server *server;
};

#endif
