/* The texts of the HTTP contract: heads of the query files and *.api files. README.md describes the
 * notation.
 *
 * Errors   openapi_fail prints "FILE:LINE: what" and ends the program: this is a tool of the build.
 * Memory   everything lives until the program ends. Slices borrow from the files that were read. */
#ifndef API_OPENAPI_TEXTS_H
#define API_OPENAPI_TEXTS_H

#include "tidemark/slice.h"

struct openapi_at {
    const char *file;
    unsigned line;
};

/* "  name  Type?  text". name "...Pool" stands for the fields of the schema Pool. */
struct openapi_field {
    tide_slice name, type, text;
    unsigned depth; /* spaces before the name */
    bool optional;  /* "name?": not in each object */
    struct openapi_at at;
};

/* Of "schema:", or of an "answer:" that has fields or items. */
struct openapi_schema {
    tide_slice name;
    tide_slice type; /* "object" unless the file says otherwise */
    tide_slice text, example;
    tide_slice items; /* what a list's items are; empty: no list */
    const struct openapi_field *fields;
    size_t field_count;
    const struct openapi_route *answer_of; /* NULL for "schema:" */
    bool used, included, written;
    struct openapi_at at;
};

/* A status and what comes with it. what: a schema's name, a media type, or "none". */
struct openapi_answer {
    unsigned status;
    tide_slice what, text;
};

enum { OPENAPI_ANSWERS_MAX = 4, OPENAPI_HEADERS_MAX = 32 };

/* "Name?  type  text": of requests in a route, of answers in common.api. */
struct openapi_header {
    tide_slice name, type, text;
    bool optional;
    struct openapi_at at;
};

struct openapi_route {
    tide_slice id, tag, summary, about;
    tide_slice from;                        /* "answered from", where the kind does not say it */
    tide_slice body_media, body, body_text; /* body: a schema's name or "object" */
    tide_slice also;                        /* further statuses, separated by spaces */
    struct openapi_answer answers[OPENAPI_ANSWERS_MAX];
    size_t answer_count;
    struct openapi_header headers[OPENAPI_ANSWERS_MAX];
    size_t header_count;
    tide_slice more_headers; /* of its success: names in common.api, separated by spaces */
    bool known;              /* route.def has it */
    struct openapi_at at;
};

/* A query file: one: it answers with one object or 404. events: reads what may be archived. */
struct openapi_query {
    tide_slice name;
    bool one, events;
};

/* An answer that many routes give: "401", "page.404", "default". */
struct openapi_response {
    tide_slice name, text, codes, headers;
    bool used;
};

struct openapi_group {
    tide_slice name, text;
    bool used;
};

struct openapi_texts {
    tide_slice title, about;
    struct openapi_group groups[32];
    struct openapi_header headers[OPENAPI_HEADERS_MAX];
    struct openapi_response responses[32];
    struct openapi_route routes[256];
    struct openapi_schema schemas[512];
    struct openapi_field fields[4096];
    struct openapi_query queries[256];
    size_t group_count, header_count, response_count, route_count, schema_count, field_count,
        query_count;
};

/* Adds what the file says. A .sql is read as a query file, in a folder parts/ as a part of such;
 * any other as a fragment. Parts come before the files that use them. */
void openapi_read(struct openapi_texts *texts, const char *path);

/* NULL when nothing is called so. */
struct openapi_schema *openapi_schema_named(struct openapi_texts *texts, tide_slice name);
struct openapi_route *openapi_route_named(struct openapi_texts *texts, tide_slice id);
const struct openapi_query *openapi_query_named(const struct openapi_texts *texts, tide_slice name);

/* The text before the separator, which goes with it; all of the text where there is none. */
tide_slice openapi_take(tide_slice *text, const char *separator);
bool openapi_ends(tide_slice text, const char *end);

_Noreturn void openapi_fail(struct openapi_at at, const char *format, ...) TIDE_PRINTF(2, 3);

#endif
