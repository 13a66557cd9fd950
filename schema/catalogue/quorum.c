#include "tidemark/quorum.h"

#include <string.h>

uint32_t tide_signers_count(const struct tide_signers *signers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < TIDE_SIGNERS_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(signers->bits[i]);
    return count;
}

bool tide_quorum_satisfied(const struct tide_quorum *q, const struct tide_signers *signers)
{
    uint32_t votes[TIDE_QUORUM_SETS_MAX] = { 0 };
    if (q->set_count == 0)
        return false;
    for (uint32_t i = 0; i < q->count; i++)
        votes[q->validators[i].set] += tide_signers_has(signers, i);
    /* A set comes before the sets in it, so the inner ones are counted first. */
    for (uint32_t i = q->set_count - 1; i > 0; i--) {
        assert(q->sets[i].parent < i);
        votes[q->sets[i].parent] += votes[i] >= q->sets[i].threshold;
    }
    return votes[0] >= q->sets[0].threshold;
}

int tide_quorum_find(const struct tide_quorum *q, const uint8_t key[TIDE_HASH_BYTES])
{
    for (uint32_t i = 0; i < q->count; i++)
        if (memcmp(q->validators[i].key, key, TIDE_HASH_BYTES) == 0)
            return (int)i;
    return -1;
}
