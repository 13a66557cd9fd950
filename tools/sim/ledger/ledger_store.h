/* The newest ledgers of a server: their bytes in an unlinked file, their index in memory.
 *
 * Memory: a ring of `retention` entries, and eight bytes for each transaction in it. Nothing grows
 * with the age of the chain.
 * Disk: the bytes of the ledgers in the ring. The file gives back the bytes of older ones.
 * Threads: one thread adds, any thread reads. A reader sees a ledger whole or not at all. */
#ifndef SIM_LEDGER_STORE_H
#define SIM_LEDGER_STORE_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/status.h"

/* A ledger in the store. Offsets and lengths are bytes in its LedgerCloseMeta. */
struct ledger_info {
    uint32_t sequence;
    uint32_t protocol;
    uint64_t close_time;
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t len;
    uint32_t header_at, header_len; /* LedgerHeader */
    uint32_t entry_at, entry_len;   /* LedgerHeaderHistoryEntry */
    uint32_t txs;                   /* transactions */
};

struct ledger_store;

/* Opens an empty store; retention is at least 1. Its file is created in $TMPDIR or /tmp and has no
 * name. Returns TIDE_E_MEMORY or TIDE_E_IO; the caller closes the store after a failure too. */
tide_status ledger_store_open(struct ledger_store **store, uint32_t retention,
                              struct tide_err *err) TIDE_MUST_USE;
void ledger_store_close(struct ledger_store *store);

/* Adds a ledger. Returns TIDE_E_CHAIN if its sequence does not follow the last one, an error of the
 * walk if it is malformed, TIDE_E_MEMORY or TIDE_E_IO. */
tide_status ledger_store_add(struct ledger_store *store, tide_slice lcm,
                             struct tide_err *err) TIDE_MUST_USE;

/* Returns the oldest and the newest ledger. Returns false if the store is empty. */
bool ledger_store_range(struct ledger_store *store, struct ledger_info *oldest,
                        struct ledger_info *latest);
/* Returns a ledger's entry. Returns false if the ledger is not in the store, or not any more. */
bool ledger_store_info(struct ledger_store *store, uint32_t sequence, struct ledger_info *info);
/* Appends the bytes of a ledger to lcm. Returns false if the ledger is not in the store, leaves it
 * meanwhile, or cannot be read. In that case, lcm may have grown. */
bool ledger_store_read(struct ledger_store *store, uint32_t sequence, struct tide_buf *lcm,
                       struct ledger_info *info);
/* Returns the newest ledger that may hold the transaction of that hash (outer or inner), or 0. Only
 * eight bytes of the hash are compared: the caller must look for the whole hash in that ledger. */
uint32_t ledger_store_find(struct ledger_store *store, const uint8_t hash[TIDE_HASH_BYTES]);

#endif
