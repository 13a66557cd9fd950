/* Makes ledgers with one contract call, decodes them, and finds the rows. */
#ifndef TIDEMARK_TEST_DECODE_MAKER_H
#define TIDEMARK_TEST_DECODE_MAKER_H

#include "tests/unit/indexer/decode/decode_fixture.h"

#include "tidemark/catalogue.h"
#include "tidemark/scval.h"
#include "tidemark/tx.h"
#include "tools/sim/ledger/lcm.h"

#include <stdio.h>

static const uint8_t pool[TIDE_HASH_BYTES] = { 1, 7 }, usdc[TIDE_HASH_BYTES] = { 2, 7 };
static const uint8_t engine[TIDE_HASH_BYTES] = { 3, 7 }, token[TIDE_HASH_BYTES] = { 4, 7 };
static const uint8_t oracle[TIDE_HASH_BYTES] = { 5, 7 };
static const uint8_t dao[TIDE_HASH_BYTES] = { 6, 7 }, partners[TIDE_HASH_BYTES] = { 7, 7 };
static const uint8_t alice[TIDE_HASH_BYTES] = { 0xa1 }, stranger[TIDE_HASH_BYTES] = { 0xee };

enum { PERSISTENT = 1, TEMPORARY = 0 };

/* The parts of a ledger with one contract call. */
struct maker {
    struct lcm lcm;
    struct tide_deployment *deployment;
    struct tide_decode *decode;
    struct tide_batch batch;
    struct tide_err err;
    struct tide_buf body, soroban, keys, events, changes, args;
    uint32_t key_count, event_count, change_count, arg_count;
    tide_slice answer;
    const uint8_t *called, *source;
    uint32_t sequence;
    int64_t account_seq; /* sequence of the last transaction: no two transactions are equal */
    bool failed;
};

static inline void know_contract(struct maker *m, const uint8_t *id, enum tide_role role,
                                 const char *name)
{
    struct tide_contract c = { .role = role };
    memcpy(c.id, id, TIDE_HASH_BYTES);
    snprintf(c.name, sizeof c.name, "%s", name);
    assert_int_equal(tide_deployment_add(m->deployment, &c), TIDE_OK);
}

static inline void clear_parts(struct maker *m)
{
    struct tide_buf *all[] = { &m->body, &m->soroban, &m->keys, &m->events, &m->changes, &m->args };
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_reset(all[i]);
    m->key_count = m->event_count = m->change_count = m->arg_count = 0;
    m->answer = TIDE_SLICE("\0\0\0\1");
    m->called = pool;
    m->source = stranger;
    m->failed = false;
}

static inline int set_up(void **state)
{
    struct maker *m = calloc(1, sizeof *m);
    m->lcm = (struct lcm){ .version = 2, .passphrase = "decode test" };
    lcm_open(&m->lcm);
    m->deployment = calloc(1, sizeof *m->deployment);
    m->deployment->id = 9;
    tide_network_id(m->deployment->network_id, TIDE_SLICE("decode test"));
    know_contract(m, pool, TIDE_ROLE_liquidity_pool, "liquidity_pool");
    know_contract(m, usdc, TIDE_ROLE_stellar_asset, "usdc");
    know_contract(m, engine, TIDE_ROLE_synthetic_engine, "synthetic_engine");
    know_contract(m, oracle, TIDE_ROLE_oracle, "oracle");
    know_contract(m, dao, TIDE_ROLE_dao_governance, "dao_governance");
    know_contract(m, partners, TIDE_ROLE_partner_registry, "partner_registry");
    memcpy(m->deployment->accounts[0].key, alice, TIDE_HASH_BYTES);
    m->deployment->account_count = 1;
    struct tide_decode_options options = { .deployment = m->deployment,
                                           .proof = TIDE_PROOF_EVENTS,
                                           .with_log = true,
                                           .discovered_max = 2 };
    assert_int_equal(tide_decode_open(&m->decode, &options, &m->err), TIDE_OK);
    tide_batch_init(&m->batch);
    struct tide_buf *all[] = { &m->body, &m->soroban, &m->keys, &m->events, &m->changes, &m->args };
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_init(all[i], 1 << 20);
    m->sequence = 100;
    clear_parts(m);
    *state = m;
    return 0;
}

static inline int tear_down(void **state)
{
    struct maker *m = *state;
    struct tide_buf *all[] = { &m->body, &m->soroban, &m->keys, &m->events, &m->changes, &m->args };
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_release(all[i]);
    tide_decode_close(m->decode);
    tide_batch_release(&m->batch);
    lcm_close(&m->lcm);
    free(m->deployment);
    free(m);
    return 0;
}

/* ---- values ---- */

static inline void put_u32(struct tide_buf *b, uint32_t v)
{
    tide_buf_be32(b, TIDE_SCV_U32);
    tide_buf_be32(b, v);
}

static inline void put_u64(struct tide_buf *b, uint64_t v)
{
    tide_buf_be32(b, TIDE_SCV_U64);
    tide_buf_be64(b, v);
}

static inline void put_bool(struct tide_buf *b, bool v)
{
    tide_buf_be32(b, TIDE_SCV_BOOL);
    tide_buf_be32(b, v);
}

