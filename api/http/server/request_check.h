/* Checks the form of a request, from the header lines that libmicrohttpd gives. Pure functions.
 *
 * Strictness  The library parses as strictly as it can (MHD_OPTION_STRICT_FOR_CLIENT). This module
 *             checks what the library leaves to the application: framing that two readers could
 *             understand differently, names that are not tokens, control characters, headers that
 *             must occur once, limits.
 * Not seen    libmicrohttpd 0.9.75 resolves some faults before it gives a line, so they cannot
 *             be rejected here: lines that end in a bare CR or LF, folded lines, a NUL and the
 *             rest of its line, lines without a name. Versions from 0.9.77 reject these
 *             themselves, and 1.0.10 a transfer coding that it does not know.
 *             api/http/README.md says what that means behind a proxy. */
#ifndef API_HTTP_SERVER_REQUEST_CHECK_H
#define API_HTTP_SERVER_REQUEST_CHECK_H

#include "tidemark/slice.h"

#define TIDE_HEAD_BYTES_MAX 6144u /* request line and headers        */
#define TIDE_HEAD_LINES_MAX 48u
/* Pairs of the query and of cookies together: each costs the library memory. */
#define TIDE_HEAD_PAIRS_MAX 64u

struct tide_request_head_line {
    tide_slice name, value;
};

/* The header lines of a request, and the values of those that the server uses. ptr NULL: the
 * header is absent. All slices borrow from the library until the request's end. */
struct tide_request_head {
    tide_slice host;
    /* Empty if there are several lines: their combined meaning is unclear */
    tide_slice accept_encoding;
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
    bool chunked; /* rejected at the end of the head */
    bool http_1_0;
    bool expects;     /* Expect: 100-continue */
    uint32_t cookies; /* pairs in all Cookie lines */
    uint32_t count;
    struct tide_request_head_line lines[TIDE_HEAD_LINES_MAX]; /* the first count */
};

/* A fault in a request's form, as the problem to answer; static. NULL: no fault. After a fault
 * the connection is closed, because the end of the request is uncertain. */
struct tide_request_fault {
    uint16_t status;
    const char *code; /* the problem's code */
    const char *detail;
};

/* Resets the head. Call before the first line. */
void tide_request_check_begin(struct tide_request_head *head);
/* Checks and stores one line, as the library gives it. Call it no more after a fault. */
const struct tide_request_fault *tide_request_check_line(struct tide_request_head *head,
                                                         tide_slice name, tide_slice value);
/* Checks the complete head. version: from the request line. bytes: size of the whole head. */
const struct tide_request_fault *tide_request_check_end(struct tide_request_head *head,
                                                        tide_slice version, size_t bytes);

/* Returns the first value of the header with that name (in any case), or ptr NULL, and counts
 * its occurrences. */
tide_slice tide_request_head_find(const struct tide_request_head *head, const char *name,
                                  uint32_t *occurrences);

/* Checks the target as received: origin form, at most TIDE_TARGET_MAX bytes, visible ASCII only,
 * and at most TIDE_HEAD_PAIRS_MAX pairs together with the head's cookies. Escapes are checked by
 * tide_route_match. */
const struct tide_request_fault *tide_request_check_target(const struct tide_request_head *head,
                                                           tide_slice target);

#endif
