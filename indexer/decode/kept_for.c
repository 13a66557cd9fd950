/* Notes for which tokens rows are kept (chain.kept_for).
 *
 * When the chain names a token, its past is read again and brings rows that are not its own: calls
 * that reach the token, and what Stellar assets do in its transactions or with its address. As of a
 * ledger before the token's discovery these rows must not be visible. A row of chain.kept_for names
 * a token that is reason enough to keep the rows. The kept rows therefore do not depend on the
 * order of discovery, and the ledger of a discovery can be corrected later without reading again.
 * If a transaction has no such row, the deployment file names something that suffices, or no token
 * was discovered later. */
#include "indexer/decode/decode_impl.h"

#include "indexer/base/copy.h"

#include <string.h>

/* Returns the ledger from which on the token counts; 0: the deployment file names the contract. */
uint32_t kept_since(const struct tide_contract *contract)
{
    return contract->named_ledger > contract->shown_ledger ? contract->named_ledger
                                                           : contract->shown_ledger;
}

/* Returns whether the reason is noted for the transaction already, and notes it. An event names few
 * addresses, but a transaction may have thousands of events that reach the same contract. */
static bool is_noted(struct tide_decode *d, struct kept_reason reason)
{
    assert(reason.contract <= TIDE_CONTRACTS_MAX);
    const struct kept_reason *all = d->kept.reasons.items;
    if (reason.event < 0) {
        uint64_t *at = &d->kept.noted_at[reason.event - KEPT_ALL][reason.contract];
        uint64_t now = (uint64_t)d->ledgers_begun << 32 | d->tx_count;
        bool noted = *at == now;
        *at = now;
        return noted;
    }
    for (uint32_t i = d->kept.reasons.count; i > 0; i--) {
        if (all[i - 1].event >= 0 && all[i - 1].event != reason.event)
            return false;
        if (all[i - 1].event == reason.event && all[i - 1].contract == reason.contract)
            return true;
    }
    return false;
}

void kept_note(struct tide_decode *d, const struct tide_contract *contract, int32_t event)
{
    if (!d->kept.late || d->kept.reaches_file)
        return;
    bool found = contract && contract->discovered;
    if (event == KEPT_ALL && !found) {
        d->kept.reaches_file = true;
        return;
    }
    struct kept_reason reason = { event,
                                  found ? (uint32_t)(contract - d->deployment->contracts) + 1 : 0 };
    if (is_noted(d, reason))
        return;
    struct kept_reason *one = decode_list_push(&d->kept.reasons, sizeof *one);
    if (one)
        *one = reason;
    else
        decode_rows(d, TIDE_TABLE_KEPT_FOR)->copy.failed = true;
}

static bool any_late(const struct tide_decode *d)
{
    const struct kept_reason *all = d->kept.reasons.items;
    for (uint32_t i = 0; i < d->kept.reasons.count; i++)
        if (all[i].contract &&
            kept_since(&d->deployment->contracts[all[i].contract - 1]) > d->header.sequence)
            return true;
    return false;
}

static void put_reason(struct tide_decode *d, uint32_t tx, const struct kept_reason *reason)
{
    assert(reason->contract <= d->deployment->contract_count);
    enum { COLUMNS = 5 };
    struct tide_rows *rows = decode_rows(d, TIDE_TABLE_KEPT_FOR);
    const char *address =
        reason->contract ? d->deployment->contracts[reason->contract - 1].address : "";
    tide_copy_row(&rows->copy, COLUMNS);
    tide_copy_int2(&rows->copy, (int16_t)d->deployment->id);
    tide_copy_int4(&rows->copy, (int32_t)d->header.sequence);
    tide_copy_int4(&rows->copy, (int32_t)tx);
    tide_copy_int4(&rows->copy, reason->event);
    tide_copy_bytes(&rows->copy, address, strlen(address));
    rows->count++;
}

void kept_put(struct tide_decode *d, uint32_t tx)
{
    const struct kept_reason *all = d->kept.reasons.items;
    if (d->kept.reaches_file || !any_late(d))
        return;
    for (uint32_t i = 0; i < d->kept.reasons.count; i++)
        put_reason(d, tx, &all[i]);
}
