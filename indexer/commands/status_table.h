/* Rows of the database as a person reads them. */
#ifndef INDEXER_COMMANDS_STATUS_TABLE_H
#define INDEXER_COMMANDS_STATUS_TABLE_H

#include "tidemark/buf.h"
#include "tidemark/pg.h"

/* Appends a section: its name, then a table with aligned columns. One row, or rows that do not fit
 * into width columns (0: any width), are written as a line per column instead. Columns that are
 * NULL in all rows are left out, underscores of names are blanks, booleans are yes and no, and
 * columns of bytes have units. rows has at least one row. */
void tide_status_table(struct tide_buf *out, const char *name, const struct tide_pg_rows *rows,
                       uint32_t width);

/* Columns of the terminal that is standard output; 0: it is none. */
uint32_t tide_status_width(void);

#endif
