/* Reads JSON without copying it, for answers of many MiB. */
#include "schema/rpc/json_scan.h"
#include "tidemark/text.h"

struct json_scan json_scan_of(uint8_t *text, size_t len)
{
    return (struct json_scan){ .cur = text, .end = text + len, .begin = text };
}

void json_scan_fault(struct json_scan *s, const char *what)
{
    if (s->fault)
        return;
    s->fault = what;
    s->fault_at = (size_t)(s->cur - s->begin);
    s->cur = s->end;
}

static void skip_space(struct json_scan *s)
{
    while (s->cur < s->end &&
           (*s->cur == ' ' || *s->cur == '\n' || *s->cur == '\r' || *s->cur == '\t'))
        s->cur++;
}

static bool json_scan_is(struct json_scan *s, char begin)
{
    skip_space(s);
    return s->cur < s->end && *s->cur == (uint8_t)begin;
}

/* Steps over white space, and over c if it follows. Returns whether it did. */
static bool take_char(struct json_scan *s, char c)
{
    bool there = json_scan_is(s, c);
    s->cur += there;
    return there;
}

static bool need_char(struct json_scan *s, char c, const char *what)
{
    if (take_char(s, c))
        return true;
    json_scan_fault(s, s->cur == s->end ? "the text ends too early" : what);
    return false;
}

bool json_scan_enter(struct json_scan *s, char bracket)
{
    assert(bracket == '{' || bracket == '[');
    if (!need_char(s, bracket,
                   bracket == '{' ? "no object where one belongs" : "no array where one belongs"))
        return false;
    if (++s->depth > JSON_SCAN_DEPTH)
        json_scan_fault(s, "nested too deeply");
    return !s->fault;
}

/* Returns true before a further element: after the bracket, or after a comma. */
static bool another(struct json_scan *s, bool *first, char bracket)
{
    bool was_first = *first;
    *first = false;
    if (s->fault)
        return false;
    if (take_char(s, bracket)) {
        s->depth--;
        return false;
    }
    return was_first || need_char(s, ',', "no comma where one belongs");
}

/* Reads the next member's name, with escapes unresolved. */
static bool next_name(struct json_scan *s, bool *first, tide_slice *name)
{
    if (!another(s, first, '}'))
        return false;
    *name = json_scan_raw(s);
    return need_char(s, ':', "no colon where one belongs");
}

bool json_scan_item(struct json_scan *s, bool *first)
{
    return another(s, first, ']');
}

/* --- strings ----------------------------------------------------------------------------- */

#define EACH_BYTE(v) (0x0101010101010101u * (uint64_t)(v))

/* Returns a bit for the bytes of v that are 0. Only the lowest such bit is exact. */
TIDE_INLINE uint64_t zero_byte(uint64_t v)
{
    return (v - EACH_BYTE(1)) & ~v & EACH_BYTE(0x80);
}

/* Steps over bytes that are neither quote nor backslash nor control character. */
static void skip_plain(struct json_scan *s)
{
    while (s->end - s->cur >= 8) {
        uint64_t v;
        memcpy(&v, s->cur, sizeof v);
        uint64_t control = (v - EACH_BYTE(0x20)) & ~v & EACH_BYTE(0x80);
        if (zero_byte(v ^ EACH_BYTE('"')) | zero_byte(v ^ EACH_BYTE('\\')) | control)
            break;
        s->cur += 8;
    }
    while (s->cur < s->end && *s->cur != '"' && *s->cur != '\\' && *s->cur >= 0x20)
        s->cur++;
}

static bool skip_escape(struct json_scan *s)
{
    uint8_t unit[2];
    size_t left = (size_t)(s->end - s->cur);
    if (left >= 2 && s->cur[1] != 'u' && s->cur[1] && strchr("\"\\/bfnrt", s->cur[1])) {
        s->cur += 2;
        return true;
    }
    if (left >= 6 && s->cur[1] == 'u' &&
        tide_hex_decode(unit, 2, tide_slice_of(s->cur + 2, 4)) == TIDE_OK) {
        s->cur += 6;
        return true;
    }
    json_scan_fault(s, "no such escape");
    return false;
}

tide_slice json_scan_raw(struct json_scan *s)
{
    if (!need_char(s, '"', "no string where one belongs"))
        return (tide_slice){ 0 };
    const uint8_t *from = s->cur;
    for (;;) {
        skip_plain(s);
        if (s->cur < s->end && *s->cur == '\\' && skip_escape(s))
            continue;
        if (s->fault)
            return (tide_slice){ 0 };
        if (s->cur == s->end || *s->cur != '"') {
            json_scan_fault(s, s->cur == s->end ? "the text ends within a string"
                                                : "control character in a string");
            return (tide_slice){ 0 };
        }
        return tide_slice_of(from, (size_t)(s->cur++ - from));
    }
}

