/* One attempt to read one file of an archive from one place (attempt.c). */
#ifndef INDEXER_ARCHIVE_ARCHIVE_IMPL_H
#define INDEXER_ARCHIVE_ARCHIVE_IMPL_H

#include "indexer/archive/archive.h"
#include "indexer/archive/gunzip.h"
#include "tidemark/http.h"

enum { ATTEMPT_PIECE_BYTES = 128 << 10 };

struct attempt {
    const struct archive_options *options;
    const struct archive_limits *limits;
    const struct archive_sink *sink;
    struct gunzip *gunzip; /* NULL: the file is not packed */
    uint8_t *room;         /* ATTEMPT_PIECE_BYTES for unpacked bytes */
    uint64_t packed, unpacked;
    bool cut;           /* the transfer ended behind `packed` bytes: the next attempt at the same
                         * place asks for the rest */
    bool whole;         /* read the file from its start again: the parts of a cut one did not fit */
    bool again;         /* the same attempt may succeed later */
    uint32_t after_ms;  /* pause that the server asked for; 0: none */
    tide_status status; /* the reason for which the bytes were refused */
    struct tide_err err;
};

/* Read the file from a folder, and from a web server. The status is that of archive_read. */
tide_status attempt_folder(struct attempt *attempt, const char *folder, const char *key,
                           struct tide_err *err) TIDE_MUST_USE;
tide_status attempt_http(struct attempt *attempt, struct tide_http *http, const char *base,
                         const char *key, struct tide_err *err) TIDE_MUST_USE;

#endif
