/* Answers of Stellar RPC, made byte by byte: well-formed ones in every form that servers use, and
 * malformed ones that the reader must refuse. */
#include "schema/rpc/answer.h"
#include "tests/unit/indexer/source/lake_fixture.h"
#include "tidemark/text.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static struct tide_rpc_error error; /* error of the last answer */

static void put_meta(struct tide_buf *out, uint32_t sequence, uint32_t pad)
{
    struct tide_buf lcm;
    tide_buf_init(&lcm, 1u << 20);
    put_ledger(&lcm, sequence, pad);
    tide_buf_base64(out, tide_buf_view(&lcm));
    tide_buf_release(&lcm);
}

/* Appends one ledger as an object. `form` chooses between equivalent notations. */
static void put_entry(struct tide_buf *out, uint32_t sequence, uint32_t pad, int form)
{
    tide_buf_str(out, "{");
    if (form == 0)
        tide_buf_putf(out,
                      "\"hash\":\"" ZEROS "\",\"sequence\":%u,\"ledgerCloseTime\":\"1\","
                      "\"headerXdr\":\"AAAA\",\"metadataXdr\":\"",
                      sequence);
    else
        tide_buf_putf(out,
                      " \"more\" : {\"x\":[1,\"\\u0041\",null]},\n \"sequence\" : \"%u\" ,"
                      "\"hash\":\"" ZEROS "\" , \"metadataXdr\":\t\"",
                      sequence);
    put_meta(out, sequence, pad);
    tide_buf_str(out, form == 0 ? "\"}" : "\" , \"z\":-1.5e3 }");
}

static tide_status read_text(struct tide_rpc_page *page, struct tide_buf *text, uint64_t id,
                             struct tide_err *err)
{
    assert_false(text->failed);
    /* memory of exactly that size, so that a sanitizer reports a read past the end */
    uint8_t *copy = malloc(text->len + !text->len);
    if (text->len)
        memcpy(copy, text->ptr, text->len);
    tide_status status =
        tide_rpc_answer_read(&tide_rpc_ledgers_question, &error, page, copy, text->len, id, err);
    for (uint32_t i = 0; status == TIDE_OK && i < page->count; i++)
        assert_true(page->ledgers[i].lcm.len > 300);
    free(copy);
    return status;
}

