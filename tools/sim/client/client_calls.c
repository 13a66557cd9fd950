/* The calls of `tidemark-sim tx`, and the making of their arguments from options. */
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"
#include "tools/sim/client/client.h"
#include "tools/sim/ledger/lcm.h"

/* clang-format off */
/* Kinds of arguments: address, pool, symbol, amount, bytes; from numbers and flags: u32, u64, bool. */
enum kind { PARTY, POOL, SYMBOL, AMOUNT, BYTES, U32, U64, NOT };

#define AT(field) offsetof(struct client_options, field)
enum { NONE = -1 }; /* no option sets it: `fixed` does */
/* A letter of `parts` is an argument, whose value comes from an option. */
static const struct part {
    char letter;
    enum kind kind;
    const char *option; /* option that a refusal names */
    int at;             /* offset of the option's field */
    const char *fixed;
} all_parts[] = {
    { 'w', PARTY,  "as",         AT(as),         NULL  },
    { 's', PARTY,  "subject",    AT(subject),    NULL  },
    { 'g', PARTY,  "signer",     AT(signer),     NULL  },
    { 'o', PARTY,  "owner",      AT(owner),      NULL  },
    { 'c', PARTY,  "collateral", NONE,           "xlm" },
    { 'p', POOL,   "pool",       AT(pool),       NULL  },
    { 'y', SYMBOL, "synth",      AT(synth),      NULL  },
    { 'a', SYMBOL, "text",       AT(text),       NULL  },
    { 'f', SYMBOL, "asset",      AT(asset),      NULL  },
    { 'm', AMOUNT, "amount",     AT(amount),     NULL  },
    { 'n', AMOUNT, "amount-b",   AT(amount_b),   NULL  },
    { 'k', AMOUNT, "min",        AT(min),        NULL  },
    { 'l', AMOUNT, "min-b",      NONE,           "0"   },
    { 'q', AMOUNT, "price",      AT(price),      NULL  },
    { 'x', BYTES,  "metadata",   AT(metadata),   NULL  },
    { 't', BYTES,  "title",      AT(title),      NULL  },
    { 'b', BYTES,  "text",       AT(text),       NULL  },
    { 'h', BYTES,  "call data",  NONE,           ""    },
    { 'r', U32,    "partner",    NONE,           NULL  },
    { 'j', U32,    "country",    AT(country),    NULL  },
    { 'e', U64,    "expires-in", AT(expires_in), NULL  },
    { 'i', U64,    "proposal",   AT(proposal),   NULL  },
    { 'd', NOT,    "reverse",    AT(reverse),    NULL  },
    { 'v', NOT,    "against",    AT(against),    NULL  },
};

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

/* --- arguments ------------------------------------------------------------------------------- */

/* Appends an argument that cannot be malformed: a number, 0 without an option, or a flag. */
static void put_number(struct tide_buf *out, enum kind kind, const char *field)
{
    static const uint64_t zero;
    uint64_t value = *(const uint64_t *)(const void *)(field ? field : (const char *)&zero);
    if (kind == U64) {
        tide_buf_be32(out, TIDE_SCV_U64);
        tide_buf_be64(out, value);
    } else {
        lcm_words(out, TIDE_SCV_U32, (uint32_t)value);
    }
}

/* Appends one argument. */
static tide_status put_part(struct tide_buf *out, const struct part *part,
                            const struct client_options *o, const struct parties *parties,
                            struct tide_err *err)
{
    const char *field = part->at == NONE ? NULL : (const char *)o + part->at;
    const char *text = part->fixed;
    if (field && part->kind < U32)
        text = *(const char *const *)(const void *)field;
    switch (part->kind) {
    case PARTY:
        return put_party(out, o, parties, part->option, text, err);
    case POOL:
        return put_pool(out, text, err);
    case SYMBOL:
        return put_symbol(out, part->option, text, err);
    case AMOUNT:
        return put_amount(out, part->option, text, err);
    case BYTES:
        tide_buf_be32(out, TIDE_SCV_BYTES);
        tide_xdr_put_var(out, tide_slice_str(text ? text : ""));
        return TIDE_OK;
    case U32:
    case U64:
        put_number(out, part->kind, field);
        return TIDE_OK;
    case NOT:
        lcm_words(out, TIDE_SCV_BOOL, !*(const bool *)field);
        return TIDE_OK;
    }
    return TIDE_OK;
}

tide_status client_args(struct tide_buf *out, uint32_t *count, const struct client_call *call,
                        const struct client_options *o, const struct parties *parties,
                        struct tide_err *err)
{
    tide_status status = TIDE_OK;
    *count = 0;
    for (const char *letter = call->parts; *letter && status == TIDE_OK; letter++) {
        const struct part *part = all_parts;
        while (part->letter != *letter)
            part++;
        status = put_part(out, part, o, parties, err);
        (*count)++;
    }
    return status;
}
