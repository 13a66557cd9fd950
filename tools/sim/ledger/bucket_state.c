#include "tools/sim/ledger/bucket_state.h"

#include <stdlib.h>

enum { PLACES_MIN = 1 << 12 };

static struct bucket_fact *probe(const struct bucket_state *state, const uint8_t *key_hash)
{
    assert(state->places > 0 && (state->places & (state->places - 1)) == 0);
    assert(state->count < state->places && "a free place ends the search");
    uint64_t word;
    memcpy(&word, key_hash, sizeof word);
    uint32_t at = (uint32_t)word & (state->places - 1);
    while (state->facts[at].used &&
           memcmp(state->facts[at].key_hash, key_hash, TIDE_HASH_BYTES) != 0)
        at = (at + 1) & (state->places - 1);
    return &state->facts[at];
}

static bool grow_table(struct bucket_state *state)
{
    struct bucket_state larger = { .places = state->places ? state->places * 2 : PLACES_MIN,
                                   .count = state->count };
    larger.facts = calloc(larger.places, sizeof *larger.facts);
    if (!larger.facts)
        return false;
    for (uint32_t i = 0; i < state->places; i++)
        if (state->facts[i].used)
            *probe(&larger, state->facts[i].key_hash) = state->facts[i];
    free(state->facts);
    *state = larger;
    return true;
}

struct bucket_fact *bucket_state_find(struct bucket_state *state,
                                      const uint8_t key_hash[TIDE_HASH_BYTES])
{
    if (state->count * 2 >= state->places && !grow_table(state))
        return NULL;
    struct bucket_fact *fact = probe(state, key_hash);
    if (!fact->used) {
        fact->used = true;
        memcpy(fact->key_hash, key_hash, TIDE_HASH_BYTES);
        state->count++;
    }
    return fact;
}

bool bucket_fact_set(struct bucket_fact *fact, tide_slice entry)
{
    assert(entry.len > 0);
    uint8_t *copy = realloc(fact->entry, entry.len);
    if (!copy)
        return false;
    memcpy(copy, entry.ptr, entry.len);
    fact->entry = copy;
    fact->entry_len = entry.len;
    return true;
}

void bucket_state_release(struct bucket_state *state)
{
    for (uint32_t i = 0; i < state->places; i++)
        free(state->facts[i].entry);
    free(state->facts);
    *state = (struct bucket_state){ 0 };
}
