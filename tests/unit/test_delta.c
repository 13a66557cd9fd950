/* The delta on ledgers made for it: what fits, what does not and is kept raw, what the deployment's
 * is and what the network's, versions and their last one, discoveries, refusals that leave nothing. */
#include "tests/unit/delta_fixture.h"

#include "tidemark/catalogue.h"
#include "tidemark/scval.h"
#include "tidemark/tx.h"
#include "tools/sim/lcm.h"

#include <stdio.h>

static const uint8_t pool[TIDE_HASH_BYTES] = { 1, 7 }, usdc[TIDE_HASH_BYTES] = { 2, 7 };
static const uint8_t engine[TIDE_HASH_BYTES] = { 3, 7 }, token[TIDE_HASH_BYTES] = { 4, 7 };
static const uint8_t oracle[TIDE_HASH_BYTES] = { 5, 7 };
static const uint8_t alice[TIDE_HASH_BYTES] = { 0xa1 }, stranger[TIDE_HASH_BYTES] = { 0xee };

enum { PERSISTENT = 1, TEMPORARY = 0 };

/* A ledger of one contract call in the making. */
struct maker {
    struct lcm lcm;
    struct tide_deployment *deployment;
    struct tide_delta *delta;
    struct tide_batch batch;
    struct tide_err err;
    struct tide_buf body, soroban, keys, events, changes;
    uint32_t key_count, event_count, change_count;
    const uint8_t *called, *source;
    uint32_t sequence;
    bool failed;
};

static void know(struct maker *m, const uint8_t *id, enum tide_role role, const char *name)
{
    struct tide_contract c = { .role = role };
    memcpy(c.id, id, TIDE_HASH_BYTES);
    snprintf(c.name, sizeof c.name, "%s", name);
    assert_int_equal(tide_deployment_add(m->deployment, &c), TIDE_OK);
}

static void clear(struct maker *m)
{
    struct tide_buf *all[] = { &m->body, &m->soroban, &m->keys, &m->events, &m->changes };
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_reset(all[i]);
    m->key_count = m->event_count = m->change_count = 0;
    m->called = pool;
    m->source = stranger;
    m->failed = false;
}

static int set_up(void **state)
{
    struct maker *m = calloc(1, sizeof *m);
    m->lcm = (struct lcm){ .version = 2, .passphrase = "delta test" };
    lcm_open(&m->lcm);
    m->deployment = calloc(1, sizeof *m->deployment);
    m->deployment->id = 9;
    tide_network_id(m->deployment->network_id, TIDE_SLICE("delta test"));
    know(m, pool, TIDE_ROLE_liquidity_pool, "liquidity_pool");
    know(m, usdc, TIDE_ROLE_stellar_asset, "usdc");
    know(m, engine, TIDE_ROLE_synthetic_engine, "synthetic_engine");
    know(m, oracle, TIDE_ROLE_oracle, "oracle");
    memcpy(m->deployment->accounts[0].key, alice, TIDE_HASH_BYTES);
    m->deployment->account_count = 1;
    struct tide_delta_options options = { .deployment = m->deployment, .proof = TIDE_PROOF_EVENTS };
    assert_int_equal(tide_delta_open(&m->delta, &options, &m->err), TIDE_OK);
    tide_batch_init(&m->batch);
    struct tide_buf *all[] = { &m->body, &m->soroban, &m->keys, &m->events, &m->changes };
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_init(all[i], 1 << 20);
    m->sequence = 100;
    clear(m);
    *state = m;
    return 0;
}

static int tear_down(void **state)
{
    struct maker *m = *state;
    struct tide_buf *all[] = { &m->body, &m->soroban, &m->keys, &m->events, &m->changes };
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_release(all[i]);
    tide_delta_close(m->delta);
    tide_batch_release(&m->batch);
    lcm_close(&m->lcm);
    free(m->deployment);
    free(m);
    return 0;
}

/* ---- values ---- */

static void put_u32(struct tide_buf *b, uint32_t v)
{
    tide_buf_be32(b, TIDE_SCV_U32);
    tide_buf_be32(b, v);
}

static void put_u64(struct tide_buf *b, uint64_t v)
{
    tide_buf_be32(b, TIDE_SCV_U64);
    tide_buf_be64(b, v);
}

