/* Names of a lake's objects: made from a ledger, taken apart, and read from a listing or from
 * .config.json. */
#include "indexer/source/lake_layout.h"
#include "tidemark/json_read.h"
#include "tidemark/text.h"

static const char *const extensions[LAKE_EXTENSIONS] = { ".xdr.zst", ".xdr.zstd" };
static_assert(TIDE_COUNT(extensions) == LAKE_EXTENSIONS, "each extension has its text");

uint32_t lake_layout_start(const struct lake_layout *layout, uint32_t ledger)
{
    assert(layout->batch > 0);
    return ledger / layout->batch * layout->batch;
}

/* Returns the last ledger of a span of `size` ledgers from start, within 32 bits. */
static uint32_t last_of(uint32_t start, uint64_t size)
{
    assert(size > 0);
    uint64_t last = start + size - 1;
    return last > UINT32_MAX ? UINT32_MAX : (uint32_t)last;
}

void lake_layout_key(char *out, const struct lake_layout *layout, uint32_t ledger,
                     uint32_t extension)
{
    assert(layout->batch > 0 && layout->partition > 0 && extension < LAKE_EXTENSIONS);
    size_t at = 0;
    uint64_t span = (uint64_t)layout->batch * layout->partition;
    if (layout->partition > 1) {
        uint32_t start = (uint32_t)(ledger / span * span);
        at += (size_t)snprintf(out, TIDE_OBJECT_KEY_MAX, "%08X--%u-%u/", UINT32_MAX - start, start,
                               last_of(start, span));
    }
    uint32_t start = lake_layout_start(layout, ledger);
    at +=
        (size_t)snprintf(out + at, TIDE_OBJECT_KEY_MAX - at, "%08X--%u", UINT32_MAX - start, start);
    if (layout->batch > 1)
        at += (size_t)snprintf(out + at, TIDE_OBJECT_KEY_MAX - at, "-%u",
                               last_of(start, layout->batch));
    assert(at + strlen(extensions[extension]) < TIDE_OBJECT_KEY_MAX);
    snprintf(out + at, TIDE_OBJECT_KEY_MAX - at, "%s", extensions[extension]);
}

static bool parse_number(const char **p, uint32_t *out)
{
    size_t len = strspn(*p, "0123456789");
    uint64_t v = 0;
    if (tide_parse_u64(&v, tide_slice_of(*p, len), UINT32_MAX) != TIDE_OK)
        return false;
    *out = (uint32_t)v;
    *p += len;
    return true;
}

bool lake_layout_parse(struct lake_name *out, const char *name)
{
    uint8_t inverse[4];
    if (strlen(name) < 11 || tide_hex_decode(inverse, 4, tide_slice_of(name, 8)) != TIDE_OK ||
        name[8] != '-' || name[9] != '-')
        return false;
    const char *p = name + 10;
    if (!parse_number(&p, &out->first))
        return false;
    out->last = out->first;
    bool ranged = *p == '-';
    if (ranged) {
        p++;
        if (!parse_number(&p, &out->last))
            return false;
    }
    out->folder = *p == '\0' && ranged;
    bool file = strcmp(p, extensions[0]) == 0 || strcmp(p, extensions[1]) == 0;
    uint32_t inverted = (uint32_t)inverse[0] << 24 | (uint32_t)inverse[1] << 16 |
                        (uint32_t)inverse[2] << 8 | inverse[3];
    return (out->folder || file) && out->last >= out->first && inverted == UINT32_MAX - out->first;
}

/* --- listing ----------------------------------------------------------------------------- */

/* The oldest and the newest name of a folder, among its subfolders or its files. */
struct extremes {
    bool folders; /* look at subfolders; otherwise at files */
    bool found;
    struct lake_name oldest, newest;
};

static bool note_name(void *self, const char *text)
{
    struct extremes *e = self;
    struct lake_name name;
    if (!lake_layout_parse(&name, text) || name.folder != e->folders)
        return true;
    if (!e->found || name.first < e->oldest.first)
        e->oldest = name;
    if (!e->found || name.last > e->newest.last)
        e->newest = name;
    e->found = true;
    return true;
}

