/* The files of a history archive. This file alone of the simulator includes zlib. */
#include "tools/sim/ledger/archive_write.h"
#include "tidemark/limits.h"
#include "tidemark/meta.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zlib.h>

enum { CHECKPOINT = 64, PATH_BYTES = 4096, STATE_BYTES = 64 << 10, HEX_BYTES = 64 };
static_assert(HEX_BYTES == 2 * TIDE_HASH_BYTES, "the text of a hash");
static_assert((CHECKPOINT & (CHECKPOINT - 1)) == 0, "the network's interval is a power of two");

void archive_write_open(struct archive_write *archive, const char *dir, const char *passphrase,
                        struct bucket_list *buckets)
{
    *archive = (struct archive_write){ .dir = dir, .passphrase = passphrase, .buckets = buckets };
    tide_buf_init(&archive->headers, TIDE_LEDGER_BYTES_MAX);
    tide_buf_init(&archive->text, STATE_BYTES);
}

void archive_write_close(struct archive_write *archive)
{
    tide_buf_release(&archive->headers);
    tide_buf_release(&archive->text);
}

/* ---- files ---- */

static tide_status fail_path(const char *path, struct tide_err *err)
{
    return tide_fail(err, TIDE_E_IO, "%s: %s", path, strerror(errno));
}

/* Makes the folders that the path names. */
static tide_status make_folders(char *path, struct tide_err *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool failed = mkdir(path, 0777) != 0 && errno != EEXIST;
        if (failed)
            return fail_path(path, err);
        *slash = '/';
    }
    return TIDE_OK;
}

static tide_status write_plain(const char *path, tide_slice bytes, struct tide_err *err)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return fail_path(path, err);
    bool good = fwrite(bytes.ptr, 1, bytes.len, file) == bytes.len;
    good = fclose(file) == 0 && good;
    return good ? TIDE_OK : fail_path(path, err);
}

static tide_status write_packed(const char *path, tide_slice bytes, struct tide_err *err)
{
    enum { PIECE = 1 << 20 };
    gzFile file = gzopen(path, "wb1");
    bool good = file != NULL;
    for (size_t at = 0; at < bytes.len && good; at += PIECE) {
        size_t len = bytes.len - at < PIECE ? bytes.len - at : PIECE;
        good = gzwrite(file, bytes.ptr + at, (unsigned)len) == (int)len;
    }
    if (file)
        good = gzclose(file) == Z_OK && good;
    return good ? TIDE_OK : fail_path(path, err);
}

/* Writes the bytes to a file below the archive's folder; packed if its name ends in .gz. */
static tide_status write_file(const struct archive_write *archive, const char *name,
                              tide_slice bytes, struct tide_err *err)
{
    char path[PATH_BYTES];
    size_t len = strlen(name);
    if (snprintf(path, sizeof path, "%s/%s", archive->dir, name) >= (int)sizeof path)
        return tide_fail(err, TIDE_E_IO, "%s: the path is too long", archive->dir);
    tide_status status = make_folders(path, err);
    if (status != TIDE_OK)
        return status;
    bool packed = len > 3 && strcmp(name + len - 3, ".gz") == 0;
    return packed ? write_packed(path, bytes, err) : write_plain(path, bytes, err);
}

/* ---- a checkpoint ---- */

static tide_status write_bucket(const struct archive_write *archive, tide_slice bytes,
                                const char hex[HEX_BYTES + 1], struct tide_err *err)
{
    char name[160];
    if (bytes.len == 0)
        return TIDE_OK;
    int len = snprintf(name, sizeof name, "bucket/%.2s/%.2s/%.2s/bucket-%s.xdr.gz", hex, hex + 2,
                       hex + 4, hex);
    assert(len > 0 && (size_t)len < sizeof name);
    (void)len;
    return write_file(archive, name, bytes, err);
}

/* Writes a bucket, and its hash as a member of the state file. */
static tide_status put_bucket(struct archive_write *archive, const char *member,
                              struct bucket_place place, struct tide_err *err)
{
    uint8_t hash[TIDE_HASH_BYTES];
    char hex[HEX_BYTES + 1] = { 0 };
    tide_slice bytes = bucket_list_at(archive->buckets, place, hash);
    tide_hex(hex, tide_slice_of(hash, sizeof hash));
    tide_buf_putf(&archive->text, "\"%s\": \"%s\"", member, hex);
    return write_bucket(archive, bytes, hex, err);
}

