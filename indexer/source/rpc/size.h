/* Decides how many ledgers to ask a server for at once. A server may refuse a page in many ways:
 * its own limit, a gateway's, a timeout, a body that is cut. Which of them depend on the size is
 * unknown, so after each refusal half as many ledgers are asked for, at last one.
 *
 * Memory   what a server gave is remembered: the size doubles up to that, and grows slowly beyond.
 *          Each refusal of a larger page makes the next attempt at one rarer.
 * One      a server that refuses even one ledger does not refuse for the size: what was remembered
 *          is dropped.
 * Pure. */
#ifndef INDEXER_SOURCE_RPC_SIZE_H
#define INDEXER_SOURCE_RPC_SIZE_H

#include "tidemark/base.h"

struct rpc_size {
    uint32_t most;   /* ledgers that may be asked for at all */
    uint32_t next;   /* ledgers to ask for next */
    uint32_t safe;   /* ledgers that the server is believed to give */
    uint32_t good;   /* whole pages of `safe` ledgers since that changed */
    uint32_t wanted; /* so many of them before more ledgers are tried */
    bool trying;     /* more than `safe` ledgers are being tried */
};

/* first: ledgers of the first page; most: of any page. */
struct rpc_size rpc_size_of(uint32_t first, uint32_t most);
/* Notes that a page of `asked` ledgers was refused. Returns whether fewer can be asked for. */
bool rpc_size_refused(struct rpc_size *size, uint32_t asked);
/* Notes that `given` of `asked` ledgers came, and that so many ledgers as large as these fit into
 * an answer. */
void rpc_size_given(struct rpc_size *size, uint32_t asked, uint32_t given, size_t fit);
/* Asks for at most so many ledgers next. */
void rpc_size_limit(struct rpc_size *size, uint32_t ledgers);

#endif
