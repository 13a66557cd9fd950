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
    assert_true(((struct net *)*state)->compared > 5000);
    assert_true(((struct net *)*state)->compared_lives > 200);
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

/* The person, attested and ready to trade. */
static struct person trader(struct net *net, const char *name)
{
    struct person who = net_newcomer(net, name), verifier = net_person(net, "persona");
    attest_args(net, &verifier, &who);
    assert_true(net_run(net, &verifier, &attest)->successful);
    tide_sign_close(verifier.key);
    net->watched_count--;
    return who;
}

static void a_call_may_be_authorised_by_another_address(void **state)
{
    struct net *net = *state;
    struct person owner = trader(net, "owner"), sender = net_newcomer(net, "sender");
    struct net_call call = swap;
    call.other = &owner;
    for (int upgraded = 0; upgraded < 2; upgraded++) {
        call.upgraded = upgraded;
        swap_args(net, &owner, 5000000 + upgraded);
        const struct net_seen *seen = net_run(net, &sender, &call);
        assert_int_equal(net->simulated.auth.count, 1);
        assert_int_equal(tide_be32(net->simulated.auth.items[0].ptr), upgraded ? 2 : 1);
        assert_true(seen->successful);
    }
    /* the wrong person's signature */
    call.other = &sender;
    swap_args(net, &owner, 6000000);
    const struct net_seen *seen = net_run(net, &sender, &call);
    assert_false(seen->successful);
    assert_int_equal(seen->op_code, -2);
    assert_string_equal(seen->error, "failed account authentication");
    assert_int_equal(seen->events, 0);
    tide_sign_close(owner.key);
    tide_sign_close(sender.key);
}

/* What a person who tampers, or waits, gets. */
static void an_authorisation_is_used_once_and_in_time(void **state)
{
    struct net *net = *state;
    struct person owner = trader(net, "careful"), sender = net_newcomer(net, "courier");
    struct net_call call = swap;
    struct tide_buf soroban;
    call.other = &owner;
    tide_buf_init(&soroban, 1 << 20);
    swap_args(net, &owner, 5000000);
    struct compose draft = net_draft(net, &sender, &call);
    net_simulate(net, &draft, &call);
    net_assemble(net, &draft, &call, &soroban);
    net_sign_and_send(net, &draft, sender.key);
    assert_int_equal(net->sent.status, NODE_PENDING);
    net_close_ledger(net);
    assert_true(net_find(net, net->sent.hash)->successful);
    /* the same entry again: its nonce is gone */
    draft.seq++;
    net_sign_and_send(net, &draft, sender.key);
    net_close_ledger(net);
    const struct net_seen *seen = net_find(net, net->sent.hash);
    assert_false(seen->successful);
    assert_string_equal(seen->error, "nonce already exists for address");
    /* enforcing says so beforehand */
    call.auth = NODE_AUTH_ENFORCE;
    net_simulate(net, &draft, &call);
    assert_true(memmem(net->simulated.error.ptr, net->simulated.error.len, "ExistingValue", 13));
    /* a fresh one that has run out */
    call.auth = NODE_AUTH_RECORD;
    draft = net_draft(net, &sender, &call);
    draft.seq += 2;
    net_simulate(net, &draft, &call);
    net_assemble(net, &draft, &call, &soroban);
    draft.max_time += 3600;
    for (int i = 0; i < 52; i++)
        net_close_ledger(net);
    net_sign_and_send(net, &draft, sender.key);
    net_close_ledger(net);
    seen = net_find(net, net->sent.hash);
    assert_false(seen->successful);
    assert_string_equal(seen->error, "signature has expired or lives too long");
    tide_buf_release(&soroban);
    tide_sign_close(owner.key);
    tide_sign_close(sender.key);
}

static void nobody_signs_for_somebody_else(void **state)
{
    struct net *net = *state;
    struct person owner = trader(net, "victim"), thief = net_newcomer(net, "thief");
    struct tide_buf soroban;
    tide_buf_init(&soroban, 1 << 20);
    swap_args(net, &owner, 5000000);
    struct compose draft = net_draft(net, &thief, &swap);
    net_simulate(net, &draft, &swap);
    net_assemble(net, &draft, &(struct net_call){ .other = &thief }, &soroban);
    draft.auth = (tide_slice){ 0 }; /* no entry at all */
    draft.auth_count = 0;
    net_sign_and_send(net, &draft, thief.key);
    net_close_ledger(net);
    const struct net_seen *seen = net_find(net, net->sent.hash);
    assert_false(seen->successful);
    assert_string_equal(seen->error, "Unauthorized function call for address");
    tide_buf_release(&soroban);
    tide_sign_close(owner.key);
    tide_sign_close(thief.key);
}

