/* The routes of route.def, and what follows from a route's kind. */
#ifndef API_OPENAPI_OPERATION_H
#define API_OPENAPI_OPERATION_H

#include "api/http/route.h"
#include "api/openapi/texts.h"

/* Kinds of routes in route.def. */
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

/* In the order of route.def. */
const struct openapi_operation *openapi_operations(size_t *count);
/* The route that the texts are about; NULL when text is NULL or route.def has none. */
const struct openapi_operation *openapi_operation_of(const struct openapi_route *text);
/* Where the message of a failure points to. */
extern const struct openapi_at openapi_route_def;

/* What answers come from; NULL: the texts say it. */
const char *openapi_from(const struct openapi_operation *operation);
/* Answers name the ledger that they are true at, in headers and in the body. */
bool openapi_names_ledger(const struct openapi_operation *operation);
/* Answers are pages of a list. */
bool openapi_has_pages(const struct openapi_operation *operation);
/* The answer may be kept and asked for again with If-None-Match. */
bool openapi_has_etag(const struct openapi_operation *operation);
/* Takes tokens of the rate limit. */
bool openapi_is_limited(const struct openapi_operation *operation);
/* Pages of any origin may read the answers. */
bool openapi_is_public(const struct openapi_operation *operation);
/* Answers may be compressed. */
bool openapi_is_encoded(const struct openapi_operation *operation);
/* A page of KYC for people: its errors are pages too. */
bool openapi_is_page(const struct openapi_operation *operation);
/* The second form of the route's answers (route.h), NULL where it has none. */
struct openapi_form {
    const char *param, *media_type;
    uint32_t cost;
};
const struct openapi_form *openapi_form_of(const struct openapi_operation *operation);
/* Whether a client must expect this error. */
bool openapi_gives(const struct openapi_texts *texts, const struct openapi_operation *operation,
                   const struct openapi_route *text, unsigned status);

#endif
