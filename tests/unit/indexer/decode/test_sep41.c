/* Events of tokens in every form in which real tokens emit them. */
#include "tests/unit/indexer/decode/decode_maker.h"

#include "indexer/base/copy.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

/* An event and what the decoder must make of it. Accounts are numbers: 0 is none. */
struct token_event {
    const char *crate;
    uint32_t topic_count;
    const char *topics, *data; /* base64 */
    const char *name;
    uint8_t admin, from, to;
    int64_t amount;
    const char *muxed_id, *muxed_type;
    int form; /* -1: stays raw */
};

static const struct token_event library_events[] = {
#define TOKEN_EVENT(...) { __VA_ARGS__ },
#include "tests/unit/indexer/decode/token_events.def"
};

static int set_up_token(void **state)
{
    int failed = set_up(state);
    struct maker *m = *state;
    know_contract(m, token, TIDE_ROLE_synth_token, "token_X");
    tide_decode_close(m->decode);
    struct tide_decode_options options = { .deployment = m->deployment,
                                           .proof = TIDE_PROOF_EVENTS };
    assert_int_equal(tide_decode_open(&m->decode, &options, &m->err), TIDE_OK);
    return failed;
}

static void account_is(const struct row *row, const char *column, uint8_t account)
{
    uint8_t key[TIDE_HASH_BYTES];
    char text[TIDE_STRKEY_ADDRESS_MAX + 1] = "";
    if (!account) {
        assert_true(is_null(row, column));
        return;
    }
    memset(key, account, sizeof key);
    (void)tide_strkey_encode(text, TIDE_STRKEY_ACCOUNT, tide_slice_of(key, sizeof key));
    text_is(row, column, text);
}

static void amount_is(const struct row *row, int64_t amount)
{
    struct tide_buf want;
    tide_buf_init(&want, 64);
    tide_copy_i128(&want, tide_i128_from_parts(0, (uint64_t)amount));
    tide_slice got = cell(row, "amount");
    assert_int_equal(want.len, 4 + got.len);
    assert_memory_equal(want.ptr + 4, got.ptr, got.len);
    tide_buf_release(&want);
}

static void text_or_null(const struct row *row, const char *column, const char *want)
{
    if (want)
        text_is(row, column, want);
    else
        assert_true(is_null(row, column));
}

/* Checks the row of the event that was decoded last. */
static void row_is(const struct maker *m, const struct token_event *want, const char *asset)
{
    char table[64];
    snprintf(table, sizeof table, "synth_token_%s", want->name);
    struct row row = last(m, "event", table);
    bool mint = strcmp(want->name, "mint") == 0, approve = strcmp(want->name, "approve") == 0;
    bool clawback = strcmp(want->name, "clawback") == 0;
    assert_int_equal(cell_int(&row, "form"), want->form);
    amount_is(&row, want->amount);
    text_or_null(&row, "asset", asset);
    if (mint || clawback)
        account_is(&row, "admin", want->admin);
    if (!mint)
        account_is(&row, "from_address", want->from);
    if (approve)
        account_is(&row, "spender", want->to);
    else if (strcmp(want->name, "burn") != 0)
        account_is(&row, "to_address", want->to);
    if (mint || strcmp(want->name, "transfer") == 0) {
        text_or_null(&row, "to_muxed_id", want->muxed_id);
        text_or_null(&row, "to_muxed_id_type", want->muxed_type);
    }
    if (approve)
        assert_in_range(cell_int(&row, "expiration_ledger"), 9001, 9003);
}

static void put_base64(struct tide_buf *b, const char *text)
{
    assert_int_equal(tide_buf_base64_decode(b, tide_slice_str(text)), TIDE_OK);
}

/* Puts the event, with a further topic that names an asset if `asset` is not NULL. */
static void put_event(struct maker *m, const struct token_event *e, const char *asset)
{
    struct tide_buf *b = event(m, token, e->topic_count + (asset != NULL));
    put_base64(b, e->topics);
    if (asset)
        lcm_put_string(b, asset);
    put_base64(b, e->data);
}

static void events_of_libraries_are_decoded(void **state)
{
    struct maker *m = *state;
    uint64_t raw = 0;
    static const char *const assets[] = {
        NULL, "native", "USD:GAAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQCAIBAEAQDZ7H"
    };
    for (size_t a = 0; a < TIDE_COUNT(assets); a++) {
        for (size_t i = 0; i < TIDE_COUNT(library_events); i++) {
            const struct token_event *e = &library_events[i];
            put_event(m, e, assets[a]);
            decode_made(m);
            raw += e->form < 0;
            if (count_rows(m, "event", "raw") != raw)
                fail_msg("%s of %s, asset %s", e->name, e->crate, assets[a] ? assets[a] : "-");
            if (e->form >= 0)
                row_is(m, e, assets[a]);
        }
    }
}

