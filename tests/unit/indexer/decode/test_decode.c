/* The decoder on ledgers made by the test: events that fit the catalogue, events that do not and
 * are kept raw, relevance to the deployment, and refusals that leave the batch unchanged. */
#include "tests/unit/indexer/decode/decode_maker.h"

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
    decode_made(m);
    assert_int_equal(count_rows(m, "event", "liquidity_pool_swap"), 1);
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
        decode_made(m);
        assert_int_equal(count_rows(m, "event", "raw"), i + 1);
        assert_int_equal(count_rows(m, "event", "liquidity_pool_swap"), i + 1);
        struct row row = last(m, "event", "raw");
        text_is(&row, "reason", cases[i].reason);
        assert_int_equal(cell_int(&row, "event"), 0);
        assert_true(cell(&row, "xdr").len > 40);
    }
    assert_int_equal(m->batch.counts.raw_events, TIDE_COUNT(cases));
    assert_int_equal(m->batch.counts.events, 2 * TIDE_COUNT(cases));
}

/* Appends a map whose key is a map …, `depth` maps deep. An earlier printer escaped each key's text
 * again at every level. */
static void put_keys(struct tide_buf *b, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++)
        put_many(b, TIDE_SCV_MAP, 1);
    for (uint32_t i = 0; i <= depth; i++)
        put_void(b);
}

/* An earlier decoder stopped at 760 bytes of such maps, and made a row of 33 MB from 712 bytes. */
static void arguments_cost_at_most_twice_their_bytes(void **state)
{
    struct maker *m = *state;
    static const uint32_t depths[] = { 1, 43, 46, 64, 65, 400 };
    for (size_t i = 0; i < TIDE_COUNT(depths); i++) {
        m->failed = true;
        put_keys(&m->args, depths[i]);
        m->arg_count = 1;
        size_t bytes = m->args.len;
        decode_made(m);
        struct row row = last(m, "chain", "call");
        bool json = depths[i] <= TIDE_STORED_JSON_DEPTH;
        assert_int_equal(is_null(&row, "args"), !json);
        assert_int_equal(is_null(&row, "args_xdr"), json);
        assert_true(is_null(&row, "ret_xdr"));
        if (json)
            assert_true(cell(&row, "args").len <= 2 * bytes + TIDE_STORED_JSON_SPARE);
        else
            assert_int_equal(cell(&row, "args_xdr").len, 4 + bytes);
    }
    assert_int_equal(m->batch.counts.raw_calls, 2);
    struct row row = last(m, "chain", "ledger");
    assert_int_equal(cell_int(&row, "raw_calls"), 1);
}

