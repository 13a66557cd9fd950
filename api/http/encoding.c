#include "api/http/encoding.h"
#include "tidemark/zstd.h"

#include <strings.h>
#include <zlib.h>

enum {
    GZIP_LEVEL = 3,
    ZSTD_LEVEL = 3,
    GZIP_FORM = 16 + MAX_WBITS, /* a gzip header and trailer, as zlib.h says */
    GZIP_MEMORY = 8,            /* zlib's default: 256 KiB while it works    */
    WEIGHT_MAX = 1000,
    UNSAID = -1
};

static const char *const names[TIDE_ENCODING_COUNT] = { "identity", "gzip", "zstd" };

const char *tide_encoding_name(enum tide_encoding encoding)
{
    assert(encoding < TIDE_ENCODING_COUNT);
    return names[encoding];
}

/* --- Accept-Encoding -------------------------------------------------------------------- */

/* Thousandths that a line gives to each coding, and to "*". */
struct wishes {
    int of[TIDE_ENCODING_COUNT], rest;
};

static tide_slice trim(tide_slice text)
{
    while (text.len && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = tide_slice_of(text.ptr + 1, text.len - 1);
    while (text.len && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

/* What stands before the separator; *text becomes what follows it. */
static tide_slice cut(tide_slice *text, char separator)
{
    const uint8_t *at = text->len ? memchr(text->ptr, separator, text->len) : NULL;
    size_t len = at ? (size_t)(at - text->ptr) : text->len;
    tide_slice head = tide_slice_of(text->ptr, len);
    *text = at ? tide_slice_of(at + 1, text->len - len - 1) : tide_slice_of(text->ptr + len, 0);
    return trim(head);
}

static bool same(tide_slice text, const char *word)
{
    return text.len == strlen(word) && strncasecmp((const char *)text.ptr, word, text.len) == 0;
}

/* qvalue: "0", "1", "0.5", "0.123", "1.000"; UNSAID when it is none. */
static int weight_of(tide_slice text)
{
    static const int unit[] = { 100, 10, 1 };
    if (text.len == 0 || text.len > 5 || (text.ptr[0] != '0' && text.ptr[0] != '1') ||
        (text.len > 1 && text.ptr[1] != '.'))
        return UNSAID;
    int weight = (text.ptr[0] - '0') * WEIGHT_MAX;
    for (size_t i = 2; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return UNSAID;
        weight += (text.ptr[i] - '0') * unit[i - 2];
    }
    return weight <= WEIGHT_MAX ? weight : UNSAID;
}

/* "gzip", "gzip;q=0.5", "*; q=0". */
static void read_wish(struct wishes *wishes, tide_slice item)
{
    tide_slice name = cut(&item, ';');
    int weight = WEIGHT_MAX;
    item = trim(item);
    if (item.len) {
        bool named = item.len > 2 && (item.ptr[0] | 0x20) == 'q' && item.ptr[1] == '=';
        weight = named ? weight_of(tide_slice_of(item.ptr + 2, item.len - 2)) : UNSAID;
    }
    if (weight == UNSAID)
        return;
    if (same(name, "*"))
        wishes->rest = weight;
    if (same(name, "x-gzip"))
        wishes->of[TIDE_ENCODING_GZIP] = weight;
    for (size_t i = 0; i < TIDE_COUNT(names); i++)
        if (same(name, names[i]))
            wishes->of[i] = weight;
}

enum tide_encoding tide_encoding_choose(tide_slice accept, unsigned offered)
{
    struct wishes wishes = { .of = { UNSAID, UNSAID, UNSAID }, .rest = 0 };
    enum tide_encoding best = TIDE_ENCODING_NONE;
    while (accept.len)
        read_wish(&wishes, cut(&accept, ','));
    /* Unless it is named, the client takes what is as it is, and wants anything else more. */
    int most = wishes.of[TIDE_ENCODING_NONE] > 1 ? wishes.of[TIDE_ENCODING_NONE] : 1;
    for (enum tide_encoding i = TIDE_ENCODING_GZIP; i < TIDE_ENCODING_COUNT; i++) {
        int weight = wishes.of[i] == UNSAID ? wishes.rest : wishes.of[i];
        if (!(offered & 1u << i) || weight < most)
            continue;
        most = weight;
        best = i;
    }
    return best;
}

/* --- bytes ------------------------------------------------------------------------------ */

size_t tide_encoding_room(size_t bytes)
{
    return bytes + bytes / 64 + 4096; /* above compressBound() of both libraries */
}

static tide_status make_gzip(struct tide_buf *out, tide_slice in)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)in.ptr, .avail_in = (uInt)in.len };
    assert(in.len <= UINT32_MAX / 2);
    if (deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, GZIP_FORM, GZIP_MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return TIDE_E_MEMORY;
    size_t room = deflateBound(&z, (uLong)in.len);
    z.next_out = tide_buf_room(out, room);
    z.avail_out = (uInt)room;
    int done = z.next_out ? deflate(&z, Z_FINISH) : Z_BUF_ERROR;
    size_t made = z.total_out;
    deflateEnd(&z);
    if (done != Z_STREAM_END)
        return TIDE_E_LIMIT;
    out->len += made;
    return TIDE_OK;
}

tide_status tide_encoding_make(struct tide_buf *out, tide_slice in, enum tide_encoding encoding)
{
    assert(encoding == TIDE_ENCODING_GZIP || encoding == TIDE_ENCODING_ZSTD);
    return encoding == TIDE_ENCODING_GZIP ? make_gzip(out, in)
                                          : tide_zstd_compress(out, in, ZSTD_LEVEL);
}
