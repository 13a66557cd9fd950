/* GET /api/sdk/snapshot and its changes: compliance inside a partner's own process.
 *
 * A thread writes the file when a client asks and the last one is older than
 * TIDE_SNAPSHOT_FRESH_MS. Clients take the one that is there meanwhile. The file has no name: it is
 * gone with the process, and when its last reader has it.
 *
 * Threads  take: any. It never waits for the writing. */
#ifndef API_ROUTES_SNAPSHOTS_H
#define API_ROUTES_SNAPSHOTS_H

#include "api/hot/api.h"
#include "api/http/reply.h"
#include "schema/store/hot.h"

#define TIDE_SNAPSHOT_FRESH_MS    10000u
#define TIDE_SNAPSHOT_OLDEST_MS   600000u /* an older one is not given away */
#define TIDE_SNAPSHOT_CHANGES_MAX 4096u   /* of one answer; beyond them a new file is as good */

struct tide_snapshots; /* opaque */

struct tide_snapshots_options {
    struct tide_hot *hot;
    struct tide_receipt_keys *keys;
    const struct tide_clock *clock;
    const char *folder; /* on the disk that the file goes to */
};

tide_status tide_snapshots_open(struct tide_snapshots **out,
                                const struct tide_snapshots_options *options,
                                struct tide_err *err) TIDE_MUST_USE;
void tide_snapshots_close(struct tide_snapshots *snapshots); /* NULL is fine */

/* The newest file, into the reply with what it is true at, if it is of the same protocol as meta
 * and changes since then are known. False: none yet; one is being written. */
bool tide_snapshots_take(struct tide_snapshots *snapshots, const struct tide_hot_meta *meta,
                         struct tide_reply *reply);

#endif