static tide_status scan_folder(struct extremes *out, const struct object_store *store,
                               const char *folder, bool folders, struct tide_err *err)
{
    *out = (struct extremes){ .folders = folders };
    return store->ops->list(store->self, folder, note_name, out, err);
}

/* Writes the name of a partition's folder. */
static void folder_name(char *out, const struct lake_name *name)
{
    snprintf(out, TIDE_OBJECT_KEY_MAX, "%08X--%u-%u", UINT32_MAX - name->first, name->first,
             name->last);
}

/* Derives layout and range from names, if a folder holds whole batches. Ledger 1 is in no lake, so
 * a lake begins with ledger 2 at the earliest. */
static void fill_listing(struct lake_listing *out, const struct lake_name *oldest,
                         const struct lake_name *newest, const struct lake_name *folder)
{
    assert(newest->first <= newest->last); /* lake_layout_parse refuses others */
    uint64_t batch = (uint64_t)newest->last - newest->first + 1;
    uint64_t span = folder ? (uint64_t)folder->last - folder->first + 1 : batch;
    if (batch > UINT32_MAX || span > UINT32_MAX || span % batch != 0)
        return;
    out->layout.batch = (uint32_t)batch;
    out->layout.partition = (uint32_t)(span / batch);
    out->first = oldest->first > 2 ? oldest->first : 2;
    out->last = newest->last;
}

tide_status lake_layout_list(struct lake_listing *out, const struct object_store *store,
                             struct tide_err *err)
{
    struct extremes folders, oldest, newest;
    char name[TIDE_OBJECT_KEY_MAX];
    *out = (struct lake_listing){ 0 };
    tide_status status = scan_folder(&folders, store, "", true, err);
    if (status)
        return status;
    if (!folders.found) {
        status = scan_folder(&newest, store, "", false, err);
        if (!status && newest.found)
            fill_listing(out, &newest.oldest, &newest.newest, NULL);
        return status;
    }
    folder_name(name, &folders.oldest);
    status = scan_folder(&oldest, store, name, false, err);
    folder_name(name, &folders.newest);
    if (!status)
        status = scan_folder(&newest, store, name, false, err);
    if (!status && oldest.found && newest.found)
        fill_listing(out, &oldest.oldest, &newest.newest, &folders.newest);
    return status;
}

/* --- .config.json ------------------------------------------------------------------------ */

static tide_status read_count(uint32_t *out, const json_t *root, const char *key,
                              struct tide_err *err)
{
    const json_t *value = json_object_get(root, key);
    json_int_t v = json_integer_value(value);
    if (!json_is_integer(value) || v < 1 || v > UINT32_MAX)
        return tide_fail(err, TIDE_E_CONFIG, "%s: expected 1..4294967295", key);
    *out = (uint32_t)v;
    return TIDE_OK;
}

static tide_status read_config(struct lake_layout *out, char passphrase[256], const json_t *root,
                               struct tide_err *err)
{
    const char *compression = json_string_value(json_object_get(root, "compression"));
    const json_t *network = json_object_get(root, "networkPassphrase");
    if (compression && strcmp(compression, "zstd") != 0)
        return tide_fail(err, TIDE_E_CONFIG, "compression: %.40s; this build reads zstd",
                         compression);
    if (!json_is_string(network) || json_string_length(network) > 255)
        return tide_fail(err, TIDE_E_CONFIG, "networkPassphrase: expected a text");
    snprintf(passphrase, 256, "%s", json_string_value(network));
    tide_status status = read_count(&out->batch, root, "ledgersPerBatch", err);
    return status ? status : read_count(&out->partition, root, "batchesPerPartition", err);
}

tide_status lake_config_parse(struct lake_layout *out, char passphrase[256], tide_slice json,
                              struct tide_err *err)
{
    json_error_t where;
    json_t *root = tide_json_load(json, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_object(root)) {
        json_decref(root);
        return tide_fail(err, TIDE_E_CONFIG, "line %d: %s", root ? 1 : where.line,
                         root ? "expected an object" : where.text);
    }
    tide_status status = read_config(out, passphrase, root, err);
    json_decref(root);
    return status;
}
