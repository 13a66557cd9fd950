/* The deployment's contracts: names, roles, completeness. */
#ifndef TIDEMARK_CONTRACTS_H
#define TIDEMARK_CONTRACTS_H

#include "tidemark/hot_sink.h"
#include "tidemark/pg.h"

/* Names, roles and completeness of the contracts at the end of a ledger, and what follows from
 * them for meta. */
tide_status project_contracts(struct tide_pg *pg, uint16_t deployment, uint32_t ledger,
                              struct tide_hot_sink *sink, struct tide_err *err);

#endif
