/* Answers of RPC servers that the attester accepts and rejects. The answers are in memory. */
#include "api/attester/chain/rpc.h"
#include "tidemark/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct servers {
    const char *said; /* the result of every request but getNetwork */
    int64_t now_ms;
    struct att_rpc *rpc;
    const char *down; /* the address of a server that does not answer; NULL: all answer */
    char asked[64];   /* the server of the last request */
    bool connects;    /* each request opens a connection */
};

static int64_t now_of(void *self)
{
    return ((struct servers *)self)->now_ms;
}

static int64_t wall_of(void *self)
{
    (void)self;
    return INT64_C(1800000000000);
}

static tide_status answer_request(void *self, const struct tide_http_request *request,
                                  struct tide_buf *body, struct tide_http_answer *how,
                                  struct tide_err *err)
{
    struct servers *s = self;
    const char *id = memmem(request->body.ptr, request->body.len, "\"id\":", 5);
    bool network = memmem(request->body.ptr, request->body.len, "getNetwork", 10) != NULL;
    snprintf(s->asked, sizeof s->asked, "%s", request->url);
    if (s->down && strcmp(request->url, s->down) == 0)
        return tide_fail(err, TIDE_E_IO, "it is down");
    *how = (struct tide_http_answer){ .code = 200, .connected = s->connects };
    tide_buf_putf(body, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":%s}",
                  strtoull(id + 5, NULL, 10), network ? "{\"passphrase\":\"net\"}" : s->said);
    return TIDE_OK;
}

static struct servers *open_servers_of(const char *list)
{
    static struct tide_config config;
    static struct tide_clock clock;
    static struct servers s;
    struct tide_err err;
    s = (struct servers){ .now_ms = 1000000 };
    clock = (struct tide_clock){ .self = &s, .now_ms = now_of, .wall_ms = wall_of };
    tide_config_defaults(&config);
    snprintf(config.rpc, sizeof config.rpc, "%s", list);
    const struct att_rpc_options options = {
        .config = &config, .passphrase = "net", .clock = &clock, .self = &s, .call = answer_request
    };
    assert_int_equal(att_rpc_open(&s.rpc, &options, &err), TIDE_OK);
    return &s;
}

static struct servers *open_servers(void)
{
    return open_servers_of("http://one.example");
}

#define TIP(time) "{\"id\":\"" ZEROS ZEROS "\",\"sequence\":7,\"closeTime\":\"" time "\"}"
#define ZEROS     "00000000000000000000000000000000"

/* --- entries ---------------------------------------------------------------------------------- */

#define ENTRIES(list) "{\"latestLedger\":7,\"entries\":[" list "]}"

/* Requests the entries with the keys "a" and "b" (YQ== and Yg==) with `said` as the result. */
static tide_status ask_entries(struct servers *s, const char *said, struct tide_rpc_entries *out)
{
    const tide_slice keys[] = { TIDE_SLICE("a"), TIDE_SLICE("b") };
    struct tide_err err;
    s->said = said;
    s->now_ms += 60000; /* failed servers are asked again */
    return att_rpc_entries(s->rpc, out, keys, 2, &err);
}

/* The network is asked once more after an answer over a new connection. That answer is short, and
 * the room for the decoded entries is not its length. */
static void entries_of_a_new_connection_stay_valid(void **state)
{
    enum { GROUPS = 2000 };
    struct servers *s = open_servers();
    struct tide_rpc_entries e;
    struct tide_buf said;
    (void)state;
    tide_buf_init(&said, 1 << 16);
    tide_buf_str(&said, "{\"latestLedger\":7,\"entries\":[{\"key\":\"YQ==\",\"xdr\":\"");
    for (int i = 0; i < GROUPS; i++)
        tide_buf_str(&said, "eHl6");
    tide_buf_str(&said, "\"},{\"key\":\"Yg==\",\"xdr\":\"");
    for (int i = 0; i < 4 * GROUPS; i++)
        tide_buf_str(&said, "YWJj");
    tide_buf_str(&said, "\"}]}");
    tide_buf_u8(&said, 0);
    assert_false(said.failed);
    s->connects = true;
    assert_int_equal(ask_entries(s, (const char *)said.ptr, &e), TIDE_OK);
    assert_int_equal(e.data[0].len, 3 * GROUPS);
    assert_int_equal(e.data[1].len, 12 * GROUPS);
    for (int i = 0; i < GROUPS; i++)
        assert_memory_equal(e.data[0].ptr + 3 * i, "xyz", 3);
    tide_buf_release(&said);
    att_rpc_close(s->rpc);
}

