/* tidemark-indexer dump: prints ledgers of any framing as JSON lines, with the results of the hash
 * checks. */
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
    tide_slice passphrase; /* empty: not known; fields that need it are null */
    unsigned kinds;        /* TIDE_DUMP_… bits of the lines to print */
    bool values;           /* print ScVals as JSON, too, beside base64 */
};

struct tide_dump_totals {
    enum tide_framing framing;
    uint64_t ledgers;
    uint64_t failed; /* ledgers with a check that fails, or that do not follow the one before */
};

/* Decodes the file at path ("-": standard input), raw or zstd, and prints one JSON object a line.
 * The last line of a ledger is its own: {"kind":"ledger", …}. Reads as a stream; memory is that of
 * one ledger. A check that fails is shown in the lines and in totals, and decoding continues.
 * TIDE_E_IO; TIDE_E_DECODE, TIDE_E_UNKNOWN, TIDE_E_LIMIT with ledger and byte offset; TIDE_E_CHAIN
 * if a batch has other ledgers than its header says. */
tide_status tide_dump_file(const char *path, FILE *out, const struct tide_dump_options *options,
                           struct tide_dump_totals *totals, struct tide_err *err) TIDE_MUST_USE;

/* Reads lines of base64 ScVals from in and prints each as a line of JSON. */
tide_status tide_dump_values(FILE *in, FILE *out, struct tide_err *err) TIDE_MUST_USE;

#endif
