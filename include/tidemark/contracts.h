/* The deployment's contracts: names, roles, completeness. */
#ifndef TIDEMARK_CONTRACTS_H
#define TIDEMARK_CONTRACTS_H

#include "tidemark/hot_sink.h"
#include "tidemark/pg.h"

/* Puts the names, roles and completeness of the contracts as of the end of a ledger into the sink,
 * and the fields of META that follow from them. */
tide_status project_contracts(struct tide_pg *pg, uint16_t deployment, uint32_t ledger,
                              struct tide_hot_sink *sink, struct tide_err *err);

#endif
