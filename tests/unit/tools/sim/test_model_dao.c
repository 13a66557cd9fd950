/* Effects of executed proposals: every action of the call data, valid, cut short and refused. The
 * test assembles the data byte by byte. */
#include "tests/unit/tools/sim/model_world.h"
#include "tidemark/strkey.h"

/* Call data while a test assembles it. */
struct data {
    uint8_t bytes[512];
    size_t len;
};

static void put_bytes(struct data *d, const void *bytes, size_t len)
{
    assert_true(d->len + len <= sizeof(d->bytes));
    memcpy(d->bytes + d->len, bytes, len);
    d->len += len;
}

static void put_number(struct data *d, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        uint8_t byte = (uint8_t)(value & 0xff);
        put_bytes(d, &byte, 1);
        value >>= 8;
    }
}

static void put_str(struct data *d, const char *text)
{
    put_number(d, strlen(text), 1);
    put_bytes(d, text, strlen(text));
}

static void put_addr(struct data *d, sim_val who)
{
    char text[TIDE_STRKEY_ADDRESS_MAX];
    bool person = who.addr.kind == SIM_ACCOUNT;
    size_t len = tide_strkey_encode(text, person ? TIDE_STRKEY_ACCOUNT : TIDE_STRKEY_CONTRACT,
                                    tide_slice_of(who.addr.key, TIDE_HASH_BYTES));
    put_number(d, len, 1);
    put_bytes(d, text, len);
}

static struct data action(uint32_t number)
{
    struct data d = { .len = 0 };
    put_number(&d, number, 4);
    return d;
}

static struct data action_on(uint32_t number, sim_val who)
{
    struct data d = action(number);
    put_addr(&d, who);
    return d;
}

/* Returns a proposal that three votes carried and whose timelock is over, not executed yet. */
static sim_val carried(struct world *w, const struct data *d)
{
    uint64_t id = propose(w, d->bytes, d->len);
    carry(w, id);
    return sim_u64(id);
}

static const struct sim_outcome *does(struct world *w, sim_val executor, const struct data *d)
{
    return PASS(w, DAO, "execute", executor, carried(w, d));
}

/* Expects that the execution is refused with that reason, and that the proposal stays
 * executable. */
static void refuses(struct world *w, const char *reason, sim_val executor, const struct data *d)
{
    sim_val id = carried(w, d);
    REFUSE(w, reason, DAO, "execute", executor, id);
    sim_val proposal = ASK(w, DAO, "get_proposal", id);
    assert_true(tide_slice_eq_str(sim_field(&proposal, "status")->vec[0].bytes, "Active"));
}

static void test_deploy_asset(void **state)
{
    struct world *w = *state;
    struct data d = action(0);
    put_str(&d, "sGOLD");
    put_addr(&d, C(SGOLD));
    put_str(&d, "GOLD");
    put_addr(&d, C(XLM));
    put_str(&d, "XLM");
    static const uint32_t numbers[] = { 15000, 12000, 1000, 50, 70000 };
    for (size_t i = 0; i < TIDE_COUNT(numbers); i++)
        put_number(&d, numbers[i], 16);
    refuses(w, "unauthorised", U(5), &d); /* the engine accepts only its own DAO */
    const struct sim_outcome *out = does(w, A(DAOWALLET), &d);
    assert_int_equal(out->event_count, 2);
    assert_event(w, 0, "market_created");
    assert_event(w, 1, "executed");
    sim_val market = ASK(w, ENGINE, "get_asset_config", sim_sym("sGOLD"));
    assert_amount(sim_field_i128(&market, "stab_fee_bps"), 50);
    assert_amount(sim_field_i128(&market, "debt_ceiling"), 70000);
    PASS(w, ENGINE, "open_vault", U(0), sim_sym("sGOLD"), C(XLM), sim_i128(1));
    d.len--; /* the ceiling lacks a byte */
    refuses(w, "payload too short", A(DAOWALLET), &d);
}

