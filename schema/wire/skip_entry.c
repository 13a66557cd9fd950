/* LedgerEntry and LedgerKey, every type. */
#include "tidemark/meta.h"
#include "tidemark/xdr_skip.h"

void skip_trust_line_asset(struct tide_xdr *x)
{
    if (tide_xdr_left(x) >= 4 && tide_be32(x->cur) == 3)
        tide_xdr_skip(x, 36); /* pool share: the pool's id */
    else
        skip_asset(x);
}

void skip_signer_key(struct tide_xdr *x)
{
    uint32_t arm = skip_enum(x, 3, "SignerKey arm");
    tide_xdr_skip(x, 32);
    if (arm == 3)
        tide_xdr_var(x, 64);
}

void skip_claimable_balance_id(struct tide_xdr *x)
{
    skip_ext0(x, "ClaimableBalanceID arm");
    tide_xdr_skip(x, 32);
}

static void skip_predicates(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, 2, 4);
    for (uint32_t i = 0; i < count; i++)
        skip_claim_predicate(x);
}

void skip_claim_predicate(struct tide_xdr *x)
{
    if (!tide_xdr_enter(x))
        return;
    uint32_t arm = tide_xdr_u32(x);
    if (arm == 1 || arm == 2)
        skip_predicates(x);
    else if (arm == 3) {
        if (tide_xdr_bool(x))
            skip_claim_predicate(x);
    } else if (arm == 4 || arm == 5)
        tide_xdr_skip(x, 8);
    else if (arm != 0)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "ClaimPredicate arm", arm);
    tide_xdr_leave(x);
}

void skip_claimants(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, 10, 44);
    for (uint32_t i = 0; i < count; i++) {
        skip_ext0(x, "Claimant arm");
        skip_public_key(x);
        skip_claim_predicate(x);
    }
}

static void skip_sponsorships(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, 20, 4);
    for (uint32_t i = 0; i < count; i++)
        if (tide_xdr_bool(x))
            skip_public_key(x);
}

static void skip_account_ext(struct tide_xdr *x)
{
    uint32_t arm = tide_xdr_u32(x);
    if (arm == 0)
        return;
    if (arm != 1) {
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "AccountEntryExt arm", arm);
        return;
    }
    tide_xdr_skip(x, 16); /* liabilities */
    arm = tide_xdr_u32(x);
    if (arm == 0)
        return;
    if (arm != 2) {
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "AccountEntryExtensionV1Ext arm", arm);
        return;
    }
    tide_xdr_skip(x, 8); /* numSponsored, numSponsoring */
    skip_sponsorships(x);
    arm = tide_xdr_u32(x);
    if (arm == 3) {
        skip_ext0(x, "AccountEntryExtensionV3 ext");
        tide_xdr_skip(x, 12); /* seqLedger, seqTime */
    } else if (arm != 0) {
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "AccountEntryExtensionV2Ext arm", arm);
    }
}

/* Steps over an AccountEntry of the usual form (no inflation destination, no signers, no sponsors)
 * with a single bounds check. Returns false, with the cursor unmoved, for any other form and for
 * malformed data. */
TIDE_INLINE bool skip_plain_account(struct tide_xdr *x)
{
    enum { LONGEST = 68 + 32 + 12 + 20 + 16 + 16 };
    const uint8_t *p = x->cur;
    if (tide_xdr_left(x) < LONGEST)
        return false;
    uint32_t domain = tide_be32(p + 64);
    if ((tide_be32(p) | tide_be32(p + 56)) != 0 || domain > 32)
        return false;
    p += 68 + ((domain + 3) & ~3u);
    uint32_t padding = domain & 3 ? tide_be32(p - 4) << 8 * (domain & 3) : 0;
    uint32_t signers = tide_be32(p + 4);
    uint32_t ext = tide_be32(p + 8);
    p += 12;
    if (ext == 1) {
        ext = tide_be32(p + 16) ^ 2; /* becomes 0 if the v2 extension follows */
        p += 20;
        if (ext == 0) {
            signers |= tide_be32(p + 8); /* sponsors; must be 0, too */
            ext = tide_be32(p + 12);
            p += 16;
            if (ext == 3) {
                ext = tide_be32(p);
                p += 16;
            }
        } else {
            ext ^= 2;
        }
    }
    if ((padding | signers | ext) != 0)
        return false;
    assert(p <= x->end); /* LONGEST bytes are there */
    x->cur = p;
    return true;
}

