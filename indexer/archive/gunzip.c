#include "indexer/archive/gunzip.h"

#include <zlib.h>

enum { GZIP_FORM = 16 + MAX_WBITS }; /* a gzip header and trailer, nothing else (zlib.h) */

struct gunzip {
    z_stream z;
    bool complete; /* a member has ended and no byte of another one was read */
};

tide_status gunzip_open(struct gunzip **out)
{
    struct gunzip *z = calloc(1, sizeof *z);
    if (!z || inflateInit2(&z->z, GZIP_FORM) != Z_OK) {
        free(z);
        return TIDE_E_MEMORY;
    }
    *out = z;
    return TIDE_OK;
}

void gunzip_close(struct gunzip *z)
{
    if (z)
        inflateEnd(&z->z);
    free(z);
}

void gunzip_reset(struct gunzip *z)
{
    int code = inflateReset(&z->z);
    assert(code == Z_OK);
    (void)code;
    z->complete = false;
}

/* Takes one step. Returns false at the end of the input or output, or after a failure. */
static bool step_stream(struct gunzip *z, tide_status *status, const char **what)
{
    if (z->complete) {
        if (z->z.avail_in == 0)
            return false;
        gunzip_reset(z);
    }
    int code = inflate(&z->z, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
        z->complete = true;
        return true;
    }
    if (code == Z_OK)
        return z->z.avail_out > 0 && z->z.avail_in > 0;
    if (code == Z_BUF_ERROR) /* no progress is possible: input or output is used up */
        return false;
    *status = code == Z_MEM_ERROR ? TIDE_E_MEMORY : TIDE_E_DECODE;
    *what = z->z.msg ? z->z.msg : "malformed gzip";
    return false;
}

tide_status gunzip_read(struct gunzip *z, tide_slice *in, uint8_t *out, size_t size, size_t *made,
                        const char **what)
{
    assert(in->len <= UINT32_MAX && size <= UINT32_MAX);
    tide_status status = TIDE_OK;
    z->z.next_in = (Bytef *)(uintptr_t)in->ptr;
    z->z.avail_in = (uInt)in->len;
    z->z.next_out = out;
    z->z.avail_out = (uInt)size;
    while (step_stream(z, &status, what))
        ;
    assert(z->z.avail_in <= in->len && z->z.avail_out <= size);
    *in = tide_slice_of(in->ptr + (in->len - z->z.avail_in), z->z.avail_in);
    *made = size - z->z.avail_out;
    return status;
}

bool gunzip_complete(const struct gunzip *z)
{
    return z->complete;
}
