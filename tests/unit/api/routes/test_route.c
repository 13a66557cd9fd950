/* Matching of targets to routes: the route, the values, the refusals; cursors; the files of the
 * statements. */
#include "api/http/param.h"
#include "api/routes/route_table.h"
#include "api/sql/cursor.h"
#include "api/sql/statement.h"
#include "tidemark/catalogue.h"
#include "tidemark/text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define ACCOUNT  "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
#define MUXED    "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ"
#define CONTRACT "CCZTGS7KYLJG3LL6GHEL37BD2ZQOT4EVNFDIW5OAFV3USJGBYT55HNBL"
#define SEED     "SCZTGS7KYLJG3LL6GHEL37BD2ZQOT4EVNFDIW5OAFV3USJGBYT55HNXN"

struct asked {
    struct tide_request request;
    struct tide_reply reply;
    char scratch[TIDE_ROUTE_SCRATCH];
    bool found;
};

static void match_target(struct asked *a, const char *method, const char *target)
{
    const char *mark = strchr(target, '?');
    size_t path = mark ? (size_t)(mark - target) : strlen(target);
    struct tide_target to = { .method = tide_slice_str(method),
                              .path = tide_slice_of(target, path),
                              .query = tide_slice_str(mark ? mark + 1 : "") };
    tide_reply_init(&a->reply);
    a->found = tide_route_match(&a->request, &a->reply, &tide_route_table, &to, a->scratch);
}

/* The expected answer for a target: the route's id, or status and code, then the field that is
 * named. */
