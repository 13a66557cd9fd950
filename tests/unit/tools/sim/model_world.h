/* A small world for tests of the protocol model: every contract deployed and initialised as the
 * rules say, five governors, three feeds, six users with attestations and money. */
#ifndef MODEL_WORLD_H
#define MODEL_WORLD_H

#include "tools/sim/host/host.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define UNITS(n) ((sim_amount)(n)*10000000)
#define START    1000000000u /* close time of the first ledger */

enum { POOL = 1, ENGINE, STABILITY, REGISTRY, PARTNERS, EARNINGS, ORACLE, DAO, SGOLD, USDC, XLM };
enum { ISSUER = 100, ADMIN, DAOWALLET, VERIFIER, TREASURY, DEVFUND, FEED0 = 110, USER0 = 120 };
#define USERS 6u

struct world {
    struct sim_host h;
};

static inline struct sim_addr contract(uint8_t id)
{
    struct sim_addr out = { .kind = SIM_CONTRACT };
    memset(out.key, id, TIDE_HASH_BYTES);
    return out;
}

static inline struct sim_addr account(uint8_t id)
{
    struct sim_addr out = { .kind = SIM_ACCOUNT };
    memset(out.key, id, TIDE_HASH_BYTES);
    return out;
}

static inline sim_val C(uint8_t id)
{
    return sim_address(contract(id));
}

static inline sim_val A(uint8_t id)
{
    return sim_address(account(id));
}

static inline sim_val U(uint32_t user)
{
    return A((uint8_t)(USER0 + user));
}

static inline const struct sim_outcome *expect_pass(struct world *w, uint8_t to, const char *fn,
                                                    const sim_val *args, uint32_t count)
{
    const struct sim_outcome *out =
        sim_invoke(&w->h, account(ADMIN), contract(to), fn, args, count);
    if (!out->ok)
        fail_msg("%s refused: %s", fn, out->reason);
    return out;
}

static inline void expect_refusal(struct world *w, const char *reason, uint8_t to, const char *fn,
                                  const sim_val *args, uint32_t count)
{
    const struct sim_outcome *out =
        sim_invoke(&w->h, account(ADMIN), contract(to), fn, args, count);
    if (out->ok)
        fail_msg("%s passed, should be refused: %s", fn, reason);
    assert_string_equal(out->reason, reason);
    assert_int_equal(out->event_count, 0);
    assert_int_equal(out->changed, 0);
}

#define PASS(w, to, fn, ...)           expect_pass(w, to, fn, SIM_VALS(__VA_ARGS__))
#define REFUSE(w, reason, to, fn, ...) expect_refusal(w, reason, to, fn, SIM_VALS(__VA_ARGS__))

/* Returns the answer of a read function, which must not refuse. */
static inline sim_val ask_view(struct world *w, uint8_t to, const char *fn, const sim_val *args,
                               uint32_t count)
{
    const struct sim_outcome *out = sim_view(&w->h, contract(to), fn, args, count);
    if (!out->ok)
        fail_msg("%s does not answer: %s", fn, out->reason);
    return out->ret;
}
#define ASK(w, to, fn, ...) ask_view(w, to, fn, SIM_VALS(__VA_ARGS__))

#define assert_amount(got, want) assert_true((got) == (sim_amount)(want))

static inline void assert_event(struct world *w, uint32_t at, const char *name)
{
    assert_in_range(at, 0, w->h.out.event_count - 1);
    tide_slice text = w->h.out.events[at].topics.vec[0].bytes;
    if (!tide_slice_eq_str(text, name))
        fail_msg("event %u is %.*s, not %s", at, TIDE_SLICE_FMT(text), name);
}

/* Closes one ledger, `seconds` later. */
static inline void later(struct world *w, uint64_t seconds)
{
    sim_ledger(&w->h, w->h.seq + 1, w->h.now + seconds);
}

/* All three feeds report the price, which is the quorum. */
static inline void price(struct world *w, const char *asset, sim_amount price)
{
    for (uint8_t i = 0; i < 3; i++)
        PASS(w, ORACLE, "submit_price", A((uint8_t)(FEED0 + i)), sim_sym(asset), sim_i128(price));
}

static inline void world_people(struct world *w)
{
    static const uint8_t others[] = { ISSUER,  ADMIN, DAOWALLET, VERIFIER, TREASURY,
                                      DEVFUND, FEED0, FEED0 + 1, FEED0 + 2 };
    uint32_t usdc = sim_asset_add(&w->h, "USDC", account(ISSUER));
    for (size_t i = 0; i < TIDE_COUNT(others); i++) {
        struct sim_account *a = sim_account_add(&w->h, account(others[i]), 40000000000000);
        if (others[i] != ISSUER)
            sim_trust(a, usdc);
    }
    for (uint32_t i = 0; i < USERS; i++)
        sim_trust(sim_account_add(&w->h, account((uint8_t)(USER0 + i)), 40000000000000), usdc);
}

static inline void world_contracts(struct world *w)
{
    static const struct {
        uint8_t id;
        enum tide_role role;
    } all[] = {
        { POOL, TIDE_ROLE_liquidity_pool },
        { ENGINE, TIDE_ROLE_synthetic_engine },
        { STABILITY, TIDE_ROLE_stability_pool },
        { REGISTRY, TIDE_ROLE_compliance_registry },
        { PARTNERS, TIDE_ROLE_partner_registry },
        { EARNINGS, TIDE_ROLE_earnings_distributor },
        { ORACLE, TIDE_ROLE_oracle },
        { DAO, TIDE_ROLE_dao_governance },
        { SGOLD, TIDE_ROLE_synth_token },
        { USDC, TIDE_ROLE_stellar_asset },
        { XLM, TIDE_ROLE_stellar_asset },
    };
    for (size_t i = 0; i < TIDE_COUNT(all); i++) {
        struct sim_contract *c = sim_contract_add(&w->h, contract(all[i].id), all[i].role, "c");
        c->asset = all[i].id == USDC;
        assert_true(sim_deploy(&w->h, account(ADMIN), c)->ok);
    }
}

