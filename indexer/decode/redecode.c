/* Decoding of raw rows: sets the decoder's position, then runs the decoder of ledgers. */
#include "indexer/decode/redecode.h"
#include "indexer/decode/decode_impl.h"
#include "indexer/decode/raw.h"

static void set_position(struct tide_decode *d, struct tide_batch *batch, uint32_t ledger,
                         int64_t closed_at)
{
    d->batch = batch;
    d->header.sequence = ledger;
    d->closed_at = closed_at;
}

bool tide_redecode_event(struct tide_decode *decode, struct tide_batch *batch,
                         const struct tide_redecode_raw_event *event)
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
    set_position(decode, batch, event->ledger, event->closed_at);
    return decode_event_again(decode, &again);
}

bool tide_redecode_version(struct tide_decode *decode, struct tide_batch *batch,
                           const struct tide_redecode_raw_version *version)
{
    set_position(decode, batch, version->ledger, version->closed_at);
    bool fits = decode_version_again(decode, version);
    relevance_take_named(decode);
    return fits;
}
