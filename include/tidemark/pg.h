/* PostgreSQL, as much of it as we use: a connection, statements whose command tag is
 * compared, rows as text, COPY IN of bytes that are already encoded, COPY/SELECT out row by row.
 *
 * Memory   rows are owned by struct tide_pg_rows until tide_pg_rows_release; texts borrow from it.
 * Failure  err holds SQLSTATE and the server's words, copied. The code is
 *            TIDE_E_DB        the same transaction may succeed later (see tide_pg_remedy)
 *            TIDE_E_DB_FATAL  a person must act (permissions, schema, constraint, corruption)
 *            TIDE_E_STOPPED   stopped() said so and the statement was cancelled
 * Stop     while a statement runs, stopped() is asked five times a second; once it says yes the
 *          statement has TIDE_PG_GRACE_MS to end, then it is cancelled; after as long again its
 *          connection is cut.
 * Threads  one connection belongs to one thread. */
#ifndef TIDEMARK_PG_H
#define TIDEMARK_PG_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

#define TIDE_PG_GRACE_MS   1500
#define TIDE_PG_PARAMS_MAX 24u

struct tide_pg; /* opaque; only schema/postgres/pg*.c knows libpq */

/* The servers of conninfo that the caller accepts. */
enum tide_pg_server {
    TIDE_PG_ANY_SERVER, /* a hot standby too                                              */
    TIDE_PG_WRITABLE,   /* one whose sessions may write: no standby, none set read-only   */
    TIDE_PG_PRIMARY,    /* no standby; whether its sessions may write is for the statement */
};

struct tide_pg_options {
    const char *conninfo;        /* URL or keywords; NULL: what libpq takes from the environment */
    const char *application;     /* application_name, unless conninfo says one                    */
    enum tide_pg_server server;  /* target_session_attrs, unless conninfo says it                 */
    uint32_t silence_ms;         /* a server that says nothing for so long is given up; 0: never  */
    bool (*stopped)(void *self); /* NULL: never                                                  */
    void *stopped_self;
};

/* The remedy that may help after TIDE_E_DB. */
enum tide_pg_remedy {
    TIDE_PG_NONE,      /* nothing: the last statement succeeded, or failed for good        */
    TIDE_PG_AGAIN,     /* roll back, wait, run the whole transaction again                 */
    TIDE_PG_RECONNECT, /* the connection, or this server, is no good: reconnect, then again */
};

/* *out is owned by the caller (tide_pg_close). TIDE_E_CONFIG when conninfo cannot be read,
 * TIDE_E_DB_FATAL when the server refuses for good, decided by its SQLSTATE. TIDE_E_NO_PRIMARY from
 * this and from reopen: with TIDE_PG_PRIMARY, and only standbys answered. */
tide_status tide_pg_open(struct tide_pg **out, const struct tide_pg_options *options,
                         struct tide_err *err) TIDE_MUST_USE;
void tide_pg_close(struct tide_pg *pg); /* NULL is allowed */
/* Drops the connection and opens it anew with the same options. Prepared statements and
 * temporary tables are gone. On failure the old connection is gone too; call again. */
tide_status tide_pg_reopen(struct tide_pg *pg, struct tide_err *err) TIDE_MUST_USE;
/* Changes silence_ms, for statements that may take longer; 0: any time. */
void tide_pg_patience(struct tide_pg *pg, uint32_t silence_ms);
/* Opens *pg where it is NULL, reopens it otherwise. */
tide_status tide_pg_connect(struct tide_pg **pg, const struct tide_pg_options *options,
                            struct tide_err *err) TIDE_MUST_USE;
/* False when the connection is known to be lost. No round trip. */
bool tide_pg_alive(const struct tide_pg *pg);
bool tide_pg_in_transaction(const struct tide_pg *pg);

/* The remedy and the SQLSTATE of the last failure on this connection. The SQLSTATE is "" if the
 * server did not answer. */
enum tide_pg_remedy tide_pg_remedy(const struct tide_pg *pg);
const char *tide_pg_sqlstate(const struct tide_pg *pg);
/* Remedy for a SQLSTATE ("" or NULL: the connection failed). Pure. */
enum tide_pg_remedy tide_pg_remedy_of(const char *sqlstate);

/* Statements without rows, one or several (simple protocol, no parameters). The tag of the
 * last one must begin with tag: COMMIT of a failed transaction answers ROLLBACK and calls
 * that success. tag NULL: any. */
tide_status tide_pg_run(struct tide_pg *pg, const char *sql, const char *tag,
                        struct tide_err *err) TIDE_MUST_USE;

/* Rows of one result, all in memory: for answers that are small by construction. */
struct tide_pg_rows {
    void *result;
    uint32_t count; /* rows    */
    uint32_t columns;
    uint64_t affected; /* rows that INSERT, UPDATE, DELETE, COPY touched */
};

/* Statements in simple protocol like tide_pg_run; rows are those of the last one. */
tide_status tide_pg_script(struct tide_pg *pg, struct tide_pg_rows *rows, const char *sql,
                           struct tide_err *err) TIDE_MUST_USE;
/* One statement with $1.. bound as text (NULL: SQL NULL). rows may be NULL. On success *rows
 * is the caller's to release; on failure it is empty. */
tide_status tide_pg_query(struct tide_pg *pg, struct tide_pg_rows *rows, const char *sql,
                          const char *const *values, size_t count,
                          struct tide_err *err) TIDE_MUST_USE;
/* The same through a statement prepared on this connection. */
tide_status tide_pg_prepare(struct tide_pg *pg, const char *name, const char *sql,
                            struct tide_err *err) TIDE_MUST_USE;