/* clang-format off */
static const struct row {
    const char *method, *target, *want, *field;
} rows[] = {
    { "GET",  "/api/ledgers",                     "ledgers",                NULL },
    { "HEAD", "/api/ledgers",                     "ledgers",                NULL },
    { "GET",  "/api/ledgers?limit=1&cursor=Ab-_9","ledgers",                NULL },
    { "GET",  "/api/ledgers/17",                  "ledger",                 NULL },
    { "GET",  "/api/pools/TSLA_USDC",             "pool",                   NULL },
    { "GET",  "/api/pools/%54SLA_USDC",           "pool",                   NULL },
    { "GET",  "/api/pools/TSLA_USDC/swaps?ledger=4294967295", "pool_swaps", NULL },
    { "POST", "/api/ledgers",                     "405 method_not_allowed", NULL },
    { "get",  "/api/ledgers",                     "405 method_not_allowed", NULL },
    { "GET",  "/api/%6cedgers",                   "404 no_route",           NULL },
    { "GET",  "/api/ledgers/",                    "404 no_route",           NULL },
    { "GET",  "/api//ledgers",                    "404 no_route",           NULL },
    { "GET",  "//api/ledgers",                    "404 no_route",           NULL },
    { "GET",  "/api/./ledgers",                   "404 no_route",           NULL },
    { "GET",  "/api/pools/..",                    "404 no_route",           NULL },
    { "GET",  "/api/pools/../pools",              "404 no_route",           NULL },
    { "GET",  "/api/ledgers/17/18",               "404 no_route",           NULL },
    { "GET",  "/api",                             "404 no_route",           NULL },
    { "GET",  "/",                                "page_overview",          NULL },
    { "GET",  "/index",                           "404 no_route",           NULL },
    { "GET",  "",                                 "404 no_route",           NULL },
    { "GET",  "*",                                "404 no_route",           NULL },
    { "GET",  "/api/pools/%2e%2e",                "400 invalid_parameters", "pool" },
    { "GET",  "/api/pools/a%2fb",                 "400 invalid_parameters", "pool" },
    { "GET",  "/api/pools/' OR 1=1",              "400 malformed_target",   NULL },
    { "GET",  "/api/pools/%27%20OR%201=1",        "400 invalid_parameters", "pool" },
    { "GET",  "/api/ledgers;x=1",                 "400 malformed_target",   NULL },
    { "GET",  "/api\\ledgers",                    "400 malformed_target",   NULL },
    { "GET",  "/api/ledgers%00",                  "400 malformed_target",   NULL },
    { "GET",  "/api/ledgers%",                    "400 malformed_target",   NULL },
    { "GET",  "/api/ledgers%4",                   "400 malformed_target",   NULL },
    { "GET",  "/api/ledgers%4g",                  "400 malformed_target",   NULL },
    { "GET",  "/api/ledgers%0a",                  "400 malformed_target",   NULL },
    { "GET",  "/api/\xff",                        "400 malformed_target",   NULL },
    { "GET",  "/api/%c0%af",                      "400 malformed_target",   NULL },
    { "GET",  "/api/%ed%a0%80",                   "400 malformed_target",   NULL },
    { "GET",  "/api/ledgers?limit=%00",           "400 malformed_target",   NULL },
    { "GET",  "/api/ledgers?limit=0",             "400 invalid_parameters", "limit" },
    { "GET",  "/api/ledgers?limit=201",           "400 invalid_parameters", "limit" },
    { "GET",  "/api/ledgers?limit=",              "400 invalid_parameters", "limit" },
    { "GET",  "/api/ledgers?limit",               "400 invalid_parameters", "limit" },
    { "GET",  "/api/ledgers?limit=+1",            "400 invalid_parameters", "limit" },
    { "GET",  "/api/ledgers?limit=-1",            "400 invalid_parameters", "limit" },
    { "GET",  "/api/ledgers?limit=01",            "400 invalid_parameters", "limit" },
    { "GET",  "/api/ledgers?limit=1e2",           "400 invalid_parameters", "limit" },
    { "GET",  "/api/ledgers?limit=18446744073709551617", "400 invalid_parameters", "limit" },
    { "GET",  "/api/ledgers?limit=1&limit=1",     "400 invalid_parameters", "limit" },
    { "GET",  "/api/ledgers?Limit=1",             "400 invalid_parameters", "Limit" },
    { "GET",  "/api/ledgers?sort=risk",           "400 invalid_parameters", "sort" },
    { "GET",  "/api/ledgers?%6cimit=1",           "400 invalid_parameters", "" },
    { "GET",  "/api/ledgers?limit=1&",            "400 invalid_parameters", "" },
    { "GET",  "/api/ledgers?cursor=a.b",          "400 invalid_parameters", "cursor" },
    { "GET",  "/api/ledgers/0",                   "400 invalid_parameters", "sequence" },
    { "GET",  "/api/ledgers/x",                   "400 invalid_parameters", "sequence" },
    { "GET",  "/api/pools/ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456", "400 invalid_parameters", "pool" },
    { "GET",  "/api/pools/" SEED,                 "400 invalid_parameters", "pool" },
    { "GET",  "/api/ledgers?" SEED "=1",          "400 invalid_parameters", "" },
    { "GET",  "/api/ledgers?limit=" SEED,         "400 invalid_parameters", "limit" },
};
/* clang-format on */

static void targets(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        struct asked a;
        char got[64], field[64];
        match_target(&a, rows[i].method, rows[i].target);
        tide_buf_u8(&a.reply.body, 0);
        const char *body = (const char *)a.reply.body.ptr;
        const char *code = strstr(body, "problem:");
        if (a.found)
            snprintf(got, sizeof got, "%s", a.request.route->id);
        else
            snprintf(got, sizeof got, "%u %.*s", a.reply.status, (int)strcspn(code + 8, "\""),
                     code + 8);
        if (strcmp(got, rows[i].want) != 0)
            fail_msg("%s: %s, wanted %s", rows[i].target, got, rows[i].want);
        snprintf(field, sizeof field, "\"parameter\":\"%s\"", rows[i].field ? rows[i].field : "");
        if ((rows[i].field != NULL) != (strstr(body, field) != NULL))
            fail_msg("%s: %s", rows[i].target, body);
        if (strstr(body, SEED))
            fail_msg("%s is repeated", rows[i].target);
        assert_int_equal(a.reply.allow[0] != 0, a.reply.status == 405);
        tide_reply_release(&a.reply);
    }
}

