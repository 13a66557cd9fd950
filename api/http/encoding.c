/* Accept-Encoding, gzip and zstd. */
#include "api/http/encoding.h"
#include "api/http/header.h"
#include "tidemark/zstd.h"

#include <zlib.h>

enum {
    GZIP_LEVEL = 3,
    ZSTD_LEVEL = 3,
    GZIP_FORM = 16 + MAX_WBITS, /* gzip header and trailer (zlib.h, deflateInit2) */
    GZIP_MEMORY = 8,            /* zlib's default: 256 KiB of memory while compressing */
    UNSAID = TIDE_WEIGHT_WRONG
};

static const char *const names[TIDE_ENCODING_COUNT] = { "identity", "gzip", "zstd" };

const char *tide_encoding_name(enum tide_encoding encoding)
{
    assert(encoding < TIDE_ENCODING_COUNT);
    return names[encoding];
}

/* --- Accept-Encoding -------------------------------------------------------------------- */

/* Weights, in thousandths, that a line gives to each coding, and to "*". */
struct weights {
    int of[TIDE_ENCODING_COUNT], rest;
};

/* Reads one coding with its weight: "gzip", "gzip;q=0.5", "*; q=0". */
static void read_coding(struct weights *weights, tide_slice item)
{
    tide_slice name = tide_header_cut(&item, ';');
    int weight = TIDE_WEIGHT_MAX;
    item = tide_header_cut(&item, 0);
    if (item.len) {
        bool named = item.len > 2 && (item.ptr[0] | 0x20) == 'q' && item.ptr[1] == '=';
        weight = named ? tide_header_weight(tide_slice_of(item.ptr + 2, item.len - 2)) : UNSAID;
    }
    if (weight == UNSAID)
        return;
    if (tide_header_is(name, "*"))
        weights->rest = weight;
    if (tide_header_is(name, "x-gzip"))
        weights->of[TIDE_ENCODING_GZIP] = weight;
    for (size_t i = 0; i < TIDE_COUNT(names); i++)
        if (tide_header_is(name, names[i]))
            weights->of[i] = weight;
}

enum tide_encoding tide_encoding_choose(tide_slice accept, unsigned offered)
{
    static_assert(TIDE_ENCODING_COUNT == 3, "each coding begins with UNSAID");
    assert(offered >> TIDE_ENCODING_COUNT == 0);
    struct weights weights = { .of = { UNSAID, UNSAID, UNSAID }, .rest = 0 };
    enum tide_encoding best = TIDE_ENCODING_NONE;
    while (accept.len)
        read_coding(&weights, tide_header_cut(&accept, ','));
    /* A client that does not name "identity" accepts it, and prefers any coding with a weight. */
    int most = weights.of[TIDE_ENCODING_NONE] > 1 ? weights.of[TIDE_ENCODING_NONE] : 1;
    for (enum tide_encoding i = TIDE_ENCODING_GZIP; i < TIDE_ENCODING_COUNT; i++) {
        int weight = weights.of[i] == UNSAID ? weights.rest : weights.of[i];
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
    assert(room <= UINT32_MAX); /* avail_out has 32 bits */
    z.next_out = tide_buf_room(out, room);
    z.avail_out = (uInt)room;
    int done = z.next_out ? deflate(&z, Z_FINISH) : Z_BUF_ERROR;
    size_t made = z.total_out;
    deflateEnd(&z);
    if (done != Z_STREAM_END)
        return TIDE_E_LIMIT;
    assert(made <= room);
    out->len += made;
    return TIDE_OK;
}

tide_status tide_encoding_make(struct tide_buf *out, tide_slice in, enum tide_encoding encoding)
{
    assert(encoding == TIDE_ENCODING_GZIP || encoding == TIDE_ENCODING_ZSTD);
    return encoding == TIDE_ENCODING_GZIP ? make_gzip(out, in)
                                          : tide_zstd_compress(out, in, ZSTD_LEVEL);
}
