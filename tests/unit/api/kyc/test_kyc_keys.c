/* How long integrators' keys stay valid while the database is away, by the test's own clock. */
#include "api/kyc/keys/keys.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int64_t host_ms = 5000, unix_ms = 1000 * INT64_C(1800000000);

static int64_t now_ms(void *self)
{
    (void)self;
    return host_ms;
}

static int64_t wall_ms(void *self)
{
    (void)self;
    return unix_ms;
}

static const struct tide_clock test_clock = { .now_ms = now_ms, .wall_ms = wall_ms };
static const char key_text[] = "tk_AAAAAAAAAAAA_secret";

/* Loads a directory with one key, as if it had just been read. The key ends `ends_s` seconds from
 * now; 0: never. */
static void load_key(struct tide_kyc_keys *keys, int64_t ends_s)
{
    struct tide_kyc_directory *d = tide_kyc_directory_new();
    assert_non_null(d);
    d->key_count = 1;
    tide_sha256(d->keys[0].hash, tide_slice_str(key_text));
    snprintf(d->keys[0].integrator, sizeof d->keys[0].integrator, "acme");
    d->keys[0].scopes = TIDE_KYC_SCOPE_WEBHOOKS;
    d->keys[0].ends_at = ends_s ? unix_ms / 1000 + ends_s : 0;
    tide_kyc_keys_take(keys, d, host_ms);
}

static enum tide_kyc_key_verdict check_key(struct tide_kyc_keys *keys)
{
    struct tide_kyc_key_use use;
    return tide_kyc_keys_check(keys, &use, tide_slice_str(key_text), NULL);
}

static struct tide_kyc_keys *opened(void)
{
    struct tide_kyc_keys *keys;
    struct tide_err err;
    assert_int_equal(tide_kyc_keys_open(&keys, NULL, &test_clock, &err), TIDE_OK);
    return keys;
}

static void keys_are_believed_for_ten_minutes(void **state)
{
    struct tide_kyc_keys *keys = opened();
    (void)state;
    assert_int_equal(check_key(keys), TIDE_KYC_KEY_AWAY); /* none was ever read */
    load_key(keys, 0);
    assert_int_equal(check_key(keys), TIDE_KYC_KEY_GOOD);
    host_ms += 10 * 60 * 1000;
    assert_int_equal(check_key(keys), TIDE_KYC_KEY_GOOD);
    host_ms += 1;
    assert_int_equal(check_key(keys), TIDE_KYC_KEY_AWAY);
    assert_int_equal(tide_kyc_keys_figures(keys).age_ms, 10 * 60 * 1000 + 1);
    load_key(keys, 0); /* the database is back */
    assert_int_equal(check_key(keys), TIDE_KYC_KEY_GOOD);
    tide_kyc_keys_close(keys);
}

/* The wall clock decides when a key ends, but not how long the node may use its copy of the
 * keys. */
static void a_key_ends_while_the_database_is_away(void **state)
{
    struct tide_kyc_keys *keys = opened();
    (void)state;
    load_key(keys, 60);
    unix_ms += 59 * 1000;
    assert_int_equal(check_key(keys), TIDE_KYC_KEY_GOOD);
    unix_ms += 1000;
    assert_int_equal(check_key(keys), TIDE_KYC_KEY_UNKNOWN);
    load_key(keys, 0);
    unix_ms += INT64_C(86400000);
    assert_int_equal(check_key(keys), TIDE_KYC_KEY_GOOD);
    tide_kyc_keys_close(keys);
}

int test_kyc_keys(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_believed_for_ten_minutes),
        cmocka_unit_test(a_key_ends_while_the_database_is_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
