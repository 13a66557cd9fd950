#include "indexer/decode/decode_impl.h"
#include "indexer/decode/raw.h"

static void place(struct tide_delta *d, struct tide_batch *batch, uint32_t ledger,
                  int64_t closed_at)
{
    d->batch = batch;
    d->header.sequence = ledger;
    d->closed_at = closed_at;
}

bool tide_delta_again_event(struct tide_delta *delta, struct tide_batch *batch,
                            const struct tide_again_event *event)
{
    struct tide_raw_event raw;
    if (!tide_raw_event_read(&raw, event->xdr))
        return false;
    struct tide_event again = { .level = TIDE_EVENT_OP,
                                .tx = event->tx,
                                .op = event->op,
                                .index = event->event,
                                .type = raw.system ? 0 : 1,
                                .contract = event->contract,
                                .topic_count = raw.topic_count,
                                .topics = raw.topics,
                                .data = raw.data,
                                .xdr = event->xdr };
    place(delta, batch, event->ledger, event->closed_at);
    return delta_event_again(delta, &again);
}

bool tide_delta_again_version(struct tide_delta *delta, struct tide_batch *batch,
                              const struct tide_again_version *version)
{
    place(delta, batch, version->ledger, version->closed_at);
    return delta_version_again(delta, version);
}