static void test_partners_by_vote(void **state)
{
    struct world *w = *state;
    struct data d = action_on(14, U(4));
    put_str(&d, "by \xe2\x9c\x93 vote");
    const struct sim_outcome *out = does(w, U(5), &d);
    assert_event(w, 0, "preg_reg");
    assert_int_equal(out->event_count, 2);
    sim_val partner = ASK(w, PARTNERS, "get_partner", sim_u32(0));
    assert_true(tide_slice_eq_str(sim_field(&partner, "name")->bytes, "by \xe2\x9c\x93 vote"));

    struct data share = action(3);
    put_number(&share, 0, 4);
    put_number(&share, 8000, 16);
    does(w, U(5), &share);
    assert_amount(ASK(w, PARTNERS, "get_revenue_share", sim_u32(0)).i128, 8000);
    share.bytes[8]++;
    refuses(w, "exceeds max 80%", U(5), &share);

    struct data off = action(1);
    put_number(&off, 0, 4);
    put_bytes(&off, "behind", 6); /* bytes after the payload are ignored */
    does(w, U(5), &off);
    assert_event(w, 0, "preg_off");
    assert_false(ASK(w, PARTNERS, "is_partner", U(4)).b);
    off.bytes[4] = 9;
    refuses(w, "partner not found", U(5), &off);
}

static void test_partner_names(void **state)
{
    struct world *w = *state;
    char name[82] = { 0 };
    memset(name, 'n', 81);
    struct data d = action_on(14, U(4));
    put_str(&d, name);
    refuses(w, "name payload too long", U(5), &d);
    d = action_on(14, U(4));
    put_str(&d, "\xff");
    refuses(w, "name payload is not UTF-8", U(5), &d);
    d = action_on(14, U(4));
    put_str(&d, name + 1); /* 80 */
    does(w, U(5), &d);
    d = action_on(14, U(4));
    d.bytes[20] = d.bytes[20] == 'A' ? 'B' : 'A';
    refuses(w, "address payload is not a strkey", U(5), &d);
}

static void test_catalog_by_vote(void **state)
{
    struct world *w = *state;
    struct data d = action(15);
    put_str(&d, "OIL");
    refuses(w, "partner asset not found", U(5), &d);
    PASS(w, PARTNERS, "register_partner", A(ADMIN), U(4), sim_string(TIDE_SLICE("p")));
    PASS(w, PARTNERS, "register_partner_asset", U(4), sim_sym("OIL"), C(SGOLD), sim_sym("OIL"),
         sim_sym("XLM"), sim_i128(15000), sim_i128(12000), sim_i128(1000), sim_i128(0),
         sim_i128(1));
    does(w, U(5), &d);
    assert_event(w, 0, "preg_live");
    refuses(w, "asset already live", U(5), &d);
    d = action(15);
    put_str(&d, "A23456789012345678901234567890123"); /* 33 */
    refuses(w, "symbol payload too long", U(5), &d);
}

static void test_pool_by_vote(void **state)
{
    struct world *w = *state;
    struct data d = action(5);
    put_str(&d, "NEW");
    put_addr(&d, C(XLM));
    put_addr(&d, C(USDC));
    put_number(&d, 100, 16);
    refuses(w, "only admin or DAO can create pools", U(5), &d);
    const struct sim_outcome *out = does(w, A(ADMIN), &d);
    assert_int_equal(out->event_count, 1); /* a pool comes silently */
    sim_val pool = ASK(w, POOL, "get_pool", sim_sym("NEW"));
    assert_amount(sim_field_i128(&pool, "fee_tier"), 100);
    refuses(w, "pool already exists", A(DAOWALLET), &d);
}

static struct data signer(uint32_t number, uint32_t wallet, sim_val who)
{
    struct data d = action(number);
    put_number(&d, wallet, 4);
    put_addr(&d, who);
    return d;
}

static void test_signers_by_vote(void **state)
{
    struct world *w = *state;
    struct data d = signer(6, 0, U(5));
    const struct sim_outcome *out = does(w, A(ADMIN), &d);
    assert_int_equal(out->event_count, 1); /* the action emits no event of its own */
    assert_int_equal(ASK(w, DAO, "get_signers", sim_u32(0)).len, 6);
    refuses(w, "already a signer", A(ADMIN), &d);
    d.len--; /* data shorter than its address: the call changes nothing and counts as executed */
    does(w, A(ADMIN), &d);
    d = signer(6, 7, U(5));
    refuses(w, "wallet not found", A(ADMIN), &d);
    d = signer(7, 0, A(ADMIN));
    refuses(w, "signer not found in wallet", A(ADMIN), &d);

    d = signer(7, 0, U(3));
    does(w, A(ADMIN), &d);
    sim_val left = ASK(w, DAO, "get_signers", sim_u32(0));
    assert_int_equal(left.len, 5);
    assert_true(sim_addr_eq(left.vec[3].addr, account(USER0 + 4)));
    assert_true(sim_addr_eq(left.vec[4].addr, account(USER0 + 5)));
    d = signer(7, 0, U(4));
    does(w, A(ADMIN), &d);
    d = signer(7, 0, U(5));
    does(w, A(ADMIN), &d);
    refuses(w, "signers would fall below threshold", A(ADMIN), &d);
}

