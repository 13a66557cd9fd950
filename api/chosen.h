/* A connection, and which deployment of its database this process tells of. */
#ifndef API_CHOSEN_H
#define API_CHOSEN_H

#include "tidemark/hash.h"
#include "tidemark/pg.h"

struct tide_chosen {
    uint16_t id;
    char text[8]; /* of id, as a parameter */
    /* The same protocol on the same network in the same epoch of it: cursors bind to it. */
    uint8_t identity[TIDE_HASH_BYTES];
    bool standby; /* the server is a hot standby */
};

/* Connects, anew when *pg was lost, and chooses: the deployment wanted, or with 0 the only one.
 * TIDE_E_MISSING when there is none of them, TIDE_E_CONFIG when there are several; *pg stays the
 * caller's to close either way. */
tide_status tide_chosen_connect(struct tide_pg **pg, const struct tide_pg_options *to,
                                uint16_t wanted, struct tide_chosen *out,
                                struct tide_err *err) TIDE_MUST_USE;

#endif
