/* Failures of the database: problems, and what the adapters of the worker pools do about them. */
#ifndef API_SQL_SQL_PROBLEM_H
#define API_SQL_SQL_PROBLEM_H

#include "api/http/reply.h"
#include "api/http/request.h"
#include "api/sql/worker_pool.h"
#include "tidemark/pg.h"

/* Writes the problem for a failed statement on pg (NULL: no connection). Handlers use it too.
 *  503 query_too_long        57014, the time-out
 *  503 database_unavailable  no connection, shutting down, out of connections …
 *  500 internal              everything else: logged, not shown. Also a value that a type rejects
 *                            (SQLSTATE class 22): parameters are checked before, so the value is
 *                            stored data and not the client's fault. */
void tide_sql_problem(struct tide_reply *reply, const struct tide_pg *pg,
                      const struct tide_err *err);

/* Ends the transaction that may be open on pg (NULL: no connection). If that fails, the session's
 * state is unknown: *ready becomes false, so that the worker connects again. */
void tide_sql_roll_back(struct tide_pg *pg, bool *ready);

/* Judges a failed statement on pg. The connection is lost if it broke, or if its prepared
 * statements belong to an older schema (0A000, 26000): then *ready becomes false. A time-out
 * (57014) would only repeat itself. */
enum tide_worker_verdict tide_sql_judge(const struct tide_pg *pg, bool *ready, tide_status status);

/* Makes the reply the problem 503 forked: a quorum of the validators that the operator names
 * signed another hash of a ledger than the indexed one (chain.fork). No answer about the chain is
 * given then, and the problem concerns no ledger. */
void tide_fork_refuse(struct tide_reply *reply, uint32_t ledger);

/* Rewrites query_too_long with the names of filters that were not given. */
void tide_sql_narrow(struct tide_reply *reply, const struct tide_request *request);

#endif
