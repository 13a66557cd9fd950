/* OperationResult: one shape per operation. */
#include "tidemark/meta.h"
#include "tidemark/xdr_skip.h"

static void skip_claim_atoms(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 60);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++) {
        uint32_t arm = skip_enum(x, 2, "ClaimAtom arm");
        if (arm == 0)
            tide_xdr_skip(x, 40);
        else if (arm == 1) {
            skip_public_key(x);
            tide_xdr_skip(x, 8);
        } else
            tide_xdr_skip(x, 32);
        skip_asset(x);
        tide_xdr_skip(x, 8);
        skip_asset(x);
        tide_xdr_skip(x, 8);
    }
}

static void skip_path_payment_success(struct tide_xdr *x)
{
    skip_claim_atoms(x);
    skip_public_key(x);
    skip_asset(x);
    tide_xdr_skip(x, 8);
}

static void skip_manage_offer_success(struct tide_xdr *x)
{
    skip_claim_atoms(x);
    if (skip_enum(x, 2, "ManageOfferEffect") < 2)
        skip_offer_entry(x);
}

static void skip_inflation_success(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 44);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++) {
        skip_public_key(x);
        tide_xdr_skip(x, 8);
    }
}

/* The body of a successful result. */
static void skip_success(struct tide_xdr *x, uint32_t type, struct tide_tx *tx)
{
    switch (type) {
    case 2:
    case 13:
        skip_path_payment_success(x);
        return;
    case 3:
    case 4:
    case 12:
        skip_manage_offer_success(x);
        return;
    case 8:
        tide_xdr_skip(x, 8);
        return;
    case 9:
        skip_inflation_success(x);
        return;
    case 14:
        skip_claimable_balance_id(x);
        return;
    case 24: {
        const uint8_t *hash = tide_xdr_opaque(x, 32).ptr;
        if (tx)
            tx->invoke_hash = hash;
        return;
    }
    default:
        return;
    }
}

static void skip_result_tr(struct tide_xdr *x, struct tide_tx *tx)
{
    /* The lowest result code of each operation, negated. */
    static const uint8_t lowest[27] = { 4, 9, 12, 12, 12, 10, 8, 6, 7, 1, 4, 1, 12, 12,
                                        5, 6, 3,  1,  5,  4,  3, 5, 8, 6, 5, 3, 3 };
    uint32_t type = skip_enum(x, 26, "OperationResultTr arm");
    if (x->status != TIDE_OK)
        return;
    assert(type < TIDE_COUNT(lowest));
    int32_t code = tide_xdr_i32(x);
    if (tx && type == 24)
        tx->op_result_code = code;
    if (code == 0)
        skip_success(x, type, tx);
    else if (code > 0 || -(int64_t)code > lowest[type])
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "operation result code", (uint32_t)code);
    else if (code == -9 && (type == 2 || type == 13))
        skip_asset(x); /* NO_ISSUER names the asset */
}

void skip_operation_result(struct tide_xdr *x, struct tide_tx *tx)
{
    int32_t code = tide_xdr_i32(x);
    if (code == 0)
        skip_result_tr(x, tx);
    else if (code > 0 || code < -6)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "OperationResultCode", (uint32_t)code);
}
