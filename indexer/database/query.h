/* What the commands that only read begin with: a snapshot of the database at this build's
 * schema, and the deployment that is meant. */
#ifndef INDEXER_DATABASE_QUERY_H
#define INDEXER_DATABASE_QUERY_H

#include "indexer/database/range.h"
#include "indexer/database/scope.h"
#include "tidemark/config.h"
#include "tidemark/deployment.h"
#include "tidemark/pg.h"

/* Connects and checks the schema. *out is the caller's to close, also on failure. */
tide_status tide_query_connect(struct tide_pg **out, const struct tide_config *config,
                               const char *application, bool writable,
                               struct tide_err *err) TIDE_MUST_USE;

/* Connects, checks the schema, begins a read-only transaction with one snapshot. *out is the
 * caller's to close, also on failure (NULL is allowed). */
tide_status tide_query_open(struct tide_pg **out, const struct tide_config *config,
                            const char *application, struct tide_err *err) TIDE_MUST_USE;

/* The only deployment, or the one that the deployment file names. TIDE_E_MISSING when there is
 * none, TIDE_E_CONFIG when there are several and no file says which. */
tide_status tide_query_deployment(struct tide_pg *pg, const struct tide_config *config,
                                  uint16_t *out, struct tide_err *err) TIDE_MUST_USE;

/* The deployment as the database knows it: the contracts of its file, and the discovered ones
 * whose rows stand in the tables from that ledger on: found before it, or their past has been read
 * again (chain.contract_coverage). No accounts. *out is malloc'd, owned by the caller (free). */
tide_status tide_query_contracts(struct tide_pg *pg, uint16_t deployment, uint32_t before,
                                 struct tide_deployment **out, struct tide_err *err) TIDE_MUST_USE;

/* TIDE_E_MISSING, naming the range, when events, calls and transactions of some of these ledgers
 * are archived (chain.archive): an answer without them would look whole. */
tide_status tide_query_whole(struct tide_pg *pg, uint16_t deployment, uint32_t from, uint32_t to,
                             struct tide_err *err) TIDE_MUST_USE;

/* First and last ledger of the covered range that holds the cursor; TIDE_E_MISSING when nothing
 * is indexed. */
tide_status tide_query_covered(struct tide_pg *pg, uint16_t deployment, struct tide_range *out,
                               struct tide_err *err) TIDE_MUST_USE;

/* What is filled, as the last --only said. */
tide_status tide_query_scope(struct tide_pg *pg, uint16_t deployment, struct tide_scope *out,
                             struct tide_err *err) TIDE_MUST_USE;

#endif
