/* The figures that the indexer reports into chain.heartbeat. */
#ifndef INDEXER_WRITE_SESSION_HEARTBEAT_H
#define INDEXER_WRITE_SESSION_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>

struct tide_heartbeat {
    const char *state; /* below 16 bytes */
    uint32_t tip, ledger;
    double rate;
    const char *error; /* error that just occurred, or NULL */
    double event_rate;
    uint64_t ledgers, events; /* since the start */
    bool current;             /* the index was at the source's tip when this was reported */
    const char *source;       /* name of the source; NULL: unchanged */
    /* reason why the source cannot go on, for trouble_ms so far; NULL: it can */
    const char *trouble;
    int64_t trouble_ms;
};

#endif
