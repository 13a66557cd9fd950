/* Ledgers in memory, one after another and repeated until they exceed the processor's cache. */
#ifndef TIDEMARK_PERF_CORPUS_H
#define TIDEMARK_PERF_CORPUS_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

/* The ledgers of some files. corpus_load allocates, corpus_free frees. */
struct corpus {
    uint8_t *bytes; /* every ledger, back to back; owned */
    size_t len;
    tide_slice *ledgers; /* point into bytes; the array is owned */
    uint32_t count;      /* ledgers, repetitions included */
    uint8_t *packed;     /* the same ledgers, one zstd frame each, back to back; owned */
    tide_slice *frames;  /* point into packed; the array is owned */
    size_t packed_len;
};

/* Reads every ledger of the files (batch, stream or bare; raw or zstd). Repeats the whole set until
 * it has at least bytes_min bytes. Returns TIDE_E_* and fills err if a file cannot be read, holds
 * no ledger or is too large. */
tide_status corpus_load(struct corpus *out, char **paths, int path_count, size_t bytes_min,
                        struct tide_err *err);
void corpus_free(struct corpus *corpus);

#endif
