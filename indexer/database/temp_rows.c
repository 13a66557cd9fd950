#include "indexer/database/temp_rows.h"

#include <stdio.h>

enum { PIECE_BYTES = 1 << 20 };

void temp_rows_init(struct temp_rows *rows, const char *table)
{
    assert(table);
    *rows = (struct temp_rows){ .table = table };
    tide_buf_init(&rows->copy, PIECE_BYTES + TEMP_ROW_BYTES_MAX);
}

void temp_rows_release(struct temp_rows *rows)
{
    tide_buf_release(&rows->copy);
}

void temp_rows_drop(struct temp_rows *rows)
{
    tide_buf_reset(&rows->copy);
    rows->count = 0;
}

tide_status temp_rows_added(struct temp_rows *rows, struct tide_pg *pg, struct tide_err *err)
{
    rows->count++;
    return rows->copy.failed || rows->copy.len >= PIECE_BYTES ? temp_rows_flush(rows, pg, err)
                                                              : TIDE_OK;
}

tide_status temp_rows_flush(struct temp_rows *rows, struct tide_pg *pg, struct tide_err *err)
{
    char sql[96];
    if (rows->copy.failed)
        return tide_fail(err, TIDE_E_MEMORY, "rows of %s", rows->table);
    if (rows->count == 0)
        return TIDE_OK;
    assert(rows->copy.len > 0); /* each row that was counted was appended */
    int len = snprintf(sql, sizeof sql, "COPY pg_temp.%s FROM STDIN (FORMAT binary)", rows->table);
    assert(len > 0 && (size_t)len < sizeof sql);
    (void)len;
    tide_status status = tide_pg_run(pg, "BEGIN", "BEGIN", err);
    if (status == TIDE_OK)
        status = tide_pg_copy(pg, sql, tide_buf_view(&rows->copy), rows->count, err);
    if (status == TIDE_OK)
        status = tide_pg_run(pg, "COMMIT", "COMMIT", err);
    temp_rows_drop(rows);
    return status;
}
