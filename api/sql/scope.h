/* The index scope: the tables that this index maintains. An index with --only fills some tables;
 * the others are empty, which says nothing about the chain. Code that answers from tables checks
 * the scope first and answers 503 incomplete.
 *
 * Scope   chain.deployment.scope: "*", or a comma list of tables (indexer/database/scope.h).
 * Need    every table that the text of a statement names, and the tables behind the views and
 *         functions that it names (view_tables.def). Tables of the schema chain that the
 *         catalogue does not have are always filled. */
#ifndef API_SQL_SCOPE_H
#define API_SQL_SCOPE_H

#include "api/http/route.h"

#define TIDE_SCOPE_TEXT 256u

/* The need of an answer: a statement, and the requested kinds of events (count 0: all). */
struct tide_scope_need {
    const char *sql;
    const uint16_t *kinds; /* enum tide_event_id */
    uint32_t kind_count;
};

/* Returns whether all needed tables are in the scope; otherwise `missing` names those that are
 * not: "state.x, event.y, …". */
bool tide_scope_has_all(char missing[TIDE_SCOPE_TEXT], const char *scope,
                        const struct tide_scope_need *need);
/* Fails with TIDE_E_SCHEMA if the text names a table that does not exist. */
tide_status tide_scope_check_names(const char *name, const char *sql,
                                   struct tide_err *err) TIDE_MUST_USE;

/* Answers 503 incomplete. */
void tide_scope_refuse(struct tide_reply *reply, const char *missing);

#endif
