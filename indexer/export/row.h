/* One line of an export: the same columns as a JSON object or as an RFC 4180 record.
 *
 * JSON  {"ledger":812,…}; a column that was not set is left out
 * CSV   a header line, then one record a row, CRLF; texts as they are, topics, data and other
 *       nested values as their JSON text, an unset or null column empty */
#ifndef INDEXER_EXPORT_ROW_H
#define INDEXER_EXPORT_ROW_H

#include "tidemark/buf.h"
#include "tidemark/status.h"

#include <stdio.h>

#define TIDE_EXPORT_COLUMNS_MAX 16u

enum tide_export_format { TIDE_EXPORT_JSONL, TIDE_EXPORT_CSV };

struct tide_export_row {
    FILE *to;
    enum tide_export_format format;
    const char *const *names; /* ends with NULL; borrowed */
    uint32_t count;
    struct {
        size_t at, len;
        bool set, text; /* text: not JSON yet */
    } values[TIDE_EXPORT_COLUMNS_MAX];
    struct tide_buf bytes; /* the values, one after the other */
    struct tide_buf line;
    uint64_t rows;
};

/* Writes the header of a CSV. names outlives row. */
void tide_export_row_open(struct tide_export_row *row, FILE *to, enum tide_export_format format,
                          const char *const *names);
void tide_export_row_close(struct tide_export_row *row);

void tide_export_row_number(struct tide_export_row *row, uint32_t column, uint64_t value);
void tide_export_row_text(struct tide_export_row *row, uint32_t column, tide_slice text);
/* json is one JSON value. */
void tide_export_row_json(struct tide_export_row *row, uint32_t column, tide_slice json);

/* Writes what was set since the last line. TIDE_E_LIMIT when the line is too long, TIDE_E_IO
 * when it cannot be written. */
tide_status tide_export_row_end(struct tide_export_row *row, struct tide_err *err) TIDE_MUST_USE;

#endif
