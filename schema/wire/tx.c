/* TransactionEnvelope: every operation checked, the invoked call and the footprint kept. */
#include "tidemark/tx.h"

#include "tidemark/xdr_skip.h"

void skip_muxed_account(struct tide_xdr *x)
{
    uint32_t arm = tide_xdr_u32(x);
    if (arm == 0)
        tide_xdr_skip(x, 32);
    else if (arm == 256)
        tide_xdr_skip(x, 40);
    else
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "MuxedAccount arm", arm);
}

bool tide_muxed_id(uint64_t *id, tide_slice account)
{
    assert(account.len == 32 || account.len == 36 || account.len == 44);
    bool muxed = account.len == 44;
    *id = muxed ? tide_be64(account.ptr + 4) : 0;
    return muxed;
}

/* Returns the ed25519 key of a MuxedAccount span. */
static const uint8_t *muxed_key(tide_slice account)
{
    return account.len == 36 ? account.ptr + 4 : account.len == 44 ? account.ptr + 12 : NULL;
}

static void skip_path(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, 5, 4);
    for (uint32_t i = 0; i < count; i++)
        skip_asset(x);
}

static void skip_path_payment(struct tide_xdr *x)
{
    skip_asset(x);
    tide_xdr_skip(x, 8);
    skip_muxed_account(x);
    skip_asset(x);
    tide_xdr_skip(x, 8);
    skip_path(x);
}

static void skip_optional_u32(struct tide_xdr *x)
{
    if (tide_xdr_bool(x))
        tide_xdr_skip(x, 4);
}

static void skip_set_options(struct tide_xdr *x)
{
    if (tide_xdr_bool(x))
        skip_public_key(x);
    for (int i = 0; i < 6; i++)
        skip_optional_u32(x);
    if (tide_xdr_bool(x))
        tide_xdr_var(x, 32);
    if (tide_xdr_bool(x)) {
        skip_signer_key(x);
        tide_xdr_skip(x, 4);
    }
}

static void skip_change_trust(struct tide_xdr *x)
{
    if (tide_xdr_left(x) >= 4 && tide_be32(x->cur) == 3) {
        tide_xdr_skip(x, 4);
        skip_ext0(x, "LiquidityPoolParameters arm");
        skip_asset(x);
        skip_asset(x);
        tide_xdr_skip(x, 4);
    } else {
        skip_asset(x);
    }
    tide_xdr_skip(x, 8);
}

static void skip_allow_trust(struct tide_xdr *x)
{
    skip_public_key(x);
    uint32_t arm = tide_xdr_u32(x);
    if (arm == 1 || arm == 2)
        tide_xdr_skip(x, arm == 1 ? 4 : 12);
    else
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "AssetCode arm", arm);
    tide_xdr_skip(x, 4);
}

static void skip_revoke_sponsorship(struct tide_xdr *x)
{
    if (skip_enum(x, 1, "RevokeSponsorshipOp arm") == 0) {
        skip_key(x);
    } else {
        skip_public_key(x);
        skip_signer_key(x);
    }
}

static void skip_contract_id_preimage(struct tide_xdr *x)
{
    if (skip_enum(x, 1, "ContractIDPreimage arm") == 0) {
        tide_scaddress_skip(x);
        tide_xdr_skip(x, 32);
    } else {
        skip_asset(x);
    }
}

static void skip_executable(struct tide_xdr *x)
{
    uint32_t arm = skip_enum(x, 2, "ContractExecutable arm");
    if (arm == 0)
        tide_xdr_skip(x, 32);
    else if (arm == 2) {
        tide_scaddress_skip(x);
        tide_xdr_var(x, UINT32_MAX);
    }
}

/* Reads the arguments of a call or of a constructor. out NULL: only steps over them. */
static void read_args(struct tide_xdr *x, struct tide_envelope *out)
{
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 4);
    const uint8_t *mark = x->cur;
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        tide_scval_skip(x);
    if (!out)
        return;
    out->arg_count = count;
    out->args = tide_xdr_span(x, mark);
}

