#include "tidemark/log.h"
#include "tidemark/buf.h"
#include "tidemark/text.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* The settings of the process's log, set once at the start. */
static _Atomic int least_level = TIDE_INFO;
static _Atomic bool as_json;

static const char *const level_names[] = { "debug", "info", "WARN", "ERROR" };
static_assert(TIDE_COUNT(level_names) == TIDE_ERROR + 1, "each level has its name");

enum { LINE_MAX_BYTES = 4096 };

void tide_log_level_set(enum tide_log_level least)
{
    assert(least <= TIDE_ERROR);
    atomic_store(&least_level, (int)least);
}

void tide_log_json_set(bool json)
{
    atomic_store(&as_json, json);
}

static void timestamp(char *out, size_t size)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    char seconds[TIDE_RFC3339_BYTES];
    tide_time_rfc3339(seconds, t.tv_sec);
    snprintf(out, size, "%.19s.%03dZ", seconds, (int)(t.tv_nsec / 1000000));
}

/* Writes the value of a quoted field as a JSON string, without its escapes. Returns the text after
 * it. */
static const char *json_quoted(struct tide_buf *line, const char *p)
{
    struct tide_buf value;
    tide_buf_init(&value, LINE_MAX_BYTES);
    for (; *p && *p != '"'; p++) {
        p += *p == '\\' && p[1];
        tide_buf_u8(&value, (uint8_t)*p);
    }
    tide_buf_json_string(line, tide_buf_view(&value));
    tide_buf_release(&value);
    return p + (*p == '"');
}

/* Turns key=value key="quoted value" into ,"key":"value" pairs. */
static void json_pairs(struct tide_buf *line, const char *p)
{
    while (*p) {
        while (*p == ' ')
            p++;
        const char *key = p;
        while (*p && *p != '=' && *p != ' ')
            p++;
        if (*p != '=')
            continue;
        tide_buf_str(line, ",");
        tide_buf_json_string(line, tide_slice_of(key, (size_t)(p - key)));
        tide_buf_str(line, ":");
        const char *value = ++p;
        if (*p == '"') {
            p = json_quoted(line, p + 1);
        } else {
            while (*p && *p != ' ')
                p++;
            tide_buf_json_string(line, tide_slice_of(value, (size_t)(p - value)));
        }
    }
}

/* Ends a quoted value that was cut: text has len bytes, and room for two more. */
static void close_quote(char *text, size_t len)
{
    bool quoted = false, escaped = false;
    for (size_t i = 0; i < len; i++) {
        bool plain = escaped || text[i] != '\\';
        quoted ^= !escaped && text[i] == '"';
        escaped = !plain;
    }
    if (quoted)
        snprintf(text + len - escaped, 2, "\"");
}

void tide_log(enum tide_log_level level, const char *event, const char *fields, ...)
{
    assert(level <= TIDE_ERROR);
    if ((int)level < atomic_load(&least_level))
        return;
    char text[LINE_MAX_BYTES + 1];
    va_list args;
    va_start(args, fields);
    if (vsnprintf(text, LINE_MAX_BYTES, fields, args) >= LINE_MAX_BYTES)
        close_quote(text, LINE_MAX_BYTES - 1);
    va_end(args);
    char now[40];
    timestamp(now, sizeof now);

    struct tide_buf line;
    tide_buf_init(&line, (size_t)8 * LINE_MAX_BYTES); /* a JSON escape has six bytes */
    if (atomic_load(&as_json)) {
        tide_buf_putf(&line, "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\"", now,
                      level_names[level], event);
        json_pairs(&line, text);
        tide_buf_str(&line, "}\n");
    } else {
        tide_buf_putf(&line, "%s %s %s%s%s\n", now, level_names[level], event, *text ? " " : "",
                      text);
    }
    ssize_t wrote = write(STDERR_FILENO, line.ptr, line.len);
    (void)wrote; /* a closed or full log must not stop the service */
    tide_buf_release(&line);
}

const char *tide_log_quote(char *out, size_t size, const char *text)
{
    assert(size >= 3);
    size_t at = 0;
    out[at++] = '"';
    for (; *text && at + 3 < size; text++) {
        if (*text == '"' || *text == '\\')
            out[at++] = '\\';
        out[at++] = (uint8_t)*text < 0x20 ? ' ' : *text;
    }
    assert(at + 2 <= size);
    out[at++] = '"';
    out[at] = '\0';
    return out;
}
