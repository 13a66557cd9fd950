/* Reads sequence and hashes from the start of a LedgerCloseMeta, without a walk. */
#include "indexer/source/ledger_peek.h"
#include "tidemark/stellar_value.h"

/* Skips a LedgerCloseMetaExt: nothing, or an extension point and a fee. */
static void skip_extension(struct tide_xdr *x)
{
    if (tide_xdr_bool(x))
        tide_xdr_skip(x, 4 + 8);
}

tide_status ledger_peek(struct ledger_peek *out, tide_slice lcm)
{
    struct tide_xdr x = tide_xdr_of(lcm);
    struct tide_stellar_value value;
    uint32_t version = tide_xdr_u32(&x);
    if (version > 2)
        return TIDE_E_UNKNOWN;
    if (version > 0)
        skip_extension(&x);
    out->hash = tide_xdr_opaque(&x, TIDE_HASH_BYTES).ptr;
    tide_xdr_skip(&x, 4); /* protocol */
    out->previous = tide_xdr_opaque(&x, TIDE_HASH_BYTES).ptr;
    tide_stellar_value_read(&x, &value);
    tide_xdr_skip(&x, (size_t)2 * TIDE_HASH_BYTES); /* results, buckets */
    out->sequence = tide_xdr_u32(&x);
    assert(x.status != TIDE_OK || (out->hash && out->previous));
    return x.status != TIDE_OK ? x.status : out->sequence == 0 ? TIDE_E_DECODE : TIDE_OK;
}

uint32_t ledger_peek_sequence(tide_slice lcm)
{
    struct ledger_peek peek;
    return ledger_peek(&peek, lcm) == TIDE_OK ? peek.sequence : 0;
}
