#include "indexer/source/rpc/memory.h"

#include <string.h>

const uint8_t *rpc_memory_find(const struct rpc_memory *memory, uint32_t sequence, uint32_t *server)
{
    uint32_t at = sequence % RPC_MEMORY_LEDGERS;
    if (sequence == 0 || memory->ledgers[at].sequence != sequence)
        return NULL;
    *server = memory->ledgers[at].server;
    return memory->ledgers[at].hash;
}

bool rpc_memory_note(struct rpc_memory *memory, uint32_t sequence, const uint8_t *hash,
                     uint32_t server, uint32_t *other)
{
    uint32_t at = sequence % RPC_MEMORY_LEDGERS;
    const uint8_t *known = rpc_memory_find(memory, sequence, other);
    if (known)
        return memcmp(known, hash, TIDE_HASH_BYTES) == 0;
    if (sequence < memory->ledgers[at].sequence)
        return true; /* an older one is of no use */
    memory->ledgers[at].sequence = sequence;
    memory->ledgers[at].server = server;
    memcpy(memory->ledgers[at].hash, hash, TIDE_HASH_BYTES);
    return true;
}
