/* How many connections there are, in all and of each address: a table of fixed size.
 * Threads  any; entering and leaving hold one lock. */
#ifndef API_CROWD_H
#define API_CROWD_H

#include "api/peer.h"

struct tide_crowd;

/* of_one 0: no limit but that of all. */
tide_status tide_crowd_open(struct tide_crowd **out, uint32_t most, uint32_t of_one,
                            struct tide_err *err) TIDE_MUST_USE;
void tide_crowd_close(struct tide_crowd *crowd);
/* False: no room, nothing was counted. alone: of_one does not apply (a proxy). */
bool tide_crowd_enter(struct tide_crowd *crowd, const struct tide_peer *peer, bool alone);
void tide_crowd_leave(struct tide_crowd *crowd, const struct tide_peer *peer);
/* How often one of these found the lock held. */
uint64_t tide_crowd_waits(const struct tide_crowd *crowd);

#endif
