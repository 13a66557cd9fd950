/* The order in which parts of proofs are collected: downwards from the newest proven ledger. */
#include "indexer/prove/prover_impl.h"

enum { SWEEP_LEDGERS = 16384 }; /* ledgers that one statement looks through */

/* After windows that could not be collected, after a restart, and after a server lost proofs, a
 * sweep goes down to the oldest ledger of which parts are kept. Else it goes down to the last
 * sweep. */
void sweep_begin(struct proof_parts *parts, uint32_t proven, uint32_t oldest)
{
    assert(proven > 0);
    bool whole = parts->missing || parts->top < oldest || parts->top >= proven;
    parts->floor = whole ? oldest : parts->top + 1;
    parts->at = parts->floor <= proven ? proven : 0;
    parts->top = proven;
    parts->missing = false;
}

uint32_t sweep_from(const struct proof_parts *parts)
{
    assert(parts->at >= parts->floor && parts->at > 0);
    return parts->at - parts->floor < SWEEP_LEDGERS ? parts->floor : parts->at - SWEEP_LEDGERS + 1;
}

uint32_t sweep_window_first(uint32_t checkpoint)
{
    assert(checkpoint % CHECKPOINT_LEDGERS == CHECKPOINT_LEDGERS - 1);
    return checkpoint < CHECKPOINT_LEDGERS ? 0 : checkpoint - CHECKPOINT_LEDGERS;
}

void sweep_on(struct proof_parts *parts, uint32_t first)
{
    parts->at = first > parts->floor ? first - 1 : 0;
}