static void every_bad_field_is_named(void **state)
{
    struct asked a;
    (void)state;
    match_target(&a, "GET", "/api/pools/a%20b/swaps?limit=0&order=1&ledger=x&limit=2");
    tide_buf_u8(&a.reply.body, 0);
    const char *body = (const char *)a.reply.body.ptr;
    assert_int_equal(a.reply.field_count, 5);
    assert_non_null(strstr(body, "\"in\":\"path\",\"parameter\":\"pool\""));
    assert_non_null(strstr(body, "\"in\":\"query\",\"parameter\":\"order\""));
    assert_non_null(strstr(body, "more than once"));
    tide_reply_release(&a.reply);
    match_target(&a, "DELETE", "/api/pools");
    assert_string_equal(a.reply.allow, "GET, HEAD, OPTIONS");
    tide_reply_release(&a.reply);
}

/* A route without past states refuses ?ledger=N and gives the reason. */
static void a_ledger_has_a_meaning_or_a_reason(void **state)
{
    static const char *const targets[] = { "/api/coverage?ledger=7", "/api/ledgers/7?ledger=7",
                                           "/api/stream?ledger=7" };
    struct asked a;
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(targets); i++) {
        match_target(&a, "GET", targets[i]);
        tide_buf_u8(&a.reply.body, 0);
        assert_int_equal(a.reply.status, 400);
        assert_non_null(strstr((const char *)a.reply.body.ptr, "is not taken here: "));
        tide_reply_release(&a.reply);
    }
}

static void long_targets_are_refused(void **state)
{
    static char target[TIDE_TARGET_MAX + 64];
    struct asked a;
    (void)state;
    memset(target, 'a', sizeof target - 1);
    memcpy(target, "/api/pools/", 11);
    match_target(&a, "GET", target);
    assert_int_equal(a.reply.status, 414);
    tide_reply_release(&a.reply);
    target[TIDE_TARGET_MAX] = 0;
    match_target(&a, "GET", target);
    assert_int_equal(a.reply.status, 400);
    tide_reply_release(&a.reply);
}

static void values(void **state)
{
    struct asked a;
    (void)state;
    match_target(&a, "GET", "/api/pools/TSLA_USDC/swaps?ledger=812");
    assert_true(a.found);
    const struct tide_param_value *pool = tide_request_param(&a.request, TIDE_PARAM_pool);
    assert_true(tide_slice_eq_str(pool->text, "TSLA_USDC"));
    assert_string_equal(pool->symbol.text, "TSLA_USDC");
    assert_int_equal(tide_request_param(&a.request, TIDE_PARAM_ledger)->number, 812);
    const struct tide_param_value *limit = tide_request_param(&a.request, TIDE_PARAM_limit);
    assert_false(limit->given);
    assert_int_equal(limit->number, 50);
    assert_false(tide_request_param(&a.request, TIDE_PARAM_cursor)->given);
    assert_null(tide_request_param(&a.request, TIDE_PARAM_owner));
    tide_reply_release(&a.reply);
}

