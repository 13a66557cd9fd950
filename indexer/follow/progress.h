/* Progress of a job: a bar on a terminal, otherwise a log line every few seconds. */
#ifndef INDEXER_FOLLOW_PROGRESS_H
#define INDEXER_FOLLOW_PROGRESS_H

#include "tidemark/clock.h"

struct tide_progress {
    const struct tide_clock *clock;
    bool terminal;
    uint32_t from, to; /* to 0: no end */
    int64_t started_ms, shown_ms;
    uint64_t reported;        /* value of ledgers in the last line */
    uint64_t ledgers, events; /* since the start of this range */
    double rate, event_rate;  /* per second, smoothed */
    uint64_t rate_ledgers, rate_events;
    int64_t rate_ms;
};

void tide_progress_start(struct tide_progress *p, const struct tide_clock *clock, uint32_t from,
                         uint32_t to);
/* Call after a commit, and now and then with zeros. Prints if the last output is old enough; a log
 * line only if ledgers were committed since. */
void tide_progress_add(struct tide_progress *p, uint32_t ledger, uint32_t tip, uint64_t ledgers,
                       uint64_t events);
/* Ends the bar's line. */
void tide_progress_end(struct tide_progress *p);

#endif
