/* Lives of entries, as people on the network deal with them: restoring and extending. */
#include "node_net.h"

static const struct net_call swap = { .contract = CAST_POOL, .fn = "swap_exact_in" };
static const struct net_call attest = { .contract = CAST_COMPLIANCE, .fn = "attest" };

enum { LIFE = 30 };

static void swap_args(struct net *net, const struct person *who)
{
    NET_ARGS(net, sim_address(net_addr(who)), sim_sym("XLMUSDC"), sim_bool(true),
             sim_i128(10000000), sim_i128(0), sim_u32(0));
}

/* Attested, and then away for longer than what is known of them lives. */
static struct person returning(struct net *net)
{
    struct person who = net_newcomer(net, "returning"), verifier = net_person(net, "sumsub");
    NET_ARGS(net, sim_address(net_addr(&verifier)), sim_address(net_addr(&who)), sim_u32(756),
             sim_u64(0), sim_bytes(TIDE_SLICE("")));
    const struct net_seen *seen = net_run(net, &verifier, &attest);
    if (!seen->successful)
        fail_msg("attest: %d %d %s", seen->code, seen->op_code, seen->error);
    for (int i = 0; i < 2 * LIFE; i++)
        net_close_ledger(net);
    tide_sign_close(verifier.key);
    return who;
}

/* What the data ends with once its list of places to restore is taken out. */
static void without_list(struct tide_buf *soroban)
{
    assert_int_equal(tide_be32(soroban->ptr), 1);
    size_t list = 4 + 4 * (size_t)tide_be32(soroban->ptr + 4);
    memset(soroban->ptr, 0, 4);
    memmove(soroban->ptr + 4, soroban->ptr + 4 + list, soroban->len - 4 - list);
    soroban->len -= list;
}

static void what_lapsed_comes_back_with_the_call(void **state)
{
    (void)state;
    struct net net;
    struct tide_buf soroban;
    tide_buf_init(&soroban, 1 << 20);
    net_open(&net, 2, LIFE, 60);
    struct person who = returning(&net);
    swap_args(&net, &who);
    struct compose draft = net_draft(&net, &who, &swap);
    net_simulate(&net, &draft, &swap);
    assert_int_equal(net.simulated.error.len, 0);
    assert_int_equal(net.simulated.restore.len, 0);
    net_assemble(&net, &draft, &swap, &soroban);
    without_list(&soroban);
    draft.soroban = tide_buf_view(&soroban);
    net_sign_and_send(&net, &draft, who.key);
    assert_int_equal(net.sent.status, NODE_PENDING);
    net_close_ledger(&net);
    const struct net_seen *seen = net_find(&net, net.sent.hash);
    assert_false(seen->successful);
    assert_int_equal(seen->op_code, -4); /* INVOKE_HOST_FUNCTION_ENTRY_ARCHIVED */
    who.seq++;
    seen = net_run(&net, &who, &swap);
    assert_true(seen->successful);
    assert_true(seen->restored >= 2); /* an entry and its life, at least */
    tide_sign_close(who.key);
    tide_buf_release(&soroban);
    net_close(&net);
}

/* Protocol 22: a transaction of its own. */
static void what_lapsed_used_to_be_restored_first(void **state)
{
    (void)state;
    struct net net;
    net_open(&net, 1, LIFE, 60);
    struct person who = returning(&net);
    swap_args(&net, &who);
    struct compose draft = net_draft(&net, &who, &swap);
    net_simulate(&net, &draft, &swap);
    assert_int_equal(net.simulated.error.len, 0);
    assert_int_equal(tide_be32(net.simulated.data.ptr), 0);
    assert_true(net_restore(&net, &who));
    assert_true(net_find(&net, net.sent.hash)->restored >= 2);
    swap_args(&net, &who);
    const struct net_seen *seen = net_run(&net, &who, &swap);
    assert_true(seen->successful);
    assert_int_equal(seen->restored, 0);
    tide_sign_close(who.key);
    net_close(&net);
}

static void a_life_is_made_longer(void **state)
{
    (void)state;
    struct net net;
    struct node_entry entry;
    struct tide_buf soroban, address, key;
    tide_buf_init(&soroban, 1 << 20);
    tide_buf_init(&address, 64);
    tide_buf_init(&key, 256);
    net_open(&net, 2, LIFE, 60);
    struct person who = net_newcomer(&net, "keeper");
    lcm_put_address_contract(&address, net.cast->contracts[CAST_POOL].id);
    struct lcm_data data = { tide_buf_view(&address), TIDE_SLICE("\0\0\0\x14"), 1 };
    lcm_put_data_key(&key, &data);
    tide_buf_be32(&soroban, 0);
    tide_buf_be32(&soroban, 1);
    tide_buf_slice(&soroban, tide_buf_view(&key));
    for (int i = 0; i < 6; i++) /* nothing written, no resources, no fee yet */
        tide_buf_be32(&soroban, 0);
    struct compose extend = { .network_id = net.cast->network_id,
                              .source = who.public,
                              .seq = who.seq,
                              .fee = 100,
                              .op = LCM_OP_EXTEND_TTL,
                              .extend_to = 5000,
                              .soroban = tide_buf_view(&soroban) };
    net_simulate(&net, &extend, &(struct net_call){ 0 });
    assert_int_equal(net.simulated.error.len, 0);
    assert_false(net.simulated.invokes);
    net_assemble(&net, &extend, &(struct net_call){ 0 }, &soroban);
    net_sign_and_send(&net, &extend, who.key);
    assert_int_equal(net.sent.status, NODE_PENDING);
    net_close_ledger(&net);
    assert_true(net_find(&net, net.sent.hash)->successful);
    assert_int_equal(node_entry(net.node, tide_buf_view(&key), &entry), TIDE_OK);
    assert_int_equal(entry.live_until, node_latest(net.node).sequence + 5000);
    tide_sign_close(who.key);
    tide_buf_release(&soroban);
    tide_buf_release(&address);
    tide_buf_release(&key);
    net_close(&net);
}

int test_node_life(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lapsed_comes_back_with_the_call),
        cmocka_unit_test(what_lapsed_used_to_be_restored_first),
        cmocka_unit_test(a_life_is_made_longer),
    };
    return cmocka_run_group_tests_name("node life", tests, NULL, NULL);
}
