#include "indexer/source/rpc/memory.h"

#include <string.h>

const uint8_t *rpc_memory_find(const struct rpc_memory *memory, uint32_t sequence, uint32_t *server)
{
    uint32_t at = sequence % RPC_MEMORY_LEDGERS;
    for (uint32_t i = 0; sequence && i < RPC_MEMORY_SERVERS; i++) {
        if (memory->delivered[i][at].sequence != sequence)
            continue;
        *server = i;
        return memory->delivered[i][at].hash;
    }
    return NULL;
}

bool rpc_memory_note(struct rpc_memory *memory, uint32_t sequence, const uint8_t *hash,
                     uint32_t server, uint32_t *other)
{
    uint32_t at = sequence % RPC_MEMORY_LEDGERS;
    assert(server < RPC_MEMORY_SERVERS);
    const uint8_t *known = rpc_memory_find(memory, sequence, other);
    if (known && memcmp(known, hash, TIDE_HASH_BYTES) != 0)
        return false;
    if (sequence < memory->delivered[server][at].sequence)
        return true; /* an older ledger does not replace a newer one */
    memory->delivered[server][at].sequence = sequence;
    memcpy(memory->delivered[server][at].hash, hash, TIDE_HASH_BYTES);
    return true;
}

bool rpc_memory_delivered(const struct rpc_memory *memory, uint32_t sequence, uint32_t server,
                          uint8_t hash[TIDE_HASH_BYTES])
{
    uint32_t at = sequence % RPC_MEMORY_LEDGERS;
    assert(server < RPC_MEMORY_SERVERS);
    if (!sequence || memory->delivered[server][at].sequence != sequence)
        return false;
    memcpy(hash, memory->delivered[server][at].hash, TIDE_HASH_BYTES);
    return true;
}
