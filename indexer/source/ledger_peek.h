/* Reads the first fields of a LedgerCloseMeta. */
#ifndef INDEXER_SOURCE_LEDGER_PEEK_H
#define INDEXER_SOURCE_LEDGER_PEEK_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

struct ledger_peek {
    uint32_t sequence;
    /* TIDE_HASH_BYTES each, as the ledger claims; borrow from the ledger. */
    const uint8_t *hash, *previous;
};

/* Returns TIDE_E_DECODE if the bytes are no LedgerCloseMeta, TIDE_E_UNKNOWN if this build does not
 * know its version or an arm. */
tide_status ledger_peek(struct ledger_peek *out, tide_slice lcm) TIDE_MUST_USE;
/* Returns the ledger's sequence; 0 if ledger_peek fails. */
uint32_t ledger_peek_sequence(tide_slice lcm);

#endif
