/* Ledgers in memory, laid out one after another and repeated beyond the cache. */
#ifndef TIDEMARK_PERF_CORPUS_H
#define TIDEMARK_PERF_CORPUS_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

enum { CORPUS_LEDGERS_MAX = 65536 };

struct corpus {
    uint8_t *bytes; /* owned */
    size_t len;
    tide_slice *ledgers; /* borrow from bytes; owned array */
    uint32_t count;
    uint8_t *packed;    /* the same bytes as one zstd frame per ledger, back to back; owned */
    tide_slice *frames; /* borrow from packed; owned array */
    size_t packed_len;
};

/* Reads every ledger of the files (batch, stream or bare; raw or zstd), then repeats the
 * whole set until at least bytes_min. TIDE_E_* with err when a file is not readable. */
tide_status corpus_load(struct corpus *out, char **paths, int path_count, size_t bytes_min,
                        struct tide_err *err);
void corpus_free(struct corpus *corpus);

#endif
