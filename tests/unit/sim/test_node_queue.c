/* The queue: what is taken, what is refused and with which code, what is dropped and banned. */
#include "node_net.h"

static const struct net_call swap = { .contract = CAST_POOL, .fn = "swap_exact_in" };

/* user1 swaps; whether the pool agrees is another matter. */
struct desk {
    struct net net;
    struct person user;
    struct compose draft; /* complete, but for its signature */
    struct tide_buf soroban;
};

static void redraft(struct desk *d, int64_t amount)
{
    NET_ARGS(&d->net, sim_address(net_addr(&d->user)), sim_sym("XLMUSDC"), sim_bool(true),
             sim_i128(amount), sim_i128(0), sim_u32(0));
    d->user.seq = net_seq(&d->net, d->user.public) + 1;
    d->draft = net_draft(&d->net, &d->user, &swap);
    net_simulate(&d->net, &d->draft, &swap);
    if (d->net.simulated.error.len)
        fail_msg("%.*s", TIDE_SLICE_FMT(d->net.simulated.error));
    net_assemble(&d->net, &d->draft, &swap, &d->soroban);
}

static int set_up(void **state)
{
    static struct desk d;
    static const struct net_call attest = { .contract = CAST_COMPLIANCE, .fn = "attest" };
    struct person verifier;
    net_open(&d.net, 2, 0, 60);
    tide_buf_init(&d.soroban, 1 << 20);
    d.user = net_newcomer(&d.net, "queuer");
    verifier = net_person(&d.net, "sumsub");
    NET_ARGS(&d.net, sim_address(net_addr(&verifier)), sim_address(net_addr(&d.user)), sim_u32(756),
             sim_u64(0), sim_bytes(TIDE_SLICE("")));
    assert_true(net_run(&d.net, &verifier, &attest)->successful);
    tide_sign_close(verifier.key);
    redraft(&d, 1000000);
    *state = &d;
    return 0;
}

static int tear_down(void **state)
{
    struct desk *d = *state;
    tide_buf_release(&d->soroban);
    tide_sign_close(d->user.key);
    net_close(&d->net);
    return 0;
}

static void send_draft(struct desk *d, const struct compose *what)
{
    net_sign_and_send(&d->net, what, d->user.key);
}

static void refused_with(struct desk *d, const struct compose *what, int32_t code)
{
    send_draft(d, what);
    assert_int_equal(net_error(&d->net), code);
}

static void each_fault_has_its_code(void **state)
{
    struct desk *d = *state;
    struct compose bad = d->draft;
    struct node_latest latest = node_latest(d->net.node);
    bad.seq--;
    refused_with(d, &bad, -5); /* txBAD_SEQ */
    bad.seq += 2;
    refused_with(d, &bad, -5);
    bad = d->draft;
    bad.fee = bad.fee - 1;
    refused_with(d, &bad, -9); /* txINSUFFICIENT_FEE */
    assert_int_equal(tide_be64(d->net.sent.result.ptr), d->draft.fee);
    bad.fee = (uint32_t)d->net.simulated.min_resource_fee - 1;
    refused_with(d, &bad, -17); /* txSOROBAN_INVALID: less than its own resource fee */
    bad = d->draft;
    bad.max_time = latest.close_time - 1;
    refused_with(d, &bad, -3); /* txTOO_LATE */
    bad.max_time = latest.close_time + 300;
    bad.min_time = latest.close_time + 60;
    refused_with(d, &bad, -2); /* txTOO_EARLY */
    bad = d->draft;
    bad.memo = 7;
    refused_with(d, &bad, -17); /* txSOROBAN_INVALID: calls have no memo */
    bad = d->draft;
    bad.soroban = (tide_slice){ 0 };
    refused_with(d, &bad, -16); /* txMALFORMED: no footprint */
    bad = d->draft;
    struct person stranger = net_person(&d->net, "never seen");
    net_sign_and_send(&d->net, &bad, stranger.key);
    assert_int_equal(net_error(&d->net), -6); /* txBAD_AUTH */
    bad.source = stranger.public;
    net_sign_and_send(&d->net, &bad, stranger.key);
    assert_int_equal(net_error(&d->net), -8); /* txNO_ACCOUNT */
    net_sign_and_send(&d->net, &d->draft, NULL);
    assert_int_equal(net_error(&d->net), -6);
    bad = d->draft;
    bad.fee = UINT32_MAX; /* nobody is charged more than 100 for inclusion: it is taken */
    send_draft(d, &bad);
    assert_int_equal(d->net.sent.status, NODE_PENDING);
    net_close_ledger(&d->net);
    const struct net_seen *seen = net_find(&d->net, d->net.sent.hash);
    assert_true(seen->successful);
    assert_true(seen->fee < d->draft.fee);
    refused_with(d, &bad, -5); /* applied already */
    tide_sign_close(stranger.key);
    redraft(d, 1000000);
}

