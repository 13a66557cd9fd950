/* tidemark-indexer dump: whatever holds ledgers, as JSON lines, with what their hashes prove. */
#ifndef INDEXER_DUMP_DUMP_H
#define INDEXER_DUMP_DUMP_H

#include "indexer/decode/proof.h"
#include "indexer/source/split.h"
#include "tidemark/buf.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

#include <stdio.h>

enum tide_dump_kind {
    TIDE_DUMP_LEDGER = 1,
    TIDE_DUMP_TX = 2,
    TIDE_DUMP_EVENT = 4,
    TIDE_DUMP_CONTRACT_DATA = 8,
    TIDE_DUMP_ALL = 15,
};

struct tide_dump_options {
    tide_slice passphrase; /* empty: unknown; what needs it is null */
    unsigned kinds;        /* of lines to print: TIDE_DUMP_…      */
    bool values;           /* ScVals also as JSON, beside base64    */
};

struct tide_dump_totals {
    enum tide_framing framing;
    uint64_t ledgers;
    uint64_t
        failed; /* ledgers a check of which does not hold, or that do not follow the one before */
};

/* Decodes the file at path ("-": standard input), raw or zstd, and prints one JSON object a line.
 * The lines of a ledger end with its own: {"kind":"ledger", …}. Reads as a stream; memory is one
 * ledger's. A check that fails is reported in the lines and in totals, and does not end it.
 * TIDE_E_IO; TIDE_E_DECODE, TIDE_E_UNKNOWN, TIDE_E_LIMIT with ledger and byte offset;
 * TIDE_E_CHAIN when a batch holds other ledgers than it claims. */
tide_status tide_dump_file(const char *path, FILE *out, const struct tide_dump_options *options,
                           struct tide_dump_totals *totals, struct tide_err *err) TIDE_MUST_USE;

/* Lines of base64 ScVals from in, each as a line of JSON. */
tide_status tide_dump_values(FILE *in, FILE *out, struct tide_err *err) TIDE_MUST_USE;

#endif
