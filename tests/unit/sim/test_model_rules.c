/* The model's registry, oracle, token and governance: the odd cases of the published code. */
#include "tests/unit/sim/model_world.h"

static bool compliant(struct world *w, sim_val who)
{
    return ASK(w, REGISTRY, "is_user_compliant", who).b;
}

/* --- registry --------------------------------------------------------------------------- */

static void test_expiry(void **state)
{
    struct world *w = *state;
    PASS(w, REGISTRY, "attest", A(VERIFIER), U(0), sim_u32(826), sim_u64(START + 10), nothing());
    later(w, 10);
    assert_true(compliant(w, U(0))); /* valid at the second itself */
    later(w, 1);
    assert_false(compliant(w, U(0)));
    sim_val status = ASK(w, REGISTRY, "get_compliance_status", U(0));
    assert_int_equal(sim_field_u32(&status, "status"), 2);
}

static void test_block_hits_all(void **state)
{
    struct world *w = *state;
    PASS(w, REGISTRY, "block_jurisdiction", A(DAOWALLET), sim_u32(826));
    assert_false(compliant(w, U(0)));
    REFUSE(w, "jurisdiction is blocked", REGISTRY, "attest", A(VERIFIER), U(0), sim_u32(826),
           sim_u64(0), nothing());
    const struct sim_outcome *out =
        PASS(w, REGISTRY, "unblock_jurisdiction", A(DAOWALLET), sim_u32(826));
    assert_int_equal(out->event_count, 0);
    assert_true(compliant(w, U(0)));
}

static void test_suspend_stranger(void **state)
{
    struct world *w = *state;
    assert_false(compliant(w, A(FEED0)));
    PASS(w, REGISTRY, "suspend_account", A(ADMIN), A(FEED0), sim_sym("odd"));
    const struct sim_outcome *out = PASS(w, REGISTRY, "unsuspend_account", A(ADMIN), A(FEED0));
    assert_int_equal(sim_field_u32(&out->events[0].data, "old_status"), 3);
    assert_true(compliant(w, A(FEED0))); /* never attested, compliant for ever */
    REFUSE(w, "account is not suspended", REGISTRY, "unsuspend_account", A(ADMIN), A(FEED0));
    sim_val status = ASK(w, REGISTRY, "get_compliance_status", A(FEED0));
    assert_true(sim_addr_eq(sim_field_addr(&status, "provider"), account(FEED0)));
}

static void test_sanction_freezes(void **state)
{
    struct world *w = *state;
    PASS(w, REGISTRY, "sanction_account", A(ADMIN), U(0), sim_sym("ofac"));
    PASS(w, REGISTRY, "suspend_account", A(ADMIN), U(0), sim_sym("x"));
    PASS(w, REGISTRY, "unsuspend_account", A(ADMIN), U(0));
    assert_true(ASK(w, REGISTRY, "is_frozen", U(0)).b);
    assert_false(compliant(w, U(0)));
    const struct sim_outcome *out = PASS(w, REGISTRY, "unfreeze_account", A(ADMIN), U(0));
    assert_event(w, 0, "freeze");
    out = PASS(w, REGISTRY, "unfreeze_account", A(ADMIN), U(0)); /* again, and still tells */
    assert_int_equal(out->event_count, 1);
    assert_true(compliant(w, U(0)));
}

static void test_revoke(void **state)
{
    struct world *w = *state;
    REFUSE(w, "no attestation found", REGISTRY, "revoke", A(VERIFIER), A(FEED0));
    REFUSE(w, "can only revoke own attestations", REGISTRY, "revoke", A(ADMIN), U(0));
    PASS(w, REGISTRY, "remove_verifier", A(DAOWALLET), A(VERIFIER));
    assert_true(compliant(w, U(0)));
    PASS(w, REGISTRY, "revoke", A(VERIFIER), U(0)); /* need not be a verifier any more */
    assert_false(compliant(w, U(0)));
    assert_int_equal(ASK(w, REGISTRY, "get_provider_count", U(0)).u32, 1);
}

