/* getFeeStats: a simulated ledger always has room, so every bid is the base fee. */
#include "tools/sim/rpc/rpc.h"

/* ledgers that stellar-rpc's statistics cover */
enum { SOROBAN_LEDGERS = 50, CLASSIC_LEDGERS = 10 };

/* Appends one distribution, all of whose values are the base fee of 100 stroops. */
static void put_stats(struct tide_buf *out, const char *name, uint32_t ledgers)
{
    static const char *const fields[] = { "max", "min", "mode", "p10", "p20", "p30", "p40",
                                          "p50", "p60", "p70",  "p80", "p90", "p95", "p99" };
    tide_buf_putf(out, "\"%s\":{", name);
    for (size_t i = 0; i < TIDE_COUNT(fields); i++)
        tide_buf_putf(out, "\"%s\":\"100\",", fields[i]);
    tide_buf_putf(out, "\"transactionCount\":\"%u\",\"ledgerCount\":%u}", ledgers, ledgers);
}

bool rpc_getFeeStats(struct rpc_call *call)
{
    tide_buf_str(call->out, "{");
    put_stats(call->out, "sorobanInclusionFee", SOROBAN_LEDGERS);
    tide_buf_str(call->out, ",");
    put_stats(call->out, "inclusionFee", CLASSIC_LEDGERS);
    tide_buf_putf(call->out, ",\"latestLedger\":%u}", call->latest.sequence);
    return true;
}
