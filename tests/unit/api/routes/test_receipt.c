/* Receipts: when they expire, the fields they have, the Accept headers that ask for one, and the
 * keys that verify them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "api/http/route.h"
#include "api/routes/receipt_keys.h"
#include "api/routes/receipts.h"
#include "api/routes/route_table.h"
#include "tidemark/receipt.h"
#include "tidemark/strkey.h"

#include <stdlib.h>
#include <unistd.h>

/* Times before and after the close of a ledger at 1000 s. */
static const struct {
    enum tide_receipt_kind kind;
    bool live;
    uint64_t now_ms, age_ms, stale_ms, closed_age_s, holds_until, expires;
} ends[] = {
    { TIDE_RECEIPT_STATUS, true, 1005000, 0, 60000, 300, 0, 1065 },     /* ends with the lease */
    { TIDE_RECEIPT_STATUS, true, 1005900, 59000, 60000, 300, 0, 1006 }, /* almost stale   */
    /* knowledge older than the limit: ends at once */
    { TIDE_RECEIPT_STATUS, true, 1005000, 70000, 60000, 300, 0, 1005 },
    { TIDE_RECEIPT_STATUS, true, 1290000, 0, 60000, 300, 0, 1300 }, /* ends with the ledger's age */
    { TIDE_RECEIPT_STATUS, true, 1290000, 0, 60000, 0, 0, 1350 }, /* no limit on the ledger's age */
    { TIDE_RECEIPT_STATUS, true, 1005000, 0, 60000, 300, 1010, 1010 }, /* ends with validUntil */
    /* validUntil is later than the other ends */
    { TIDE_RECEIPT_STATUS, true, 1005000, 0, 60000, 300, 9999, 1065 },
    /* counts from the ledger's close */
    { TIDE_RECEIPT_STATUS, false, 9000000, 0, 60000, 300, 0, 1060 },
    /* ends with the ledger's age */
    { TIDE_RECEIPT_STATUS, false, 9000000, 0, 600000, 300, 0, 1300 },
    { TIDE_RECEIPT_STATUS, false, 9000000, 0, 60000, 300, 1020, 1020 }, /* ends with holds_until */
    /* no limit on the ledger's age */
    { TIDE_RECEIPT_PRICE, true, 1290000, 0, 60000, 300, 0, 1350 },
    /* ends when the price is stale */
    { TIDE_RECEIPT_PRICE, true, 1290000, 0, 60000, 300, 1299, 1299 },
    { TIDE_RECEIPT_QUOTE, true, 1005000, 0, 86400000, 300, 0, 87405 }, /* a long setting */
    /* this host's clock is a day ahead of the database's, by which the lease was renewed at 1000 */
    { TIDE_RECEIPT_PRICE, true, 87400000, 0, 60000, 300, 0, 1360 },
    { TIDE_RECEIPT_QUOTE, true, 87400000, 59000, 60000, 300, 0, 1360 },
};

