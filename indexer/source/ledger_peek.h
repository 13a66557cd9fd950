/* What stands in the first bytes of a LedgerCloseMeta. */
#ifndef INDEXER_SOURCE_LEDGER_PEEK_H
#define INDEXER_SOURCE_LEDGER_PEEK_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

struct ledger_peek {
    uint32_t sequence;
    const uint8_t *hash, *previous; /* TIDE_HASH_BYTES each, as told; borrow from the ledger */
};

/* TIDE_E_DECODE when the bytes are no LedgerCloseMeta, TIDE_E_UNKNOWN when they are one of a
 * version or with an arm that this build does not know. */
tide_status ledger_peek(struct ledger_peek *out, tide_slice lcm) TIDE_MUST_USE;
/* 0 when the bytes are no LedgerCloseMeta of a version this build knows. */
uint32_t ledger_peek_sequence(tide_slice lcm);

#endif
