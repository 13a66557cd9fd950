/* The decoder on entries made by the test: versions and the last version of each key, entries that
 * do not fit and are kept raw, contract instances, evictions. */
#include "tests/unit/indexer/decode/decode_maker.h"

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

/* Nodes list the changes of an operation in different orders. Changes of one key keep their
 * order. */
static void rows_do_not_depend_on_the_order_of_changes(void **state)
{
    static const char *const listed[] = { "sE", "sB", "sD", "sA", "sC", "sB" };
    static const char *const sorted[] = { "sA", "sB", "sB", "sC", "sD", "sE" };
    enum { CHANGES = TIDE_COUNT(listed), NODES = 12 };
    struct maker *m = *state;
    struct tide_buf key = buffer(), value = buffer();
    for (uint64_t node = 0; node < NODES; node++) {
        m->lcm.shuffle = node;
        m->called = engine;
        for (int i = 0; i < CHANGES; i++) {
            put_key(&key, "DebtTotal", listed[i]);
            put_debt(&value, 100 + i);
            change(m, 1, engine, &key, PERSISTENT, &value);
        }
        decode_made(m);
    }
    uint32_t table = table_of("history", "synthetic_engine_debt_total");
    tide_slice at = tide_buf_view(&m->batch.rows[table].copy);
    struct row row;
    int seen = 0;
    for (; next_row(&at, table, &row); seen++) {
        assert_int_equal(cell_int(&row, "seq"), seen % CHANGES);
        assert_true(tide_slice_eq_str(cell(&row, "synth"), sorted[seen % CHANGES]));
    }
    assert_int_equal(seen, NODES * CHANGES);
    tide_buf_release(&key);
    tide_buf_release(&value);
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
        decode_made(m);
    }
    assert_int_equal(count_rows(m, "history", "synthetic_engine_debt_total"), 5);
    assert_int_equal(count_rows(m, "state", "synthetic_engine_debt_total"), 5);
    tide_decode_batch_end(m->decode, &m->batch);
    assert_int_equal(count_rows(m, "history", "synthetic_engine_debt_total"), 5);
    assert_int_equal(count_rows(m, "state", "synthetic_engine_debt_total"), 2);
    tide_slice at =
        tide_buf_view(&m->batch.rows[table_of("state", "synthetic_engine_debt_total")].copy);
    struct row row;
    int seen = 0;
    for (; next_row(&at, table_of("state", "synthetic_engine_debt_total"), &row); seen++) {
        bool gold = tide_slice_eq_str(cell(&row, "synth"), "sGOLD");
        assert_int_equal(cell_int(&row, "removed"), gold);
        assert_int_equal(is_null(&row, "value"), gold);
        assert_int_equal(cell_int(&row, "ledger"), gold ? 104 : 103);
    }
    assert_int_equal(seen, 2);
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
        decode_made(m);
        assert_int_equal(count_rows(m, "history", "raw"), i + 1);
        struct row row = last(m, "history", "raw");
        text_is(&row, "reason", cases[i].reason);
        tide_slice xdr = cell(&row, "value_xdr");
        assert_int_equal(xdr.len, value.len);
        assert_memory_equal(xdr.ptr, value.ptr, xdr.len);
    }
    assert_int_equal(count_rows(m, "state", "raw"), TIDE_COUNT(cases));
    assert_int_equal(count_rows(m, "state", "synthetic_engine_debt_total"), 0);
    tide_buf_release(&key);
    tide_buf_release(&value);
}

