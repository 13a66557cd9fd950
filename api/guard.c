#include "api/guard.h"
#include "api/route.h"

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
    FORM_REPEATED,
};

static const struct tide_refusal_of_form *refuse(enum form form)
{
    static const struct tide_refusal_of_form forms[] = {
        [FORM_TARGET] = { 400, "malformed_target",
                          "the request target must begin with a slash and be printable ASCII" },
        [FORM_TARGET_LONG] = { 414, "target_too_long", "path and query may have 2048 bytes" },
        [FORM_VERSION] = { 400, "malformed_request", "HTTP/1.1 or HTTP/1.0 is spoken here" },
        [FORM_LINE] = { 400, "malformed_request",
                        "a header line is not \"Name: value\" with CR LF, or is folded" },
        [FORM_LARGE] = { 431, "headers_too_large",
                         "request line and headers may have 6144 bytes and 48 lines" },
        [FORM_NO_HOST] = { 400, "malformed_request", "HTTP/1.1 needs a Host header" },
        [FORM_HOST_TWICE] = { 400, "malformed_request", "two Host headers" },
        [FORM_LENGTH] = { 400, "malformed_request", "Content-Length is no number" },
        [FORM_LENGTH_TWICE] = { 400, "malformed_request", "two Content-Length headers" },
        [FORM_BOTH] = { 400, "malformed_request", "both Content-Length and Transfer-Encoding" },
        [FORM_CODING] = { 400, "transfer_coding", "no transfer coding but chunked is understood" },
        [FORM_REPEATED] = { 400, "malformed_request", "a header is given twice" },
    };
    return &forms[form];
}

const struct tide_refusal_of_form *tide_guard_too_large(void)
{
    return refuse(FORM_LARGE);
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

const struct tide_refusal_of_form *tide_guard_target(tide_slice target)
{
    size_t at = 0;
    if (target.len > TIDE_TARGET_MAX)
        return refuse(FORM_TARGET_LONG);
    if (target.len == 0 || target.ptr[0] != '/')
        return refuse(FORM_TARGET);
    while (target.len - at >= 8 && printable_8(target.ptr + at))
        at += 8;
    for (; at < target.len; at++)
        if (target.ptr[at] <= ' ' || target.ptr[at] >= 0x7f)
            return refuse(FORM_TARGET);
    return NULL;
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

static const struct tide_refusal_of_form *take_length(struct tide_head *head, tide_slice value)
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

static const struct tide_refusal_of_form *take_coding(struct tide_head *head, tide_slice value)
{
    if (head->has_length)
        return refuse(FORM_BOTH);
    if (head->chunked || head->http_1_0 || !same(value, "chunked"))
        return refuse(FORM_CODING);
    head->chunked = true;
    return NULL;
}

/* What decides about framing must be there once; the rest is ours to read or to leave. */
static const struct tide_refusal_of_form *take(struct tide_head *head, tide_slice name,
                                               tide_slice value)
{
    switch (name.ptr[0] | 0x20) {
    case 'c':
        if (same(name, "content-length"))
            return take_length(head, value);
        if (same(name, "content-type") && !keep_once(&head->content_type, value))
            return refuse(FORM_REPEATED);
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

/* One line at *at, which moves behind it. A value may hold any byte but controls; a tab is one. */
static bool read_line(tide_slice *name, tide_slice *value, const char **at, const char *end)
{
    const uint8_t *p = (const uint8_t *)*at, *last = (const uint8_t *)end, *begin = p;
    while (p < last && is_token(*p))
        p++;
    *name = tide_slice_of(begin, (size_t)(p - begin));
    if (p == last || *p != 0 || name->len == 0)
        return false;
    for (p++; p < last && (*p == ' ' || *p == '\t');)
        p++;
    begin = p;
    while (p < last && (*p >= ' ' || *p == '\t') && *p != 0x7f)
        p++;
    if (last - p < 2 || p[0] != 0 || p[1] != 0)
        return false;
    *value = tide_slice_of(begin, (size_t)(p - begin));
    while (value->len && (value->ptr[value->len - 1] == ' ' || value->ptr[value->len - 1] == '\t'))
        value->len--;
    *at = (const char *)p + 2;
    return true;
}

static const struct tide_refusal_of_form *take_line(struct tide_head *head, const char **at,
                                                    const char *end)
{
    tide_slice name, value;
    return read_line(&name, &value, at, end) ? take(head, name, value) : refuse(FORM_LINE);
}

tide_slice tide_head_find(const struct tide_head *head, const char *name, uint32_t *occurrences)
{
    tide_slice found = { 0 }, have, value;
    *occurrences = 0;
    if (head->lines_text.len == 0)
        return found;
    const char *at = (const char *)head->lines_text.ptr, *end = at + head->lines_text.len;
    while (at < end - 2 && read_line(&have, &value, &at, end)) {
        if (!same(have, name))
            continue;
        if ((*occurrences)++ == 0)
            found = value;
    }
    return found;
}

tide_slice tide_request_header(const struct tide_request *request, const char *name,
                               uint32_t *occurrences)
{
    *occurrences = 0;
    return request->head ? tide_head_find(request->head, name, occurrences) : (tide_slice){ 0 };
}

const struct tide_refusal_of_form *tide_guard_head(struct tide_head *out, const char *version,
                                                   const char *end)
{
    const struct tide_refusal_of_form *wrong = NULL;
    *out = (struct tide_head){ 0 };
    if (end - version < 12 || memcmp(version, "HTTP/1.", 7) != 0 ||
        (version[7] != '0' && version[7] != '1') || memcmp(version + 8, "\0", 2) != 0)
        return refuse(FORM_VERSION);
    out->http_1_0 = version[7] == '0';
    const char *at = version + 10;
    out->lines_text = tide_slice_of(at, (size_t)(end - at));
    while (!wrong && at < end - 2) {
        if (++out->lines > TIDE_HEAD_LINES_MAX)
            return refuse(FORM_LARGE);
        wrong = take_line(out, &at, end);
    }
    if (wrong)
        return wrong;
    if (at != end - 2 || at[0] != 0 || at[1] != 0)
        return refuse(FORM_LINE);
    if (!out->host.ptr && !out->http_1_0)
        return refuse(FORM_NO_HOST);
    return NULL;
}
