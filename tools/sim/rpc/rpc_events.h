/* The parts of getEvents that stand by themselves: ids and filters. */
#ifndef SIM_RPC_EVENTS_H
#define SIM_RPC_EVENTS_H

#include "tidemark/meta.h"
#include "tools/sim/rpc/rpc.h"

/* "%019d-%010d": sorts as its text does. */
struct event_id {
    uint64_t toid; /* ledger << 32 | transaction << 12 | operation */
    uint32_t index;
};

struct event_id event_id_of(uint32_t ledger, const struct tide_event *event);
bool event_id_read(struct event_id *id, tide_slice text);

enum { EVENT_FILTERS = 5, EVENT_SEGMENTS = 4, EVENT_SYSTEM = 1, EVENT_CONTRACT = 2 };

struct event_segment {
    bool any;       /* "*" */
    size_t at, len; /* of the ScVal, in values */
};

struct event_pattern {
    uint32_t count;
    bool open; /* "**" behind the segments: more topics may follow */
    struct event_segment segments[EVENT_SEGMENTS];
};

struct event_filter {
    uint32_t types;                         /* EVENT_SYSTEM, EVENT_CONTRACT */
    uint32_t contract_count, pattern_count; /* 0: any */
    uint8_t contracts[EVENT_FILTERS][TIDE_HASH_BYTES];
    struct event_pattern patterns[EVENT_FILTERS];
};

struct event_filters {
    uint32_t count; /* 0: every event */
    struct event_filter items[EVENT_FILTERS];
    struct tide_buf values; /* in: open */
};

/* The filters of a request. False: refused, as rpc_refuse says. */
bool event_filters_read(struct rpc_call *call, struct event_filters *filters);
bool event_filters_match(const struct event_filters *filters, const struct tide_event *event);

#endif
