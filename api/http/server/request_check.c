/* Checks of a request's form: header lines, framing and target. */
#include "api/http/server/request_check.h"
#include "api/http/route.h"

#include <strings.h>

#define LENGTH_MAX ((uint64_t)1 << 40) /* a larger Content-Length is rejected */

enum form {
    FORM_TARGET,
    FORM_TARGET_LONG,
    FORM_VERSION,
    FORM_LINE,
    FORM_LARGE,
    FORM_NO_HOST,
    FORM_HOST_TWICE,
    FORM_LENGTH,
    FORM_LENGTH_TWICE,
    FORM_BOTH,
    FORM_CODING,
    FORM_CHUNKED,
    FORM_QUERY_PAIRS,
    FORM_COOKIE_PAIRS,
    FORM_REPEATED,
    FORM_EXPECT,
};

static const struct tide_request_fault *fault_of(enum form form)
{
    static const struct tide_request_fault forms[] = {
        [FORM_TARGET] = { 400, "malformed_target",
                          "the request target must begin with a slash and be printable ASCII" },
        [FORM_TARGET_LONG] = { 414, "target_too_long",
                               "path and query may have at most 2048 bytes" },
        [FORM_VERSION] = { 400, "malformed_request", "the version must be HTTP/1.1 or HTTP/1.0" },
        [FORM_LINE] = { 400, "malformed_request",
                        "a header line is not \"Name: value\" of printable characters" },
        [FORM_LARGE] = { 431, "headers_too_large",
                         "request line and headers may have at most 6144 bytes and 48 lines" },
        [FORM_NO_HOST] = { 400, "malformed_request", "HTTP/1.1 needs a Host header" },
        [FORM_HOST_TWICE] = { 400, "malformed_request", "two Host headers" },
        [FORM_LENGTH] = { 400, "malformed_request", "Content-Length is not a number" },
        [FORM_LENGTH_TWICE] = { 400, "malformed_request", "two Content-Length headers" },
        [FORM_BOTH] = { 400, "malformed_request", "both Content-Length and Transfer-Encoding" },
        [FORM_CODING] = { 400, "transfer_coding", "the transfer coding is unknown" },
        [FORM_CHUNKED] = { 411, "length_required",
                           "a body needs Content-Length: chunked bodies are not accepted" },
        [FORM_QUERY_PAIRS] = { 414, "target_too_long",
                               "the query and the cookies may have 64 pairs together" },
        [FORM_COOKIE_PAIRS] = { 431, "headers_too_large",
                                "the query and the cookies may have 64 pairs together" },
        [FORM_REPEATED] = { 400, "malformed_request", "a header is given twice" },
        [FORM_EXPECT] = { 417, "expectation_failed",
                          "the only supported expectation is 100-continue" },
    };
    return &forms[form];
}

#define LANES 0x0101010101010101u /* multiplied by a byte: that byte in all eight lanes */

/* Returns whether all eight bytes are visible ASCII: above a blank and below DEL. A sum can
 * carry into the next lane only from a byte of 0x80 or more, and such a byte fails the test
 * anyway. */
static bool printable_8(const uint8_t *p)
{
    const uint64_t high = LANES * 0x80;
    uint64_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    return ((bytes | (bytes + LANES * (0x80 - 0x7f))) & high) == 0 &&
           ((bytes + LANES * (0x80 - '!')) & high) == high;
}

/* Counts pairs as the library splits them: cookies also at a comma. between: two separators. */
static uint32_t count_pairs(tide_slice text, const char *between)
{
    uint32_t pairs = text.len > 0;
    for (size_t i = 0; i < text.len; i++)
        pairs += text.ptr[i] == (uint8_t)between[0] || text.ptr[i] == (uint8_t)between[1];
    return pairs;
}

static uint32_t count_query_pairs(tide_slice target)
{
    const uint8_t *mark = memchr(target.ptr, '?', target.len);
    size_t path = mark ? (size_t)(mark - target.ptr) + 1 : target.len;
    return count_pairs(tide_slice_of(target.ptr + path, target.len - path), "&&");
}

