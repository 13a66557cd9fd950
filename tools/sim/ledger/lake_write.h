/* Where written ledgers go: a SEP-54 data lake, a framed stream, or nowhere.
 *
 * Lake     objects of ledgers_per_object ledgers, objects_per_partition to a folder, zstd;
 *          .config.json first. An object appears whole (written aside, then renamed).
 * Stream   one record a ledger: length with the top bit set, then its bytes.
 * Resume   ledgers up to skip_to are taken and dropped, but the last object that is there is
 *          compared: other bytes mean other options, TIDE_E_CONFLICT. Nothing that is there is
 *          written over: two chains in one folder are none. */
#ifndef SIM_LAKE_WRITE_H
#define SIM_LAKE_WRITE_H

#include "tidemark/buf.h"
#include "tidemark/status.h"
#include <stdio.h>

struct lake_options {
    const char *dir;    /* of the lake; NULL: none                       */
    const char *stream; /* file, "-" for standard output; NULL: none     */
    const char *passphrase;
    uint32_t ledgers_per_object;
    uint32_t objects_per_partition;
    int level; /* of zstd */
};

struct lake_write {
    struct lake_options options;
    FILE *stream;
    struct tide_buf batch; /* LedgerCloseMetaBatch in the making */
    struct tide_buf packed;
    struct tide_buf path;
    uint32_t first; /* ledger of the batch; 0: none yet */
    uint32_t count;
    uint32_t skip_to;
};

tide_status lake_open(struct lake_write *lake, const struct lake_options *options,
                      struct tide_err *err) TIDE_MUST_USE;
/* The last ledger of the newest object, 0 when there is none: what to resume behind. */
tide_status lake_last(const struct lake_write *lake, uint32_t *last,
                      struct tide_err *err) TIDE_MUST_USE;
tide_status lake_put(struct lake_write *lake, uint32_t sequence, tide_slice lcm,
                     struct tide_err *err) TIDE_MUST_USE;
/* True when no ledger waits for others to fill its object. */
bool lake_whole(const struct lake_write *lake);
/* Closes files; ledgers of an unfinished object are dropped, as on a real lake. */
tide_status lake_close(struct lake_write *lake, struct tide_err *err) TIDE_MUST_USE;

/* The key of the object that holds a ledger, below the lake's folder. */
void lake_key(struct tide_buf *path, const struct lake_options *options, uint32_t sequence);

#endif
