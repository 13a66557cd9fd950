/* Statements of SQL routes: the files of api/sql/queries/, read once. api/sql/queries/README.md
 * describes the files. Reading is pure; sql_answer.h runs them. */
#ifndef API_SQL_STATEMENT_H
#define API_SQL_STATEMENT_H

#include "api/http/route.h"
#include "api/sql/age.h"
#include "api/sql/deployment_select.h"
#include "tidemark/pg.h"

#define TIDE_STATEMENT_NONE_MAX  96u
#define TIDE_STATEMENT_CODE_MAX  24u
#define TIDE_STATEMENT_NO_PARENT SIZE_MAX

struct tide_query_file {
    const char *name; /* without .sql */
    const char *text; /* bound to the deployment file's contracts (schema/statements.py) */
};
extern const struct tide_query_file tide_query_files[];
extern const size_t tide_query_file_count;
/* Returns the text of a file, for handlers that run it themselves. The file must exist. */
const char *tide_query_file_text(const char *name);

/* The value bound to $n: an enum tide_param_id, or one of these. */
enum tide_bind {
    TIDE_BIND_DEPLOYMENT = TIDE_PARAM_COUNT,
    TIDE_BIND_AT,
    TIDE_BIND_AFTER,
    TIDE_BIND_LIMIT,
};

struct tide_statement {
    const char *name; /* name of the file and of the prepared statement */
    const char *sql;
    bool list;
    bool events; /* reads events or calls, which can be archived */
    bool whole;  /* adds up the whole past */
    uint8_t binds[TIDE_PG_PARAMS_MAX];
    uint8_t bind_count;
    /* For a `one` without a row: the problem's code, and its words, "there is no such pool". */
    char code[TIDE_STATEMENT_CODE_MAX], none[TIDE_STATEMENT_NONE_MAX];
    /* For a list: the statement that has a row if the list's parent exists */
    tide_slice of;
    size_t parent; /* the parent's index, set by tide_statements_open */
};

/* Parses a file. Fails with TIDE_E_SCHEMA and the file's name if its first lines are wrong, or
 * it names an unknown table. */
tide_status tide_statement_parse(struct tide_statement *out, const struct tide_query_file *file,
                                 struct tide_err *err) TIDE_MUST_USE;

/* All statements. The caller must close them. */
struct tide_statements {
    struct tide_statement *all;
    size_t count;
};

/* Parses all files and checks them against the routes. Fails with TIDE_E_SCHEMA also if a route
 * has neither a statement nor a handler, if a file binds a parameter that its route lacks, or if
 * a route with ?ledger= has a statement that does not use it. */
tide_status tide_statements_open(struct tide_statements *out, const struct tide_route_table *routes,
                                 struct tide_err *err) TIDE_MUST_USE;
void tide_statements_close(struct tide_statements *statements);

/* Returns the index of the route's statement: <id>_at if `past` is set and that exists, else
 * <id>. The route must have one. */
size_t tide_statements_find(const struct tide_statements *statements,
                            const struct tide_route *route, bool past);

/* A connection of the pool. sql_pool.c makes it and writes all but age and history_since, which
 * sql_answer.c writes. It belongs to one thread; the statements are shared and constant. */
struct tide_session {
    const struct tide_statements *statements;
    struct tide_pg *pg;
    bool ready;     /* false: the pool connects before the next job */
    bool *prepared; /* by index in statements->all */
    struct tide_deployment_selected selected;
    struct tide_age age; /* the age that this connection has observed */
    /* Unix seconds from which on the index knows the past, as the last head said; 0: no limit */
    uint64_t history_since;
};

#endif