static void put_bool(struct tide_buf *b, bool v)
{
    tide_buf_be32(b, TIDE_SCV_BOOL);
    tide_buf_be32(b, v);
}

static void put_void(struct tide_buf *b)
{
    tide_buf_be32(b, TIDE_SCV_VOID);
}

static void put_account(struct tide_buf *b, const uint8_t *key)
{
    tide_buf_be32(b, TIDE_SCV_ADDRESS);
    lcm_put_address_account(b, key);
}

static void put_contract(struct tide_buf *b, const uint8_t *id)
{
    tide_buf_be32(b, TIDE_SCV_ADDRESS);
    lcm_put_address_contract(b, id);
}

static void put_many(struct tide_buf *b, enum tide_scval_type type, uint32_t count)
{
    tide_buf_be32(b, (uint32_t)type);
    tide_buf_be32(b, 1);
    tide_buf_be32(b, count);
}

/* ---- ledgers ---- */

static struct tide_buf *event(struct maker *m, const uint8_t *contract, uint32_t topics)
{
    lcm_put_event_head(&m->events, contract, topics);
    m->event_count++;
    return &m->events;
}

static void touch(struct maker *m, const uint8_t *contract, tide_slice key, uint32_t durability)
{
    uint8_t address[64];
    struct tide_buf b;
    tide_buf_init(&b, sizeof address);
    lcm_put_address_contract(&b, contract);
    struct lcm_data data = { tide_buf_view(&b), key, durability };
    lcm_put_data_key(&m->keys, &data);
    m->key_count++;
    tide_buf_release(&b);
}

/* kind: 0 created, 1 updated, 2 removed; value NULL when removed */
static void change(struct maker *m, uint32_t kind, const uint8_t *contract,
                   const struct tide_buf *key, uint32_t durability, const struct tide_buf *value)
{
    struct tide_buf b;
    tide_buf_init(&b, 64);
    lcm_put_address_contract(&b, contract);
    struct lcm_data data = { tide_buf_view(&b), tide_buf_view(key), durability };
    tide_buf_be32(&m->changes, kind);
    if (value)
        lcm_put_data(&m->changes, m->sequence, &data, tide_buf_view(value));
    else
        lcm_put_data_key(&m->changes, &data);
    m->change_count++;
    touch(m, contract, tide_buf_view(key), durability);
    tide_buf_release(&b);
}

static void put_call(struct maker *m)
{
    tide_buf_be32(&m->body, 0);
    lcm_put_address_contract(&m->body, m->called);
    tide_xdr_put_var(&m->body, TIDE_SLICE("go"));
    tide_buf_be32(&m->body, 0);
    tide_buf_be32(&m->body, 0);
    tide_buf_be32(&m->soroban, 0);
    tide_buf_be32(&m->soroban, 0);
    tide_buf_be32(&m->soroban, m->key_count);
    tide_buf_slice(&m->soroban, tide_buf_view(&m->keys));
    for (int i = 0; i < 3; i++)
        tide_buf_be32(&m->soroban, 1000);
    tide_buf_be64(&m->soroban, 60000);
}

static tide_slice make_ledger(struct maker *m)
{
    tide_slice out;
    put_call(m);
    struct lcm_tx tx = { .source = m->source,
                         .seq = m->sequence,
                         .fee = 100,
                         .fee_charged = 100,
                         .success = !m->failed,
                         .op_count = 1,
                         .soroban = tide_buf_view(&m->soroban),
                         .return_value = TIDE_SLICE("\0\0\0\1") };
    tx.ops[0].type = LCM_OP_INVOKE;
    tx.ops[0].body = tide_buf_view(&m->body);
    tx.ops[0].code = m->failed ? -2 : 0;
    tx.ops[0].events = (struct lcm_list){ tide_buf_view(&m->events), m->event_count };
    tx.ops[0].changes = (struct lcm_list){ tide_buf_view(&m->changes), m->change_count };
    lcm_begin(&m->lcm, m->sequence, 1780000000 + m->sequence);
    m->sequence++;
    lcm_add(&m->lcm, &tx);
    assert_int_equal(lcm_end(&m->lcm, &out), TIDE_OK);
    clear(m);
    return out;
}