static void an_answer_too_deep_for_json_is_kept_as_xdr(void **state)
{
    struct maker *m = *state;
    struct tide_buf answer;
    tide_buf_init(&answer, 1 << 16);
    put_keys(&answer, TIDE_STORED_JSON_DEPTH + 1);
    m->answer = tide_buf_view(&answer);
    decode_made(m);
    struct row row = last(m, "chain", "call");
    assert_true(is_null(&row, "ret"));
    text_is(&row, "args", "[]");
    assert_int_equal(cell(&row, "ret_xdr").len, answer.len);
    assert_memory_equal(cell(&row, "ret_xdr").ptr, answer.ptr, answer.len);
    assert_int_equal(m->batch.counts.raw_calls, 1);
    tide_buf_release(&answer);
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
    touch_key(m, oracle, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    decode_made(m);
    assert_int_equal(count_rows(m, "event", "oracle_price_observation"), 1);
    assert_int_equal(count_rows(m, "event", "oracle_price_aggregate"), 1);
    assert_int_equal(count_rows(m, "event", "raw"), 0);
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
    decode_made(m);
    struct row row = last(m, "event", "stellar_asset_transfer");
    assert_true(is_null(&row, "to_muxed_id"));
    put_transfer(m, alice, MUXED);
    decode_made(m);
    row = last(m, "event", "stellar_asset_transfer");
    text_is(&row, "to_muxed_id", "\"77\"");
    text_is(&row, "asset", "USDC:ISSUER");
    text_is(&row, "to_muxed_id_type", "u64");
    assert_int_equal(cell_int(&row, "form"), 1);
    put_transfer(m, alice, LONE_MAP);
    decode_made(m);
    row = last(m, "event", "stellar_asset_transfer");
    assert_true(is_null(&row, "to_muxed_id_type"));
    put_transfer(m, alice, MUXED_VOID);
    decode_made(m);
    row = last(m, "event", "stellar_asset_transfer");
    assert_true(is_null(&row, "to_muxed_id"));
    text_is(&row, "to_muxed_id_type", "void");
    assert_int_equal(count_rows(m, "event", "stellar_asset_transfer"), 4);
    assert_int_equal(count_rows(m, "event", "raw"), 0);
}

/* ---- whose it is ---- */

static void the_network_s_own_traffic_is_not_ours(void **state)
{
    struct maker *m = *state;
    m->called = usdc; /* a stranger pays a stranger */
    put_transfer(m, stranger, PLAIN);
    touch_key(m, usdc, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "tx"), 0);
    assert_int_equal(count_rows(m, "event", "log"), 0);
    m->called = usdc; /* alice pays, an account of the deployment file */
    m->source = alice;
    put_transfer(m, alice, PLAIN);
    put_transfer(m, stranger, PLAIN);
    touch_key(m, usdc, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "tx"), 1);
    assert_int_equal(count_rows(m, "chain", "call"), 1);
    assert_int_equal(count_rows(m, "event", "stellar_asset_transfer"), 1);
    m->called = stranger; /* another protocol's router that calls the pool */
    touch_key(m, pool, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    put_transfer(m, stranger, PLAIN);
    put_swap(m, FIT);
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "tx"), 2);
    assert_int_equal(count_rows(m, "chain", "call"), 1);
    assert_int_equal(count_rows(m, "event", "stellar_asset_transfer"), 2);
    assert_int_equal(count_rows(m, "event", "liquidity_pool_swap"), 1);
    assert_int_equal(count_rows(m, "chain", "ledger"), 3);
}

/* Anyone can list any key in an envelope's footprint. A listed key makes a transaction relevant
 * only if the transaction failed. */
static void what_an_envelope_only_lists_is_not_ours(void **state)
{
    struct maker *m = *state;
    for (int failed = 0; failed < 2; failed++) {
        m->called = stranger;
        m->failed = failed;
        touch_key(m, pool, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
        touch_key(m, usdc, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
        for (int i = 0; i < 80 && !failed; i++)
            put_transfer(m, stranger, PLAIN);
        decode_made(m);
        assert_int_equal(count_rows(m, "chain", "tx"), failed);
        assert_int_equal(count_rows(m, "chain", "call"), 0);
        assert_int_equal(count_rows(m, "event", "log"), 0);
    }
    m->called = stranger; /* only one of them involves a named account */
    touch_key(m, pool, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    put_transfer(m, stranger, PLAIN);
    put_transfer(m, alice, PLAIN);
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "tx"), 2);
    assert_int_equal(count_rows(m, "event", "log"), 1);
}

static void put_entry_of(struct maker *m, const uint8_t *contract, const char *variant)
{
    struct tide_buf key, value;
    tide_buf_init(&key, 256);
    tide_buf_init(&value, 256);
    put_many(&key, TIDE_SCV_VEC, 2);
    lcm_put_symbol(&key, variant);
    lcm_put_symbol(&key, "XLMUSDC");
    lcm_put_i128(&value, 1);
    change(m, 1, contract, &key, PERSISTENT, &value);
    tide_buf_release(&key);
    tide_buf_release(&value);
}

static void an_entry_change_of_ours_makes_a_router_s_transaction_ours(void **state)
{
    struct maker *m = *state;
    m->called = stranger;
    touch_key(m, pool, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    /* the change waits: nothing of the deployment has changed in this transaction yet */
    put_entry_of(m, usdc, "Allowance");
    put_transfer(m, stranger, PLAIN);
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "tx"), 0);
    assert_int_equal(count_rows(m, "history", "raw"), 0);
    m->called = stranger;
    put_entry_of(m, usdc, "Allowance");
    put_entry_of(m, engine, "Anything");
    put_entry_of(m, usdc, "Approval");
    put_transfer(m, stranger, PLAIN);
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "tx"), 1);
    assert_int_equal(count_rows(m, "chain", "call"), 0);
    assert_int_equal(count_rows(m, "history", "raw"), 3);
    assert_int_equal(count_rows(m, "event", "stellar_asset_transfer"), 1);
    uint32_t seqs = 0;
    tide_slice at = tide_buf_view(&m->batch.rows[table_of("history", "raw")].copy);
    struct row row;
    while (next_row(&at, table_of("history", "raw"), &row))
        seqs |= 1u << cell_int(&row, "seq");
    assert_int_equal(seqs, 7); /* each version has its own seq */
}

