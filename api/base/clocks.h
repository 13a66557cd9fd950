/* Compares the clocks of this host, the database and the chain.
 *
 * A process whose clock is wrong marks valid approvals as ended and signs envelopes that are valid
 * for too long. The programs therefore compare the three clocks before any decision that depends on
 * time, and decide nothing while the clocks differ by more than clock_skew_s.
 *
 * Chain    the close time of the newest indexed ledger. The validators agree on close times, which
 *          only grow, so a clock that is behind them is wrong. A clock that is far ahead of them
 *          may be right, because the index or the network may stand still. This file cannot tell
 *          the two apart, so TIDE_CLOCKS_AFTER_CHAIN is a verdict of its own.
 * Threads  no state; the connection belongs to the calling thread. */
#ifndef API_BASE_CLOCKS_H
#define API_BASE_CLOCKS_H

#include "tidemark/clock.h"
#include "tidemark/pg.h"

struct tide_clocks {
    int64_t host_ms;     /* host's time when the database answered; all times are unix ms */
    int64_t took_ms;     /* duration of the query: database_ms is at most this old */
    int64_t database_ms; /* the database's clock_timestamp() */
    int64_t chain_ms;    /* close time of the newest indexed ledger; 0: none */
    uint32_t ledger;     /* newest indexed ledger; 0: none */
};

enum tide_clocks_verdict {
    TIDE_CLOCKS_AGREE,        /* all agree; without an indexed ledger, host and database agree */
    TIDE_CLOCKS_DATABASE,     /* host and database differ                                      */
    TIDE_CLOCKS_BEFORE_CHAIN, /* the host's clock is before the newest ledger: it is wrong     */
    /* the newest ledger is old: the clock is wrong, or index or network is late */
    TIDE_CLOCKS_AFTER_CHAIN,
};

/* Reads the clocks with one query. Fails like tide_pg_query. */
tide_status tide_clocks_read(struct tide_clocks *out, struct tide_pg *pg,
                             const struct tide_clock *clock, uint32_t deployment,
                             struct tide_err *err) TIDE_MUST_USE;

/* Returns the verdict. skew_s is the allowed difference (clock_skew_s). Pure. */
enum tide_clocks_verdict tide_clocks_judge(const struct tide_clocks *clocks, uint32_t skew_s);

/* Returns "agree", "database", "before_chain" or "after_chain", a static text. */
const char *tide_clocks_name(enum tide_clocks_verdict verdict);

/* Writes the difference as a text for people, NUL-terminated: "the database's clock is 12 s ahead
 * of this host's". */
#define TIDE_CLOCKS_TEXT_BYTES 160u
void tide_clocks_say(char out[TIDE_CLOCKS_TEXT_BYTES], const struct tide_clocks *clocks,
                     enum tide_clocks_verdict verdict);

#endif
