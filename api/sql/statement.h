/* Statements of SQL routes: the files of api/sql/queries/, read once. What a
 * file looks like stands in api/sql/queries/README.md. Reading is pure; running is sql_answer.h. */
#ifndef API_SQL_STATEMENT_H
#define API_SQL_STATEMENT_H

#include "api/http/route.h"
#include "tidemark/pg.h"

#define TIDE_STATEMENT_NONE_MAX  96u
#define TIDE_STATEMENT_CODE_MAX  24u
#define TIDE_STATEMENT_NO_PARENT SIZE_MAX

struct tide_query_file {
    const char *name; /* without .sql */
    tide_slice text;  /* a NUL follows */
};
extern const struct tide_query_file tide_query_files[];
extern const size_t tide_query_file_count;
/* The text of a file, for handlers that run it themselves. There is one of that name. */
const char *tide_query_file_text(const char *name);

/* What is bound to $n: an enum tide_param_id, or one of these. */
enum tide_bind {
    TIDE_BIND_DEPLOYMENT = TIDE_PARAM_COUNT,
    TIDE_BIND_AT,
    TIDE_BIND_AFTER,
    TIDE_BIND_LIMIT,
};

struct tide_statement {
    const char *name; /* of the file; also of the prepared statement */
    const char *sql;
    bool list;
    bool events; /* reads events or calls, which may be archived */
    uint8_t binds[TIDE_PG_PARAMS_MAX];
    uint8_t bind_count;
    /* Of a `one` without a row: the problem's code, and words of it, "there is no such pool". */
    char code[TIDE_STATEMENT_CODE_MAX], none[TIDE_STATEMENT_NONE_MAX];
    tide_slice
        of; /* of a list: the statement that has a row when what it lists belongs to exists */
    size_t parent; /* its index, once all are open; TIDE_STATEMENT_NO_PARENT: none */
};

/* TIDE_E_SCHEMA with the file's name when its first lines are not as they must be, or it names a
 * table that is none. */
tide_status tide_statement_parse(struct tide_statement *out, const struct tide_query_file *file,
                                 struct tide_err *err) TIDE_MUST_USE;

/* All files, and which routes they answer. The caller's to free. */
struct tide_statements {
    struct tide_statement *all;
    size_t count;
};

/* TIDE_E_SCHEMA also when a route has neither a statement nor a handler, a file binds a name
 * that its route does not take, or ?ledger= has nowhere to go. */
tide_status tide_statements_open(struct tide_statements *out, const struct tide_route_table *routes,
                                 struct tide_err *err) TIDE_MUST_USE;
void tide_statements_close(struct tide_statements *statements);

/* Index of the route's statement: its <id>_at when past and there is one. The route has one. */
size_t tide_statements_find(const struct tide_statements *statements,
                            const struct tide_route *route, bool past);

#endif
