#include "schema/postgres/pg_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/pg.h"

#include <sys/socket.h>

static bool send_bytes(struct tide_pg *pg, const void *bytes, size_t len)
{
    enum { CHUNK = 64 << 10 }; /* libpq copies each chunk, so small chunks keep its buffer small */
    const char *at = bytes;
    while (len) {
        int n = len < CHUNK ? (int)len : CHUNK;
        if (PQputCopyData(pg->conn, at, n) != 1 || !pg_flush(pg))
            return false;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

/* Reads the answer to the previous put and compares its number of rows. */
static tide_status read_answer(struct tide_pg *pg, struct tide_err *err)
{
    char what[sizeof pg->copied];
    if (!pg->copied[0])
        return TIDE_OK;
    memcpy(what, pg->copied, sizeof what);
    pg->copied[0] = 0;
    if (TIDE_FAILPOINT("pg.answer")) /* the rows are sent, but their answer is lost */
        shutdown(PQsocket(pg->conn), SHUT_RDWR);
    PGresult *result = pg_next_result(pg);
    tide_status status = TIDE_OK;
    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
        status = pg_fail(pg, result, what, err);
    } else {
        uint64_t took = pg_rows_of(result).affected;
        if (took != pg->copied_rows)
            status =
                tide_fail(err, TIDE_E_DB_FATAL, "database: %.80s: %" PRIu64 " rows of %" PRIu64,
                          what, took, pg->copied_rows);
    }
    PQclear(result);
    return status;
}

tide_status tide_pg_copy_open(struct tide_pg *pg, const char *sql, struct tide_err *err)
{
    tide_status status;
    pg->copied[0] = 0;
    pg->copy_failed = true;
    if (!pg_begin(pg, sql, &status, err))
        return status;
    if (!PQsendQuery(pg->conn, sql) || !pg_flush(pg))
        return pg_fail(pg, NULL, sql, err);
    pg->copy_failed = false;
    return TIDE_OK;
}

static tide_status send_rows(struct tide_pg *pg, const char *what, tide_slice tuples,
                             struct tide_err *err)
{
    /* The texts' own NULs are the last bytes of the header, and none of the trailer. */
    static const char header[19] = "PGCOPY\n\377\r\n";
    static const char trailer[] = "\377\377";
    tide_status status = TIDE_OK;
    PGresult *result = pg_next_result(pg);
    if (PQresultStatus(result) != PGRES_COPY_IN)
        status = pg_fail(pg, result, what, err);
    PQclear(result);
    if (status != TIDE_OK)
        return status;
    if (!send_bytes(pg, header, sizeof header) || !send_bytes(pg, tuples.ptr, tuples.len) ||
        !send_bytes(pg, trailer, sizeof trailer - 1) || PQputCopyEnd(pg->conn, NULL) != 1 ||
        !pg_flush(pg))
        return pg_fail(pg, NULL, what, err);
    return TIDE_OK;
}

tide_status tide_pg_copy_put(struct tide_pg *pg, const char *what, tide_slice tuples, uint64_t rows,
                             struct tide_err *err)
{
    assert(what[0]); /* an empty name would mean that no answer is due */
    tide_status status = read_answer(pg, err);
    if (status == TIDE_OK)
        status = send_rows(pg, what, tuples, err);
    assert(!pg->copied[0]); /* its answer was read */
    snprintf(pg->copied, sizeof pg->copied, "%s", status == TIDE_OK ? what : "");
    pg->copied_rows = rows;
    pg->copy_failed |= status != TIDE_OK;
    return status;
}

/* Checks the end: there must be no further result. A further COPY waits for its rows (it is
 * abandoned), or the server reports a failure. */
static tide_status read_end(struct tide_pg *pg, struct tide_err *err)
{
    PGresult *result = pg_next_result(pg);
    tide_status status = TIDE_OK;
    if (PQresultStatus(result) == PGRES_COPY_IN) {
        if (PQputCopyEnd(pg->conn, "abandoned") == 1)
            (void)pg_flush(pg);
        status = tide_fail(err, TIDE_E_DB_FATAL, "database: COPY without its rows");
    } else if (result || !tide_pg_alive(pg)) {
        status = pg_fail(pg, result, "COPY", err);
    }
    PQclear(result);
    return status;
}

tide_status tide_pg_copy_close(struct tide_pg *pg, struct tide_err *err)
{
    tide_status status = read_answer(pg, err);
    if (status == TIDE_OK && !pg->copy_failed)
        status = read_end(pg, err);
    if (tide_pg_alive(pg))
        pg_drain(pg);
    if (!tide_pg_alive(pg))
        pg->remedy = TIDE_PG_RECONNECT;
    return status;
}

tide_status tide_pg_copy(struct tide_pg *pg, const char *sql, tide_slice tuples, uint64_t rows,
                         struct tide_err *err)
{
    struct tide_err ignored;
    tide_status status = tide_pg_copy_open(pg, sql, err);
    if (status == TIDE_OK)
        status = tide_pg_copy_put(pg, sql, tuples, rows, err);
    tide_status closed = tide_pg_copy_close(pg, status == TIDE_OK ? err : &ignored);
    return status == TIDE_OK ? closed : status;
}