static void skip_account_entry(struct tide_xdr *x)
{
    if (TIDE_LIKELY(skip_plain_account(x)))
        return;
    skip_public_key(x);
    tide_xdr_skip(x, 20); /* balance, seqNum, numSubEntries */
    if (tide_xdr_bool(x))
        skip_public_key(x);
    tide_xdr_skip(x, 4); /* flags */
    tide_xdr_var(x, 32); /* homeDomain */
    tide_xdr_skip(x, 4); /* thresholds */
    uint32_t signers = tide_xdr_count(x, 20, 40);
    for (uint32_t i = 0; i < signers; i++) {
        skip_signer_key(x);
        tide_xdr_skip(x, 4); /* weight */
    }
    skip_account_ext(x);
}

static void skip_trust_line_entry(struct tide_xdr *x)
{
    skip_public_key(x);
    skip_trust_line_asset(x);
    tide_xdr_skip(x, 20); /* balance, limit, flags */
    uint32_t arm = tide_xdr_u32(x);
    if (arm == 0)
        return;
    if (arm != 1) {
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "TrustLineEntryExt arm", arm);
        return;
    }
    tide_xdr_skip(x, 16); /* liabilities */
    arm = tide_xdr_u32(x);
    if (arm == 2) {
        tide_xdr_skip(x, 4); /* liquidityPoolUseCount */
        skip_ext0(x, "TrustLineEntryExtensionV2Ext arm");
    } else if (arm != 0) {
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "TrustLineEntryV1Ext arm", arm);
    }
}

void skip_offer_entry(struct tide_xdr *x)
{
    skip_public_key(x);
    tide_xdr_skip(x, 8); /* offerID */
    skip_asset(x);
    skip_asset(x);
    tide_xdr_skip(x, 20); /* amount, price, flags */
    skip_ext0(x, "OfferEntryExt arm");
}

static void skip_data_entry(struct tide_xdr *x)
{
    skip_public_key(x);
    tide_xdr_var(x, 64);
    tide_xdr_var(x, 64);
    skip_ext0(x, "DataEntryExt arm");
}

static void skip_claimable_balance_entry(struct tide_xdr *x)
{
    skip_claimable_balance_id(x);
    skip_claimants(x);
    skip_asset(x);
    tide_xdr_skip(x, 8); /* amount */
    if (skip_enum(x, 1, "ClaimableBalanceEntryExt arm") == 1) {
        skip_ext0(x, "ClaimableBalanceEntryExtensionV1Ext arm");
        tide_xdr_skip(x, 4); /* flags */
    }
}

static void skip_liquidity_pool_entry(struct tide_xdr *x)
{
    tide_xdr_skip(x, 32);
    skip_ext0(x, "LiquidityPoolEntry arm");
    skip_asset(x);
    skip_asset(x);
    tide_xdr_skip(x, 36); /* fee, reserves, shares, trust lines */
}

static void skip_contract_data(struct tide_xdr *x, struct tide_change *out)
{
    skip_ext0(x, "ContractDataEntry ext");
    const uint8_t *mark = x->cur;
    tide_scaddress_skip(x);
    out->contract = tide_xdr_span(x, mark);
    out->key = tide_scval_span(x);
    out->durability = skip_enum(x, 1, "ContractDataDurability");
    out->value = tide_scval_span(x);
}

static void skip_contract_code(struct tide_xdr *x, struct tide_change *out)
{
    if (skip_enum(x, 1, "ContractCodeEntryExt arm") == 1) {
        skip_ext0(x, "ContractCodeEntryV1 ext");
        skip_ext0(x, "ContractCodeCostInputs ext");
        tide_xdr_skip(x, 40);
    }
    out->key_hash = tide_xdr_opaque(x, 32).ptr;
    out->value = tide_xdr_var(x, UINT32_MAX);
}

static void skip_ttl_entry(struct tide_xdr *x, struct tide_change *out)
{
    out->key_hash = tide_xdr_opaque(x, 32).ptr;
    out->live_until = tide_xdr_u32(x);
}

