/* Replies: header lines and problems. */
#include "api/http/reply.h"
#include "tidemark/text.h"

#include <stdarg.h>
#include <strings.h>
#include <unistd.h>

/* bytes; the library's memory for the connection must hold them too (SERVER_POOL_BYTES) */
enum { LINES_MAX = 4096 };

void tide_reply_init(struct tide_reply *reply)
{
    *reply = (struct tide_reply){ 0 };
    tide_buf_init(&reply->body, TIDE_REPLY_BODY_MAX);
    tide_buf_init(&reply->lines, LINES_MAX);
    tide_reply_reset(reply);
}

/* Closes the reply's file, if it has one. */
static void drop_file(struct tide_reply *reply)
{
    if (reply->file.size)
        close(reply->file.fd);
    reply->file = (struct tide_reply_file){ 0 };
}

void tide_reply_reset(struct tide_reply *reply)
{
    drop_file(reply);
    struct tide_buf body = reply->body, lines = reply->lines;
    tide_buf_reset(&body);
    tide_buf_reset(&lines);
    *reply = (struct tide_reply){ .status = 200, .body = body, .lines = lines };
}

void tide_reply_release(struct tide_reply *reply)
{
    drop_file(reply);
    tide_buf_release(&reply->body);
    tide_buf_release(&reply->lines);
}

/* Appends name, NUL, value, NUL. The texts must be short: a failed buffer makes the answer 500
 * or 503. */
void tide_reply_header(struct tide_reply *reply, const char *name, const char *value)
{
    tide_buf_put(&reply->lines, name, strlen(name) + 1);
    tide_buf_put(&reply->lines, value, strlen(value) + 1);
}

/* The last of several lines with that name counts. */
const char *tide_reply_header_of(const struct tide_reply *reply, const char *name)
{
    const char *found = NULL;
    if (reply->lines.len == 0 || reply->lines.failed) /* the last text may have no end */
        return NULL;
    assert(reply->lines.ptr[reply->lines.len - 1] == 0); /* tide_reply_header ends each text */
    const char *at = (const char *)reply->lines.ptr, *end = at + reply->lines.len;
    while (at < end) {
        const char *value = at + strlen(at) + 1;
        if (strcasecmp(at, name) == 0)
            found = value;
        at = value + strlen(value) + 1;
    }
    return found;
}

static const char *title_of(uint16_t status)
{
    static const struct {
        uint16_t status;
        const char *title;
    } titles[] = {
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 406, "Not Acceptable" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 410, "Gone" },
        { 411, "Length Required" },
        { 413, "Content Too Large" },
        { 414, "URI Too Long" },
        { 415, "Unsupported Media Type" },
        { 417, "Expectation Failed" },
        { 429, "Too Many Requests" },
        { 422, "Unprocessable Content" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 502, "Bad Gateway" },
        { 503, "Service Unavailable" },
        { 505, "HTTP Version Not Supported" },
    };
    for (size_t i = 0; i < TIDE_COUNT(titles); i++)
        if (titles[i].status == status)
            return titles[i].title;
    return "Error";
}

static void put_member(struct tide_buf *body, const char *name, const char *text)
{
    tide_buf_putf(body, "\"%s\":", name);
    tide_buf_json_string(body, tide_slice_str(text));
}

/* Discards everything of an answer that was begun, so that no part of it is sent with the
 * problem. */
void tide_reply_problem(struct tide_reply *reply, uint16_t status, const char *code,
                        const char *detail, ...)
{
    char text[512];
    va_list args;
    va_start(args, detail);
    vsnprintf(text, sizeof text, detail, args);
    va_end(args);
    drop_file(reply);
    tide_buf_reset(&reply->body);
    tide_buf_reset(&reply->lines);
    reply->status = status;
    reply->content_type = "application/problem+json; charset=utf-8";
    reply->cache_control = "no-store";
    reply->content_from = 0;
    reply->has_etag = false;
    reply->fixed = (tide_slice){ 0 };
    reply->field_count = 0;
    tide_buf_putf(&reply->body, "{\"type\":\"urn:tidemark:problem:%s\",\"title\":\"%s\"", code,
                  title_of(status));
    tide_buf_putf(&reply->body, ",\"status\":%u,\"code\":\"%s\",", status, code);
    put_member(&reply->body, "detail", text);
    tide_buf_u8(&reply->body, '}');
}

/* Writes where a field is: "/addresses/3" is a pointer into the body, "?limit" and "{pool}" name
 * parameters. */
static void put_where(struct tide_buf *body, const char *where)
{
    char name[64];
    assert(!*where || strchr("/?{", *where));
    if (*where == '/' || !*where) {
        put_member(body, "pointer", where);
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(where + 1, "}"), where + 1);
    put_member(body, "in", *where == '?' ? "query" : "path");
    tide_buf_u8(body, ',');
    put_member(body, "parameter", name);
}

void tide_reply_problem_field(struct tide_reply *reply, const char *where, const char *detail)
{
    struct tide_buf *body = &reply->body;
    if (reply->field_count++ >= TIDE_PROBLEM_FIELDS || body->failed)
        return;
    assert(reply->status >= 400);
    assert(body->len > 2 && body->ptr[body->len - 1] == '}');
    bool first = reply->field_count == 1;
    body->len -= first ? 1 : 2; /* "}", or "]}" */
    tide_buf_str(body, first ? ",\"errors\":[{" : ",{");
    put_where(body, where);
    tide_buf_u8(body, ',');
    put_member(body, "detail", detail);
    tide_buf_str(body, "}]}");
}

/* An unknown name may be anything, even a secret: only plain short names are shown. */
void tide_reply_problem_unknown(struct tide_reply *reply, const char *name)
{
    enum { SHOWN_MAX = 32 };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-";
    char where[SHOWN_MAX + 2] = "";
    size_t len = strlen(name);
    if (len > 0 && len <= SHOWN_MAX && strspn(name, letters) == len)
        snprintf(where, sizeof where, "/%s", name);
    tide_reply_problem_field(reply, where, "is not a member of this body");
}
