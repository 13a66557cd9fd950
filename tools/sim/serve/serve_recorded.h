/* Ledgers from a file that `tidemark-sim write --stream` wrote. They take the place of the model
 * where making a chain would take longer than its ledgers may take to close.
 *
 * Ahead    The next ledger is read before it is due, so that it is served on time.
 * Threads  One thread at a time. */
#ifndef SIM_SERVE_RECORDED_H
#define SIM_SERVE_RECORDED_H

#include "tidemark/buf.h"
#include "tidemark/status.h"

#include <stdio.h>

/* An open file and its next ledger. Zeros: none. */
struct recorded {
    FILE *file;
    struct tide_buf next;
    bool ended; /* the file has no more ledgers; next is empty */
};

/* Opens a file and reads its first ledger; "-" is standard input. Returns TIDE_E_IO or an error of
 * recorded_advance. */
tide_status recorded_open(struct recorded *recorded, const char *file,
                          struct tide_err *err) TIDE_MUST_USE;
void recorded_close(struct recorded *recorded); /* accepts a zeroed one */
/* Reads the ledger behind the one in next. Returns TIDE_E_DECODE if the file is cut short or no
 * framed stream, TIDE_E_LIMIT if the ledger is too large. */
tide_status recorded_advance(struct recorded *recorded, struct tide_err *err) TIDE_MUST_USE;

#endif
