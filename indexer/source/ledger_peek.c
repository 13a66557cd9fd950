/* Reads sequence and hashes from the start of a LedgerCloseMeta, without a walk. */
#include "indexer/source/ledger_peek.h"
#include "tidemark/xdr.h"

/* Skips a LedgerCloseMetaExt: nothing, or an extension point and a fee. */
static void skip_extension(struct tide_xdr *x)
{
    if (tide_xdr_bool(x))
        tide_xdr_skip(x, 4 + 8);
}

/* Skips a StellarValue: set hash, close time, upgrades, and for some arms a signature. */
static void skip_value(struct tide_xdr *x)
{
    tide_xdr_skip(x, TIDE_HASH_BYTES + 8);
    uint32_t upgrades = tide_xdr_count(x, 6, 4);
    while (upgrades--)
        tide_xdr_var(x, 128);
    uint32_t arm = tide_xdr_u32(x);
    if (arm > 2)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "StellarValue arm", arm);
    if (arm == 0)
        return;
    if (arm == 2)
        tide_xdr_skip(x, 2 * TIDE_HASH_BYTES + 4);
    tide_xdr_skip(x, 4 + TIDE_HASH_BYTES); /* node id */
    tide_xdr_var(x, 64);
}

tide_status ledger_peek(struct ledger_peek *out, tide_slice lcm)
{
    struct tide_xdr x = tide_xdr_of(lcm);
    uint32_t version = tide_xdr_u32(&x);
    if (version > 2)
        return TIDE_E_UNKNOWN;
    if (version > 0)
        skip_extension(&x);
    out->hash = tide_xdr_opaque(&x, TIDE_HASH_BYTES).ptr;
    tide_xdr_skip(&x, 4); /* protocol */
    out->previous = tide_xdr_opaque(&x, TIDE_HASH_BYTES).ptr;
    skip_value(&x);
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
