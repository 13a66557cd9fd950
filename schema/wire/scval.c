#include "tidemark/scval.h"

void tide_scaddress_skip(struct tide_xdr *x)
{
    uint32_t arm = tide_xdr_u32(x);
    switch (arm) {
    case 0: /* account: PublicKey */
    case 3: /* claimable balance */
        if (tide_xdr_u32(x) != 0)
            tide_xdr_refuse(x, TIDE_E_UNKNOWN,
                            arm == 0 ? "PublicKey arm" : "ClaimableBalanceID arm", 0);
        tide_xdr_skip(x, 32);
        return;
    case 1: /* contract */
    case 4: /* liquidity pool */
        tide_xdr_skip(x, 32);
        return;
    case 2: /* muxed account */
    case 5: /* muxed contract */
        tide_xdr_skip(x, 40);
        return;
    default:
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "SCAddress arm", arm);
    }
}

struct tide_scaddress_base tide_scaddress_base(tide_slice address)
{
    static const struct {
        uint8_t len, key_at;
        bool contract;
    } arms[] = { { 40, 8, false }, { 36, 4, true }, { 44, 12, false }, { 0 }, { 0 },
                 { 44, 12, true } };
    uint32_t arm = address.len >= 4 ? tide_be32(address.ptr) : UINT32_MAX;
    if (arm >= TIDE_COUNT(arms) || arms[arm].len == 0 || arms[arm].len != address.len)
        return (struct tide_scaddress_base){ 0 };
    return (struct tide_scaddress_base){ address.ptr + arms[arm].key_at, arms[arm].contract };
}

void tide_scerror_skip(struct tide_xdr *x)
{
    uint32_t type = tide_xdr_u32(x);
    uint32_t code = tide_xdr_u32(x);
    if (type > 9)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "SCError type", type);
    else if (type > 0 && code > 9)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "SCErrorCode", code);
}

static void skip_map_entries(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 8);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++) {
        tide_scval_skip(x);
        tide_scval_skip(x);
    }
}

static void skip_vec(struct tide_xdr *x)
{
    if (!tide_xdr_bool(x))
        return;
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 4);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        tide_scval_skip(x);
}

static void skip_instance(struct tide_xdr *x)
{
    uint32_t executable = tide_xdr_u32(x);
    if (executable == 0)
        tide_xdr_skip(x, 32);
    else if (executable == 2) {
        tide_scaddress_skip(x);
        tide_xdr_var(x, UINT32_MAX);
    } else if (executable != 1)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "ContractExecutable arm", executable);
    if (tide_xdr_bool(x))
        skip_map_entries(x);
}

static void skip_nested(struct tide_xdr *x, uint32_t arm)
{
    assert(arm == TIDE_SCV_VEC || arm == TIDE_SCV_MAP || arm == TIDE_SCV_CONTRACT_INSTANCE);
    if (!tide_xdr_enter(x))
        return;
    if (arm == TIDE_SCV_VEC)
        skip_vec(x);
    else if (arm == TIDE_SCV_MAP) {
        if (tide_xdr_bool(x))
            skip_map_entries(x);
    } else
        skip_instance(x);
    tide_xdr_leave(x);
}

void tide_scval_skip(struct tide_xdr *x)
{
    /* Bytes of the arms with a fixed size and nothing to check, the arm included. */
    static const uint8_t fixed[] = { 0,  4, 0, 8, 8, 12, 12, 12, 12, 20, 20, 36,
                                     36, 0, 0, 0, 0, 0,  0,  0,  4,  12, 0 };
    static_assert(TIDE_COUNT(fixed) == TIDE_SCV_EXECUTABLE_TAG + 1, "each arm has its size");
    size_t left = tide_xdr_left(x);
    uint32_t peek = left >= 4 ? tide_be32(x->cur) : 0;
    if (peek < TIDE_COUNT(fixed) && fixed[peek] && fixed[peek] <= left) {
        x->cur += fixed[peek];
        return;
    }
    uint32_t arm = tide_xdr_u32(x);
    switch (arm) {
    case TIDE_SCV_BOOL:
        tide_xdr_bool(x);
        return;
    case TIDE_SCV_VOID:
    case TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE:
        return;
    case TIDE_SCV_ERROR:
        tide_scerror_skip(x);
        return;
    case TIDE_SCV_U32:
    case TIDE_SCV_I32:
        tide_xdr_skip(x, 4);
        return;
    case TIDE_SCV_U64:
    case TIDE_SCV_I64:
    case TIDE_SCV_TIMEPOINT:
    case TIDE_SCV_DURATION:
    case TIDE_SCV_LEDGER_KEY_NONCE:
        tide_xdr_skip(x, 8);
        return;
    case TIDE_SCV_U128:
    case TIDE_SCV_I128:
        tide_xdr_skip(x, 16);
        return;
    case TIDE_SCV_U256:
    case TIDE_SCV_I256:
        tide_xdr_skip(x, 32);
        return;
    case TIDE_SCV_BYTES:
    case TIDE_SCV_STRING:
    case TIDE_SCV_EXECUTABLE_TAG:
        tide_xdr_var(x, UINT32_MAX);
        return;
    case TIDE_SCV_SYMBOL:
        tide_xdr_var(x, 32);
        return;
    case TIDE_SCV_VEC:
    case TIDE_SCV_MAP:
    case TIDE_SCV_CONTRACT_INSTANCE:
        skip_nested(x, arm);
        return;
    case TIDE_SCV_ADDRESS:
        tide_scaddress_skip(x);
        return;
    default:
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "SCVal arm", arm);
    }
}
