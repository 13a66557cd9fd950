#include "tidemark/project.h"
#include "tidemark/table.h"
#include "tidemark/text.h"

#define TIDE_SOURCE(id, apply, schema, table, columns) [PROJECT_##id] = { #table, project_##apply },
const struct project_source project_sources[PROJECT_SOURCE_COUNT] = {
#include "tidemark/project_source.def"
};

void project_sql_begin(struct tide_buf *sql)
{
    tide_buf_reset(sql);
    tide_buf_str(sql, project_bound);
}

const char *project_sql_text(struct tide_buf *sql, struct tide_err *err)
{
    tide_buf_u8(sql, 0);
    if (!sql->failed)
        return (const char *)sql->ptr;
    tide_fail(err, TIDE_E_MEMORY, "statement");
    return NULL;
}

tide_status project_apply(enum project_source_id source, struct project_row *row,
                          struct tide_err *err)
{
    assert(source < PROJECT_SOURCE_COUNT && project_sources[source].apply);
    assert(row->sink && row->rows);
    tide_status status = project_sources[source].apply(row, err);
    if (status == TIDE_OK && row->bad)
        status = tide_fail(err, TIDE_E_SCHEMA, "%s: %s of ledger %u does not fit",
                           project_sources[source].name, row->bad, row->ledger);
    return status;
}

tide_status project_apply_row(struct tide_hot_sink *sink, const struct tide_pg_rows *rows,
                              uint32_t at, struct tide_err *err)
{
    uint64_t source = tide_pg_u64(rows, at, PROJECT_ROW_SOURCE);
    struct project_row row = { .sink = sink,
                               .rows = rows,
                               .at = at,
                               .first = PROJECT_ROW_VALUES,
                               .removed = tide_pg_bool(rows, at, PROJECT_ROW_REMOVED),
                               .ledger = (uint32_t)tide_pg_u64(rows, at, PROJECT_ROW_LEDGER),
                               .close_time = tide_pg_u64(rows, at, PROJECT_ROW_TIME),
                               .contract = tide_pg_slice(rows, at, PROJECT_ROW_CONTRACT) };
    assert(source < PROJECT_SOURCE_COUNT);
    return project_apply((enum project_source_id)source, &row, err);
}

bool project_null(const struct project_row *row, uint32_t column)
{
    return tide_pg_is_null(row->rows, row->at, row->first + column);
}

tide_slice project_text(const struct project_row *row, uint32_t column)
{
    return tide_pg_slice(row->rows, row->at, row->first + column);
}

static void refuse_column(struct project_row *row, uint32_t column)
{
    (void)column;
    if (!row->bad)
        row->bad = "a value";
}

uint64_t project_u64(struct project_row *row, uint32_t column)
{
    uint64_t v = 0;
    if (!project_null(row, column) &&
        tide_parse_u64(&v, project_text(row, column), UINT64_MAX) != TIDE_OK)
        refuse_column(row, column);
    return v;
}

bool project_bool(struct project_row *row, uint32_t column)
{
    tide_slice text = project_text(row, column);
    bool yes = tide_slice_eq_str(text, "t") || tide_slice_eq_str(text, "true");
    if (!yes && text.len && !tide_slice_eq_str(text, "f") && !tide_slice_eq_str(text, "false"))
        refuse_column(row, column);
    return yes;
}

struct tide_hot_amount project_amount(struct project_row *row, uint32_t column)
{
    tide_i128 v = { 0 };
    if (!project_null(row, column) && tide_i128_parse(&v, project_text(row, column)) != TIDE_OK)
        refuse_column(row, column);
    return tide_hot_amount(v.raw);
}

struct tide_hot_address project_address(struct project_row *row, uint32_t column)
{
    struct tide_hot_address address;
    (void)tide_hot_address_parse(&address, project_text(row, column));
    return address;
}

struct tide_hot_symbol project_symbol(struct project_row *row, uint32_t column)
{
    struct tide_hot_symbol symbol;
    if (!tide_hot_symbol_of(&symbol, project_text(row, column)))
        refuse_column(row, column);
    return symbol;
}

static size_t cut_length(size_t len)
{
    return len < TIDE_HOT_NAME_MAX ? len : TIDE_HOT_NAME_MAX;
}

struct tide_hot_name project_name(struct project_row *row, uint32_t column)
{
    struct tide_hot_name name = { 0 };
    tide_slice text = project_text(row, column);
    if (text.len == 0)
        return name;
    if (text.len < 2 || text.ptr[0] != '\\' || text.ptr[1] != 'x') {
        refuse_column(row, column);
        return name;
    }
    size_t len = (text.len - 2) / 2;
    name.len = (uint16_t)(len < UINT16_MAX ? len : UINT16_MAX);
    if (tide_hex_decode(name.text, cut_length(len),
                        tide_slice_of(text.ptr + 2, 2 * cut_length(len))) != TIDE_OK)
        refuse_column(row, column);
    return name;
}
