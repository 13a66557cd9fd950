/* The problem 503 forked: a quorum of the validators that the operator names signed another hash of
 * a ledger than the indexed one (chain.fork). No answer about the chain is given then. */
#ifndef API_SQL_FORK_H
#define API_SQL_FORK_H

#include "api/http/reply.h"

/* Makes the reply the problem. It concerns no ledger. */
void tide_fork_refuse(struct tide_reply *reply, uint32_t ledger);

#endif