static void apply(struct maker *m)
{
    if (tide_delta_ledger(m->delta, &m->batch, make_ledger(m), &m->err))
        fail_msg("%s", m->err.text);
}

static uint64_t count(const struct maker *m, const char *schema, const char *name)
{
    return m->batch.rows[table_of(schema, name)].count;
}

/* The last row of a table, which must have one. */
static struct row last(const struct maker *m, const char *schema, const char *name)
{
    uint32_t table = table_of(schema, name);
    tide_slice at = tide_buf_view(&m->batch.rows[table].copy);
    struct row row = { 0 };
    bool any = false;
    while (next_row(&at, table, &row))
        any = true;
    if (!any)
        fail_msg("no row in %s.%s", schema, name);
    return row;
}

static void text_is(const struct row *row, const char *column, const char *want)
{
    tide_slice v = cell(row, column);
    if (!tide_slice_eq_str(v, want))
        fail_msg("%s is \"%.*s\", wanted \"%s\"", column, TIDE_SLICE_FMT(v), want);
}

/* ---- events ---- */

enum { FIT, EXTRA, MISSING, VOID_FIELD, TYPE, TOPICS, TOPIC_TYPE, NAME, DOUBLE };

static void put_swap(struct maker *m, int how)
{
    struct tide_buf *b = event(m, pool, how == TOPICS ? 2 : 3);
    lcm_put_symbol(b, how == NAME ? "swop" : "swap");
    put_account(b, alice);
    if (how == TOPIC_TYPE)
        lcm_put_string(b, "XLMUSDC");
    else if (how != TOPICS)
        lcm_put_symbol(b, "XLMUSDC");
    put_many(b, TIDE_SCV_MAP, how == MISSING ? 3 : how == EXTRA || how == DOUBLE ? 5 : 4);
    lcm_put_symbol(b, "a_to_b");
    put_bool(b, true);
    lcm_put_symbol(b, "amount_in");
    if (how == TYPE)
        put_u64(b, 5);
    else
        lcm_put_i128(b, -5);
    if (how == DOUBLE) {
        lcm_put_symbol(b, "amount_in");
        lcm_put_i128(b, 6);
    }
    if (how != MISSING) {
        lcm_put_symbol(b, "amount_out");
        if (how == VOID_FIELD)
            put_void(b);
        else
            lcm_put_i128(b, 7);
    }
    lcm_put_symbol(b, "partner_id");
    put_u32(b, 4000000000u);
    if (how == EXTRA) {
        lcm_put_symbol(b, "zeal");
        put_void(b);
    }
}

static void a_swap_becomes_a_row_and_a_line_of_the_log(void **state)
{
    struct maker *m = *state;
    put_swap(m, FIT);
    apply(m);
    assert_int_equal(count(m, "event", "liquidity_pool_swap"), 1);
    struct row row = last(m, "event", "liquidity_pool_swap");
    assert_int_equal(cell_int(&row, "deployment"), 9);
    assert_int_equal(cell_int(&row, "ledger"), 100);
    assert_int_equal(cell_int(&row, "tx"), 1);
    assert_int_equal(cell_int(&row, "event"), 0);
    assert_int_equal(cell_int(&row, "partner_id"), 4000000000);
    assert_int_equal(cell_int(&row, "a_to_b"), 1);
    text_is(&row, "contract", m->deployment->contracts[0].address);
    text_is(&row, "pool_id", "XLMUSDC");
    tide_slice in = cell(&row, "amount_in"); /* -5: one digit, weight 0, negative */
    assert_memory_equal(in.ptr, "\0\1\0\0\x40\0\0\0\0\5", 10);
    row = last(m, "event", "log");
    text_is(&row, "kind", "liquidity_pool_swap");
    text_is(&row, "subject", "XLMUSDC");
    assert_int_equal(cell(&row, "addresses").len, 20 + 4 + 56);
    row = last(m, "chain", "call");
    text_is(&row, "fn", "go");
    text_is(&row, "ret", "null");
    assert_int_equal(cell_int(&row, "events"), 1);
    assert_int_equal(cell_int(&row, "proof"), 1);
}