static void an_unreadable_entry_is_not_an_absent_one(void **state)
{
    static const char *const bad[] = {
        ENTRIES("{\"key\":\"YQ==\",\"xdr\":\"!\"}"),
        ENTRIES("{\"key\":\"YQ==\",\"xdr\":\"\"}"),
        ENTRIES("{\"key\":\"YQ==\",\"xdr\":5}"),
        ENTRIES("{\"key\":\"YQ==\"}"),
        ENTRIES("{\"key\":\"Yw==\",\"xdr\":\"YQ==\"}"),
        ENTRIES("{\"key\":\"Y\",\"xdr\":\"YQ==\"}"),
        ENTRIES("{\"xdr\":\"YQ==\"}"),
        ENTRIES("5"),
        ENTRIES("{\"key\":\"YQ==\",\"xdr\":\"YQ==\"},{\"key\":\"YQ==\",\"xdr\":\"YQ==\"}"),
        "{\"latestLedger\":7}",
    };
    struct servers *s = open_servers();
    struct tide_rpc_entries e;
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(bad); i++)
        if (ask_entries(s, bad[i], &e) != TIDE_E_IO)
            fail_msg("taken: %s", bad[i]);
    assert_int_equal(ask_entries(s, ENTRIES("{\"key\":\"Yg==\",\"xdr\":\"eHl6\"}"), &e), TIDE_OK);
    assert_true(e.ledger == 7 && e.data[0].len == 0 && tide_slice_eq_str(e.data[1], "xyz"));
    assert_int_equal(ask_entries(s, "{\"latestLedger\":7,\"entries\":null}", &e), TIDE_OK);
    assert_true(e.data[0].len == 0 && e.data[1].len == 0);
    att_rpc_close(s->rpc);
}

static void a_rest_names_the_last_failure(void **state)
{
    struct servers *s = open_servers_of("http://one.example");
    struct att_tip tip;
    struct tide_err err;
    (void)state;
    s->down = "http://one.example";
    assert_int_equal(att_rpc_rest_ms(s->rpc), 0);
    assert_int_equal(att_rpc_tip(s->rpc, &tip, &err), TIDE_E_IO);
    int64_t rest = att_rpc_rest_ms(s->rpc);
    assert_true(rest > 0);
    assert_int_equal(att_rpc_tip(s->rpc, &tip, &err), TIDE_E_IO); /* asks no server */
    assert_non_null(strstr(err.text, "it is down"));
    assert_int_equal(att_rpc_rest_ms(s->rpc), rest);
    s->now_ms += rest;
    assert_int_equal(att_rpc_rest_ms(s->rpc), 0);
    att_rpc_close(s->rpc);
}

static void a_simulation_in_pieces_is_none(void **state)
{
    static const char *const bad[] = {
        "{\"latestLedger\":7,\"minResourceFee\":\"5\"}",
        "{\"latestLedger\":7,\"minResourceFee\":\"5\",\"transactionData\":\"!\"}",
        "{\"latestLedger\":7,\"minResourceFee\":\"5\",\"transactionData\":\"YQ==\","
        "\"results\":[{\"auth\":[\"!\"]}]}",
        "{\"latestLedger\":7,\"minResourceFee\":\"5\",\"transactionData\":\"YQ==\","
        "\"stateChanges\":[{\"key\":\"YQ==\",\"before\":\"!\"}]}",
    };
    struct servers *s = open_servers();
    struct tide_rpc_simulated simulated;
    struct tide_err err;
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(bad); i++) {
        s->said = bad[i];
        s->now_ms += 60000;
        if (att_rpc_simulate(s->rpc, &simulated, TIDE_SLICE("tx"), &err) != TIDE_E_IO)
            fail_msg("taken: %s", bad[i]);
    }
    s->said = "{\"latestLedger\":7,\"minResourceFee\":\"5\",\"transactionData\":\"YQ==\","
              "\"stateChanges\":[{\"key\":\"YQ==\",\"before\":null,\"after\":\"Yg==\"}]}";
    s->now_ms += 60000;
    assert_int_equal(att_rpc_simulate(s->rpc, &simulated, TIDE_SLICE("tx"), &err), TIDE_OK);
    assert_true(simulated.change_count == 1 && simulated.changes[0].before.len == 0);
    att_rpc_close(s->rpc);
}

