/* Counts of what was called and what came of it, for a person to look at. */
#ifndef SIM_TALLY_H
#define SIM_TALLY_H

#include "tools/sim/chain/chain.h"
#include <stdio.h>

enum { TALLY_LINES = 1024 };

struct tally_line {
    char what[48];      /* contract.function */
    const char *reason; /* static text; NULL: it passed */
    uint64_t count;
};

struct tally {
    uint32_t line_count;
    struct tally_line lines[TALLY_LINES]; /* a kind too many is counted in the last one */
};

/* A chain_observer's tx; self is a tally. */
void tally_tx(void *self, const struct chain_tx *tx);
/* Sorted by name, the most frequent outcome first. */
void tally_print(struct tally *tally, FILE *to);

#endif
