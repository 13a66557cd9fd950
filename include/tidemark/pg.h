/* The subset of PostgreSQL's protocol that the project uses: connections, statements whose command
 * tag is compared, rows as text, COPY IN of encoded bytes, and COPY or SELECT out row by row.
 *
 * Memory   struct tide_pg_rows owns its rows until tide_pg_rows_release. Texts borrow from it.
 * Failure  err contains the SQLSTATE and a copy of the server's text. The code is
 *            TIDE_E_DB        the same transaction may succeed later (see tide_pg_remedy)
 *            TIDE_E_DB_FATAL  a person must act (permissions, schema, constraint, corruption)
 *            TIDE_E_STOPPED   stopped() returned true and the statement was cancelled
 * Stop     while a statement runs, stopped() is called five times a second. Once it returns true,
 *          the statement has TIDE_PG_GRACE_MS to end, then it is cancelled. After the same time
 *          again its connection is cut.
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
    TIDE_PG_WRITABLE,   /* a server whose sessions may write: no standby, and not read-only */
    TIDE_PG_PRIMARY,    /* no standby; its sessions may be read-only, which a statement finds out */
};

struct tide_pg_options {
    const char *conninfo;        /* URL or keywords; NULL: libpq's environment variables */
    const char *application;     /* application_name, unless conninfo sets it */
    enum tide_pg_server server;  /* target_session_attrs, unless conninfo sets it */
    uint32_t silence_ms;         /* silence after which the connection is given up; 0: never */
    bool (*stopped)(void *self); /* NULL: never                                                  */
    void *stopped_self;
};

/* The remedy that may help after TIDE_E_DB. */
enum tide_pg_remedy {
    TIDE_PG_NONE,      /* none: the last statement succeeded, or failed for good */
    TIDE_PG_AGAIN,     /* roll back, wait, and run the whole transaction again */
    TIDE_PG_RECONNECT, /* the connection or its server is unusable: reconnect, then repeat */
};

/* Opens a connection; the caller closes *out with tide_pg_close. TIDE_E_CONFIG if conninfo is
 * malformed. TIDE_E_DB_FATAL if the server refuses for good, decided by its SQLSTATE.
 * TIDE_E_NO_PRIMARY, also from tide_pg_reopen: TIDE_PG_PRIMARY was asked for and only standbys
 * answered. */
tide_status tide_pg_open(struct tide_pg **out, const struct tide_pg_options *options,
                         struct tide_err *err) TIDE_MUST_USE;
void tide_pg_close(struct tide_pg *pg); /* NULL is allowed */
/* Closes the connection and opens it anew with the same options. Prepared statements and temporary
 * tables are lost. After a failure there is no connection: call again. */
tide_status tide_pg_reopen(struct tide_pg *pg, struct tide_err *err) TIDE_MUST_USE;
/* Changes silence_ms, for statements that may take longer; 0: any time. */
void tide_pg_patience(struct tide_pg *pg, uint32_t silence_ms);
/* Opens *pg if it is NULL, otherwise reopens it. */
tide_status tide_pg_connect(struct tide_pg **pg, const struct tide_pg_options *options,
                            struct tide_err *err) TIDE_MUST_USE;
/* Returns false if the connection is known to be lost. Costs no round trip. */
bool tide_pg_alive(const struct tide_pg *pg);
bool tide_pg_in_transaction(const struct tide_pg *pg);

/* Return the remedy and the SQLSTATE of the last failure on this connection. The SQLSTATE is "" if
 * the server did not answer. */
enum tide_pg_remedy tide_pg_remedy(const struct tide_pg *pg);
const char *tide_pg_sqlstate(const struct tide_pg *pg);
/* Returns the remedy for a SQLSTATE ("" or NULL: the connection failed). */
enum tide_pg_remedy tide_pg_remedy_of(const char *sqlstate);

/* Runs one or several statements without rows or parameters (simple protocol). The command tag of
 * the last one must begin with `tag`, because COMMIT of a failed transaction succeeds with the tag
 * ROLLBACK. tag NULL: any. */