static void what_a_footprint_leaves_out_is_not_touched(void **state)
{
    struct net *net = *state;
    struct person who = trader(net, "sloppy");
    struct tide_buf soroban;
    tide_buf_init(&soroban, 1 << 20);
    swap_args(net, &who, 5000000);
    struct compose draft = net_draft(net, &who, &swap);
    net_simulate(net, &draft, &swap);
    net_assemble(net, &draft, &swap, &soroban);
    /* the footprint of another pool's swap, as dear as this one */
    NET_ARGS(net, sim_address(net_addr(&who)), sim_sym("SGOLDUSDC"), sim_bool(false),
             sim_i128(50000000), sim_i128(0), sim_u32(0));
    struct compose other = net_draft(net, &who, &swap);
    net_simulate(net, &other, &swap);
    assert_int_equal(net->simulated.error.len, 0);
    tide_buf_reset(&soroban);
    tide_buf_slice(&soroban, net->simulated.data);
    swap_args(net, &who, 5000000);
    draft.args = tide_buf_view(&net->args);
    draft.arg_count = net->arg_count;
    draft.soroban = tide_buf_view(&soroban);
    draft.fee = 100 + (uint32_t)net->simulated.min_resource_fee;
    net_sign_and_send(net, &draft, who.key);
    assert_int_equal(net->sent.status, NODE_PENDING);
    net_close_ledger(net);
    const struct net_seen *seen = net_find(net, net->sent.hash);
    assert_false(seen->successful);
    assert_int_equal(seen->op_code, -2);
    assert_string_equal(seen->error, "trying to access contract data key outside of the footprint");
    assert_int_equal(net_seq(net, who.public), draft.seq); /* used up all the same */
    tide_buf_release(&soroban);
    tide_sign_close(who.key);
}

/* A refusal on chain: by a contract, after a simulation that passed. */
static void a_contract_refuses_on_chain_what_has_changed_since(void **state)
{
    struct net *net = *state;
    struct person who = trader(net, "unlucky"), verifier = net_person(net, "persona");
    struct tide_buf soroban;
    tide_buf_init(&soroban, 1 << 20);
    swap_args(net, &who, 5000000);
    struct compose draft = net_draft(net, &who, &swap);
    net_simulate(net, &draft, &swap);
    net_assemble(net, &draft, &swap, &soroban);
    struct tide_buf kept = net->args, kept_auth = net->auth; /* the draft's */
    tide_buf_init(&net->args, 1 << 20);
    tide_buf_init(&net->auth, 1 << 20);
    NET_ARGS(net, sim_address(net_addr(&verifier)), sim_address(net_addr(&who)));
    struct net_call revoke = { .contract = CAST_COMPLIANCE, .fn = "revoke" };
    assert_true(net_run(net, &verifier, &revoke)->successful);
    net_sign_and_send(net, &draft, who.key);
    assert_int_equal(net->sent.status, NODE_PENDING);
    net_close_ledger(net);
    const struct net_seen *seen = net_find(net, net->sent.hash);
    assert_false(seen->successful);
    assert_int_equal(seen->code, -1);
    assert_int_equal(seen->op_code, -2);
    assert_true(strlen(seen->error) > 0);
    assert_int_equal(seen->events, 0);
    assert_true(seen->fee > 100);
    tide_buf_release(&kept);
    tide_buf_release(&kept_auth);
    tide_buf_release(&soroban);
    tide_sign_close(who.key);
    tide_sign_close(verifier.key);
}

static void the_population_keeps_off_accounts_in_use(void **state)
{
    struct net *net = *state;
    struct person user = net_person(net, "user3");
    int64_t before = net_seq(net, user.public), others = 0;
    struct person other = net_person(net, "user4");
    uint32_t ledgers = 0;
    for (uint32_t i = 0; i < NODE_LEAVE - 1; i++) {
        net_close_ledger(net);
        ledgers += net->seen_count > 0;
    }
    assert_true(ledgers > NODE_LEAVE / 2); /* they do go on */
    assert_int_equal(net_seq(net, user.public), before);
    /* left alone for long, it is one of them again */
    net->watched_count -= 2;
    for (uint32_t i = 0; i < 3 * NODE_LEAVE; i++)
        net_close_ledger(net);
    others = net_seq(net, user.public) + net_seq(net, other.public);
    assert_true(others > 2 * before);
    tide_sign_close(user.key);
    tide_sign_close(other.key);
}

