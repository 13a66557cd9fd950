/* Reads the rows of a batch back from their COPY bytes, for the tests of the decoder. */
#ifndef TIDEMARK_TEST_DECODE_FIXTURE_H
#define TIDEMARK_TEST_DECODE_FIXTURE_H

#include "indexer/decode/batch.h"
#include "indexer/decode/decode.h"
#include "tidemark/table.h"
#include "tidemark/xdr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct row {
    uint32_t table;
    uint32_t count;
    bool null[TIDE_COLUMNS_MAX];
    tide_slice value[TIDE_COLUMNS_MAX];
};

/* Returns the table whose columns the rows of a table have: rows of state have history's
 * columns. */
static inline uint32_t shape_of(uint32_t table)
{
    uint32_t tables;
    const struct tide_table *all = tide_tables(&tables);
    return all[table].kind == TIDE_TABLE_STATE ? all[table].pair : table;
}

/* Reads the next row and moves *at past it. Returns false at the end. */
static inline bool next_row(tide_slice *at, uint32_t table, struct row *row)
{
    uint32_t tables;
    table = shape_of(table);
    const struct tide_table *t = &tide_tables(&tables)[table];
    if (at->len == 0)
        return false;
    struct tide_xdr x = tide_xdr_of(*at);
    *row = (struct row){ .table = table };
    assert_true(tide_xdr_need(&x, 2));
    row->count = (uint32_t)x.cur[0] << 8 | x.cur[1];
    x.cur += 2;
    assert_int_equal(row->count, t->column_count);
    for (uint32_t i = 0; i < row->count; i++) {
        int32_t len = tide_xdr_i32(&x);
        row->null[i] = len < 0;
        if (len < 0) {
            assert_true(t->columns[i].nullable);
            continue;
        }
        assert_true(tide_xdr_need(&x, (size_t)len));
        row->value[i] = tide_slice_of(x.cur, (size_t)len);
        x.cur += len;
    }
    assert_int_equal(x.status, TIDE_OK);
    *at = tide_slice_of(x.cur, (size_t)(x.end - x.cur));
    return true;
}

static inline uint32_t column_of(uint32_t table, const char *name)
{
    uint32_t tables;
    const struct tide_table *t = &tide_tables(&tables)[table];
    for (uint32_t i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return i;
    fail_msg("no column %s in %s.%s", name, t->schema, t->name);
    return 0;
}

static inline tide_slice cell(const struct row *row, const char *name)
{
    return row->value[column_of(row->table, name)];
}

static inline bool is_null(const struct row *row, const char *name)
{
    return row->null[column_of(row->table, name)];
}

static inline int64_t cell_int(const struct row *row, const char *name)
{
    tide_slice v = cell(row, name);
    assert_true(v.len == 2 || v.len == 4 || v.len == 8 || v.len == 1);
    uint64_t n = v.len > 1 && (v.ptr[0] & 0x80) ? UINT64_MAX : 0;
    for (size_t i = 0; i < v.len; i++)
        n = n << 8 | v.ptr[i];
    return (int64_t)n;
}

static inline uint32_t table_of(const char *schema, const char *name)
{
    int at = tide_table_find(schema, name);
    if (at < 0)
        fail_msg("no table %s.%s", schema, name);
    return (uint32_t)at;
}

#endif