static void test_many_signers(void **state)
{
    struct world *w = *state;
    for (uint8_t i = 5; i < 15; i++)
        PASS(w, DAO, "add_signer_to_wallet", A(DAOWALLET), sim_u32(0), A((uint8_t)(200 + i)));
    struct data d = signer(6, 0, A(199));
    refuses(w, "too many signers", A(ADMIN), &d);
    REFUSE(w, "too many signers", DAO, "add_signer_to_wallet", A(DAOWALLET), sim_u32(0), A(199));
    sim_val many[16];
    for (uint32_t i = 0; i < 16; i++)
        many[i] = A((uint8_t)(180 + i));
    REFUSE(w, "too many signers", DAO, "create_multisig", A(DAOWALLET), sim_u32(1),
           vec_of(many, 16), sim_u32(0));
    REFUSE(w, "threshold must be positive", DAO, "create_multisig", A(DAOWALLET), sim_u32(0),
           vec_of(many, 15), sim_u32(0));
    PASS(w, DAO, "create_multisig", A(DAOWALLET), sim_u32(15), vec_of(many, 15), sim_u32(1));
}

/* The contract never lowers its count of providers, so after 21 additions the oracle accepts none,
 * although some were removed. */
static void test_oracle_by_vote(void **state)
{
    struct world *w = *state;
    struct data add = action_on(8, A(200)), leave = action_on(9, A(200));
    refuses(w, "provider not registered", U(5), &leave);
    for (uint32_t i = 4; i <= 21; i++) {
        does(w, U(5), &add);
        assert_event(w, 0, "provider");
        assert_int_equal(ask_view(w, ORACLE, "provider_count", SIM_NONE).u32, i);
        if (i == 4)
            refuses(w, "provider already registered", U(5), &add);
        does(w, U(5), &leave);
        assert_false(ASK(w, ORACLE, "is_provider", A(200)).b);
    }
    refuses(w, "max providers reached", U(5), &add);
    struct data quorum = action(10);
    put_number(&quorum, 0, 4);
    refuses(w, "at least one provider", U(5), &quorum);
    quorum.bytes[4] = 22;
    refuses(w, "too many providers", U(5), &quorum);
    quorum.bytes[4] = 21; /* three of these providers are left */
    does(w, U(5), &quorum);
    assert_int_equal(ask_view(w, ORACLE, "get_min_providers", SIM_NONE).u32, 21);
}

static void test_verifiers_by_vote(void **state)
{
    struct world *w = *state;
    struct data add = action_on(11, U(1)), leave = action_on(12, U(1));
    refuses(w, "unauthorised", U(5), &add);
    const struct sim_outcome *out = does(w, A(DAOWALLET), &add);
    assert_int_equal(out->event_count, 1);
    assert_true(ASK(w, REGISTRY, "is_verifier", U(1)).b);
    does(w, A(DAOWALLET), &leave);
    assert_false(ASK(w, REGISTRY, "is_verifier", U(1)).b);
    does(w, A(DAOWALLET), &leave); /* no verifier to remove: passes */
}

static void test_collateral_by_vote(void **state)
{
    struct world *w = *state;
    world_market(w, 0);
    struct data d = action_on(13, C(XLM));
    refuses(w, "payload too short", A(DAOWALLET), &d);
    put_number(&d, 0, 1);
    refuses(w, "unauthorised", U(5), &d);
    does(w, A(DAOWALLET), &d);
    REFUSE(w, "collateral not allowed", ENGINE, "open_vault", U(0), sim_sym("sGOLD"), C(XLM),
           sim_i128(1));
    d.bytes[d.len - 1] = 2; /* any but 0 allows */
    does(w, A(DAOWALLET), &d);
    PASS(w, ENGINE, "open_vault", U(0), sim_sym("sGOLD"), C(XLM), sim_i128(1));
}

