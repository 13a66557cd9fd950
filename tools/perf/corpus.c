/* Reads ledger files and lays their ledgers out in memory, raw and compressed. */
#include "corpus.h"

#include "indexer/source/split.h"
#include "tidemark/buf.h"
#include "tidemark/zstd.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEDGERS_MAX = 65536, FILE_MAX = 1 << 30 }; /* bytes of one file, packed or not */

/* Appends the file's bytes to out. Fails with TIDE_E_IO or TIDE_E_LIMIT. */
static tide_status read_file(struct tide_buf *out, const char *path, struct tide_err *err)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return tide_fail(err, TIDE_E_IO, "%s: cannot be opened", path);
    uint8_t chunk[65536];
    size_t got;
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0)
        tide_buf_put(out, chunk, got);
    fclose(file);
    return out->failed ? tide_fail(err, TIDE_E_LIMIT, "%s: too large", path) : TIDE_OK;
}

/* Replaces raw with its decompressed bytes if they are a zstd frame, else leaves raw as is. */
static tide_status unpack_file(struct tide_buf *raw, struct tide_err *err)
{
    if (!tide_zstd_magic(tide_buf_view(raw)))
        return TIDE_OK;
    struct tide_unzstd *z;
    if (tide_unzstd_open(&z) != TIDE_OK)
        return tide_fail(err, TIDE_E_MEMORY, "decompressor");
    struct tide_buf out;
    tide_buf_init(&out, FILE_MAX);
    tide_slice in = tide_buf_view(raw);
    const char *what = "";
    tide_status status = TIDE_OK;
    /* The input may be used up before the last output is written, so both must be at their end. */
    while (status == TIDE_OK && (in.len || !tide_unzstd_complete(z))) {
        size_t made = 0;
        uint8_t *to = tide_buf_room(&out, 1 << 20);
        status = to ? tide_unzstd_read(z, &in, to, 1 << 20, &made, &what) : TIDE_E_LIMIT;
        out.len += made;
    }
    tide_unzstd_close(z);
    struct tide_buf old = *raw;
    *raw = out;
    tide_buf_release(&old);
    return status == TIDE_OK ? TIDE_OK : tide_fail(err, status, "zstd: %s", what);
}

/* Appends the ledgers of one file to plain, and the length of each as a size_t to lens. */
static tide_status add_ledgers(struct tide_buf *plain, struct tide_buf *lens, tide_slice in,
                               struct tide_err *err)
{
    struct tide_split split = { 0 };
    tide_slice lcm;
    for (;;) {
        tide_status status = tide_split_next(&split, &in, true, &lcm, err);
        if (status == TIDE_E_EOF)
            return plain->failed ? tide_fail(err, TIDE_E_LIMIT, "too many bytes of ledgers")
                                 : TIDE_OK;
        if (status != TIDE_OK)
            return status;
        tide_buf_slice(plain, lcm);
        tide_buf_put(lens, &lcm.len, sizeof lcm.len);
    }
}

/* Repeats the ledgers copies times in c->bytes. Compresses each ledger only once and repeats the
 * frame. Returns TIDE_E_MEMORY or TIDE_E_LIMIT; err is the caller's to fill. */
static tide_status lay_out(struct corpus *c, const struct tide_buf *plain,
                           const struct tide_buf *lens, size_t copies)
{
    assert(plain->ptr && lens->len > 0);
    size_t once = lens->len / sizeof(size_t);
    assert(once > 0);
    c->count = (uint32_t)(once * copies);
    c->len = plain->len * copies;
    c->bytes = malloc(c->len);
    c->ledgers = calloc(c->count, sizeof *c->ledgers);
    c->frames = calloc(c->count, sizeof *c->frames);
    struct tide_buf packed;
    tide_buf_init(&packed, FILE_MAX);
    if (!c->bytes || !c->ledgers || !c->frames)
        return TIDE_E_MEMORY;
    size_t at = 0;
    size_t *offsets = calloc(once + 1, sizeof *offsets);
    for (uint32_t i = 0; offsets && i < c->count; i++) {
        size_t len = ((const size_t *)(const void *)lens->ptr)[i % once];
        if (i % once == 0)
            memcpy(c->bytes + at, plain->ptr, plain->len);
        c->ledgers[i] = tide_slice_of(c->bytes + at, len);
        at += len;
        if (i < once) {
            offsets[i] = packed.len;
            if (tide_zstd_compress(&packed, c->ledgers[i], 3) != TIDE_OK) {
                free(offsets);
                return TIDE_E_LIMIT;
            }
            offsets[i + 1] = packed.len;
        }
    }
    c->packed_len = packed.len * copies;
    c->packed = malloc(c->packed_len);
    for (uint32_t i = 0; offsets && c->packed && i < c->count; i++) {
        size_t base = packed.len * (i / once);
        assert(packed.ptr);
        if (i % once == 0)
            memcpy(c->packed + base, packed.ptr, packed.len);
        c->frames[i] = tide_slice_of(c->packed + base + offsets[i % once],
                                     offsets[i % once + 1] - offsets[i % once]);
    }
    bool ok = offsets && c->packed;
    free(offsets);
    tide_buf_release(&packed);
    return ok ? TIDE_OK : TIDE_E_MEMORY;
}

tide_status corpus_load(struct corpus *out, char **paths, int path_count, size_t bytes_min,
                        struct tide_err *err)
{
    struct tide_buf plain;
    struct tide_buf lens;
    tide_buf_init(&plain, FILE_MAX);
    tide_buf_init(&lens, LEDGERS_MAX * sizeof(size_t));
    tide_status status = TIDE_OK;
    for (int i = 0; i < path_count && status == TIDE_OK; i++) {
        struct tide_buf raw;
        tide_buf_init(&raw, FILE_MAX);
        status = read_file(&raw, paths[i], err);
        if (status == TIDE_OK)
            status = unpack_file(&raw, err);
        if (status == TIDE_OK)
            status = add_ledgers(&plain, &lens, tide_buf_view(&raw), err);
        tide_buf_release(&raw);
    }
    if (status == TIDE_OK && plain.len == 0)
        status = tide_fail(err, TIDE_E_MISSING, "no ledgers in the files given");
    if (status == TIDE_OK) {
        status = lay_out(out, &plain, &lens, (bytes_min + plain.len - 1) / plain.len);
        if (status != TIDE_OK)
            tide_fail(err, status, "no room to repeat %zu bytes of ledgers", plain.len);
    }
    tide_buf_release(&plain);
    tide_buf_release(&lens);
    return status;
}

void corpus_free(struct corpus *corpus)
{
    free(corpus->bytes);
    free(corpus->ledgers);
    free(corpus->packed);
    free(corpus->frames);
    *corpus = (struct corpus){ 0 };
}
