#include "tidemark/text.h"

#include <string.h>
#include <time.h>

static const char hex_digits[] = "0123456789abcdef";

void tide_hex(char *out, tide_slice in)
{
    for (size_t i = 0; i < in.len; i++) {
        out[2 * i] = hex_digits[in.ptr[i] >> 4];
        out[2 * i + 1] = hex_digits[in.ptr[i] & 15];
    }
}

static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

tide_status tide_hex_decode(uint8_t *out, size_t len, tide_slice text)
{
    if (text.len != 2 * len)
        return TIDE_E_DECODE;
    for (size_t i = 0; i < len; i++) {
        int hi = hex_value(text.ptr[2 * i]);
        int lo = hex_value(text.ptr[2 * i + 1]);
        if (hi < 0 || lo < 0)
            return TIDE_E_DECODE;
        out[i] = (uint8_t)(hi << 4 | lo);
    }
    return TIDE_OK;
}

void tide_bytea_text(char *out, tide_slice in)
{
    memcpy(out, "\\x", 2);
    tide_hex(out + 2, in);
    out[TIDE_BYTEA_BYTES(in.len) - 1] = 0;
}

void tide_buf_hex(struct tide_buf *buf, tide_slice in)
{
    uint8_t *to = tide_buf_room(buf, 2 * in.len);
    if (to) {
        tide_hex((char *)to, in);
        buf->len += 2 * in.len;
    }
}

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char base64url_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

TIDE_INLINE void put_base64_group(uint8_t *to, uint32_t v, const char *digits)
{
    to[0] = (uint8_t)digits[v >> 18];
    to[1] = (uint8_t)digits[v >> 12 & 63];
    to[2] = (uint8_t)digits[v >> 6 & 63];
    to[3] = (uint8_t)digits[v & 63];
}

/* Appends base64 with padding, with the given digits. */
static void put_base64(struct tide_buf *buf, tide_slice in, const char *digits)
{
    size_t need = (in.len + 2) / 3 * 4, whole = in.len / 3 * 3;
    uint8_t *to = tide_buf_room(buf, need);
    if (!to)
        return;
    for (size_t i = 0; i < whole; i += 3, to += 4)
        put_base64_group(
            to, (uint32_t)in.ptr[i] << 16 | (uint32_t)in.ptr[i + 1] << 8 | in.ptr[i + 2], digits);
    if (in.len > whole) {
        bool two = in.len - whole == 2;
        put_base64_group(
            to, (uint32_t)in.ptr[whole] << 16 | (two ? (uint32_t)in.ptr[whole + 1] << 8 : 0),
            digits);
        if (!two)
            to[2] = '=';
        to[3] = '=';
    }
    buf->len += need;
}

void tide_buf_base64(struct tide_buf *buf, tide_slice in)
{
    put_base64(buf, in, base64_digits);
}

void tide_buf_base64url(struct tide_buf *buf, tide_slice in)
{
    size_t from = buf->len;
    put_base64(buf, in, base64url_digits);
    while (!buf->failed && buf->len > from && buf->ptr[buf->len - 1] == '=')
        buf->len--;
}

/* The value of each digit, shifted to its place in a group of four. BAD marks bytes that are no
 * digit. */
#define BAD 0x01000000u
#define DIGIT(c)                                 \
    ((c) >= 'A' && (c) <= 'Z'   ? (c) - 'A'      \
     : (c) >= 'a' && (c) <= 'z' ? (c) - 'a' + 26 \
     : (c) >= '0' && (c) <= '9' ? (c) - '0' + 52 \
     : (c) == '+'               ? 62             \
     : (c) == '/'               ? 63             \
                                : -1)
#define PLACE(c, shift) (DIGIT(c) < 0 ? BAD : (uint32_t)DIGIT(c) << (shift))
#define FOUR(c, shift) \
    PLACE(c, shift), PLACE((c) + 1, shift), PLACE((c) + 2, shift), PLACE((c) + 3, shift)
#define SIXTEEN(c, s) FOUR(c, s), FOUR((c) + 4, s), FOUR((c) + 8, s), FOUR((c) + 12, s)
#define SIXTY_FOUR(c, s) \
    SIXTEEN(c, s), SIXTEEN((c) + 16, s), SIXTEEN((c) + 32, s), SIXTEEN((c) + 48, s)
#define ALL(s) SIXTY_FOUR(0, s), SIXTY_FOUR(64, s), SIXTY_FOUR(128, s), SIXTY_FOUR(192, s)

