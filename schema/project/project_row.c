/* The values of a row, and the record that it changes. */
#include "tidemark/project.h"
#include "tidemark/text.h"

bool project_null(const struct project_row *row, uint32_t column)
{
    return tide_pg_is_null(row->rows, row->at, row->first + column);
}

tide_slice project_text(const struct project_row *row, uint32_t column)
{
    return tide_pg_slice(row->rows, row->at, row->first + column);
}

uint64_t project_u64(struct project_row *row, uint32_t column)
{
    uint64_t v = 0;
    if (!project_null(row, column) &&
        tide_parse_u64(&v, project_text(row, column), UINT64_MAX) != TIDE_OK)
        row->bad = true;
    return v;
}

bool project_bool(struct project_row *row, uint32_t column)
{
    tide_slice text = project_text(row, column);
    bool yes = tide_slice_eq_str(text, "t") || tide_slice_eq_str(text, "true");
    if (!yes && text.len && !tide_slice_eq_str(text, "f") && !tide_slice_eq_str(text, "false"))
        row->bad = true;
    return yes;
}

struct tide_hot_amount project_amount(struct project_row *row, uint32_t column)
{
    tide_i128 v = { 0 };
    if (!project_null(row, column) && tide_i128_parse(&v, project_text(row, column)) != TIDE_OK)
        row->bad = true;
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
        row->bad = true;
    return symbol;
}

struct tide_hot_name project_name(struct project_row *row, uint32_t column)
{
    struct tide_hot_name name = { 0 };
    tide_slice text = project_text(row, column);
    if (text.len == 0)
        return name;
    if (text.len < 2 || text.ptr[0] != '\\' || text.ptr[1] != 'x') {
        row->bad = true;
        return name;
    }
    size_t len = (text.len - 2) / 2;
    size_t kept = len < TIDE_HOT_NAME_MAX ? len : TIDE_HOT_NAME_MAX;
    name.len = (uint16_t)(len < UINT16_MAX ? len : UINT16_MAX);
    if (tide_hex_decode(name.text, kept, tide_slice_of(text.ptr + 2, 2 * kept)) != TIDE_OK)
        row->bad = true;
    return name;
}

tide_status project_get(struct project_row *row, const struct tide_hot_key *key, void *record,
                        struct tide_err *err)
{
    bool found;
    return row->sink->get(row->sink->self, key, record, &found, err);
}

tide_status project_put(struct project_row *row, const struct tide_hot_key *key, const void *record,
                        struct tide_err *err)
{
    return row->sink->put(row->sink->self, key, record, err);
}

tide_status project_drop(struct project_row *row, const struct tide_hot_key *key,
                         struct tide_err *err)
{
    return row->sink->drop(row->sink->self, key, err);
}
