/* The network: transactions from outside, from their simulation to their ledger. */
#include "node_net.h"

static const struct net_call swap = { .contract = CAST_POOL, .fn = "swap_exact_in" };
static const struct net_call attest = { .contract = CAST_COMPLIANCE, .fn = "attest" };

static void swap_args(struct net *net, const struct person *who, int64_t amount)
{
    NET_ARGS(net, sim_address(net_addr(who)), sim_sym("XLMUSDC"), sim_bool(true), sim_i128(amount),
             sim_i128(0), sim_u32(0));
}

static void attest_args(struct net *net, const struct person *verifier, const struct person *who)
{
    NET_ARGS(net, sim_address(net_addr(verifier)), sim_address(net_addr(who)), sim_u32(756),
             sim_u64(node_latest(net->node).close_time + 86400), sim_bytes(TIDE_SLICE("meta")));
}

static int set_up(void **state)
{
    static struct net net;
    net_open(&net, 2, 0, 60);
    *state = &net;
    return 0;
}

static int tear_down(void **state)
{
    net_close(*state);
    return 0;
}

static void a_newcomer_swaps_once_it_is_attested(void **state)
{
    struct net *net = *state;
    struct person alice = net_newcomer(net, "alice"), verifier = net_person(net, "sumsub");
    struct tide_buf soroban;
    tide_buf_init(&soroban, 1 << 20);
    /* before: the simulation says why not */
    swap_args(net, &alice, 10000000);
    struct compose draft = net_draft(net, &alice, &swap);
    net_simulate(net, &draft, &swap);
    assert_true(net->simulated.error.len > 0);
    assert_memory_equal(net->simulated.error.ptr, "HostError: Error(WasmVm, InvalidAction)", 39);
    assert_int_equal(net->simulated.events.count, 1);
    assert_false(net->simulated.invokes);
    /* the verifier attests */
    attest_args(net, &verifier, &alice);
    const struct net_seen *seen = net_run(net, &verifier, &attest);
    assert_true(seen->successful);
    assert_true(seen->events > 0);
    /* after */
    swap_args(net, &alice, 10000000);
    seen = net_run(net, &alice, &swap);
    assert_true(seen->successful);
    assert_true(seen->answer_len == 20 && tide_be64(seen->answer + 12) > 0);
    assert_true(seen->events >= 3);
    tide_buf_release(&soroban);
    tide_sign_close(alice.key);
    tide_sign_close(verifier.key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_newcomer_swaps_once_it_is_attested),
    };
    return cmocka_run_group_tests_name("node", tests, set_up, tear_down);
}