/* clang-format off */
static const struct typed {
    enum tide_param_id id;
    const char *text, *why; /* a part of the reason; NULL: the text is accepted */
} typed[] = {
    { TIDE_PARAM_address, ACCOUNT, NULL },
    { TIDE_PARAM_address, CONTRACT, NULL },
    { TIDE_PARAM_address, MUXED, ACCOUNT },
    { TIDE_PARAM_address, SEED, "secret seed" },
    { TIDE_PARAM_address, "SCZTGS7KYLJG3LL6GHEL37BD2ZQOT4EVNFDIW5OAFV3USJGBYT55HNXA", "secret seed" },
    { TIDE_PARAM_address, "scztgs7kyljg3ll6ghel37bd2zqot4evnfdiw5oafv3usjgbyt55hnxn", "secret seed" },
    { TIDE_PARAM_address, "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGA", "checksum" },
    { TIDE_PARAM_address, "ga7qynf7sowq3glr2bgmzehxavirza4kvwltjjfc7mgxua74p7ujvsgz", "checksum" },
    { TIDE_PARAM_address, "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSG", "checksum" },
    { TIDE_PARAM_address, " " ACCOUNT, "checksum" },
    { TIDE_PARAM_address, "", "checksum" },
    { TIDE_PARAM_amountIn, "0", NULL },
    { TIDE_PARAM_amountIn, "99999999999999999999999999999999999999", NULL },
    { TIDE_PARAM_amountIn, "100000000000000000000000000000000000000", "1 to 38 digits" },
    { TIDE_PARAM_amountIn, "01", "whole number" },
    { TIDE_PARAM_amountIn, "+1", "whole number" },
    { TIDE_PARAM_amountIn, "-1", "whole number" },
    { TIDE_PARAM_id, "0000004582714802176-0000000000", NULL },
    { TIDE_PARAM_id, "8999999999999999999-1999999999", NULL },
    { TIDE_PARAM_id, "9000000000000000000-0000000000", "Stellar RPC" },
    { TIDE_PARAM_id, "0000004582714802176-2000000000", "Stellar RPC" },
    { TIDE_PARAM_id, "00000045827148021760-000000000", "Stellar RPC" },
    { TIDE_PARAM_id, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "Stellar RPC" },
    { TIDE_PARAM_amountIn, "1.5", "whole number" },
    { TIDE_PARAM_partnerId, "a b c", NULL },
    { TIDE_PARAM_partnerId, "", "1 to 64" },
    { TIDE_PARAM_partnerId, "a\tb", "control" },
    { TIDE_PARAM_direction, "b_to_a", NULL },
    { TIDE_PARAM_direction, "b_to_", "one of: a_to_b|b_to_a" },
    { TIDE_PARAM_direction, "a_to_b|b_to_a", "one of" },
    { TIDE_PARAM_ledger, "4294967296", "1 to 4294967295" },
    { TIDE_PARAM_from, "0", NULL },
    { TIDE_PARAM_from, "4294967295", NULL },
    { TIDE_PARAM_from, "4294967296", "unix seconds, a time as" },
    { TIDE_PARAM_to, "2026-05-02T09:14:07Z", NULL },
    { TIDE_PARAM_from, "2028-02-29", NULL },
    { TIDE_PARAM_from, "2026-02-29", "a date as 2026-05-02" },
    { TIDE_PARAM_from, "2026-05-2", "a date as 2026-05-02" },
    { TIDE_PARAM_from, "2026-05-02Z", "a date as 2026-05-02" },
    { TIDE_PARAM_from, "2026-05-02 ", "a date as 2026-05-02" },
    { TIDE_PARAM_from, "1969-12-31", "from 1970" },
    { TIDE_PARAM_from, "2106-02-08", "to 2106" },
    { TIDE_PARAM_to, "1969-12-31T23:59:59Z", "from 1970" },
    { TIDE_PARAM_to, "2106-02-07T06:28:16Z", "to 2106" },
    { TIDE_PARAM_to, "2026-02-29T09:14:07Z", "unix seconds" },
    { TIDE_PARAM_to, "2026-05-02T09:14:07 02:00", "%2B" },
    { TIDE_PARAM_kind, "liquidity_pool_swap", NULL },
    { TIDE_PARAM_kind, "liquidity_pool_swa", " liquidity_pool_swap, " },
    { TIDE_PARAM_kind, "", " synth_token_transfer" },
};
/* clang-format on */

