#include "api/http/server/request_check.h"
#include "api/http/route.h"

#include <strings.h>

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

static const struct tide_refusal_of_form *refuse(enum form form)
{
    static const struct tide_refusal_of_form forms[] = {
        [FORM_TARGET] = { 400, "malformed_target",
                          "the request target must begin with a slash and be printable ASCII" },
        [FORM_TARGET_LONG] = { 414, "target_too_long", "path and query may have 2048 bytes" },
        [FORM_VERSION] = { 400, "malformed_request", "HTTP/1.1 or HTTP/1.0 is spoken here" },
        [FORM_LINE] = { 400, "malformed_request",
                        "a header line is not \"Name: value\" of printable characters" },
        [FORM_LARGE] = { 431, "headers_too_large",
                         "request line and headers may have 6144 bytes and 48 lines" },
        [FORM_NO_HOST] = { 400, "malformed_request", "HTTP/1.1 needs a Host header" },
        [FORM_HOST_TWICE] = { 400, "malformed_request", "two Host headers" },
        [FORM_LENGTH] = { 400, "malformed_request", "Content-Length is no number" },
        [FORM_LENGTH_TWICE] = { 400, "malformed_request", "two Content-Length headers" },
        [FORM_BOTH] = { 400, "malformed_request", "both Content-Length and Transfer-Encoding" },
        [FORM_CODING] = { 400, "transfer_coding", "the transfer coding is unknown" },
        [FORM_CHUNKED] = { 411, "length_required",
                           "a body must say its length: chunked bodies are not taken" },
        [FORM_QUERY_PAIRS] = { 414, "target_too_long",
                               "the query and the cookies may have 64 pairs together" },
        [FORM_COOKIE_PAIRS] = { 431, "headers_too_large",
                                "the query and the cookies may have 64 pairs together" },
        [FORM_REPEATED] = { 400, "malformed_request", "a header is given twice" },
        [FORM_EXPECT] = { 417, "expectation_failed", "no expectation but 100-continue is met" },
    };
    return &forms[form];
}

#define LANES 0x0101010101010101u /* times a byte: that byte in each lane */

/* Whether all eight bytes are above a blank and below DEL. A sum carries into the next lane only
 * from a byte of 0x80 or more, which is refused whatever the sums are. */
static bool printable_8(const uint8_t *p)
{
    const uint64_t high = LANES * 0x80;
    uint64_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    return ((bytes | (bytes + LANES * (0x80 - 0x7f))) & high) == 0 &&
           ((bytes + LANES * (0x80 - '!')) & high) == high;
}

/* As the library splits them: cookies at a comma too. */
static uint32_t count_pairs(tide_slice text, const char *between)
{
    uint32_t pairs = text.len > 0;
    for (size_t i = 0; i < text.len; i++)
        pairs += text.ptr[i] == between[0] || text.ptr[i] == between[1];
    return pairs;
}

static uint32_t count_query_pairs(tide_slice target)
{
    const uint8_t *mark = memchr(target.ptr, '?', target.len);
    size_t path = mark ? (size_t)(mark - target.ptr) + 1 : target.len;
    return count_pairs(tide_slice_of(target.ptr + path, target.len - path), "&&");
}

const struct tide_refusal_of_form *tide_request_check_target(const struct tide_request_head *head,
                                                             tide_slice target)
{
    size_t at = 0;
    uint32_t pairs;
    if (target.len > TIDE_TARGET_MAX)
        return refuse(FORM_TARGET_LONG);
    if (target.len == 0 || target.ptr[0] != '/')
        return refuse(FORM_TARGET);
    while (target.len - at >= 8 && printable_8(target.ptr + at))
        at += 8;
    for (; at < target.len; at++)
        if (target.ptr[at] <= ' ' || target.ptr[at] >= 0x7f)
            return refuse(FORM_TARGET);
    pairs = count_query_pairs(target);
    if (pairs > TIDE_HEAD_PAIRS_MAX)
        return refuse(FORM_QUERY_PAIRS);
    return pairs + head->cookies > TIDE_HEAD_PAIRS_MAX ? refuse(FORM_COOKIE_PAIRS) : NULL;
}

/* RFC 9110's tchar. */
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

static bool same(tide_slice name, const char *text)
{
    return name.len == strlen(text) && strncasecmp((const char *)name.ptr, text, name.len) == 0;
}

static bool keep_once(tide_slice *place, tide_slice value)
{
    bool first = !place->ptr;
    *place = value;
    return first;
}

static const struct tide_refusal_of_form *take_length(struct tide_request_head *head,
                                                      tide_slice value)
{
    if (head->has_length)
        return refuse(FORM_LENGTH_TWICE);
    if (head->chunked)
        return refuse(FORM_BOTH);
    if (value.len == 0)
        return refuse(FORM_LENGTH);
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9' || head->length > TIDE_HEAD_LENGTH_MAX)
            return refuse(FORM_LENGTH);
        head->length = head->length * 10 + (uint64_t)(value.ptr[i] - '0');
    }
    head->has_length = true;
    return NULL;
}

