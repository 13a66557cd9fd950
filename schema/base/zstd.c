#include "tidemark/zstd.h"

#include <zstd.h>
#include <zstd_errors.h>

/* Opaque to callers: only this file includes zstd.h. */
struct tide_unzstd {
    ZSTD_DCtx *context;
    bool inside; /* a frame has begun and not ended */
};

tide_status tide_unzstd_open(struct tide_unzstd **out)
{
    struct tide_unzstd *z = calloc(1, sizeof *z);
    if (!z)
        return TIDE_E_MEMORY;
    z->context = ZSTD_createDCtx();
    if (!z->context || ZSTD_isError(ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax,
                                                           TIDE_ZSTD_WINDOW_LOG_MAX))) {
        tide_unzstd_close(z);
        return TIDE_E_MEMORY;
    }
    *out = z;
    return TIDE_OK;
}

void tide_unzstd_close(struct tide_unzstd *z)
{
    if (z)
        ZSTD_freeDCtx(z->context);
    free(z);
}

void tide_unzstd_reset(struct tide_unzstd *z)
{
    assert(z && z->context);
    size_t code = ZSTD_DCtx_reset(z->context, ZSTD_reset_session_only);
    assert(!ZSTD_isError(code));
    (void)code;
    z->inside = false;
}

tide_status tide_unzstd_read(struct tide_unzstd *z, tide_slice *in, uint8_t *out, size_t size,
                             size_t *made, const char **what)
{
    ZSTD_inBuffer from = { in->ptr, in->len, 0 };
    ZSTD_outBuffer to = { out, size, 0 };
    *made = 0;
    while (to.pos < size) {
        size_t was_in = from.pos, was_out = to.pos;
        size_t left = ZSTD_decompressStream(z->context, &to, &from);
        if (ZSTD_isError(left)) {
            *what = ZSTD_getErrorName(left);
            ZSTD_ErrorCode code = ZSTD_getErrorCode(left);
            if (code == ZSTD_error_memory_allocation)
                return TIDE_E_MEMORY;
            return code == ZSTD_error_frameParameter_windowTooLarge ? TIDE_E_LIMIT : TIDE_E_DECODE;
        }
        bool moved = from.pos != was_in || to.pos != was_out;
        if (moved)
            z->inside = left != 0;
        if (!moved || (from.pos == from.size && to.pos < size))
            break;
    }
    assert(from.pos <= in->len && to.pos <= size);
    *in = tide_slice_of(in->ptr + from.pos, in->len - from.pos);
    *made = to.pos;
    return TIDE_OK;
}

bool tide_unzstd_complete(const struct tide_unzstd *z)
{
    return !z->inside;
}

bool tide_zstd_magic(tide_slice bytes)
{
    static const uint8_t frame[4] = { 0x28, 0xb5, 0x2f, 0xfd };
    static const uint8_t skippable[3] = { 0x2a, 0x4d, 0x18 };
    if (bytes.len < 4)
        return false;
    return memcmp(bytes.ptr, frame, 4) == 0 ||
           ((bytes.ptr[0] & 0xf0) == 0x50 && memcmp(bytes.ptr + 1, skippable, 3) == 0);
}

tide_status tide_zstd_compress(struct tide_buf *buf, tide_slice in, int level)
{
    size_t bound = ZSTD_compressBound(in.len);
    uint8_t *to = tide_buf_room(buf, bound);
    if (!to)
        return TIDE_E_LIMIT;
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (!context)
        return TIDE_E_MEMORY;
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t made = ZSTD_compress2(context, to, bound, in.ptr, in.len);
    ZSTD_freeCCtx(context);
    if (ZSTD_isError(made))
        return TIDE_E_MEMORY;
    assert(made <= bound);
    buf->len += made;
    return TIDE_OK;
}
