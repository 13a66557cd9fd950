/* The routes of route.def for the document. The table `kinds` must agree with
 * api/routes/route_table.c. */
#include "api/openapi/operation.h"

/* clang-format off */
static const struct openapi_operation operations[] = {
#define TIDE_ROUTE(id, method, path, kind, cost, body_max, cache_control, query, handler) \
    { #id, #method, path, OPENAPI_##kind, cost, body_max, cache_control, query },
#define TIDE_QUERY(id, path, cost, cache_control, query) \
    { #id, "GET", path, OPENAPI_SQL, cost, 0, cache_control, query },
#include "api/routes/route.def"
};
/* clang-format on */

const struct openapi_at openapi_route_def = { "api/routes/route.def", 0 };

const struct openapi_operation *openapi_operations(size_t *count)
{
    *count = TIDE_COUNT(operations);
    return operations;
}

const struct openapi_operation *openapi_operation_of(const struct openapi_route *text)
{
    for (size_t i = 0; i < TIDE_COUNT(operations); i++)
        if (text && tide_slice_eq_str(text->id, operations[i].id))
            return &operations[i];
    return NULL;
}

static const struct {
    const char *from;
    bool ledger;  /* answers name their ledger */
    bool public;  /* pages of any origin may read them */
    bool limited; /* takes tokens of the rate limit */
    bool absent;  /* 404: the object of the route may not exist */
    bool busy;    /* 503 */
} kinds[] = {
    [OPENAPI_HOT] = { "the hot cache; with `ledger` PostgreSQL", true, true, true, false, true },
    [OPENAPI_SQL] = { "PostgreSQL", true, true, true, false, true },
    [OPENAPI_LOCAL] = { "the process itself", false, true, true, false, false },
    [OPENAPI_STREAM] = { "the stream service", false, true, true, false, true },
    [OPENAPI_KYC] = { NULL, false, false, true, true, true },
    [OPENAPI_PAGE] = { NULL, false, false, true, true, true },
    [OPENAPI_HOOK] = { NULL, false, false, false, true, true },
};

const char *openapi_from(const struct openapi_operation *operation)
{
    assert(operation->kind < TIDE_COUNT(kinds));
    return kinds[operation->kind].from;
}

bool openapi_names_ledger(const struct openapi_operation *operation)
{
    assert(operation->kind < TIDE_COUNT(kinds));
    return kinds[operation->kind].ledger;
}

bool openapi_is_limited(const struct openapi_operation *operation)
{
    assert(operation->kind < TIDE_COUNT(kinds));
    return kinds[operation->kind].limited;
}

bool openapi_is_public(const struct openapi_operation *operation)
{
    assert(operation->kind < TIDE_COUNT(kinds));
    return kinds[operation->kind].public;
}

bool openapi_has_etag(const struct openapi_operation *operation)
{
    return strcmp(operation->method, "GET") == 0 && !strstr(operation->cache_control, "no-store");
}

bool openapi_is_encoded(const struct openapi_operation *operation)
{
    return operation->kind == OPENAPI_HOT || operation->kind == OPENAPI_SQL;
}

bool openapi_is_page(const struct openapi_operation *operation)
{
    return operation->kind == OPENAPI_PAGE;
}

/* Returns whether a list of names, separated by spaces, contains the name; "name!" counts. */
static bool has_name(const char *names, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at += len)
        if ((at == names || at[-1] == ' ') && (at[len] == 0 || at[len] == ' ' || at[len] == '!'))
            return true;
    return false;
}

const struct openapi_form *openapi_form_of(const struct openapi_operation *operation)
{
    static const struct openapi_form forms[] = {
#define TIDE_FORM(param, media_type, cost) { #param, media_type, cost },
#include "api/routes/route.def"
    };
    for (size_t i = 0; i < TIDE_COUNT(forms); i++)
        if (has_name(operation->query, forms[i].param))
            return &forms[i];
    return NULL;
}

bool openapi_has_pages(const struct openapi_operation *operation)
{
    return has_name(operation->query, "cursor");
}

static bool reads_events(const struct openapi_texts *texts,
                         const struct openapi_operation *operation)
{
    char past[80];
    snprintf(past, sizeof past, "%s_at", operation->id);
    assert(strlen(past) == strlen(operation->id) + sizeof "_at" - 1);
    const struct openapi_query *now = openapi_query_named(texts, tide_slice_str(operation->id));
    const struct openapi_query *at = openapi_query_named(texts, tide_slice_str(past));
    return (now && now->events) || (at && at->events);
}

static bool may_be_absent(const struct openapi_texts *texts,
                          const struct openapi_operation *operation)
{
    const struct openapi_query *query = openapi_query_named(texts, tide_slice_str(operation->id));
    assert(operation->kind < TIDE_COUNT(kinds));
    return kinds[operation->kind].absent || has_name(operation->query, "ledger") ||
           (query && query->one);
}

/* A status that the kind does not imply must be listed in the texts (also:). */
bool openapi_gives(const struct openapi_texts *texts, const struct openapi_operation *operation,
                   const struct openapi_route *text, unsigned status)
{
    char also[128], word[8];
    assert(text->also.len < sizeof also && status < 600);
    snprintf(also, sizeof also, "%.*s", TIDE_SLICE_FMT(text->also));
    snprintf(word, sizeof word, "%u", status);
    switch (status) {
    case 400:
    case 429:
        return true;
    case 304:
        return openapi_has_etag(operation);
    case 404:
        return may_be_absent(texts, operation) || has_name(also, word);
    case 406:
        return openapi_form_of(operation) != NULL;
    case 410:
        return reads_events(texts, operation) || operation->kind == OPENAPI_STREAM ||
               has_name(also, word);
    case 413:
    case 415:
        return operation->body_max > 0;
    case 503:
        return kinds[operation->kind].busy || has_name(also, word);
    default:
        return has_name(also, word);
    }
}
