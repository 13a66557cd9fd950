/* SQL cursors, read a piece at a time. */
#include "indexer/export/cursor.h"
#include "tidemark/buf.h"

#include <stdio.h>

static tide_status fetch_rows(struct tide_export_cursor *cursor, struct tide_err *err)
{
    char sql[64];
    tide_pg_rows_release(&cursor->rows);
    cursor->at = 0;
    int len = snprintf(sql, sizeof sql, "FETCH %u FROM tide_%u", TIDE_CURSOR_ROWS, cursor->id);
    assert(len > 0 && (size_t)len < sizeof sql);
    (void)len;
    tide_status status = tide_pg_query(cursor->pg, &cursor->rows, sql, NULL, 0, err);
    cursor->live = status == TIDE_OK && cursor->rows.count > 0;
    return status;
}

tide_status tide_export_cursor_open(struct tide_export_cursor *cursor, struct tide_pg *pg,
                                    uint32_t id, const struct tide_buf *sql, struct tide_err *err)
{
    assert(sql->failed || sql->len > 0);
    struct tide_buf declare;
    *cursor = (struct tide_export_cursor){ .pg = pg, .id = id };
    tide_buf_init(&declare, 128u << 10);
    tide_buf_putf(&declare, "DECLARE tide_%u NO SCROLL CURSOR FOR ", id);
    tide_buf_slice(&declare, tide_buf_view(sql));
    tide_buf_u8(&declare, 0);
    tide_status status = sql->failed || declare.failed
                             ? tide_fail(err, TIDE_E_LIMIT, "export: no room for a statement")
                             : tide_pg_run(pg, (const char *)declare.ptr, "DECLARE", err);
    tide_buf_release(&declare);
    return status == TIDE_OK ? fetch_rows(cursor, err) : status;
}

tide_status tide_export_cursor_next(struct tide_export_cursor *cursor, struct tide_err *err)
{
    assert(cursor->at < cursor->rows.count);
    assert(cursor->live);
    cursor->at++;
    if (cursor->at < cursor->rows.count)
        return TIDE_OK;
    if (cursor->rows.count == TIDE_CURSOR_ROWS)
        return fetch_rows(cursor, err);
    cursor->live = false;
    return TIDE_OK;
}

void tide_export_cursor_close(struct tide_export_cursor *cursor)
{
    tide_pg_rows_release(&cursor->rows);
    cursor->live = false;
}
