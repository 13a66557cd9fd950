/* The tables that tidemark-api gives its server: the routes (route.def), the class of each
 * route, the executors, and the state of each server thread. */
#ifndef API_ROUTES_ROUTE_TABLE_H
#define API_ROUTES_ROUTE_TABLE_H

#include "api/hot/api.h"
#include "api/http/server/server.h"

extern const struct tide_route_table tide_route_table;

/* The executors: they run handlers that may wait. */
enum tide_route_executor {
    TIDE_EXECUTOR_SQL,
    TIDE_EXECUTOR_KYC,
    TIDE_EXECUTOR_WEBHOOK,
    TIDE_EXECUTOR_COUNT
};
/* Fills the executors for the parts that api has. Without a pool or KYC, their routes answer
 * 404. */
void tide_route_executors(struct tide_executor executors[TIDE_EXECUTOR_COUNT],
                          struct tide_api *api);

/* Returns the check of X-API-Key against the integrators' keys. The check borrows api. */
struct tide_key_check tide_route_keys(struct tide_api *api);

/* The state of each server thread: a reader of the hot cache. */
extern const struct tide_server_thread_calls tide_route_thread_calls;

#endif
