/* Steps over the types of a ledger and checks every byte. For schema/wire, and for the simulator's
 * node, which checks transactions of clients.
 *
 * Each function moves the cursor behind one value of the type that it names, or makes it fail. The
 * names are those of the XDR definitions. */
#ifndef TIDEMARK_XDR_SKIP_H
#define TIDEMARK_XDR_SKIP_H

#include "tidemark/scval.h"
#include "tidemark/xdr.h"

struct tide_change; /* tidemark/meta.h */
struct tide_tx;

/* Steps over a union whose only known arm is 0 without a body: ExtensionPoint and the like. */
TIDE_INLINE void skip_ext0(struct tide_xdr *x, const char *what)
{
    uint32_t arm = tide_xdr_u32(x);
    if (TIDE_UNLIKELY(arm != 0))
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, what, arm);
}

/* Steps over a PublicKey, AccountID or NodeID: 36 bytes, key type 0. */
TIDE_INLINE void skip_public_key(struct tide_xdr *x)
{
    if (!tide_xdr_need(x, 36))
        return;
    uint32_t arm = tide_be32(x->cur);
    if (TIDE_UNLIKELY(arm != 0)) {
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "PublicKey arm", arm);
        return;
    }
    x->cur += 36;
}

/* Steps over an Asset: native, or a code of 4 or 12 bytes and the issuer. */
TIDE_INLINE void skip_asset(struct tide_xdr *x)
{
    uint32_t arm = tide_xdr_u32(x);
    if (arm == 0)
        return;
    if (TIDE_UNLIKELY(arm > 2)) {
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "Asset arm", arm);
        return;
    }
    size_t code = arm == 1 ? 4 : 12;
    if (!tide_xdr_need(x, code + 36))
        return;
    x->cur += code;
    skip_public_key(x);
}

/* Reads an enum value that must be at most max. */
TIDE_INLINE uint32_t skip_enum(struct tide_xdr *x, uint32_t max, const char *what)
{
    uint32_t v = tide_xdr_u32(x);
    if (TIDE_UNLIKELY(v > max))
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, what, v);
    return v;
}

void skip_muxed_account(struct tide_xdr *x);
void skip_signer_key(struct tide_xdr *x);
void skip_claim_predicate(struct tide_xdr *x);
void skip_claimants(struct tide_xdr *x);
void skip_claimable_balance_id(struct tide_xdr *x);
void skip_trust_line_asset(struct tide_xdr *x);
void skip_offer_entry(struct tide_xdr *x);
void skip_ledger_entry(struct tide_xdr *x, struct tide_change *out);
/* Fills out's type, and its contract-data, code or TTL fields. */
void skip_ledger_key(struct tide_xdr *x, struct tide_change *out);
/* The same, for callers that need no field of the LedgerKey. */
void skip_key(struct tide_xdr *x);
void skip_config_setting_entry(struct tide_xdr *x);

void skip_operation_result(struct tide_xdr *x, struct tide_tx *tx);

void skip_scp_history_entry(struct tide_xdr *x);

#endif
