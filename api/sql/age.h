/* The age of a database's content: the time since the indexer last showed that it is current. That
 * the database answers says nothing: a standby answers and is late, and a primary answers while its
 * indexer is dead.
 *
 * Sign      chain.freshness: when the indexer last committed, or was at the tip of its source, by
 *           the primary's clock. While it is there, it renews that time twice a second, with its
 *           lease. A lease alone says nothing: its holder may wait for a lock, or for a source.
 * Age       The largest of
 *            the server's clock minus the renewal: a standby shows an old renewal;
 *            for a standby only, the node's clock minus the renewal: the standby's clock may be
 *              behind, while the primary's clock wrote the renewal itself;
 *            the time since the renewal last changed, by a monotonic clock.
 *           The age is never negative. A renewal more than TIDE_AGE_SKEW_MS in the server's future
 *           means that a clock was set back: the difference counts as the age.
 * Errors    Wrong clocks only make data look older, unless the clocks of standby and node are
 *           both behind by more than the standby's delay, or the server's clock is set back to
 *           the last renewal after the indexer died and the node has no earlier observation. */
#ifndef API_SQL_AGE_H
#define API_SQL_AGE_H

#include "tidemark/pg.h"

#define TIDE_AGE_SKEW_MS 5000

/* Three columns, for a statement whose FROM has chain.cursor AS c. */
#define TIDE_AGE_COLUMNS                                                                  \
    "(SELECT (1000 * extract(epoch FROM f.renewed_at))::bigint FROM chain.freshness AS f" \
    " WHERE f.deployment = c.deployment)::text,"                                          \
    " (1000 * extract(epoch FROM clock_timestamp()))::bigint::text, "                     \
    "pg_is_in_recovery()::int::text"
#define TIDE_AGE_COLUMN_COUNT 3u

/* The result of one query. */
struct tide_age_sign {
    int64_t renewed_ms; /* unix ms, the indexer's last sign of life */
    int64_t server_ms;  /* unix ms, the server's clock */
    bool standby;
};

/* The results of earlier queries. Zero: there were none. */
struct tide_age {
    int64_t renewed_ms;
    int64_t changed_ms; /* tide_clock's now_ms when renewed_ms was first seen */
};

/* Reads TIDE_AGE_COLUMNS, which begin at the column. */
struct tide_age_sign tide_age_read(const struct tide_pg_rows *rows, uint32_t row, uint32_t column);
/* Returns the age in milliseconds, and updates *age. wall_ms and now_ms: the node's wall and
 * monotonic clocks just before the query. */
uint64_t tide_age_of(struct tide_age *age, const struct tide_age_sign *sign, int64_t wall_ms,
                     int64_t now_ms);
/* Returns the milliseconds since a ledger closed (unix seconds), by the later of the server's
 * and the node's clock; never negative. */
uint64_t tide_age_closed(const struct tide_age_sign *sign, uint64_t closed_ms, int64_t wall_ms);

#endif
