/* The fork of a deployment, a row of chain.fork: a quorum of the named validators signed another
 * hash than the stored one. The row stops the indexer, and tidemark-api answers nothing about the
 * chain, until an operator acts (the command fork). */
#ifndef INDEXER_DATABASE_FORK_H
#define INDEXER_DATABASE_FORK_H

#include "tidemark/pg.h"

/* Returns TIDE_E_CHAIN, with the ledger and both hashes, if the deployment has a fork. */
tide_status tide_fork_reject(struct tide_pg *pg, uint32_t deployment,
                             struct tide_err *err) TIDE_MUST_USE;

#endif
