/* The state file of a checkpoint: what is read, what is refused, and the hash of its lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "indexer/archive/history_state.h"
#include "tests/unit/schema/wire/literal.h"
#include "tidemark/text.h"

#define ZERO "0000000000000000000000000000000000000000000000000000000000000000"
#define LIVE "1111111111111111111111111111111111111111111111111111111111111111"

/* Appends a list of `levels` levels whose first curr is `first`. */
static void put_list(struct tide_buf *b, const char *name, unsigned levels, const char *first)
{
    tide_buf_putf(b, ",\"%s\":[", name);
    for (unsigned i = 0; i < levels; i++)
        tide_buf_putf(b, "%s{\"curr\":\"%s\",\"next\":{\"state\":0},\"snap\":\"" ZERO "\"}",
                      i ? "," : "", i ? ZERO : first);
    tide_buf_str(b, "]");
}

static tide_status parse_text(struct history_state *state, const struct tide_buf *b)
{
    struct tide_err err = { 0 };
    tide_status status = history_state_parse(state, tide_buf_view(b), &err);
    assert_true(status == TIDE_OK || (*err.text && err.code == status));
    return status;
}

static void put_version_2(struct tide_buf *b)
{
    tide_buf_init(b, 1 << 16);
    tide_buf_str(b, "{\"version\":2,\"server\":\"x\",\"currentLedger\":127,"
                    "\"networkPassphrase\":\"Net\"");
    put_list(b, "currentBuckets", 11, LIVE);
    put_list(b, "hotArchiveBuckets", 11, ZERO);
    tide_buf_str(b, "}");
}

static void a_whole_state_is_read(void **state)
{
    (void)state;
    struct tide_buf b;
    struct history_state s;
    put_version_2(&b);
    assert_int_equal(parse_text(&s, &b), TIDE_OK);
    assert_int_equal(s.current_ledger, 127);
    assert_string_equal(s.passphrase, "Net");
    assert_int_equal(s.live[0].curr[31], 0x11);
    assert_int_equal(s.live[0].snap[0], 0);
    uint8_t hash[TIDE_HASH_BYTES];
    char hex[2 * TIDE_HASH_BYTES + 1] = "";
    history_state_hash(hash, &s);
    tide_hex(hex, tide_slice_of(hash, sizeof hash));
    /* Python: hashlib.sha256 of the levels, of the list, and of both lists */
    assert_string_equal(hex, "d01b98d1a6850b8f594ce1dc7da7f358d36b7a4479a4346f21eb32d5e1f5c33f");
    s.version = 1;
    history_state_hash(hash, &s);
    tide_hex(hex, tide_slice_of(hash, sizeof hash));
    assert_string_equal(hex, "5e31f74085501628cc892a813005226ee695266322fa09481de8d9575d19faaa");
    tide_buf_release(&b);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        unsigned live, hot; /* levels; 0: the list is missing */
        const char *first;
        tide_status status;
    } cases[] = {
        { "\"version\":1,\"currentLedger\":63", 11, 0, LIVE, TIDE_OK },
        { "\"version\":2,\"currentLedger\":63,\"networkPassphrase\":\"n\"", 11, 11, LIVE, TIDE_OK },
        { "\"version\":2,\"currentLedger\":63", 11, 11, LIVE, TIDE_E_DECODE }, /* no passphrase */
        { "\"version\":2,\"currentLedger\":63,\"networkPassphrase\":\"\"", 11, 11, LIVE,
          TIDE_E_DECODE },
        { "\"version\":2,\"currentLedger\":63,\"networkPassphrase\":\"n\"", 11, 0, LIVE,
          TIDE_E_DECODE },
        { "\"version\":2,\"currentLedger\":63,\"networkPassphrase\":\"n\"", 11, 10, LIVE,
          TIDE_E_DECODE },
        { "\"version\":1,\"currentLedger\":63", 11, 11, LIVE, TIDE_E_DECODE }, /* a hot list */
        { "\"version\":1,\"currentLedger\":63", 12, 0, LIVE, TIDE_E_DECODE },
        { "\"version\":1,\"currentLedger\":63", 0, 0, LIVE, TIDE_E_DECODE },
        { "\"version\":3,\"currentLedger\":63", 11, 0, LIVE, TIDE_E_UNKNOWN },
        { "\"version\":0,\"currentLedger\":63", 11, 0, LIVE, TIDE_E_DECODE },
        { "\"version\":\"1\",\"currentLedger\":63", 11, 0, LIVE, TIDE_E_DECODE },
        { "\"version\":1,\"currentLedger\":-1", 11, 0, LIVE, TIDE_E_DECODE },
        { "\"version\":1,\"currentLedger\":4294967296", 11, 0, LIVE, TIDE_E_DECODE },
        { "\"version\":1", 11, 0, LIVE, TIDE_E_DECODE },
        { "\"version\":1,\"version\":1,\"currentLedger\":63", 11, 0, LIVE, TIDE_E_DECODE },
        { "\"version\":1,\"currentLedger\":63", 11, 0, "11", TIDE_E_DECODE },
        { "\"version\":1,\"currentLedger\":63", 11, 0, "../../../../etc/passwd", TIDE_E_DECODE },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct tide_buf b;
        struct history_state s;
        tide_buf_init(&b, 1 << 16);
        tide_buf_putf(&b, "{%s", cases[i].head);
        if (cases[i].live)
            put_list(&b, "currentBuckets", cases[i].live, cases[i].first);
        if (cases[i].hot)
            put_list(&b, "hotArchiveBuckets", cases[i].hot, ZERO);
        tide_buf_str(&b, "}");
        if (parse_text(&s, &b) != cases[i].status)
            fail_msg("case %zu", i);
        tide_buf_release(&b);
    }
}

static void any_cut_is_refused(void **state)
{
    (void)state;
    struct tide_buf b;
    struct history_state s;
    struct tide_err err;
    put_version_2(&b);
    for (size_t len = 0; len < b.len; len++)
        assert_int_equal(history_state_parse(&s, tide_slice_of(b.ptr, len), &err), TIDE_E_DECODE);
    tide_buf_release(&b);
    tide_buf_init(&b, 1 << 20);
    while (b.len <= HISTORY_STATE_BYTES)
        tide_buf_str(&b, "[");
    assert_int_equal(parse_text(&s, &b), TIDE_E_LIMIT);
    tide_buf_release(&b);
}

int test_history_state(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_state_is_read),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(any_cut_is_refused),
    };
    return cmocka_run_group_tests_name("history_state", tests, NULL, NULL);
}
