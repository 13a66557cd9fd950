/* GET /api/sdk/contracts: the configured addresses, compared with those that the DAO's storage
 * names. */
#include "api/routes/handlers.h"

#include "tidemark/catalogue.h"
#include "tidemark/strkey.h"

/* The roles in the answer, with their names there. */
#define CONTRACTS(X)                               \
    X(liquidity_pool, "liquidityPool")             \
    X(synthetic_engine, "syntheticEngine")         \
    X(stability_pool, "stabilityPool")             \
    X(compliance_registry, "complianceRegistry")   \
    X(partner_registry, "partnerRegistry")         \
    X(earnings_distributor, "earningsDistributor") \
    X(oracle, "oracle")                            \
    X(dao_governance, "daoGovernance")

static const struct {
    enum tide_role role;
    const char *name;
} roles[] = {
#define ROLE(role, name) { TIDE_ROLE_##role, name },
    CONTRACTS(ROLE)
#undef ROLE
};

/* Returns the common name of a network's passphrase, or "private". */
static const char *network_name(const char *passphrase)
{
    static const struct {
        const char *passphrase, *name;
    } known[] = { { "Public Global Stellar Network ; September 2015", "public" },
                  { "Test SDF Network ; September 2015", "testnet" },
                  { "Test SDF Future Network ; October 2022", "futurenet" },
                  { "Standalone Network ; February 2017", "standalone" } };
    for (size_t i = 0; i < TIDE_COUNT(known); i++)
        if (strcmp(passphrase, known[i].passphrase) == 0)
            return known[i].name;
    return "private";
}

static void put_entrypoints(struct tide_json *j, enum tide_role role)
{
    tide_json_name(j, "entrypoints");
    tide_json_open(j, '[');
    for (const char *const *name = tide_functions(role); *name; name++)
        tide_json_plain(j, tide_slice_str(*name));
    tide_json_close(j, ']');
}

/* Writes the address that the DAO's storage names, and whether it agrees with the configured
 * one. */
static void put_check(struct tide_json *j, const struct tide_hot_address *ours,
                      const struct tide_hot_address *named)
{
    tide_record_json_address(j, "namedByDao", named);
    if (named->kind)
        tide_json_bool(j, "agrees", tide_hot_address_eq(ours, named));
    else
        tide_json_null(j, "agrees");
}

/* Writes the contracts of the deployment, each with its entry points. Contracts that the
 * deployment lacks are left out. */
static void put_roles(struct tide_json *j, struct tide_reader *reader)
{
    for (size_t i = 0; i < TIDE_COUNT(roles); i++) {
        assert(roles[i].role < TIDE_COUNT(reader->meta->dao_named));
        struct tide_hot_address address = { 0 };
        const struct tide_hot_contract *c =
            tide_lookup_contract(reader, roles[i].role, NULL, &address);
        if (!c)
            continue;
        tide_json_name(j, roles[i].name);
        tide_json_open(j, '{');
        tide_record_json_address(j, "address", &address);
        put_entrypoints(j, roles[i].role);
        put_check(j, &address, &reader->meta->dao_named[roles[i].role]);
        tide_json_bool(j, "complete", c->complete);
        tide_json_close(j, '}');
    }
}

/* Writes the quote asset: people know it by its issuer, and a swap takes its contract. */
static void put_usdc(struct tide_json *j, struct tide_reader *reader)
{
    struct tide_hot_address contract = { 0 };
    const struct tide_hot_contract *usdc =
        tide_lookup_contract(reader, TIDE_ROLE_stellar_asset, "usdc", &contract);
    if (!usdc)
        return;
    tide_json_name(j, "usdc");
    tide_json_open(j, '{');
    tide_record_json_address(j, "address", &usdc->issuer);
    tide_record_json_address(j, "contract", &contract);
    if (usdc->has_instance) {
        tide_record_json_title(j, "code", &usdc->symbol);
    } else {
        tide_json_null(j, "code");
    }
    tide_answer_decimals(j, reader, &contract);
    put_entrypoints(j, TIDE_ROLE_stellar_asset);
    tide_json_close(j, '}');
}

void tide_route_contracts(struct tide_handler_context *context, const struct tide_request *request,
                          struct tide_reply *reply)
{
    struct tide_reader reader;
    if (!tide_reader_open(&reader, context, request, reply))
        return;
    struct tide_json j = tide_reader_answer(&reader, reply);
    tide_json_word(&j, "network", network_name(reader.meta->passphrase));
    tide_json_text(&j, "passphrase", tide_slice_str(reader.meta->passphrase));
    tide_json_name(&j, "contracts");
    tide_json_open(&j, '{');
    put_roles(&j, &reader);
    put_usdc(&j, &reader);
    tide_json_close(&j, '}');
    tide_record_json_address(&j, "multisigWallet", &reader.meta->dao_wallet);
    tide_record_json_address(&j, "multisigWalletNamedByDao", &reader.meta->multisig_wallet);
    tide_answer_agrees(&j, &reader);
    tide_json_close(&j, '}');
    tide_reader_close(&reader, reply);
}