static void put_storage(struct tide_buf *value, bool strange)
{
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

static void put_instance(struct tide_buf *value, bool strange)
{
    tide_buf_reset(value);
    tide_buf_be32(value, TIDE_SCV_CONTRACT_INSTANCE);
    tide_buf_be32(value, 0);
    tide_buf_put(value, stranger, TIDE_HASH_BYTES);
    put_storage(value, strange);
}

/* Appends an instance that runs the code which another contract keeps under a tag (protocol 28). */
static void put_instance_by_reference(struct tide_buf *value, bool strange)
{
    tide_buf_reset(value);
    tide_buf_be32(value, TIDE_SCV_CONTRACT_INSTANCE);
    tide_buf_be32(value, 2);
    lcm_put_address_contract(value, stranger);
    tide_buf_be32(value, 5);
    tide_buf_put(value, "ta\0g\xff\0\0\0", 8);
    put_storage(value, strange);
}

static void an_instance_by_reference_keeps_its_storage(void **state)
{
    struct maker *m = *state;
    struct tide_buf key = buffer(), value = buffer();
    tide_buf_be32(&key, TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE);
    for (uint32_t strange = 0; strange < 2; strange++) {
        put_instance_by_reference(&value, strange);
        change(m, strange, pool, &key, PERSISTENT, &value);
        decode_made(m);
        struct row row = last(m, "history", "liquidity_pool_instance");
        text_is(&row, "executable", "contractExecutableExternalRef");
        assert_true(is_null(&row, "wasm"));
        assert_int_equal(cell_int(&row, "pool_count"), 6);
        assert_int_equal(count_rows(m, "history", "raw"), strange + 1);
        row = last(m, "history", "raw");
        text_is(&row, "reason", strange ? "unknown instance key" : "executable by reference");
        tide_slice xdr = cell(&row, "value_xdr");
        assert_int_equal(xdr.len, value.len);
        assert_memory_equal(xdr.ptr, value.ptr, xdr.len);
    }
    tide_buf_release(&key);
    tide_buf_release(&value);
}

static void an_instance_keeps_what_it_knows(void **state)
{
    struct maker *m = *state;
    struct tide_buf key = buffer(), value = buffer();
    tide_buf_be32(&key, TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE);
    put_instance(&value, false);
    change(m, 0, pool, &key, PERSISTENT, &value);
    decode_made(m);
    assert_int_equal(count_rows(m, "history", "raw"), 0);
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 1);
    put_instance(&value, true);
    change(m, 1, pool, &key, PERSISTENT, &value);
    decode_made(m);
    assert_int_equal(count_rows(m, "history", "raw"), 1);
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

static void put_evicted(struct maker *m, const uint8_t *contract, const struct tide_buf *key,
                        uint32_t durability)
{
    struct tide_buf address = buffer(), ledger_key = buffer();
    lcm_put_address_contract(&address, contract);
    struct lcm_data data = { tide_buf_view(&address), tide_buf_view(key), durability };
    lcm_put_data_key(&ledger_key, &data);
    lcm_evict(&m->lcm, tide_buf_view(&ledger_key));
    tide_buf_release(&address);
    tide_buf_release(&ledger_key);
}

static void evictions_archive_or_remove(void **state)
{
    struct maker *m = *state;
    struct tide_buf key = buffer();
    begin_ledger(m);
    put_key(&key, "DebtTotal", "sEUR");
    for (uint32_t durability = 0; durability < 2; durability++)
        put_evicted(m, engine, &key, durability);
    assert_int_equal(tide_decode_ledger(m->decode, &m->batch, end_ledger(m), &m->err), TIDE_OK);
    assert_int_equal(count_rows(m, "history", "ttl"), 2);
    struct row row = last(m, "history", "ttl"); /* persistent: archived, its value stands */
    assert_int_equal(cell_int(&row, "tx"), 1048575);
    assert_int_equal(cell_int(&row, "evicted"), 1);
    assert_int_equal(cell_int(&row, "removed"), 0);
    assert_true(is_null(&row, "live_until"));
    row = last(m, "history", "raw"); /* temporary: removed */
    assert_int_equal(cell_int(&row, "removed"), 1);
    assert_true(is_null(&row, "value_xdr"));
    tide_buf_release(&key);
}

/* Appends the extension of an entry's lifetime to the transaction. */
static void put_extension(struct maker *m, const uint8_t *contract, const struct tide_buf *key,
                          uint32_t live_until)
{
    struct tide_buf address = buffer();
    uint8_t hash[TIDE_HASH_BYTES];
    lcm_put_address_contract(&address, contract);
    tide_data_key_hash(hash, tide_buf_view(&address), tide_buf_view(key), PERSISTENT);
    tide_buf_be32(&m->changes, 1);
    lcm_put_ttl(&m->changes, m->sequence, hash, live_until);
    m->change_count++;
    touch_key(m, contract, tide_buf_view(key), PERSISTENT);
    tide_buf_release(&address);
}

/* Adds a transaction that extends the lifetime of the engine's DebtTotal. */
static void extend_debt_total(struct maker *m, const struct tide_buf *key, uint32_t live_until)
{
    m->called = engine;
    put_extension(m, engine, key, live_until);
    end_transaction(m);
}

static void of_several_extensions_the_longest_applies(void **state)
{
    static const uint32_t asked[] = { 5000, 9000, 7000 };
    static const int64_t longest[] = { 5000, 9000, 9000 };
    struct maker *m = *state;
    struct tide_buf key = buffer();
    put_key(&key, "DebtTotal", "sEUR");
    begin_ledger(m);
    for (size_t i = 0; i < TIDE_COUNT(asked); i++)
        extend_debt_total(m, &key, asked[i]);
    assert_int_equal(tide_decode_ledger(m->decode, &m->batch, end_ledger(m), &m->err), TIDE_OK);
    uint32_t table = table_of("history", "ttl");
    tide_slice at = tide_buf_view(&m->batch.rows[table].copy);
    struct row row;
    for (size_t i = 0; i < TIDE_COUNT(longest); i++) {
        assert_true(next_row(&at, table, &row));
        assert_int_equal(cell_int(&row, "live_until"), longest[i]);
    }
    /* A lower value in a later ledger counts: the entry may have been removed and created again in
     * between. */
    begin_ledger(m);
    extend_debt_total(m, &key, 6000);
    assert_int_equal(tide_decode_ledger(m->decode, &m->batch, end_ledger(m), &m->err), TIDE_OK);
    row = last(m, "history", "ttl");
    assert_int_equal(cell_int(&row, "live_until"), 6000);
    tide_buf_release(&key);
}

/* Strangers' transfers extend that lifetime too and are not indexed: any number would be wrong. */
static void a_stellar_asset_s_instance_has_no_lifetime(void **state)
{
    struct maker *m = *state;
    struct tide_buf instance = buffer(), balance = buffer();
    tide_buf_be32(&instance, TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE);
    put_many(&balance, TIDE_SCV_VEC, 2);
    lcm_put_symbol(&balance, "Balance");
    put_contract(&balance, pool);
    begin_ledger(m);
    put_extension(m, pool, &instance, 5000);
    put_extension(m, usdc, &instance, 6000);
    put_extension(m, usdc, &balance, 7000);
    end_transaction(m);
    put_evicted(m, usdc, &instance, PERSISTENT);
    put_evicted(m, usdc, &balance, PERSISTENT);
    assert_int_equal(tide_decode_ledger(m->decode, &m->batch, end_ledger(m), &m->err), TIDE_OK);
    uint32_t table = table_of("history", "ttl");
    tide_slice at = tide_buf_view(&m->batch.rows[table].copy);
    struct row row;
    int64_t sum = 0;
    while (next_row(&at, table, &row))
        sum += is_null(&row, "live_until") ? 1 : cell_int(&row, "live_until");
    assert_int_equal(sum, 5000 + 7000 + 1);
    tide_buf_release(&instance);
    tide_buf_release(&balance);
}

/* ---- what the chain names ---- */

static void the_dao_s_storage_gives_no_role(void **state)
{
    static const char *const slots[] = { "CDP",    "COMPLY",  "EARNCTR", "LP",
                                         "ORACLE", "PARTNER", "STABCTR" };
    struct maker *m = *state;
    struct tide_buf key = buffer(), value = buffer();
    tide_buf_be32(&key, TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE);
    tide_buf_be32(&value, TIDE_SCV_CONTRACT_INSTANCE);
    tide_buf_be32(&value, 0);
    tide_buf_put(&value, stranger, TIDE_HASH_BYTES);
    tide_buf_be32(&value, 1);
    tide_buf_be32(&value, TIDE_COUNT(slots));
    for (size_t i = 0; i < TIDE_COUNT(slots); i++) {
        lcm_put_symbol(&value, slots[i]);
        put_contract(&value, stranger);
    }
    m->called = dao;
    change(m, 1, dao, &key, PERSISTENT, &value);
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 0);
    struct row row = last(m, "history", "dao_governance_instance");
    assert_false(is_null(&row, "compliance"));
    put_key(&key, "ComplianceRec", NULL); /* the contract named there is no registry */
    m->called = stranger;
    change(m, 1, stranger, &key, PERSISTENT, &value);
    decode_made(m);
    assert_int_equal(count_rows(m, "history", "raw"), 0);
    assert_int_equal(count_rows(m, "chain", "tx"), 1);
    tide_buf_release(&key);
    tide_buf_release(&value);
}

