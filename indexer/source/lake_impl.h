/* Types and functions that lake.c and lake_range.c share. */
#ifndef INDEXER_SOURCE_LAKE_IMPL_H
#define INDEXER_SOURCE_LAKE_IMPL_H

#include "indexer/source/lake_layout.h"
#include "indexer/source/prefetch.h"
#include "indexer/source/source.h"
#include "indexer/source/unpack.h"

/* A ledger whose object is missing. It may be the tip's next one, in a hole, or forbidden. */
struct lake_gap {
    uint32_t ledger;    /* 0: none */
    int64_t since_ms;   /* time at which it was missed first */
    int64_t look_ms;    /* the lake is searched for later objects then */
    int64_t pause_ms;   /* from one search to the next */
    uint32_t looks;     /* searches so far */
    uint32_t found;     /* a later ledger whose object is there; 0: none, so there is no hole */
    bool forbidden;     /* the server answers 403, also for the object before */
    tide_status status; /* result of the last one: TIDE_E_EOF at the tip; err says more */
    struct tide_err err;
};

struct lake {
    struct tide_source_options options;
    struct object_store store;
    struct lake_layout layout;
    struct prefetch *prefetch;
    struct unpack *unpack;
    bool sought;
    uint32_t next, last; /* ledgers: next one wanted, last one wanted (0: no end) */
    struct lake_gap gap;
    int64_t waited_ms; /* time for which the last missing ledger was missing; 0: none was */
    struct {
        uint32_t ledger; /* 0: none */
        int64_t since_ms;
    } unfinished; /* the ledger whose object does not hold and may still be being written */

    /* The object being read. */
    bool open, second;  /* second: it was fetched again after a failure */
    uint32_t refetched; /* the ledger of which a decoder wanted a fresh copy; 0: none */
    char key[TIDE_OBJECT_KEY_MAX];
    bool checked;          /* the zstd frame has a checksum */
    uint32_t at, end;      /* next ledger to cut, last ledger */
    struct tide_buf plain; /* decompressed bytes; ledger `at` begins behind `used` of them */
    size_t used;
    size_t longest; /* bytes of the longest ledger cut so far */
};

/* Returns whether no ledger is wanted behind those that the lake has now. */
bool lake_has_end(const struct lake *l);

/* lake_range.c: finds out which ledgers the lake has. */
tide_status lake_range(void *self, uint32_t *first, uint32_t *last, struct tide_err *err);
/* Call if the object of l->next does not exist. Returns TIDE_E_EOF at the tip; in a hole
 * TIDE_E_MISSING, or TIDE_E_IO if the source has no end: a hole may be filled. TIDE_E_IO also if
 * the object is forbidden and not behind the newest one. */
tide_status lake_at_gap(struct lake *l, struct tide_err *err);
/* Call when the missing object is there. */
void lake_leave_gap(struct lake *l);

/* Sets l->layout from .config.json, else from the names of the objects, else from the
 * settings. TIDE_E_CHAIN for a lake of another network. */
tide_status lake_find_layout(struct lake *l, struct tide_err *err);

#endif
