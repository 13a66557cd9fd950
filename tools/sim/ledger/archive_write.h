/* Writing a history archive: for each checkpoint the state file, the headers and the buckets, as
 * stellar-core publishes them. A checkpoint is a ledger whose number is one below a multiple of 64.
 *
 * Files    are written whole, and again by a later run; equal options give equal bytes.
 * Threads  One thread uses an archive_write. */
#ifndef SIM_ARCHIVE_WRITE_H
#define SIM_ARCHIVE_WRITE_H

#include "tidemark/buf.h"
#include "tidemark/status.h"
#include "tools/sim/ledger/bucket_list.h"

struct archive_write {
    const char *dir; /* borrowed, like passphrase */
    const char *passphrase;
    struct bucket_list *buckets; /* after the ledger that is put */
    struct tide_buf headers;     /* records of this checkpoint */
    struct tide_buf text;        /* of a state file */
};

void archive_write_open(struct archive_write *archive, const char *dir, const char *passphrase,
                        struct bucket_list *buckets);
/* Appends a ledger. Ledgers come in order. A checkpoint's files are written with its last one.
 * Returns TIDE_E_IO, TIDE_E_MEMORY, or a walk's error. */
tide_status archive_write_put(struct archive_write *archive, tide_slice lcm,
                              struct tide_err *err) TIDE_MUST_USE;
void archive_write_close(struct archive_write *archive);

#endif
