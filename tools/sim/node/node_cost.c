/* Resources and fees. The figures have the size of the network's, but come from a simple formula
 * that counts calls and entries. */
#include "tools/sim/node/node_impl.h"

/* typical XDR sizes without variable parts */
enum {
    ACCOUNT_BYTES = 92,
    LINE_BYTES = 116,
    ENTRY_BYTES = 60,
    NONCE_BYTES = 80,
    EVENT_BYTES = 52,
    CODE_BYTES = 52
};

/* Returns the bytes of a touched entry. */
static uint32_t size_of(const struct sim_touch *touch)
{
    if (touch->kind == SIM_TOUCH_ACCOUNT)
        return ACCOUNT_BYTES;
    if (touch->kind == SIM_TOUCH_LINE)
        return LINE_BYTES;
    const struct sim_entry *entry = touch->entry;
    tide_slice value = entry->exists ? entry->val : touch->val;
    return (uint32_t)(ENTRY_BYTES + entry->key.len + value.len);
}

/* Returns the XDR size of the call's events. */
static uint32_t event_bytes(const struct sim_outcome *out)
{
    struct tide_buf xdr;
    tide_buf_init(&xdr, NODE_BYTES_MAX);
    for (uint32_t i = 0; i < out->event_count; i++)
        sim_event_xdr(&xdr, &out->events[i]);
    uint32_t len = xdr.failed ? NODE_BYTES_MAX : (uint32_t)xdr.len;
    tide_buf_release(&xdr);
    return len;
}

struct node_cost node_cost_of(const struct chain *chain, const struct sim_outcome *out,
                              uint32_t signatures)
{
    struct node_cost cost = { .events = event_bytes(out) };
    cost.instructions = 900000 + 300000 * out->frame_count + 20000 * out->event_count +
                        30000 * out->touch_count + 400000 * signatures;
    cost.write = NONCE_BYTES * signatures;
    cost.created = signatures;
    if (node_code_lapsed(chain, out)) {
        cost.disk_read = CODE_BYTES;
        cost.write += CODE_BYTES;
        cost.created++;
    }
    /* Contract data is in memory on the network, so only classic and lapsed entries are read from
     * disk. */
    for (uint32_t i = 0; i < out->touch_count; i++) {
        const struct sim_touch *touch = &out->touches[i];
        bool data = touch->kind == SIM_TOUCH_DATA;
        bool lapsed = data && touch->existed && touch->live_until < chain->ledger;
        if (!data || lapsed)
            cost.disk_read += size_of(touch);
        if (touch->written || lapsed)
            cost.write += size_of(touch);
        cost.created +=
            lapsed || (data && touch->entry->exists &&
                       (!touch->existed || touch->live_until < touch->entry->live_until));
    }
    return cost;
}

/* Rates in stroops: instructions, keys, kilobytes read and written, kilobytes of the envelope. */
int64_t node_fee_fixed(const struct node_cost *cost, size_t tx_bytes)
{
    int64_t fee = cost->instructions / 400 + 1;
    fee += 1500 * ((int64_t)cost->read_only + cost->read_write) + 2500 * (int64_t)cost->read_write;
    fee += (447 * (int64_t)cost->disk_read + 875 * (int64_t)cost->write) / 1024;
    return fee + 4300 * (int64_t)tx_bytes / 1024;
}

int64_t node_fee_used(const struct node_cost *cost)
{
    return 500 + 2500 * (int64_t)cost->created + 5 * (int64_t)cost->events;
}