static void a_page_may_be_written_in_many_ways(void **state)
{
    (void)state;
    struct tide_rpc_page page;
    struct tide_err err;
    struct tide_buf text;
    tide_buf_init(&text, 1u << 20);
    tide_buf_str(&text, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"ledgers\":[");
    for (uint32_t s = 10; s < 13; s++) {
        tide_buf_str(&text, s > 10 ? "," : "");
        put_entry(&text, s, s, 0);
    }
    tide_buf_str(&text, "],\"latestLedger\":20,\"latestLedgerCloseTime\":1,\"oldestLedger\":4,"
                        "\"oldestLedgerCloseTime\":1,\"cursor\":\"12\"}}\n");
    if (read_text(&page, &text, 7, &err))
        fail_msg("%s", err.text);
    assert_int_equal(page.count, 3);
    assert_int_equal(page.latest, 20);
    assert_int_equal(page.oldest, 4);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(page.ledgers[i].sequence, 10 + i);

    /* members in another order, numbers as strings, ledgers doubled and shuffled */
    tide_buf_reset(&text);
    tide_buf_str(&text, "\n{ \"result\" : { \"latestLedger\":\"20\", \"ledgers\" : [ ");
    static const uint32_t order[] = { 12, 10, 11, 12, 10, 13 };
    for (size_t i = 0; i < TIDE_COUNT(order); i++) {
        tide_buf_str(&text, i ? " ,\t" : "");
        put_entry(&text, order[i], order[i], 1);
    }
    tide_buf_str(&text, " ], \"x\":null } , \"error\":null, \"id\":\"7\", \"jsonrpc\":\"2.0\" }");
    if (read_text(&page, &text, 7, &err))
        fail_msg("%s", err.text);
    assert_int_equal(page.count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(page.ledgers[i].sequence, 10 + i);

    /* An answer cut at any byte is refused, and the reader stays inside it. */
    for (size_t len = text.len - 1; len > 0; len -= len > 600 ? 97 : 1) {
        text.len = len;
        assert_int_equal(read_text(&page, &text, 7, &err), TIDE_E_DECODE);
        assert_int_equal(page.count, 0);
    }
    tide_buf_release(&text);
}

#define PAGE(ledgers) "{\"id\":7,\"result\":{\"ledgers\":" ledgers ",\"latestLedger\":9}}"

/* clang-format off */
static const struct {
    const char *text, *what;
} refused[] = {
    { "",                                                     "ends too early"       },
    { "<!DOCTYPE html><html></html>",                         "no object"            },
    { "null",                                                 "no object"            },
    { "[" PAGE("[]") "]",                                     "no object"            },
    { PAGE("[]") PAGE("[]"),                                  "more than one value"  },
    { "{\"id\":7,\"result\":null}",                           "neither a result"     },
    { "{\"id\":7}",                                           "neither a result"     },
    { "{\"id\":8,\"result\":{\"ledgers\":[],\"latestLedger\":9}}", "another question" },
    { "{\"id\":null,\"result\":{\"ledgers\":[],\"latestLedger\":9}}", "without an id" },
    { "{\"result\":{\"ledgers\":[],\"latestLedger\":9}}",     "without an id"        },
    { "{\"id\":7,\"id\":7,\"result\":{\"ledgers\":[],\"latestLedger\":9}}", "twice"  },
    { "{\"id\":7,\"result\":{\"ledgers\":[],\"latestLedger\":9},\"error\":{\"code\":1}}", "both a" },
    { "{\"id\":7,\"error\":{}}",                              "without a code"       },
    { "{\"id\":7,\"error\":\"no\"}",                          "no object"            },
    { "{\"id\":7,\"result\":{\"ledgers\":[]}}",               "no latestLedger"      },
    { "{\"id\":7,\"result\":{\"latestLedger\":9}}",           "no ledgers"           },
    { "{\"id\":7,\"result\":{\"ledgers\":[],\"latestLedger\":4294967296}}", "bounds" },
    { "{\"id\":7,\"result\":{\"ledgers\":[],\"latestLedger\":-1}}", "no number"      },
    { PAGE("{}"),                                             "no array"             },
    { PAGE("[1]"),                                            "no object"            },
    { PAGE("[{}]"),                                           "lacks sequence"       },
    { PAGE("[{\"sequence\":9,\"hash\":\"" ZEROS "\",\"metadataXdr\":\"\"}]"), "is no ledger" },
    { PAGE("[{\"sequence\":9,\"hash\":\"" ZEROS "\",\"metadataXdr\":\"AAA\"}]"), "malformed base64" },
    { PAGE("[{\"sequence\":9,\"hash\":\"00\"}]"),             "64 hexadecimal"       },
    { PAGE("[{\"sequence\":9,\"hash\":1}]"),                  "no string"            },
};
/* clang-format on */

static void what_is_no_page_is_refused(void **state)
{
    (void)state;
    struct tide_rpc_page page;
    struct tide_buf text;
    tide_buf_init(&text, 1u << 20);
    for (size_t i = 0; i < TIDE_COUNT(refused); i++) {
        struct tide_err err = { 0 };
        tide_buf_reset(&text);
        tide_buf_str(&text, refused[i].text);
        tide_status status = read_text(&page, &text, 7, &err);
        if (status != TIDE_E_DECODE || !strstr(err.text, refused[i].what))
            fail_msg("%s\n%s: %s", refused[i].text, tide_status_name(status), err.text);
    }
    tide_buf_release(&text);
}

/* Pages of one or two ledgers whose fields contradict the bytes or each other. */
static void ledgers_that_disagree_are_refused(void **state)
{
    (void)state;
    struct tide_rpc_page page;
    struct tide_err err;
    struct tide_buf text;
    tide_buf_init(&text, 1u << 20);
    static const char *const hashes[] = {
        ZEROS, "ff00000000000000000000000000000000000000000000000000000000"
               "000000"
    };
    for (int wrong = 0; wrong < 4; wrong++) {
        tide_buf_reset(&text);
        tide_buf_putf(&text,
                      "{\"id\":7,\"result\":{\"ledgers\":[{\"hash\":\"%s\",\"sequence\":%u,"
                      "\"metadataXdr\":\"",
                      hashes[wrong == 1], wrong == 2 ? 11u : 10u);
        put_meta(&text, 10, 3);
        tide_buf_str(&text, "\"}");
        if (wrong == 3) {
            tide_buf_u8(&text, ',');
            put_entry(&text, 10, 4, 0);
        }
        tide_buf_str(&text, "],\"latestLedger\":20}}");
        assert_int_equal(read_text(&page, &text, 7, &err), wrong ? TIDE_E_DECODE : TIDE_OK);
    }
    tide_buf_release(&text);
}

static void more_than_a_page_is_refused(void **state)
{
    (void)state;
    struct tide_rpc_page page;
    struct tide_err err;
    struct tide_buf text;
    tide_buf_init(&text, 1u << 20);
    for (uint32_t count = TIDE_RPC_PAGE_MAX; count <= TIDE_RPC_PAGE_MAX + 1; count++) {
        tide_buf_reset(&text);
        tide_buf_str(&text, "{\"id\":7,\"result\":{\"ledgers\":[");
        for (uint32_t i = 0; i < count; i++) {
            tide_buf_str(&text, i ? "," : "");
            put_entry(&text, 1000 - i, 0, 0);
        }
        tide_buf_str(&text, "],\"latestLedger\":1000}}");
        tide_status want = count > TIDE_RPC_PAGE_MAX ? TIDE_E_DECODE : TIDE_OK;
        assert_int_equal(read_text(&page, &text, 7, &err), want);
    }
    tide_buf_release(&text);
}

/* clang-format off */
static const struct {
    const char *message;
    uint32_t oldest, latest;
} messages[] = {
    { "start ledger (99) must be between the oldest ledger: 2 and the latest ledger: 90 for this rpc instance", 2, 90 },
    { "cursor ('99') must be between the oldest ledger: 12 and the latest ledger: 90 for this rpc instance", 12, 90 },
    { "startLedger must be within the ledger range: 12 - 90", 12, 90 },
    { "rpc queue for getLedgers surpassed queue limit of 5 requests", 0, 0 },
    { "oldest ledger: 99999999999", 0, 0 },
    { "", 0, 0 },
};
/* clang-format on */

static void an_error_tells_the_range(void **state)
{
    (void)state;
    struct tide_rpc_page page;
    struct tide_err err;
    struct tide_buf text;
    tide_buf_init(&text, 4096);
    for (size_t i = 0; i < TIDE_COUNT(messages); i++) {
        tide_buf_reset(&text);
        tide_buf_putf(&text,
                      "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"message\":\"%s\",\"code\":-32600,"
                      "\"data\":{}}}",
                      messages[i].message);
        assert_int_equal(read_text(&page, &text, 7, &err), TIDE_OK);
        assert_int_equal(error.code, -32600);
        assert_string_equal(error.message, messages[i].message);
        assert_int_equal(error.oldest, messages[i].oldest);
        assert_int_equal(error.latest, messages[i].latest);
        assert_int_equal(page.count, 0);
    }
    tide_buf_release(&text);
}

/* A gateway does not read the request, so its error has no id. It is an error, and tells no range. */
static void an_error_needs_no_id(void **state)
{
    (void)state;
#define ERROR "\"error\":{\"code\":-32005,\"message\":\"slow down, oldest ledger: 5\"}"
    static const char *const forms[] = { "{\"id\":null," ERROR "}", "{" ERROR ",\"id\":null}",
                                         "{" ERROR "}" };
#undef ERROR
    struct tide_rpc_page page;
    struct tide_err err;
    struct tide_buf text;
    tide_buf_init(&text, 4096);
    for (size_t i = 0; i < TIDE_COUNT(forms); i++) {
        tide_buf_reset(&text);
        tide_buf_str(&text, forms[i]);
        assert_int_equal(read_text(&page, &text, 7, &err), TIDE_OK);
        assert_int_equal(error.code, -32005);
        assert_string_equal(error.message, "slow down, oldest ledger: 5");
        assert_int_equal(error.oldest, 0);
    }
    tide_buf_release(&text);
}

static void the_small_answers(void **state)
{
    (void)state;
    struct tide_rpc_network network;
    struct tide_rpc_latest latest;
    struct tide_err err;
    char one[] = "{\"id\":1,\"result\":{\"friendbotUrl\":\"x\",\"passphrase\":\"A \\u0026 B\","
                 "\"protocolVersion\":25}}";
    assert_int_equal(tide_rpc_answer_read(&tide_rpc_get_network, &error, &network, (uint8_t *)one,
                                          strlen(one), 1, &err),
                     TIDE_OK);
    assert_string_equal(network.passphrase, "A & B");
    char two[] = "{\"id\":1,\"result\":{\"passphrase\":null}}";
    assert_int_equal(tide_rpc_answer_read(&tide_rpc_get_network, &error, &network, (uint8_t *)two,
                                          strlen(two), 1, &err),
                     TIDE_E_DECODE);
    char three[] = "{\"id\":2,\"result\":{\"id\":\"" ZEROS "\",\"sequence\":\"812\"}}";
    assert_int_equal(tide_rpc_answer_read(&tide_rpc_latest_ledger, &error, &latest,
                                          (uint8_t *)three, strlen(three), 2, &err),
                     TIDE_OK);
    assert_int_equal(latest.sequence, 812);
}

static tide_status note_event(void *self, const struct tide_rpc_event *event, struct tide_err *err)
{
    uint32_t *count = self;
    if (event->ledger == 99)
        return tide_fail(err, TIDE_E_CONFLICT, "ninety-nine");
    assert_true(tide_slice_eq_str(event->contract, "C"));
    assert_int_equal(event->topic_count, 2);
    assert_true(tide_slice_eq_str(event->topics[1], "foo"));
    assert_true(tide_slice_eq_str(event->value, "f"));
    ++*count;
    return TIDE_OK;
}

static void events_are_passed_one_by_one(void **state)
{
    (void)state;
    static const char format[] =
        "{\"id\":3,\"result\":{\"events\":[{\"type\":\"contract\",\"ledger\":\"%u\",\"id\":\"1-1\","
        "\"contractId\":\"C\",\"topic\":[\"Zm8=\",\"Zm9v\"],\"value\":\"Zg==\"}],\"cursor\":\"9-"
        "9\"}}";
    uint32_t count = 0;
    struct tide_rpc_events events = { .each = note_event, .self = &count };
    struct tide_err err;
    char text[512];
    snprintf(text, sizeof text, format, 98);
    assert_int_equal(tide_rpc_answer_read(&tide_rpc_events_question, &error, &events,
                                          (uint8_t *)text, strlen(text), 3, &err),
                     TIDE_OK);
    assert_int_equal(count, 1);
    assert_string_equal(events.cursor, "9-9");
    snprintf(text, sizeof text, format, 99);
    assert_int_equal(tide_rpc_answer_read(&tide_rpc_events_question, &error, &events,
                                          (uint8_t *)text, strlen(text), 3, &err),
                     TIDE_E_DECODE);
    assert_int_equal(events.status, TIDE_E_CONFLICT);
    assert_string_equal(events.why.text, "ninety-nine");
}

int test_rpc_answer(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_may_be_written_in_many_ways),
        cmocka_unit_test(what_is_no_page_is_refused),
        cmocka_unit_test(ledgers_that_disagree_are_refused),
        cmocka_unit_test(more_than_a_page_is_refused),
        cmocka_unit_test(an_error_tells_the_range),
        cmocka_unit_test(an_error_needs_no_id),
        cmocka_unit_test(the_small_answers),
        cmocka_unit_test(events_are_passed_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
