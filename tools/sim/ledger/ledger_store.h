/* The newest ledgers of a server: their bytes in an unlinked file, their index in memory.
 *
 * Memory   a ring of `retention` entries, and eight bytes for each transaction in it; nothing
 *          grows with the age of the chain.
 * Disk     the bytes of the ledgers in the ring; what falls out of it is given back.
 * Threads  one adds, any read. A ledger is seen whole or not at all. */
#ifndef SIM_LEDGER_STORE_H
#define SIM_LEDGER_STORE_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/status.h"

/* Offsets are into the LedgerCloseMeta. */
struct ledger_info {
    uint32_t sequence;
    uint32_t protocol;
    uint64_t close_time;
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t len;
    uint32_t header_at, header_len; /* LedgerHeader             */
    uint32_t entry_at, entry_len;   /* LedgerHeaderHistoryEntry */
    uint32_t txs;
};

struct ledger_store;

/* retention is at least 1. The file is made in $TMPDIR or /tmp and has no name. */
tide_status ledger_store_open(struct ledger_store **store, uint32_t retention,
                              struct tide_err *err) TIDE_MUST_USE;
void ledger_store_close(struct ledger_store *store);

/* The next ledger; its sequence follows the last one's. TIDE_E_CHAIN otherwise, TIDE_E_DECODE …,
 * TIDE_E_IO. */
tide_status ledger_store_add(struct ledger_store *store, tide_slice lcm,
                             struct tide_err *err) TIDE_MUST_USE;

/* The oldest and the newest there are; false while there is none. */
bool ledger_store_range(struct ledger_store *store, struct ledger_info *oldest,
                        struct ledger_info *latest);
/* False when it is not there (any more). */
bool ledger_store_info(struct ledger_store *store, uint32_t sequence, struct ledger_info *info);
/* Appends the bytes of a ledger. False when it is not there (any more) or cannot be read; bytes may
 * have been appended then. */
bool ledger_store_read(struct ledger_store *store, uint32_t sequence, struct tide_buf *lcm,
                       struct ledger_info *info);
/* The newest ledger that may hold the transaction of that hash, outer or inner; 0 when none does.
 * Only eight bytes of the hash are compared: the caller looks for the whole hash there. */
uint32_t ledger_store_find(struct ledger_store *store, const uint8_t hash[TIDE_HASH_BYTES]);

#endif
