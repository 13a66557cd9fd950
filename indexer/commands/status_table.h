/* Prints rows of the database for people. */
#ifndef INDEXER_COMMANDS_STATUS_TABLE_H
#define INDEXER_COMMANDS_STATUS_TABLE_H

#include "tidemark/buf.h"
#include "tidemark/pg.h"

/* Appends a section: its name, then a table with aligned columns. One row, or rows that do not fit
 * into width columns (0: any width), are written as a line per column instead. Columns that are
 * NULL in all rows are left out. Underscores of names become blanks, booleans yes and no, and
 * columns of bytes have units. There must be at least one row. */
void tide_status_table(struct tide_buf *out, const char *name, const struct tide_pg_rows *rows,
                       uint32_t width);

/* Returns the columns of the terminal at standard output; 0 if that is no terminal. */
uint32_t tide_status_width(void);

#endif