static void entries_are_found_by_their_keys(void **state)
{
    struct net *net = *state;
    struct node_entry entry;
    struct tide_buf key;
    uint8_t nobody[TIDE_HASH_BYTES] = { 7 }, empty[TIDE_HASH_BYTES];
    struct person who = net_newcomer(net, "reader");
    tide_buf_init(&key, 4096);
    net_account_key(&key, nobody);
    assert_int_equal(node_entry(net->node, tide_buf_view(&key), &entry), TIDE_E_MISSING);
    /* its trustline: type, key, asset, balance */
    struct tide_buf asset;
    tide_buf_init(&asset, 64);
    lcm_put_asset4(&asset, "USDC", net->cast->accounts[CAST_ISSUER].id);
    tide_buf_reset(&key);
    lcm_put_trustline_key(&key, who.public, tide_buf_view(&asset));
    assert_int_equal(node_entry(net->node, tide_buf_view(&key), &entry), TIDE_OK);
    assert_false(entry.lives);
    assert_int_equal(tide_be64(entry.data.ptr + 40 + asset.len), 10000 * 10000000LL);
    /* a contract's instance, and its code */
    struct tide_buf address;
    tide_buf_init(&address, 64);
    lcm_put_address_contract(&address, net->cast->contracts[CAST_POOL].id);
    struct lcm_data data = { tide_buf_view(&address), TIDE_SLICE("\0\0\0\x14"), 1 };
    tide_buf_reset(&key);
    lcm_put_data_key(&key, &data);
    assert_int_equal(node_entry(net->node, tide_buf_view(&key), &entry), TIDE_OK);
    assert_true(entry.lives && entry.live_until > node_latest(net->node).sequence);
    assert_int_equal(tide_be32(entry.data.ptr), 6);
    tide_sha256(empty, (tide_slice){ 0 });
    tide_buf_reset(&key);
    lcm_put_code_key(&key, empty);
    assert_int_equal(node_entry(net->node, tide_buf_view(&key), &entry), TIDE_OK);
    assert_int_equal(entry.data.len, 4 + 4 + 32 + 4);
    /* what is no key, and what nobody may ask for */
    tide_buf_u8(&key, 0);
    assert_int_equal(node_entry(net->node, tide_buf_view(&key), &entry), TIDE_E_DECODE);
    tide_buf_reset(&key);
    lcm_put_ttl_key(&key, empty);
    assert_int_equal(node_entry(net->node, tide_buf_view(&key), &entry), TIDE_E_USAGE);
    assert_int_equal(node_entry(net->node, (tide_slice){ 0 }, &entry), TIDE_E_DECODE);
    tide_buf_release(&key);
    tide_buf_release(&asset);
    tide_buf_release(&address);
    tide_sign_close(who.key);
}

static void a_simulation_tells_what_would_change(void **state)
{
    struct net *net = *state;
    struct person who = trader(net, "curious");
    uint32_t kinds[4] = { 0 };
    swap_args(net, &who, 5000000);
    struct compose draft = net_draft(net, &who, &swap);
    for (int twice = 0; twice < 2; twice++) {
        struct net_call call = swap;
        net_simulate(net, &draft, &call);
        assert_int_equal(net->simulated.error.len, 0);
        assert_true(net->simulated.invokes);
        assert_true(net->simulated.change_count >= 3);
        assert_true(net->simulated.events.count >= 3);
        assert_int_equal(net->simulated.auth.count, 1);
        assert_int_equal(tide_be32(net->simulated.auth.items[0].ptr), 0); /* the source itself */
    }
    for (uint32_t i = 0; i < net->simulated.change_count; i++) {
        const struct node_change *change = &net->simulated.changes[i];
        kinds[change->type]++;
        assert_true((change->type == NODE_CHANGE_CREATED) == (change->before.len == 0));
        assert_true((change->type == NODE_CHANGE_DELETED) == (change->after.len == 0));
    }
    assert_true(kinds[NODE_CHANGE_UPDATED] >= 3);
    /* it kept nothing, and what nobody understands is refused in the network's words */
    draft.fn = "no_such_function";
    net_simulate(net, &draft, &swap);
    assert_memory_equal(net->simulated.error.ptr, "HostError: Error(WasmVm, MissingValue)", 38);
    NET_ARGS(net, sim_u32(1));
    draft.fn = "swap_exact_in";
    draft.args = tide_buf_view(&net->args);
    draft.arg_count = 1;
    net_simulate(net, &draft, &swap);
    assert_memory_equal(net->simulated.error.ptr, "HostError: Error(WasmVm, UnexpectedSize)", 40);
    draft.memo = 1;
    net_simulate(net, &draft, &swap);
    assert_memory_equal(net->simulated.error.ptr, "Transaction contains a memo", 27);
    assert_int_equal(node_simulate(net->node,
                                   &(struct node_simulate){ .envelope = TIDE_SLICE("\0\0\0\2") },
                                   &net->simulated),
                     TIDE_E_DECODE);
    tide_sign_close(who.key);
}

int test_node(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_newcomer_swaps_once_it_is_attested),
        cmocka_unit_test(a_call_may_be_authorised_by_another_address),
        cmocka_unit_test(an_authorisation_is_used_once_and_in_time),
        cmocka_unit_test(nobody_signs_for_somebody_else),
        cmocka_unit_test(what_a_footprint_leaves_out_is_not_touched),
        cmocka_unit_test(a_contract_refuses_on_chain_what_has_changed_since),
        cmocka_unit_test(entries_are_found_by_their_keys),
        cmocka_unit_test(a_simulation_tells_what_would_change),
        cmocka_unit_test(the_population_keeps_off_accounts_in_use),
    };
    return cmocka_run_group_tests_name("node", tests, set_up, tear_down);
}
