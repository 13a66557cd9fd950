/* Hashes of ledgers by the servers that delivered them lately. Each server has slots of its own, so
 * no server displaces what another one delivered. Not locked. */
#ifndef INDEXER_SOURCE_RPC_MEMORY_H
#define INDEXER_SOURCE_RPC_MEMORY_H

#include "tidemark/base.h"

enum { RPC_MEMORY_LEDGERS = 1024, RPC_MEMORY_SERVERS = 8 };

struct rpc_memory {
    struct {
        uint32_t sequence; /* 0: none */
        uint8_t hash[TIDE_HASH_BYTES];
    } delivered[RPC_MEMORY_SERVERS][RPC_MEMORY_LEDGERS];
};

/* Stores the hash. Returns false if another hash of that ledger is known; *other is the server that
 * delivered it. */
bool rpc_memory_note(struct rpc_memory *memory, uint32_t sequence, const uint8_t *hash,
                     uint32_t server, uint32_t *other);
/* Returns the hash of a ledger, or NULL. *server is the server that delivered it. */
const uint8_t *rpc_memory_find(const struct rpc_memory *memory, uint32_t sequence,
                               uint32_t *server);
/* Reads the hash that this server delivered for a ledger. Returns false if there is none. */
bool rpc_memory_delivered(const struct rpc_memory *memory, uint32_t sequence, uint32_t server,
                          uint8_t hash[TIDE_HASH_BYTES]);

#endif