/* Reads InvokeContractArgs. out NULL: only steps over them. */
static void read_invoke_contract(struct tide_xdr *x, struct tide_envelope *out)
{
    const uint8_t *mark = x->cur;
    tide_scaddress_skip(x);
    tide_slice address = tide_xdr_span(x, mark);
    tide_slice function = tide_xdr_var(x, 32);
    read_args(x, out);
    if (!out || x->status != TIDE_OK)
        return;
    assert(address.ptr && address.len >= 36);
    out->contract = tide_be32(address.ptr) == 1 ? address.ptr + 4 : NULL;
    out->function = function;
}

/* Reads CreateContractArgs, or since protocol 22 CreateContractArgsV2 with the constructor's
 * arguments. out NULL: only steps over them. */
static void read_create(struct tide_xdr *x, bool v2, struct tide_envelope *out)
{
    const uint8_t *mark = x->cur;
    skip_contract_id_preimage(x);
    if (out)
        out->create_preimage = tide_xdr_span(x, mark);
    skip_executable(x);
    if (v2)
        read_args(x, out);
}

static void skip_invocation(struct tide_xdr *x)
{
    if (!tide_xdr_enter(x))
        return;
    uint32_t arm = skip_enum(x, 2, "SorobanAuthorizedFunction arm");
    if (arm == 0)
        read_invoke_contract(x, NULL);
    else
        read_create(x, arm == 2, NULL);
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 16);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        skip_invocation(x);
    tide_xdr_leave(x);
}

static void skip_delegates(struct tide_xdr *x)
{
    if (!tide_xdr_enter(x))
        return;
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 12);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++) {
        tide_scaddress_skip(x);
        tide_scval_skip(x);
        skip_delegates(x);
    }
    tide_xdr_leave(x);
}

static void skip_auth_entry(struct tide_xdr *x)
{
    uint32_t arm = skip_enum(x, 3, "SorobanCredentials arm");
    if (arm != 0) {
        tide_scaddress_skip(x);
        tide_xdr_skip(x, 12); /* nonce, signatureExpirationLedger */
        tide_scval_skip(x);
    }
    if (arm == 3)
        skip_delegates(x);
    skip_invocation(x);
}

static void read_invoke_host_function(struct tide_xdr *x, struct tide_envelope *out)
{
    uint32_t arm = skip_enum(x, 3, "HostFunction arm");
    if (out) {
        out->has_invoke = true;
        out->host_function = arm;
    }
    if (arm == 0) {
        read_invoke_contract(x, out);
    } else if (arm == 2) {
        tide_xdr_var(x, UINT32_MAX);
    } else {
        read_create(x, arm == 3, out);
    }
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 20);
    const uint8_t *auth = x->cur;
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        skip_auth_entry(x);
    if (out) {
        out->auth_count = count;
        out->auth = tide_xdr_span(x, auth);
    }
}

static void skip_payment_like(struct tide_xdr *x, uint32_t type)
{
    switch (type) {
    case 0: /* create account */
        skip_public_key(x);
        tide_xdr_skip(x, 8);
        return;
    case 1: /* payment */
        skip_muxed_account(x);
        skip_asset(x);
        tide_xdr_skip(x, 8);
        return;
    case 2:
    case 13:
        skip_path_payment(x);
        return;
    case 3:
    case 12: /* manage offers */
        skip_asset(x);
        skip_asset(x);
        tide_xdr_skip(x, 24);
        return;
    case 4: /* passive offer */
        skip_asset(x);
        skip_asset(x);
        tide_xdr_skip(x, 16);
        return;
    case 14: /* create claimable balance */
        skip_asset(x);
        tide_xdr_skip(x, 8);
        skip_claimants(x);
        return;
    default: /* 19 clawback */
        skip_asset(x);
        skip_muxed_account(x);
        tide_xdr_skip(x, 8);
    }
}

static void skip_manage_data(struct tide_xdr *x)
{
    tide_xdr_var(x, 64);
    if (tide_xdr_bool(x))
        tide_xdr_var(x, 64);
}

