/* Decoding of raw rows: sets the decoder's position, then runs the decoder of ledgers. */
#include "indexer/decode/redecode.h"
#include "indexer/decode/decode_impl.h"
#include "tidemark/scval.h"
#include "tidemark/text.h"

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
        decode->saved.contracts = decode->deployment->contract_count;
    }
    decode->counts = batch->counts;
    decode_entry_as_of(decode, entry);
    batch->counts = decode->counts;
}

bool tide_redecode_settle(struct tide_decode *decode, struct tide_batch *batch)
{
    decode->batch = batch;
    relevance_take_named(decode);
    bool fresh = decode->known.shown.count > 0 ||
                 decode->deployment->contract_count > decode->saved.contracts;
    relevance_settle(decode);
    decode->saved.contracts = decode->deployment->contract_count;
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

/* ---- events that are stored raw ---- */

enum { EVENT_SYSTEM = 0, EVENT_CONTRACT = 1, TOPICS_MAX = 1000 };

bool tide_raw_event_read(struct tide_raw_event *out, tide_slice xdr)
{
    struct tide_xdr x = tide_xdr_of(xdr);
    uint32_t ext = tide_xdr_u32(&x);
    if (tide_xdr_bool(&x))
        tide_xdr_skip(&x, TIDE_HASH_BYTES);
    uint32_t type = tide_xdr_u32(&x);
    uint32_t body = tide_xdr_u32(&x);
    out->topic_count = tide_xdr_count(&x, TOPICS_MAX, 4);
    const uint8_t *mark = x.cur;
    for (uint32_t i = 0; i < out->topic_count; i++)
        tide_scval_skip(&x);
    out->topics = tide_xdr_span(&x, mark);
    out->data = tide_scval_span(&x);
    out->system = type == EVENT_SYSTEM;
    return tide_xdr_end(&x) == TIDE_OK && ext == 0 && body == 0 && type <= EVENT_CONTRACT;
}

bool tide_raw_hex(struct tide_buf *out, tide_slice hex)
{
    size_t len = hex.len / 2;
    uint8_t *to = tide_buf_room(out, len + 1);
    if (!to || tide_hex_decode(to, len, hex) != TIDE_OK)
        return false;
    out->len += len;
    return true;
}

bool tide_raw_event_hex(struct tide_raw_event *out, struct tide_buf *bytes, tide_slice hex)
{
    return tide_raw_hex(bytes, hex) && tide_raw_event_read(out, tide_buf_view(bytes));
}
