#include "indexer/write/rows/pack.h"
#include "indexer/base/copy.h"
#include "indexer/write/rows/tuple.h"

#include <stdlib.h>

enum { BYTES_MAX = INT32_MAX, COMMON = 8, REMOVED = COMMON - 1 };

void write_pack_open(struct write_pack *pack)
{
    tide_buf_init(&pack->versions, BYTES_MAX);
    tide_buf_init(&pack->columns, BYTES_MAX);
    tide_buf_init(&pack->rows, BYTES_MAX);
}

void write_pack_close(struct write_pack *pack)
{
    tide_buf_release(&pack->versions);
    tide_buf_release(&pack->columns);
    tide_buf_release(&pack->rows);
}

/* Compares ledgers, or within a ledger keys. */
static int compare_keys(const uint8_t *one, const uint8_t *other)
{
    int order = memcmp(one + TUPLE_LEDGER, other + TUPLE_LEDGER, 4);
    return order ? order : memcmp(one + TUPLE_KEY, other + TUPLE_KEY, TIDE_HASH_BYTES);
}

static int compare_versions(const void *one, const void *other)
{
    const uint8_t *a = *(const uint8_t *const *)one, *b = *(const uint8_t *const *)other;
    int order = compare_keys(a, b);
    return order ? order : memcmp(a + TUPLE_TX, b + TUPLE_TX, TUPLE_SEQ + 4 - TUPLE_TX);
}

/* Returns the rows, those of one ledger and key together, oldest first. NULL without memory. */
static const uint8_t **sort_versions(struct write_pack *pack, const uint8_t *row, uint64_t count)
{
    tide_buf_reset(&pack->versions);
    uint8_t *room = count < BYTES_MAX / sizeof row
                        ? tide_buf_room(&pack->versions, (size_t)count * sizeof row)
                        : NULL;
    const uint8_t **versions = (const uint8_t **)(void *)room;
    for (uint64_t i = 0; i < count && versions; i++, row = tuple_next(row))
        versions[i] = row;
    if (versions)
        qsort(versions, (size_t)count, sizeof *versions, compare_versions);
    return versions;
}

/* A packed table's columns. */
struct layout {
    uint32_t own, arrays;          /* numbers of columns */
    uint32_t of[TIDE_COLUMNS_MAX]; /* the own column of each array */
    enum tide_copy_oid element[TIDE_COLUMNS_MAX];
    bool has_array[TIDE_COLUMNS_MAX]; /* by own column */
};

static void read_layout(struct layout *l, const struct tide_table *stored)
{
    *l = (struct layout){ .own = stored->own_columns,
                          .arrays = stored->column_count - stored->own_columns };
    for (uint32_t i = 0; i < l->own; i++) {
        const struct tide_column *array = tide_table_earlier(stored, stored->columns[i].name);
        if (!array)
            continue;
        uint32_t at = (uint32_t)(array - &stored->columns[l->own]);
        assert(at < l->arrays);
        l->of[at] = i;
        l->element[at] = array->type == TIDE_PG_BOOL_ARRAY   ? TIDE_OID_BOOL
                         : array->type == TIDE_PG_INT4_ARRAY ? TIDE_OID_INT4
                                                             : TIDE_OID_NUMERIC;
        l->has_array[i] = true;
    }
}

static void split_row(tide_slice *columns, uint32_t count, const uint8_t *row)
{
    row += 2;
    for (uint32_t i = 0; i < count; i++)
        columns[i] = tuple_take(&row);
}

/* Returns whether the row of the last version can imply this one. */
static bool row_implies(const struct layout *l, const tide_slice *last, const tide_slice *one)
{
    static const uint8_t none[4 + 8] = { 0, 0, 0, 8 };
    uint32_t life = l->own - 1;
    if (last[REMOVED].ptr[4] || one[REMOVED].ptr[4] ||
        memcmp(one[life].ptr, none, sizeof none) != 0)
        return false;
    for (uint32_t i = COMMON; i < life; i++)
        if (!l->has_array[i] && !tide_slice_eq(last[i], one[i]))
            return false;
    return true;
}

/* Appends an array of the versions before. `columns` has the last version's, then theirs. It is
 * NULL if all are equal, but that of tx, which tells their number. */
static void put_array(struct tide_buf *out, const struct layout *l, uint32_t at,
                      const tide_slice *columns, size_t count)
{
    const tide_slice *column = columns + l->of[at];
    bool equal = count == 0 || at > 0;
    for (size_t i = 1; i <= count && equal; i++)
        equal = tide_slice_eq(column[0], column[i * l->own]);
    if (equal) {
        tide_copy_null(out);
        return;
    }
    struct tide_copy_array array = tide_copy_array_begin(out, l->element[at], (uint32_t)count);
    for (size_t i = 1; i <= count; i++)
        tide_buf_slice(out, column[i * l->own]);
    tide_copy_array_end(out, array);
}

/* Appends one stored row: a version's own columns, and the arrays of `count` versions before. */
static void put_row(struct tide_buf *out, const struct layout *l, const tide_slice *columns,
                    size_t count)
{
    const tide_slice *last = &columns[l->own - 1];
    tide_copy_row(out, (uint16_t)(l->own + l->arrays));
    tide_buf_put(out, columns[0].ptr, (size_t)(last->ptr + last->len - columns[0].ptr));
    for (uint32_t i = 0; i < l->arrays; i++)
        put_array(out, l, i, columns, count);
}

/* Appends the rows of the versions of one key and ledger. Returns their number, or 0 without
 * memory. */
static uint64_t put_versions(struct write_pack *pack, const struct layout *l,
                             const uint8_t *const *versions, size_t count)
{
    size_t shared = 0, bytes = l->own * sizeof(tide_slice);
    tide_buf_reset(&pack->columns);
    uint8_t *room = count < BYTES_MAX / bytes ? tide_buf_room(&pack->columns, count * bytes) : NULL;
    tide_slice *columns = (tide_slice *)(void *)room;
    if (!columns)
        return 0;
    split_row(columns, l->own, versions[count - 1]);
    for (size_t i = 0; i + 1 < count; i++) {
        tide_slice *one = columns + (1 + shared) * l->own;
        split_row(one, l->own, versions[i]);
        if (row_implies(l, columns, one))
            shared++;
        else
            put_row(&pack->rows, l, one, 0);
    }
    put_row(&pack->rows, l, columns, shared);
    return pack->rows.failed ? 0 : count - shared;
}

tide_status write_pack_rows(struct write_pack *pack, const struct tide_table *stored,
                            tide_slice *tuples, uint64_t *count, struct tide_err *err)
{
    struct layout layout;
    assert(stored->own_columns && stored->own_columns + 2 <= stored->column_count);
    read_layout(&layout, stored);
    tide_buf_reset(&pack->rows);
    size_t all = (size_t)*count, end;
    const uint8_t **versions = sort_versions(pack, tuples->ptr, *count);
    *count = 0;
    for (size_t i = 0; i < all; i = end) {
        end = i + 1;
        while (versions && end < all && compare_keys(versions[i], versions[end]) == 0)
            end++;
        uint64_t put = versions ? put_versions(pack, &layout, versions + i, end - i) : 0;
        if (!put)
            return tide_fail(err, TIDE_E_MEMORY, "writer: rows of %s", stored->name);
        *count += put;
    }
    *tuples = tide_buf_view(&pack->rows);
    return TIDE_OK;
}