tide_status tide_pg_execute(struct tide_pg *pg, struct tide_pg_rows *rows, const char *name,
                            const char *const *values, size_t count,
                            struct tide_err *err) TIDE_MUST_USE;

void tide_pg_rows_release(struct tide_pg_rows *rows);
bool tide_pg_is_null(const struct tide_pg_rows *rows, uint32_t row, uint32_t column);
/* NUL-terminated text, "" for NULL; borrows from rows. */
const char *tide_pg_text(const struct tide_pg_rows *rows, uint32_t row, uint32_t column);
tide_slice tide_pg_slice(const struct tide_pg_rows *rows, uint32_t row, uint32_t column);
/* Decimal, 0 for NULL or for anything that is not a decimal below 2^64. */
uint64_t tide_pg_u64(const struct tide_pg_rows *rows, uint32_t row, uint32_t column);
bool tide_pg_bool(const struct tide_pg_rows *rows, uint32_t row, uint32_t column);
/* bytea in hex form into exactly len bytes; false when NULL or of another length. */
bool tide_pg_bytes(const struct tide_pg_rows *rows, uint32_t row, uint32_t column, uint8_t *out,
                   size_t len);
const char *tide_pg_column(const struct tide_pg_rows *rows, uint32_t column);

/* A pipeline: statements go out one behind another and their answers come in at the end, so that
 * many cost one round trip. Between tide_pg_pipe and tide_pg_pipe_end nothing else is asked of the
 * connection; the end is called whatever happened between, and what failed before it is still
 * undone by a ROLLBACK. No COPY. Values are copied. When a statement fails the server skips the
 * rest; its failure is what the end returns. */
tide_status tide_pg_pipe(struct tide_pg *pg, struct tide_err *err) TIDE_MUST_USE;
/* One statement without parameters. */
tide_status tide_pg_pipe_run(struct tide_pg *pg, const char *sql,
                             struct tide_err *err) TIDE_MUST_USE;
/* A prepared one: parameters as text, or a single one in binary form. */
tide_status tide_pg_pipe_execute(struct tide_pg *pg, const char *name, const char *const *values,
                                 size_t count, struct tide_err *err) TIDE_MUST_USE;
tide_status tide_pg_pipe_bytes(struct tide_pg *pg, const char *name, tide_slice value,
                               struct tide_err *err) TIDE_MUST_USE;
/* Hands over the answers in order, index from 0, until one is refused: rows is released when
 * answer() returns. TIDE_OK at once when no pipeline is open. */
struct tide_pg_answers {
    tide_status (*answer)(void *self, uint32_t index, const struct tide_pg_rows *rows,
                          struct tide_err *err);
    void *self;
};
tide_status tide_pg_pipe_end(struct tide_pg *pg, const struct tide_pg_answers *sink,
                             struct tide_err *err) TIDE_MUST_USE;

/* Rows of any number, one at a time, memory flat. row sees a result of one row that is
 * released when it returns; anything but TIDE_OK from it cancels the statement and is returned. */
typedef tide_status (*tide_pg_row_fn)(void *self, const struct tide_pg_rows *row,
                                      struct tide_err *err);
struct tide_pg_sink {
    tide_pg_row_fn row;
    void *self;
};
tide_status tide_pg_stream(struct tide_pg *pg, const struct tide_pg_sink *sink, const char *sql,
                           const char *const *values, size_t count,
                           struct tide_err *err) TIDE_MUST_USE;

/* COPY … FROM STDIN (FORMAT binary), inside a transaction: one statement or several, divided by
 * ';', that go out together. For each in its order tide_pg_copy_put sends tuples between file
 * header and trailer. It does not wait until the server has taken them: that is seen by the next
 * put or by the close, which fail when the count of rows is not the one announced. what names the
 * rows in errors, and is not empty. The close is called whatever happened after the open;
 * statements without a put fail, which is an error where nothing failed before. */
tide_status tide_pg_copy_open(struct tide_pg *pg, const char *sql,
                              struct tide_err *err) TIDE_MUST_USE;
tide_status tide_pg_copy_put(struct tide_pg *pg, const char *what, tide_slice tuples, uint64_t rows,
                             struct tide_err *err) TIDE_MUST_USE;
tide_status tide_pg_copy_close(struct tide_pg *pg, struct tide_err *err) TIDE_MUST_USE;
/* All three for a single statement. */
tide_status tide_pg_copy(struct tide_pg *pg, const char *sql, tide_slice tuples, uint64_t rows,
                         struct tide_err *err) TIDE_MUST_USE;

/* COPY … TO STDOUT (FORMAT binary): the tuples one by one, without file header and trailer;
 * memory flat. A tuple dies when tuple() returns; anything but TIDE_OK from it cancels the
 * statement and is returned. */
struct tide_pg_tuples {
    tide_status (*tuple)(void *self, tide_slice tuple, struct tide_err *err);
    void *self;
};
tide_status tide_pg_copy_out(struct tide_pg *pg, const struct tide_pg_tuples *sink, const char *sql,
                             struct tide_err *err) TIDE_MUST_USE;

/* Listens on a channel from now on; again after a reopen. A hot standby refuses: it has recovery
 * (tide_pg_query of pg_is_in_recovery), and is asked instead. */
tide_status tide_pg_listen(struct tide_pg *pg, const char *channel,
                           struct tide_err *err) TIDE_MUST_USE;
/* Waits for a notification, at most ms, or until stopped() says so; takes all that came.
 * TIDE_E_DB when the connection is lost. */
tide_status tide_pg_wait(struct tide_pg *pg, int ms, bool *notified,
                         struct tide_err *err) TIDE_MUST_USE;

/* text as an SQL literal into out; false when it does not fit (nothing is ever cut). */
bool tide_pg_quote_literal(char *out, size_t size, const char *text);

#endif
