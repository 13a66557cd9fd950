/* Finds where one LedgerCloseMeta ends and the next begins, in any of three framings:
 *
 *   bare     one LedgerCloseMeta (an RPC answer, a file)
 *   batch    LedgerCloseMetaBatch: first, last, count, metas (a data-lake object)
 *   stream   records: 4 bytes with the top bit set and the length, then the meta (captive core)
 *
 * The first bytes tell which. A stream's first bit is 1. A bare meta begins with a version up to 2;
 * if that were the first ledger of a batch, the last ledger would be smaller than any batch has. */
#ifndef INDEXER_SOURCE_SPLIT_H
#define INDEXER_SOURCE_SPLIT_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

enum tide_framing { TIDE_FRAMING_NONE, TIDE_FRAMING_BARE, TIDE_FRAMING_BATCH, TIDE_FRAMING_STREAM };

struct tide_split {
    enum tide_framing framing; /* NONE until the first bytes were read */
    uint32_t first, last;      /* ledgers of a batch, as its header claims */
    uint32_t left;             /* metas of a batch that are left; of bare: 1, then 0 */
    size_t wanted;             /* after TIDE_E_EOF: bytes that `in` should have at least */
};

/* Returns the framing that the bytes begin with; NONE if there are less than 12 bytes, or none
 * fits. */
enum tide_framing tide_split_framing(tide_slice bytes);

/* Returns the next meta at the front of *in, which moves behind it. Begin with a zeroed split.
 * whole: no bytes follow those of *in. A bare meta, or one of a batch, is walked to find its end,
 * and thereby checked; a record is not.
 * TIDE_E_EOF     more bytes are needed (not whole), or the end was reached (whole)
 * TIDE_E_DECODE  cut short, malformed, no ledgers, or bytes behind the last meta
 * TIDE_E_UNKNOWN, TIDE_E_LIMIT  as the walk */
tide_status tide_split_next(struct tide_split *split, tide_slice *in, bool whole, tide_slice *lcm,
                            struct tide_err *err) TIDE_MUST_USE;

#endif
