/* Shared by the files schema/postgres/pg*.c: the struct of a connection and the waiting loop. No
 * other file but a test includes this header, so libpq stays hidden behind it. */
#ifndef SCHEMA_POSTGRES_PG_IMPL_H
#define SCHEMA_POSTGRES_PG_IMPL_H

#include "tidemark/pg.h"

#include <libpq-fe.h>

struct tide_pg {
    PGconn *conn; /* NULL between a failed reopen and the next */
    struct tide_pg_options options;
    enum tide_pg_remedy remedy;
    char sqlstate[6];
    bool cancelled;     /* the running statement was cancelled because of a stop */
    uint32_t silent_ms; /* time without any byte from the server */
    /* name of the rows that were sent and whose answer is not read yet; "": none (pg_in.c) */
    char copied[128];
    uint64_t copied_rows;
    bool copy_failed; /* a step since tide_pg_copy_open failed and was reported */
};

/* Fills err from result (may be NULL: from the connection) and sets remedy and sqlstate. */
tide_status pg_fail(struct tide_pg *pg, const PGresult *result, const char *what,
                    struct tide_err *err);
/* Returns false, and fills *status and err, if there is no connection. */
bool pg_begin(struct tide_pg *pg, const char *what, tide_status *status, struct tide_err *err);
bool pg_flush(struct tide_pg *pg);
/* Waits at most 200 ms for the server and reads what arrived. Returns false if the connection
 * broke. */
bool pg_wait(struct tide_pg *pg, int64_t *stopping_ms);
/* Sends a cancel request for the running statement. */
void pg_cancel(struct tide_pg *pg);
/* Returns the next result, or NULL. Handles stop and silence while it waits. */
PGresult *pg_next_result(struct tide_pg *pg);
/* Reads and drops the remaining results of the running statement. */
void pg_drain(struct tide_pg *pg);
/* Sends what is buffered and reads all results. *last is the caller's to clear. */
tide_status pg_collect(struct tide_pg *pg, PGresult **last, const char *what, struct tide_err *err);

/* Returns the rows of result, which the caller still owns. */
struct tide_pg_rows pg_rows_of(PGresult *result);

#endif
