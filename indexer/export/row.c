/* Writes a line as JSON or CSV. */
#include "indexer/export/row.h"
#include "tidemark/json.h"
#include "tidemark/limits.h"
#include "tidemark/text.h"

#include <errno.h>

void tide_export_row_open(struct tide_export_row *row, FILE *to, enum tide_export_format format,
                          const char *const *names)
{
    assert(names[0]);
    *row = (struct tide_export_row){ .to = to, .format = format, .names = names };
    while (names[row->count])
        row->count++;
    assert(row->count <= TIDE_EXPORT_COLUMNS_MAX);
    tide_buf_init(&row->bytes, TIDE_JSON_BYTES_MAX);
    tide_buf_init(&row->line, TIDE_JSON_BYTES_MAX);
    if (format != TIDE_EXPORT_CSV)
        return;
    for (uint32_t i = 0; i < row->count; i++)
        fprintf(to, "%s%s", i ? "," : "", names[i]);
    fputs("\r\n", to);
}

void tide_export_row_close(struct tide_export_row *row)
{
    tide_buf_release(&row->bytes);
    tide_buf_release(&row->line);
}

static void set_column(struct tide_export_row *row, uint32_t column, tide_slice bytes, bool text)
{
    assert(!row->values[column].set);
    assert(column < row->count);
    row->values[column].at = row->bytes.len;
    row->values[column].len = bytes.len;
    row->values[column].set = true;
    row->values[column].text = text;
    tide_buf_slice(&row->bytes, bytes);
}

void tide_export_row_number(struct tide_export_row *row, uint32_t column, uint64_t value)
{
    char digits[20];
    set_column(row, column, tide_slice_of(digits, tide_u64_text(digits, value)), false);
}

void tide_export_row_text(struct tide_export_row *row, uint32_t column, tide_slice text)
{
    set_column(row, column, text, true);
}

void tide_export_row_json(struct tide_export_row *row, uint32_t column, tide_slice json)
{
    set_column(row, column, json, false);
}

static void put_json(struct tide_export_row *row)
{
    struct tide_json json = { .buf = &row->line };
    tide_json_open(&json, '{');
    for (uint32_t i = 0; i < row->count; i++) {
        if (!row->values[i].set)
            continue;
        assert(row->values[i].at + row->values[i].len <= row->bytes.len);
        tide_slice value = tide_slice_of(row->bytes.ptr + row->values[i].at, row->values[i].len);
        if (row->values[i].text) {
            tide_json_text(&json, row->names[i], value);
        } else {
            tide_json_name(&json, row->names[i]);
            tide_json_raw(&json, value);
        }
    }
    tide_json_close(&json, '}');
    tide_buf_u8(&row->line, '\n');
}

/* Appends the value with each quotation mark doubled. */
static void put_doubled(struct tide_buf *line, tide_slice value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '"')
            tide_buf_u8(line, '"');
        tide_buf_u8(line, value.ptr[i]);
    }
}

static void put_quoted(struct tide_buf *line, tide_slice value)
{
    tide_buf_u8(line, '"');
    put_doubled(line, value);
    tide_buf_u8(line, '"');
}

static bool needs_quotes(tide_slice value)
{
    for (size_t i = 0; i < value.len; i++)
        if (strchr("\",\r\n", value.ptr[i]))
            return true;
    return false;
}

/* Contracts choose their texts, so an apostrophe stops those that a spreadsheet would run. Numbers
 * and JSON are no texts and stay as they are. */
static void put_text(struct tide_buf *line, tide_slice text)
{
    bool quoted = text.len == 0 || needs_quotes(text);
    if (quoted)
        tide_buf_u8(line, '"');
    if (tide_text_is_formula(text))
        tide_buf_u8(line, '\'');
    put_doubled(line, text);
    if (quoted)
        tide_buf_u8(line, '"');
}

static void put_csv(struct tide_export_row *row)
{
    for (uint32_t i = 0; i < row->count; i++) {
        assert(!row->values[i].set || row->values[i].at + row->values[i].len <= row->bytes.len);
        tide_slice value = tide_slice_of(row->bytes.ptr + row->values[i].at, row->values[i].len);
        if (i)
            tide_buf_u8(&row->line, ',');
        if (!row->values[i].set || (!row->values[i].text && tide_slice_eq_str(value, "null")))
            continue;
        if (row->values[i].text)
            put_text(&row->line, value);
        else if (needs_quotes(value))
            put_quoted(&row->line, value);
        else
            tide_buf_slice(&row->line, value);
    }
    tide_buf_str(&row->line, "\r\n");
}

tide_status tide_export_row_end(struct tide_export_row *row, struct tide_err *err)
{
    assert(row->line.len == 0);
    bool failed = row->bytes.failed;
    if (!failed && row->format == TIDE_EXPORT_CSV)
        put_csv(row);
    else if (!failed)
        put_json(row);
    failed = failed || row->line.failed;
    size_t len = row->line.len;
    bool written = failed || fwrite(row->line.ptr, 1, len, row->to) == len;
    tide_buf_reset(&row->bytes);
    tide_buf_reset(&row->line);
    memset(row->values, 0, sizeof row->values);
    if (failed)
        return tide_fail(err, TIDE_E_LIMIT, "export: a line is longer than %u bytes",
                         TIDE_JSON_BYTES_MAX);
    if (!written)
        return tide_fail(err, TIDE_E_IO, "export: cannot write: %s", strerror(errno));
    row->rows++;
    return TIDE_OK;
}
