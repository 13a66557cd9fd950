/* getFeeStats: what was bid for inclusion in the newest ledgers. */
#include "tidemark/meta.h"
#include "tidemark/tx.h"
#include "tools/sim/rpc/rpc.h"

enum { SOROBAN_LEDGERS = 50, CLASSIC_LEDGERS = 10 };

struct bids {
    struct tide_buf soroban, classic; /* uint64_t each: stroops an operation */
    bool classic_too;
};

/* Nothing that cannot be read as a transaction is in a ledger. */
static tide_status on_envelope(void *self, const struct tide_envelope *envelope)
{
    struct bids *bids = self;
    uint64_t ops = envelope->op_count + (envelope->fee_source_key != envelope->source_key);
    int64_t left = envelope->fee - (envelope->has_soroban ? envelope->resource_fee : 0);
    uint64_t bid = left > 0 && ops ? (uint64_t)left / ops : 0;
    if (envelope->has_soroban)
        tide_buf_put(&bids->soroban, &bid, sizeof bid);
    else if (bids->classic_too)
        tide_buf_put(&bids->classic, &bid, sizeof bid);
    return TIDE_OK;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The bid that occurs most often, the lowest of equals. bids are sorted. */
static uint64_t mode_of(const uint64_t *bids, size_t count)
{
    uint64_t mode = 0;
    size_t most = 0, run = 0;
    for (size_t i = 0; i < count; i++) {
        run = i > 0 && bids[i] == bids[i - 1] ? run + 1 : 1;
        if (run > most) {
            most = run;
            mode = bids[i];
        }
    }
    return mode;
}

/* Nearest rank. */
static uint64_t percentile(const uint64_t *bids, size_t count, size_t p)
{
    size_t rank = (count * p + 99) / 100;
    return count ? bids[rank ? rank - 1 : 0] : 0;
}

static void put_stats(struct tide_buf *out, const char *name, const struct tide_buf *list,
                      uint32_t ledgers)
{
    static const uint8_t ps[] = { 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99 };
    uint64_t *bids = (uint64_t *)(void *)list->ptr;
    size_t count = list->len / sizeof *bids;
    if (count)
        qsort(bids, count, sizeof *bids, by_size);
    tide_buf_putf(
        out, "\"%s\":{\"max\":\"%" PRIu64 "\",\"min\":\"%" PRIu64 "\",\"mode\":\"%" PRIu64 "\"",
        name, percentile(bids, count, 100), percentile(bids, count, 0), mode_of(bids, count));
    for (size_t i = 0; i < sizeof ps; i++)
        tide_buf_putf(out, ",\"p%u\":\"%" PRIu64 "\"", ps[i], percentile(bids, count, ps[i]));
    tide_buf_putf(out, ",\"transactionCount\":\"%zu\",\"ledgerCount\":%u}", count, ledgers);
}

bool rpc_getFeeStats(struct rpc_call *call)
{
    struct tide_err err;
    struct tide_buf lcm;
    struct bids bids = { .classic_too = true };
    const struct tide_walk walk = { .self = &bids, .envelope = on_envelope };
    tide_buf_init(&lcm, RPC_ANSWER_BYTES_MAX);
    tide_buf_init(&bids.soroban, RPC_ANSWER_BYTES_MAX);
    tide_buf_init(&bids.classic, RPC_ANSWER_BYTES_MAX);
    uint32_t ledgers = 0, there = call->latest.sequence - call->oldest.sequence + 1;
    bool good = true;
    for (; good && ledgers < SOROBAN_LEDGERS && ledgers < there; ledgers++) {
        struct ledger_info info;
        bids.classic_too = ledgers < CLASSIC_LEDGERS;
        tide_buf_reset(&lcm);
        good = ledger_store_read(call->store, call->latest.sequence - ledgers, &lcm, &info) &&
               tide_ledger_walk(&walk, tide_buf_view(&lcm), &err) == TIDE_OK;
    }
    tide_buf_str(call->out, "{");
    put_stats(call->out, "sorobanInclusionFee", &bids.soroban, ledgers);
    tide_buf_str(call->out, ",");
    put_stats(call->out, "inclusionFee", &bids.classic,
              ledgers < CLASSIC_LEDGERS ? ledgers : CLASSIC_LEDGERS);
    tide_buf_putf(call->out, ",\"latestLedger\":%u}", call->latest.sequence);
    tide_buf_release(&lcm);
    tide_buf_release(&bids.soroban);
    tide_buf_release(&bids.classic);
    return good || rpc_refuse(call, RPC_INTERNAL, "cannot read the newest ledgers");
}