/* --- ledgers ---------------------------------------------------------------------------------- */

static tide_status ask_at(struct servers *s, const char *ledger)
{
    char said[96];
    struct tide_rpc_entries e;
    snprintf(said, sizeof said, "{\"latestLedger\":%s,\"entries\":null}", ledger);
    tide_status status = ask_entries(s, said, &e);
    s->said = NULL;
    return status;
}

static void a_ledger_that_never_was_is_forgotten(void **state)
{
    struct servers *s = open_servers();
    (void)state;
    assert_int_equal(ask_at(s, "1000"), TIDE_OK);
    assert_int_equal(ask_at(s, "999"), TIDE_E_IO); /* the server is behind its earlier report */
    assert_int_equal(ask_at(s, "4000000000"), TIDE_E_IO);
    assert_int_equal(ask_at(s, "1001"), TIDE_OK);
    att_rpc_close(s->rpc);
    s = open_servers();
    /* the first report of a server cannot be checked */
    assert_int_equal(ask_at(s, "4000000000"), TIDE_OK);
    assert_int_equal(ask_at(s, "1000"), TIDE_E_IO);
    s->now_ms += 600 * 1000L;
    assert_int_equal(ask_at(s, "1000"), TIDE_OK);
    assert_int_equal(att_rpc_latest(s->rpc), 1000);
    assert_int_equal(ask_at(s, "4000000000"), TIDE_E_IO);
    att_rpc_close(s->rpc);
}

/* If the index sets a floor, a claim that the server does not reach again is forgotten after 30 s:
 * a single server that lied once must not stop the attester for ten minutes. */
static void an_index_shortens_the_memory_of_a_claim(void **state)
{
    struct servers *s = open_servers();
    (void)state;
    att_rpc_limit_ledgers(s->rpc, 995, 20000);
    assert_int_equal(ask_at(s, "9000"), TIDE_OK);
    s->now_ms -= 31 * 1000; /* each request is 60 s after the one before */
    assert_int_equal(ask_at(s, "1000"), TIDE_E_IO);
    assert_int_equal(ask_at(s, "994"), TIDE_E_IO);
    assert_int_equal(ask_at(s, "1000"), TIDE_OK);
    assert_int_equal(att_rpc_latest(s->rpc), 1000);
    att_rpc_close(s->rpc);
}

/* After att_rpc_forget_ledgers(), the client accepts the low ledger numbers of a network that was
 * reset. */
static void a_network_that_began_anew_starts_low(void **state)
{
    struct servers *s = open_servers();
    struct tide_rpc_entries e;
    (void)state;
    assert_int_equal(ask_entries(s, "{\"latestLedger\":9000,\"entries\":null}", &e), TIDE_OK);
    assert_int_equal(ask_entries(s, "{\"latestLedger\":12,\"entries\":null}", &e), TIDE_E_IO);
    att_rpc_forget_ledgers(s->rpc);
    assert_int_equal(att_rpc_latest(s->rpc), 0);
    assert_int_equal(ask_entries(s, "{\"latestLedger\":12,\"entries\":null}", &e), TIDE_OK);
    assert_int_equal(att_rpc_latest(s->rpc), 12);
    att_rpc_close(s->rpc);
}

static void time_and_ledgers_are_bounded(void **state)
{
    static const struct {
        const char *said;
        tide_status status;
    } cases[] = {
        { TIP("1800000000"), TIDE_OK },
        { TIP("1799999900"), TIDE_OK },
        { TIP("1800000100"), TIDE_OK },
        { TIP("1800001800"), TIDE_E_IO },
        { TIP("1799998200"), TIDE_E_IO },
        { TIP("2115360000"), TIDE_E_IO },
        { TIP("9223372036854775807"), TIDE_E_IO },
    };
    struct servers *s = open_servers();
    struct att_tip tip;
    struct tide_err err;
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        s->said = cases[i].said;
        s->now_ms += 60000;
        if (att_rpc_tip(s->rpc, &tip, &err) != cases[i].status)
            fail_msg("%s", cases[i].said);
    }
    att_rpc_limit_ledgers(s->rpc, 100, 200);
    assert_int_equal(ask_at(s, "99"), TIDE_E_IO);
    assert_int_equal(ask_at(s, "201"), TIDE_E_IO);
    assert_int_equal(ask_at(s, "200"), TIDE_OK);
    att_rpc_close(s->rpc);
}