static const uint32_t base64_places[4][256] = { { ALL(18) }, { ALL(12) }, { ALL(6) }, { ALL(0) } };

/* Returns the 24 bits of four digits. The result is at least BAD if one of them is no digit. */
TIDE_INLINE uint32_t base64_group(const uint8_t *p)
{
    return base64_places[0][p[0]] | base64_places[1][p[1]] | base64_places[2][p[2]] |
           base64_places[3][p[3]];
}

size_t tide_base64_groups(uint8_t *out, tide_slice text, size_t *made)
{
    assert(text.ptr || text.len == 0);
    const uint8_t *p = text.ptr;
    const uint8_t *to = out;
    size_t left = text.len;
    /* Decodes eight digits in each step and writes eight bytes, of which six count. The next step
     * overwrites the two others. After the last step they lie within the room of the remaining
     * groups. */
    while (left >= 16) {
        uint32_t a = base64_group(p), b = base64_group(p + 4);
        if ((a | b) >= BAD)
            break;
        uint64_t word = __builtin_bswap64((uint64_t)a << 40 | (uint64_t)b << 16);
        memcpy(out, &word, sizeof word);
        p += 8;
        out += 6;
        left -= 8;
    }
    for (; left >= 4; p += 4, left -= 4) {
        uint32_t v = base64_group(p);
        if (v >= BAD)
            break;
        *out++ = (uint8_t)(v >> 16);
        *out++ = (uint8_t)(v >> 8);
        *out++ = (uint8_t)v;
    }
    *made = (size_t)(out - to);
    assert(left <= text.len && *made <= text.len / 4 * 3);
    return text.len - left;
}

size_t tide_base64_last(uint8_t *out, const uint8_t *group)
{
    static const char zero[] = "AA";
    size_t digits = group[3] != '=' ? 4 : group[2] != '=' ? 3 : 2;
    uint8_t four[4];
    memcpy(four, group, digits);
    memcpy(four + digits, zero, 4 - digits);
    uint32_t v = base64_group(four);
    if (v >= BAD || (digits == 2 && (v & 0xffff)) || (digits == 3 && (v & 0xff)))
        return 0;
    for (size_t i = 0; i + 1 < digits; i++)
        out[i] = (uint8_t)(v >> (16 - 8 * i));
    return digits - 1;
}

tide_status tide_buf_base64_decode(struct tide_buf *buf, tide_slice text)
{
    if (text.len % 4)
        return TIDE_E_DECODE;
    if (text.len == 0)
        return TIDE_OK;
    assert(text.ptr);
    uint8_t *to = tide_buf_room(buf, text.len / 4 * 3);
    if (!to)
        return TIDE_E_LIMIT;
    size_t made = 0, body = text.len - 4;
    if (tide_base64_groups(to, tide_slice_of(text.ptr, body), &made) != body)
        return TIDE_E_DECODE;
    size_t rest = tide_base64_last(to + made, text.ptr + body);
    buf->len += rest ? made + rest : 0;
    return rest ? TIDE_OK : TIDE_E_DECODE;
}

/* Translates the text to the standard alphabet with padding, and decodes that. */
tide_status tide_buf_base64url_decode(struct tide_buf *buf, tide_slice text)
{
    struct tide_buf usual;
    if (text.len % 4 == 1)
        return TIDE_E_DECODE;
    tide_buf_init(&usual, text.len + 4);
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        bool other = c == '+' || c == '/' || c == '=';
        tide_buf_u8(&usual, other ? 0 : c == '-' ? '+' : c == '_' ? '/' : c);
    }
    while (usual.len % 4)
        tide_buf_u8(&usual, '=');
    tide_status status =
        usual.failed ? TIDE_E_MEMORY : tide_buf_base64_decode(buf, tide_buf_view(&usual));
    tide_buf_release(&usual);
    return status;
}

tide_status tide_parse_u64(uint64_t *out, tide_slice text, uint64_t max)
{
    if (text.len == 0)
        return TIDE_E_DECODE;
    uint64_t v = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return TIDE_E_DECODE;
        uint64_t digit = (uint64_t)(text.ptr[i] - '0');
        if (digit > max || v > (max - digit) / 10)
            return TIDE_E_RANGE;
        v = v * 10 + digit;
    }
    *out = v;
    return TIDE_OK;
}