tide_status tide_pg_run(struct tide_pg *pg, const char *sql, const char *tag,
                        struct tide_err *err) TIDE_MUST_USE;

/* The rows of one result, all in memory: for results of bounded size. */
struct tide_pg_rows {
    void *result;
    uint32_t count; /* rows    */
    uint32_t columns;
    uint64_t affected; /* rows that INSERT, UPDATE, DELETE, COPY touched */
};

/* Runs statements in simple protocol like tide_pg_run. rows are those of the last one. */
tide_status tide_pg_script(struct tide_pg *pg, struct tide_pg_rows *rows, const char *sql,
                           struct tide_err *err) TIDE_MUST_USE;
/* Runs one statement with $1… bound as text (NULL: SQL NULL). rows may be NULL. On success the
 * caller releases *rows; after a failure *rows is empty. */
tide_status tide_pg_query(struct tide_pg *pg, struct tide_pg_rows *rows, const char *sql,
                          const char *const *values, size_t count,
                          struct tide_err *err) TIDE_MUST_USE;
/* The same with a statement that is prepared on this connection. */
tide_status tide_pg_prepare(struct tide_pg *pg, const char *name, const char *sql,
                            struct tide_err *err) TIDE_MUST_USE;
tide_status tide_pg_execute(struct tide_pg *pg, struct tide_pg_rows *rows, const char *name,
                            const char *const *values, size_t count,
                            struct tide_err *err) TIDE_MUST_USE;

/* Runs one statement for a single value: *out is the first column of the first row, a number, or 1
 * for true. 0: no row, NULL, false. */
tide_status tide_pg_value(struct tide_pg *pg, const char *sql, const char *const *values,
                          size_t count, uint64_t *out, struct tide_err *err) TIDE_MUST_USE;

/* Values for $1… as texts, which last as long as the block around the call. */
#define TIDE_PG_NUMBER(number) tide_pg_number((char[24]){ 0 }, (int64_t)(number))
#define TIDE_PG_HASH(bytes)    tide_pg_hash((char[2 * 32 + 3]){ 0 }, (bytes))
#define TIDE_PG_BOOL(value)    ((value) ? "true" : "false")
const char *tide_pg_number(char out[24], int64_t number);
const char *tide_pg_hash(char out[2 * 32 + 3], const uint8_t bytes[32]); /* a bytea */

void tide_pg_rows_release(struct tide_pg_rows *rows);
bool tide_pg_is_null(const struct tide_pg_rows *rows, uint32_t row, uint32_t column);
/* Returns a NUL-terminated text, "" for NULL. It borrows from rows. */
const char *tide_pg_text(const struct tide_pg_rows *rows, uint32_t row, uint32_t column);
tide_slice tide_pg_slice(const struct tide_pg_rows *rows, uint32_t row, uint32_t column);
/* Reads a decimal. Returns 0 for NULL and for text that is no decimal below 2^64. */
uint64_t tide_pg_u64(const struct tide_pg_rows *rows, uint32_t row, uint32_t column);
bool tide_pg_bool(const struct tide_pg_rows *rows, uint32_t row, uint32_t column);
/* Decodes a bytea of exactly len bytes. Returns false for NULL and for other lengths. */
bool tide_pg_bytes(const struct tide_pg_rows *rows, uint32_t row, uint32_t column, uint8_t *out,
                   size_t len);
const char *tide_pg_column(const struct tide_pg_rows *rows, uint32_t column);

/* A pipeline sends statements one after another and reads their answers at the end, so that many
 * statements cost one round trip. Between tide_pg_pipe and tide_pg_pipe_end no other function may
 * use the connection. Always call the end, also after a failure; then roll the transaction back. No
 * COPY. Values are copied. If a statement fails, the server skips the rest, and the end returns
 * that failure. */
tide_status tide_pg_pipe(struct tide_pg *pg, struct tide_err *err) TIDE_MUST_USE;
/* Sends one statement without parameters. */
tide_status tide_pg_pipe_run(struct tide_pg *pg, const char *sql,
                             struct tide_err *err) TIDE_MUST_USE;