/* A record without an attestation passes the gate and not the asset's rule. */
static void test_asset_rule(void **state)
{
    struct world *w = *state;
    sim_val codes[] = { sim_u32(36) };
    world_market(w, 0);
    PASS(w, REGISTRY, "set_asset_rule", A(DAOWALLET), sim_sym("sGOLD"), list(codes, 1),
         sim_i128(UNITS(20000)), sim_bool(true));
    PASS(w, REGISTRY, "revoke", A(VERIFIER), U(0));
    PASS(w, REGISTRY, "suspend_account", A(ADMIN), U(0), sim_sym("x"));
    PASS(w, REGISTRY, "unsuspend_account", A(ADMIN), U(0));
    assert_true(compliant(w, U(0)));
    REFUSE(w, "sender has no KYC attestation", ENGINE, "open_vault", U(0), sim_sym("sGOLD"), C(XLM),
           sim_i128(UNITS(1)));
    PASS(w, STABILITY, "deposit", U(0), sim_i128(1));

    PASS(w, ENGINE, "open_vault", U(1), sim_sym("sGOLD"), C(XLM), sim_i128(UNITS(100000)));
    assert_amount(ASK(w, REGISTRY, "get_daily_volume", U(1)).i128, 0);
    price(w, "XLM", 10000000);
    price(w, "GOLD", 10000000);
    const struct sim_outcome *out =
        PASS(w, ENGINE, "mint_synth", U(1), sim_sym("sGOLD"), sim_i128(UNITS(10000) - 1));
    assert_int_equal(out->event_count, 2);
    out = PASS(w, ENGINE, "mint_synth", U(1), sim_sym("sGOLD"), sim_i128(UNITS(10000)));
    assert_event(w, 0, "travel");
    assert_int_equal(out->event_count, 3);
    REFUSE(w, "daily transfer limit exceeded", ENGINE, "mint_synth", U(1), sim_sym("sGOLD"),
           sim_i128(2));
    PASS(w, ENGINE, "mint_synth", U(1), sim_sym("sGOLD"), sim_i128(1));
    later(w, 86400);
    price(w, "XLM", 10000000);
    price(w, "GOLD", 10000000);
    PASS(w, ENGINE, "mint_synth", U(1), sim_sym("sGOLD"), sim_i128(2));
    assert_int_equal(ask(w, REGISTRY, "get_travel_rule_count", SIM_NONE).u64, 1);
}

static void test_canonical_verifier(void **state)
{
    struct world *w = *state;
    PASS(w, REGISTRY, "set_verifier", A(DAOWALLET), A(VERIFIER));
    assert_int_equal(ask(w, REGISTRY, "list_verifiers", SIM_NONE).len, 1);
    PASS(w, REGISTRY, "remove_verifier", A(DAOWALLET), A(VERIFIER));
    assert_true(sim_addr_eq(ask(w, REGISTRY, "get_verifier", SIM_NONE).addr, account(VERIFIER)));
    assert_int_equal(ask(w, REGISTRY, "list_verifiers", SIM_NONE).len, 0);
    PASS(w, REGISTRY, "set_verifier", A(DAOWALLET), A(VERIFIER));
    assert_int_equal(ask(w, REGISTRY, "list_verifiers", SIM_NONE).len, 2); /* the same, twice */
    PASS(w, REGISTRY, "set_verifier", A(DAOWALLET), A(ADMIN));
    assert_false(ASK(w, REGISTRY, "is_verifier", A(VERIFIER)).b);
}

/* --- oracle -------------------------------------------------------------------------------- */

static void observe(struct world *w, uint8_t feed, sim_amount price)
{
    PASS(w, ORACLE, "submit_price", A((uint8_t)(FEED0 + feed)), sim_sym("GOLD"), sim_i128(price));
}

