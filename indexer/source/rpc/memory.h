/* Hashes of ledgers by the servers that told them lately. Each server has places of its own: what
 * one tells displaces nothing that another told. Not locked. */
#ifndef INDEXER_SOURCE_RPC_MEMORY_H
#define INDEXER_SOURCE_RPC_MEMORY_H

#include "tidemark/base.h"

enum { RPC_MEMORY_LEDGERS = 1024, RPC_MEMORY_SERVERS = 8 };

struct rpc_memory {
    struct {
        uint32_t sequence; /* 0: none */
        uint8_t hash[TIDE_HASH_BYTES];
    } told[RPC_MEMORY_SERVERS][RPC_MEMORY_LEDGERS];
};

/* Keeps it. False when another hash of that ledger is known: *other told that one. */
bool rpc_memory_note(struct rpc_memory *memory, uint32_t sequence, const uint8_t *hash,
                     uint32_t server, uint32_t *other);
/* The hash of a ledger, NULL when it is not known; *server told it. */
const uint8_t *rpc_memory_find(const struct rpc_memory *memory, uint32_t sequence,
                               uint32_t *server);
/* Reads the hash that this server told of a ledger. */
bool rpc_memory_told(const struct rpc_memory *memory, uint32_t sequence, uint32_t server,
                     uint8_t hash[TIDE_HASH_BYTES]);

#endif
