/* Names of a data lake's objects (SEP-54). With B ledgers an object and P ledgers a partition,
 * ledger s lies in the object that starts at f = s / B * B. */
#ifndef INDEXER_SOURCE_LAKE_LAYOUT_H
#define INDEXER_SOURCE_LAKE_LAYOUT_H

#include "indexer/source/object_store.h"

struct lake_layout {
    uint32_t batch;     /* B, at least 1 */
    uint32_t partition; /* objects in a folder; 1: no folders */
};

enum { LAKE_EXTENSIONS = 2 }; /* .xdr.zst, .xdr.zstd */

/* Start of the object that holds the ledger. */
uint32_t lake_layout_start(const struct lake_layout *layout, uint32_t ledger);
/* Key of that object; out has TIDE_OBJECT_KEY_MAX bytes. extension < LAKE_EXTENSIONS. */
void lake_layout_key(char *out, const struct lake_layout *layout, uint32_t ledger,
                     uint32_t extension);

/* A name taken apart: "FFFFFFF7--8-15.xdr.zst" or a folder's "FFFFFFFF--0-15". False when it is
 * none, or its parts disagree. */
struct lake_name {
    uint32_t first, last;
    bool folder;
};
bool lake_layout_parse(struct lake_name *out, const char *name);

/* Layout and passphrase of .config.json. TIDE_E_CONFIG names the key that does not fit. */
tide_status lake_config_parse(struct lake_layout *out, char passphrase[256], tide_slice json,
                              struct tide_err *err) TIDE_MUST_USE;

/* Layout, first and last ledger as the names in a listable store tell. All zero when there is no
 * object. */
struct lake_listing {
    struct lake_layout layout;
    uint32_t first, last;
};
tide_status lake_layout_list(struct lake_listing *out, const struct object_store *store,
                             struct tide_err *err) TIDE_MUST_USE;

#endif