size_t tide_u64_text(char *out, uint64_t v)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    memcpy(out, digits + at, sizeof digits - at);
    assert(at < sizeof digits);
    return sizeof digits - at;
}

/* Returns the length of the well-formed sequence at text[at], or 0. */
static size_t utf8_length(tide_slice text, size_t at)
{
    const uint8_t *p = text.ptr + at;
    size_t left = text.len - at;
    if (p[0] < 0x80)
        return 1;
    assert(at < text.len);
    size_t len = p[0] >= 0xc2 && p[0] <= 0xdf   ? 2
                 : (p[0] & 0xf0) == 0xe0        ? 3
                 : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
                                                : 0;
    if (len == 0 || len > left)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool outside = (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f);
    return overlong || outside ? 0 : len;
}

bool tide_utf8_valid(tide_slice text)
{
    for (size_t at = 0; at < text.len;) {
        uint64_t eight;
        /* skips eight ASCII bytes at once: most text is ASCII */
        if (text.len - at >= sizeof eight) {
            memcpy(&eight, text.ptr + at, sizeof eight);
            if ((eight & 0x8080808080808080u) == 0) {
                at += sizeof eight;
                continue;
            }
        }
        size_t len = utf8_length(text, at);
        if (len == 0)
            return false;
        at += len;
    }
    return true;
}

