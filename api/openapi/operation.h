/* The routes of route.def, and the properties that follow from a route's kind. */
#ifndef API_OPENAPI_OPERATION_H
#define API_OPENAPI_OPERATION_H

#include "api/http/route.h"
#include "api/openapi/texts.h"

/* The kinds of routes in route.def. */
enum openapi_kind {
    OPENAPI_HOT,
    OPENAPI_SQL,
    OPENAPI_LOCAL,
    OPENAPI_STREAM,
    OPENAPI_KYC,
    OPENAPI_PAGE,
    OPENAPI_HOOK
};

struct openapi_operation {
    const char *id, *method, *path;
    enum openapi_kind kind;
    uint32_t cost, body_max;
    const char *cache_control, *query;
};

/* Returns all routes in the order of route.def. */
const struct openapi_operation *openapi_operations(size_t *count);
/* Returns the route to which the texts belong, or NULL if text is NULL or route.def has none. */
const struct openapi_operation *openapi_operation_of(const struct openapi_route *text);
/* The position for messages about route.def. */
extern const struct openapi_at openapi_route_def;

/* Returns the source of the answers, or NULL if the texts name it. */
const char *openapi_from(const struct openapi_operation *operation);
/* Returns whether answers name their ledger, in headers and in the body. */
bool openapi_names_ledger(const struct openapi_operation *operation);
/* Returns whether answers are pages of a list. */
bool openapi_has_pages(const struct openapi_operation *operation);
/* Returns whether answers have an ETag. */
bool openapi_has_etag(const struct openapi_operation *operation);
/* Returns whether a request takes tokens of the rate limit. */
bool openapi_is_limited(const struct openapi_operation *operation);
/* Returns whether pages of any origin may read the answers. */
bool openapi_is_public(const struct openapi_operation *operation);
/* Returns whether answers may be compressed. */
bool openapi_is_encoded(const struct openapi_operation *operation);
/* Returns whether the route is a page of KYC for persons: its errors are pages too. */
bool openapi_is_page(const struct openapi_operation *operation);
/* The second form of answers (route.h). */
struct openapi_form {
    const char *param, *media_type;
    uint32_t cost;
};
/* Returns the second form of the route's answers, or NULL. */
const struct openapi_form *openapi_form_of(const struct openapi_operation *operation);
/* Returns whether a client must expect this status. */
bool openapi_gives(const struct openapi_texts *texts, const struct openapi_operation *operation,
                   const struct openapi_route *text, unsigned status);

#endif
