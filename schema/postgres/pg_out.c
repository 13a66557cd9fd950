#include "schema/postgres/pg_impl.h"
#include "tidemark/pg.h"

/* The file header arrives with the first tuple, the trailer as a separate message. */
static const uint8_t copy_magic[11] = "PGCOPY\n\377\r\n";

enum { MAGIC_BYTES = 11, HEADER_BYTES = 19, TRAILER_BYTES = 2 };
static_assert(sizeof copy_magic == MAGIC_BYTES, "the header begins with it");
static_assert(HEADER_BYTES == MAGIC_BYTES + 4 + 4, "flags and the length of an extension follow");

static bool strip_header(tide_slice *message)
{
    if (message->len < HEADER_BYTES || memcmp(message->ptr, copy_magic, MAGIC_BYTES) != 0)
        return false;
    message->ptr += HEADER_BYTES;
    message->len -= HEADER_BYTES;
    return true;
}

static tide_status hand_on(tide_slice message, bool *begun, const struct tide_pg_tuples *sink,
                           struct tide_err *err)
{
    if (!*begun && !strip_header(&message))
        return tide_fail(err, TIDE_E_DB_FATAL, "database: COPY did not begin with its header");
    *begun = true;
    if (message.len == 0 || (message.len == TRAILER_BYTES && message.ptr[0] == 0xff))
        return TIDE_OK;
    return sink->tuple(sink->self, message, err);
}

/* Reads the next message into *text, which the caller frees. Returns its length, 0 after the last
 * message, or -1 if the connection broke. */
static int next_message(struct tide_pg *pg, char **text)
{
    int64_t stopping_ms = 0;
    int len;
    while ((len = PQgetCopyData(pg->conn, text, 1)) == 0)
        if (!pg_wait(pg, &stopping_ms))
            return -1;
    return len == -1 ? 0 : len;
}

static tide_status read_messages(struct tide_pg *pg, const struct tide_pg_tuples *sink,
                                 const char *sql, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    bool begun = false;
    char *text = NULL;
    int len;
    while (status == TIDE_OK && (len = next_message(pg, &text)) != 0) {
        if (len < 0)
            return pg_fail(pg, NULL, sql, err);
        status = hand_on(tide_slice_of(text, (size_t)len), &begun, sink, err);
        PQfreemem(text);
    }
    return status;
}

static void abandon_statement(struct tide_pg *pg)
{
    char *text = NULL;
    pg_cancel(pg);
    while (next_message(pg, &text) > 0)
        PQfreemem(text);
    pg_drain(pg);
}

tide_status tide_pg_copy_out(struct tide_pg *pg, const struct tide_pg_tuples *sink, const char *sql,
                             struct tide_err *err)
{
    tide_status status;
    if (!pg_begin(pg, sql, &status, err))
        return status;
    if (!PQsendQuery(pg->conn, sql) || !pg_flush(pg))
        return pg_fail(pg, NULL, sql, err);
    PGresult *result = pg_next_result(pg);
    if (PQresultStatus(result) != PGRES_COPY_OUT) {
        status = pg_fail(pg, result, sql, err);
        PQclear(result);
        pg_drain(pg);
        return status;
    }
    PQclear(result);
    status = read_messages(pg, sink, sql, err);
    if (status != TIDE_OK) {
        if (tide_pg_alive(pg))
            abandon_statement(pg);
        return status;
    }
    result = NULL;
    status = pg_collect(pg, &result, sql, err);
    if (status == TIDE_OK)
        PQclear(result);
    return status;
}
