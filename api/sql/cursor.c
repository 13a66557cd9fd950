/* Cursors of lists. */
#include "api/sql/cursor.h"
#include "api/http/param.h"
#include "tidemark/hash.h"
#include "tidemark/text.h"

enum { TAG = 7 }; /* bytes */
static_assert((TAG + TIDE_CURSOR_KEY_MAX + 2) / 3 * 4 <= TIDE_CURSOR_MAX, "the longest key fits");
static_assert(TIDE_CURSOR_MAX % 4 == 0, "padding never exceeds the longest text");
static_assert(TIDE_ROUTE_SCRATCH <= UINT16_MAX, "two bytes hold the length of a parameter's text");

/* Hashes a text with its length, so that no two lists of texts give the same input. */
static void hash_text(struct tide_sha256 *sha, tide_slice text)
{
    uint8_t len[2] = { (uint8_t)(text.len >> 8), (uint8_t)text.len };
    tide_sha256_update(sha, tide_slice_of(len, sizeof len));
    tide_sha256_update(sha, text);
}

void tide_cursor_scope(struct tide_cursor_scope *out, const uint8_t deployment[TIDE_HASH_BYTES],
                       const struct tide_request *request)
{
    struct tide_sha256 sha;
    assert(request->param_count <= TIDE_ROUTE_PARAMS_MAX);
    tide_sha256_init(&sha);
    tide_sha256_update(&sha, tide_slice_of(deployment, TIDE_HASH_BYTES));
    hash_text(&sha, tide_slice_str(request->route->id));
    for (uint32_t i = 0; i < request->param_count; i++) {
        const struct tide_param_value *value = &request->params[i];
        if (value->id == TIDE_PARAM_cursor || value->id == TIDE_PARAM_limit)
            continue;
        hash_text(&sha, tide_slice_str(tide_param_of(value->id)->name));
        hash_text(&sha, value->text); /* a default that was sent explicitly is the same request */
    }
    tide_sha256_final(&sha, out->hash);
}

static void compute_tag(uint8_t tag[TIDE_HASH_BYTES], const struct tide_cursor_scope *scope,
                        tide_slice key)
{
    struct tide_sha256 sha;
    tide_sha256_init(&sha);
    tide_sha256_update(&sha, tide_slice_of(scope->hash, sizeof scope->hash));
    tide_sha256_update(&sha, key);
    tide_sha256_final(&sha, tag);
}

/* Replaces a character of `from` by the one at the same place of `to`. */
static uint8_t swap_char(uint8_t c, const char *from, const char *to)
{
    const char *at = c ? strchr(from, c) : NULL;
    return at ? (uint8_t)to[at - from] : c;
}

size_t tide_cursor_write(char out[TIDE_CURSOR_MAX], const struct tide_cursor_scope *scope,
                         tide_slice key)
{
    uint8_t bytes[TAG + TIDE_CURSOR_KEY_MAX], tag[TIDE_HASH_BYTES];
    struct tide_buf text;
    size_t len = 0;
    if (key.len == 0 || key.len > TIDE_CURSOR_KEY_MAX)
        return 0;
    compute_tag(tag, scope, key);
    memcpy(bytes, tag, TAG);
    memcpy(bytes + TAG, key.ptr, key.len);
    tide_buf_init(&text, TIDE_CURSOR_MAX);
    tide_buf_base64(&text, tide_slice_of(bytes, TAG + key.len));
    for (; !text.failed && len < text.len && text.ptr[len] != '='; len++)
        out[len] = (char)swap_char(text.ptr[len], "+/", "-_");
    assert(len <= TIDE_CURSOR_MAX);
    tide_buf_release(&text);
    return len;
}

/* Decodes base64url without padding. Returns false if the text is malformed or too long. */
static bool decode_base64url(uint8_t *bytes, size_t *len, tide_slice text)
{
    uint8_t padded[TIDE_CURSOR_MAX + 4];
    struct tide_buf out;
    size_t n = 0;
    if (text.len > TIDE_CURSOR_MAX)
        return false;
    for (; n < text.len; n++)
        padded[n] = swap_char(text.ptr[n], "-_+/", "+/  ");
    while (n % 4)
        padded[n++] = '=';
    assert(n <= TIDE_CURSOR_MAX);
    tide_buf_init(&out, TAG + TIDE_CURSOR_KEY_MAX);
    bool fits = tide_buf_base64_decode(&out, tide_slice_of(padded, n)) == TIDE_OK && !out.failed;
    assert(out.len <= TAG + TIDE_CURSOR_KEY_MAX);
    if (fits && out.len)
        memcpy(bytes, out.ptr, out.len);
    *len = out.len;
    tide_buf_release(&out);
    return fits;
}

/* The tag binds a cursor to its request. NULs and malformed UTF-8 are rejected here, because
 * PostgreSQL would fail on them. */
bool tide_cursor_read(char key[TIDE_CURSOR_KEY_MAX + 1], const struct tide_cursor_scope *scope,
                      tide_slice text)
{
    uint8_t bytes[TAG + TIDE_CURSOR_KEY_MAX], tag[TIDE_HASH_BYTES];
    size_t len;
    if (!decode_base64url(bytes, &len, text) || len <= TAG)
        return false;
    tide_slice read = tide_slice_of(bytes + TAG, len - TAG);
    compute_tag(tag, scope, read);
    if (memcmp(tag, bytes, TAG) != 0 || memchr(read.ptr, 0, read.len) || !tide_utf8_valid(read))
        return false;
    memcpy(key, read.ptr, read.len);
    key[read.len] = 0;
    return true;
}

void tide_cursor_refuse(struct tide_reply *reply)
{
    tide_reply_problem(reply, 400, "cursor_invalid",
                       "The cursor is damaged, or of another request, network or deployment:"
                       " start again without a cursor.");
    tide_reply_problem_field(reply, "?cursor", "is not a cursor of this request");
}