static tide_status put_list(struct archive_write *archive, const char *member, bool hot,
                            struct tide_err *err)
{
    tide_status status = TIDE_OK;
    tide_buf_putf(&archive->text, ",\n    \"%s\": [", member);
    for (uint32_t i = 0; i < BUCKET_LEVELS && status == TIDE_OK; i++) {
        tide_buf_str(&archive->text, i ? ",\n        { " : "\n        { ");
        status = put_bucket(archive, "curr", (struct bucket_place){ hot, i, false }, err);
        tide_buf_str(&archive->text, ", \"next\": { \"state\": 0 }, ");
        if (status == TIDE_OK)
            status = put_bucket(archive, "snap", (struct bucket_place){ hot, i, true }, err);
        tide_buf_str(&archive->text, " }");
    }
    tide_buf_str(&archive->text, "\n    ]");
    return status;
}

/* Writes the buckets, and the state file's text. */
static tide_status put_state(struct archive_write *archive, uint32_t ledger, struct tide_err *err)
{
    struct tide_buf *text = &archive->text;
    tide_buf_reset(text);
    tide_buf_putf(text,
                  "{\n    \"version\": 2,\n    \"server\": \"tidemark-sim\",\n"
                  "    \"currentLedger\": %u,\n    \"networkPassphrase\": \"%s\"",
                  ledger, archive->passphrase);
    tide_status status = put_list(archive, "currentBuckets", false, err);
    if (status == TIDE_OK)
        status = put_list(archive, "hotArchiveBuckets", true, err);
    tide_buf_str(text, "\n}\n");
    if (status == TIDE_OK && text->failed)
        status = tide_fail(err, TIDE_E_MEMORY, "the archive's state");
    return status;
}

static void file_name(char out[96], const char *kind, uint32_t ledger, const char *end)
{
    int len = snprintf(out, 96, "%s/%02x/%02x/%02x/%s-%08x.%s", kind, ledger >> 24,
                       ledger >> 16 & 0xff, ledger >> 8 & 0xff, kind, ledger, end);
    assert(len > 0 && len < 96);
    (void)len;
}

/* Writes the files of the checkpoint. The state file comes last: others find the rest by it. */
static tide_status write_checkpoint(struct archive_write *archive, uint32_t ledger,
                                    struct tide_err *err)
{
    char name[96];
    file_name(name, "ledger", ledger, "xdr.gz");
    tide_status status = write_file(archive, name, tide_buf_view(&archive->headers), err);
    tide_buf_reset(&archive->headers);
    if (status == TIDE_OK)
        status = put_state(archive, ledger, err);
    file_name(name, "history", ledger, "json");
    if (status == TIDE_OK)
        status = write_file(archive, name, tide_buf_view(&archive->text), err);
    if (status == TIDE_OK)
        status = write_file(archive, ".well-known/stellar-history.json",
                            tide_buf_view(&archive->text), err);
    return status;
}

static tide_status copy_header(void *self, const struct tide_ledger_header *header)
{
    *(struct tide_ledger_header *)self = *header;
    return TIDE_OK;
}

tide_status archive_write_put(struct archive_write *archive, tide_slice lcm, struct tide_err *err)
{
    const uint32_t last_fragment = UINT32_C(1) << 31;
    struct tide_ledger_header header = { 0 };
    const struct tide_walk walk = { .self = &header, .header = copy_header };
    tide_status status = tide_ledger_walk(&walk, lcm, err);
    if (status != TIDE_OK)
        return status;
    tide_buf_be32(&archive->headers, last_fragment | (uint32_t)header.history_entry.len);
    tide_buf_slice(&archive->headers, header.history_entry);
    if (archive->headers.failed)
        return tide_fail(err, TIDE_E_MEMORY, "the archive's headers");
    return header.sequence % CHECKPOINT == CHECKPOINT - 1
               ? write_checkpoint(archive, header.sequence, err)
               : TIDE_OK;
}