static void skip_other_operation(struct tide_xdr *x, uint32_t type)
{
    switch (type) {
    case 5:
        skip_set_options(x);
        return;
    case 6:
        skip_change_trust(x);
        return;
    case 7:
        skip_allow_trust(x);
        return;
    case 8: /* account merge */
        skip_muxed_account(x);
        return;
    case 9:
    case 17: /* inflation, end sponsoring */
        return;
    case 10:
        skip_manage_data(x);
        return;
    case 11: /* bump sequence */
        tide_xdr_skip(x, 8);
        return;
    case 15:
    case 20: /* claim, claw back a claimable balance */
        skip_claimable_balance_id(x);
        return;
    case 16: /* begin sponsoring */
        skip_public_key(x);
        return;
    case 18:
        skip_revoke_sponsorship(x);
        return;
    case 21: /* set trust line flags */
        skip_public_key(x);
        skip_asset(x);
        tide_xdr_skip(x, 8);
        return;
    case 22: /* pool deposit, withdraw */
    case 23:
        tide_xdr_skip(x, type == 22 ? 64 : 56);
        return;
    case 25: /* extend, restore footprint */
        skip_ext0(x, "ExtendFootprintTTLOp ext");
        tide_xdr_skip(x, 4);
        return;
    case 26:
        skip_ext0(x, "RestoreFootprintOp ext");
        return;
    default:
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "OperationType", type);
    }
}

/* Returns the operation's type. */
static uint32_t read_operation(struct tide_xdr *x, struct tide_envelope *out)
{
    const uint8_t *mark = NULL;
    if (tide_xdr_bool(x)) {
        mark = x->cur;
        skip_muxed_account(x);
    }
    if (out && mark)
        out->op_source = tide_xdr_span(x, mark);
    uint32_t type = tide_xdr_u32(x);
    if (out)
        out->first_op = type;
    if (type == 24)
        read_invoke_host_function(x, out);
    else if (type <= 4 || type == 12 || type == 13 || type == 14 || type == 19)
        skip_payment_like(x, type);
    else
        skip_other_operation(x, type);
    return type;
}

static uint32_t read_operations(struct tide_xdr *x, struct tide_envelope *out)
{
    uint32_t count = tide_xdr_count(x, TIDE_OPS_PER_TX_MAX, 8);
    assert(count <= TIDE_OPS_PER_TX_MAX);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++) {
        uint32_t type = read_operation(x, i == 0 ? out : NULL);
        if (out)
            out->op_types[i] = (uint8_t)type;
    }
    return count;
}

static tide_slice read_keys(struct tide_xdr *x, uint32_t *count)
{
    *count = tide_xdr_count(x, UINT32_MAX, 8);
    const uint8_t *mark = x->cur;
    for (uint32_t i = 0; i < *count && x->status == TIDE_OK; i++)
        skip_key(x);
    return tide_xdr_span(x, mark);
}

static void read_soroban_data(struct tide_xdr *x, struct tide_envelope *out)
{
    const uint8_t *mark = x->cur;
    uint32_t ext = skip_enum(x, 1, "SorobanTransactionDataExt arm");
    if (ext == 1) {
        uint32_t archived = tide_xdr_count(x, UINT32_MAX, 4);
        tide_xdr_skip(x, (size_t)archived * 4);
    }
    uint32_t read_only;
    uint32_t read_write;
    tide_slice only = read_keys(x, &read_only);
    tide_slice write = read_keys(x, &read_write);
    uint32_t instructions = tide_xdr_u32(x);
    tide_xdr_skip(x, 8); /* diskReadBytes, writeBytes */
    int64_t fee = tide_xdr_i64(x);
    if (!out)
        return;
    out->soroban_ext = ext;
    out->instructions = instructions;
    out->resource_fee = fee;
    out->has_soroban = true;
    out->soroban = tide_xdr_span(x, mark);
    out->read_only_count = read_only;
    out->read_only = only;
    out->read_write_count = read_write;
    out->read_write = write;
}