static void skip_entry_data(struct tide_xdr *x, struct tide_change *out)
{
    switch (out->type) {
    case 0:
        skip_account_entry(x);
        return;
    case 1:
        skip_trust_line_entry(x);
        return;
    case 2:
        skip_offer_entry(x);
        return;
    case 3:
        skip_data_entry(x);
        return;
    case 4:
        skip_claimable_balance_entry(x);
        return;
    case 5:
        skip_liquidity_pool_entry(x);
        return;
    case 6:
        skip_contract_data(x, out);
        return;
    case 7:
        skip_contract_code(x, out);
        return;
    case 8:
        skip_config_setting_entry(x);
        return;
    case 9:
        skip_ttl_entry(x, out);
        return;
    default:
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "LedgerEntryType", out->type);
    }
}

void skip_ledger_entry(struct tide_xdr *x, struct tide_change *out)
{
    const uint8_t *mark = x->cur;
    out->last_modified = tide_xdr_u32(x);
    out->type = tide_xdr_u32(x);
    skip_entry_data(x, out);
    if (skip_enum(x, 1, "LedgerEntryExt arm") == 1) {
        if (tide_xdr_bool(x))
            skip_public_key(x);
        skip_ext0(x, "LedgerEntryExtensionV1Ext arm");
    }
    out->entry = tide_xdr_span(x, mark);
}

static void skip_data_key(struct tide_xdr *x, struct tide_change *out)
{
    const uint8_t *mark = x->cur;
    tide_scaddress_skip(x);
    out->contract = tide_xdr_span(x, mark);
    out->key = tide_scval_span(x);
    out->durability = skip_enum(x, 1, "ContractDataDurability");
}

void skip_ledger_key(struct tide_xdr *x, struct tide_change *out)
{
    const uint8_t *mark = x->cur;
    out->type = tide_xdr_u32(x);
    switch (out->type) {
    case 0:
        skip_public_key(x);
        break;
    case 1:
        skip_public_key(x);
        skip_trust_line_asset(x);
        break;
    case 2:
        skip_public_key(x);
        tide_xdr_skip(x, 8);
        break;
    case 3:
        skip_public_key(x);
        tide_xdr_var(x, 64);
        break;
    case 4:
        skip_claimable_balance_id(x);
        break;
    case 5:
        tide_xdr_skip(x, 32);
        break;
    case 6:
        skip_data_key(x, out);
        break;
    case 7:
    case 9:
        out->key_hash = tide_xdr_opaque(x, 32).ptr;
        break;
    case 8:
        skip_enum(x, 20, "ConfigSettingID");
        break;
    default:
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "LedgerKey arm", out->type);
    }
    out->entry = tide_xdr_span(x, mark);
}

void skip_key(struct tide_xdr *x)
{
    struct tide_change ignored;
    skip_ledger_key(x, &ignored);
}

bool tide_ledger_key_data(struct tide_xdr *x, struct tide_change *out)
{
    skip_ledger_key(x, out);
    return x->status == TIDE_OK && out->type == TIDE_ENTRY_CONTRACT_DATA;
}

static void skip_cost_params(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, 1024, 20);
    for (uint32_t i = 0; i < count; i++) {
        skip_ext0(x, "ContractCostParamEntry ext");
        tide_xdr_skip(x, 16);
    }
}

static void skip_opaques(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 4);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        tide_xdr_var(x, UINT32_MAX);
}

static void skip_fixed_array(struct tide_xdr *x, uint32_t element)
{
    uint32_t count = tide_xdr_count(x, UINT32_MAX, element);
    tide_xdr_skip(x, (size_t)count * element);
}

void skip_config_setting_entry(struct tide_xdr *x)
{
    /* Bytes of the arms with a fixed size; 0: the code below handles the arm. */
    static const uint8_t fixed[21] = { 4, 28, 84, 8, 12, 16, 0, 0, 4, 4, 48, 4, 0, 0, 4, 12, 20 };
    uint32_t arm = skip_enum(x, 20, "ConfigSettingID");
    if (arm > 20)
        return;
    if (fixed[arm]) {
        tide_xdr_skip(x, fixed[arm]);
        return;
    }
    if (arm == 6 || arm == 7)
        skip_cost_params(x);
    else if (arm == 12)
        skip_fixed_array(x, 8);
    else if (arm == 13) {
        tide_xdr_skip(x, 4);
        tide_xdr_bool(x);
        tide_xdr_skip(x, 8);
    } else if (arm == 17)
        skip_opaques(x);
    else if (arm == 18) {
        skip_opaques(x);
        skip_opaques(x);
    } else if (arm == 19)
        skip_fixed_array(x, 32);
    else {
        skip_fixed_array(x, 32);
        skip_fixed_array(x, 32);
    }
}
