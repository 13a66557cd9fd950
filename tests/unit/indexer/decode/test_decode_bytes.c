/* The stored bytes stay proportional to the ledger's bytes, for contents chosen to be small in XDR
 * and large in tables. A row's size here is its COPY bytes and 28 bytes, for PostgreSQL's tuple
 * header and line pointer. */
#include "tests/unit/indexer/decode/decode_maker.h"

#include "tidemark/hash.h"

enum { TIMES = 1000, ROW_HEAD = 28, LEDGER_SPARE = 2048 };

/* Removals in a state table are rows of the batch only: the merge uses them to delete. */
static size_t state_bytes(const struct maker *m, uint32_t table)
{
    tide_slice at = tide_buf_view(&m->batch.rows[table].copy);
    struct row row;
    size_t bytes = 0;
    for (size_t before = at.len; next_row(&at, table, &row); before = at.len)
        if (!cell_int(&row, "removed"))
            bytes += ROW_HEAD + before - at.len;
    return bytes;
}

static size_t stored_bytes(const struct maker *m)
{
    uint32_t tables;
    const struct tide_table *all = tide_tables(&tables);
    size_t bytes = 0;
    for (uint32_t i = 0; i < tables; i++)
        bytes += all[i].kind == TIDE_TABLE_STATE
                     ? state_bytes(m, i)
                     : m->batch.rows[i].copy.len + ROW_HEAD * m->batch.rows[i].count;
    return bytes;
}

/* Ends the ledger and compares the bytes of its rows with the bytes of the ledger. */
static void check_ledger(struct maker *m, const char *what, tide_slice lcm)
{
    size_t before = stored_bytes(m);
    if (tide_decode_ledger(m->decode, &m->batch, lcm, &m->err))
        fail_msg("%s: %s", what, m->err.text);
    size_t rows = stored_bytes(m) - before;
    print_message("%s: %zu bytes of rows for a ledger of %zu, %.1f times\n", what, rows, lcm.len,
                  (double)rows / (double)lcm.len);
    if (rows > 8 * lcm.len + LEDGER_SPARE)
        fail_msg("%s: more than 8 times the ledger and %d bytes", what, LEDGER_SPARE);
}

static void put_many_of(struct tide_buf *b, uint32_t arm, const char *body, size_t len)
{
    put_many(b, TIDE_SCV_VEC, TIMES);
    for (int i = 0; i < TIMES; i++) {
        tide_buf_be32(b, arm);
        tide_buf_put(b, body, len);
    }
}

