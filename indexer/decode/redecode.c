/* Decoding of raw rows: sets the decoder's position, then runs the decoder of ledgers. */
#include "indexer/decode/redecode.h"
#include "indexer/decode/decode_impl.h"
#include "indexer/decode/raw.h"

static void set_position(struct tide_decode *d, struct tide_batch *batch, uint32_t ledger,
                         int64_t closed_ms)
{
    d->batch = batch;
    d->header.sequence = ledger;
    d->closed_ms = closed_ms;
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
    set_position(decode, batch, event->ledger, event->closed_ms);
    return decode_event_again(decode, &again);
}

bool tide_redecode_version(struct tide_decode *decode, struct tide_batch *batch,
                           const struct tide_redecode_raw_version *version)
{
    set_position(decode, batch, version->ledger, version->closed_ms);
    bool fits = decode_version_again(decode, version);
    relevance_take_named(decode);
    return fits;
}

void tide_redecode_entry(struct tide_decode *decode, struct tide_batch *batch,
                         const struct tide_redecode_entry *entry)
{
    set_position(decode, batch, entry->ledger, entry->closed_ms);
    if (decode->ledgers_begun == 0) { /* all entries together count as one ledger */
        decode->ledgers_begun = 1;
        decode->saved_contracts = decode->deployment->contract_count;
    }
    decode->counts = batch->counts;
    decode_entry_as_of(decode, entry);
    batch->counts = decode->counts;
}

bool tide_redecode_settle(struct tide_decode *decode, struct tide_batch *batch)
{
    decode->batch = batch;
    relevance_take_named(decode);
    bool fresh =
        decode->shown.count > 0 || decode->deployment->contract_count > decode->saved_contracts;
    relevance_settle(decode);
    decode->saved_contracts = decode->deployment->contract_count;
    return fresh;
}

const struct tide_deployment *tide_redecode_contracts(const struct tide_decode *decode)
{
    return decode->deployment;
}

const struct tide_contract *tide_redecode_owner(const struct tide_decode *decode,
                                                tide_slice contract, tide_slice key, bool *followed)
{
    enum { CONTRACT_ARM = 1, CONTRACT_BYTES = 36 };
    if (contract.len != CONTRACT_BYTES || tide_be32(contract.ptr) != CONTRACT_ARM)
        return NULL;
    const struct tide_contract *owner = relevance_find(decode, contract.ptr + 4);
    if (!owner || !relevance_entry(decode, owner, key))
        return NULL;
    *followed = owner->role != TIDE_ROLE_stellar_asset || relevance_balance_holder(key).len > 0;
    return owner;
}
