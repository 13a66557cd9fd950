/* SCPHistoryEntry: always empty in practice, parsed all the same. */
#include "tidemark/xdr_skip.h"

static void skip_ballot(struct tide_xdr *x)
{
    tide_xdr_skip(x, 4);
    tide_xdr_var(x, UINT32_MAX);
}

static void skip_values(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 4);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        tide_xdr_var(x, UINT32_MAX);
}

static void skip_prepare(struct tide_xdr *x)
{
    tide_xdr_skip(x, 32);
    skip_ballot(x);
    if (tide_xdr_bool(x))
        skip_ballot(x);
    if (tide_xdr_bool(x))
        skip_ballot(x);
    tide_xdr_skip(x, 8);
}

static void skip_statement(struct tide_xdr *x)
{
    skip_public_key(x);
    tide_xdr_skip(x, 8);
    switch (skip_enum(x, 3, "SCPStatementPledges arm")) {
    case 0:
        skip_prepare(x);
        return;
    case 1:
        skip_ballot(x);
        tide_xdr_skip(x, 44);
        return;
    case 2:
        skip_ballot(x);
        tide_xdr_skip(x, 36);
        return;
    default:
        tide_xdr_skip(x, 32);
        skip_values(x);
        skip_values(x);
    }
}

static void skip_quorum_set(struct tide_xdr *x)
{
    if (!tide_xdr_enter(x))
        return;
    tide_xdr_skip(x, 4);
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 36);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        skip_public_key(x);
    count = tide_xdr_count(x, UINT32_MAX, 12);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        skip_quorum_set(x);
    tide_xdr_leave(x);
}

void skip_scp_history_entry(struct tide_xdr *x)
{
    skip_ext0(x, "SCPHistoryEntry arm");
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 12);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        skip_quorum_set(x);
    tide_xdr_skip(x, 4);
    count = tide_xdr_count(x, UINT32_MAX, 52);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++) {
        skip_statement(x);
        tide_xdr_var(x, 64);
    }
}
