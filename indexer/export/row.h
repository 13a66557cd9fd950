/* One line of an export: the same columns as a JSON object or as an RFC 4180 record.
 *
 * JSON  {"ledger":812,…}; a column that was not set is left out
 * CSV   a header line, then one record for each row, ended by CRLF. Texts are written as they are;
 *       topics, data and other nested values as JSON text; an unset or null column is empty */
#ifndef INDEXER_EXPORT_ROW_H
#define INDEXER_EXPORT_ROW_H

#include "tidemark/buf.h"
#include "tidemark/status.h"

#include <stdio.h>

#define TIDE_EXPORT_COLUMNS_MAX 24u

enum tide_export_format { TIDE_EXPORT_JSONL, TIDE_EXPORT_CSV };

struct tide_export_row {
    FILE *to;
    enum tide_export_format format;
    const char *const *names; /* the last one is NULL; borrowed */
    uint32_t count;
    struct {
        size_t at, len;
        bool set, text; /* text: to be quoted; otherwise JSON */
    } values[TIDE_EXPORT_COLUMNS_MAX];
    struct tide_buf bytes; /* the values, back to back */
    struct tide_buf line;
    uint64_t rows;
};

/* Opens a row and writes the header of a CSV. names must outlive row. */
void tide_export_row_open(struct tide_export_row *row, FILE *to, enum tide_export_format format,
                          const char *const *names);
void tide_export_row_close(struct tide_export_row *row);

void tide_export_row_number(struct tide_export_row *row, uint32_t column, uint64_t value);
void tide_export_row_text(struct tide_export_row *row, uint32_t column, tide_slice text);
/* json must be one JSON value. */
void tide_export_row_json(struct tide_export_row *row, uint32_t column, tide_slice json);

/* Writes the columns that were set since the last line. TIDE_E_LIMIT if the line is too long,
 * TIDE_E_IO if it cannot be written. */
tide_status tide_export_row_end(struct tide_export_row *row, struct tide_err *err) TIDE_MUST_USE;

#endif
