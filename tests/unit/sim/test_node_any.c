/* Nothing that anybody may send stops the network: every function with arguments of the right kinds
 * and any value, and envelopes with bytes turned. TIDE_ROUNDS makes it longer. */
#include "node_net.h"

static const enum tide_role roles[CAST_CONTRACTS] = {
    TIDE_ROLE_liquidity_pool,   TIDE_ROLE_synthetic_engine,
    TIDE_ROLE_stability_pool,   TIDE_ROLE_compliance_registry,
    TIDE_ROLE_partner_registry, TIDE_ROLE_earnings_distributor,
    TIDE_ROLE_oracle,           TIDE_ROLE_dao_governance,
    TIDE_ROLE_stellar_asset,    TIDE_ROLE_stellar_asset,
    TIDE_ROLE_synth_token,      TIDE_ROLE_synth_token,
    TIDE_ROLE_synth_token,      TIDE_ROLE_synth_token,
    TIDE_ROLE_wallet,           TIDE_ROLE_wallet,
    TIDE_ROLE_wallet,           TIDE_ROLE_wallet,
};

/* A reproducible choice. */
struct luck {
    uint64_t state;
};

static uint32_t pick(struct luck *luck, uint32_t n)
{
    luck->state = luck->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(luck->state >> 33) % n;
}

static uint32_t rounds(uint32_t fallback)
{
    const char *text = getenv("TIDE_ROUNDS");
    return text ? (uint32_t)strtoul(text, NULL, 10) : fallback;
}

static sim_val any_address(struct net *net, struct luck *luck)
{
    struct sim_addr out = { .kind = pick(luck, 3) == 0 };
    if (out.kind == SIM_CONTRACT)
        memcpy(out.key, net->cast->contracts[pick(luck, CAST_CONTRACTS)].id, TIDE_HASH_BYTES);
    else if (pick(luck, 8))
        memcpy(out.key, net->cast->accounts[pick(luck, net->cast->account_count)].id,
               TIDE_HASH_BYTES);
    return sim_address(out);
}

static tide_slice any_text(struct luck *luck)
{
    static const char *const texts[] = { "XLMUSDC", "SGOLDUSDC", "sGOLD", "sTSLA", "XLM",
                                         "GOLD",    "USDC",      "",      "NOPE",  "A_b_9" };
    return tide_slice_str(texts[pick(luck, TIDE_COUNT(texts))]);
}

static sim_amount any_amount(struct luck *luck)
{
    static const int64_t some[] = {
        0, 1, -1, 7, 10000, 10000000, 5000000000, INT64_MAX, INT64_MIN
    };
    sim_amount out = some[pick(luck, TIDE_COUNT(some))];
    if (pick(luck, 12) == 0)
        out = out * INT64_MAX;
    return out;
}

static sim_val any_value(struct net *net, struct luck *luck, char type)
{
    static const uint8_t bytes[64] = { 0, 0, 0, 15, 1, 2, 3 };
    static const uint64_t numbers[] = { 0, 1, 2, 3, 9, 756, 10000, UINT32_MAX, UINT64_MAX };
    uint64_t number = numbers[pick(luck, TIDE_COUNT(numbers))];
    switch (type) {
    case 'b':
        return sim_bool(pick(luck, 2));
    case 'u':
        return sim_u32((uint32_t)number);
    case 'U':
        return sim_u64(number);
    case 'i':
        return sim_i128(any_amount(luck));
    case 'y':
        return sim_symbol(any_text(luck));
    case 's':
        return sim_string(any_text(luck));
    case 'x':
        return sim_bytes(tide_slice_of(bytes, pick(luck, sizeof bytes)));
    case 'h':
        return sim_bytes(tide_slice_of(bytes, TIDE_HASH_BYTES));
    default:
        return any_address(net, luck);
    }
}

