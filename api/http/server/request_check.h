/* What is wrong with the form of a request, found in the header lines that libmicrohttpd gives.
 *
 * Strictness  the library parses, as strictly as it can (MHD_OPTION_STRICT_FOR_CLIENT). Here stands
 *             what it leaves to the application: framing that two readers could read differently,
 *             names that are no tokens, control characters, lines that must come once, limits.
 * Not seen    0.9.75 resolves some forms before it gives a line, so they cannot be refused here:
 *             lines that end in a bare CR or LF, folded lines, a NUL and what follows it on its
 *             line, lines without a name. Versions from 0.9.77 refuse these themselves.
 *             api/http/README.md says what that means behind a proxy.
 * Pure. */
#ifndef API_HTTP_SERVER_REQUEST_CHECK_H
#define API_HTTP_SERVER_REQUEST_CHECK_H

#include "tidemark/slice.h"

#define TIDE_HEAD_BYTES_MAX  6144u /* request line and headers        */
#define TIDE_HEAD_LINES_MAX  48u
#define TIDE_HEAD_PAIRS_MAX  64u                 /* of the query and of cookies, together */
#define TIDE_HEAD_LENGTH_MAX ((uint64_t)1 << 40) /* a Content-Length above is refused */

struct tide_request_head_line {
    tide_slice name, value;
};

/* The header lines of a request, and those that the server looks at. A slice with ptr NULL is
 * absent. All borrow from the library, until the request's end. */
struct tide_request_head {
    tide_slice host;
    tide_slice accept_encoding; /* empty if there are several lines: what they want is unsure */
    tide_slice content_type;
    tide_slice content_encoding;
    tide_slice forwarded_for; /* the last X-Forwarded-For line */
    tide_slice if_none_match;
    tide_slice last_event_id;
    tide_slice origin;
    tide_slice request_id; /* Request-Id or X-Request-Id */
    tide_slice api_key;    /* X-API-Key                  */
    uint64_t length;       /* Content-Length             */
    bool has_length;
    bool chunked; /* refused at the end of the head */
    bool http_1_0;
    bool expects;     /* Expect: 100-continue */
    uint32_t cookies; /* pairs in Cookie lines */
    uint32_t count;
    struct tide_request_head_line lines[TIDE_HEAD_LINES_MAX]; /* count of them are filled */
};

/* NULL when all is well; else what is wrong, with the status of the answer. After a refusal the
 * connection is closed: where the request ends is not sure. */
struct tide_refusal_of_form {
    uint16_t status;
    const char *code; /* of the problem */
    const char *detail;
};

/* Before the first line. */
void tide_request_check_begin(struct tide_request_head *head);
/* One line, as the library gives it; after a refusal no more. */
const struct tide_refusal_of_form *tide_request_check_line(struct tide_request_head *head,
                                                           tide_slice name, tide_slice value);
/* After the last line: the version as the request line has it, and the bytes of the whole head. */
const struct tide_refusal_of_form *tide_request_check_end(struct tide_request_head *head,
                                                          tide_slice version, size_t bytes);

/* The first value of that name (any case), ptr NULL when there is none, and how often it came. */
tide_slice tide_request_head_find(const struct tide_request_head *head, const char *name,
                                  uint32_t *occurrences);

/* The target as it came: origin form, no longer than TIDE_TARGET_MAX, visible ASCII alone, and
 * with the head's cookies no more than TIDE_HEAD_PAIRS_MAX pairs. What its escapes say is
 * tide_route_match's to judge. */
const struct tide_refusal_of_form *tide_request_check_target(const struct tide_request_head *head,
                                                             tide_slice target);

#endif
