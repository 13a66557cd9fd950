/* Ledgers that were written before, as `tidemark-sim write --stream` writes them. They stand in for
 * the model where a chain is too large to be made while it is measured.
 *
 * Ahead    The next ledger is read before it is due, so that it is served on time.
 * Threads  one at a time. */
#ifndef SIM_SERVE_RECORDED_H
#define SIM_SERVE_RECORDED_H

#include "tidemark/buf.h"
#include "tidemark/status.h"

#include <stdio.h>

struct recorded {
    FILE *file;
    struct tide_buf next;
    bool ended; /* next holds nothing */
};

/* file is "-" for standard input. */
tide_status recorded_open(struct recorded *recorded, const char *file,
                          struct tide_err *err) TIDE_MUST_USE;
void recorded_close(struct recorded *recorded); /* one that is zeroed is fine */
/* Reads the ledger behind the one that next holds. TIDE_E_DECODE: the stream is cut short, or has no
 * frames. */
tide_status recorded_advance(struct recorded *recorded, struct tide_err *err) TIDE_MUST_USE;

#endif