static void test_quorum(void **state)
{
    struct world *w = *state;
    sim_val assets[] = { sim_sym("GOLD"), sim_sym("GOLD"), sim_sym("GOLD"), sim_sym("GOLD") };
    sim_val prices[] = { sim_i128(100), sim_i128(110), sim_i128(91), sim_i128(105) };
    const struct sim_outcome *out =
        PASS(w, ORACLE, "submit_prices", A(FEED0), list(assets, 4), list(prices, 4));
    assert_int_equal(out->event_count, 5); /* the third makes the quorum, the fourth waits */
    assert_amount(ASK(w, ORACLE, "get_price", sim_sym("GOLD")).i128, 100); /* 301 / 3 */
    REFUSE(w, "insufficient observations", ORACLE, "aggregate", sim_sym("GOLD"));
    out = PASS(w, DAO, "set_oracle_min_providers", A(DAOWALLET), sim_u32(1));
    assert_int_equal(out->event_count, 0);
    assert_amount(ASK(w, ORACLE, "get_price", sim_sym("GOLD")).i128, 100);
    PASS(w, ORACLE, "aggregate", sim_sym("GOLD"));
    assert_amount(ASK(w, ORACLE, "get_price", sim_sym("GOLD")).i128, 105);
    REFUSE(w, "more than are registered", DAO, "set_oracle_min_providers", A(DAOWALLET),
           sim_u32(4));
}

/* With eight the two lowest and the two highest fall away. */
static void test_trim(void **state)
{
    struct world *w = *state;
    static const sim_amount prices[] = { 100, 1, 103, 900, 101, 2, 102, 901 };
    for (uint8_t i = 3; i < 8; i++)
        PASS(w, DAO, "add_oracle_provider", A(DAOWALLET), A((uint8_t)(FEED0 + i)));
    PASS(w, DAO, "set_oracle_min_providers", A(DAOWALLET), sim_u32(8));
    for (uint8_t i = 0; i < 8; i++)
        observe(w, i, prices[i]);
    assert_amount(ASK(w, ORACLE, "get_price", sim_sym("GOLD")).i128, 101); /* 406 / 4 = 101.5 */
    REFUSE(w, "price move exceeds circuit breaker", ORACLE, "submit_price", A(FEED0),
           sim_sym("GOLD"), sim_i128(122));
    observe(w, 0, 121); /* 20 of 20.2 */
}

static void test_twap(void **state)
{
    struct world *w = *state;
    price(w, "GOLD", 100);
    assert_amount(PASS(w, ORACLE, "update_twap", sim_sym("GOLD"))->ret.i128, 100);
    later(w, 7200); /* two windows: divided by one */
    assert_amount(PASS(w, ORACLE, "update_twap", sim_sym("GOLD"))->ret.i128, 200);
    later(w, 600);
    assert_amount(PASS(w, ORACLE, "update_twap", sim_sym("GOLD"))->ret.i128, 100);
    later(w, 301);
    assert_true(ASK(w, ORACLE, "is_stale", sim_sym("GOLD")).b);
    assert_amount(ASK(w, ORACLE, "get_twap", sim_sym("GOLD")).i128, 100);
    price(w, "GOLD", 110);
    assert_amount(ASK(w, ORACLE, "get_twap", sim_sym("GOLD")).i128, 110);
}

/* --- token -------------------------------------------------------------------------------------- */

static void fund(struct world *w)
{
    world_market(w, 0);
    price(w, "XLM", 10000000);
    price(w, "GOLD", 10000000);
    PASS(w, ENGINE, "open_vault", U(0), sim_sym("sGOLD"), C(XLM), sim_i128(UNITS(1000)));
    PASS(w, ENGINE, "mint_synth", U(0), sim_sym("sGOLD"), sim_i128(UNITS(100)));
}

