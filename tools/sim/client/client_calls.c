/* The calls of `tidemark-sim tx`, and the making of their arguments from options. */
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"
#include "tools/sim/client/client.h"
#include "tools/sim/ledger/lcm.h"

/* clang-format off */
/* A letter of `parts` is an argument: w the actor, s subject, g signer, o owner, p pool,
 * d direction, m amount, n other amount, k least amount, y synthetic asset, f oracle asset,
 * q price, j country, e expiry, x metadata, t title, b text, i proposal, v support, a reason.
 * Arguments without an option: l least other amount (0), r partner (0), c collateral (xlm), h call
 * data (empty). */
const struct client_call client_calls[] = {
    { "attest",              PARTY_COMPLIANCE, "attest",              "wsjex",  "--as sumsub --subject NAME [--country N] [--expires-in S] [--metadata TEXT]" },
    { "submit_attestation",  PARTY_COMPLIANCE, "submit_attestation",  "wgje",   "--user N --signer signer0 [--country N] [--expires-in S]" },
    { "revoke",              PARTY_COMPLIANCE, "revoke",              "ws",     "--as sumsub --subject NAME" },
    { "add_verifier",        PARTY_COMPLIANCE, "add_verifier",        "ws",     "--as daowallet --subject NAME" },
    { "remove_verifier",     PARTY_COMPLIANCE, "remove_verifier",     "ws",     "--as daowallet --subject NAME" },
    { "suspend",             PARTY_COMPLIANCE, "suspend_account",     "wsa",    "--as admin --subject NAME --text REASON" },
    { "sanction",            PARTY_COMPLIANCE, "sanction_account",    "wsa",    "--as admin --subject NAME --text REASON" },
    { "freeze",              PARTY_COMPLIANCE, "freeze_account",      "wsa",    "--as admin --subject NAME --text REASON" },
    { "unsuspend",           PARTY_COMPLIANCE, "unsuspend_account",   "ws",     "--as admin --subject NAME" },
    { "unfreeze",            PARTY_COMPLIANCE, "unfreeze_account",    "ws",     "--as admin --subject NAME" },
    { "block_jurisdiction",  PARTY_COMPLIANCE, "block_jurisdiction",  "wj",     "--as daowallet --country N" },
    { "unblock_jurisdiction", PARTY_COMPLIANCE, "unblock_jurisdiction", "wj",   "--as daowallet --country N" },
    { "swap_exact_in",       PARTY_POOL,       "swap_exact_in",       "wpdmkr", "--user N --pool POOL --amount X [--reverse] [--min X]" },
    { "swap",                PARTY_POOL,       "swap_exact_in",       "wpdmkr", "the same" },
    { "add_liquidity",       PARTY_POOL,       "add_liquidity",       "wpmnk",  "--user N --pool POOL --amount X --amount-b X [--min X]" },
    { "remove_liquidity",    PARTY_POOL,       "remove_liquidity",    "wpmkl",  "--user N --pool POOL --amount SHARES [--min X]" },
    { "claim_fees",          PARTY_POOL,       "claim_fees",          "wp",     "--user N --pool POOL" },
    { "open_vault",          PARTY_ENGINE,     "open_vault",          "wycm",   "--user N --synth sGOLD --amount X" },
    { "deposit_collateral",  PARTY_ENGINE,     "deposit_collateral",  "wym",    "--user N --synth sGOLD --amount X" },
    { "mint_synth",          PARTY_ENGINE,     "mint_synth",          "wym",    "--user N --synth sGOLD --amount X" },
    { "burn_synth",          PARTY_ENGINE,     "burn_synth",          "wym",    "--user N --synth sGOLD --amount X" },
    { "withdraw_collateral", PARTY_ENGINE,     "withdraw_collateral", "wym",    "--user N --synth sGOLD --amount X" },
    { "liquidate",           PARTY_ENGINE,     "liquidate",           "woym",   "--user N --owner NAME --synth sGOLD --amount X" },
    { "deposit",             PARTY_STABILITY,  "deposit",             "wm",     "--user N --amount X" },
    { "withdraw",            PARTY_STABILITY,  "withdraw",            "wm",     "--user N --amount X" },
    { "submit_price",        PARTY_ORACLE,     "submit_price",        "wfq",    "--as feed0 --asset GOLD --price X" },
    { "propose",             PARTY_DAO,        "propose",             "wtbh",   "--as gov0 [--title TEXT] [--text TEXT]" },
    { "vote",                PARTY_DAO,        "vote",                "wiv",    "--as gov0 --proposal N [--against]" },
    { "initialize_dao",      PARTY_DAO,        "initialize",          "ws",     "--as NAME --subject ENGINE  anyone, at any time: NAME becomes the DAO" },
    { "set_protocol_config", PARTY_DAO,        "set_protocol_config", "wsssss", "--as NAME --subject NAME  of the wallet and four contracts" },
    { "set_compliance",      PARTY_DAO,        "set_compliance",      "ws",     "--as NAME --subject NAME" },
    { "set_oracle",          PARTY_DAO,        "set_oracle",          "ws",     "--as NAME --subject NAME" },
    { 0 },
};
/* clang-format on */

