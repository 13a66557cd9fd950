/* Snapshot files: the compliance records of a deployment as one signed file, for readers in
 * other processes. api/clients/c/tidemark_snapshot.h reads it and describes the format byte by
 * byte. Pure. */
#ifndef API_ROUTES_SNAPSHOT_FILE_H
#define API_ROUTES_SNAPSHOT_FILE_H

#include "tidemark/hot_record.h"
#include "tidemark/sign.h"

#define TIDE_SNAPSHOT_HEAD   352u /* bytes: header, name of the key, signature */
#define TIDE_SNAPSHOT_RECORD 48u  /* bytes */

/* The contents of a file's head. */
struct tide_snapshot_says {
    const struct tide_hot_meta *meta;
    uint64_t count;                /* number of records */
    uint64_t now_ms;               /* unix time of this host */
    uint64_t age_ms;               /* age of the indexer's last sign of life */
    bool changes;                  /* the file has only the changes … */
    uint32_t after;                /* … after this ledger */
    uint8_t hash[TIDE_HASH_BYTES]; /* SHA-256 of all records */
};

/* Writes the head, signed with the key. */
void tide_snapshot_put_head(uint8_t out[TIDE_SNAPSHOT_HEAD], const struct tide_snapshot_says *says,
                            const struct tide_sign *key);

/* Writes a record. person NULL: the address has no record any more. blocked: its jurisdiction is
 * blocked. */
void tide_snapshot_put_record(uint8_t out[TIDE_SNAPSHOT_RECORD],
                              const struct tide_hot_address *address,
                              const struct tide_hot_person *person, bool blocked);

#endif
