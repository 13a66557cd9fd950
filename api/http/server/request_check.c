/* Checks of a request's form: header lines, framing and target. */
#include "api/http/server/request_check.h"
#include "api/http/header.h"
#include "api/http/route.h"

#define LENGTH_MAX ((uint64_t)1 << 40) /* a larger Content-Length is rejected */

/* Faults of a form */
static const struct tide_request_fault
    wrong_target = { 400, "malformed_target",
                     "the request target must begin with a slash and be printable ASCII" },
    wrong_target_long = { 414, "target_too_long", "path and query may have at most 2048 bytes" },
    wrong_version = { 400, "malformed_request", "the version must be HTTP/1.1 or HTTP/1.0" },
    wrong_line = { 400, "malformed_request",
                   "a header line is not \"Name: value\" of printable characters" },
    wrong_large = { 431, "headers_too_large",
                    "request line and headers may have at most 6144 bytes and 48 lines" },
    wrong_no_host = { 400, "malformed_request", "HTTP/1.1 needs a Host header" },
    wrong_host_twice = { 400, "malformed_request", "two Host headers" },
    wrong_length = { 400, "malformed_request", "Content-Length is not a number" },
    wrong_length_twice = { 400, "malformed_request", "two Content-Length headers" },
    wrong_both = { 400, "malformed_request", "both Content-Length and Transfer-Encoding" },
    wrong_coding = { 400, "transfer_coding", "the transfer coding is unknown" },
    wrong_chunked = { 411, "length_required",
                      "a body needs Content-Length: chunked bodies are not accepted" },
    wrong_query_pairs = { 414, "target_too_long",
                          "the query and the cookies may have 64 pairs together" },
    wrong_cookie_pairs = { 431, "headers_too_large",
                           "the query and the cookies may have 64 pairs together" },
    wrong_repeated = { 400, "malformed_request", "a header is given twice" },
    wrong_expect = { 417, "expectation_failed", "the only supported expectation is 100-continue" };

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
        return &wrong_target_long;
    if (target.len == 0 || target.ptr[0] != '/')
        return &wrong_target;
    while (target.len - at >= 8 && printable_8(target.ptr + at))
        at += 8;
    for (; at < target.len; at++)
        if (target.ptr[at] <= ' ' || target.ptr[at] >= 0x7f)
            return &wrong_target;
    pairs = count_query_pairs(target);
    if (pairs > TIDE_HEAD_PAIRS_MAX)
        return &wrong_query_pairs;
    return pairs + head->cookies > TIDE_HEAD_PAIRS_MAX ? &wrong_cookie_pairs : NULL;
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

/* Reads Content-Length, which must be the only framing header. The limit also prevents an
 * overflow. */
static const struct tide_request_fault *read_length(struct tide_request_head *head,
                                                    tide_slice value)
{
    if (head->has_length)
        return &wrong_length_twice;
    if (head->chunked)
        return &wrong_both;
    if (value.len == 0)
        return &wrong_length;
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9' || head->length > LENGTH_MAX)
            return &wrong_length;
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
        return &wrong_both;
    if (head->chunked || !tide_header_is(value, "chunked"))
        return &wrong_coding;
    head->chunked = true;
    return NULL;
}

static const struct tide_request_fault *read_expect(struct tide_request_head *head,
                                                    tide_slice value)
{
    if (head->expects || !tide_header_is(value, "100-continue"))
        return &wrong_expect;
    head->expects = true;
    return NULL;
}

static const struct tide_request_fault *read_accepted(struct tide_request_head *head,
                                                      tide_slice value)
{
    head->accept_encoding = head->accept_encoding.ptr ? TIDE_SLICE("") : value;
    return NULL;
}

static const struct tide_request_fault *read_cookie(struct tide_request_head *head,
                                                    tide_slice value)
{
    head->cookies += count_pairs(value, ";,");
    return NULL;
}

/* The headers that the server uses. Those that decide about framing, and most others, may occur
 * once only. */
static const struct known_header {
    const char *name;
    size_t len;
    size_t member;                             /* offset of the value in struct tide_request_head */
    const struct tide_request_fault *repeated; /* NULL: the last of several counts */
    const struct tide_request_fault *(*read)(struct tide_request_head *head, tide_slice value);
} known_headers[] = {
#define STORED(name, member, repeated)                                                     \
    {                                                                                      \
        name, sizeof(name) - 1, offsetof(struct tide_request_head, member), repeated, NULL \
    }
#define READ(name, function)                      \
    {                                             \
        name, sizeof(name) - 1, 0, NULL, function \
    }
    STORED("host", host, &wrong_host_twice),
    STORED("content-type", content_type, &wrong_repeated),
    STORED("content-encoding", content_encoding, &wrong_repeated),
    STORED("if-none-match", if_none_match, &wrong_repeated),
    STORED("last-event-id", last_event_id, &wrong_repeated),
    STORED("origin", origin, &wrong_repeated),
    STORED("x-api-key", api_key, &wrong_repeated),
    STORED("request-id", request_id, NULL),
    STORED("x-request-id", request_id, NULL),
    STORED("x-forwarded-for", forwarded_for, NULL),
    READ("accept-encoding", read_accepted),
    READ("content-length", read_length),
    READ("cookie", read_cookie),
    READ("expect", read_expect),
    READ("transfer-encoding", read_coding),
#undef STORED
#undef READ
};

static const struct tide_request_fault *read_line(struct tide_request_head *head, tide_slice name,
                                                  tide_slice value)
{
    const struct known_header *known = known_headers, *end = known + TIDE_COUNT(known_headers);
    while (known < end && (known->len != name.len || known->name[0] != (name.ptr[0] | 0x20) ||
                           !tide_header_is(name, known->name)))
        known++;
    if (known == end)
        return NULL;
    if (known->read)
        return known->read(head, value);
    tide_slice *slot = (tide_slice *)(void *)((char *)head + known->member);
    bool first = !slot->ptr;
    *slot = value;
    return first ? NULL : known->repeated;
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
        return &wrong_large;
    value = tide_header_trim(value);
    if (!is_header_name(name) || !is_header_value(value))
        return &wrong_line;
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
        return &wrong_version;
    if (bytes > TIDE_HEAD_BYTES_MAX)
        return &wrong_large;
    if (head->http_1_0 && head->chunked)
        return &wrong_coding;
    if (!head->host.ptr && !head->http_1_0)
        return &wrong_no_host;
    return head->chunked ? &wrong_chunked : NULL;
}

tide_slice tide_request_head_find(const struct tide_request_head *head, const char *name,
                                  uint32_t *occurrences)
{
    tide_slice found = { 0 };
    *occurrences = 0;
    for (uint32_t i = 0; i < head->count; i++)
        if (tide_header_is(head->lines[i].name, name) && (*occurrences)++ == 0)
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
