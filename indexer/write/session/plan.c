/* Functions that answer questions about the plan. All are pure, except for the caller's
 * stopped(). */
#include "indexer/write/session/plan.h"

#include <assert.h>
#include <string.h>

bool write_plan_stopped(const struct write_plan *plan)
{
    return plan->stopped && plan->stopped(plan->stopped_self);
}

bool write_plan_has_contracts(const struct write_plan *plan)
{
    for (uint32_t i = 0; i < plan->table_count; i++)
        if (strcmp(plan->tables[i].name, "contract_seen") == 0)
            return true;
    return false;
}

uint32_t write_plan_partition(const struct write_plan *plan, uint32_t ledger)
{
    assert(plan->partition_ledgers > 0);
    uint32_t from = ledger - ledger % plan->partition_ledgers;
    return plan->cut > from && plan->cut <= ledger ? plan->cut : from;
}

uint32_t write_plan_end(const struct write_plan *plan, uint32_t ledger)
{
    uint32_t end = ledger - ledger % plan->partition_ledgers + plan->partition_ledgers;
    return plan->cut > ledger && plan->cut < end ? plan->cut : end;
}

bool write_plan_holds(const struct write_plan *plan, uint32_t ledger)
{
    return ledger < plan->held_before;
}

bool write_plan_fits(const struct write_plan *plan, uint32_t from)
{
    return from <= INT32_MAX - plan->partition_ledgers;
}

uint32_t write_plan_ahead(const struct write_plan *plan, uint32_t ledger)
{
    uint32_t next = write_plan_end(plan, ledger);
    return next - ledger > plan->partition_ledgers / 10 ? 0 : next;
}