static const struct tide_refusal_of_form *take_coding(struct tide_request_head *head,
                                                      tide_slice value)
{
    if (head->has_length)
        return refuse(FORM_BOTH);
    if (head->chunked || !same(value, "chunked"))
        return refuse(FORM_CODING);
    head->chunked = true;
    return NULL;
}

static const struct tide_refusal_of_form *take_expect(struct tide_request_head *head,
                                                      tide_slice value)
{
    if (head->expects || !same(value, "100-continue"))
        return refuse(FORM_EXPECT);
    head->expects = true;
    return NULL;
}

/* What decides about framing must be there once; the rest is ours to read or to leave. */
static const struct tide_refusal_of_form *take(struct tide_request_head *head, tide_slice name,
                                               tide_slice value)
{
    switch (name.ptr[0] | 0x20) {
    case 'a':
        if (same(name, "accept-encoding"))
            head->accept_encoding = head->accept_encoding.ptr ? TIDE_SLICE("") : value;
        break;
    case 'c':
        if (same(name, "content-length"))
            return take_length(head, value);
        if (same(name, "content-type") && !keep_once(&head->content_type, value))
            return refuse(FORM_REPEATED);
        if (same(name, "content-encoding") && !keep_once(&head->content_encoding, value))
            return refuse(FORM_REPEATED);
        if (same(name, "cookie"))
            head->cookies += count_pairs(value, ";,");
        break;
    case 'e':
        if (same(name, "expect"))
            return take_expect(head, value);
        break;
    case 'h':
        if (same(name, "host") && !keep_once(&head->host, value))
            return refuse(FORM_HOST_TWICE);
        break;
    case 'i':
        if (same(name, "if-none-match") && !keep_once(&head->if_none_match, value))
            return refuse(FORM_REPEATED);
        break;
    case 'l':
        if (same(name, "last-event-id") && !keep_once(&head->last_event_id, value))
            return refuse(FORM_REPEATED);
        break;
    case 'o':
        if (same(name, "origin") && !keep_once(&head->origin, value))
            return refuse(FORM_REPEATED);
        break;
    case 'r':
        if (same(name, "request-id"))
            head->request_id = value;
        break;
    case 't':
        if (same(name, "transfer-encoding"))
            return take_coding(head, value);
        break;
    case 'x':
        if (same(name, "x-forwarded-for"))
            head->forwarded_for = value;
        else if (same(name, "x-request-id"))
            head->request_id = value;
        else if (same(name, "x-api-key") && !keep_once(&head->api_key, value))
            return refuse(FORM_REPEATED);
        break;
    default:
        break;
    }
    return NULL;
}

static bool is_name(tide_slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!is_token(name.ptr[i]))
            return false;
    return name.len > 0;
}

/* Any byte but controls; a tab is none here. */
static bool is_value(tide_slice value)
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

static tide_slice trim(tide_slice value)
{
    while (value.len && is_blank(value.ptr[0]))
        value = tide_slice_of(value.ptr + 1, value.len - 1);
    while (value.len && is_blank(value.ptr[value.len - 1]))
        value.len--;
    return value;
}

void tide_request_check_begin(struct tide_request_head *head)
{
    memset(head, 0, offsetof(struct tide_request_head, lines));
}

const struct tide_refusal_of_form *tide_request_check_line(struct tide_request_head *head,
                                                           tide_slice name, tide_slice value)
{
    if (head->count == TIDE_HEAD_LINES_MAX)
        return refuse(FORM_LARGE);
    value = trim(value);
    if (!is_name(name) || !is_value(value))
        return refuse(FORM_LINE);
    assert(head->count < TIDE_HEAD_LINES_MAX);
    head->lines[head->count++] = (struct tide_request_head_line){ name, value };
    return take(head, name, value);
}

const struct tide_refusal_of_form *tide_request_check_end(struct tide_request_head *head,
                                                          tide_slice version, size_t bytes)
{
    head->http_1_0 = tide_slice_eq_str(version, "HTTP/1.0");
    if (!head->http_1_0 && !tide_slice_eq_str(version, "HTTP/1.1"))
        return refuse(FORM_VERSION);
    if (bytes > TIDE_HEAD_BYTES_MAX)
        return refuse(FORM_LARGE);
    if (head->http_1_0 && head->chunked)
        return refuse(FORM_CODING);
    if (!head->host.ptr && !head->http_1_0)
        return refuse(FORM_NO_HOST);
    return head->chunked ? refuse(FORM_CHUNKED) : NULL;
}

tide_slice tide_request_head_find(const struct tide_request_head *head, const char *name,
                                  uint32_t *occurrences)
{
    tide_slice found = { 0 };
    *occurrences = 0;
    for (uint32_t i = 0; i < head->count; i++)
        if (same(head->lines[i].name, name) && (*occurrences)++ == 0)
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
