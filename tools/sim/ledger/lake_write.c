/* Objects of a SEP-54 lake and records of a framed stream. */
#include "tools/sim/ledger/lake_write.h"
#include "tidemark/limits.h"
#include "tidemark/text.h"
#include "tidemark/zstd.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#define OTHERS                                                                             \
    "%s is of another chain: append with the options it was written with, or write to an " \
    "empty folder"

/* Bytes in front of a batch's ledgers: first ledger, last ledger, number of ledgers. */
enum { BATCH_HEAD = 12 };
static_assert(BATCH_HEAD == 3 * sizeof(uint32_t), "the fields that pack_batch fills in");
static_assert(TIDE_LEDGER_BYTES_MAX < INT32_MAX, "a record's length leaves the top bit free");

/* Fails with errno's text. */
static tide_status fail_io(struct tide_err *err, const char *what, const char *path)
{
    char reason[128];
    const char *text = strerror_r(errno, reason, sizeof reason);
    return tide_fail(err, TIDE_E_IO, "%s %s: %s", what, path, text);
}

/* Keys begin with the complement of the ledger, so that listing by name returns the newest
 * first. */
void lake_key(struct tide_buf *path, const struct lake_options *options, uint32_t sequence)
{
    uint32_t batch = options->ledgers_per_object;
    assert(batch > 0 && options->objects_per_partition > 0);
    uint64_t span = (uint64_t)batch * options->objects_per_partition;
    if (options->objects_per_partition > 1) {
        uint32_t start = (uint32_t)(sequence / span * span);
        tide_buf_putf(path, "%08X--%u-%u/", UINT32_MAX - start, start,
                      (uint32_t)(start + span - 1));
    }
    uint32_t start = sequence / batch * batch;
    tide_buf_putf(path, "%08X--%u", UINT32_MAX - start, start);
    if (batch > 1)
        tide_buf_putf(path, "-%u", start + batch - 1);
    tide_buf_putf(path, ".xdr.zst");
}

/* Returns dir/key of the ledger's object, in lake->path until the next call; NULL if it is too
 * long. */
static const char *object_path(struct lake_write *lake, uint32_t sequence)
{
    tide_buf_reset(&lake->path);
    tide_buf_putf(&lake->path, "%s/", lake->options.dir);
    lake_key(&lake->path, &lake->options, sequence);
    tide_buf_u8(&lake->path, 0);
    return lake->path.failed ? NULL : (const char *)lake->path.ptr;
}

static tide_status make_folder(const char *path, struct tide_err *err)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return fail_io(err, "cannot make folder", path);
    return TIDE_OK;
}

/* Creates every missing folder in front of the last slash. path is changed, then restored. */
static tide_status make_parents(char *path, struct tide_err *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        tide_status status = make_folder(path, err);
        *slash = '/';
        if (status != TIDE_OK)
            return status;
    }
    return TIDE_OK;
}

static tide_status write_file(const char *path, tide_slice bytes, struct tide_err *err)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return fail_io(err, "cannot write", path);
    bool whole = fwrite(bytes.ptr, 1, bytes.len, file) == bytes.len;
    if (fclose(file) != 0 || !whole)
        return fail_io(err, "cannot write", path);
    return TIDE_OK;
}

/* Returns true if the file can be read; *same tells if it holds exactly these bytes. */
static bool read_file_matches(const char *path, tide_slice bytes, bool *same)
{
    uint8_t chunk[4096];
    size_t at = 0, len = 0;
    FILE *file = fopen(path, "rb");
    *same = file != NULL;
    if (!file)
        return false;
    while (*same && (len = fread(chunk, 1, sizeof chunk, file)) > 0) {
        *same = at + len <= bytes.len && memcmp(bytes.ptr + at, chunk, len) == 0;
        at += len;
    }
    *same = *same && !ferror(file) && at == bytes.len;
    fclose(file);
    return true;
}

