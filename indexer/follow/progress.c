#include "indexer/follow/progress.h"
#include "tidemark/log.h"

#include <stdio.h>
#include <unistd.h>

enum { BAR_MS = 200, LINE_MS = 5000, RATE_MS = 1000, BAR_CELLS = 30 };

void tide_progress_start(struct tide_progress *p, const struct tide_clock *clock, uint32_t from,
                         uint32_t to)
{
    int64_t now = clock->now_ms(clock->self);
    *p = (struct tide_progress){ .clock = clock,
                                 .terminal = isatty(STDERR_FILENO) == 1,
                                 .from = from,
                                 .to = to,
                                 .started_ms = now,
                                 .shown_ms = now,
                                 .rate_ms = now };
}

static void measure(struct tide_progress *p, int64_t now)
{
    int64_t passed = now - p->rate_ms;
    if (passed < RATE_MS)
        return;
    double latest = (double)(p->ledgers - p->rate_ledgers) * 1000.0 / (double)passed;
    double events = (double)(p->events - p->rate_events) * 1000.0 / (double)passed;
    p->rate = p->rate_ledgers ? 0.7 * p->rate + 0.3 * latest : latest;
    p->event_rate = p->rate_ledgers ? 0.7 * p->event_rate + 0.3 * events : events;
    p->rate_ledgers = p->ledgers;
    p->rate_events = p->events;
    p->rate_ms = now;
}

static void show_bar(const struct tide_progress *p, uint32_t ledger, uint32_t end, double eta)
{
    char cells[BAR_CELLS + 1];
    double part = end > p->from ? (double)(ledger - p->from + 1) / (double)(end - p->from + 1) : 1;
    for (int i = 0; i < BAR_CELLS; i++)
        cells[i] = i < (int)(part * BAR_CELLS) ? '#' : '.';
    cells[BAR_CELLS] = 0;
    fprintf(stderr, "\r[%s] %5.1f %%  ledger %u of %u  %.0f/s  ETA %.0f s   ", cells, part * 100,
            ledger, end, p->rate, eta);
    fflush(stderr);
}

void tide_progress_add(struct tide_progress *p, uint32_t ledger, uint32_t tip, uint64_t ledgers,
                       uint64_t events)
{
    int64_t now = p->clock->now_ms(p->clock->self);
    p->ledgers += ledgers;
    p->events += events;
    measure(p, now);
    if (now - p->shown_ms < (p->terminal ? BAR_MS : LINE_MS) || !p->ledgers)
        return;
    if (!p->terminal && p->ledgers == p->told)
        return;
    p->told = p->ledgers;
    uint32_t end = p->to ? p->to : tip;
    double eta = end > ledger && p->rate > 0 ? (double)(end - ledger) / p->rate : 0;
    p->shown_ms = now;
    if (p->terminal && end)
        show_bar(p, ledger, end, eta);
    else
        tide_log(TIDE_INFO, "index.progress",
                 "ledger=%u tip=%u ledgers=%" PRIu64 " events=%" PRIu64 " rate=%.0f eta_s=%.0f",
                 ledger, end, p->ledgers, p->events, p->rate, eta);
}

void tide_progress_end(struct tide_progress *p)
{
    if (p->terminal && p->ledgers)
        fputc('\n', stderr);
}