static void skip_memo(struct tide_xdr *x)
{
    uint32_t arm = skip_enum(x, 4, "Memo arm");
    if (arm == 1)
        tide_xdr_var(x, 28);
    else if (arm == 2)
        tide_xdr_skip(x, 8);
    else if (arm >= 3)
        tide_xdr_skip(x, 32);
}

static void skip_more_preconditions(struct tide_xdr *x)
{
    if (tide_xdr_bool(x))
        tide_xdr_skip(x, 16);
    if (tide_xdr_bool(x))
        tide_xdr_skip(x, 8);
    if (tide_xdr_bool(x))
        tide_xdr_skip(x, 8);
    tide_xdr_skip(x, 12); /* minSeqAge, minSeqLedgerGap */
    uint32_t signers = tide_xdr_count(x, 2, 36);
    for (uint32_t i = 0; i < signers; i++)
        skip_signer_key(x);
}

static void read_preconditions(struct tide_xdr *x, struct tide_envelope *out)
{
    uint32_t arm = skip_enum(x, 2, "Preconditions arm");
    uint64_t min = arm == 1 ? tide_xdr_u64(x) : 0, max = arm == 1 ? tide_xdr_u64(x) : 0;
    if (arm == 2)
        skip_more_preconditions(x);
    if (!out)
        return;
    out->preconditions = arm;
    out->min_time = min;
    out->max_time = max;
}

static void skip_signatures(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, 20, 8);
    for (uint32_t i = 0; i < count; i++) {
        tide_xdr_skip(x, 4);
        tide_xdr_var(x, 64);
    }
}

static void fill_envelope(struct tide_envelope *out, tide_slice source, const uint8_t *key,
                          int64_t fee, int64_t seq_num, uint32_t ops)
{
    assert(ops <= TIDE_OPS_PER_TX_MAX);
    out->source = out->fee_source = source;
    out->source_key = out->fee_source_key = key;
    out->fee = fee;
    out->seq_num = seq_num;
    out->op_count = ops;
    out->caller = out->op_source.len ? out->op_source : source;
    out->caller_key = out->op_source.len ? muxed_key(out->op_source) : key;
}

/* Transaction (v1). Returns its span. */
static tide_slice read_transaction(struct tide_xdr *x, struct tide_envelope *out)
{
    const uint8_t *mark = x->cur;
    skip_muxed_account(x);
    tide_slice source = tide_xdr_span(x, mark);
    int64_t fee = tide_xdr_u32(x);
    int64_t seq_num = tide_xdr_i64(x);
    read_preconditions(x, out);
    skip_memo(x);
    uint32_t ops = read_operations(x, out);
    if (skip_enum(x, 1, "TransactionExt arm") == 1)
        read_soroban_data(x, out);
    if (out)
        fill_envelope(out, source, muxed_key(source), fee, seq_num, ops);
    return tide_xdr_span(x, mark);
}

static tide_slice read_transaction_v0(struct tide_xdr *x, struct tide_envelope *out)
{
    const uint8_t *mark = x->cur;
    tide_slice source = tide_xdr_opaque(x, 32);
    int64_t fee = tide_xdr_u32(x);
    int64_t seq_num = tide_xdr_i64(x);
    if (tide_xdr_bool(x))
        tide_xdr_skip(x, 16);
    skip_memo(x);
    uint32_t ops = read_operations(x, out);
    skip_ext0(x, "TransactionV0Ext arm");
    if (out)
        fill_envelope(out, source, source.ptr, fee, seq_num, ops);
    return tide_xdr_span(x, mark);
}

static tide_slice read_fee_bump(struct tide_xdr *x, struct tide_envelope *out)
{
    const uint8_t *mark = x->cur;
    skip_muxed_account(x);
    tide_slice source = tide_xdr_span(x, mark);
    int64_t fee = tide_xdr_i64(x);
    uint32_t arm = tide_xdr_u32(x);
    if (arm != 2)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "FeeBumpTransaction inner arm", arm);
    tide_slice inner = read_transaction(x, out);
    skip_signatures(x);
    skip_ext0(x, "FeeBumpTransactionExt arm");
    if (out) {
        out->inner_signed_part = inner;
        out->fee_source = source;
        out->fee_source_key = muxed_key(source);
        out->fee = fee;
    }
    return tide_xdr_span(x, mark);
}