/* Writes .config.json, or checks that the existing one is the same. */
static tide_status write_config(struct lake_write *lake, struct tide_err *err)
{
    struct tide_buf *text = &lake->packed;
    tide_buf_reset(text);
    tide_buf_putf(text, "{\"networkPassphrase\":");
    tide_buf_json_string(text, tide_slice_str(lake->options.passphrase));
    tide_buf_putf(text,
                  ",\"version\":\"1.0\",\"compression\":\"zstd\",\"ledgersPerBatch\":%u,"
                  "\"batchesPerPartition\":%u}\n",
                  lake->options.ledgers_per_object, lake->options.objects_per_partition);
    tide_buf_reset(&lake->path);
    tide_buf_putf(&lake->path, "%s/.config.json", lake->options.dir);
    tide_buf_u8(&lake->path, 0);
    if (lake->path.failed || text->failed)
        return tide_fail(err, TIDE_E_LIMIT, "lake folder name is too long");
    char *path = (char *)lake->path.ptr;
    bool same = false;
    if (read_file_matches(path, tide_buf_view(text), &same))
        return same ? TIDE_OK : tide_fail(err, TIDE_E_CONFLICT, OTHERS, path);
    tide_status status = make_parents(path, err);
    return status == TIDE_OK ? write_file(path, tide_buf_view(text), err) : status;
}

tide_status lake_open(struct lake_write *lake, const struct lake_options *options,
                      struct tide_err *err)
{
    *lake = (struct lake_write){ .options = *options };
    /* A batch holds several ledgers, so it may exceed the limit of one. */
    size_t most = (size_t)TIDE_LEDGER_BYTES_MAX * 2;
    tide_buf_init(&lake->batch, most);
    tide_buf_init(&lake->packed, most + most / 8);
    tide_buf_init(&lake->path, 4096);
    assert(options->ledgers_per_object && options->objects_per_partition);
    if (options->stream) {
        bool standard = strcmp(options->stream, "-") == 0;
        lake->stream = standard ? stdout : fopen(options->stream, "wb");
        if (!lake->stream)
            return fail_io(err, "cannot write", options->stream);
    }
    tide_status status = options->dir ? write_config(lake, err) : TIDE_OK;
    if (status != TIDE_OK) {
        tide_buf_release(&lake->packed);
        tide_buf_release(&lake->path);
    }
    return status;
}

/* Finds the first name in order that an object or partition can have: the newest one. Returns false
 * if there is none. */
static bool find_newest_name(const char *dir, char out[256])
{
    bool found = false;
    DIR *folder = opendir(dir);
    if (!folder)
        return false;
    /* readdir is safe here: one thread reads this handle. */
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) { /* NOLINT */
        if (e->d_name[0] == '.' || strlen(e->d_name) < 10 || strncmp(e->d_name + 8, "--", 2) != 0)
            continue;
        /* Temporary files of an interrupted write are no objects. */
        if (strstr(e->d_name, ".tmp") || (found && strcmp(e->d_name, out) >= 0))
            continue;
        snprintf(out, 256, "%s", e->d_name);
        found = true;
    }
    closedir(folder);
    return found;
}

tide_status lake_last(const struct lake_write *lake, uint32_t *last, struct tide_err *err)
{
    char name[256], path[4096];
    *last = 0;
    if (!lake->options.dir || !find_newest_name(lake->options.dir, name))
        return TIDE_OK;
    if (lake->options.objects_per_partition > 1) {
        int len = snprintf(path, sizeof path, "%s/%s", lake->options.dir, name);
        if (len < 0 || (size_t)len >= sizeof path || !find_newest_name(path, name))
            return tide_fail(err, TIDE_E_CONFLICT, "partition %s holds no object", name);
    }
    char *end = NULL;
    unsigned long start = strtoul(name + 10, &end, 10);
    if (end == name + 10 || start > UINT32_MAX)
        return tide_fail(err, TIDE_E_CONFLICT, "%s is not the name of an object", name);
    *last = (uint32_t)start + lake->options.ledgers_per_object - 1;
    return TIDE_OK;
}

