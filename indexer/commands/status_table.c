/* Prints rows as an aligned table, or as one line for each column. */
#include "indexer/commands/status_table.h"
#include "tidemark/text.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_MAX = 32, CELL_BYTES = 512, INDENT = 2, GAP = 2 };

uint32_t tide_status_width(void)
{
    struct winsize size;
    if (isatty(STDOUT_FILENO) != 1)
        return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* Returns the number of characters of a UTF-8 text. */
static uint32_t width_of(const char *text)
{
    uint32_t count = 0;
    for (; *text; text++)
        count += ((uint8_t)*text & 0xc0) != 0x80;
    return count;
}

/* Writes a decimal number of bytes as "1.2 GiB". Other texts are copied. */
static void put_bytes(char out[CELL_BYTES], const char *text)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
    uint64_t bytes;
    size_t unit = 0;
    if (tide_parse_u64(&bytes, tide_slice_str(text), UINT64_MAX) != TIDE_OK) {
        snprintf(out, CELL_BYTES, "%s", text);
        return;
    }
    double value = (double)bytes;
    for (; value >= 1024 && unit + 1 < TIDE_COUNT(units); unit++)
        value /= 1024;
    snprintf(out, CELL_BYTES, "%.*f %s", unit ? 1 : 0, value, units[unit]);
}

/* Returns whether the column is a number of bytes, by its name. */
static bool is_bytes(const char *name)
{
    return strstr(name, "bytes") || strcmp(name, "max_wal_size") == 0 ||
           strcmp(name, "held_for_replicas") == 0;
}

struct column {
    uint32_t index, width;
    bool is_bytes, is_bool, is_number;
    char title[64];
};

struct table {
    const struct tide_pg_rows *rows;
    struct column columns[COLUMNS_MAX];
    uint32_t count;
    uint32_t title_width, width; /* the widest title; all columns with their gaps */
};

static void put_cell(char out[CELL_BYTES], const struct tide_pg_rows *rows, uint32_t row,
                     const struct column *c)
{
    assert(row < rows->count && c->index < rows->columns);
    const char *text = tide_pg_text(rows, row, c->index);
    if (c->is_bytes)
        put_bytes(out, text);
    else if (c->is_bool && *text)
        snprintf(out, CELL_BYTES, "%s", *text == 't' ? "yes" : "no");
    else
        snprintf(out, CELL_BYTES, "%s", text);
    for (char *p = out; *p; p++)
        *p = (uint8_t)*p < 0x20 || *p == 0x7f ? ' ' : *p; /* control characters: the database may
                                                           * hold any text */
}

/* Reads a column's title, type and width. Returns false if the column is NULL in all rows. */
static bool read_column(struct column *c, const struct tide_pg_rows *rows, uint32_t index)
{
    assert(index < rows->columns);
    char cell[CELL_BYTES];
    bool any = false;
    *c = (struct column){ .index = index, .is_bool = true, .is_number = true };
    snprintf(c->title, sizeof c->title, "%s", tide_pg_column(rows, index));
    c->is_bytes = is_bytes(c->title);
    for (char *p = c->title; *p; p++)
        *p = *p == '_' ? ' ' : *p;
    for (uint32_t r = 0; r < rows->count; r++) {
        const char *text = tide_pg_text(rows, r, index);
        if (tide_pg_is_null(rows, r, index))
            continue;
        any = true;
        c->is_bool = c->is_bool && (strcmp(text, "t") == 0 || strcmp(text, "f") == 0);
        c->is_number = c->is_number && strspn(text, "0123456789.-") == strlen(text);
    }
    c->width = width_of(c->title);
    for (uint32_t r = 0; r < rows->count; r++) {
        put_cell(cell, rows, r, c);
        c->width = width_of(cell) > c->width ? width_of(cell) : c->width;
    }
    return any;
}

static void read_table(struct table *t, const struct tide_pg_rows *rows)
{
    *t = (struct table){ .rows = rows, .width = INDENT };
    for (uint32_t i = 0; i < rows->columns && t->count < COLUMNS_MAX; i++) {
        struct column *c = &t->columns[t->count];
        if (!read_column(c, rows, i))
            continue;
        t->title_width = width_of(c->title) > t->title_width ? width_of(c->title) : t->title_width;
        t->width += c->width + (t->count ? GAP : 0);
        t->count++;
    }
}

/* Writes a cell with its padding. Numbers are aligned to the right; the last column is not
 * padded. */
static void put_padded(struct tide_buf *out, const struct column *c, const char *text, bool last)
{
    assert(c->width >= width_of(text));
    int pad = (int)(c->width - width_of(text));
    bool right = c->is_number || c->is_bytes;
    tide_buf_putf(out, "%*s%s%*s", right ? pad : 0, "", text, right || last ? 0 : pad, "");
    tide_buf_putf(out, last ? "\n" : "%*s", GAP, "");
}

static void put_lines(struct tide_buf *out, const struct table *t)
{
    char cell[CELL_BYTES];
    for (uint32_t i = 0; i < t->count; i++) {
        tide_buf_putf(out, "%*s", i ? 0 : INDENT, "");
        put_padded(out, &t->columns[i], t->columns[i].title, i + 1 == t->count);
    }
    for (uint32_t r = 0; r < t->rows->count; r++)
        for (uint32_t i = 0; i < t->count; i++) {
            put_cell(cell, t->rows, r, &t->columns[i]);
            tide_buf_putf(out, "%*s", i ? 0 : INDENT, "");
            put_padded(out, &t->columns[i], cell, i + 1 == t->count);
        }
}

/* Writes each row as one line per column, without NULL columns. */
static void put_records(struct tide_buf *out, const struct table *t)
{
    char cell[CELL_BYTES];
    for (uint32_t r = 0; r < t->rows->count; r++) {
        tide_buf_str(out, r ? "\n" : "");
        for (uint32_t i = 0; i < t->count; i++) {
            const struct column *c = &t->columns[i];
            if (tide_pg_is_null(t->rows, r, c->index))
                continue;
            put_cell(cell, t->rows, r, c);
            tide_buf_putf(out, "%*s%-*s%*s%s\n", INDENT, "", (int)t->title_width, c->title, GAP, "",
                          cell);
        }
    }
}

void tide_status_table(struct tide_buf *out, const char *name, const struct tide_pg_rows *rows,
                       uint32_t width)
{
    struct table t;
    assert(rows->count > 0);
    read_table(&t, rows);
    assert(t.count <= COLUMNS_MAX);
    for (; *name; name++)
        tide_buf_u8(out, *name == '_' ? ' ' : (uint8_t)*name);
    tide_buf_u8(out, '\n');
    if (rows->count == 1 || (width && t.width > width))
        put_records(out, &t);
    else
        put_lines(out, &t);
    tide_buf_u8(out, '\n');
}