static void put_catalog_entry(struct maker *m, const char *symbol, const uint8_t *named, bool live)
{
    struct tide_buf key = buffer(), value = buffer();
    put_key(&key, "PartnerAsset", symbol);
    put_many(&value, TIDE_SCV_MAP, 7);
    lcm_put_symbol(&value, "debt_ceiling");
    lcm_put_i128(&value, 1);
    lcm_put_symbol(&value, "deployed_at");
    put_u64(&value, 1);
    lcm_put_symbol(&value, "live");
    put_bool(&value, live);
    lcm_put_symbol(&value, "oracle_symbol");
    lcm_put_symbol(&value, "EUR");
    lcm_put_symbol(&value, "partner_id");
    put_u32(&value, 0);
    lcm_put_symbol(&value, "symbol");
    lcm_put_symbol(&value, symbol);
    lcm_put_symbol(&value, "token");
    put_contract(&value, named);
    m->called = partners;
    change(m, 1, partners, &key, PERSISTENT, &value);
    tide_buf_release(&key);
    tide_buf_release(&value);
}

static void a_partner_s_token_is_followed_once_it_is_live(void **state)
{
    struct maker *m = *state;
    put_catalog_entry(m, "pEUR", token, false);
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 0);
    put_catalog_entry(m, "pEUR", token, true);
    decode_made(m);
    struct row row = last(m, "chain", "contract_seen");
    text_is(&row, "what", "discovered");
    text_is(&row, "role", "synth_token");
    put_catalog_entry(m, "pEUR", pool, true); /* the file's contracts keep their roles */
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 1);
}