static void a_refused_call_is_a_row_without_events(void **state)
{
    struct maker *m = *state;
    m->failed = true;
    decode_made(m);
    struct row row = last(m, "chain", "call");
    assert_int_equal(cell_int(&row, "ok"), 0);
    assert_int_equal(cell_int(&row, "result_code"), -2);
    assert_true(is_null(&row, "ret"));
    assert_int_equal(cell_int(&row, "proof"), 0);
    assert_int_equal(count_rows(m, "event", "log"), 0);
}

/* ---- discovery ---- */

static void put_mint(struct maker *m)
{
    struct tide_buf *b = event(m, token, 2);
    m->called = token;
    lcm_put_symbol(b, "mint");
    put_account(b, alice);
    put_many(b, TIDE_SCV_MAP, 1);
    lcm_put_symbol(b, "amount");
    lcm_put_i128(b, 3);
    touch_key(m, token, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
}

static void a_market_s_token_is_watched_from_there_on(void **state)
{
    struct maker *m = *state;
    put_mint(m);
    decode_made(m);
    assert_int_equal(count_rows(m, "event", "log"), 0);
    put_market(m, token);
    decode_made(m);
    struct row row = last(m, "chain", "contract_seen");
    text_is(&row, "what", "market");
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 2); /* discovered, too */
    text_is(&row, "role", "synth_token");
    assert_int_equal(cell_int(&row, "ledger"), 101);
    assert_false(m->batch.settled);
    put_mint(m); /* shows the contract's kind; this ledger is read again with the others */
    decode_made(m);
    assert_true(m->batch.settled);
    row = last(m, "chain", "contract_seen");
    text_is(&row, "what", "token");
    text_is(&row, "role", "synth_token");
    assert_int_equal(cell_int(&row, "ledger"), 102);
    assert_int_equal(count_rows(m, "event", "synth_token_mint"), 0);
    put_mint(m);
    decode_made(m);
    assert_int_equal(count_rows(m, "event", "synth_token_mint"), 1);
    assert_int_equal(count_rows(m, "chain", "call"), 2);
    put_market(m, token); /* changed later: nothing new */
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 3);
    assert_int_equal(m->deployment->contract_count, 6); /* the caller's is not touched */
}

/* Anyone can fill a partner's catalog. Its tokens must not use up the limit for tokens of
 * markets. */
static void markets_tokens_have_a_limit_of_their_own(void **state)
{
    struct maker *m = *state; /* discovered_max is 2 */
    for (uint8_t i = 1; i <= 5; i++) {
        const uint8_t named[TIDE_HASH_BYTES] = { 50, i };
        put_market(m, named);
        decode_made(m);
        struct row row = last(m, "chain", "contract_seen");
        text_is(&row, "what", "market");
        assert_int_equal(count_rows(m, "chain", "contract_seen"), 2 * i);
    }
}

/* ---- ledgers read again for some contracts ---- */

static void only_ledgers_with_the_contract_give_rows(void **state)
{
    struct maker *m = *state;
    uint8_t ids[1][TIDE_HASH_BYTES];
    memcpy(ids[0], token, TIDE_HASH_BYTES);
    open_for(m, (const uint8_t(*)[TIDE_HASH_BYTES])ids, 1);
    put_swap(m, FIT);
    touch_key(m, pool, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "ledger"), 0);
    assert_int_equal(count_rows(m, "chain", "tx"), 0);
    assert_int_equal(count_rows(m, "event", "log"), 0);
    assert_int_equal(m->batch.to, 100); /* the ledger was read */
    assert_int_equal(m->batch.counts.events, 0);
    put_swap(m, FIT);
    touch_key(m, pool, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    put_mint(m);
    decode_made(m);
    assert_int_equal(count_rows(m, "chain", "ledger"), 1);
    assert_int_equal(count_rows(m, "event", "liquidity_pool_swap"), 1);
    assert_int_equal(m->batch.to, 101);
}

