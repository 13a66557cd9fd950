/* Receipts: when they end, what they say, which Accept asks for one, and keys that are a verifier's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "api/http/route.h"
#include "api/routes/receipt_keys.h"
#include "api/routes/route_table.h"
#include "schema/reader/receipt.h"
#include "tidemark/strkey.h"

#include <stdlib.h>
#include <unistd.h>

/* Times around a ledger that closed at 1000 s. */
static const struct {
    enum tide_receipt_kind kind;
    bool live;
    uint64_t now_ms, age_ms, stale_ms, closed_age_s, holds_until, expires;
} ends[] = {
    { TIDE_RECEIPT_STATUS, true, 1005000, 0, 60000, 300, 0, 1065 },     /* the lease      */
    { TIDE_RECEIPT_STATUS, true, 1005900, 59000, 60000, 300, 0, 1006 }, /* almost stale   */
    { TIDE_RECEIPT_STATUS, true, 1005000, 70000, 60000, 300, 0, 1005 }, /* never longer   */
    { TIDE_RECEIPT_STATUS, true, 1290000, 0, 60000, 300, 0, 1300 },     /* the close      */
    { TIDE_RECEIPT_STATUS, true, 1290000, 0, 60000, 0, 0, 1350 },       /* without limit  */
    { TIDE_RECEIPT_STATUS, true, 1005000, 0, 60000, 300, 1010, 1010 },  /* validUntil     */
    { TIDE_RECEIPT_STATUS, true, 1005000, 0, 60000, 300, 9999, 1065 },  /* later than it  */
    { TIDE_RECEIPT_STATUS, false, 9000000, 0, 60000, 300, 0, 1060 },    /* of the past    */
    { TIDE_RECEIPT_STATUS, false, 9000000, 0, 600000, 300, 0, 1300 },   /*                */
    { TIDE_RECEIPT_STATUS, false, 9000000, 0, 60000, 300, 1020, 1020 }, /*                */
    { TIDE_RECEIPT_PRICE, true, 1290000, 0, 60000, 300, 0, 1350 },      /* no close limit */
    { TIDE_RECEIPT_PRICE, true, 1290000, 0, 60000, 300, 1299, 1299 },   /* turns stale    */
    { TIDE_RECEIPT_QUOTE, true, 1005000, 0, 86400000, 300, 0, 87405 },  /* a long setting */
};

static void a_receipt_ends_before_its_answer_could_be_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(ends); i++) {
        struct tide_receipt receipt = {
            .kind = ends[i].kind, .live = ends[i].live, .close_time = 1000, .age_ms = ends[i].age_ms
        };
        struct tide_receipt_limits limits = { ends[i].stale_ms, ends[i].closed_age_s };
        tide_receipt_end(&receipt, &limits, ends[i].now_ms, ends[i].holds_until);
        assert_int_equal(receipt.issued_at, ends[i].now_ms / 1000);
        if (receipt.expires_at != ends[i].expires)
            fail_msg("case %zu: ends at %" PRIu64 ", not %" PRIu64, i, receipt.expires_at,
                     ends[i].expires);
    }
}

static void a_receipt_says_this(void **state)
{
    static const char want[] =
        "{\"iss\":\"me \\\"and\\\" you\",\"iat\":1005,\"exp\":1065,\"network\":\"N\","
        "\"deployment\":"
        "\"0000000000000000000000000000000000000000000000000000000000000000\","
        "\"contracts\":{},\"ledger\":{\"sequence\":\"7\",\"hash\":"
        "\"0100000000000000000000000000000000000000000000000000000000000000\","
        "\"closedAt\":\"1970-01-01T00:16:40Z\"},\"evaluatedAt\":\"1970-01-01T00:16:45Z\","
        "\"lease\":{\"renewedAt\":\"1970-01-01T00:16:44Z\",\"ageMs\":12},"
        "\"question\":{\"route\":\"price\",\"path\":\"/api/prices/BTC\","
        "\"query\":{\"maxAgeMs\":\"5\"}},\"answer\":{\"a\":1}}";
    struct tide_receipt receipt = { .kind = TIDE_RECEIPT_PRICE,
                                    .issuer = TIDE_SLICE("me \"and\" you"),
                                    .subject = TIDE_SLICE("BTC"),
                                    .query_count = 1,
                                    .query = { { "maxAgeMs", TIDE_SLICE("5") } },
                                    .live = true,
                                    .ledger = 7,
                                    .close_time = 1000,
                                    .evaluated_at = 1005,
                                    .renewed_ms = 1004988,
                                    .age_ms = 12,
                                    .hash = { 1 },
                                    .network = "N",
                                    .issued_at = 1005,
                                    .expires_at = 1065 };
    struct tide_buf out;
    (void)state;
    tide_buf_init(&out, 4096);
    tide_receipt_write(&out, &receipt, TIDE_SLICE("{\"a\":1}"));
    if (!tide_slice_eq_str(tide_buf_view(&out), want))
        fail_msg("%.*s", TIDE_SLICE_FMT(tide_buf_view(&out)));
    tide_buf_release(&out);
}

/* route.def and the receipts' own list name the same routes and paths. */
static void each_route_with_receipts_is_known(void **state)
{
    uint32_t found = 0;
    (void)state;
    for (size_t i = 0; i < tide_route_table.count; i++) {
        const struct tide_route *route = &tide_route_table.routes[i];
        bool takes = strstr(route->query, "receipt") != NULL, listed = false;
        for (int kind = 0; kind < (int)TIDE_RECEIPT_KIND_COUNT; kind++) {
            const struct tide_receipt_route *r = &tide_receipt_routes[kind];
            size_t before = strlen(r->before), after = strlen(r->after);
            if (strcmp(r->id, route->id) != 0)
                continue;
            listed = true;
            assert_memory_equal(route->path, r->before, before);
            assert_string_equal(route->path + strlen(route->path) - after, r->after);
            assert_int_equal(route->path[before], '{');
        }
        assert_int_equal(takes, listed);
        found += takes;
    }
    assert_int_equal(found, TIDE_RECEIPT_KIND_COUNT);
    assert_string_equal(tide_route_table.form->media_type, "application/jwt");
}