static void what_does_not_fit_is_kept_raw_with_a_reason(void **state)
{
    struct maker *m = *state;
    static const struct {
        int how;
        const char *reason;
    } cases[] = {
        { EXTRA, "unknown field zeal" },
        { MISSING, "missing field amount_out" },
        { VOID_FIELD, "type of field amount_out" },
        { TYPE, "type of field amount_in" },
        { TOPICS, "topic count" },
        { TOPIC_TYPE, "type of field pool_id" },
        { NAME, "unknown event swop" },
        { DOUBLE, "unknown field amount_in" },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        put_swap(m, cases[i].how);
        put_swap(m, FIT);
        apply(m);
        assert_int_equal(count(m, "event", "raw"), i + 1);
        assert_int_equal(count(m, "event", "liquidity_pool_swap"), i + 1);
        struct row row = last(m, "event", "raw");
        text_is(&row, "reason", cases[i].reason);
        assert_int_equal(cell_int(&row, "event"), 0);
        assert_true(cell(&row, "xdr").len > 40);
    }
    assert_int_equal(m->batch.counts.raw_events, TIDE_COUNT(cases));
    assert_int_equal(m->batch.counts.events, 2 * TIDE_COUNT(cases));
}

static void put_price(struct maker *m, bool provider)
{
    struct tide_buf *b = event(m, oracle, 2);
    lcm_put_symbol(b, "price");
    lcm_put_symbol(b, "EUR");
    put_many(b, TIDE_SCV_MAP, provider ? 2 : 1);
    lcm_put_symbol(b, provider ? "price" : "median_price");
    lcm_put_i128(b, 10);
    if (provider) {
        lcm_put_symbol(b, "provider");
        put_account(b, alice);
    }
}