static inline void put_void(struct tide_buf *b)
{
    tide_buf_be32(b, TIDE_SCV_VOID);
}

static inline void put_account(struct tide_buf *b, const uint8_t *key)
{
    tide_buf_be32(b, TIDE_SCV_ADDRESS);
    lcm_put_address_account(b, key);
}

static inline void put_contract(struct tide_buf *b, const uint8_t *id)
{
    tide_buf_be32(b, TIDE_SCV_ADDRESS);
    lcm_put_address_contract(b, id);
}

static inline void put_many(struct tide_buf *b, enum tide_scval_type type, uint32_t count)
{
    tide_buf_be32(b, (uint32_t)type);
    tide_buf_be32(b, 1);
    tide_buf_be32(b, count);
}

/* ---- ledgers ---- */

static inline struct tide_buf *event(struct maker *m, const uint8_t *contract, uint32_t topics)
{
    lcm_put_event_head(&m->events, contract, 1, topics);
    m->event_count++;
    return &m->events;
}

static inline void touch_key(struct maker *m, const uint8_t *contract, tide_slice key,
                             uint32_t durability)
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
static inline void change(struct maker *m, uint32_t kind, const uint8_t *contract,
                          const struct tide_buf *key, uint32_t durability,
                          const struct tide_buf *value)
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
    touch_key(m, contract, tide_buf_view(key), durability);
    tide_buf_release(&b);
}

/* Opens the decoder again, with the contracts that m->deployment has by now. */
static inline void open_for(struct maker *m, const uint8_t (*ids)[TIDE_HASH_BYTES], uint32_t count)
{
    const struct tide_decode_options options = { .deployment = m->deployment,
                                                 .proof = TIDE_PROOF_EVENTS,
                                                 .discovered_max = 2,
                                                 .mentioned = ids,
                                                 .mentioned_count = count };
    tide_decode_close(m->decode);
    assert_int_equal(tide_decode_open(&m->decode, &options, &m->err), TIDE_OK);
}

/* Adds the engine's registration of a market. `named` is the contract of its token. */
static inline void put_market(struct maker *m, const uint8_t *named)
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
    touch_key(m, engine, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
}

static inline void put_call(struct maker *m)
{
    tide_buf_be32(&m->body, 0);
    lcm_put_address_contract(&m->body, m->called);
    tide_xdr_put_var(&m->body, TIDE_SLICE("go"));
    tide_buf_be32(&m->body, m->arg_count);
    tide_buf_slice(&m->body, tide_buf_view(&m->args));
    tide_buf_be32(&m->body, 0);
    tide_buf_be32(&m->soroban, 0);
    tide_buf_be32(&m->soroban, 0);
    tide_buf_be32(&m->soroban, m->key_count);
    tide_buf_slice(&m->soroban, tide_buf_view(&m->keys));
    for (int i = 0; i < 3; i++)
        tide_buf_be32(&m->soroban, 1000);
    tide_buf_be64(&m->soroban, 60000);
}

static inline void begin_ledger(struct maker *m)
{
    lcm_begin(&m->lcm, m->sequence, 1780000000 + m->sequence);
}

/* Adds the parts collected since the last transaction as the ledger's next transaction. */
static inline void end_transaction(struct maker *m)
{
    put_call(m);
    struct lcm_tx tx = { .source = m->source,
                         .seq = ++m->account_seq,
                         .fee = 100,
                         .fee_charged = 100,
                         .success = !m->failed,
                         .op_count = 1,
                         .soroban = tide_buf_view(&m->soroban),
                         .return_value = m->answer };
    tx.ops[0].type = LCM_OP_INVOKE;
    tx.ops[0].body = tide_buf_view(&m->body);
    tx.ops[0].code = m->failed ? -2 : 0;
    tx.ops[0].events = (struct lcm_list){ tide_buf_view(&m->events), m->event_count };
    tx.ops[0].changes = (struct lcm_list){ tide_buf_view(&m->changes), m->change_count };
    lcm_add(&m->lcm, &tx);
    clear_parts(m);
}

static inline tide_slice end_ledger(struct maker *m)
{
    tide_slice out;
    m->sequence++;
    assert_int_equal(lcm_end(&m->lcm, &out), TIDE_OK);
    return out;
}

static inline tide_slice make_ledger(struct maker *m)
{
    begin_ledger(m);
    end_transaction(m);
    return end_ledger(m);
}

static inline void decode_made(struct maker *m)
{
    if (tide_decode_ledger(m->decode, &m->batch, make_ledger(m), &m->err))
        fail_msg("%s", m->err.text);
}

static inline uint64_t count_rows(const struct maker *m, const char *schema, const char *name)
{
    return m->batch.rows[table_of(schema, name)].count;
}

/* Returns the last row of a table. The test fails if the table has none. */
static inline struct row last(const struct maker *m, const char *schema, const char *name)
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

static inline void text_is(const struct row *row, const char *column, const char *want)
{
    tide_slice v = cell(row, column);
    if (!tide_slice_eq_str(v, want))
        fail_msg("%s is \"%.*s\", wanted \"%s\"", column, TIDE_SLICE_FMT(v), want);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
