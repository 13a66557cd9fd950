/* What people did is acted out again: the same ledgers, also from a journal that was cut off. */
#include "node_net.h"
#include <unistd.h>

enum { QUIET = 50, BUSY = 30 };

struct record {
    char path[64];
    uint8_t hashes[QUIET + BUSY + 16][TIDE_HASH_BYTES];
    uint32_t count;
};

static void note(struct record *record, const struct net *net)
{
    memcpy(record->hashes[record->count++], net->previous, TIDE_HASH_BYTES);
}

static void ledgers(struct record *record, struct net *net, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        net_close_ledger(net);
        note(record, net);
    }
}

static void open_with(struct net *net, const struct record *record, uint32_t last)
{
    struct tide_err err;
    net_open(net, 2, 25, 0);
    if (node_journal(net->node, record->path, last, &err) != TIDE_OK)
        fail_msg("%s", err.text);
}

/* A newcomer, an attestation that waits a while, a look at somebody's account, another pace. */
static void live(struct record *record, struct net *net)
{
    static const struct net_call attest = { .contract = CAST_COMPLIANCE, .fn = "attest" };
    uint8_t hash[TIDE_HASH_BYTES];
    ledgers(record, net, QUIET);
    struct person alice = net_person(net, "alice"), verifier = net_person(net, "sumsub");
    assert_int_equal(node_fund(net->node, alice.public, hash), TIDE_OK);
    ledgers(record, net, 2);
    node_pace(net->node, 7);
    node_hold(net->node, 2);
    NET_ARGS(net, sim_address(net_addr(&verifier)), sim_address(net_addr(&alice)), sim_u32(756),
             sim_u64(0), sim_bytes(TIDE_SLICE("")));
    net_send(net, &verifier, &attest);
    assert_int_equal(net->sent.status, NODE_PENDING);
    memcpy(hash, net->sent.hash, TIDE_HASH_BYTES);
    ledgers(record, net, 3);
    assert_true(net_find(net, hash)->successful);
    net_seq(net, net->cast->accounts[CAST_USER + 2].id);
    ledgers(record, net, BUSY);
    tide_sign_close(alice.key);
    tide_sign_close(verifier.key);
}

static int set_up(void **state)
{
    static struct record record;
    static struct net net;
    snprintf(record.path, sizeof record.path, "/tmp/tide-journal.%ld", (long)getpid());
    unlink(record.path);
    open_with(&net, &record, 0);
    live(&record, &net);
    net_close(&net);
    *state = &record;
    return 0;
}

static int tear_down(void **state)
{
    unlink(((struct record *)*state)->path);
    return 0;
}

static void another_life_is_the_same(void **state)
{
    struct record *record = *state;
    static struct net net;
    for (int twice = 0; twice < 2; twice++) {
        open_with(&net, record, 99 + record->count);
        for (uint32_t i = 0; i < record->count; i++) {
            node_pace(net.node, 60); /* whoever runs it may say what it likes meanwhile */
            net_close_ledger(&net);
            assert_memory_equal(net.previous, record->hashes[i], TIDE_HASH_BYTES);
        }
        assert_true(net_seq(&net, net.cast->accounts[CAST_USER].id) > 0);
        net_close(&net);
    }
}

static void what_came_later_is_forgotten(void **state)
{
    struct record *record = *state;
    static struct net net;
    FILE *file = fopen(record->path, "ab");
    assert_non_null(file);
    fprintf(file, "%u s AAAA\n%u u cut off in the mid", 99 + record->count, 99 + record->count);
    fclose(file);
    open_with(&net, record, 99 + QUIET + 2); /* a lake that ends before the attestation is sent */
    for (uint32_t i = 0; i < QUIET + 2; i++) {
        net_close_ledger(&net);
        assert_memory_equal(net.previous, record->hashes[i], TIDE_HASH_BYTES);
    }
    net_close_ledger(&net); /* closes at another time: that pace was never asked for */
    assert_memory_not_equal(net.previous, record->hashes[QUIET + 2], TIDE_HASH_BYTES);
    net_close(&net);
}

int test_node_journal(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_life_is_the_same),
        cmocka_unit_test(what_came_later_is_forgotten),
    };
    return cmocka_run_group_tests_name("node journal", tests, set_up, tear_down);
}