static void types(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(typed); i++) {
        struct tide_param_value value;
        char why[TIDE_PARAM_WHY] = "";
        bool fits = tide_param_read(&value, typed[i].id, tide_slice_str(typed[i].text), why);
        if (fits != (typed[i].why == NULL) || (typed[i].why && !strstr(why, typed[i].why)))
            fail_msg("%s: %s", typed[i].text, fits ? "fits" : why);
        assert_null(strstr(why, "SCZTGS7KYLJG"));
        if (value.id == TIDE_PARAM_to && fits)
            assert_int_equal(value.number, 1777713247);
        if (value.id == TIDE_PARAM_direction && fits)
            assert_int_equal(value.number, 1);
    }
    for (int id = 0; id < (int)TIDE_PARAM_COUNT; id++) {
        struct tide_param_value value;
        tide_param_default(&value, (enum tide_param_id)id); /* asserts that it fits */
        assert_false(value.given);
    }
}

/* A date alone is the midnight in UTC that begins it, so that two dates are whole days. */
static void a_date_is_its_midnight(void **state)
{
    static const struct {
        const char *text;
        uint64_t seconds;
    } dates[] = { { "1970-01-01", 0 }, { "2026-11-01", 1793491200 }, { "2106-02-07", 4294944000 } };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(dates); i++) {
        struct tide_param_value value;
        char why[TIDE_PARAM_WHY];
        assert_true(tide_param_read(&value, TIDE_PARAM_from, tide_slice_str(dates[i].text), why));
        assert_int_equal(value.number, dates[i].seconds);
    }
}

/* Returns true if some path fits both templates: they have as many parts, and each pair of parts is
 * equal or one of them is a parameter. */
static bool overlap(const char *a, const char *b)
{
    while (*a && *b) {
        size_t x = strcspn(a, "/"), y = strcspn(b, "/");
        if (*a != '{' && *b != '{' && (x != y || memcmp(a, b, x) != 0))
            return false;
        a += x + (a[x] == '/');
        b += y + (b[y] == '/');
    }
    return !*a && !*b;
}

/* The router first tries the route of the previous request. That is right only for templates of
 * these forms. */
static void templates_allow_trying_the_last_route_first(void **state)
{
    size_t count = tide_route_table.count;
    const struct tide_route *routes = tide_route_table.routes;
    (void)state;
    for (size_t i = 0; i < count; i++) {
        size_t literal = strcspn(routes[i].path, "{");
        assert_true(!routes[i].path[literal] || literal >= 6 ||
                    strncmp(routes[i].path, "/api/", 5) != 0);
        for (size_t k = 0; k < count && routes[i].class->lookup; k++)
            assert_true(strcmp(routes[i].path, routes[k].path) == 0 ||
                        !overlap(routes[i].path + 1, routes[k].path + 1));
    }
    assert_true(overlap("api/x/{a}", "api/{b}/y") && !overlap("api/x", "api/x/{a}"));
}

static void same_found(const struct tide_route *likely, const char *method, const char *path)
{
    struct tide_request request = { 0 };
    struct tide_reply reply, fresh;
    char scratch[TIDE_ROUTE_SCRATCH];
    struct tide_target target = { .method = tide_slice_str(method), .path = tide_slice_str(path) };
    tide_reply_init(&reply);
    tide_reply_init(&fresh);
    bool plain = tide_route_match(&request, &fresh, &tide_route_table, &target, scratch);
    const struct tide_route *route = request.route;
    target.likely = likely;
    request = (struct tide_request){ 0 };
    assert_int_equal(tide_route_match(&request, &reply, &tide_route_table, &target, scratch),
                     plain);
    assert_ptr_equal(request.route, route);
    assert_int_equal(reply.status, fresh.status);
    tide_reply_release(&reply);
    tide_reply_release(&fresh);
}