static void put_native_transfer(struct maker *m, const uint8_t *asset, const uint8_t *to)
{
    struct tide_buf *b = event(m, asset, 4);
    m->called = asset;
    lcm_put_symbol(b, "transfer");
    put_account(b, stranger);
    put_account(b, to);
    lcm_put_string(b, "native");
    lcm_put_i128(b, 12);
    touch_key(m, asset, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
}

/* A market may name any address as its token, even a Stellar asset with much traffic. The filter
 * for such assets stays in force. */
static void a_stellar_asset_keeps_its_filter_though_a_market_names_it(void **state)
{
    struct maker *m = *state;
    uint8_t asset[TIDE_HASH_BYTES];
    tide_contract_id(asset, m->deployment->network_id, TIDE_SLICE("\0\0\0\1\0\0\0\0"));
    put_market(m, asset);
    decode_made(m);
    m->called = asset;
    m->failed = true; /* a token's call would be stored */
    decode_made(m);
    for (int i = 0; i < 3; i++) {
        put_native_transfer(m, asset, stranger);
        decode_made(m);
    }
    assert_int_equal(count_rows(m, "event", "synth_token_transfer"), 0);
    /* neither transfers before the discovery are stored, nor the transaction that shows the
     * asset */
    assert_int_equal(count_rows(m, "event", "stellar_asset_transfer"), 0);
    assert_int_equal(count_rows(m, "chain", "tx"), 1);
    put_native_transfer(m, asset, alice);
    m->source = alice;
    decode_made(m);
    assert_int_equal(count_rows(m, "event", "stellar_asset_transfer"), 1);
    assert_int_equal(count_rows(m, "event", "raw"), 0);
    struct row row = last(m, "chain", "contract_seen");
    text_is(&row, "what", "asset");
    text_is(&row, "role", "stellar_asset");
    assert_int_equal(cell_int(&row, "ledger"), 102);
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 3);
}

static void put_usdc(struct maker *m, const uint8_t *to)
{
    struct tide_buf *b = event(m, usdc, 4);
    m->called = usdc;
    lcm_put_symbol(b, "transfer");
    put_account(b, stranger);
    put_contract(b, to);
    lcm_put_string(b, "USDC:ISSUER");
    lcm_put_i128(b, 12);
    put_contract(&m->args, to);
    m->arg_count = 1;
    touch_key(m, usdc, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
}

/* Rows that were stored for a token found later name that token. Other ledgers of the past need no
 * mark: the file's contracts explain their rows, or the token is found before them. */
static void what_is_kept_for_a_token_that_is_found_later_names_it(void **state)
{
    struct maker *m = *state;
    struct tide_contract later = {
        .role = TIDE_ROLE_synth_token, .discovered = true, .named_ledger = 103, .shown_ledger = 99
    };
    memcpy(later.id, token, TIDE_HASH_BYTES);
    snprintf(later.name, sizeof later.name, "later");
    assert_int_equal(tide_deployment_add(m->deployment, &later), TIDE_OK);
    open_for(m, NULL, 0);
    put_usdc(m, token);
    decode_made(m);
    assert_int_equal(count_rows(m, "event", "stellar_asset_transfer"), 1);
    assert_int_equal(count_rows(m, "chain", "kept_for"), 2); /* the call, the event */
    struct row row = last(m, "chain", "kept_for");
    assert_int_equal(cell_int(&row, "ledger"), 100);
    assert_int_equal(cell_int(&row, "event"), 0);
    text_is(&row, "contract", tide_deployment_find(m->deployment, token)->address);
    put_usdc(m, pool);
    decode_made(m);
    put_swap(m, FIT);
    touch_key(m, pool, TIDE_SLICE("\0\0\0\x14"), PERSISTENT);
    put_usdc(m, token);
    decode_made(m);
    put_usdc(m, token); /* 103 */
    decode_made(m);
    assert_int_equal(count_rows(m, "event", "stellar_asset_transfer"), 4);
    assert_int_equal(count_rows(m, "chain", "kept_for"), 2);
}

/* A token counts as shown since the lowest ledger that shows its kind, whatever was read before. */
static void a_ledger_that_shows_a_token_earlier_says_so(void **state)
{
    struct maker *m = *state;
    struct tide_contract later = {
        .role = TIDE_ROLE_synth_token, .discovered = true, .named_ledger = 90, .shown_ledger = 110
    };
    memcpy(later.id, token, TIDE_HASH_BYTES);
    snprintf(later.name, sizeof later.name, "later");
    assert_int_equal(tide_deployment_add(m->deployment, &later), TIDE_OK);
    open_for(m, NULL, 0);
    for (int i = 0; i < 2; i++) {
        put_mint(m);
        decode_made(m);
    }
    assert_int_equal(count_rows(m, "event", "synth_token_mint"), 2);
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 1);
    struct row row = last(m, "chain", "contract_seen");
    text_is(&row, "what", "token");
    assert_int_equal(cell_int(&row, "ledger"), 100);
    assert_false(m->batch.settled);
}

