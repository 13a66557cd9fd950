/* GET /api/sdk/snapshot and its changes: compliance inside a partner's own process.
 *
 * A thread writes the file when a client asks and the last file is older than
 * TIDE_SNAPSHOT_FRESH_MS. Meanwhile clients get the existing file. The file has no name: it
 * disappears with the process, or when it was replaced and its last reader has finished.
 *
 * Threads  the handler: any. It never waits for the writing. */
#ifndef API_ROUTES_SNAPSHOTS_H
#define API_ROUTES_SNAPSHOTS_H

#include "api/hot/api.h"
#include "api/http/reply.h"
#include "tidemark/hot.h"

#define TIDE_SNAPSHOT_FRESH_MS  10000u
#define TIDE_SNAPSHOT_OLDEST_MS 600000u /* an older file is not sent */

struct tide_snapshots; /* opaque */

struct tide_snapshots_options {
    struct tide_hot *hot;
    struct tide_receipt_keys *keys;
    const struct tide_clock *clock;
    const char *folder; /* folder on the disk that gets the file */
};

/* Starts the thread. On failure close *out if it is set. */
tide_status tide_snapshots_open(struct tide_snapshots **out,
                                const struct tide_snapshots_options *options,
                                struct tide_err *err) TIDE_MUST_USE;
void tide_snapshots_close(struct tide_snapshots *snapshots); /* NULL is allowed */

#endif