static void any_args(struct net *net, struct luck *luck, const char *types)
{
    tide_buf_reset(&net->args);
    net->arg_count = 0;
    for (; *types; types++) {
        if (*types == 'V') {
            sim_val items[5];
            uint32_t count = pick(luck, 5);
            types++;
            for (uint32_t i = 0; i < count; i++)
                items[i] = any_value(net, luck, *types);
            sim_val vec = { .type = TIDE_SCV_VEC, .len = count, .vec = items };
            sim_val_xdr(&net->args, &vec);
        } else {
            sim_val value = any_value(net, luck, *types);
            sim_val_xdr(&net->args, &value);
        }
        net->arg_count++;
    }
}

/* Sent for real where the simulation passes: by somebody who may do much. */
static void try_function(struct net *net, struct luck *luck, struct person *who,
                         const struct net_call *call, uint32_t passed[2])
{
    struct tide_buf soroban;
    struct compose draft = net_draft(net, who, call);
    net_simulate(net, &draft, call);
    passed[net->simulated.error.len == 0]++;
    if (net->simulated.error.len || pick(luck, 4))
        return;
    tide_buf_init(&soroban, 1 << 20);
    struct net_call signing = *call;
    signing.other = who;
    net_assemble(net, &draft, &signing, &soroban);
    net_sign_and_send(net, &draft, who->key);
    net_close_ledger(net);
    who->seq = net_seq(net, who->public) + 1;
    tide_buf_release(&soroban);
}

static void any_call_is_answered(void **state)
{
    (void)state;
    static struct net net;
    struct luck luck = { 5 };
    uint32_t passed[2] = { 0 };
    net_open(&net, 2, 0, 60);
    struct person who = net_person(&net, "daowallet");
    for (uint32_t place = 0; place < CAST_CONTRACTS; place++) {
        const struct sim_class *code = sim_class_of(roles[place]);
        for (const struct sim_fn *fn = code ? code->fns : NULL; fn && fn->name; fn++) {
            struct net_call call = { .contract = place,
                                     .fn = fn->name,
                                     .auth = NODE_AUTH_RECORD_NONROOT };
            for (uint32_t i = rounds(12); i > 0; i--) {
                any_args(&net, &luck, fn->types);
                try_function(&net, &luck, &who, &call, passed);
            }
        }
    }
    assert_true(passed[0] > 500 && passed[1] > 100);
    tide_sign_close(who.key);
    net_close(&net);
}

/* Whatever stands in an envelope, simulating it is an answer and no end. */
static void turned_bytes_are_answered(void **state)
{
    (void)state;
    static struct net net;
    struct luck luck = { 9 };
    uint8_t hash[TIDE_HASH_BYTES];
    net_open(&net, 2, 0, 60);
    struct person who = net_person(&net, "user2");
    struct net_call call = { .contract = CAST_ORACLE, .fn = "submit_prices" };
    any_args(&net, &luck, "aVyVi");
    struct compose draft = net_draft(&net, &who, &call);
    assert_int_equal(compose_envelope(&net.envelope, &draft, who.key, hash), TIDE_OK);
    for (uint32_t i = 0; i < rounds(40) * 100; i++) {
        size_t at = pick(&luck, (uint32_t)net.envelope.len);
        uint8_t was = net.envelope.ptr[at];
        net.envelope.ptr[at] = (uint8_t)(pick(&luck, 2) ? pick(&luck, 20) : pick(&luck, 256));
        struct node_simulate in = { .envelope = tide_buf_view(&net.envelope),
                                    .auth = (enum node_auth)pick(&luck, 4) };
        if (node_simulate(net.node, &in, &net.simulated) == TIDE_OK)
            assert_true(net.simulated.error.len > 0 || net.simulated.data.len > 0);
        net.envelope.ptr[at] = was;
    }
    net_close_ledger(&net);
    tide_sign_close(who.key);
    net_close(&net);
}

int test_node_any(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_is_answered),
        cmocka_unit_test(turned_bytes_are_answered),
    };
    return cmocka_run_group_tests_name("node any", tests, NULL, NULL);
}