const struct tide_request_fault *tide_request_check_target(const struct tide_request_head *head,
                                                           tide_slice target)
{
    size_t at = 0;
    uint32_t pairs;
    if (target.len > TIDE_TARGET_MAX)
        return fault_of(FORM_TARGET_LONG);
    if (target.len == 0 || target.ptr[0] != '/')
        return fault_of(FORM_TARGET);
    while (target.len - at >= 8 && printable_8(target.ptr + at))
        at += 8;
    for (; at < target.len; at++)
        if (target.ptr[at] <= ' ' || target.ptr[at] >= 0x7f)
            return fault_of(FORM_TARGET);
    pairs = count_query_pairs(target);
    if (pairs > TIDE_HEAD_PAIRS_MAX)
        return fault_of(FORM_QUERY_PAIRS);
    return pairs + head->cookies > TIDE_HEAD_PAIRS_MAX ? fault_of(FORM_COOKIE_PAIRS) : NULL;
}

/* Returns whether c is a tchar of RFC 9110. */
static bool is_token(uint8_t c)
{
    static const bool other[128] = {
        ['!'] = true,  ['#'] = true, ['$'] = true, ['%'] = true, ['&'] = true,
        ['\''] = true, ['*'] = true, ['+'] = true, ['-'] = true, ['.'] = true,
        ['^'] = true,  ['_'] = true, ['`'] = true, ['|'] = true, ['~'] = true,
    };
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c < 128 && other[c]);
}

static bool name_is(tide_slice name, const char *text)
{
    return name.len == strlen(text) && strncasecmp((const char *)name.ptr, text, name.len) == 0;
}

/* Stores the value. Returns false if there was one before: the header is repeated. */
static bool store_once(tide_slice *slot, tide_slice value)
{
    bool first = !slot->ptr;
    *slot = value;
    return first;
}

/* Reads Content-Length, which must be the only framing header. The limit also prevents an
 * overflow. */
static const struct tide_request_fault *read_length(struct tide_request_head *head,
                                                    tide_slice value)
{
    if (head->has_length)
        return fault_of(FORM_LENGTH_TWICE);
    if (head->chunked)
        return fault_of(FORM_BOTH);
    if (value.len == 0)
        return fault_of(FORM_LENGTH);
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9' || head->length > LENGTH_MAX)
            return fault_of(FORM_LENGTH);
        head->length = head->length * 10 + (uint64_t)(value.ptr[i] - '0');
    }
    head->has_length = true;
    return NULL;
}

/* Reads Transfer-Encoding. "chunked" is noted and rejected with the complete head; anything else
 * is an unknown framing. */
static const struct tide_request_fault *read_coding(struct tide_request_head *head,
                                                    tide_slice value)
{
    if (head->has_length)
        return fault_of(FORM_BOTH);
    if (head->chunked || !name_is(value, "chunked"))
        return fault_of(FORM_CODING);
    head->chunked = true;
    return NULL;
}

static const struct tide_request_fault *read_expect(struct tide_request_head *head,
                                                    tide_slice value)
{
    if (head->expects || !name_is(value, "100-continue"))
        return fault_of(FORM_EXPECT);
    head->expects = true;
    return NULL;
}

/* Stores the headers that the server uses. Those that decide about framing, and most others, may
 * occur once only. */
