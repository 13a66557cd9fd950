/* What the files of the lake share. Private to lake.c, lake_range.c and lake_open.c. */
#ifndef INDEXER_SOURCE_LAKE_IMPL_H
#define INDEXER_SOURCE_LAKE_IMPL_H

#include "indexer/source/lake_layout.h"
#include "indexer/source/prefetch.h"
#include "indexer/source/source.h"
#include "indexer/source/unpack.h"

struct lake {
    struct tide_source_options options;
    struct object_store store;
    struct lake_layout layout;
    struct prefetch *prefetch;
    struct unpack *unpack;
    bool sought;
    uint32_t next, last; /* ledgers: wanted next, wanted last (0: no end) */
    uint32_t hole_asked; /* the ledger for which the lake was last searched for later ones */

    /* the object being read */
    bool open, second;  /* second: fetched again after a failure */
    uint32_t refetched; /* the ledger of which a decoder wanted a fresh copy; 0: none so far */
    char key[TIDE_OBJECT_KEY_MAX];
    bool checked;          /* its frame carries a checksum */
    uint32_t at, end;      /* ledger that comes next in it, its last ledger */
    struct tide_buf plain; /* decompressed, from the ledger `at` on, after used bytes */
    size_t used;
    size_t longest; /* ledger cut */
};

bool lake_is_stopping(const struct lake *l);

/* lake_range.c: what the lake has. */
tide_status lake_range(void *self, uint32_t *first, uint32_t *last, struct tide_err *err);
/* The object of l->next is not there. TIDE_E_EOF: the tip; TIDE_E_MISSING: a hole. */
tide_status lake_at_gap(struct lake *l, struct tide_err *err);

/* lake_open.c: fills l->layout, from .config.json, or else from the names of the objects, or else
 * from the settings. TIDE_E_CHAIN: another network's lake. */
tide_status lake_find_layout(struct lake *l, struct tide_err *err);

#endif
