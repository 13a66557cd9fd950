/* The texts of the HTTP contract: the heads of query files and the *.api files. README.md
 * describes the notation.
 *
 * Errors   openapi_fail prints "FILE:LINE: message" and ends the program: this is a tool of the
 * build.
 * Memory   Everything lives until the program ends. Slices borrow from the files. */
#ifndef API_OPENAPI_TEXTS_H
#define API_OPENAPI_TEXTS_H

#include "tidemark/slice.h"

struct openapi_at {
    const char *file;
    unsigned line;
};

/* "  name  Type?  text". A name "...Pool" stands for the fields of the schema Pool. */
struct openapi_field {
    tide_slice name, type, text;
    unsigned depth; /* spaces before the name */
    bool optional;  /* "name?": not in every object */
    struct openapi_at at;
};

/* A "schema:", or an "answer:" that has fields or items. */
struct openapi_schema {
    tide_slice name;
    tide_slice type; /* "object" unless the file says otherwise */
    tide_slice text, example;
    tide_slice items; /* schema of a list's items; empty: not a list */
    const struct openapi_field *fields;
    size_t field_count;
    const struct openapi_route *answer_of; /* NULL for "schema:" */
    bool used, included, written;
    struct openapi_at at;
};

/* A status and its answer. what: the name of a schema, a media type, or "none". */
struct openapi_answer {
    unsigned status;
    tide_slice what, text;
    tide_slice items; /* a media type: the schema of what comes one after the other; may be empty */
};

enum { OPENAPI_ANSWERS_MAX = 4, OPENAPI_HEADERS_MAX = 32 };

/* "Name?  type  text": a request header in a route, an answer header in common.api. */
struct openapi_header {
    tide_slice name, type, text;
    bool optional;
    struct openapi_at at;
};

struct openapi_route {
    tide_slice id, tag, summary, about;
    /* The source of the answers, if the route's kind does not imply it */
    tide_slice from;
    tide_slice body_media, body, body_text; /* body: a schema's name or "object" */
    tide_slice also;                        /* further statuses, separated by spaces */
    struct openapi_answer answers[OPENAPI_ANSWERS_MAX];
    size_t answer_count;
    struct openapi_header headers[OPENAPI_ANSWERS_MAX];
    size_t header_count;
    struct openapi_header query; /* a parameter of its query that means something else elsewhere */
    tide_slice more_headers; /* headers of its success: names in common.api, separated by spaces */
    bool known;              /* route.def has this route */
    bool webhook;            /* a notification: the API is the client */
    struct openapi_at at;
};

/* A query file. one: answers with one object or 404. events: reads tables that may be archived. */
struct openapi_query {
    tide_slice name;
    bool one, events;
};

/* An answer common to many routes: "401", "page.404", "default". */
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
    struct openapi_schema schemas[1024];
    struct openapi_field fields[4096];
    struct openapi_query queries[256];
    size_t group_count, header_count, response_count, route_count, schema_count, field_count,
        query_count;
};

/* Reads a file. A .sql is read as a query file, or in a folder parts/ as a part of one; any
 * other file as a fragment. Parts must be read before the files that use them. */
void openapi_read(struct openapi_texts *texts, const char *path);

/* Reads a text in the notation of an .api file. The texts borrow from it. */
void openapi_read_text(struct openapi_texts *texts, const char *path, tide_slice text);

/* Return the object with that name, or NULL. */
struct openapi_schema *openapi_schema_named(struct openapi_texts *texts, tide_slice name);
struct openapi_route *openapi_route_named(struct openapi_texts *texts, tide_slice id);
const struct openapi_query *openapi_query_named(const struct openapi_texts *texts, tide_slice name);

/* Returns the text before the separator and removes both from *text; without separator, all of
 * it. */
tide_slice openapi_take(tide_slice *text, const char *separator);
/* Returns whether the text ends with `end`. */
bool openapi_ends(tide_slice text, const char *end);

/* Prints the position and the message, and ends the program. */
_Noreturn void openapi_fail(struct openapi_at at, const char *format, ...) TIDE_PRINTF(2, 3);

#endif
