/* The objects that all parts of one tidemark-api process share. main.c makes them; they outlive
 * every request. */
#ifndef API_HOT_API_H
#define API_HOT_API_H

#include "tidemark/clock.h"
#include "tidemark/config.h"

struct tide_deployment_select; /* api/sql/deployment_select.h */
/* threads that answer from PostgreSQL: api/sql/worker_pool.h, opened by api/sql/sql_pool.h */
struct tide_worker_pool;
struct tide_stream_service; /* the live stream, and the indexer's figures: api/stream/service.h */
struct tide_kyc;            /* sessions, webhooks: api/kyc/kyc.h                    */
struct tide_receipt_keys;   /* the keys of receipts: api/routes/receipt_keys.h       */
struct tide_snapshots;      /* files of compliance records: api/routes/snapshots.h   */
struct tide_server;         /* the HTTP server: api/http/server/server.h                    */

struct tide_api {
    const struct tide_config *config;
    const struct tide_clock *clock;
    struct tide_deployment_select *select; /* the deployment that this process serves */
    struct tide_hot *hot;
    struct tide_feed *feed;
    struct tide_worker_pool *pool; /* NULL: only look-ups (api_sql_threads 0) */
    struct tide_stream_service *stream;
    struct tide_kyc *kyc;       /* NULL: not configured */
    struct tide_kyc_keys *keys; /* NULL: no database login that may read them */
    struct tide_server *server;
    struct tide_receipt_keys *receipts;
    struct tide_snapshots *snapshots;
};

#endif