void tide_text_make_ascii(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

static void json_escape(struct tide_buf *buf, uint8_t c)
{
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (size_t i = 0; i + 1 < sizeof named; i += 2) {
        if ((uint8_t)named[i] == c) {
            tide_buf_u8(buf, '\\');
            tide_buf_u8(buf, (uint8_t)named[i + 1]);
            return;
        }
    }
    tide_buf_putf(buf, "\\u%04x", c);
}

void tide_buf_json_string(struct tide_buf *buf, tide_slice text)
{
    tide_buf_u8(buf, '"');
    size_t plain = 0; /* start of the bytes that are not copied yet */
    for (size_t at = 0; at < text.len;) {
        uint8_t c = text.ptr[at];
        size_t len = c >= 0x20 && c < 0x7f && c != '"' && c != '\\' ? 1 : utf8_length(text, at);
        if (len > 1 || (len == 1 && c >= 0x20 && c != '"' && c != '\\')) {
            at += len;
            continue;
        }
        tide_buf_put(buf, text.ptr + plain, at - plain);
        if (len == 0)
            tide_buf_str(buf, "\xef\xbf\xbd");
        else
            json_escape(buf, c);
        plain = ++at;
    }
    if (text.len > plain)
        tide_buf_put(buf, text.ptr + plain, text.len - plain);
    tide_buf_u8(buf, '"');
}

static void put_two(char *out, uint32_t v)
{
    out[0] = (char)('0' + v / 10);
    out[1] = (char)('0' + v % 10);
}

/* Writes the date of a day counted from 1970-01-01, by the algorithm of 400-year eras that begin on
 * 0000-03-01. */
static void put_date(char *out, int64_t day)
{
    uint32_t days = (uint32_t)(day + 719468); /* days since 0000-03-01 */
    uint32_t era = days / 146097, in_era = days % 146097;
    uint32_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    uint32_t in_year = in_era - (365 * year + year / 4 - year / 100);
    uint32_t month = (5 * in_year + 2) / 153; /* 0 is March */
    year += era * 400 + (month >= 10);
    put_two(out, year / 100);
    put_two(out + 2, year % 100);
    put_two(out + 5, month < 10 ? month + 3 : month - 9);
    put_two(out + 8, in_year - (153 * month + 2) / 5 + 1);
}

void tide_time_rfc3339_ms(char out[TIDE_RFC3339_BYTES], int64_t unix_ms)
{
    enum { POINT_AT = sizeof "0000-00-00T00:00:00" - 1 };
    int64_t ms = (unix_ms % 1000 + 1000) % 1000;
    tide_time_rfc3339(out, (unix_ms - ms) / 1000);
    if (ms)
        snprintf(out + POINT_AT, TIDE_RFC3339_BYTES - POINT_AT, ".%03dZ", (int)ms);
}

void tide_time_rfc3339(char out[TIDE_RFC3339_BYTES], int64_t unix_seconds)
{
    const int64_t first = -62135596800, last = TIDE_TIME_LAST; /* years 1 to 9999 */
    int64_t t = unix_seconds < first ? first : unix_seconds > last ? last : unix_seconds;
    uint64_t since = (uint64_t)(t - first);
    int64_t day = (int64_t)(since / 86400) + first / 86400;
    assert(t >= first && t <= last);
    uint32_t second = (uint32_t)(since % 86400);
    memcpy(out, "0000-00-00T00:00:00Z", 21);
    put_date(out, day);
    put_two(out + 11, second / 3600);
    put_two(out + 14, second / 60 % 60);
    put_two(out + 17, second % 60);
}

/* Reads count digits at *at and moves *at behind them. Returns -1 if one is missing. */
static int take_digits(tide_slice text, size_t *at, size_t count)
{
    int value = 0;
    for (size_t end = *at + count; *at < end; ++*at) {
        if (*at >= text.len || text.ptr[*at] < '0' || text.ptr[*at] > '9')
            return -1;
        value = value * 10 + (text.ptr[*at] - '0');
    }
    return value;
}

static bool take_one(tide_slice text, size_t *at, char either, char other)
{
    bool found =
        *at < text.len && (text.ptr[*at] == (uint8_t)either || text.ptr[*at] == (uint8_t)other);
    *at += found;
    return found;
}

/* Reads the separator and two digits of at most max. Returns -1 otherwise. */
static int take_two(tide_slice text, size_t *at, char separator, int max)
{
    int value = take_one(text, at, separator, separator) ? take_digits(text, at, 2) : -1;
    return value <= max ? value : -1;
}

/* The inverse of put_date, but counted from 0000-03-01. Returns -1 for a day that the month does
 * not have. */
static int64_t day_of(int year, int month, int day)
{
    static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (year < 0 || month < 1 || month > 12 || day < 1 ||
        day > days[month - 1] + (leap && month == 2))
        return -1;
    /* years and months that begin in March */
    int64_t y = year - (month < 3), m = month < 3 ? month + 9 : month - 3;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1;
}

/* Reads "Z" or "+02:00" at the end of the text. *seconds is the offset to subtract. Returns false
 * for anything else. */
static bool take_zone(tide_slice text, size_t *at, int *seconds)
{
    *seconds = 0;
    if (take_one(text, at, 'Z', 'z'))
        return *at == text.len;
    bool west = *at < text.len && text.ptr[*at] == '-';
    if (!take_one(text, at, '+', '-'))
        return false;
    int hours = take_digits(text, at, 2), minutes = take_two(text, at, ':', 59);
    *seconds = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return hours >= 0 && hours < 24 && minutes >= 0 && *at == text.len;
}

/* Reads the digits after a decimal point as milliseconds, rounded up. Returns false if there is no
 * digit. */
static bool take_fraction(tide_slice text, size_t *at, int *ms)
{
    size_t from = *at;
    bool more = false;
    int weight = 100;
    for (int digit; (digit = take_digits(text, at, 1)) >= 0; weight /= 10) {
        *ms += digit * weight;
        more |= digit > 0 && weight == 0;
    }
    *ms += more;
    return *at > from;
}

tide_status tide_time_parse(int64_t *unix_seconds, tide_slice text)
{
    int64_t ms;
    tide_status status = tide_time_parse_ms(&ms, text);
    if (status == TIDE_OK)
        *unix_seconds = ms / 1000 + (ms % 1000 > 0);
    return status;
}

tide_status tide_time_parse_ms(int64_t *unix_ms, tide_slice text)
{
    size_t at = 0;
    int ms = 0;
    int zone, year = take_digits(text, &at, 4);
    int month = take_two(text, &at, '-', 12), day = take_two(text, &at, '-', 31);
    int64_t days = day_of(year, month, day);
    if (days < 0 || !take_one(text, &at, 'T', 't'))
        return TIDE_E_DECODE;
    int hour = take_digits(text, &at, 2);
    int minute = take_two(text, &at, ':', 59), second = take_two(text, &at, ':', 60);
    if (hour < 0 || hour > 23 || minute < 0 || second < 0)
        return TIDE_E_DECODE;
    if (take_one(text, &at, '.', '.') && !take_fraction(text, &at, &ms))
        return TIDE_E_DECODE;
    if (!take_zone(text, &at, &zone))
        return TIDE_E_DECODE;
    int64_t seconds =
        (days - 719468) * 86400 + hour * INT64_C(3600) + minute * INT64_C(60) + second - zone;
    *unix_ms = seconds * 1000 + ms;
    return TIDE_OK;
}