enum { DECIMALS = 7 }; /* decimals of amounts and prices */

/* --- parties -------------------------------------------------------------------------- */

/* Appends the address of a contract by its name, or by its token's symbol. */
static bool find_contract(struct tide_buf *out, const struct parties *parties, const char *name)
{
    char token[40];
    snprintf(token, sizeof token, "token_%s", name);
    for (uint32_t i = 0; i < PARTY_CONTRACTS; i++) {
        const char *known = parties->contracts[i].name;
        if (strcmp(known, name) != 0 && strcmp(known, token) != 0)
            continue;
        lcm_put_address_contract(out, parties->contracts[i].id);
        return true;
    }
    return false;
}

/* Appends the SCAddress of an account's name, a contract's name, or an address as text. Every other
 * text names an account. */
static tide_status put_address_of(struct tide_buf *scaddress, const struct parties *parties,
                                  uint64_t seed, const char *name, struct tide_err *err)
{
    uint8_t address[44], secret[TIDE_SEED_BYTES];
    struct tide_sign *key;
    size_t len = tide_strkey_to_address(address, tide_slice_str(name));
    if (len) {
        tide_buf_put(scaddress, address, len);
        return TIDE_OK;
    }
    if (find_contract(scaddress, parties, name))
        return TIDE_OK;
    parties_seed(secret, seed, name);
    if (tide_sign_open(&key, secret) != TIDE_OK)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for a key");
    lcm_put_address_account(scaddress, tide_sign_public(key));
    tide_sign_close(key);
    return TIDE_OK;
}

/* --- values ------------------------------------------------------------------------------ */

/* Parses "12.5" into units of the seventh decimal. */
static tide_status parse_amount(int64_t *out, const char *name, const char *text,
                                struct tide_err *err)
{
    bool negative = text && *text == '-';
    const char *digits = text ? text + negative : "";
    size_t whole = strspn(digits, "0123456789");
    const char *rest = digits + whole + (digits[whole] == '.');
    size_t decimals = strspn(rest, "0123456789");
    char joined[32];
    uint64_t value;
    int len = snprintf(joined, sizeof joined, "%.*s%.*s%.*s", (int)whole, digits, (int)decimals,
                       rest, (int)(decimals > DECIMALS ? 0 : DECIMALS - decimals), "0000000");
    if (!whole || decimals > DECIMALS || rest[decimals] || len >= (int)sizeof joined ||
        tide_parse_u64(&value, tide_slice_of(joined, (size_t)len), INT64_MAX) != TIDE_OK)
        return tide_fail(err, TIDE_E_USAGE, "--%s: a number with at most 7 decimals is needed",
                         name);
    *out = negative ? -(int64_t)value : (int64_t)value;
    return TIDE_OK;
}

/* Appends an amount as i128. */
static tide_status put_amount(struct tide_buf *out, const char *name, const char *text,
                              struct tide_err *err)
{
    int64_t value = 0;
    tide_status status = parse_amount(&value, name, text, err);
    if (status == TIDE_OK)
        lcm_put_i128(out, value);
    return status;
}

/* Appends an address. */
static tide_status put_party(struct tide_buf *out, const struct client_options *o,
                             const struct parties *parties, const char *option, const char *name,
                             struct tide_err *err)
{
    if (!name)
        return tide_fail(err, TIDE_E_USAGE, "--%s is needed", option);
    tide_buf_be32(out, TIDE_SCV_ADDRESS);
    return put_address_of(out, parties, o->seed, name, err);
}

/* Appends a symbol. */
static tide_status put_symbol(struct tide_buf *out, const char *option, const char *text,
                              struct tide_err *err)
{
    if (!text || strlen(text) > 32)
        return tide_fail(err, TIDE_E_USAGE, "--%s: a name of at most 32 letters is needed", option);
    lcm_put_symbol(out, text);
    return TIDE_OK;
}

