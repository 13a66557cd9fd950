/* Readers of ContractEvents that were stored raw. */
#include "indexer/decode/raw.h"
#include "tidemark/scval.h"
#include "tidemark/text.h"

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
