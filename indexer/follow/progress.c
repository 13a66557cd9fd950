/* Rates, smoothed over a few seconds, and their output: a bar on a terminal, log lines
 * otherwise. */
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

/* Updates the rates once a second. */
static void measure_rate(struct tide_progress *p, int64_t now)
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

/* Writes the remaining time in the unit that people use; "" if it is not known. */
static void put_eta(char *out, size_t size, const struct tide_progress *p, uint32_t left)
{
    double eta = p->rate > 0 ? (double)left / p->rate : 0;
    if (left == 0 || !(p->rate > 0))
        *out = '\0';
    else if (eta < 100)
        snprintf(out, size, "  %.0f s left", eta);
    else if (eta < 100 * 60)
        snprintf(out, size, "  %.0f min left", eta / 60);
    else
        snprintf(out, size, "  %.0f h left", eta / 3600);
}

static void show_bar(const struct tide_progress *p, uint32_t ledger, uint32_t end)
{
    char cells[BAR_CELLS + 1], rate[48] = "", eta[48];
    double part = end > p->from ? (double)(ledger - p->from + 1) / (double)(end - p->from + 1) : 1;
    for (int i = 0; i < BAR_CELLS; i++)
        cells[i] = i < (int)(part * (int)BAR_CELLS) ? '#' : '.';
    cells[BAR_CELLS] = 0;
    if (p->rate > 0)
        snprintf(rate, sizeof rate, "  %.0f ledgers/s", p->rate);
    put_eta(eta, sizeof eta, p, end > ledger ? end - ledger : 0);
    fprintf(stderr, "\r\033[K[%s] %5.1f %%  ledger %u of %u%s%s", cells, part * 100, ledger, end,
            rate, eta);
    fflush(stderr);
}

/* Fields whose values are not known yet are left out of the line. */
static void log_line(const struct tide_progress *p, uint32_t ledger, uint32_t end)
{
    char tip[32] = "", rate[48] = "", eta[48] = "";
    if (end)
        snprintf(tip, sizeof tip, " tip=%u", end);
    if (p->rate > 0)
        snprintf(rate, sizeof rate, " rate=%.0f", p->rate);
    if (p->rate > 0 && end > ledger)
        snprintf(eta, sizeof eta, " eta_s=%.0f", (double)(end - ledger) / p->rate);
    tide_log(TIDE_INFO, "index.progress", "ledger=%u%s ledgers=%" PRIu64 " events=%" PRIu64 "%s%s",
             ledger, tip, p->ledgers, p->events, rate, eta);
}

void tide_progress_add(struct tide_progress *p, uint32_t ledger, uint32_t tip, uint64_t ledgers,
                       uint64_t events)
{
    int64_t now = p->clock->now_ms(p->clock->self);
    p->ledgers += ledgers;
    p->events += events;
    measure_rate(p, now);
    if (now - p->shown_ms < (p->terminal ? BAR_MS : LINE_MS) || !p->ledgers)
        return;
    if (!p->terminal && p->ledgers == p->reported)
        return;
    p->reported = p->ledgers;
    uint32_t end = p->to ? p->to : tip;
    p->shown_ms = now;
    if (p->terminal && end)
        show_bar(p, ledger, end);
    else
        log_line(p, ledger, end);
}

void tide_progress_end(struct tide_progress *p)
{
    if (p->terminal && p->ledgers)
        fputc('\n', stderr);
}
