/* What is wrong with the form of a request, found in its own bytes. libmicrohttpd 0.9.75 is lenient
 * where two readers of one request could disagree about its end: here is the strict one.
 *
 * Block      libmicrohttpd reads in place and leaves the bytes where they were, with NULs for what
 *            it cut at: a header line "Name: value\r\n" lies there as Name NUL OWS value NUL NUL, the
 *            end of the block is NUL NUL. Walking it shows what its own list of headers hides:
 *            folded lines, bare line feeds, NULs in values, blanks before the colon. Whatever does
 *            not lie there exactly so is refused, so another version of the library that leaves
 *            something else makes every request a 400, never a gap.
 * Pure. */
#ifndef API_GUARD_H
#define API_GUARD_H

#include "tidemark/slice.h"

#define TIDE_HEAD_BYTES_MAX  6144u /* request line and headers        */
#define TIDE_HEAD_LINES_MAX  48u
#define TIDE_HEAD_LENGTH_MAX ((uint64_t)1 << 40) /* a Content-Length above is refused */

/* Headers that the server looks at. A slice with ptr NULL is absent. They borrow from the block. */
struct tide_head {
    tide_slice host;
    tide_slice content_type;
    tide_slice forwarded_for; /* the last X-Forwarded-For line */
    tide_slice if_none_match;
    tide_slice last_event_id;
    tide_slice origin;
    tide_slice request_id; /* Request-Id or X-Request-Id */
    tide_slice api_key;    /* X-API-Key                  */
    tide_slice lines_text; /* all lines, for tide_head_find */
    uint64_t length;       /* Content-Length             */
    uint32_t lines;
    bool has_length;
    bool chunked;
    bool http_1_0;
};

/* NULL when all is well; else what is wrong, with the status of the answer. After a refusal the
 * connection is closed: where the request ends is not sure. */
struct tide_refusal_of_form {
    uint16_t status;
    const char *code; /* of the problem */
    const char *detail;
};

/* version: where the library says that "HTTP/1.1" lies; end: one past the block. */
const struct tide_refusal_of_form *tide_guard_head(struct tide_head *out, const char *version,
                                                   const char *end);

const struct tide_refusal_of_form *tide_guard_too_large(void);

/* The first value of that name (any case), ptr NULL when there is none, and how often it came. */
tide_slice tide_head_find(const struct tide_head *head, const char *name, uint32_t *occurrences);

/* The target as it came: origin form, no longer than TIDE_TARGET_MAX, visible ASCII alone. What
 * its escapes say is tide_route_match's to judge. */
const struct tide_refusal_of_form *tide_guard_target(tide_slice target);

#endif