/* ---- refusals ---- */

static void a_ledger_that_is_refused_leaves_nothing(void **state)
{
    struct maker *m = *state;
    put_swap(m, FIT);
    decode_made(m);
    struct tide_batch before = m->batch;
    put_market(m, token);
    tide_slice whole = make_ledger(m);
    uint8_t *bytes = malloc(whole.len);
    memcpy(bytes, whole.ptr, whole.len);
    bytes[whole.len - 1] ^= 1; /* invalid XDR behind the header */
    assert_int_not_equal(
        tide_decode_ledger(m->decode, &m->batch, tide_slice_of(bytes, whole.len - 4), &m->err),
        TIDE_OK);
    bytes[whole.len - 1] ^= 1;
    bytes[100] ^= 1;
    assert_int_equal(
        tide_decode_ledger(m->decode, &m->batch, tide_slice_of(bytes, whole.len), &m->err),
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
    bytes = realloc(bytes, whole.len + 40);
    memset(bytes + whole.len, 0xff, 40);
    tide_slice more = tide_slice_of(bytes, whole.len + 40);
    assert_int_not_equal(tide_decode_ledger(m->decode, &m->batch, more, &m->err), TIDE_OK);
    /* the undamaged ledger follows, and the discovery that was undone is made again */
    assert_int_equal(
        tide_decode_ledger(m->decode, &m->batch, tide_slice_of(bytes, whole.len), &m->err),
        TIDE_OK);
    assert_int_equal(count_rows(m, "chain", "contract_seen"), 2);
    /* a second time discovers nothing */
    assert_int_equal(
        tide_decode_ledger(m->decode, &m->batch, tide_slice_of(bytes, whole.len), &m->err),
        TIDE_E_CHAIN);
    free(bytes);
}

int test_decode(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_swap_becomes_a_row_and_a_line_of_the_log),
        TEST(what_does_not_fit_is_kept_raw_with_a_reason),
        TEST(arguments_cost_at_most_twice_their_bytes),
        TEST(an_answer_too_deep_for_json_is_kept_as_xdr),
        TEST(two_shapes_of_one_name_go_to_two_tables),
        TEST(a_transfer_may_carry_a_memo),
        TEST(the_network_s_own_traffic_is_not_ours),
        TEST(what_an_envelope_only_lists_is_not_ours),
        TEST(an_entry_change_of_ours_makes_a_router_s_transaction_ours),
        TEST(a_refused_call_is_a_row_without_events),
        TEST(a_market_s_token_is_watched_from_there_on),
        TEST(markets_tokens_have_a_limit_of_their_own),
        TEST(only_ledgers_with_the_contract_give_rows),
        TEST(a_stellar_asset_keeps_its_filter_though_a_market_names_it),
        TEST(what_is_kept_for_a_token_that_is_found_later_names_it),
        TEST(a_ledger_that_shows_a_token_earlier_says_so),
        TEST(a_ledger_that_is_refused_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
