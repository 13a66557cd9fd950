/* The table of routes, made from route.def, with the classes of routes. */
#include "api/routes/route_table.h"

static_assert(TIDE_ROUTE_INLINE < 0, "no executor has this index");
static_assert(TIDE_PARAM_COUNT <= UINT8_MAX, "a statement binds parameters as bytes");

static const struct tide_route_class
    class_HOT = { .executor = TIDE_ROUTE_INLINE,
                  .past_executor = TIDE_EXECUTOR_SQL,
                  .lookup = true,
                  .encodes = true },
    class_SQL = { .executor = TIDE_EXECUTOR_SQL,
                  .past_executor = TIDE_EXECUTOR_SQL,
                  .query = true,
                  .encodes = true },
    class_LOCAL = { .executor = TIDE_ROUTE_INLINE, .past_executor = TIDE_ROUTE_INLINE },
    class_STREAM = { .executor = TIDE_ROUTE_INLINE,
                     .past_executor = TIDE_ROUTE_INLINE,
                     .query = true,
                     .stream = true },
    /* Only pages of an integrator's own origins may read its sessions. */
    class_KYC = { .executor = TIDE_EXECUTOR_KYC,
                  .past_executor = TIDE_EXECUTOR_KYC,
                  .origins = TIDE_ORIGINS_KNOWN,
                  .query = true },
    class_PAGE = { .executor = TIDE_EXECUTOR_KYC,
                   .past_executor = TIDE_EXECUTOR_KYC,
                   .origins = TIDE_ORIGINS_NONE,
                   .query = true,
                   .page = true },
    /* The signature covers the body's bytes, so they must not be checked or changed as text. */
    class_HOOK = { .executor = TIDE_EXECUTOR_WEBHOOK,
                   .past_executor = TIDE_EXECUTOR_WEBHOOK,
                   .origins = TIDE_ORIGINS_NONE,
                   .any_bytes = true };

#define TIDE_ROUTE(id, method, path, kind, cost, body_max, cache_control, query, handler) \
    tide_handler_fn tide_route_##handler;
#include "api/routes/route.def"

static const struct tide_route routes[] = {
/* clang-format off */
#define TIDE_ROUTE(id, method, path, kind, cost, body_max, cache_control, query, handler) \
    { #id, #method, path, sizeof path - 1, &class_##kind, cost, body_max, cache_control, query, \
      tide_route_##handler, NULL },
#define TIDE_QUERY(id, path, cost, cache_control, query) \
    { #id, "GET", path, sizeof path - 1, &class_SQL, cost, 0, cache_control, query, NULL, #id },
#include "api/routes/route.def"
    /* clang-format on */
};

static const struct tide_route_hint hints[] = {
    { "stats", TIDE_PARAM_ledger,
      "is not taken here: totals exist for the present only; /api/stats/daily has each day" },
    { "coverage", TIDE_PARAM_ledger,
      "is not taken here: the indexed ranges exist for the present only" },
    { "ledger", TIDE_PARAM_ledger, "is not taken here: a ledger never changes" },
    { "event", TIDE_PARAM_ledger, "is not taken here: an event never changes" },
    { "transaction", TIDE_PARAM_ledger, "is not taken here: a transaction never changes" },
    { "stream", TIDE_PARAM_ledger, "is not taken here: resume with after, or Last-Event-ID" },
};

static const struct tide_route_conflict conflicts[] = {
    { "vaults", TIDE_PARAM_sort, TIDE_PARAM_state,
      "cannot be given with state: vaults of one state are sorted by risk" },
};

#define TIDE_FORM(param, media_type, cost) \
    static const struct tide_route_form receipt_form = { TIDE_PARAM_##param, media_type, cost };
#include "api/routes/route.def"

const struct tide_route_table tide_route_table = { .routes = routes,
                                                   .count = TIDE_COUNT(routes),
                                                   .hints = hints,
                                                   .hint_count = TIDE_COUNT(hints),
                                                   .conflicts = conflicts,
                                                   .conflict_count = TIDE_COUNT(conflicts),
                                                   .form = &receipt_form };