static void tokens_past_the_limit_are_reported_and_not_followed(void **state)
{
    struct maker *m = *state;
    for (uint8_t i = 0; i < 4; i++) {
        uint8_t named[TIDE_HASH_BYTES] = { 40, i };
        put_catalog_entry(m, "a", named, true);
        put_catalog_entry(m, "b", named, true); /* twice in one transaction */
        decode_made(m);
    }
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 4);
    struct row row = last(m, "chain", "contract_seen");
    text_is(&row, "what", "ignored");
    assert_int_equal(cell_int(&row, "ledger"), 103);
    const uint8_t ignored[TIDE_HASH_BYTES] = { 40, 3 };
    struct tide_buf key = buffer(), value = buffer();
    put_key(&key, "TotalSupply", NULL);
    lcm_put_i128(&value, 1);
    uint64_t changes = m->batch.counts.changes;
    change(m, 1, ignored, &key, PERSISTENT, &value);
    decode_made(m);
    assert_int_equal(m->batch.counts.changes, changes);
    tide_buf_release(&key);
    tide_buf_release(&value);
}

/* Every token beyond the limit is recorded, however many a ledger names, so that a higher limit can
 * include it. */
static void no_token_past_the_limit_is_left_out(void **state)
{
    enum { NAMED = 700 };
    struct maker *m = *state;
    for (uint32_t i = 0; i < NAMED; i++) {
        uint8_t named[TIDE_HASH_BYTES] = { 41, (uint8_t)(i >> 8), (uint8_t)i };
        put_catalog_entry(m, "a", named, true);
        put_catalog_entry(m, "b", named, true);
    }
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "contract_seen"), NAMED);
    struct row row = last(m, "chain", "contract_seen");
    text_is(&row, "what", "ignored");
}

static void know_market_token(struct maker *m, uint32_t named, uint32_t market)
{
    struct tide_contract later = { .role = TIDE_ROLE_synth_token,
                                   .discovered = true,
                                   .unsettled = true,
                                   .named_ledger = named,
                                   .market_ledger = market };
    memcpy(later.id, token, TIDE_HASH_BYTES);
    snprintf(later.name, sizeof later.name, "later");
    snprintf(later.role_name, sizeof later.role_name, "synth_token");
    assert_int_equal(tide_deployment_add(m->deployment, &later), TIDE_OK);
    open_for(m, NULL, 0);
}

/* Ledgers may be read in any order: the writer tells from this row whether the token has a place. */
static void a_catalog_that_names_a_known_token_earlier_says_so(void **state)
{
    struct maker *m = *state;
    know_market_token(m, 102, 102);
    put_catalog_entry(m, "a", token, true);
    put_catalog_entry(m, "b", token, true);
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 1);
    struct row row = last(m, "chain", "contract_seen");
    text_is(&row, "what", "ignored");
    assert_int_equal(cell_int(&row, "ledger"), 100);
    put_catalog_entry(m, "a", token, true);
    put_market(m, token); /* both in 101 */
    decode_made(m);
    row = last(m, "chain", "contract_seen");
    text_is(&row, "what", "market");
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 3); /* discovered, too */
    put_catalog_entry(m, "a", token, true);
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 3);
}

/* A token takes a place only if a catalog named it before any market did. */
static void a_market_that_names_a_known_token_earlier_says_so(void **state)
{
    struct maker *m = *state;
    know_market_token(m, 90, 110);
    for (int i = 0; i < 2; i++) {
        put_market(m, token);
        decode_made(m);
    }
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 1);
    struct row row = last(m, "chain", "contract_seen");
    text_is(&row, "what", "market");
    assert_int_equal(cell_int(&row, "ledger"), 100);
}

int test_decode_entries(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_dao_s_storage_gives_no_role),
        TEST(a_partner_s_token_is_followed_once_it_is_live),
        TEST(tokens_past_the_limit_are_reported_and_not_followed),
        TEST(no_token_past_the_limit_is_left_out),
        TEST(a_catalog_that_names_a_known_token_earlier_says_so),
        TEST(a_market_that_names_a_known_token_earlier_says_so),
        TEST(rows_do_not_depend_on_the_order_of_changes),
        TEST(versions_go_to_history_and_the_last_to_state),
        TEST(entries_that_do_not_fit_are_kept_raw),
        TEST(an_instance_keeps_what_it_knows),
        TEST(an_instance_by_reference_keeps_its_storage),
        TEST(evictions_archive_or_remove),
        TEST(of_several_extensions_the_longest_applies),
        TEST(a_stellar_asset_s_instance_has_no_lifetime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
