/* Checks the ledgers of a page against each other, against what is known and what is stored. */
#include "indexer/source/rpc/fleet_impl.h"

enum rpc_outcome rpc_fleet_check_follows(struct rpc_fleet *f, const struct rpc_ledger *first,
                                         struct tide_err *err)
{
    uint8_t before[TIDE_HASH_BYTES];
    uint32_t source, ledger = first->sequence - 1;
    if (first->unknown)
        return RPC_PAGE;
    pthread_mutex_lock(&f->lock);
    const uint8_t *delivered = rpc_memory_find(&f->memory, ledger, &source);
    if (delivered)
        memcpy(before, delivered, sizeof before);
    pthread_mutex_unlock(&f->lock);
    if ((!delivered && !rpc_fleet_stored_hash(f, ledger, before)) ||
        memcmp(before, first->previous, TIDE_HASH_BYTES) == 0)
        return RPC_PAGE;
    if (f->count > 1)
        return rpc_fleet_after_dispute(
            f, rpc_fleet_dispute(f, f->current, RPC_FETCHER, ledger, first->previous, err));
    tide_fail(err, TIDE_E_CHAIN,
              "ledger %u of %s does not follow ledger %u%s: its previous hash is another",
              first->sequence, f->servers[f->current].client.name, ledger,
              delivered ? "" : ", which is stored");
    return RPC_END;
}

uint32_t rpc_fleet_count_consecutive(const struct rpc_want *want, const struct rpc_ledger *l,
                                     uint32_t count)
{
    uint32_t kept = 0;
    for (; kept < count; l++, kept++) {
        bool last = want->last && l->sequence > want->last;
        bool broken =
            kept && (l->sequence != l[-1].sequence + 1 ||
                     (!l->unknown && memcmp(l->previous, l[-1].hash, TIDE_HASH_BYTES) != 0));
        if (last || broken)
            break;
    }
    return kept;
}

enum rpc_outcome rpc_fleet_note_page(struct rpc_fleet *f, const struct rpc_page *page,
                                     struct tide_err *err)
{
    enum rpc_outcome outcome = RPC_PAGE;
    for (uint32_t i = 0; i < page->count && outcome == RPC_PAGE; i++) {
        const struct rpc_ledger *l = &page->ledgers[i];
        outcome = rpc_fleet_after_dispute(
            f, rpc_fleet_note_ledger(f, f->current, RPC_FETCHER, l->sequence, l->hash, err));
        pthread_mutex_lock(&f->lock);
        f->gave[l->sequence % RPC_MEMORY_LEDGERS].sequence = l->sequence;
        f->gave[l->sequence % RPC_MEMORY_LEDGERS].server = f->current;
        pthread_mutex_unlock(&f->lock);
    }
    return outcome;
}