static inline void world_initialize(struct world *w)
{
    sim_val admin = A(ADMIN);
    sim_val dao = A(DAOWALLET);
    PASS(w, REGISTRY, "initialize", admin, dao);
    PASS(w, ORACLE, "initialize", admin, C(DAO), sim_u64(0));
    PASS(w, ENGINE, "initialize", admin, C(ORACLE), C(REGISTRY), C(EARNINGS), dao);
    PASS(w, POOL, "initialize", admin, dao, C(EARNINGS), C(REGISTRY));
    PASS(w, STABILITY, "initialize", admin, C(USDC), C(ENGINE), dao, C(REGISTRY));
    PASS(w, PARTNERS, "initialize", admin, C(DAO), C(USDC), C(ENGINE), C(EARNINGS));
    PASS(w, EARNINGS, "initialize", admin, A(TREASURY), A(DEVFUND), C(STABILITY), dao, C(PARTNERS));
    PASS(w, EARNINGS, "register_lp", admin, C(POOL));
    PASS(w, DAO, "initialize", dao, C(ENGINE));
    PASS(w, DAO, "set_protocol_config", dao, dao, C(POOL), C(PARTNERS), C(EARNINGS), C(STABILITY));
    PASS(w, DAO, "set_compliance", dao, C(REGISTRY));
    PASS(w, DAO, "set_oracle", dao, C(ORACLE));
    sim_val signers[] = { U(0), U(1), U(2), U(3), U(4) };
    PASS(w, DAO, "create_multisig", dao, sim_u32(3),
         ((sim_val){ .type = TIDE_SCV_VEC, .len = 5, .vec = signers }), sim_u32(0));
    for (uint8_t i = 0; i < 3; i++)
        PASS(w, DAO, "add_oracle_provider", dao, A((uint8_t)(FEED0 + i)));
    PASS(w, SGOLD, "initialize", admin, C(ENGINE), sim_string(TIDE_SLICE("Gold")),
         sim_string(TIDE_SLICE("sGOLD")), sim_u32(7));
    PASS(w, ENGINE, "set_stability_pool", admin, C(STABILITY));
    PASS(w, REGISTRY, "add_verifier", dao, A(VERIFIER));
}

static inline void world_users(struct world *w)
{
    for (uint32_t i = 0; i < USERS; i++) {
        PASS(w, USDC, "mint", U(i), sim_i128(UNITS(3000000)));
        PASS(w, REGISTRY, "attest", A(VERIFIER), U(i), sim_u32(826), sim_u64(0),
             sim_bytes((tide_slice){ 0 }));
    }
}

static inline void world_open(struct world *w)
{
    static const uint8_t network[TIDE_HASH_BYTES] = { 7 };
    sim_open(&w->h, network, sim_classes);
    sim_ledger(&w->h, 1000, START);
    world_people(w);
    world_contracts(w);
    world_initialize(w);
    world_users(w);
}

/* Registers the market sGOLD on XLM: ratio 150 %, liquidation at 120 %, penalty 10 %, the given
 * fee. */
static inline void world_market(struct world *w, sim_amount fee)
{
    PASS(w, ENGINE, "register_asset", A(DAOWALLET), sim_sym("sGOLD"), C(SGOLD), sim_sym("GOLD"),
         sim_sym("XLM"), sim_i128(15000), sim_i128(12000), sim_i128(1000), sim_i128(fee),
         sim_i128(UNITS(1000000)));
    PASS(w, ENGINE, "set_collateral_allowed", A(DAOWALLET), C(XLM), sim_bool(true));
}

/* Makes the pool P of XLM and USDC with a million of each from user 0. */
static inline void world_pool(struct world *w)
{
    PASS(w, POOL, "create_pool", A(ADMIN), sim_sym("P"), C(XLM), C(USDC), sim_i128(30));
    PASS(w, POOL, "add_liquidity", U(0), sim_sym("P"), sim_i128(UNITS(1000000)),
         sim_i128(UNITS(1000000)), sim_i128(0));
}

/* --- values and proposals ---------------------------------------------------------------- */

static inline sim_val vec_of(sim_val *items, uint32_t count)
{
    return (sim_val){ .type = TIDE_SCV_VEC, .len = count, .vec = items };
}

static inline sim_val nothing(void)
{
    return sim_bytes((tide_slice){ 0 });
}

static inline uint64_t propose(struct world *w, const void *data, size_t len)
{
    return PASS(w, DAO, "propose", U(0), nothing(), nothing(), sim_bytes(tide_slice_of(data, len)))
        ->ret.u64;
}

static inline void carry(struct world *w, uint64_t id)
{
    for (uint32_t i = 0; i < 3; i++)
        PASS(w, DAO, "vote", U(i), sim_u64(id), sim_bool(true));
    later(w, 259200);
}

/* Proposes the call data, lets it pass the vote, and executes it. */
static inline const struct sim_outcome *carry_out(struct world *w, const void *data, size_t len)
{
    uint64_t id = propose(w, data, len);
    carry(w, id);
    return PASS(w, DAO, "execute", U(5), sim_u64(id));
}

static int world_setup(void **state)
{
    struct world *w = malloc(sizeof(*w));
    assert_non_null(w);
    world_open(w);
    *state = w;
    return 0;
}

static int world_teardown(void **state)
{
    struct world *w = *state;
    sim_close(&w->h);
    free(w);
    return 0;
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

#endif