/* Fills in the batch's head, which lake_put left empty, and compresses the batch. */
static tide_status pack_batch(struct lake_write *lake, struct tide_err *err)
{
    assert(lake->count > 0 && lake->count <= lake->options.ledgers_per_object);
    assert(lake->batch.len > BATCH_HEAD);
    uint32_t fields[3] = { __builtin_bswap32(lake->first),
                           __builtin_bswap32(lake->first + lake->count - 1),
                           __builtin_bswap32(lake->count) };
    memcpy(lake->batch.ptr, fields, sizeof fields);
    tide_buf_reset(&lake->packed);
    tide_status status =
        tide_zstd_compress(&lake->packed, tide_buf_view(&lake->batch), lake->options.level);
    if (status != TIDE_OK)
        return tide_fail(err, status, "object of ledger %u cannot be compressed", lake->first);
    return TIDE_OK;
}

/* Writes the packed object under a temporary name and renames it. An existing object must have the
 * same bytes. */
static tide_status write_object(struct lake_write *lake, struct tide_err *err)
{
    char temporary[4096];
    bool same = false;
    const char *path = object_path(lake, lake->first);
    if (path && read_file_matches(path, tide_buf_view(&lake->packed), &same))
        return same ? TIDE_OK : tide_fail(err, TIDE_E_CONFLICT, OTHERS, path);
    if (!path || (size_t)snprintf(temporary, sizeof temporary, "%s.tmp", path) >= sizeof temporary)
        return tide_fail(err, TIDE_E_LIMIT, "lake folder name is too long");
    tide_status status = make_parents(temporary, err);
    if (status == TIDE_OK)
        status = write_file(temporary, tide_buf_view(&lake->packed), err);
    if (status == TIDE_OK && rename(temporary, path) != 0)
        status = fail_io(err, "cannot write", path);
    return status;
}

/* Ends the batch. The object of skip_to itself is made again, so that write_object compares it. */
static tide_status finish_object(struct lake_write *lake, uint32_t sequence, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    if (sequence >= lake->skip_to)
        status = pack_batch(lake, err);
    if (status == TIDE_OK && sequence >= lake->skip_to)
        status = write_object(lake, err);
    lake->count = 0;
    return status;
}

/* Appends one record to the stream. */
static tide_status put_stream(struct lake_write *lake, tide_slice lcm, struct tide_err *err)
{
    uint32_t head = __builtin_bswap32((uint32_t)lcm.len | 0x80000000u);
    if (fwrite(&head, 1, 4, lake->stream) != 4 ||
        fwrite(lcm.ptr, 1, lcm.len, lake->stream) != lcm.len)
        return fail_io(err, "cannot write", lake->options.stream);
    return TIDE_OK;
}

tide_status lake_put(struct lake_write *lake, uint32_t sequence, tide_slice lcm,
                     struct tide_err *err)
{
    if (lake->stream && sequence > lake->skip_to) {
        tide_status status = put_stream(lake, lcm, err);
        if (status != TIDE_OK)
            return status;
    }
    if (!lake->options.dir)
        return TIDE_OK;
    if (lake->count == 0) {
        static const uint8_t head[BATCH_HEAD];
        tide_buf_reset(&lake->batch);
        tide_buf_put(&lake->batch, head, sizeof head);
        lake->first = sequence;
    }
    assert(sequence == lake->first + lake->count && "ledgers come in order");
    tide_buf_slice(&lake->batch, lcm);
    lake->count++;
    if (lake->batch.failed)
        return tide_fail(err, TIDE_E_LIMIT,
                         "object of ledger %u is too large: "
                         "fewer --ledgers-per-object",
                         lake->first);
    if ((sequence + 1) % lake->options.ledgers_per_object == 0)
        return finish_object(lake, sequence, err);
    return TIDE_OK;
}

bool lake_whole(const struct lake_write *lake)
{
    return !lake->options.dir || lake->count == 0;
}

tide_status lake_close(struct lake_write *lake, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    if (lake->stream) {
        bool bad = lake->stream == stdout ? fflush(stdout) != 0 : fclose(lake->stream) != 0;
        if (bad)
            status = fail_io(err, "cannot write", lake->options.stream);
    }
    tide_buf_release(&lake->batch);
    tide_buf_release(&lake->packed);
    tide_buf_release(&lake->path);
    return status;
}