static const struct tide_request_fault *read_line(struct tide_request_head *head, tide_slice name,
                                                  tide_slice value)
{
    switch (name.ptr[0] | 0x20) {
    case 'a':
        if (name_is(name, "accept-encoding"))
            head->accept_encoding = head->accept_encoding.ptr ? TIDE_SLICE("") : value;
        break;
    case 'c':
        if (name_is(name, "content-length"))
            return read_length(head, value);
        if (name_is(name, "content-type") && !store_once(&head->content_type, value))
            return fault_of(FORM_REPEATED);
        if (name_is(name, "content-encoding") && !store_once(&head->content_encoding, value))
            return fault_of(FORM_REPEATED);
        if (name_is(name, "cookie"))
            head->cookies += count_pairs(value, ";,");
        break;
    case 'e':
        if (name_is(name, "expect"))
            return read_expect(head, value);
        break;
    case 'h':
        if (name_is(name, "host") && !store_once(&head->host, value))
            return fault_of(FORM_HOST_TWICE);
        break;
    case 'i':
        if (name_is(name, "if-none-match") && !store_once(&head->if_none_match, value))
            return fault_of(FORM_REPEATED);
        break;
    case 'l':
        if (name_is(name, "last-event-id") && !store_once(&head->last_event_id, value))
            return fault_of(FORM_REPEATED);
        break;
    case 'o':
        if (name_is(name, "origin") && !store_once(&head->origin, value))
            return fault_of(FORM_REPEATED);
        break;
    case 'r':
        if (name_is(name, "request-id"))
            head->request_id = value;
        break;
    case 't':
        if (name_is(name, "transfer-encoding"))
            return read_coding(head, value);
        break;
    case 'x':
        if (name_is(name, "x-forwarded-for"))
            head->forwarded_for = value;
        else if (name_is(name, "x-request-id"))
            head->request_id = value;
        else if (name_is(name, "x-api-key") && !store_once(&head->api_key, value))
            return fault_of(FORM_REPEATED);
        break;
    default:
        break;
    }
    return NULL;
}

static bool is_header_name(tide_slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!is_token(name.ptr[i]))
            return false;
    return name.len > 0;
}

/* Returns whether the value has no control character other than a tab. */
static bool is_header_value(tide_slice value)
{
    for (size_t i = 0; i < value.len; i++)
        if ((value.ptr[i] < ' ' && value.ptr[i] != '\t') || value.ptr[i] == 0x7f)
            return false;
    return true;
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static tide_slice trim_blanks(tide_slice value)
{
    while (value.len && is_blank(value.ptr[0]))
        value = tide_slice_of(value.ptr + 1, value.len - 1);
    while (value.len && is_blank(value.ptr[value.len - 1]))
        value.len--;
    return value;
}

/* Leaves the lines as they are: only the first `count` of them count. */
void tide_request_check_begin(struct tide_request_head *head)
{
    memset(head, 0, offsetof(struct tide_request_head, lines));
}

/* The limit of lines is checked first, so that the array cannot overflow. */
const struct tide_request_fault *tide_request_check_line(struct tide_request_head *head,
                                                         tide_slice name, tide_slice value)
{
    if (head->count == TIDE_HEAD_LINES_MAX)
        return fault_of(FORM_LARGE);
    value = trim_blanks(value);
    if (!is_header_name(name) || !is_header_value(value))
        return fault_of(FORM_LINE);
    assert(head->count < TIDE_HEAD_LINES_MAX);
    head->lines[head->count++] = (struct tide_request_head_line){ name, value };
    return read_line(head, name, value);
}

/* HTTP/1.0 has no chunked bodies and needs no Host header. */
const struct tide_request_fault *tide_request_check_end(struct tide_request_head *head,
                                                        tide_slice version, size_t bytes)
{
    head->http_1_0 = tide_slice_eq_str(version, "HTTP/1.0");
    if (!head->http_1_0 && !tide_slice_eq_str(version, "HTTP/1.1"))
        return fault_of(FORM_VERSION);
    if (bytes > TIDE_HEAD_BYTES_MAX)
        return fault_of(FORM_LARGE);
    if (head->http_1_0 && head->chunked)
        return fault_of(FORM_CODING);
    if (!head->host.ptr && !head->http_1_0)
        return fault_of(FORM_NO_HOST);
    return head->chunked ? fault_of(FORM_CHUNKED) : NULL;
}

tide_slice tide_request_head_find(const struct tide_request_head *head, const char *name,
                                  uint32_t *occurrences)
{
    tide_slice found = { 0 };
    *occurrences = 0;
    for (uint32_t i = 0; i < head->count; i++)
        if (name_is(head->lines[i].name, name) && (*occurrences)++ == 0)
            found = head->lines[i].value;
    return found;
}

tide_slice tide_request_header(const struct tide_request *request, const char *name,
                               uint32_t *occurrences)
{
    *occurrences = 0;
    return request->head ? tide_request_head_find(request->head, name, occurrences)
                         : (tide_slice){ 0 };
}