static void accept_asks_for_a_receipt_by_name(void **state)
{
    static const struct {
        const char *lines[2];
        enum tide_form form;
    } cases[] = {
        { { "application/jwt" }, TIDE_FORM_SECOND },
        { { "application/jwt;q=0" }, TIDE_FORM_PLAIN },
        { { "*/*" }, TIDE_FORM_PLAIN },
        { { "application/jwt", "application/json" }, TIDE_FORM_EITHER },
        { { "application/jwt;q=0.3", "*/*;q=0.2" }, TIDE_FORM_EITHER },
        { { "application/jwt;q=0.3", "application/*;q=0.4, */*;q=0.2" }, TIDE_FORM_PLAIN },
        { { "application/json;q=0.2, */*;q=1, application/jwt;q=0.3" }, TIDE_FORM_EITHER },
        { { "application/jwt;version=1;q=0.3, application/json;q=0" }, TIDE_FORM_SECOND },
        { { "application/jwt;q=x" }, TIDE_FORM_PLAIN },
        { { ",,;q=1,application/jwtx" }, TIDE_FORM_PLAIN },
    };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct tide_accept accept = TIDE_ACCEPT_NOTHING;
        for (size_t l = 0; l < 2 && cases[i].lines[l]; l++)
            tide_accept_read(&accept, tide_slice_str(cases[i].lines[l]), "application/jwt");
        if (tide_accept_form(&accept) != cases[i].form)
            fail_msg("case %zu", i);
    }
}

/* --- keys -------------------------------------------------------------------------------- */

static const char pem[] = "-----BEGIN PRIVATE KEY-----\n"
                          "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
                          "-----END PRIVATE KEY-----\n";

static tide_status put_verifier(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    struct tide_hot_meta meta = { .ledger = 1 };
    struct tide_hot_verifier verifier = { 0 };
    tide_status status = sink->put(sink->self, &key, &meta, err);
    key = tide_hot_key_address(TIDE_HOT_VERIFIER, self);
    return status == TIDE_OK ? sink->put(sink->self, &key, &verifier, err) : status;
}

static tide_status drop_verifier(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_VERIFIER, self);
    return sink->drop(sink->self, &key, err);
}

static void a_verifiers_key_signs_no_receipt(void **state)
{
    static struct tide_config config; /* large */
    char dir[] = "/tmp/tide-receipt-XXXXXX", path[64], cache[64], command[128];
    struct tide_hot_address verifier = { .kind = 0 };
    struct tide_receipt_keys *keys;
    struct tide_hot_reader *reader;
    struct tide_hot *hot;
    bool mine;
    struct tide_err err;
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(cache, sizeof cache, "%s/cache", dir);
    snprintf(path, sizeof path, "%s/key-XXXXXX", dir);
    int fd = mkstemp(path);
    assert_int_equal(write(fd, pem, sizeof pem - 1), sizeof pem - 1);
    close(fd);
    tide_config_defaults(&config);
    snprintf(config.api_receipt_keys, sizeof config.api_receipt_keys, "%s", path);
    snprintf(config.api_receipt_issuer, sizeof config.api_receipt_issuer, "me");
    assert_int_equal(tide_receipt_keys_open(&keys, &config, &err), TIDE_OK);
    struct tide_receipt_set *set = tide_receipt_keys_use(keys);
    verifier.kind = TIDE_STRKEY_ACCOUNT;
    memcpy(verifier.key, set->keys[0], sizeof verifier.key);
    tide_receipt_keys_release(keys, set);
    struct tide_hot_options options = { .dir = cache, .map_first = 1 << 20, .map_max = 1 << 20 };
    assert_int_equal(tide_hot_open(&hot, &options, &err), TIDE_OK);
    assert_int_equal(tide_hot_lock(hot, &mine, &err), TIDE_OK);
    assert_int_equal(tide_hot_reader_open(&reader, hot, &err), TIDE_OK);
    tide_receipt_keys_watch(keys, reader); /* there is no cache yet */
    assert_true(tide_receipt_keys_may_sign(keys));
    assert_int_equal(tide_hot_rebuild(hot, put_verifier, &verifier, &err), TIDE_OK);
    tide_receipt_keys_watch(keys, reader);
    assert_false(tide_receipt_keys_may_sign(keys));
    assert_int_equal(tide_receipt_keys_reload(keys, &err), TIDE_OK);
    assert_false(tide_receipt_keys_may_sign(keys));
    assert_int_equal(tide_hot_update(hot, drop_verifier, &verifier, &err), TIDE_OK);
    tide_receipt_keys_watch(keys, reader);
    assert_true(tide_receipt_keys_may_sign(keys));
    tide_hot_reader_close(reader);
    tide_hot_close(hot);
    tide_receipt_keys_close(keys);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int test_receipt(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receipt_ends_before_its_answer_could_be_refused),
        cmocka_unit_test(a_receipt_says_this),
        cmocka_unit_test(each_route_with_receipts_is_known),
        cmocka_unit_test(accept_asks_for_a_receipt_by_name),
        cmocka_unit_test(a_verifiers_key_signs_no_receipt),
    };
    return cmocka_run_group_tests_name("receipt", tests, NULL, NULL);
}