/* http://one.example claims a ledger far ahead. The client must not treat the other server as
 * late. */
static void one_claims_nothing_of_another(void **state)
{
    struct servers *s = open_servers();
    struct tide_rpc_entries e;
    struct tide_err err;
    const tide_slice key = TIDE_SLICE("a");
    (void)state;
    att_rpc_close(s->rpc);
    s = open_servers_of("http://one.example,http://two.example");
    s->said = "{\"latestLedger\":10000,\"entries\":null}";
    assert_int_equal(att_rpc_entries(s->rpc, &e, &key, 1, &err), TIDE_OK);
    assert_true(att_rpc_exclude_current(s->rpc));
    s->said = "{\"latestLedger\":1000,\"entries\":null}";
    assert_int_equal(att_rpc_entries(s->rpc, &e, &key, 1, &err), TIDE_OK);
    assert_int_equal(e.ledger, 1000);
    assert_int_equal(att_rpc_latest(s->rpc), 1000); /* both servers have reached ledger 1000 */
    assert_false(att_rpc_exclude_current(s->rpc));
    att_rpc_include_all(s->rpc);
    assert_true(att_rpc_exclude_current(s->rpc));
    att_rpc_close(s->rpc);
}

static void send_to(struct servers *s, const char *server, tide_status wanted)
{
    struct tide_rpc_sent sent;
    struct tide_err err;
    s->said = "{\"status\":\"PENDING\",\"latestLedger\":7}";
    assert_int_equal(att_rpc_send(s->rpc, &sent, TIDE_SLICE("x"), &err), wanted);
    assert_string_equal(s->asked, server);
}

/* Each sending goes to the next server, so a server that accepts transactions and does not pass
 * them on delays a transaction by one sending only. */
static void each_sending_is_the_next_server_s(void **state)
{
    struct servers *s = open_servers_of("http://one.example, http://two.example");
    struct att_tip tip;
    struct tide_err err;
    (void)state;
    for (int i = 0; i < 3; i++) {
        send_to(s, "http://one.example", TIDE_OK);
        s->said = TIP("1800000000");
        /* the request goes to the same server as before */
        assert_int_equal(att_rpc_tip(s->rpc, &tip, &err), TIDE_OK);
        assert_string_equal(s->asked, "http://one.example");
        send_to(s, "http://two.example", TIDE_OK);
    }
    s->down = "http://one.example";
    /* the server may or may not have accepted the envelope */
    send_to(s, "http://one.example", TIDE_E_IO);
    send_to(s, "http://two.example", TIDE_OK);
    send_to(s, "http://two.example", TIDE_OK);
    att_rpc_close(s->rpc);
}

static void a_server_named_twice_is_one(void **state)
{
    static struct tide_config config;
    struct tide_clock clock = { 0 };
    struct att_rpc *rpc = NULL;
    struct tide_err err;
    (void)state;
    tide_config_defaults(&config);
    snprintf(config.rpc, sizeof config.rpc, "http://one.example,http://one.example");
    const struct att_rpc_options options = {
        .config = &config, .passphrase = "net", .clock = &clock, .call = answer_request
    };
    assert_int_equal(att_rpc_open(&rpc, &options, &err), TIDE_E_CONFIG);
}

int test_attester_rpc(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unreadable_entry_is_not_an_absent_one),
        cmocka_unit_test(entries_of_a_new_connection_stay_valid),
        cmocka_unit_test(a_simulation_in_pieces_is_none),
        cmocka_unit_test(a_ledger_that_never_was_is_forgotten),
        cmocka_unit_test(an_index_shortens_the_memory_of_a_claim),
        cmocka_unit_test(a_network_that_began_anew_starts_low),
        cmocka_unit_test(time_and_ledgers_are_bounded),
        cmocka_unit_test(one_claims_nothing_of_another),
        cmocka_unit_test(each_sending_is_the_next_server_s),
        cmocka_unit_test(a_server_named_twice_is_one),
        cmocka_unit_test(a_rest_names_the_last_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
