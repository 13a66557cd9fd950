/* The tables that this index maintains. An index with --only fills some tables; the others are
 * empty and say nothing about the chain. So code that answers from tables asks here first, and
 * refuses: 503 incomplete, as for sums that are not kept.
 *
 * Kept    chain.deployment.scope: "*", or a comma list of tables (indexer/database/scope.h).
 * Needed  every table that the text of a statement names, and those behind the views and functions
 *         it names (view_tables.def); no list by hand. Tables of the schema chain that the
 *         catalogue does not have are always there. */
#ifndef API_SQL_SCOPE_H
#define API_SQL_SCOPE_H

#include "api/http/route.h"

#define TIDE_SCOPE_TEXT 256u

/* What is read: a statement, and of events the kinds alone that were asked for (count 0: all). */
struct tide_scope_need {
    const char *sql;
    const uint16_t *kinds; /* enum tide_event_id */
    uint32_t kind_count;
};

/* Whether all that is needed is kept; missing names what is not: "state.x, event.y, …". */
bool tide_scope_has_all(char missing[TIDE_SCOPE_TEXT], const char *scope,
                        const struct tide_scope_need *need);
/* TIDE_E_SCHEMA names a table that the text names and that does not exist. */
tide_status tide_scope_check_names(const char *name, const char *sql,
                                   struct tide_err *err) TIDE_MUST_USE;

/* 503 incomplete. */
void tide_scope_refuse(struct tide_reply *reply, const char *missing);

#endif