static void test_negative_burn(void **state)
{
    struct world *w = *state;
    fund(w);
    const struct sim_outcome *out = PASS(w, SGOLD, "burn_from", U(5), U(0), sim_i128(-7));
    assert_amount(sim_field_i128(&out->events[0].data, "amount"), -7);
    assert_amount(ASK(w, SGOLD, "balance", U(0)).i128, UNITS(100) + 7);
    assert_amount(ask(w, SGOLD, "total_supply", SIM_NONE).i128, UNITS(100) + 7);
    assert_amount(ASK(w, SGOLD, "allowance", U(0), U(5)).i128, 7);
}

static void test_token_freeze(void **state)
{
    struct world *w = *state;
    fund(w);
    REFUSE(w, "amount must be positive", SGOLD, "transfer", U(0), U(1), sim_i128(0));
    PASS(w, SGOLD, "transfer", U(0), U(0), sim_i128(UNITS(100)));
    assert_amount(ASK(w, SGOLD, "balance", U(0)).i128, UNITS(100));
    REFUSE(w, "account must be frozen", SGOLD, "clawback", A(ADMIN), U(0), sim_i128(1));
    PASS(w, SGOLD, "set_frozen", A(ADMIN), U(0), sim_bool(true));
    REFUSE(w, "account is frozen", SGOLD, "transfer", U(0), U(1), sim_i128(1));
    PASS(w, SGOLD, "burn", U(0), sim_i128(UNITS(10)));
    PASS(w, SGOLD, "clawback", A(ADMIN), U(0), sim_i128(UNITS(20)));
    assert_amount(ASK(w, SGOLD, "balance", A(ADMIN)).i128, UNITS(20));
    assert_amount(ask(w, SGOLD, "total_supply", SIM_NONE).i128, UNITS(90));
    PASS(w, SGOLD, "set_paused", A(ADMIN), sim_bool(true));
    PASS(w, SGOLD, "set_frozen", A(ADMIN), U(0), sim_bool(false));
    REFUSE(w, "token is paused", SGOLD, "burn", U(0), sim_i128(1));
    PASS(w, SGOLD, "burn_from", U(1), U(0), sim_i128(-1)); /* pause does not stop it */
}

static void test_self_register(void **state)
{
    struct world *w = *state;
    sim_val name = sim_string(TIDE_SLICE("me"));
    REFUSE(w, "self-registration is currently disabled", PARTNERS, "self_register", U(0), name);
    PASS(w, PARTNERS, "set_open_registration", A(ADMIN), sim_bool(true));
    PASS(w, PARTNERS, "self_register", U(0), name);
    int64_t left = sim_classic_balance(&w->h, account(USER0), 1);
    assert_int_equal(left, UNITS(3000000) - UNITS(1000));
    REFUSE(w, "address already registered as partner", PARTNERS, "self_register", U(0), name);
    assert_int_equal(sim_classic_balance(&w->h, account(USER0), 1), left);
    PASS(w, PARTNERS, "set_partner_share", A(ADMIN), sim_u32(0), sim_i128(-3));
    REFUSE(w, "exceeds max 80%", PARTNERS, "set_partner_share", A(ADMIN), sim_u32(0),
           sim_i128(8001));
}

/* --- governance ------------------------------------------------------------------------------------ */

static void test_proposal(void **state)
{
    struct world *w = *state;
    REFUSE(w, "only governance signers may propose/vote", DAO, "propose", U(5), nothing(),
           nothing(), nothing());
    uint64_t id = propose(w, "", 0);
    PASS(w, DAO, "vote", U(0), sim_u64(id), sim_bool(true));
    REFUSE(w, "already voted", DAO, "vote", U(0), sim_u64(id), sim_bool(false));
    PASS(w, DAO, "vote", U(1), sim_u64(id), sim_bool(true));
    REFUSE(w, "threshold not reached", DAO, "finalise", sim_u64(id));
    later(w, 200000); /* past the end: votes count all the same */
    PASS(w, DAO, "vote", U(2), sim_u64(id), sim_bool(true));
    REFUSE(w, "timelock not expired", DAO, "execute", U(5), sim_u64(id));
    const struct sim_outcome *out = PASS(w, DAO, "finalise", sim_u64(id));
    assert_int_equal(out->event_count, 0);
    later(w, 59200);
    PASS(w, DAO, "execute", U(5), sim_u64(id));
    REFUSE(w, "proposal not executable", DAO, "execute", U(5), sim_u64(id));
    REFUSE(w, "not active", DAO, "cancel", U(0), sim_u64(id));
}

