/* Finds out whether a ledger's bytes contain the id of one of a few contracts: in an event, an
 * entry, a key of a footprint or an argument. XDR aligns everything to four bytes, so only every
 * fourth position is compared. */
#include "indexer/decode/decode_impl.h"

#include <stdlib.h>
#include <string.h>

static uint32_t begin_of(const uint8_t *id)
{
    return (uint32_t)id[0] << 8 | id[1];
}

bool mention_open(struct mentions *m, const uint8_t (*ids)[TIDE_HASH_BYTES], uint32_t count)
{
    m->count = count;
    m->ids = count ? malloc((size_t)count * TIDE_HASH_BYTES) : NULL;
    if (count && !m->ids)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t begin = begin_of(ids[i]);
        memcpy(m->ids[i], ids[i], TIDE_HASH_BYTES);
        m->begins[begin / 8] |= (uint8_t)(1u << begin % 8);
    }
    return true;
}

void mention_close(struct mentions *m)
{
    free(m->ids);
}

static bool is_one(const struct mentions *m, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (memcmp(m->ids[i], bytes, TIDE_HASH_BYTES) == 0)
            return true;
    return false;
}

bool mention_any(const struct mentions *m, tide_slice xdr)
{
    for (size_t at = 0; at + TIDE_HASH_BYTES <= xdr.len; at += 4) {
        uint32_t begin = begin_of(xdr.ptr + at);
        if ((m->begins[begin / 8] >> begin % 8 & 1) && is_one(m, xdr.ptr + at))
            return true;
    }
    return false;
}
