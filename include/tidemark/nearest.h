/* The known name that is most like a mistyped one. Case, "-" and "_" make no difference.
 *
 *   struct tide_nearest n = tide_nearest_of(typed);
 *   for each known name: tide_nearest_try(&n, name);
 *   n.found is the nearest, or NULL if more than half of the letters would have to change */
#ifndef TIDEMARK_NEAREST_H
#define TIDEMARK_NEAREST_H

#include "tidemark/slice.h"

#define TIDE_NEAREST_MAX 48u /* longer names match nothing */

struct tide_nearest {
    tide_slice typed;
    const char *found;
    size_t changes; /* letters to change in found; above the bound if found is NULL */
};

struct tide_nearest tide_nearest_of(tide_slice typed);
/* Keeps name if it is nearer than what was tried before. name must outlive the search. */
void tide_nearest_try(struct tide_nearest *nearest, const char *name);

#endif