static void a_resource_fee_too_low_is_invalid(void **state)
{
    struct desk *d = *state;
    struct compose bad = d->draft;
    struct tide_buf data;
    tide_buf_init(&data, 1 << 16);
    tide_buf_slice(&data, d->draft.soroban);
    memset(data.ptr + data.len - 8, 0, 8);
    data.ptr[data.len - 2] = 40; /* some thousands */
    bad.soroban = tide_buf_view(&data);
    refused_with(d, &bad, -17);
    tide_buf_release(&data);
}

static void bytes_that_are_no_envelope_are_said_to_be_none(void **state)
{
    struct desk *d = *state;
    struct node_sent sent;
    uint8_t hash[TIDE_HASH_BYTES];
    struct tide_buf *buf = &d->net.envelope;
    tide_buf_reset(buf);
    assert_int_equal(compose_envelope(buf, &d->draft, d->user.key, hash), TIDE_OK);
    for (size_t len = 0; len < buf->len; len += 1 + len / 7)
        assert_int_not_equal(node_send(d->net.node, tide_slice_of(buf->ptr, len), &sent), TIDE_OK);
    tide_buf_be32(buf, 0);
    assert_int_equal(node_send(d->net.node, tide_buf_view(buf), &sent), TIDE_E_DECODE);
    /* any byte turned: never taken, never a crash */
    buf->len -= 4;
    for (size_t i = 0; i < buf->len; i++) {
        buf->ptr[i] ^= 0x41;
        if (node_send(d->net.node, tide_buf_view(buf), &sent) == TIDE_OK)
            assert_int_equal(sent.status, NODE_ERROR);
        buf->ptr[i] ^= 0x41;
    }
}

static void one_waits_for_each_account(void **state)
{
    struct desk *d = *state;
    uint8_t hash[TIDE_HASH_BYTES];
    redraft(d, 1000000);
    send_draft(d, &d->draft);
    assert_int_equal(d->net.sent.status, NODE_PENDING);
    memcpy(hash, d->net.sent.hash, TIDE_HASH_BYTES);
    send_draft(d, &d->draft);
    assert_int_equal(d->net.sent.status, NODE_DUPLICATE);
    struct compose next = d->draft;
    next.seq++;
    send_draft(d, &next);
    assert_int_equal(d->net.sent.status, NODE_TRY_AGAIN_LATER);
    next = d->draft;
    next.max_time++;
    send_draft(d, &next);
    assert_int_equal(d->net.sent.status, NODE_TRY_AGAIN_LATER);
    net_close_ledger(&d->net);
    assert_non_null(net_find(&d->net, hash));
    redraft(d, 1000000);
}

static void who_waits_too_long_is_dropped_and_banned(void **state)
{
    struct desk *d = *state;
    uint8_t hash[TIDE_HASH_BYTES];
    redraft(d, 1000000);
    node_hold(d->net.node, NODE_PATIENCE);
    send_draft(d, &d->draft);
    assert_int_equal(d->net.sent.status, NODE_PENDING);
    memcpy(hash, d->net.sent.hash, TIDE_HASH_BYTES);
    for (int i = 0; i < NODE_PATIENCE; i++) {
        send_draft(d, &d->draft);
        assert_int_equal(d->net.sent.status, NODE_DUPLICATE);
        net_close_ledger(&d->net);
        assert_null(net_find(&d->net, hash));
    }
    for (int i = 0; i < NODE_BAN; i++) {
        send_draft(d, &d->draft);
        assert_int_equal(d->net.sent.status, NODE_TRY_AGAIN_LATER);
        net_close_ledger(&d->net);
        assert_null(net_find(&d->net, hash));
    }
    send_draft(d, &d->draft);
    assert_int_equal(d->net.sent.status, NODE_PENDING);
    net_close_ledger(&d->net);
    assert_non_null(net_find(&d->net, hash));
    redraft(d, 1000000);
}

static void send_bump(struct desk *d, const struct person *payer, int64_t fee)
{
    struct tide_buf buf;
    uint8_t hash[TIDE_HASH_BYTES];
    tide_buf_init(&buf, 1 << 20);
    tide_buf_reset(&d->net.envelope);
    assert_int_equal(compose_envelope(&d->net.envelope, &d->draft, d->user.key, hash), TIDE_OK);
    assert_int_equal(compose_bump(&buf, d->net.cast->network_id, tide_buf_view(&d->net.envelope),
                                  fee, payer->key, hash),
                     TIDE_OK);
    assert_int_equal(node_send(d->net.node, tide_buf_view(&buf), &d->net.sent), TIDE_OK);
    assert_memory_equal(hash, d->net.sent.hash, TIDE_HASH_BYTES);
    tide_buf_release(&buf);
}

