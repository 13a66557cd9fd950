/* Ids of events, and filters over them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "schema/base/json_read.h"
#include "tidemark/text.h"
#include "tools/sim/rpc/rpc_events.h"

static void ids_in_order(void **state)
{
    (void)state;
    static const struct {
        struct tide_event event;
        uint64_t toid;
    } cases[] = {
        /* before all, an operation's, after its transaction, after all */
        { { .level = TIDE_EVENT_TX, .tx = 7, .stage = 0, .index = 3 }, 9ull << 32 },
        { { .level = TIDE_EVENT_OP, .tx = 7, .op = 2, .index = 0 }, 9ull << 32 | 7 << 12 | 2 },
        { { .level = TIDE_EVENT_TX, .tx = 7, .stage = 1 }, 9ull << 32 | 7 << 12 | 4095 },
        { { .level = TIDE_EVENT_TX, .tx = 7, .stage = 2 }, 9ull << 32 | 1048575ull << 12 },
    };
    uint64_t before = 0;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct event_id id = event_id_of(9, &cases[i].event);
        assert_int_equal(id.toid, cases[i].toid);
        assert_int_equal(id.index, cases[i].event.index);
        assert_true(id.toid > before);
        before = id.toid;
    }
}

static void ids_from_text(void **state)
{
    (void)state;
    struct event_id id;
    assert_true(event_id_read(&id, TIDE_SLICE("0000004552665333760-0000000001")));
    assert_int_equal(id.toid, 4552665333760ull);
    assert_int_equal(id.index, 1);
    static const char *const wrong[] = {
        "",      "-",   "1", "1-", "-1", "1-x", "x-1", "1-4294967296", "9223372036854775808-0",
        "1-1-1", " 1-1"
    };
    for (size_t i = 0; i < TIDE_COUNT(wrong); i++)
        assert_false(event_id_read(&id, tide_slice_str(wrong[i])));
}

/* Symbols a, b, c as ScVals. */
static const uint8_t topics[] =
    "\0\0\0\17\0\0\0\1a\0\0\0\0\0\0\17\0\0\0\1b\0\0\0\0\0\0\17\0\0\0\1c\0\0";
#define A "AAAADwAAAAFhAAAA"
#define B "AAAADwAAAAFiAAAA"
#define C "AAAADwAAAAFjAAAA"

/* Whether an event of so many of those topics passes the filters, which are JSON. */
static bool passes(const char *filters, uint32_t topic_count, uint32_t type)
{
    json_error_t error;
    char text[512];
    const struct tide_event event = { .type = type,
                                      .topic_count = topic_count,
                                      .topics = { topics, topic_count * 12 } };
    snprintf(text, sizeof text, "{\"filters\":%s}", filters);
    json_t *params = tide_json_load(tide_slice_str(text), 0, &error);
    struct rpc_call call = { .params = params };
    struct event_filters read = { 0 };
    tide_buf_init(&read.values, 4096);
    assert_true(event_filters_read(&call, &read));
    bool result = event_filters_match(&read, &event);
    tide_buf_release(&read.values);
    json_decref(params);
    return result;
}

static void filters(void **state)
{
    (void)state;
    static const struct {
        const char *filters;
        uint32_t passes; /* a bit for each number of topics, 0 to 3 */
    } cases[] = {
        { "[]", 15 },
        { "[{}]", 15 },
        { "[{\"topics\":[[\"" A "\"]]}]", 2 },
        { "[{\"topics\":[[\"" A "\",\"**\"]]}]", 14 },
        { "[{\"topics\":[[\"" B "\",\"**\"]]}]", 0 },
        { "[{\"topics\":[[\"*\",\"" B "\"]]}]", 4 },
        { "[{\"topics\":[[\"*\",\"*\",\"" C "\",\"**\"]]}]", 8 },
        { "[{\"topics\":[[\"**\"]]}]", 15 },
        { "[{\"topics\":[[\"" A "\"],[\"*\",\"*\"]]}]", 6 },
        { "[{\"topics\":[[\"" B "\"]]},{\"topics\":[[\"*\",\"*\",\"*\"]]}]", 8 },
        { "[{\"type\":\"system\"}]", 0 },
        { "[{\"type\":\"system,contract\"}]", 15 },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        for (uint32_t n = 0; n < 4; n++)
            assert_int_equal(passes(cases[i].filters, n, 1), cases[i].passes >> n & 1);
    }
    assert_true(passes("[{\"type\":\"system\"}]", 1, 0));
    assert_false(passes("[{\"type\":\"contract\"}]", 1, 0));
}

int test_rpc_events(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_in_order),
        cmocka_unit_test(ids_from_text),
        cmocka_unit_test(filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
