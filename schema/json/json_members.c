/* Reads JSON values by a table of members. Messages never contain a value. */
#include "tidemark/json_members.h"
#include "tidemark/text.h"
#include "tidemark/url.h"

tide_status tide_read_refuse(struct tide_members_reader *r, const char *expected)
{
    return tide_fail(r->err, TIDE_E_CONFIG, "%s: %s", *r->path ? r->path : "/", expected);
}

size_t tide_read_enter(struct tide_members_reader *r, const char *name)
{
    size_t at = strlen(r->path);
    assert(at < sizeof r->path);
    snprintf(r->path + at, sizeof r->path - at, "/%s", name);
    return at;
}

static size_t enter_index(struct tide_members_reader *r, size_t index)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%zu", index);
    return tide_read_enter(r, digits);
}

void tide_read_leave(struct tide_members_reader *r, size_t at)
{
    assert(at < sizeof r->path);
    r->path[at] = '\0';
}

/* True for 1 to max characters of a-z, 0-9, _ and -. */
static bool is_word(tide_slice text, size_t max)
{
    for (size_t i = 0; i < text.len; i++)
        if (!(text.ptr[i] >= 'a' && text.ptr[i] <= 'z') &&
            !(text.ptr[i] >= '0' && text.ptr[i] <= '9') && text.ptr[i] != '_' && text.ptr[i] != '-')
            return false;
    return text.len > 0 && text.len <= max;
}

/* Rejects an unknown member. The message shows the name only if it looks like a member's: a
 * misplaced secret must not reach the log. */
static tide_status refuse_unknown(struct tide_members_reader *r, const char *name)
{
    size_t len = strlen(name);
    bool plain = len > 0 && len <= 24;
    for (size_t i = 0; i < len && plain; i++)
        plain = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
                name[i] == '_';
    tide_read_enter(r, plain ? name : "?");
    return tide_read_refuse(r, "no such member here");
}

/* Looks for unknown members first, so that a misspelt member is reported by its own name, not as
 * another one that is missing. */
tide_status tide_read_object(struct tide_members_reader *r, const struct tide_member *members,
                             size_t count, void *to, json_t *object)
{
    assert(count > 0);
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return tide_read_refuse(r, "expected an object");
    json_object_foreach(object, name, value)
    {
        size_t i = 0;
        while (i < count && strcmp(members[i].name, name) != 0)
            i++;
        if (i == count)
            return refuse_unknown(r, name);
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = tide_read_enter(r, members[i].name);
        value = json_object_get(object, members[i].name);
        if (!value && !members[i].optional)
            return tide_read_refuse(r, "is missing");
        tide_status status =
            value ? members[i].read(r, &members[i], (char *)to + members[i].offset, value)
                  : TIDE_OK;
        if (status)
            return status;
        tide_read_leave(r, at);
    }
    return TIDE_OK;
}

tide_slice tide_read_string(const json_t *value)
{
    const char *text = json_string_value(value);
    return text ? tide_slice_of(text, json_string_length(value)) : (tide_slice){ 0 };
}

/* Copies text and a NUL. The caller has checked the length. */
static void copy_text(char *to, tide_slice text)
{
    assert(text.ptr && text.len > 0);
    memcpy(to, text.ptr, text.len);
    to[text.len] = '\0';
}

/* Refuses invisible characters: names appear in pages and logs, where such characters could
 * mislead. */
tide_status tide_read_text(struct tide_members_reader *r, const struct tide_member *m, void *to,
                           json_t *value)
{
    assert(m->high > 0);
    tide_slice text = tide_read_string(value);
    if (text.len >= m->high || !tide_text_is_name(text)) {
        char expected[120];
        snprintf(expected, sizeof expected,
                 "expected a text of 1..%u bytes on one line, without invisible characters",
                 m->high - 1);
        return tide_read_refuse(r, expected);
    }
    copy_text(to, text);
    return TIDE_OK;
}

tide_status tide_read_token(struct tide_members_reader *r, const struct tide_member *m, void *to,
                            json_t *value)
{
    tide_slice text = tide_read_string(value);
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] >= 0x7f)
            return tide_read_refuse(r, "expected ASCII without spaces");
    return tide_read_text(r, m, to, value);
}

tide_status tide_read_word(struct tide_members_reader *r, const struct tide_member *m, void *to,
                           json_t *value)
{
    assert(m->high > 0);
    tide_slice text = tide_read_string(value);
    if (!is_word(text, m->high - 1))
        return tide_read_refuse(r, "expected 1..32 of a-z, 0-9, _ and -");
    copy_text(to, text);
    return TIDE_OK;
}