static uint32_t utf16_unit(const uint8_t *escape)
{
    uint8_t unit[2] = { 0, 0 };
    if (tide_hex_decode(unit, 2, tide_slice_of(escape + 2, 4)) != TIDE_OK)
        return 0;
    return (uint32_t)unit[0] << 8 | unit[1];
}

static size_t put_utf8(char out[4], uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((0xf0 << (4 - len) & 0xff) | c);
    return len;
}

/* Writes the character of the escape at *at, and moves *at past it. An unpaired surrogate becomes
 * U+FFFD. */
static size_t resolve_escape(char out[4], tide_slice raw, size_t *at)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const uint8_t *p = raw.ptr + *at;
    if (p[1] != 'u') {
        const char *named = strchr(from, p[1]);
        out[0] = named ? to[named - from] : (char)p[1];
        *at += 2;
        return 1;
    }
    uint32_t unit = utf16_unit(p);
    *at += 6;
    if ((unit & 0xf800) != 0xd800)
        return put_utf8(out, unit);
    bool paired = unit < 0xdc00 && raw.len - *at >= 6 && p[6] == '\\' && p[7] == 'u' &&
                  (utf16_unit(p + 6) & 0xfc00) == 0xdc00;
    if (!paired)
        return put_utf8(out, 0xfffd);
    *at += 6;
    return put_utf8(out, 0x10000 + ((unit & 0x3ff) << 10 | (utf16_unit(p + 6) & 0x3ff)));
}

void json_scan_text(struct json_scan *s, char *out, size_t size)
{
    assert(size > 0);
    tide_slice raw = json_scan_raw(s);
    size_t len = 0;
    for (size_t at = 0; at < raw.len;) {
        char bytes[4] = { (char)raw.ptr[at] };
        size_t count = raw.ptr[at] == '\\' ? resolve_escape(bytes, raw, &at) : (at++, 1);
        if (count > size - 1 - len)
            break;
        memcpy(out + len, bytes, count);
        len += count;
    }
    out[len] = '\0';
}

tide_slice json_scan_base64(struct json_scan *s)
{
    if (!need_char(s, '"', "no string where one belongs"))
        return (tide_slice){ 0 };
    uint8_t *out = s->cur;
    size_t made = 0;
    s->cur += tide_base64_groups(out, tide_slice_of(s->cur, (size_t)(s->end - s->cur)), &made);
    if (s->end - s->cur >= 5 && *s->cur != '"') {
        size_t last = tide_base64_last(out + made, s->cur);
        if (last == 0)
            json_scan_fault(s, "malformed base64");
        else
            s->cur += 4;
        made += last;
    }
    if (s->fault || s->cur == s->end || *s->cur != '"') {
        json_scan_fault(s,
                        s->end - s->cur < 5 ? "the text ends within a string" : "malformed base64");
        return (tide_slice){ 0 };
    }
    s->cur++;
    return tide_slice_of(out, made);
}

/* --- numbers and the rest ---------------------------------------------------------------- */

bool json_scan_null(struct json_scan *s)
{
    skip_space(s);
    bool there = s->end - s->cur >= 4 && memcmp(s->cur, "null", 4) == 0;
    s->cur += there ? 4 : 0;
    return there;
}

static bool is_digit(const struct json_scan *s)
{
    return s->cur < s->end && *s->cur >= '0' && *s->cur <= '9';
}

static tide_slice digits(struct json_scan *s)
{
    const uint8_t *from = s->cur;
    while (is_digit(s))
        s->cur++;
    if (s->cur == from)
        json_scan_fault(s, s->cur == s->end ? "the text ends too early"
                                            : "no number where one belongs");
    return tide_slice_of(from, (size_t)(s->cur - from));
}

uint64_t json_scan_u64(struct json_scan *s, uint64_t max)
{
    uint64_t v = 0;
    bool quoted = take_char(s, '"');
    if (s->fault)
        return 0;
    tide_slice text = digits(s);
    bool fraction = s->cur < s->end && (*s->cur == '.' || *s->cur == 'e' || *s->cur == 'E');
    bool spelled = text.len > 1 && text.ptr[0] == '0';
    if (s->fault)
        return 0;
    if (fraction || spelled || tide_parse_u64(&v, text, max) != TIDE_OK) {
        json_scan_fault(s, "not a whole number within its bounds");
        return 0;
    }
    if (quoted && (s->cur == s->end || *s->cur++ != '"'))
        json_scan_fault(s, "not a whole number within its bounds");
    return s->fault ? 0 : v;
}

int64_t json_scan_i64(struct json_scan *s)
{
    bool minus = take_char(s, '-');
    if (minus && !is_digit(s))
        json_scan_fault(s, "no number where one belongs");
    int64_t v = (int64_t)json_scan_u64(s, 1ull << 53);
    return minus ? -v : v;
}

