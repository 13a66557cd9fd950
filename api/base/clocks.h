/* Whether this host, the database and the chain agree on what time it is.
 *
 * A process whose clock is wrong marks valid approvals as ended and signs envelopes that never end.
 * So before time decides anything, the three clocks are compared, and nothing is decided while they
 * differ by more than clock_skew_s.
 *
 * Chain    the close time of the newest ledger that the index has. The validators agree on close
 *          times, which only grow. So a clock that is behind them is wrong. A clock that is far
 *          ahead of them may be right: the index or the network may stand still. The two cannot be
 *          told apart here, so that is a verdict of its own.
 * Threads  no state; the connection belongs to the calling thread. */
#ifndef API_BASE_CLOCKS_H
#define API_BASE_CLOCKS_H

#include "tidemark/clock.h"
#include "tidemark/pg.h"

struct tide_clocks {
    int64_t host_ms;     /* unix time, as all here; when the database had answered */
    int64_t took_ms;     /* how long the answer took: the database's time is so old at most */
    int64_t database_ms; /* clock_timestamp() */
    int64_t chain_ms;    /* close time of the newest ledger indexed; 0: there is none */
    uint32_t ledger;     /* that ledger; 0: there is none */
};

enum tide_clocks_verdict {
    TIDE_CLOCKS_AGREE,        /* without an index: host and database agree                     */
    TIDE_CLOCKS_DATABASE,     /* host and database differ                                      */
    TIDE_CLOCKS_BEFORE_CHAIN, /* the host's clock is before the newest ledger: it is wrong     */
    TIDE_CLOCKS_AFTER_CHAIN,  /* the newest ledger is old: the clock is wrong or the index late */
};

/* Asks the database once. Errors as tide_pg_query. */
tide_status tide_clocks_read(struct tide_clocks *out, struct tide_pg *pg,
                             const struct tide_clock *clock, uint32_t deployment,
                             struct tide_err *err) TIDE_MUST_USE;

/* Pure. skew_s: what they may differ by (clock_skew_s). */
enum tide_clocks_verdict tide_clocks_judge(const struct tide_clocks *clocks, uint32_t skew_s);

/* "agree", "database", "before_chain", "after_chain"; static. */
const char *tide_clocks_name(enum tide_clocks_verdict verdict);

/* Writes the difference for people, NUL-terminated: "the database's clock is 12 s ahead of this host's". */
#define TIDE_CLOCKS_TEXT_BYTES 160u
void tide_clocks_say(char out[TIDE_CLOCKS_TEXT_BYTES], const struct tide_clocks *clocks,
                     enum tide_clocks_verdict verdict);

#endif
