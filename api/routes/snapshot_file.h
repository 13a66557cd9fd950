/* The compliance records of a deployment as one signed file, for readers in other processes. The
 * format stands, byte by byte, in api/clients/c/tidemark_snapshot.h, which reads it. Pure. */
#ifndef API_ROUTES_SNAPSHOT_FILE_H
#define API_ROUTES_SNAPSHOT_FILE_H

#include "schema/store/hot_record.h"
#include "tidemark/sign.h"

#define TIDE_SNAPSHOT_HEAD   352u /* header, name of the key, signature */
#define TIDE_SNAPSHOT_RECORD 48u

/* What a file says of itself. */
struct tide_snapshot_says {
    const struct tide_hot_meta *meta;
    uint64_t count;                /* of records */
    uint64_t now_ms;               /* unix, of this host */
    uint64_t age_ms;               /* of what is known of the indexer */
    bool changes;                  /* not everything, but what changed … */
    uint32_t after;                /* … after this ledger */
    uint8_t hash[TIDE_HASH_BYTES]; /* SHA-256 of the records */
};

void tide_snapshot_put_head(uint8_t out[TIDE_SNAPSHOT_HEAD], const struct tide_snapshot_says *says,
                            const struct tide_sign *key);

/* person NULL: there is nothing of the address any more. blocked: its jurisdiction is. */
void tide_snapshot_put_record(uint8_t out[TIDE_SNAPSHOT_RECORD],
                              const struct tide_hot_address *address,
                              const struct tide_hot_person *person, bool blocked);

#endif
