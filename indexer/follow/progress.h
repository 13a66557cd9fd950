/* How fast and how far: a bar on a terminal, a log line every few seconds otherwise. */
#ifndef INDEXER_FOLLOW_PROGRESS_H
#define INDEXER_FOLLOW_PROGRESS_H

#include "tidemark/clock.h"

struct tide_progress {
    const struct tide_clock *clock;
    bool terminal;
    uint32_t from, to; /* to 0: open end */
    int64_t started_ms, shown_ms;
    uint64_t told;            /* ledgers, when a line was written last */
    uint64_t ledgers, events; /* since the start, this run */
    double rate, event_rate;  /* ledgers and events a second, smoothed */
    uint64_t rate_ledgers, rate_events;
    int64_t rate_ms;
};

void tide_progress_start(struct tide_progress *p, const struct tide_clock *clock, uint32_t from,
                         uint32_t to);
/* After a commit (or with zeros, now and then). Prints when it is time; a line only when there is
 * something new to tell. */
void tide_progress_add(struct tide_progress *p, uint32_t ledger, uint32_t tip, uint64_t ledgers,
                       uint64_t events);
/* Ends the bar's line. */
void tide_progress_end(struct tide_progress *p);

#endif