static void test_actions(void **state)
{
    struct world *w = *state;
    uint8_t ratios[36] = { 4, 0, 0, 0, 0x10, 0x27 }; /* 10 000 */
    act(w, ratios, 19);                              /* a byte short: nothing */
    assert_amount(ask(w, DAO, "get_param_cr", SIM_NONE).i128, 15000);
    act(w, ratios, 20);
    assert_amount(ask(w, DAO, "get_param_cr", SIM_NONE).i128, 10000);
    uint8_t legacy[17] = { 1, 0xff, 0xff, 0xff, 0xff };
    memset(legacy + 1, 0xff, 16);
    act(w, legacy, 17); /* action 0xffffff01: unknown, so the old form: borrow fee -1 */
    assert_amount(ask(w, DAO, "get_param_borrow_fee", SIM_NONE).i128, -1);
    act(w, "\x06\0\0\0\0\0\0\0", 8); /* no address: nothing */
    act(w, "\x0a\0\0\0\1\0\0", 7);   /* quorum cut short: nothing */
    act(w, "\x0a\0\0\0\2\0\0\0", 8);
    assert_int_equal(ask(w, ORACLE, "get_min_providers", SIM_NONE).u32, 2);
    act(w, "\x63\0\0\0hello", 9);
    uint64_t id = propose(w, "\x02\0\0\0", 4);
    carry(w, id);
    REFUSE(w, "upgrade_tier removed — all partners have the same rights", DAO, "execute", U(0),
           sim_u64(id));
    id = propose(w, "\x0f\0\0\0\4AB", 7);
    carry(w, id);
    REFUSE(w, "payload too short", DAO, "execute", U(0), sim_u64(id));
    id = propose(w, "\x0f\0\0\0\3A-B", 8);
    carry(w, id);
    REFUSE(w, "symbol payload has a bad character", DAO, "execute", U(0), sim_u64(id));
}

static void test_second_initialize(void **state)
{
    struct world *w = *state;
    uint64_t id = propose(w, "", 0);
    PASS(w, DAO, "vote", U(0), sim_u64(id), sim_bool(true));
    PASS(w, DAO, "initialize", U(5), C(ENGINE)); /* anyone */
    assert_int_equal(propose(w, "", 0), id);
    REFUSE(w, "already voted", DAO, "vote", U(0), sim_u64(id), sim_bool(true));
    PASS(w, DAO, "vote", U(1), sim_u64(id), sim_bool(true));
    REFUSE(w, "unauthorised", DAO, "set_multisig_mask", A(DAOWALLET), sim_u32(1));
}

static uint64_t submit(struct world *w)
{
    return PASS(w, DAO, "submit_multisig_tx", U(5), sim_u32(0), sim_u64(77), C(ENGINE),
                sim_sym("any"), nothing())
        ->ret.u64;
}

static void approve(struct world *w, uint32_t user, uint64_t tx, bool yes)
{
    PASS(w, DAO, "approve_multisig_tx", U(user), sim_u64(tx), sim_bool(yes));
}

static sim_val status_of(struct world *w, uint64_t tx)
{
    sim_val summary = ASK(w, DAO, "get_multisig_tx_summary", sim_u64(tx));
    return sim_field(&summary, "status")->vec[0];
}

