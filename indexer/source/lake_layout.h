/* Names of a data lake's objects (SEP-54). With B ledgers in an object, ledger s is in the object
 * that starts at s / B * B (integer division). */
#ifndef INDEXER_SOURCE_LAKE_LAYOUT_H
#define INDEXER_SOURCE_LAKE_LAYOUT_H

#include "indexer/source/object_store.h"

struct lake_layout {
    uint32_t batch;     /* ledgers in an object, at least 1 */
    uint32_t partition; /* objects in a folder; 1: no folders */
};

enum { LAKE_EXTENSIONS = 2 }; /* .xdr.zst, .xdr.zstd */

/* Returns the first ledger of the object with that ledger, as its name says. */
uint32_t lake_layout_start(const struct lake_layout *layout, uint32_t ledger);
/* Writes the key of that object; out has TIDE_OBJECT_KEY_MAX bytes. extension < LAKE_EXTENSIONS. */
void lake_layout_key(char *out, const struct lake_layout *layout, uint32_t ledger,
                     uint32_t extension);

/* Takes a name apart: "FFFFFFF7--8-15.xdr.zst", or a folder's "FFFFFFFF--0-15". Returns false if it
 * is no such name, or its parts disagree. */
struct lake_name {
    uint32_t first, last;
    bool folder;
};
bool lake_layout_parse(struct lake_name *out, const char *name);

/* Reads layout and passphrase from the text of .config.json. TIDE_E_CONFIG names the key that does
 * not fit. */
tide_status lake_config_parse(struct lake_layout *out, char passphrase[256], tide_slice json,
                              struct tide_err *err) TIDE_MUST_USE;

/* Reads layout, first and last ledger from the names in a store that can be listed. All are 0 if it
 * has no object, or if the names of the newest object and its folder do not fit together. */
struct lake_listing {
    struct lake_layout layout;
    uint32_t first, last;
};
tide_status lake_layout_list(struct lake_listing *out, const struct object_store *store,
                             struct tide_err *err) TIDE_MUST_USE;

#endif
