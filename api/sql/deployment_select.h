/* Which deployment of the database a process serves: that of its deployment file (--deployment), or
 * the only one, in the newest epoch of its network that is ready.
 *
 * Reset     an epoch that is served stays served until a newer one is ready: all of the protocol's
 *           own contracts are covered from their creation. Then every connection of the process
 *           moves over.
 * Lost      it never moves back, unless a primary does not hold what is served: a standby without
 *           the last commits was promoted, or a backup restored. Then it chooses as at the start,
 *           without a file only within the same protocol. What was lost is not taken from a standby
 *           again: that one has diverged. A primary that holds it makes it known again.
 * Reload    the file is read again when its addresses changed. What is served stays served until
 *           a deployment of the new file is ready.
 * Threads   any, but open and close. One select is shared by all connections of a process. */
#ifndef API_SQL_DEPLOYMENT_SELECT_H
#define API_SQL_DEPLOYMENT_SELECT_H

#include "tidemark/hash.h"
#include "tidemark/pg.h"

struct tide_deployment_select; /* opaque */

/* The deployment that a connection serves. */
struct tide_deployment_selected {
    uint16_t id;
    char text[8]; /* of id, as a parameter */
    /* The same protocol on the same network in the same epoch of it: cursors bind to it. */
    uint8_t identity[TIDE_HASH_BYTES];
    /* The same in any epoch: caches bind to it. */
    uint8_t protocol[TIDE_HASH_BYTES];
    bool standby; /* the server is a hot standby */
};

/* path "": without a file. TIDE_E_CONFIG says what is wrong with it. */
tide_status tide_deployment_select_open(struct tide_deployment_select **out, const char *path,
                                        struct tide_err *err) TIDE_MUST_USE;
void tide_deployment_select_close(struct tide_deployment_select *select); /* NULL is fine */
/* Reads the file again. A file that is wrong changes nothing. */
tide_status tide_deployment_select_reload(struct tide_deployment_select *select,
                                          struct tide_err *err) TIDE_MUST_USE;

/* Connects, anew when *pg was lost, and chooses. select NULL: for this connection alone, without a
 * file. TIDE_E_MISSING when the database holds no such deployment, TIDE_E_CONFIG when there are
 * several and no file names one, or the file has other roles than the database; TIDE_E_DB when this
 * server lags behind the choice; *pg stays the caller's to close either way. */
tide_status tide_deployment_select_connect(struct tide_pg **pg, const struct tide_pg_options *to,
                                           struct tide_deployment_select *select,
                                           struct tide_deployment_selected *out,
                                           struct tide_err *err) TIDE_MUST_USE;
/* Whether the last look of a connection found other roles in the database than in the file. */
bool tide_deployment_select_disagrees(struct tide_deployment_select *select);
/* Whether the last statement failed because the database has no schema of ours yet. */
bool tide_deployment_select_unmigrated(const struct tide_pg *pg);
/* Whether a connection that chose still serves what the process serves. Takes no lock. */
bool tide_deployment_select_is_current(const struct tide_deployment_select *select,
                                       const struct tide_deployment_selected *selected);
/* Looks over pg for a newer epoch, when nothing looked for TIDE_SELECT_MS. Not in a transaction. */
#define TIDE_SELECT_MS 1000
tide_status tide_deployment_select_refresh(struct tide_deployment_select *select,
                                           struct tide_pg *pg, struct tide_err *err) TIDE_MUST_USE;

/* Whether a cache of this protocol may be served: it is the file's, or what is served now. Without
 * either: yes. Takes no lock. */
bool tide_deployment_select_allows(const struct tide_deployment_select *select,
                                   const uint8_t protocol[TIDE_HASH_BYTES]);
/* Hash of the database's id and the protocol served: the same in processes that may share a port.
 * False while it is not known. */
bool tide_deployment_select_served(struct tide_deployment_select *select,
                                   uint8_t out[TIDE_HASH_BYTES]);

#endif