static void skip_number(struct json_scan *s)
{
    if (*s->cur == '-')
        s->cur++;
    tide_slice whole = digits(s);
    if (!s->fault && whole.len > 1 && whole.ptr[0] == '0')
        json_scan_fault(s, "a number with leading zeros");
    if (s->cur < s->end && *s->cur == '.') {
        s->cur++;
        digits(s);
    }
    if (s->cur < s->end && (*s->cur == 'e' || *s->cur == 'E')) {
        s->cur++;
        if (s->cur < s->end && (*s->cur == '+' || *s->cur == '-'))
            s->cur++;
        digits(s);
    }
}

static void skip_word(struct json_scan *s)
{
    static const char *const words[] = { "true", "false", "null" };
    for (size_t i = 0; i < TIDE_COUNT(words); i++) {
        size_t len = strlen(words[i]);
        if ((size_t)(s->end - s->cur) >= len && memcmp(s->cur, words[i], len) == 0) {
            s->cur += len;
            return;
        }
    }
    json_scan_fault(s, s->cur == s->end ? "the text ends too early" : "no value where one belongs");
}

static void skip_plain_value(struct json_scan *s)
{
    if (*s->cur == '"')
        json_scan_raw(s);
    else if (*s->cur == '-' || is_digit(s))
        skip_number(s);
    else
        skip_word(s);
}

void json_scan_skip(struct json_scan *s)
{
    uint32_t outside = s->depth;
    bool objects[JSON_SCAN_DEPTH + 1]; /* for each level: true for an object, false for an array */
    bool first = true;
    do {
        /* before a value */
        skip_space(s);
        bool object = json_scan_is(s, '{');
        if (object || json_scan_is(s, '[')) {
            first = json_scan_enter(s, object ? '{' : '[');
            if (first)
                objects[s->depth] = object;
        } else if (s->cur < s->end) {
            skip_plain_value(s);
            first = false;
        } else {
            json_scan_fault(s, "the text ends too early");
        }
        /* steps to the next value and leaves all levels that end here */
        tide_slice name;
        while (!s->fault && s->depth > outside) {
            bool more = objects[s->depth] ? next_name(s, &first, &name) : json_scan_item(s, &first);
            if (more)
                break;
        }
    } while (!s->fault && s->depth > outside);
}

void json_scan_end(struct json_scan *s)
{
    skip_space(s);
    if (!s->fault && s->cur != s->end)
        json_scan_fault(s, "more than one value");
}

/* --- objects by a table ------------------------------------------------------------------- */

static void read_hash(struct json_scan *s, uint8_t *out)
{
    if (tide_hex_decode(out, TIDE_HASH_BYTES, json_scan_raw(s)) != TIDE_OK)
        json_scan_fault(s, "a hash is not 64 hexadecimal digits");
}

static void read_items(struct json_scan *s, const struct json_scan_member *m, void *out)
{
    for (bool first = json_scan_enter(s, '['); json_scan_item(s, &first);)
        m->read(s, out);
}

static void read_member(struct json_scan *s, const struct json_scan_member *m, void *out)
{
    void *to = (uint8_t *)out + m->at;
    switch (m->kind) {
    case JSON_SCAN_U32:
        *(uint32_t *)to = (uint32_t)json_scan_u64(s, UINT32_MAX);
        break;
    case JSON_SCAN_U64:
        *(uint64_t *)to = json_scan_u64(s, INT64_MAX);
        break;
    case JSON_SCAN_I64:
        *(int64_t *)to = json_scan_i64(s);
        break;
    case JSON_SCAN_TEXT:
        json_scan_text(s, to, m->size);
        break;
    case JSON_SCAN_RAW:
        *(tide_slice *)to = json_scan_raw(s);
        break;
    case JSON_SCAN_BASE64:
        *(tide_slice *)to = json_scan_base64(s);
        break;
    case JSON_SCAN_HASH:
        read_hash(s, to);
        break;
    case JSON_SCAN_VALUE:
        m->read(s, out);
        break;
    case JSON_SCAN_ITEMS:
        read_items(s, m, out);
        break;
    }
}

void json_scan_members(struct json_scan *s, const struct json_scan_member *members, size_t count,
                       const char *lacks, void *out)
{
    uint32_t seen = 0;
    tide_slice name;
    assert(count <= 32);
    for (bool first = json_scan_enter(s, '{'); next_name(s, &first, &name);) {
        size_t i = 0;
        while (i < count && !tide_slice_eq_str(name, members[i].name))
            i++;
        if (i == count) {
            json_scan_skip(s);
            continue;
        }
        bool null = json_scan_null(s);
        if (null && members[i].kind != JSON_SCAN_ITEMS)
            continue;
        if (seen >> i & 1)
            json_scan_fault(s, "a field comes twice");
        seen |= UINT32_C(1) << i;
        if (!null && !s->fault)
            read_member(s, &members[i], out);
    }
    for (size_t i = 0; i < count; i++)
        if (members[i].needed && !(seen >> i & 1))
            json_scan_fault(s, lacks);
}