static void refused_arguments(void **state)
{
    static const struct {
        const char *what;
        uint32_t arm;
        const char *body;
        size_t len;
    } shapes[] = {
        { "void", TIDE_SCV_VOID, "", 0 },
        { "errors", TIDE_SCV_ERROR, "\0\0\0\0\377\377\377\377", 8 },
        { "instance keys", TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE, "", 0 },
        { "nonce keys", TIDE_SCV_LEDGER_KEY_NONCE, "\200\0\0\0\0\0\0\0", 8 },
        { "least amounts", TIDE_SCV_I128, "\200\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16 },
        { "control characters", TIDE_SCV_STRING, "\0\0\0\4\1\1\1\1", 8 },
        { "no text", TIDE_SCV_STRING, "\0\0\0\4\377\377\377\377", 8 },
        { "instances", TIDE_SCV_CONTRACT_INSTANCE, "\0\0\0\1\0\0\0\0", 8 },
    };
    struct maker *m = *state;
    for (size_t i = 0; i < TIDE_COUNT(shapes); i++) {
        m->failed = true;
        put_many_of(&m->args, shapes[i].arm, shapes[i].body, shapes[i].len);
        m->arg_count = 1;
        size_t args = m->args.len;
        check_ledger(m, shapes[i].what, make_ledger(m));
        struct row row = last(m, "chain", "call");
        size_t kept = cell(&row, is_null(&row, "args") ? "args_xdr" : "args").len;
        assert_true(kept <= 2 * args + TIDE_STORED_JSON_SPARE + 2);
    }
}

static void tiny_events(void **state)
{
    struct maker *m = *state;
    for (int i = 0; i < TIMES; i++) {
        struct tide_buf *b = event(m, pool, 1);
        lcm_put_symbol(b, "x");
        put_void(b);
    }
    check_ledger(m, "tiny events", make_ledger(m));
}

static void put_small_key(struct tide_buf *key, uint32_t i)
{
    tide_buf_reset(key);
    put_u32(key, i);
}

static void tiny_entries(void **state)
{
    struct maker *m = *state;
    struct tide_buf key, value;
    tide_buf_init(&key, 64);
    tide_buf_init(&value, 64);
    put_void(&value);
    m->called = engine;
    for (uint32_t i = 0; i < TIMES; i++) {
        put_small_key(&key, i);
        change(m, 0, engine, &key, PERSISTENT, &value);
    }
    check_ledger(m, "tiny entries", make_ledger(m));
    m->called = engine;
    for (uint32_t i = 0; i < TIMES; i++) {
        put_small_key(&key, i);
        change(m, 2, engine, &key, PERSISTENT, NULL);
    }
    check_ledger(m, "tiny entries removed", make_ledger(m));
    tide_buf_release(&key);
    tide_buf_release(&value);
}

static void lifetimes(void **state)
{
    struct maker *m = *state;
    struct tide_buf key, address;
    uint8_t hash[TIDE_HASH_BYTES];
    tide_buf_init(&key, 64);
    tide_buf_init(&address, 64);
    lcm_put_address_contract(&address, engine);
    m->called = engine;
    for (uint32_t i = 0; i < TIMES; i++) {
        put_small_key(&key, i);
        tide_data_key_hash(hash, tide_buf_view(&address), tide_buf_view(&key), PERSISTENT);
        tide_buf_be32(&m->changes, 1);
        lcm_put_ttl(&m->changes, m->sequence, hash, 5000 + i);
        m->change_count++;
        touch_key(m, engine, tide_buf_view(&key), PERSISTENT);
    }
    check_ledger(m, "lifetimes", make_ledger(m));
    assert_int_equal(count_rows(m, "history", "ttl"), TIMES);
    tide_buf_release(&key);
    tide_buf_release(&address);
}

static void evictions(void **state)
{
    struct maker *m = *state;
    struct tide_buf key, address, evicted;
    uint8_t hash[TIDE_HASH_BYTES];
    tide_buf_init(&key, 64);
    tide_buf_init(&address, 64);
    tide_buf_init(&evicted, 256);
    lcm_put_address_contract(&address, engine);
    begin_ledger(m);
    for (uint32_t i = 0; i < TIMES; i++) {
        put_small_key(&key, i);
        tide_buf_reset(&evicted);
        struct lcm_data data = { tide_buf_view(&address), tide_buf_view(&key), TEMPORARY };
        lcm_put_data_key(&evicted, &data);
        lcm_evict(&m->lcm, tide_buf_view(&evicted)); /* and its TTL entry, as stellar-core does */
        tide_data_key_hash(hash, tide_buf_view(&address), tide_buf_view(&key), TEMPORARY);
        tide_buf_reset(&evicted);
        lcm_put_ttl_key(&evicted, hash);
        lcm_evict(&m->lcm, tide_buf_view(&evicted));
    }
    check_ledger(m, "evictions", end_ledger(m));
    assert_int_equal(count_rows(m, "history", "ttl"), TIMES);
    tide_buf_release(&key);
    tide_buf_release(&address);
    tide_buf_release(&evicted);
}

int test_decode_bytes(void)
{
    const struct CMUnitTest tests[] = {
        TEST(refused_arguments), TEST(tiny_events), TEST(tiny_entries),
        TEST(lifetimes),         TEST(evictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
