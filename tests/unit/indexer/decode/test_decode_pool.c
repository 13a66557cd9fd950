/* Ledgers decoded by several threads give the rows, discoveries and failures of one decoder.
 * (label: threads) */
#include "tests/unit/indexer/decode/decode_maker.h"

#include "indexer/decode/pool.h"

enum { LEDGERS = 400, BATCH = 57, BAD = 203 };
static const uint32_t threads[] = { 1, 2, 4, 8 };

struct chain {
    tide_slice ledger[LEDGERS]; /* each malloc'd */
    uint8_t hash[LEDGERS][TIDE_HASH_BYTES];
};

/* ---- ledgers ---- */

static void put_swap(struct maker *m)
{
    struct tide_buf *b = event(m, pool, 3);
    lcm_put_symbol(b, "swap");
    put_account(b, alice);
    lcm_put_symbol(b, "XLMUSDC");
    put_many(b, TIDE_SCV_MAP, 4);
    lcm_put_symbol(b, "a_to_b");
    put_bool(b, true);
    lcm_put_symbol(b, "amount_in");
    lcm_put_i128(b, m->sequence);
    lcm_put_symbol(b, "amount_out");
    lcm_put_i128(b, 7);
    lcm_put_symbol(b, "partner_id");
    put_u32(b, 1);
    touch_key(m, pool, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
}

static void put_mint(struct maker *m, const uint8_t *minted)
{
    struct tide_buf *b = event(m, minted, 2);
    m->called = minted;
    lcm_put_symbol(b, "mint");
    put_account(b, alice);
    put_many(b, TIDE_SCV_MAP, 1);
    lcm_put_symbol(b, "amount");
    lcm_put_i128(b, 3);
    touch_key(m, minted, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
}

static void put_debt(struct maker *m, uint32_t i)
{
    struct tide_buf key, value;
    tide_buf_init(&key, 1 << 10);
    tide_buf_init(&value, 1 << 10);
    put_many(&key, TIDE_SCV_VEC, 2);
    lcm_put_symbol(&key, "DebtTotal");
    lcm_put_symbol(&key, i % 3 ? "sEUR" : "sGOLD");
    lcm_put_i128(&value, i);
    m->called = engine;
    change(m, 1, engine, &key, PERSISTENT, i % 11 ? &value : NULL);
    if (i % 11 == 0) {
        tide_buf_reset(&m->changes);
        m->change_count = 0;
        change(m, 2, engine, &key, PERSISTENT, NULL);
    }
    tide_buf_release(&key);
    tide_buf_release(&value);
}

/* Every 40th ledger names a token. Two of three ledgers mint it, also before it is named. */
static void put_ledger(struct maker *m, uint32_t i)
{
    const uint8_t named[TIDE_HASH_BYTES] = { 50, (uint8_t)(i / 40) };
    begin_ledger(m);
    put_swap(m);
    end_transaction(m);
    if (i % 40 == 23) {
        put_market(m, named);
        end_transaction(m);
    }
    if (i % 3) {
        put_mint(m, named);
        end_transaction(m);
    }
    put_debt(m, i);
    end_transaction(m);
}

static void make_chain(struct chain *c, struct maker *m)
{
    for (uint32_t i = 0; i < LEDGERS; i++) {
        put_ledger(m, i);
        tide_slice made = end_ledger(m);
        uint8_t *own = malloc(made.len);
        memcpy(own, made.ptr, made.len);
        c->ledger[i] = tide_slice_of(own, made.len);
        /* LedgerCloseMeta: version, extension, then the header's hash */
        memcpy(c->hash[i], own + 8, TIDE_HASH_BYTES);
    }
}

static void free_chain(struct chain *c)
{
    for (uint32_t i = 0; i < LEDGERS; i++)
        free((void *)(uintptr_t)c->ledger[i].ptr);
}

/* ---- one decoder, and a pool ---- */

static struct tide_decode_options options_of(const struct maker *m)
{
    return (struct tide_decode_options){ .deployment = m->deployment,
                                         .proof = TIDE_PROOF_EVENTS,
                                         .discovered_max = 4 };
}

/* Results for the ledgers up to `end`, in batches. A failure may cut the last batch. */
struct run {
    struct tide_batch batches[LEDGERS / BATCH + 2];
    uint32_t count;
    tide_status status;
    struct tide_err err;
    uint32_t failed;
};

static struct tide_batch *new_batch(struct run *r)
{
    struct tide_batch *batch = &r->batches[r->count++];
    tide_batch_init(batch);
    return batch;
}

static void run_one(struct run *r, const struct maker *m, const struct chain *c)
{
    struct tide_decode *d;
    struct tide_decode_options options = options_of(m);
    *r = (struct run){ 0 };
    assert_int_equal(tide_decode_open(&d, &options, &r->err), TIDE_OK);
    struct tide_batch *batch = new_batch(r);
    for (uint32_t i = 0; i < LEDGERS && r->status == TIDE_OK; i++) {
        r->status = tide_decode_ledger(d, batch, c->ledger[i], &r->err);
        r->failed = r->status == TIDE_OK ? 0 : 100 + i;
        if (i % BATCH != BATCH - 1)
            continue;
        tide_decode_batch_end(d, batch);
        batch = new_batch(r);
    }
    tide_decode_batch_end(d, batch);
    tide_decode_close(d);
}

static tide_status take_batch(struct tide_decode_pool *p, struct run *r, struct tide_batch *batch)
{
    uint32_t failed = 0;
    tide_status status = tide_decode_pool_take(p, batch, &failed, &r->err);
    r->failed = status == TIDE_OK ? 0 : failed;
    return status;
}

/* Keeps the pool full while the test takes rows. */
static void run_pool(struct run *r, const struct maker *m, const struct chain *c, uint32_t count)
{
    struct tide_decode_pool *p;
    struct tide_decode_options options = options_of(m);
    struct tide_decoded decoded;
    uint32_t i = 0;
    *r = (struct run){ 0 };
    assert_int_equal(tide_decode_pool_open(&p, &options, count, &r->err), TIDE_OK);
    struct tide_batch *batch = new_batch(r);
    while (r->status == TIDE_OK && (i < LEDGERS || tide_decode_pool_is_busy(p))) {
        if (i < LEDGERS && tide_decode_pool_has_room(p)) {
            assert_int_equal(tide_decode_pool_add(p, c->ledger[i], 100 + i, c->hash[i], &r->err),
                             TIDE_OK);
            if (++i % BATCH == 0)
                tide_decode_pool_flush(p, 1);
            continue;
        }
        tide_decode_pool_flush(p, 0);
        tide_decode_pool_wait(p, &decoded);
        r->status = take_batch(p, r, batch);
        if (decoded.mark != 1 || r->status != TIDE_OK)
            continue;
        tide_decode_pool_batch_end(p, batch);
        batch = new_batch(r);
    }
    tide_decode_pool_batch_end(p, batch);
    assert_false(tide_decode_pool_is_busy(p));
    tide_decode_pool_close(p);
}

static void free_run(struct run *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        tide_batch_release(&r->batches[i]);
}

static void same_batch(const struct tide_batch *got, const struct tide_batch *want)
{
    assert_int_equal(got->from, want->from);
    assert_int_equal(got->to, want->to);
    assert_int_equal(got->closed_ms, want->closed_ms);
    assert_int_equal(got->settled, want->settled);
    assert_memory_equal(got->hash, want->hash, TIDE_HASH_BYTES);
    assert_memory_equal(got->previous_hash, want->previous_hash, TIDE_HASH_BYTES);
    assert_memory_equal(&got->counts, &want->counts, sizeof got->counts);
    for (uint32_t t = 0; t < TIDE_TABLES_MAX; t++) {
        assert_int_equal(got->rows[t].count, want->rows[t].count);
        assert_int_equal(got->rows[t].copy.len, want->rows[t].copy.len);
        if (want->rows[t].copy.len)
            assert_memory_equal(got->rows[t].copy.ptr, want->rows[t].copy.ptr,
                                want->rows[t].copy.len);
    }
}

static void same_run(const struct run *got, const struct run *want)
{
    assert_int_equal(got->status, want->status);
    assert_int_equal(got->failed, want->failed);
    assert_string_equal(got->err.text, want->err.text);
    assert_int_equal(got->count, want->count);
    for (uint32_t i = 0; i < want->count; i++)
        same_batch(&got->batches[i], &want->batches[i]);
}

static uint64_t rows_of(const struct run *r, const char *schema, const char *name)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < r->count; i++)
        rows += r->batches[i].rows[table_of(schema, name)].count;
    return rows;
}

