/* History archives: the files that validators publish for each checkpoint. One to eight places, web
 * servers or folders, hold the same files. A file is read from the first place that has a good
 * copy, as a stream: no file is held in memory.
 *
 * Trust    nothing that a place gives is believed. The sink checks the bytes; if it refuses them,
 *          the next place is asked.
 * Limits   each read has limits of size, packed and unpacked, of expansion and of time. A place
 *          that fails in transfer is asked again after a pause, up to http_tries times.
 * Secrets  an address with a query, a user or a password is refused: addresses are logged.
 * Threads  one thread at a time uses an archive. */
#ifndef INDEXER_ARCHIVE_ARCHIVE_H
#define INDEXER_ARCHIVE_ARCHIVE_H

#include "indexer/archive/record_stream.h"
#include "tidemark/config.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

#define ARCHIVE_KEY_MAX 128u

struct archive; /* opaque */

struct archive_options {
    const char *places;               /* comma list: folders, file://, http(s)://; borrowed */
    const struct tide_config *config; /* the group "http"; borrowed while the archive is open */
    bool (*stopping)(void *self);     /* called while waiting; true ends a read. May be NULL */
    void *stopping_self;
};

/* Opens the places. Nothing is fetched. TIDE_E_CONFIG names the place; TIDE_E_MEMORY. */
tide_status archive_open(struct archive **out, const struct archive_options *options,
                         struct tide_err *err) TIDE_MUST_USE;
void archive_close(struct archive *archive); /* NULL is allowed */

/* The kinds of files that a checkpoint has. */
enum archive_file {
    ARCHIVE_STATE, /* JSON: history_state.h. The others are records: record_stream.h */
    ARCHIVE_LEDGER,
    ARCHIVE_TRANSACTIONS,
    ARCHIVE_RESULTS,
    ARCHIVE_SCP,
};

#define ARCHIVE_NEWEST_KEY ".well-known/stellar-history.json"
/* Write the name of a checkpoint's file, and of a bucket. */
void archive_file_key(char out[ARCHIVE_KEY_MAX], enum archive_file file, uint32_t checkpoint);
void archive_bucket_key(char out[ARCHIVE_KEY_MAX], const uint8_t hash[TIDE_HASH_BYTES]);

struct archive_limits {
    uint64_t packed_max, unpacked_max; /* bytes */
    /* Largest quotient of unpacked and packed bytes, beyond the first 4 MiB; 0: no limit. gzip
     * reaches 1030. */
    uint32_t expansion_max;
    uint32_t timeout_ms; /* limit of one attempt at one place; 0: http_timeout_ms */
};

/* Takes a file's bytes, unpacked. Each attempt calls begin, then bytes for each piece, then end. If
 * one of them returns another status than TIDE_OK, with err filled, the attempt ends, and the next
 * place is asked. After TIDE_E_MEMORY and TIDE_E_STOPPED no other place is asked. */
struct archive_sink {
    tide_status (*begin)(void *self, struct tide_err *err);
    tide_status (*bytes)(void *self, tide_slice piece, struct tide_err *err);
    tide_status (*end)(void *self, struct tide_err *err);
    void *self;
    bool (*enough)(void *self); /* asked behind each piece; true: the rest is not read. NULL: all */
};

/* Reads one file. A key that ends with ".gz" is unpacked.
 * TIDE_E_MISSING  no place has it
 * TIDE_E_IO       a place did not answer, and no other one gave a good copy
 * TIDE_E_DECODE, TIDE_E_LIMIT  a place gave a damaged or too large copy, and no other a good one
 * TIDE_E_STOPPED, TIDE_E_MEMORY, or what the sink returned; err names the place. */
tide_status archive_read(struct archive *archive, const char *key,
                         const struct archive_limits *limits, const struct archive_sink *sink,
                         struct tide_err *err) TIDE_MUST_USE;

/* Takes the records of a file. begin is called before each attempt, end behind the last record,
 * enough as above; all three may be NULL. */
struct archive_records {
    tide_status (*begin)(void *self, struct tide_err *err);
    record_fn record;
    tide_status (*end)(void *self, struct tide_err *err);
    void *self;
    bool (*enough)(void *self);
};
/* Reads one file of a checkpoint, as archive_read does: any but its state. */
tide_status archive_read_records(struct archive *archive, enum archive_file file,
                                 uint32_t checkpoint, const struct archive_records *records,
                                 struct tide_err *err) TIDE_MUST_USE;

#endif
