/* Selects the deployment of the database that a process serves: that of its deployment file
 * (--deployment), or the only one, in the newest epoch of its network that is ready.
 *
 * Reset     The served epoch stays until a newer one is ready: all of the protocol's own contracts
 *           are covered from their creation. Then every connection of the process switches.
 * Lost      The selection never goes back, except if a primary does not hold the served deployment:
 *           a standby that lacked the last commits was promoted, or a backup was restored. Then the
 *           process selects as at the start, but without a file only within the same protocol. A
 *           lost deployment is not accepted from a standby any more, because that standby has
 *           diverged; it is accepted again once a primary holds it.
 * Restore   A database that a backup is being restored into lacks rows. It is refused until all its
 *           tables have their primary keys, which a restore makes behind the rows.
 * Reload    The file is read again when its addresses changed. The served deployment stays until a
 *           deployment of the new file is ready.
 * Threads   Any, except open and close. All connections of a process share one object. */
#ifndef API_SQL_DEPLOYMENT_SELECT_H
#define API_SQL_DEPLOYMENT_SELECT_H

#include "tidemark/hash.h"
#include "tidemark/pg.h"

struct tide_deployment_select; /* opaque */

/* The deployment that a connection serves. */
struct tide_deployment_selected {
    uint16_t id;
    char text[8]; /* id in decimal, as a statement's parameter */
    /* Hash of protocol, network and epoch: cursors bind to it. */
    uint8_t identity[TIDE_HASH_BYTES];
    /* Hash of protocol and network, in any epoch: caches bind to it. */
    uint8_t protocol[TIDE_HASH_BYTES];
    bool standby; /* the server is a hot standby */
};

/* Reads the deployment file; an empty path: none. Fails with TIDE_E_CONFIG and names the fault. */
tide_status tide_deployment_select_open(struct tide_deployment_select **out, const char *path,
                                        struct tide_err *err) TIDE_MUST_USE;
void tide_deployment_select_close(struct tide_deployment_select *select); /* NULL is allowed */
/* Reads the file again. If that fails, nothing changes. */
tide_status tide_deployment_select_reload(struct tide_deployment_select *select,
                                          struct tide_err *err) TIDE_MUST_USE;

/* Connects, or reconnects if *pg was lost, and selects. select NULL: for this connection only,
 * without a file. Fails with TIDE_E_MISSING if the database holds no such deployment;
 * TIDE_E_CONFIG if it holds several and no file names one, or the file has other roles than the
 * database; TIDE_E_DB if this server lags behind the selection, or is not
 * restored completely. *pg is the caller's to close,
 * also on failure. */
tide_status tide_deployment_select_connect(struct tide_pg **pg, const struct tide_pg_options *to,
                                           struct tide_deployment_select *select,
                                           struct tide_deployment_selected *out,
                                           struct tide_err *err) TIDE_MUST_USE;
/* Returns whether the last connection found other roles in the database than in the file. */
bool tide_deployment_select_disagrees(struct tide_deployment_select *select);
/* Returns whether the last statement failed because the database has no Tidemark schema yet. */
bool tide_deployment_select_unmigrated(const struct tide_pg *pg);
/* Returns whether a connection still serves the deployment that the process serves. Takes no
 * lock. */
bool tide_deployment_select_is_current(const struct tide_deployment_select *select,
                                       const struct tide_deployment_selected *selected);
/* Checks over pg for a newer epoch, unless a connection did within TIDE_SELECT_MS. Do not call
 * in a transaction. */
#define TIDE_SELECT_MS 1000
tide_status tide_deployment_select_refresh(struct tide_deployment_select *select,
                                           struct tide_pg *pg, struct tide_err *err) TIDE_MUST_USE;

/* Returns whether a cache of this protocol may be served: the protocol is the file's or the
 * served one, or neither is known. Takes no lock. */
bool tide_deployment_select_allows(const struct tide_deployment_select *select,
                                   const uint8_t protocol[TIDE_HASH_BYTES]);
/* Writes a hash of the database's id and the served protocol, equal in all processes that may
 * share a port. Returns false while it is unknown. */
bool tide_deployment_select_served(struct tide_deployment_select *select,
                                   uint8_t out[TIDE_HASH_BYTES]);

#endif