/* ---- forms of SEP-41 that no library above emits ---- */

enum { ID_STRING, ID_BYTES, ID_U32, ID_MAP };

static void put_muxed_transfer(struct maker *m, int id)
{
    struct tide_buf *b = event(m, token, 3);
    lcm_put_symbol(b, "transfer");
    put_account(b, alice);
    put_account(b, stranger);
    put_many(b, TIDE_SCV_MAP, 2);
    lcm_put_symbol(b, "amount");
    lcm_put_i128(b, 12);
    lcm_put_symbol(b, "to_muxed_id");
    if (id == ID_STRING) {
        lcm_put_string(b, "77");
    } else if (id == ID_BYTES) {
        tide_buf_be32(b, TIDE_SCV_BYTES);
        tide_xdr_put_var(b, TIDE_SLICE("\1\xff"));
    } else if (id == ID_U32) {
        put_u32(b, 77);
    } else {
        put_many(b, TIDE_SCV_MAP, 0);
    }
}

static void the_type_of_a_muxed_id_is_kept(void **state)
{
    struct maker *m = *state;
    static const struct {
        int id;
        const char *value, *type;
    } cases[] = { { ID_STRING, "\"77\"", "string" }, { ID_BYTES, "\"01ff\"", "bytes" } };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        put_muxed_transfer(m, cases[i].id);
        decode_made(m);
        struct row row = last(m, "event", "synth_token_transfer");
        text_is(&row, "to_muxed_id", cases[i].value);
        text_is(&row, "to_muxed_id_type", cases[i].type);
    }
    put_muxed_transfer(m, ID_U32);
    put_muxed_transfer(m, ID_MAP);
    decode_made(m);
    assert_int_equal(count_rows(m, "event", "raw"), 2);
    struct row row = last(m, "event", "raw");
    text_is(&row, "reason", "type of field to_muxed_id");
}

enum { TOKEN_ID, NO_AMOUNT, U128, SYMBOL_ASSET, THREE_ACCOUNTS, VEC_OF_ONE };

/* Events with a transfer's name that move no amount: of collectibles, or of another standard. */
static void put_other_transfer(struct maker *m, int how)
{
    struct tide_buf *b = event(m, token, how == SYMBOL_ASSET || how == THREE_ACCOUNTS ? 4 : 3);
    lcm_put_symbol(b, "transfer");
    put_account(b, alice);
    put_account(b, stranger);
    if (how == SYMBOL_ASSET)
        lcm_put_symbol(b, "native");
    if (how == THREE_ACCOUNTS)
        put_account(b, alice);
    if (how == TOKEN_ID) {
        put_many(b, TIDE_SCV_MAP, 1);
        lcm_put_symbol(b, "token_id");
        put_u32(b, 7);
    } else if (how == NO_AMOUNT) {
        put_many(b, TIDE_SCV_MAP, 0);
    } else if (how == U128) {
        tide_buf_be32(b, TIDE_SCV_U128);
        tide_buf_be64(b, 0);
        tide_buf_be64(b, 12);
    } else if (how == VEC_OF_ONE) {
        put_many(b, TIDE_SCV_VEC, 1);
        lcm_put_i128(b, 12);
    } else {
        lcm_put_i128(b, 12);
    }
}

static void what_is_no_transfer_stays_raw(void **state)
{
    struct maker *m = *state;
    static const struct {
        int how;
        const char *reason;
    } cases[] = {
        { TOKEN_ID, "unknown field token_id" },    { NO_AMOUNT, "missing field amount" },
        { U128, "type of field amount" },          { SYMBOL_ASSET, "type of field asset" },
        { THREE_ACCOUNTS, "type of field asset" }, { VEC_OF_ONE, "data is not a map" },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        put_other_transfer(m, cases[i].how);
        decode_made(m);
        assert_int_equal(count_rows(m, "event", "raw"), i + 1);
        struct row row = last(m, "event", "raw");
        text_is(&row, "reason", cases[i].reason);
    }
    assert_int_equal(count_rows(m, "event", "synth_token_transfer"), 0);
}

int test_sep41(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_of_libraries_are_decoded, set_up_token, tear_down),
        cmocka_unit_test_setup_teardown(the_type_of_a_muxed_id_is_kept, set_up_token, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_transfer_stays_raw, set_up_token, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
