/* One TransactionEnvelope: reader and skipper accept the same bytes, all parts lie inside the
 * input, and keys of the footprint are ledger keys. */
#include "tests/fuzz/promise.h"

#include "tidemark/meta.h"
#include "tidemark/scval.h"
#include "tidemark/tx.h"

static void check_keys(tide_slice keys, uint32_t count)
{
    struct tide_xdr x = tide_xdr_of(keys);
    struct tide_change key;
    for (uint32_t i = 0; i < count; i++) {
        if (tide_ledger_key_data(&x, &key))
            PROMISE(inside(key.key, keys) && inside(key.contract, keys));
        PROMISE(x.status == TIDE_OK);
    }
    PROMISE(tide_xdr_end(&x) == TIDE_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t network[TIDE_HASH_BYTES] = { 1 };
    tide_slice in = tide_slice_of(data, size);
    struct tide_envelope e;
    struct tide_xdr x;
    uint8_t hash[TIDE_HASH_BYTES];
    tide_status status = tide_envelope_read(&e, in, &x);
    struct tide_xdr skip = tide_xdr_of(in);
    tide_envelope_skip(&skip);
    PROMISE(tide_xdr_end(&skip) == status && skip.fail_at == x.fail_at);
    if (status != TIDE_OK)
        return 0;
    PROMISE(inside(e.signed_part, in) && inside(e.inner_signed_part, in) && inside(e.source, in) &&
            inside(e.function, in) && inside(e.args, in) && inside(e.create_preimage, in) &&
            inside(e.op_source, in) && inside(e.fee_source, in) && inside(e.caller, in));
    PROMISE(inside(tide_slice_of(e.source_key, 32), in) &&
            inside(tide_slice_of(e.caller_key, 32), in) && e.op_count <= TIDE_OPS_PER_TX_MAX);
    tide_envelope_hash(hash, &e, network);
    PROMISE(tide_envelope_inner_hash(hash, &e, network) == (e.type == 5));
    struct tide_xdr args = tide_xdr_of(e.args);
    for (uint32_t i = 0; i < e.arg_count; i++)
        tide_scval_skip(&args);
    PROMISE(tide_xdr_end(&args) == TIDE_OK);
    check_keys(e.read_only, e.read_only_count);
    check_keys(e.read_write, e.read_write_count);
    return 0;
}
