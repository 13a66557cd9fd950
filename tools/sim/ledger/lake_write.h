/* Writing ledgers to a SEP-54 data lake, to a framed stream, to both or to none.
 *
 * Lake     Objects of ledgers_per_object ledgers, objects_per_partition in a folder, zstd;
 *          .config.json first. An object appears whole: it is written under another name, then
 *          renamed.
 * Stream   One record for each ledger: its length with the top bit set, then its bytes.
 * Resume   Ledgers up to skip_to are accepted but not written. The last existing object is
 *          compared: different bytes mean different options, TIDE_E_CONFLICT. Existing files are
 *          never overwritten, so one folder cannot hold two chains.
 * Threads  One thread uses a lake_write. */
#ifndef SIM_LAKE_WRITE_H
#define SIM_LAKE_WRITE_H

#include "tidemark/buf.h"
#include "tidemark/status.h"
#include <stdio.h>

/* Destination and form of the ledgers. The strings are the caller's and outlive the lake_write. */
struct lake_options {
    const char *dir;    /* folder of the lake; NULL: none */
    const char *stream; /* file, or "-" for standard output; NULL: none */
    const char *passphrase;
    uint32_t ledgers_per_object;
    uint32_t objects_per_partition;
    int level; /* compression level of zstd */
};

/* An open lake or stream. The caller may set skip_to before the first ledger. */
struct lake_write {
    struct lake_options options;
    FILE *stream;
    struct tide_buf batch; /* the LedgerCloseMetaBatch that is being filled */
    struct tide_buf packed;
    struct tide_buf path;
    uint32_t first;   /* first ledger of the batch */
    uint32_t count;   /* ledgers of the batch; 0: none yet */
    uint32_t skip_to; /* last ledger that is there already */
};

/* Opens the destinations and writes .config.json. Returns TIDE_E_CONFLICT if the folder has the
 * .config.json of another chain, or TIDE_E_IO. */
tide_status lake_open(struct lake_write *lake, const struct lake_options *options,
                      struct tide_err *err) TIDE_MUST_USE;
/* Finds the last ledger of the newest object, behind which a chain can be continued; 0 if there is
 * no object. Returns TIDE_E_CONFLICT if the names are not those of a lake. */
tide_status lake_last(const struct lake_write *lake, uint32_t *last,
                      struct tide_err *err) TIDE_MUST_USE;
/* Appends a ledger. Ledgers come in order. The object is written with its last ledger. */
tide_status lake_put(struct lake_write *lake, uint32_t sequence, tide_slice lcm,
                     struct tide_err *err) TIDE_MUST_USE;
/* Returns true if no ledger waits for others to fill its object. */
bool lake_whole(const struct lake_write *lake);
/* Closes the files. Ledgers of an unfinished object are dropped: a lake holds whole objects
 * only. */
tide_status lake_close(struct lake_write *lake, struct tide_err *err) TIDE_MUST_USE;

/* Appends the key of the object that holds a ledger, relative to the lake's folder. */
void lake_key(struct tide_buf *path, const struct lake_options *options, uint32_t sequence);

#endif