static void test_multisig(void **state)
{
    struct world *w = *state;
    uint64_t tx = submit(w);
    REFUSE(w, "not a signer for this wallet", DAO, "approve_multisig_tx", U(5), sim_u64(tx),
           sim_bool(true));
    approve(w, 0, tx, true);
    approve(w, 1, tx, true);
    PASS(w, DAO, "remove_signer_from_wallet", A(DAOWALLET), sim_u32(0), U(0));
    PASS(w, DAO, "add_signer_to_wallet", A(DAOWALLET), sim_u32(0), U(5));
    assert_event(w, 0, "msig_created");
    approve(w, 5, tx, true); /* the removed one's still counts, the new one may */
    assert_true(tide_slice_eq_str(status_of(w, tx).bytes, "Approved"));
    REFUSE(w, "tx not pending", DAO, "approve_multisig_tx", U(2), sim_u64(tx), sim_bool(false));
    PASS(w, DAO, "execute_multisig_tx", A(ADMIN), sim_u64(tx));
    REFUSE(w, "tx already finalized", DAO, "execute_multisig_tx", A(ADMIN), sim_u64(tx));

    tx = submit(w); /* three rejections of five leave too few for three */
    approve(w, 1, tx, false);
    approve(w, 2, tx, false);
    assert_true(tide_slice_eq_str(status_of(w, tx).bytes, "Pending"));
    approve(w, 3, tx, false);
    assert_true(tide_slice_eq_str(status_of(w, tx).bytes, "Rejected"));
    tx = submit(w);
    PASS(w, DAO, "execute_multisig_tx", A(ADMIN), sim_u64(tx)); /* with no approval at all */
}

static void test_wallets(void **state)
{
    struct world *w = *state;
    sim_val same[] = { U(0), U(0) };
    REFUSE(w, "threshold exceeds signers", DAO, "create_multisig", A(DAOWALLET), sim_u32(3),
           list(same, 2), sim_u32(0));
    REFUSE(w, "unknown scope", DAO, "create_multisig", A(DAOWALLET), sim_u32(1), list(same, 2),
           sim_u32(3));
    const struct sim_outcome *out =
        PASS(w, DAO, "create_multisig", A(DAOWALLET), sim_u32(2), list(same, 2), sim_u32(2));
    assert_int_equal(out->ret.u32, 1);
    REFUSE(w, "signers would fall below threshold", DAO, "remove_signer_from_wallet", A(DAOWALLET),
           sim_u32(1), U(0));
    assert_true(ASK(w, DAO, "requires_multisig", sim_u32(16)).b);
    assert_false(ASK(w, DAO, "requires_multisig", sim_u32(3)).b);
}

static void test_upgrade(void **state)
{
    struct world *w = *state;
    static const uint8_t hash[TIDE_HASH_BYTES] = { 0x93, 0xa4 };
    sim_val code = sim_bytes(tide_slice_of(hash, sizeof(hash)));
    /* the argument is not looked at, the stored DAO signs */
    const struct sim_outcome *out = PASS(w, POOL, "upgrade", U(5), code);
    assert_int_equal(out->event_count, 1);
    assert_true(out->events[0].system);
    assert_event(w, 0, "executable_update");
    assert_true(sim_addr_eq(out->auths[0].who, account(DAOWALLET)));
    PASS(w, POOL, "set_protocol_fee", A(DAOWALLET), sim_i128(7)); /* storage stays */
}

int test_model_rules(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(test_expiry),
        WORLD_TEST(test_block_hits_all),
        WORLD_TEST(test_suspend_stranger),
        WORLD_TEST(test_sanction_freezes),
        WORLD_TEST(test_revoke),
        WORLD_TEST(test_asset_rule),
        WORLD_TEST(test_canonical_verifier),
        WORLD_TEST(test_quorum),
        WORLD_TEST(test_trim),
        WORLD_TEST(test_twap),
        WORLD_TEST(test_negative_burn),
        WORLD_TEST(test_token_freeze),
        WORLD_TEST(test_self_register),
        WORLD_TEST(test_proposal),
        WORLD_TEST(test_actions),
        WORLD_TEST(test_second_initialize),
        WORLD_TEST(test_multisig),
        WORLD_TEST(test_wallets),
        WORLD_TEST(test_upgrade),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