static void read_envelope(struct tide_xdr *x, struct tide_envelope *out)
{
    uint32_t type = tide_xdr_u32(x);
    tide_slice part = { 0 };
    if (type == 2)
        part = read_transaction(x, out);
    else if (type == 0)
        part = read_transaction_v0(x, out);
    else if (type == 5)
        part = read_fee_bump(x, out);
    else
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "TransactionEnvelope arm", type);
    skip_signatures(x);
    if (out) {
        out->type = type;
        out->signed_part = part;
    }
}

void tide_envelope_skip(struct tide_xdr *x)
{
    read_envelope(x, NULL);
}

void tide_envelope_next(struct tide_xdr *x, struct tide_envelope *out)
{
    const uint8_t *mark = x->cur;
    *out = (struct tide_envelope){ 0 };
    read_envelope(x, out);
    out->span = tide_xdr_span(x, mark);
    assert(x->status != TIDE_OK || (out->source_key && out->fee_source_key && out->caller_key));
    assert(x->status != TIDE_OK || out->signed_part.len > 0);
}

tide_status tide_envelope_read(struct tide_envelope *out, tide_slice env, struct tide_xdr *x)
{
    *x = tide_xdr_of(env);
    tide_envelope_next(x, out);
    return tide_xdr_end(x);
}

/* Hashes a signature's payload. The type is the EnvelopeType TX or TX_FEE_BUMP. A v0 transaction is
 * hashed as v1, whose source begins with the key type 0. */
static void hash_signed(uint8_t out[TIDE_HASH_BYTES], const uint8_t network_id[TIDE_HASH_BYTES],
                        uint32_t type, tide_slice part)
{
    assert(part.len > 0);
    static const uint8_t tx[4] = { 0, 0, 0, 2 }, bump[4] = { 0, 0, 0, 5 }, v0[4] = { 0 };
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(network_id, TIDE_HASH_BYTES));
    tide_sha256_update(&h, tide_slice_of(type == 5 ? bump : tx, 4));
    if (type == 0)
        tide_sha256_update(&h, tide_slice_of(v0, 4));
    tide_sha256_update(&h, part);
    tide_sha256_final(&h, out);
}

void tide_envelope_hash(uint8_t out[TIDE_HASH_BYTES], const struct tide_envelope *envelope,
                        const uint8_t network_id[TIDE_HASH_BYTES])
{
    assert(envelope->type == 0 || envelope->type == 2 || envelope->type == 5);
    hash_signed(out, network_id, envelope->type, envelope->signed_part);
}

bool tide_envelope_inner_hash(uint8_t out[TIDE_HASH_BYTES], const struct tide_envelope *envelope,
                              const uint8_t network_id[TIDE_HASH_BYTES])
{
    if (envelope->type != 5)
        return false;
    hash_signed(out, network_id, 2, envelope->inner_signed_part);
    return true;
}

void tide_contract_id(uint8_t out[TIDE_HASH_BYTES], const uint8_t network_id[TIDE_HASH_BYTES],
                      tide_slice preimage_xdr)
{
    static const uint8_t type[4] = { 0, 0, 0, 8 };
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(type, 4));
    tide_sha256_update(&h, tide_slice_of(network_id, TIDE_HASH_BYTES));
    tide_sha256_update(&h, preimage_xdr);
    tide_sha256_final(&h, out);
}

void tide_data_key_hash(uint8_t out[TIDE_HASH_BYTES], tide_slice contract_xdr, tide_slice key_xdr,
                        uint32_t durability)
{
    static const uint8_t type[4] = { 0, 0, 0, 6 };
    const uint8_t last[4] = { 0, 0, 0, (uint8_t)durability };
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(type, 4));
    tide_sha256_update(&h, contract_xdr);
    tide_sha256_update(&h, key_xdr);
    tide_sha256_update(&h, tide_slice_of(last, 4));
    tide_sha256_final(&h, out);
}