static void a_fee_bump_takes_the_place_of_what_it_wraps(void **state)
{
    struct desk *d = *state;
    struct person payer = net_newcomer(&d->net, "payer");
    uint8_t inner[TIDE_HASH_BYTES];
    redraft(d, 1000000);
    int64_t resources = d->net.simulated.min_resource_fee;
    send_draft(d, &d->draft);
    assert_int_equal(d->net.sent.status, NODE_PENDING);
    memcpy(inner, d->net.sent.hash, TIDE_HASH_BYTES);
    send_bump(d, &payer, resources + 1999); /* 2 x 1000 would be ten times as much */
    assert_int_equal(net_error(&d->net), -9);
    assert_int_equal(tide_be64(d->net.sent.result.ptr), resources + 2000);
    send_bump(d, &payer, resources + 2000);
    assert_int_equal(d->net.sent.status, NODE_PENDING);
    send_bump(d, &payer, resources + 2000);
    assert_int_equal(d->net.sent.status, NODE_DUPLICATE);
    net_close_ledger(&d->net);
    assert_null(net_find(&d->net, inner));
    const struct net_seen *seen = net_find(&d->net, d->net.sent.hash);
    assert_non_null(seen);
    assert_int_equal(seen->code, 1); /* txFEE_BUMP_INNER_SUCCESS */
    assert_memory_equal(seen->inner, inner, TIDE_HASH_BYTES);
    /* its inner one is bad now */
    send_bump(d, &payer, resources + 2000);
    assert_int_equal(net_error(&d->net), -13);
    assert_memory_equal(d->net.sent.result.ptr + 12, inner, TIDE_HASH_BYTES);
    assert_int_equal((int32_t)tide_be32(d->net.sent.result.ptr + 12 + 32 + 8), -5);
    tide_sign_close(payer.key);
    redraft(d, 1000000);
}

static void a_payer_without_money_is_refused(void **state)
{
    struct desk *d = *state;
    struct person poor = net_newcomer(&d->net, "poor"), stranger = net_person(&d->net, "no one");
    redraft(d, 1000000);
    send_bump(d, &stranger, d->draft.fee + 5000);
    assert_int_equal(net_error(&d->net), -8);
    send_bump(d, &poor, 10001LL * 10000000); /* more than it has, though less would be charged */
    assert_int_equal(net_error(&d->net), -7);
    send_bump(d, &poor, 9000LL * 10000000);
    assert_int_equal(d->net.sent.status, NODE_PENDING);
    net_close_ledger(&d->net);
    assert_true(net_find(&d->net, d->net.sent.hash)->fee < d->draft.fee + 200);
    tide_sign_close(poor.key);
    tide_sign_close(stranger.key);
    redraft(d, 1000000);
}

static void the_queue_is_bounded(void **state)
{
    struct desk *d = *state;
    uint8_t key[TIDE_HASH_BYTES] = { 0 }, hash[TIDE_HASH_BYTES];
    tide_status status = TIDE_OK;
    uint32_t taken = 0;
    node_hold(d->net.node, 2);
    for (; status == TIDE_OK && taken <= NODE_QUEUE_MAX; taken += status == TIDE_OK) {
        memcpy(key, &taken, sizeof taken);
        key[31] = 1;
        status = node_fund(d->net.node, key, hash);
    }
    assert_int_equal(status, TIDE_E_LIMIT);
    assert_int_equal(taken, NODE_QUEUE_MAX);
    assert_int_equal(node_fund(d->net.node, key, hash), TIDE_E_LIMIT);
    memset(key, 0, sizeof key);
    key[31] = 1;
    assert_int_equal(node_fund(d->net.node, key, hash), TIDE_E_CONFLICT); /* on its way */
    redraft(d, 1000000);
    send_draft(d, &d->draft);
    assert_int_equal(d->net.sent.status, NODE_TRY_AGAIN_LATER);
    for (int i = 0; i < 3 + NODE_QUEUE_MAX / NODE_LEDGER_TXS; i++)
        net_close_ledger(&d->net);
    assert_true(net_seq(&d->net, key) > 0);
    assert_int_equal(node_fund(d->net.node, key, hash), TIDE_E_CONFLICT); /* it is there */
    send_draft(d, &d->draft);
    assert_int_equal(d->net.sent.status, NODE_PENDING);
    net_close_ledger(&d->net);
}

int test_node_queue(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_has_its_code),
        cmocka_unit_test(a_resource_fee_too_low_is_invalid),
        cmocka_unit_test(bytes_that_are_no_envelope_are_said_to_be_none),
        cmocka_unit_test(one_waits_for_each_account),
        cmocka_unit_test(who_waits_too_long_is_dropped_and_banned),
        cmocka_unit_test(a_fee_bump_takes_the_place_of_what_it_wraps),
        cmocka_unit_test(a_payer_without_money_is_refused),
        cmocka_unit_test(the_queue_is_bounded),
    };
    return cmocka_run_group_tests_name("node queue", tests, set_up, tear_down);
}