/* Appends a pool's name: sGOLD stands for SGOLDUSDC, XLM for XLMUSDC. */
static tide_status put_pool(struct tide_buf *out, const char *pool, struct tide_err *err)
{
    char name[33];
    size_t len = pool ? strlen(pool) : 0;
    if (len == 0 || len > 28)
        return tide_fail(err, TIDE_E_USAGE, "--pool: XLM, sGOLD, sBTC, sTSLA or a pool's own name");
    for (size_t i = 0; i <= len; i++)
        name[i] = (char)(pool[i] >= 'a' && pool[i] <= 'z' ? pool[i] - 'a' + 'A' : pool[i]);
    if (len < 4 || strcmp(name + len - 4, "USDC") != 0)
        memcpy(name + len, "USDC", 5);
    lcm_put_symbol(out, name);
    return TIDE_OK;
}

static void put_bytes(struct tide_buf *out, const char *text)
{
    tide_buf_be32(out, TIDE_SCV_BYTES);
    tide_xdr_put_var(out, tide_slice_str(text ? text : ""));
}

static void put_u32(struct tide_buf *out, uint64_t value)
{
    tide_buf_be32(out, TIDE_SCV_U32);
    tide_buf_be32(out, (uint32_t)value);
}

static void put_u64(struct tide_buf *out, uint64_t value)
{
    tide_buf_be32(out, TIDE_SCV_U64);
    tide_buf_be64(out, value);
}

static void put_bool(struct tide_buf *out, bool value)
{
    tide_buf_be32(out, TIDE_SCV_BOOL);
    tide_buf_be32(out, value);
}

/* --- arguments ------------------------------------------------------------------------------- */

/* Appends an argument that is a party, a pool or a symbol. */
static tide_status put_text_argument(struct tide_buf *out, char part,
                                     const struct client_options *o, const struct parties *parties,
                                     struct tide_err *err)
{
    switch (part) {
    case 'w':
        return put_party(out, o, parties, "as", o->as, err);
    case 's':
        return put_party(out, o, parties, "subject", o->subject, err);
    case 'g':
        return put_party(out, o, parties, "signer", o->signer, err);
    case 'o':
        return put_party(out, o, parties, "owner", o->owner, err);
    case 'c':
        return put_party(out, o, parties, "collateral", "xlm", err);
    case 'p':
        return put_pool(out, o->pool, err);
    case 'y':
        return put_symbol(out, "synth", o->synth, err);
    case 'a':
        return put_symbol(out, "text", o->text, err);
    default:
        return put_symbol(out, "asset", o->asset, err);
    }
}

/* Appends an argument that is an amount. */
static tide_status put_amount_argument(struct tide_buf *out, char part,
                                       const struct client_options *o, struct tide_err *err)
{
    switch (part) {
    case 'm':
        return put_amount(out, "amount", o->amount, err);
    case 'n':
        return put_amount(out, "amount-b", o->amount_b, err);
    case 'k':
        return put_amount(out, "min", o->min, err);
    case 'l':
        return put_amount(out, "min-b", "0", err);
    default:
        return put_amount(out, "price", o->price, err);
    }
}

/* Appends an argument that cannot be malformed. */
static void put_plain_argument(struct tide_buf *out, char part, const struct client_options *o)
{
    switch (part) {
    case 'd':
        put_bool(out, !o->reverse);
        return;
    case 'v':
        put_bool(out, !o->against);
        return;
    case 'r':
        put_u32(out, 0);
        return;
    case 'j':
        put_u32(out, o->country);
        return;
    case 'e':
        put_u64(out, o->expires_in);
        return;
    case 'i':
        put_u64(out, o->proposal);
        return;
    default:
        put_bytes(out, part == 'x'   ? o->metadata
                       : part == 't' ? o->title
                       : part == 'b' ? o->text
                                     : NULL);
    }
}

tide_status client_args(struct tide_buf *out, uint32_t *count, const struct client_call *call,
                        const struct client_options *o, const struct parties *parties,
                        struct tide_err *err)
{
    tide_status status = TIDE_OK;
    *count = 0;
    for (const char *part = call->parts; *part && status == TIDE_OK; part++) {
        if (strchr("wsgocpyfa", *part))
            status = put_text_argument(out, *part, o, parties, err);
        else if (strchr("mnklq", *part))
            status = put_amount_argument(out, *part, o, err);
        else
            put_plain_argument(out, *part, o);
        (*count)++;
    }
    return status;
}