/* Sends a prepared statement, with parameters as text or a single one in binary form. */
tide_status tide_pg_pipe_execute(struct tide_pg *pg, const char *name, const char *const *values,
                                 size_t count, struct tide_err *err) TIDE_MUST_USE;
tide_status tide_pg_pipe_bytes(struct tide_pg *pg, const char *name, tide_slice value,
                               struct tide_err *err) TIDE_MUST_USE;
/* Passes the answers in order to answer(), index from 0, until it returns a failure. rows is
 * released when answer() returns. Returns TIDE_OK at once if no pipeline is open. */
struct tide_pg_answers {
    tide_status (*answer)(void *self, uint32_t index, const struct tide_pg_rows *rows,
                          struct tide_err *err);
    void *self;
};
tide_status tide_pg_pipe_end(struct tide_pg *pg, const struct tide_pg_answers *sink,
                             struct tide_err *err) TIDE_MUST_USE;

/* Reads any number of rows, one at a time, in constant memory. row() gets a result of one row,
 * which is released when row() returns. If row() fails, the statement is cancelled and
 * tide_pg_stream returns that failure. */
typedef tide_status (*tide_pg_row_fn)(void *self, const struct tide_pg_rows *row,
                                      struct tide_err *err);
struct tide_pg_sink {
    tide_pg_row_fn row;
    void *self;
};
tide_status tide_pg_stream(struct tide_pg *pg, const struct tide_pg_sink *sink, const char *sql,
                           const char *const *values, size_t count,
                           struct tide_err *err) TIDE_MUST_USE;

/* COPY … FROM STDIN (FORMAT binary), inside a transaction. sql has one or several COPY statements,
 * separated by ';', which are sent together. Call tide_pg_copy_put once for each, in order: it
 * sends the tuples between file header and trailer and does not wait for the server. The next put
 * or the close therefore reports its failure; they also fail if the number of rows is not the one
 * announced. `what` names the rows in errors and must not be empty. Always call the close. It fails
 * if a statement had no put. */
tide_status tide_pg_copy_open(struct tide_pg *pg, const char *sql,
                              struct tide_err *err) TIDE_MUST_USE;
tide_status tide_pg_copy_put(struct tide_pg *pg, const char *what, tide_slice tuples, uint64_t rows,
                             struct tide_err *err) TIDE_MUST_USE;
tide_status tide_pg_copy_close(struct tide_pg *pg, struct tide_err *err) TIDE_MUST_USE;
/* Does all three steps for a single statement. */
tide_status tide_pg_copy(struct tide_pg *pg, const char *sql, tide_slice tuples, uint64_t rows,
                         struct tide_err *err) TIDE_MUST_USE;

/* COPY … TO STDOUT (FORMAT binary): passes the tuples one by one, without file header and trailer,
 * in constant memory. A tuple is valid until tuple() returns. If tuple() fails, the statement is
 * cancelled and that failure is returned. */
struct tide_pg_tuples {
    tide_status (*tuple)(void *self, tide_slice tuple, struct tide_err *err);
    void *self;
};
tide_status tide_pg_copy_out(struct tide_pg *pg, const struct tide_pg_tuples *sink, const char *sql,
                             struct tide_err *err) TIDE_MUST_USE;

/* Listens on a channel. Call again after a reopen. A hot standby refuses LISTEN: use
 * pg_is_in_recovery to recognise one, and poll it instead. */
tide_status tide_pg_listen(struct tide_pg *pg, const char *channel,
                           struct tide_err *err) TIDE_MUST_USE;
/* Waits for a notification, at most ms, or until stopped() returns true. Consumes all pending
 * notifications. TIDE_E_DB if the connection is lost. */
tide_status tide_pg_wait(struct tide_pg *pg, int ms, bool *notified,
                         struct tide_err *err) TIDE_MUST_USE;

/* Writes text as an SQL literal. Returns false if it does not fit: no text is ever cut. */
bool tide_pg_quote_literal(char *out, size_t size, const char *text);

#endif
