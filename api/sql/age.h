/* How old is what a database shows? The indexer's last sign of life says it, not the database's
 * presence: a standby answers and is late, a primary answers and its indexer is dead.
 *
 * Sign      the indexer renews its row of chain.lease twice a second, by the primary's clock. While
 *           no indexer holds a lease, its last heartbeat or commit counts (chain.freshness).
 * Age       the largest of
 *             the server's clock less the renewal: a standby shows an old renewal;
 *             the node's clock less the renewal, of a standby only: the standby's clock may be
 *               behind; the primary's clock wrote the renewal itself;
 *             the time since the renewal last changed, by a clock that cannot be set.
 *           It is never negative. A renewal more than TIDE_AGE_SKEW_MS in the server's future says
 *           that a clock was set back: it counts as that old.
 * Wrong     clocks can only make data look older than it is, unless standby and node are both
 *           behind by more than the standby is late. */
#ifndef API_SQL_AGE_H
#define API_SQL_AGE_H

#include "tidemark/pg.h"

#define TIDE_AGE_SKEW_MS 5000

/* Three columns for a statement whose FROM has chain.cursor AS c. */
#define TIDE_AGE_COLUMNS                                                                  \
    "(SELECT (1000 * extract(epoch FROM f.renewed_at))::bigint FROM chain.freshness AS f" \
    " WHERE f.deployment = c.deployment)::text,"                                          \
    " (1000 * extract(epoch FROM clock_timestamp()))::bigint::text, "                     \
    "pg_is_in_recovery()::int::text"
#define TIDE_AGE_COLUMN_COUNT 3u

/* What one look at the database showed. */
struct tide_age_sign {
    int64_t renewed_ms; /* unix, the indexer's last sign of life */
    int64_t server_ms;  /* unix, the server's clock              */
    bool standby;
};

/* What earlier looks showed. Zero: there were none. */
struct tide_age {
    int64_t renewed_ms;
    int64_t changed_ms; /* of tide_clock's now_ms: when renewed_ms was first seen */
};

/* The columns, from that one on. */
struct tide_age_sign tide_age_read(const struct tide_pg_rows *rows, uint32_t row, uint32_t column);
/* Milliseconds, and age remembers the sign. wall_ms is the node's clock, now_ms its monotonic
 * one, both from when the database was asked. */
uint64_t tide_age_of(struct tide_age *age, const struct tide_age_sign *sign, int64_t wall_ms,
                     int64_t now_ms);
/* Milliseconds since a ledger closed (unix seconds), by the later of the server's clock and the
 * node's; never negative. */
uint64_t tide_age_closed(const struct tide_age_sign *sign, uint64_t close_time, int64_t wall_ms);

#endif
