/* Return value and error of a transaction, from its meta. */
#include "tidemark/meta.h"
#include "tidemark/text.h"
#include "tidemark/xdr_skip.h"
#include "tools/sim/client/client.h"

/* Skips LedgerEntryChanges. */
static void skip_changes(struct tide_xdr *x)
{
    struct tide_change change;
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 8);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++) {
        if (tide_xdr_u32(x) == TIDE_CHANGE_REMOVED)
            skip_ledger_key(x, &change);
        else
            skip_ledger_entry(x, &change);
    }
}

/* Skips ContractEvents. */
static void skip_events(struct tide_xdr *x)
{
    struct tide_event event;
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 12);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        tide_event_read(x, &event);
}

/* Skips the extension with the fee breakdown. */
static void skip_fees(struct tide_xdr *x)
{
    if (tide_xdr_u32(x) == 1)
        tide_xdr_skip(x, 28); /* extension, three amounts */
}

/* The fields in front have no fixed length, so they are skipped one by one. */
tide_slice client_return_value(tide_slice meta)
{
    struct tide_xdr x = tide_xdr_of(meta);
    uint32_t version = tide_xdr_u32(&x);
    tide_xdr_skip(&x, 4);
    skip_changes(&x);
    uint32_t ops = tide_xdr_count(&x, UINT32_MAX, 4);
    for (uint32_t i = 0; i < ops && x.status == TIDE_OK; i++) {
        tide_xdr_skip(&x, version == 4 ? 4 : 0);
        skip_changes(&x);
        if (version == 4)
            skip_events(&x);
    }
    skip_changes(&x);
    if (version < 3 || version > 4 || !tide_xdr_bool(&x))
        return (tide_slice){ 0 };
    skip_fees(&x);
    if (version == 3)
        skip_events(&x);
    else if (!tide_xdr_bool(&x))
        return (tide_slice){ 0 };
    return tide_scval_span(&x);
}

bool client_error(char *out, size_t size, tide_slice diagnostic)
{
    struct tide_xdr x = tide_xdr_of(diagnostic);
    struct tide_event event = { 0 };
    tide_xdr_skip(&x, 4); /* the flag in front of the ContractEvent */
    tide_event_read(&x, &event);
    if (x.status != TIDE_OK || event.topic_count < 1)
        return false;
    struct tide_xdr topics = tide_xdr_of(event.topics), data = tide_xdr_of(event.data);
    if (tide_xdr_u32(&topics) != TIDE_SCV_SYMBOL ||
        !tide_slice_eq_str(tide_xdr_var(&topics, 32), "error") ||
        tide_xdr_u32(&data) != TIDE_SCV_STRING)
        return false;
    tide_slice text = tide_xdr_var(&data, UINT32_MAX);
    snprintf(out, size, "%.*s", TIDE_SLICE_FMT(text));
    return true;
}