/* ---- tests ---- */

static void all_same(const struct maker *m, const struct chain *c, struct run *want)
{
    run_one(want, m, c);
    for (size_t i = 0; i < TIDE_COUNT(threads); i++) {
        struct run got;
        run_pool(&got, m, c, threads[i]);
        same_run(&got, want);
        free_run(&got);
    }
}

static void rows_are_those_of_one_decoder(void **state)
{
    struct maker *m = *state;
    struct chain c;
    struct run want;
    make_chain(&c, m);
    all_same(m, &c, &want);
    assert_int_equal(want.status, TIDE_OK);
    assert_int_equal(rows_of(&want, "chain", "ledger"), LEDGERS);
    assert_int_equal(rows_of(&want, "chain", "contract_seen"),
                     30); /* ten tokens: found, market, token */
    assert_in_range(rows_of(&want, "event", "synth_token_mint"), 50, 120); /* behind the naming */
    /* two keys in each batch; the last batch has one ledger */
    assert_int_equal(rows_of(&want, "state", "synthetic_engine_debt_total"),
                     2 * (LEDGERS / BATCH) + 1);
    free_run(&want);
    free_chain(&c);
}

static void a_bad_ledger_comes_out_in_its_place(void **state)
{
    struct maker *m = *state;
    struct chain c;
    struct run want;
    make_chain(&c, m);
    ((uint8_t *)(uintptr_t)c.ledger[BAD].ptr)[100] ^= 1;
    ((uint8_t *)(uintptr_t)c.ledger[BAD + 30].ptr)[100] ^=
        1; /* also bad and decoded, but the first bad ledger comes out */
    all_same(m, &c, &want);
    assert_int_equal(want.status, TIDE_E_CHAIN);
    assert_int_equal(want.failed, 100 + BAD);
    free_run(&want);
    free_chain(&c);
}