static void test_upgrade_by_vote(void **state)
{
    static const uint8_t hash[TIDE_HASH_BYTES] = { 0x93 };
    struct world *w = *state;
    struct data d = action_on(16, C(PARTNERS));
    put_bytes(&d, hash, 31);
    refuses(w, "payload too short", U(5), &d);
    put_bytes(&d, hash, 1);
    const struct sim_outcome *out = does(w, U(5), &d);
    assert_int_equal(out->event_count, 2);
    assert_true(out->events[0].system);
    assert_true(sim_addr_eq(out->events[0].contract->address, contract(PARTNERS)));
    assert_int_equal(out->auth_count, 1); /* the executor; the DAO calls by itself */

    d = action_on(16, C(DAO));
    put_bytes(&d, hash, 32);
    out = does(w, U(5), &d);
    assert_true(sim_addr_eq(out->events[0].contract->address, contract(DAO)));
    assert_event(w, 1, "executed");
    assert_int_equal(ask_view(w, DAO, "get_proposal_count", SIM_NONE).u64, 3); /* storage stays */
}

/* One call makes a proposal and queues its data. The proposal and the queued data then proceed
 * independently. */
static void test_queue(void **state)
{
    struct world *w = *state;
    struct data d = action(4);
    put_number(&d, 13000, 16);
    put_number(&d, 900, 16);
    sim_val data = sim_bytes(tide_slice_of(d.bytes, d.len));
    REFUSE(w, "only governance signers may propose/vote", DAO, "propose_and_queue_multisig", U(5),
           nothing(), nothing(), data, sim_u32(0), C(ENGINE), sim_sym("f"));
    REFUSE(w, "wallet not found", DAO, "propose_and_queue_multisig", U(0), nothing(), nothing(),
           data, sim_u32(1), C(ENGINE), sim_sym("f"));
    const struct sim_outcome *out = PASS(w, DAO, "propose_and_queue_multisig", U(0), nothing(),
                                         nothing(), data, sim_u32(0), C(ENGINE), sim_sym("f"));
    assert_int_equal(out->event_count, 2);
    assert_event(w, 0, "proposed");
    assert_event(w, 1, "msig_created");
    sim_val proposal = sim_u64(out->ret.vec[0].u64), tx = sim_u64(out->ret.vec[1].u64);
    assert_int_equal(ASK(w, DAO, "get_proposal_multisig_txs", proposal).vec[0].u64, tx.u64);
    assert_int_equal(ASK(w, DAO, "get_pending_multisig_txs", sim_u32(0)).len, 1);
    PASS(w, DAO, "execute_multisig_tx", U(5), tx);
    assert_amount(ask_view(w, DAO, "get_param_cr", SIM_NONE).i128, 13000);
    assert_int_equal(ASK(w, DAO, "get_pending_multisig_txs", sim_u32(0)).len, 0);
    sim_val stored = ASK(w, DAO, "get_proposal", proposal);
    assert_true(tide_slice_eq_str(sim_field(&stored, "status")->vec[0].bytes, "Active"));
    REFUSE(w, "only proposer can cancel", DAO, "cancel", U(1), proposal);
    PASS(w, DAO, "cancel", U(0), proposal);
    REFUSE(w, "not active", DAO, "vote", U(0), proposal, sim_bool(true));
}

static void test_cancel_queued(void **state)
{
    struct world *w = *state;
    sim_val tx = PASS(w, DAO, "submit_multisig_tx", U(5), sim_u32(0), sim_u64(0), C(ENGINE),
                      sim_sym("f"), nothing())
                     ->ret;
    REFUSE(w, "not a signer for this wallet", DAO, "cancel_multisig_tx", U(5), tx);
    const struct sim_outcome *out = PASS(w, DAO, "cancel_multisig_tx", U(4), tx);
    assert_int_equal(out->event_count, 0);
    REFUSE(w, "tx already finalized", DAO, "execute_multisig_tx", U(4), tx);
    REFUSE(w, "multi-sig tx not found", DAO, "execute_multisig_tx", U(4), sim_u64(9));
    REFUSE(w, "wallet not found", DAO, "submit_multisig_tx", U(5), sim_u32(3), sim_u64(0),
           C(ENGINE), sim_sym("f"), nothing());
}

int test_model_dao(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(test_deploy_asset),      WORLD_TEST(test_partners_by_vote),
        WORLD_TEST(test_partner_names),     WORLD_TEST(test_catalog_by_vote),
        WORLD_TEST(test_pool_by_vote),      WORLD_TEST(test_signers_by_vote),
        WORLD_TEST(test_many_signers),      WORLD_TEST(test_oracle_by_vote),
        WORLD_TEST(test_verifiers_by_vote), WORLD_TEST(test_collateral_by_vote),
        WORLD_TEST(test_upgrade_by_vote),   WORLD_TEST(test_queue),
        WORLD_TEST(test_cancel_queued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