tide_status tide_read_hex32(struct tide_members_reader *r, const struct tide_member *m, void *to,
                            json_t *value)
{
    (void)m;
    if (tide_hex_decode(to, 32, tide_read_string(value)) != TIDE_OK)
        return tide_read_refuse(r, "expected 64 hexadecimal digits");
    return TIDE_OK;
}

tide_status tide_read_bool(struct tide_members_reader *r, const struct tide_member *m, void *to,
                           json_t *value)
{
    (void)m;
    if (!json_is_boolean(value))
        return tide_read_refuse(r, "expected true or false");
    *(bool *)to = json_is_true(value);
    return TIDE_OK;
}

tide_status tide_read_u32(struct tide_members_reader *r, const struct tide_member *m, void *to,
                          json_t *value)
{
    assert(m->low <= m->high);
    json_int_t v = json_integer_value(value);
    if (!json_is_integer(value) || v < m->low || v > m->high) {
        char expected[64];
        snprintf(expected, sizeof expected, "expected a whole number, %u..%u", m->low, m->high);
        return tide_read_refuse(r, expected);
    }
    *(uint32_t *)to = (uint32_t)v;
    return TIDE_OK;
}

tide_status tide_read_host(struct tide_members_reader *r, const struct tide_member *m, void *to,
                           json_t *value)
{
    (void)m;
    tide_slice text = tide_read_string(value);
    if (!tide_kyc_host_valid(text))
        return tide_read_refuse(r, "expected a host in lower case: name or name:port");
    copy_text(to, text);
    return TIDE_OK;
}

/* Reads a base URL, to which paths are appended. It therefore has no query, fragment or final
 * "/". */
tide_status tide_read_url(struct tide_members_reader *r, const struct tide_member *m, void *to,
                          json_t *value)
{
    assert(m->high > 0);
    struct tide_kyc_url url;
    tide_slice text = tide_read_string(value);
    if (text.len >= m->high || !tide_kyc_url_read(&url, text))
        return tide_read_refuse(r, "expected https://… (http:// for this machine only)");
    assert(text.ptr && text.len > 0); /* the URL has a scheme and a host */
    bool ends = url.rest.len == 0 || text.ptr[text.len - 1] != '/';
    if (!ends || memchr(text.ptr, '?', text.len) || memchr(text.ptr, '#', text.len))
        return tide_read_refuse(r, "expected a URL without query and without / at the end");
    copy_text(to, text);
    return TIDE_OK;
}

tide_status tide_read_origin(struct tide_members_reader *r, const struct tide_member *m, void *to,
                             json_t *value)
{
    tide_slice text = tide_read_string(value);
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] >= 'A' && text.ptr[i] <= 'Z')
            return tide_read_refuse(r, "expected lower case, as browsers send it");
    struct tide_kyc_url url;
    if (tide_kyc_url_read(&url, text) && url.rest.len)
        return tide_read_refuse(r, "expected scheme and host only, without a path");
    return tide_read_url(r, m, to, value);
}

tide_status tide_read_time(struct tide_members_reader *r, const struct tide_member *m, void *to,
                           json_t *value)
{
    (void)m;
    if (json_is_null(value))
        return TIDE_OK;
    if (tide_time_parse(to, tide_read_string(value)) != TIDE_OK || *(int64_t *)to <= 0)
        return tide_read_refuse(r, "expected an RFC 3339 time, or null");
    return TIDE_OK;
}

/* *list.count is the number of complete elements, also after a failure. */
tide_status tide_read_list(struct tide_members_reader *r, const struct tide_member *m,
                           struct tide_list list, void *to, json_t *value)
{
    assert(list.each && list.count && list.size > 0);
    assert(m->low <= m->high);
    size_t count = json_array_size(value);
    if (!json_is_array(value) || count > m->high || count < m->low) {
        char expected[64];
        snprintf(expected, sizeof expected, "expected a list of %u..%u", m->low, m->high);
        return tide_read_refuse(r, expected);
    }
    struct tide_member element = { .high = (uint32_t)list.size };
    for (size_t i = 0; i < count; i++) {
        size_t at = enter_index(r, i);
        tide_status status =
            list.each(r, &element, (char *)to + i * list.size, json_array_get(value, i));
        if (status)
            return status;
        tide_read_leave(r, at);
        *list.count = (uint32_t)i + 1;
    }
    return TIDE_OK;
}