static void a_receipt_ends_before_its_answer_could_be_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(ends); i++) {
        struct tide_receipt receipt = { .kind = ends[i].kind,
                                        .live = ends[i].live,
                                        .closed_ms = 1000000,
                                        .renewed_ms = 1000000,
                                        .age_ms = ends[i].age_ms };
        struct tide_receipt_limits limits = { ends[i].stale_ms, ends[i].closed_age_s, 300 };
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
        "\"closedAt\":\"1970-01-01T00:16:40Z\",\"provenThrough\":\"5\"},\"evaluatedAt\":\"1970-01-"
        "01T00:16:45Z\","
        "\"lease\":{\"renewedAt\":\"1970-01-01T00:16:44Z\",\"ageMs\":12},"
        "\"question\":{\"route\":\"price\",\"path\":\"/api/prices/BTC\","
        "\"query\":{\"maxAgeMs\":\"5\"}},\"answer\":{\"a\":1}}";
    struct tide_receipt receipt = { .kind = TIDE_RECEIPT_PRICE,
                                    .proven = 5,
                                    .issuer = TIDE_SLICE("me \"and\" you"),
                                    .subject = TIDE_SLICE("BTC"),
                                    .query_count = 1,
                                    .query = { { "maxAgeMs", TIDE_SLICE("5") } },
                                    .live = true,
                                    .ledger = 7,
                                    .closed_ms = 1000000,
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

enum { FED_MS = 1000000 }; /* when the database was last reached */

static tide_status put_verifier(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    struct tide_hot_meta meta = { .ledger = 1, .fed_ms = FED_MS };
    memcpy(meta.boot, tide_boot_id(), sizeof meta.boot);
    struct tide_hot_verifier verifier = { 0 };
    tide_status status = sink->put(sink->self, &key, &meta, err);
    key = tide_hot_key_address(TIDE_HOT_VERIFIER, self);
    return status == TIDE_OK ? sink->put(sink->self, &key, &verifier, err) : status;
}

static tide_status put_withdrawn(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    static const struct tide_hot_withdrawn record;
    struct tide_hot_key key = tide_hot_key_kid(self);
    return sink->put(sink->self, &key, &record, err);
}

static tide_status drop_withdrawn(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key_kid(self);
    return sink->drop(sink->self, &key, err);
}

static tide_status drop_verifier(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_VERIFIER, self);
    return sink->drop(sink->self, &key, err);
}

struct world {
    char dir[32], path[64];
    const struct tide_config *config;
    struct tide_receipt_keys *keys;
    struct tide_hot_reader *reader;
    struct tide_hot *hot;
    struct tide_hot_address verifier; /* the key's address, as an account */
    char kid[TIDE_JWS_KID + 1];
};

static void open_world(struct world *w)
{
    static struct tide_config config; /* large */
    char cache[64];
    bool mine;
    struct tide_err err;
    snprintf(w->dir, sizeof w->dir, "/tmp/tide-receipt-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    snprintf(cache, sizeof cache, "%s/cache", w->dir);
    snprintf(w->path, sizeof w->path, "%s/key-XXXXXX", w->dir);
    int fd = mkstemp(w->path);
    assert_int_equal(write(fd, pem, sizeof pem - 1), sizeof pem - 1);
    close(fd);
    tide_config_defaults(&config);
    w->config = &config;
    snprintf(config.api_receipt_keys, sizeof config.api_receipt_keys, "%s", w->path);
    snprintf(config.api_receipt_issuer, sizeof config.api_receipt_issuer, "me");
    assert_int_equal(tide_receipt_keys_open(&w->keys, &config, &err), TIDE_OK);
    struct tide_receipt_set *set = tide_receipt_keys_use(w->keys);
    w->verifier.kind = TIDE_STRKEY_ACCOUNT;
    memcpy(w->verifier.key, set->keys[0], sizeof w->verifier.key);
    tide_jws_kid(w->kid, set->keys[0]);
    tide_receipt_keys_release(w->keys, set);
    struct tide_hot_options options = { .dir = cache, .map_first = 1 << 20, .map_max = 1 << 20 };
    assert_int_equal(tide_hot_open(&w->hot, &options, &err), TIDE_OK);
    assert_int_equal(tide_hot_lock(w->hot, &mine, &err), TIDE_OK);
    assert_int_equal(tide_hot_reader_open(&w->reader, w->hot, &err), TIDE_OK);
}

static void close_world(struct world *w)
{
    char command[64];
    tide_hot_reader_close(w->reader);
    tide_hot_close(w->hot);
    tide_receipt_keys_close(w->keys);
    snprintf(command, sizeof command, "rm -r %s", w->dir);
    assert_int_equal(system(command), 0);
}

static void a_verifiers_key_signs_no_receipt(void **state)
{
    struct world w = { 0 };
    struct tide_err err;
    (void)state;
    open_world(&w);
    tide_receipt_keys_watch(w.keys, w.reader, FED_MS);
    assert_false(tide_receipt_keys_may_sign(w.keys)); /* there is no cache yet */
    assert_int_equal(tide_hot_rebuild(w.hot, put_verifier, &w.verifier, &err), TIDE_OK);
    tide_receipt_keys_watch(w.keys, w.reader, FED_MS);
    assert_false(tide_receipt_keys_may_sign(w.keys));
    assert_int_equal(tide_receipt_keys_reload(w.keys, w.reader, FED_MS, &err), TIDE_OK);
    assert_false(tide_receipt_keys_may_sign(w.keys));
    assert_int_equal(tide_hot_update(w.hot, drop_verifier, &w.verifier, &err), TIDE_OK);
    tide_receipt_keys_watch(w.keys, w.reader, FED_MS);
    assert_true(tide_receipt_keys_may_sign(w.keys));
    close_world(&w);
}

/* Returns true if the key is published at that time, false if it is not or if the node cannot
 * know. */
static bool is_published(struct world *w, int64_t host_ms)
{
    struct tide_buf out;
    tide_buf_init(&out, 4096);
    bool published = tide_receipt_keys_put_jwks(w->keys, host_ms, &out);
    tide_buf_u8(&out, 0);
    published = published && strstr((const char *)out.ptr, w->kid);
    tide_buf_release(&out);
    return published;
}

static void a_withdrawn_key_is_not_published_and_does_not_sign(void **state)
{
    struct world w = { 0 };
    struct tide_err err;
    (void)state;
    open_world(&w);
    assert_false(is_published(&w, FED_MS)); /* there is no cache yet */
    assert_int_equal(tide_hot_rebuild(w.hot, put_verifier, &w.verifier, &err), TIDE_OK);
    assert_int_equal(tide_hot_update(w.hot, drop_verifier, &w.verifier, &err), TIDE_OK);
    tide_receipt_keys_watch(w.keys, w.reader, FED_MS);
    assert_true(is_published(&w, FED_MS));
    assert_true(is_published(&w, FED_MS + 60000));
    assert_false(is_published(&w, FED_MS + 60001)); /* the database was last reached too long ago */
    tide_receipt_keys_watch(w.keys, w.reader, FED_MS + 60001);
    assert_false(tide_receipt_keys_may_sign(w.keys));
    assert_int_equal(tide_hot_update(w.hot, put_withdrawn, w.kid, &err), TIDE_OK);
    tide_receipt_keys_watch(w.keys, w.reader, FED_MS);
    assert_false(is_published(&w, FED_MS));
    assert_false(tide_receipt_keys_may_sign(w.keys));
    assert_int_equal(tide_receipt_keys_withdrawn(w.keys), 1);
    assert_int_equal(tide_receipt_keys_reload(w.keys, w.reader, FED_MS, &err), TIDE_OK);
    assert_false(is_published(&w, FED_MS));
    assert_false(tide_receipt_keys_may_sign(w.keys));
    assert_int_equal(tide_hot_update(w.hot, drop_withdrawn, w.kid, &err), TIDE_OK);
    tide_receipt_keys_watch(w.keys, w.reader, FED_MS);
    assert_true(is_published(&w, FED_MS) && tide_receipt_keys_may_sign(w.keys));
    assert_int_equal(truncate(w.path, 0), 0);
    assert_int_equal(tide_receipt_keys_reload(w.keys, w.reader, FED_MS, &err), TIDE_OK);
    assert_false(is_published(&w, FED_MS)); /* its file is empty */
    assert_false(tide_receipt_keys_may_sign(w.keys));
    close_world(&w);
}

/* The key is withdrawn, and the files are read again, between the two halves of one answer. */
static void a_key_withdrawn_during_an_answer_does_not_sign_it(void **state)
{
    struct world w = { 0 };
    struct tide_err err;
    struct tide_receipt_making making;
    struct tide_reply reply;
    (void)state;
    open_world(&w);
    struct tide_api api = { .config = w.config, .receipts = w.keys };
    struct tide_handler_context context = { .api = &api, .now_ms = FED_MS, .host_ms = FED_MS };
    struct tide_request request = { .form = TIDE_FORM_EITHER, .param_count = 1 };
    assert_int_equal(tide_hot_rebuild(w.hot, put_verifier, &w.verifier, &err), TIDE_OK);
    assert_int_equal(tide_hot_update(w.hot, drop_verifier, &w.verifier, &err), TIDE_OK);
    tide_receipt_keys_watch(w.keys, w.reader, FED_MS);
    tide_reply_init(&reply);
    assert_true(tide_receipt_begin(&making, TIDE_RECEIPT_STATUS, &context, &request, &reply));
    assert_true(making.asked);
    tide_buf_str(&reply.body, "{\"compliant\":true}");
    assert_int_equal(tide_hot_update(w.hot, put_withdrawn, w.kid, &err), TIDE_OK);
    assert_int_equal(tide_receipt_keys_reload(w.keys, w.reader, FED_MS, &err), TIDE_OK);
    tide_receipt_seal(&making, &context, &request, &reply);
    assert_int_equal(reply.status, 406);
    tide_reply_release(&reply);
    close_world(&w);
}

int test_receipt(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receipt_ends_before_its_answer_could_be_refused),
        cmocka_unit_test(a_receipt_says_this),
        cmocka_unit_test(each_route_with_receipts_is_known),
        cmocka_unit_test(accept_asks_for_a_receipt_by_name),
        cmocka_unit_test(a_verifiers_key_signs_no_receipt),
        cmocka_unit_test(a_withdrawn_key_is_not_published_and_does_not_sign),
        cmocka_unit_test(a_key_withdrawn_during_an_answer_does_not_sign_it),
    };
    return cmocka_run_group_tests_name("receipt", tests, NULL, NULL);
}
