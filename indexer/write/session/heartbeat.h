/* The figures that the indexer reports into chain.heartbeat. */
#ifndef INDEXER_WRITE_SESSION_HEARTBEAT_H
#define INDEXER_WRITE_SESSION_HEARTBEAT_H

#include <stdint.h>

struct tide_heartbeat {
    const char *state; /* below 16 bytes */
    uint32_t tip, ledger;
    double rate;
    const char *error; /* what went wrong just now, or NULL */
    double event_rate;
    uint64_t ledgers, events; /* since the start */
    const char *source;       /* its name; NULL: as before */
    const char *trouble;      /* why it cannot go on, for trouble_ms now; NULL: it can */
    int64_t trouble_ms;
};

#endif