/* The router finds the same route whichever route it tries first. */
static void the_first_try_does_not_change_the_result(void **state)
{
    static const char *const paths[] = {
        "/api/markets",
        "/api/markets/x",
        "/api/sdk/kyc/status",
        ("/api/sdk/kyc/status/"
         "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"),
        "/api/sdk/kyc/status/%47",
        "/api/pools/x",
        "/api/pools/x/quote",
        "/nothing",
        "/"
    };
    static const char *const methods[] = { "GET", "POST", "HEAD", "PUT" };
    size_t count = tide_route_table.count;
    const struct tide_route *routes = tide_route_table.routes;
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < TIDE_COUNT(paths); p++)
            for (size_t m = 0; m < TIDE_COUNT(methods); m++)
                same_found(&routes[i], methods[m], paths[p]);
}

/* The table has no path twice for a method, distinct ids, and only names that param.def defines. */
static void the_table_is_consistent(void **state)
{
    size_t count = tide_route_table.count;
    const struct tide_route *routes = tide_route_table.routes;
    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(strncmp(routes[i].path, "/", 1), 0);
        assert_true(routes[i].path[1] != '{');
        assert_true(routes[i].handle || routes[i].statement);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(routes[i].id, routes[k].id);
            assert_true(strcmp(routes[i].path, routes[k].path) != 0 ||
                        strcmp(routes[i].method, routes[k].method) != 0);
        }
        char path[256];
        size_t len = 0;
        for (const char *at = routes[i].path; *at; at++) {
            path[len++] = *at == '{' ? '!' : *at; /* a value that only the type text accepts */
            at += *at == '{' ? strcspn(at, "}") : 0;
        }
        path[len] = 0;
        struct asked a;
        match_target(&a, routes[i].method, path);
        const struct tide_route *found = a.request.route;
        assert_string_equal(found ? found->path : "none", routes[i].path);
        tide_reply_release(&a.reply);
    }
}

/* --- cursors ---------------------------------------------------------------------------- */

static struct tide_cursor_scope scope_of(const char *target, uint8_t deployment)
{
    struct tide_cursor_scope scope;
    struct asked a;
    uint8_t identity[TIDE_HASH_BYTES] = { deployment };
    match_target(&a, "GET", target);
    assert_true(a.found);
    tide_cursor_scope(&scope, identity, &a.request);
    tide_reply_release(&a.reply);
    return scope;
}

static void cursors(void **state)
{
    char text[TIDE_CURSOR_MAX], key[TIDE_CURSOR_KEY_MAX + 1], long_key[TIDE_CURSOR_KEY_MAX + 1];
    struct tide_cursor_scope scope = scope_of("/api/pools/A/swaps?ledger=9", 1);
    (void)state;
    memset(long_key, 'k', sizeof long_key);
    for (size_t len = 1; len <= TIDE_CURSOR_KEY_MAX; len++) {
        size_t n = tide_cursor_write(text, &scope, tide_slice_of(long_key, len));
        assert_true(n > 0 && n <= TIDE_CURSOR_MAX);
        assert_true(tide_cursor_read(key, &scope, tide_slice_of(text, n)));
        assert_int_equal(strlen(key), len);
        struct tide_param_value value;
        char why[TIDE_PARAM_WHY];
        assert_true(tide_param_read(&value, TIDE_PARAM_cursor, tide_slice_of(text, n), why));
    }
    assert_int_equal(tide_cursor_write(text, &scope, tide_slice_of(long_key, sizeof long_key)), 0);
    assert_int_equal(tide_cursor_write(text, &scope, TIDE_SLICE("")), 0);

    static const char *const others[] = { "/api/pools/B/swaps?ledger=9", "/api/pools/A/swaps",
                                          "/api/pools/A/swaps?ledger=8",
                                          "/api/pools/A/positions?ledger=9" };
    size_t n = tide_cursor_write(text, &scope, TIDE_SLICE("12.3.0.1"));
    for (size_t i = 0; i < TIDE_COUNT(others); i++) {
        struct tide_cursor_scope other = scope_of(others[i], 1);
        assert_false(tide_cursor_read(key, &other, tide_slice_of(text, n)));
    }
    struct tide_cursor_scope elsewhere = scope_of("/api/pools/A/swaps?ledger=9", 2);
    assert_false(tide_cursor_read(key, &elsewhere, tide_slice_of(text, n)));
    struct tide_cursor_scope same = scope_of("/api/pools/A/swaps?limit=7&ledger=9&cursor=x", 1);
    assert_true(tide_cursor_read(key, &same, tide_slice_of(text, n)));
    assert_string_equal(key, "12.3.0.1");
    for (size_t i = 0; i < n; i++) { /* every byte altered, every length cut */
        char was = text[i];
        text[i] = was == 'A' ? 'B' : 'A';
        assert_false(tide_cursor_read(key, &scope, tide_slice_of(text, n)));
        text[i] = was;
        assert_false(tide_cursor_read(key, &scope, tide_slice_of(text, i)));
    }
}

