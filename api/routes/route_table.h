/* What tidemark-api tells its server: the table of routes (route.def), how each class of routes is
 * served, who runs those that wait, and what each of the server's threads keeps. */
#ifndef API_ROUTES_ROUTE_TABLE_H
#define API_ROUTES_ROUTE_TABLE_H

#include "api/hot/api.h"
#include "api/http/server/server.h"

extern const struct tide_route_table tide_route_table;

/* Who runs handlers that may wait. */
enum tide_route_executor {
    TIDE_EXECUTOR_SQL,
    TIDE_EXECUTOR_KYC,
    TIDE_EXECUTOR_WEBHOOK,
    TIDE_EXECUTOR_COUNT
};
/* Fills executors for what api has: without a pool or KYC its routes answer 404. */
void tide_route_executors(struct tide_executor executors[TIDE_EXECUTOR_COUNT],
                          struct tide_api *api);

/* Each thread of the server has a reader of the hot cache. */
/* X-API-Key by api's integrators. Borrows api. */
struct tide_key_check tide_route_keys(struct tide_api *api);

extern const struct tide_server_thread_calls tide_route_thread_calls;

#endif
