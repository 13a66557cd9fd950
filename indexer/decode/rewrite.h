/* Undoes what exporters are known to do to Stellar assets' events, before a call's hash is checked.
 *
 * Ledgers of protocols 20 to 22 that were exported again with the asset-event backfill carry these
 * events in the form of protocol 23: the admin topic of mint, clawback and set_authorized is
 * dropped, and a transfer with the issuer on one side is a mint or a burn. Protocol 23 replayed
 * with the reconciler has extra mints and burns in front. Each way of undoing is a guess, and
 * SHA-256 decides: a guess cannot make a false event pass. */
#ifndef INDEXER_DECODE_REWRITE_H
#define INDEXER_DECODE_REWRITE_H

#include "tidemark/hash.h"
#include "tidemark/meta.h"

#define REWRITE_EVENTS_MAX 256u /* calls with more events are not searched */
#define REWRITE_ADMINS_MAX 32u  /* beside each asset's issuer */

struct rewrite {
    struct tide_event events[REWRITE_EVENTS_MAX];
    uint8_t issuers[REWRITE_EVENTS_MAX][32];
    uint8_t kinds[REWRITE_EVENTS_MAX]; /* enum asset_kind of rewrite.c */
    uint32_t count;
    tide_slice admins[REWRITE_ADMINS_MAX]; /* SCAddress spans */
    uint32_t admin_count;
    uint8_t source[40]; /* the transaction's source as SCAddress */
    uint32_t steps;
    tide_slice return_value;
    const uint8_t *goal;
};

/* Returns true if some way of undoing makes tx's events hash to its invoke_hash. envelope is the
 * transaction's, or empty if not known: its contract, its source and the contracts of its footprint
 * are tried as admins. */
bool rewrite_matches(struct rewrite *rewrite, const struct tide_tx *tx, tide_slice envelope);

#endif