/* --- statements ------------------------------------------------------------------------- */

static const struct file {
    const char *text, *why; /* NULL: the text is accepted */
} files[] = {
    { "-- list: deployment at after limit pool\nSELECT 1", NULL },
    { "-- one: deployment\n-- none: there is none\nSELECT 1", NULL },
    { "-- one: deployment\nSELECT 1", "-- none:" },
    { "-- list: deployment\n-- none: there is none\nSELECT 1", "has no -- none line" },
    { "-- one: deployment\n-- none no_such: there is none\nSELECT 1", NULL },
    { "-- one: deployment\n-- none no_such there is none\nSELECT 1", "-- none:" },
    { "-- one: deployment\n-- none a_code_that_is_too_long_: there is none\n", "-- none:" },
    { "-- list: deployment\n-- of: pool\nSELECT 1", NULL },
    { "-- list: deployment cursor\nSELECT 1", "cursor" },
    { "-- list: deployment unknown\nSELECT 1", "unknown" },
    { "-- list deployment\nSELECT 1", "first line" },
    { "", "first line" },
    { "-- list: at at at at at at at at at at at at at at at at at at at at at at at at at\n",
      "more than 24" },
};

static void statements(void **state)
{
    struct tide_err err;
    struct tide_statement statement;
    struct tide_statements all;
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(files); i++) {
        struct tide_query_file file = { "x", files[i].text };
        tide_status status = tide_statement_parse(&statement, &file, &err);
        assert_int_equal(status, files[i].why ? TIDE_E_SCHEMA : TIDE_OK);
        if (files[i].why && !strstr(err.text, files[i].why))
            fail_msg("%s: %s", files[i].text, err.text);
    }
    tide_status status = tide_statements_open(&all, &tide_route_table, &err);
    if (status != TIDE_OK)
        fail_msg("%s", err.text);
    size_t of = 0;
    for (size_t i = 0; i < all.count; i++) {
        const struct tide_statement *list = &all.all[i];
        of += list->parent != TIDE_STATEMENT_NO_PARENT;
        if (list->parent != TIDE_STATEMENT_NO_PARENT)
            assert_true(tide_slice_eq_str(list->of, all.all[list->parent].name));
        else
            assert_int_equal(list->of.len, 0);
    }
    assert_true(of > 0);
    for (size_t i = 0; i < all.count; i++) /* each file has a single statement */
        if (strchr(all.all[i].sql, ';'))
            fail_msg("%s.sql has a ;", all.all[i].name);
    tide_statements_close(&all);
}

int test_route(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets),
        cmocka_unit_test(every_bad_field_is_named),
        cmocka_unit_test(a_ledger_has_a_meaning_or_a_reason),
        cmocka_unit_test(long_targets_are_refused),
        cmocka_unit_test(values),
        cmocka_unit_test(types),
        cmocka_unit_test(a_date_is_its_midnight),
        cmocka_unit_test(templates_allow_trying_the_last_route_first),
        cmocka_unit_test(the_first_try_does_not_change_the_result),
        cmocka_unit_test(the_table_is_consistent),
        cmocka_unit_test(cursors),
        cmocka_unit_test(statements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