static void a_gap_comes_out_in_its_place(void **state)
{
    struct maker *m = *state;
    struct chain c;
    struct run want;
    make_chain(&c, m);
    for (uint32_t at = BAD; at <= BAD + 16; at += 4) { /* inside a chunk, and between two */
        struct chain gap = c;
        for (uint32_t i = at; i < LEDGERS - 1; i++) {
            gap.ledger[i] = c.ledger[i + 1];
            memcpy(gap.hash[i], c.hash[i + 1], TIDE_HASH_BYTES);
        }
        run_one(&want, m, &gap);
        assert_int_equal(want.status, TIDE_E_CHAIN);
        for (size_t i = 0; i < TIDE_COUNT(threads); i++) {
            struct run got;
            run_pool(&got, m, &gap, threads[i]);
            same_run(&got, &want);
            free_run(&got);
        }
        free_run(&want);
    }
    free_chain(&c);
}

/* After a failure the pool takes a new copy of the deployment. The tokens known before the failure
 * stay known. */
static void after_a_failure_it_goes_on(void **state)
{
    struct maker *m = *state;
    struct chain c;
    struct run want;
    struct tide_decode_pool *p;
    struct tide_decode_options options = options_of(m);
    struct tide_batch batch;
    struct tide_err err;
    uint32_t failed = 0, i = 0;
    bool mended = false;
    make_chain(&c, m);
    run_one(&want, m, &c);
    tide_batch_init(&batch);
    assert_int_equal(tide_decode_pool_open(&p, &options, 4, &err), TIDE_OK);
    tide_decode_pool_expect(p, 100, NULL);
    ((uint8_t *)(uintptr_t)c.ledger[BAD].ptr)[100] ^= 1;
    while (i < LEDGERS || tide_decode_pool_is_busy(p)) {
        struct tide_decoded decoded;
        if (i < LEDGERS && tide_decode_pool_has_room(p)) {
            assert_int_equal(tide_decode_pool_add(p, c.ledger[i], 100 + i, c.hash[i], &err),
                             TIDE_OK);
            i++;
            continue;
        }
        tide_decode_pool_flush(p, 0);
        tide_decode_pool_wait(p, &decoded);
        if (tide_decode_pool_take(p, &batch, &failed, &err) == TIDE_OK)
            continue;
        assert_false(mended || tide_decode_pool_is_busy(p));
        assert_int_equal(failed, 100 + BAD);
        assert_int_equal(batch.to, 100 + BAD - 1);
        ((uint8_t *)(uintptr_t)c.ledger[BAD].ptr)[100] ^= 1;
        mended = true;
        i = BAD;
    }
    assert_true(mended);
    assert_int_equal(batch.to, 100 + LEDGERS - 1);
    assert_int_equal(batch.rows[table_of("event", "log")].count, rows_of(&want, "event", "log"));
    assert_int_equal(batch.rows[table_of("chain", "contract_seen")].count, 30);
    tide_decode_pool_close(p);
    tide_batch_release(&batch);
    free_run(&want);
    free_chain(&c);
}

int test_decode_pool(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_are_those_of_one_decoder),
        TEST(a_bad_ledger_comes_out_in_its_place),
        TEST(a_gap_comes_out_in_its_place),
        TEST(after_a_failure_it_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