static void two_shapes_of_one_name_go_to_two_tables(void **state)
{
    struct maker *m = *state;
    m->called = oracle;
    put_price(m, true);
    put_price(m, false);
    touch(m, oracle, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    apply(m);
    assert_int_equal(count(m, "event", "oracle_price_observation"), 1);
    assert_int_equal(count(m, "event", "oracle_price_aggregate"), 1);
    assert_int_equal(count(m, "event", "raw"), 0);
}

enum { PLAIN, MUXED, MUXED_VOID, LONE_MAP };

static void put_transfer(struct maker *m, const uint8_t *to, int how)
{
    struct tide_buf *b = event(m, usdc, 4);
    lcm_put_symbol(b, "transfer");
    put_account(b, stranger);
    put_account(b, to);
    lcm_put_string(b, "USDC:ISSUER");
    if (how == PLAIN) {
        lcm_put_i128(b, 12);
        return;
    }
    put_many(b, TIDE_SCV_MAP, how == LONE_MAP ? 1 : 2);
    lcm_put_symbol(b, "amount");
    lcm_put_i128(b, 12);
    if (how == LONE_MAP)
        return;
    lcm_put_symbol(b, "to_muxed_id");
    if (how == MUXED)
        put_u64(b, 77);
    else
        put_void(b);
}

static void a_transfer_may_carry_a_memo(void **state)
{
    struct maker *m = *state;
    put_transfer(m, alice, PLAIN);
    apply(m);
    struct row row = last(m, "event", "stellar_asset_transfer");
    assert_true(is_null(&row, "to_muxed_id"));
    put_transfer(m, alice, MUXED);
    apply(m);
    row = last(m, "event", "stellar_asset_transfer");
    text_is(&row, "to_muxed_id", "\"77\"");
    text_is(&row, "asset", "USDC:ISSUER");
    put_transfer(m, alice, LONE_MAP);
    put_transfer(m, alice, MUXED_VOID);
    apply(m);
    assert_int_equal(count(m, "event", "stellar_asset_transfer"), 2);
    assert_int_equal(count(m, "event", "raw"), 2);
}

/* Only what is wanted is decoded; of two shapes of one name the wanted one, whichever comes first;
 * what does not fit is kept all the same. */
static void only_what_is_wanted(void **state)
{
    struct maker *m = *state;
    bool wanted[TIDE_TABLES_MAX] = { [TIDE_TABLE_EVENT_RAW] = true };
    wanted[table_of("event", "oracle_price_aggregate")] = true;
    wanted[table_of("event", "liquidity_pool_swap")] = true;
    tide_delta_close(m->delta);
    struct tide_delta_options options = { .deployment = m->deployment,
                                          .proof = TIDE_PROOF_EVENTS,
                                          .tables = wanted };
    assert_int_equal(tide_delta_open(&m->delta, &options, &m->err), TIDE_OK);
    put_price(m, true);
    put_price(m, false);
    put_transfer(m, alice, PLAIN);
    put_swap(m, FIT);
    put_swap(m, TYPE);
    touch(m, pool, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    apply(m);
    assert_int_equal(count(m, "event", "oracle_price_aggregate"), 1);
    assert_int_equal(count(m, "event", "oracle_price_observation"), 0);
    assert_int_equal(count(m, "event", "stellar_asset_transfer"), 0);
    assert_int_equal(count(m, "event", "liquidity_pool_swap"), 1);
    assert_int_equal(count(m, "event", "raw"), 1);
    assert_int_equal(count(m, "event", "log"), 0);
    assert_int_equal(count(m, "chain", "tx"), 0);
    assert_int_equal(count(m, "chain", "ledger"), 1);
    assert_int_equal(m->batch.counts.events, 3);
}

/* ---- whose it is ---- */

static void the_network_s_own_traffic_is_not_ours(void **state)
{
    struct maker *m = *state;
    m->called = usdc; /* a stranger pays a stranger */
    put_transfer(m, stranger, PLAIN);
    touch(m, usdc, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    apply(m);
    assert_int_equal(count(m, "chain", "tx"), 0);
    assert_int_equal(count(m, "event", "log"), 0);
    m->called = usdc; /* somebody named does */
    m->source = alice;
    put_transfer(m, alice, PLAIN);
    put_transfer(m, stranger, PLAIN);
    touch(m, usdc, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    apply(m);
    assert_int_equal(count(m, "chain", "tx"), 1);
    assert_int_equal(count(m, "chain", "call"), 1);
    assert_int_equal(count(m, "event", "stellar_asset_transfer"), 1);
    m->called = stranger; /* a stranger's router that reaches the pool */
    touch(m, pool, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    put_transfer(m, stranger, PLAIN);
    put_swap(m, FIT);
    apply(m);
    assert_int_equal(count(m, "chain", "tx"), 2);
    assert_int_equal(count(m, "chain", "call"), 1);
    assert_int_equal(count(m, "event", "stellar_asset_transfer"), 2);
    assert_int_equal(count(m, "event", "liquidity_pool_swap"), 1);
    assert_int_equal(count(m, "chain", "ledger"), 3);
}

static void a_refused_call_is_a_row_without_events(void **state)
{
    struct maker *m = *state;
    m->failed = true;
    apply(m);
    struct row row = last(m, "chain", "call");
    assert_int_equal(cell_int(&row, "ok"), 0);
    assert_int_equal(cell_int(&row, "result_code"), -2);
    assert_true(is_null(&row, "ret"));
    assert_int_equal(cell_int(&row, "proof"), 0);
    assert_int_equal(count(m, "event", "log"), 0);
}

/* ---- entries ---- */

static struct tide_buf buffer(void)
{
    struct tide_buf b;
    tide_buf_init(&b, 1 << 16);
    return b;
}

static void put_key(struct tide_buf *b, const char *variant, const char *arg)
{
    tide_buf_reset(b);
    put_many(b, TIDE_SCV_VEC, arg ? 2 : 1);
    lcm_put_symbol(b, variant);
    if (arg)
        lcm_put_symbol(b, arg);
}

static void put_debt(struct tide_buf *b, int64_t amount)
{
    tide_buf_reset(b);
    lcm_put_i128(b, amount);
}

static void versions_go_to_history_and_the_last_to_state(void **state)
{
    struct maker *m = *state;
    struct tide_buf key = buffer(), value = buffer();
    for (int i = 0; i < 5; i++) {
        put_key(&key, "DebtTotal", i % 2 ? "sEUR" : "sGOLD");
        put_debt(&value, 100 + i);
        m->called = engine;
        change(m, i > 1, engine, &key, PERSISTENT, i == 4 ? NULL : &value);
        if (i == 4) {
            tide_buf_reset(&m->changes);
            m->change_count = 0;
            change(m, 2, engine, &key, PERSISTENT, NULL);
        }
        apply(m);
    }
    assert_int_equal(count(m, "history", "synthetic_engine_debt_total"), 5);
    assert_int_equal(count(m, "state", "synthetic_engine_debt_total"), 5);
    tide_delta_batch_end(m->delta, &m->batch);
    assert_int_equal(count(m, "history", "synthetic_engine_debt_total"), 5);
    assert_int_equal(count(m, "state", "synthetic_engine_debt_total"), 2);
    tide_slice at =
        tide_buf_view(&m->batch.rows[table_of("state", "synthetic_engine_debt_total")].copy);
    struct row row;
    for (int seen = 0; next_row(&at, table_of("state", "synthetic_engine_debt_total"), &row);
         seen++) {
        bool gold = tide_slice_eq_str(cell(&row, "synth"), "sGOLD");
        assert_int_equal(cell_int(&row, "removed"), gold);
        assert_int_equal(is_null(&row, "value"), gold);
        assert_int_equal(cell_int(&row, "ledger"), gold ? 104 : 103);
    }
    uint8_t hash[TIDE_HASH_BYTES], address[64];
    struct tide_buf b;
    tide_buf_init(&b, sizeof address);
    lcm_put_address_contract(&b, engine);
    put_key(&key, "DebtTotal", "sGOLD");
    tide_data_key_hash(hash, tide_buf_view(&b), tide_buf_view(&key), PERSISTENT);
    row = last(m, "history", "synthetic_engine_debt_total");
    assert_memory_equal(cell(&row, "key_hash").ptr, hash, TIDE_HASH_BYTES);
    tide_buf_release(&b);
    tide_buf_release(&key);
    tide_buf_release(&value);
}

static void entries_that_do_not_fit_are_kept_raw(void **state)
{
    struct maker *m = *state;
    struct tide_buf key = buffer(), value = buffer();
    static const struct {
        const char *variant, *arg, *reason;
        uint32_t durability;
        bool number;
    } cases[] = {
        { "DebtTotals", "sEUR", "unknown key DebtTotals", PERSISTENT, true },
        { "DebtTotal", NULL, "too few key arguments", PERSISTENT, true },
        { "PoolList", "XLMUSDC", "unknown key PoolList", PERSISTENT, true },
        { "DebtTotal", "sEUR", "durability of DebtTotal", TEMPORARY, true },
        { "DebtTotal", "sEUR", "type of field value", PERSISTENT, false },
        { "AssetConfig", "sEUR", "value is not a struct", PERSISTENT, true },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        put_key(&key, cases[i].variant, cases[i].arg);
        tide_buf_reset(&value);
        if (cases[i].number)
            lcm_put_i128(&value, 1);
        else
            put_void(&value);
        m->called = engine;
        change(m, 1, engine, &key, cases[i].durability, &value);
        apply(m);
        assert_int_equal(count(m, "history", "raw"), i + 1);
        struct row row = last(m, "history", "raw");
        text_is(&row, "reason", cases[i].reason);
        tide_slice xdr = cell(&row, "value_xdr");
        assert_int_equal(xdr.len, value.len);
        assert_memory_equal(xdr.ptr, value.ptr, xdr.len);
    }
    assert_int_equal(count(m, "state", "raw"), TIDE_COUNT(cases));
    assert_int_equal(count(m, "state", "synthetic_engine_debt_total"), 0);
    tide_buf_release(&key);
    tide_buf_release(&value);
}

static void put_instance(struct tide_buf *value, bool strange)
{
    tide_buf_reset(value);
    tide_buf_be32(value, TIDE_SCV_CONTRACT_INSTANCE);
    tide_buf_be32(value, 0);
    tide_buf_put(value, stranger, TIDE_HASH_BYTES);
    tide_buf_be32(value, 1);
    tide_buf_be32(value, strange ? 4 : 2);
    lcm_put_symbol(value, "ADMIN");
    put_account(value, alice);
    if (strange) {
        lcm_put_symbol(value, "EARN");
        put_u32(value, 3);
        lcm_put_symbol(value, "NEWKEY");
        put_u32(value, 3);
    }
    put_many(value, TIDE_SCV_VEC, 1);
    lcm_put_symbol(value, "PoolCount");
    put_u32(value, 6);
}

static void an_instance_keeps_what_it_knows(void **state)
{
    struct maker *m = *state;
    struct tide_buf key = buffer(), value = buffer();
    tide_buf_be32(&key, TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE);
    put_instance(&value, false);
    change(m, 0, pool, &key, PERSISTENT, &value);
    apply(m);
    assert_int_equal(count(m, "history", "raw"), 0);
    assert_int_equal(count(m, "chain", "contract_seen"), 1);
    put_instance(&value, true);
    change(m, 1, pool, &key, PERSISTENT, &value);
    apply(m);
    assert_int_equal(count(m, "history", "raw"), 1);
    struct row row = last(m, "history", "liquidity_pool_instance");
    assert_int_equal(cell_int(&row, "pool_count"), 6);
    assert_true(is_null(&row, "earnings"));
    assert_true(is_null(&row, "dao"));
    assert_memory_equal(cell(&row, "wasm").ptr, stranger, TIDE_HASH_BYTES);
    row = last(m, "chain", "contract_seen");
    text_is(&row, "what", "created");
    tide_buf_release(&key);
    tide_buf_release(&value);
}

static void evictions_archive_or_remove(void **state)
{
    struct maker *m = *state;
    struct tide_buf key = buffer();
    lcm_begin(&m->lcm, m->sequence++, 1780000500);
    for (uint32_t durability = 0; durability < 2; durability++) {
        uint8_t address[64];
        struct tide_buf b, ledger_key = buffer();
        tide_buf_init(&b, sizeof address);
        lcm_put_address_contract(&b, engine);
        put_key(&key, "DebtTotal", "sEUR");
        struct lcm_data data = { tide_buf_view(&b), tide_buf_view(&key), durability };
        lcm_put_data_key(&ledger_key, &data);
        lcm_evict(&m->lcm, tide_buf_view(&ledger_key));
        tide_buf_release(&b);
        tide_buf_release(&ledger_key);
    }
    tide_slice lcm;
    assert_int_equal(lcm_end(&m->lcm, &lcm), TIDE_OK);
    assert_int_equal(tide_delta_ledger(m->delta, &m->batch, lcm, &m->err), TIDE_OK);
    assert_int_equal(count(m, "history", "ttl"), 2);
    struct row row = last(m, "history", "ttl"); /* persistent: archived, its value stands */
    assert_int_equal(cell_int(&row, "tx"), 1048575);
    assert_int_equal(cell_int(&row, "evicted"), 1);
    assert_int_equal(cell_int(&row, "removed"), 0);
    assert_true(is_null(&row, "live_until"));
    row = last(m, "history", "raw"); /* temporary: gone, though never known under that durability */
    assert_int_equal(cell_int(&row, "removed"), 1);
    assert_true(is_null(&row, "value_xdr"));
    tide_buf_release(&key);
}

/* ---- discovery ---- */

static void put_market(struct maker *m, const uint8_t *named)
{
    static const char *const amounts[] = { "debt_ceiling", "liq_penalty", "liq_ratio",
                                           "min_coll_ratio" };
    struct tide_buf *b = event(m, engine, 2);
    m->called = engine;
    lcm_put_symbol(b, "market_created");
    lcm_put_symbol(b, "sEUR");
    put_many(b, TIDE_SCV_MAP, 8);
    lcm_put_symbol(b, "coll_oracle_symbol");
    lcm_put_symbol(b, "XLM");
    for (size_t i = 0; i < TIDE_COUNT(amounts); i++) {
        lcm_put_symbol(b, amounts[i]);
        lcm_put_i128(b, 10);
    }
    lcm_put_symbol(b, "oracle_symbol");
    lcm_put_symbol(b, "EUR");
    lcm_put_symbol(b, "stab_fee_bps");
    lcm_put_i128(b, 0);
    lcm_put_symbol(b, "token");
    put_contract(b, named);
    touch(m, engine, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
}

static void put_mint(struct maker *m)
{
    struct tide_buf *b = event(m, token, 2);
    m->called = token;
    lcm_put_symbol(b, "mint");
    put_account(b, alice);
    put_many(b, TIDE_SCV_MAP, 1);
    lcm_put_symbol(b, "amount");
    lcm_put_i128(b, 3);
    touch(m, token, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
}

static void a_market_s_token_is_watched_from_there_on(void **state)
{
    struct maker *m = *state;
    put_mint(m);
    apply(m);
    assert_int_equal(count(m, "event", "log"), 0);
    put_market(m, token);
    apply(m);
    struct row row = last(m, "chain", "contract_seen");
    text_is(&row, "what", "discovered");
    text_is(&row, "role", "synth_token");
    assert_int_equal(cell_int(&row, "ledger"), 101);
    put_mint(m);
    apply(m);
    assert_int_equal(count(m, "event", "synth_token_mint"), 1);
    assert_int_equal(count(m, "chain", "call"), 2);
    put_market(m, token); /* changed later: nothing new */
    apply(m);
    assert_int_equal(count(m, "chain", "contract_seen"), 1);
    assert_int_equal(m->deployment->contract_count, 4); /* the caller's is not touched */
}

/* ---- refusals ---- */

static void a_ledger_that_is_refused_leaves_nothing(void **state)
{
    struct maker *m = *state;
    put_swap(m, FIT);
    apply(m);
    struct tide_batch before = m->batch;
    put_market(m, token);
    tide_slice whole = make_ledger(m);
    uint8_t *bytes = malloc(whole.len);
    memcpy(bytes, whole.ptr, whole.len);
    bytes[whole.len - 1] ^= 1; /* the end is outside the header, but not outside of XDR */
    assert_int_not_equal(
        tide_delta_ledger(m->delta, &m->batch, tide_slice_of(bytes, whole.len - 4), &m->err),
        TIDE_OK);
    bytes[whole.len - 1] ^= 1;
    bytes[100] ^= 1;
    assert_int_equal(
        tide_delta_ledger(m->delta, &m->batch, tide_slice_of(bytes, whole.len), &m->err),
        TIDE_E_CHAIN);
    assert_non_null(strstr(m->err.text, "101"));
    bytes[100] ^= 1;
    assert_int_equal(m->batch.to, before.to);
    assert_int_equal(m->batch.bytes, before.bytes);
    assert_memory_equal(&m->batch.counts, &before.counts, sizeof before.counts);
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++) {
        assert_int_equal(m->batch.rows[i].count, before.rows[i].count);
        assert_int_equal(m->batch.rows[i].copy.len, before.rows[i].copy.len);
    }
    /* unharmed, the same ledger follows; the discovery that was taken back is made again, and what
     * comes after the ledger is left alone */
    size_t len = 0;
    assert_int_not_equal(
        tide_delta_first(m->delta, &m->batch, tide_slice_of(bytes, whole.len - 4), &len, &m->err),
        TIDE_OK);
    assert_int_equal(m->batch.to, before.to);
    bytes = realloc(bytes, whole.len + 40);
    memset(bytes + whole.len, 0xff, 40);
    tide_slice more = tide_slice_of(bytes, whole.len + 40);
    assert_int_not_equal(tide_delta_ledger(m->delta, &m->batch, more, &m->err), TIDE_OK);
    assert_int_equal(tide_delta_first(m->delta, &m->batch, more, &len, &m->err), TIDE_OK);
    assert_int_equal(len, whole.len);
    assert_int_equal(count(m, "chain", "contract_seen"), 1);
    /* and not once more */
    assert_int_equal(
        tide_delta_ledger(m->delta, &m->batch, tide_slice_of(bytes, whole.len), &m->err),
        TIDE_E_CHAIN);
    free(bytes);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_swap_becomes_a_row_and_a_line_of_the_log),
        TEST(what_does_not_fit_is_kept_raw_with_a_reason),
        TEST(two_shapes_of_one_name_go_to_two_tables),
        TEST(a_transfer_may_carry_a_memo),
        TEST(only_what_is_wanted),
        TEST(the_network_s_own_traffic_is_not_ours),
        TEST(a_refused_call_is_a_row_without_events),
        TEST(versions_go_to_history_and_the_last_to_state),
        TEST(entries_that_do_not_fit_are_kept_raw),
        TEST(an_instance_keeps_what_it_knows),
        TEST(evictions_archive_or_remove),
        TEST(a_market_s_token_is_watched_from_there_on),
        TEST(a_ledger_that_is_refused_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
