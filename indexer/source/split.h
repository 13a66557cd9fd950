/* Where one LedgerCloseMeta ends and the next begins, in whatever holds them:
 *
 *   bare     one LedgerCloseMeta (an RPC answer, a file)
 *   batch    LedgerCloseMetaBatch: first, last, count, metas (a data-lake object)
 *   stream   records: 4 bytes with the top bit set and the length, then the meta (captive core)
 *
 * The three cannot be mistaken for one another: a stream's first bit is 1; a bare meta begins
 * with a version up to 2, which as the first ledger of a batch would need a last ledger no meta
 * has in that place. */
#ifndef INDEXER_SOURCE_SPLIT_H
#define INDEXER_SOURCE_SPLIT_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

enum tide_framing { TIDE_FRAMING_NONE, TIDE_FRAMING_BARE, TIDE_FRAMING_BATCH, TIDE_FRAMING_STREAM };

struct tide_split {
    enum tide_framing framing; /* NONE until the first bytes are seen */
    uint32_t first, last;      /* a batch's claim                     */
    uint32_t left;             /* metas of the batch to come; of bare: 1, then 0 */
    size_t wanted;             /* after TIDE_E_EOF: bytes that in should at least hold */
};

/* What bytes begin with; NONE when 12 bytes are not there or none of the three fits. */
enum tide_framing tide_split_framing(tide_slice bytes);

/* The next meta at the front of in, which moves behind it. Start with a zeroed split. whole:
 * nothing follows in. A bare meta or one of a batch is stepped over, so it is checked whole; a
 * record is not.
 * TIDE_E_EOF     more bytes are needed (whole false), or the end, reached cleanly (whole true)
 * TIDE_E_DECODE  cut short, malformed, not ledgers at all, bytes behind the last meta
 * TIDE_E_UNKNOWN, TIDE_E_LIMIT  as the walk */
tide_status tide_split_next(struct tide_split *split, tide_slice *in, bool whole, tide_slice *lcm,
                            struct tide_err *err) TIDE_MUST_USE;

#endif
