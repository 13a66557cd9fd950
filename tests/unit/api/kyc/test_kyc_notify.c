/* Webhooks to partners: allowed addresses, secrets and signatures. */
#include "api/kyc/notify/hook_read.h"
#include "api/kyc/notify/secret.h"
#include "tidemark/public_address.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static bool is_public(const char *text)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return tide_public_address((const struct sockaddr *)&v4);
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return tide_public_address((const struct sockaddr *)&v6);
}

/* The first and last address of each private block are refused, their neighbours outside are
 * accepted. */
static void private_blocks_end_where_the_registry_says(void **state)
{
    static const struct {
        const char *first, *last, *before, *after; /* NULL: private too */
    } blocks[] = {
        { "0.0.0.0", "0.255.255.255", NULL, "1.0.0.0" },
        { "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0" },
        { "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0" },
        { "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0" },
        { "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0" },
        { "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0" },
        { "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0" },
        { "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0" },
        { "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0" },
        { "224.0.0.0", "255.255.255.255", "223.255.255.255", NULL },
        { "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL, NULL },
        { "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff::", "2001:200::" },
        { "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::" },
        { "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::" },
        { "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::", "3fff:1000::" },
        { "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff::", NULL },
    };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(blocks); i++) {
        assert_false(is_public(blocks[i].first));
        assert_false(is_public(blocks[i].last));
        assert_true(!blocks[i].before || is_public(blocks[i].before));
        assert_true(!blocks[i].after || is_public(blocks[i].after));
    }
    assert_false(is_public("::ffff:8.8.8.8"));
    assert_false(is_public("64:ff9b::a00:1"));
    assert_true(is_public("8.8.8.8"));
    assert_true(is_public("2606:4700::1111"));
}

/* Every form of a private host, followed by every form of the rest of a URL. */
static void urls_of_private_hosts_are_refused(void **state)
{
    static const char *const hosts[] = {
        "127.0.0.1",
        "localhost",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "10.0.0.1",
        "[::1]",
        "192.168.1.1",
        "169.254.169.254",
        "intranet",
        "db.internal",
        "printer.local",
        "a.localhost",
        "user@acme.example",
        "acme.example\\@10.0.0.1",
        "acme.example.",
        "1.2.3.4.5",
        "0",
        "10.0.0.1:8443",
        "acme.example:22",
        "acme.example:80",
        "acme.example:1023",
    };
    static const char *const rests[] = { "", "/", "/a?b=c" };
    static const struct tide_kyc_settings strict = { 0 };
    char url[128];
    (void)state;
    for (size_t h = 0; h < TIDE_COUNT(hosts); h++)
        for (size_t f = 0; f < TIDE_COUNT(rests); f++) {
            int len = snprintf(url, sizeof url, "https://%s%s", hosts[h], rests[f]);
            assert_in_range(len, 1, sizeof url - 1);
            if (tide_notify_url_allowed(&strict, tide_slice_str(url)))
                fail_msg("%s", url);
        }
    assert_false(tide_notify_url_allowed(&strict, tide_slice_str("http://acme.example/")));
    assert_true(tide_notify_url_allowed(&strict, tide_slice_str("https://acme.example/a?b=c")));
    assert_true(tide_notify_url_allowed(&strict, tide_slice_str("https://8.8.8.8:8443/")));
    assert_true(tide_notify_url_allowed(&strict, tide_slice_str("https://acme.example:443/")));
    assert_true(tide_notify_url_allowed(&strict, tide_slice_str("https://acme.example:1024/")));
}

static void a_secret_is_of_its_webhook_and_revision(void **state)
{
    static const char one[] = "00000000000000000000000000000001",
                      other[] = "00000000000000000000000000000002";
    static const struct tide_kyc_settings settings = { .webhook_key = { 7 } };
    char a[TIDE_NOTIFY_SECRET_BYTES], b[TIDE_NOTIFY_SECRET_BYTES];
    (void)state;
    tide_notify_secret(a, &settings, one, 1);
    assert_int_equal(strlen(a), sizeof a - 1);
    tide_notify_secret(b, &settings, one, 1);
    assert_string_equal(a, b);
    tide_notify_secret(b, &settings, one, 2);
    assert_string_not_equal(a, b);
    tide_notify_secret(b, &settings, other, 1);
    assert_string_not_equal(a, b);
}

/* A receiver that knows all else of an id must not be able to compute this part. */
static void one_part_of_an_id_is_keyed(void **state)
{
    struct tide_kyc_settings settings = { .notifies = true }, other = settings;
    char of[4][2 * TIDE_HASH_BYTES + 1];
    (void)state;
    other.webhook_key[31] = 1;
    tide_notify_blind(of[0], &settings, "h", "GA");
    tide_notify_blind(of[1], &other, "h", "GA");
    tide_notify_blind(of[2], &settings, "hG", "A");
    tide_notify_blind(of[3], &settings, "h", "GA");
    assert_int_equal(strlen(of[0]), 2 * TIDE_HASH_BYTES);
    assert_string_not_equal(of[0], of[1]);
    assert_string_not_equal(of[0], of[2]);
    assert_string_equal(of[0], of[3]);
}

static void both_secrets_sign_during_the_overlap(void **state)
{
    static const struct tide_kyc_settings settings = { .webhook_key = { 7 } };
    struct tide_notify_message message = { .hook = "00000000000000000000000000000001",
                                           .revision = 2,
                                           .id = "evt_1",
                                           .at = 1,
                                           .body = TIDE_SLICE("{}") };
    char now[TIDE_NOTIFY_SIGNATURE_BYTES], before[TIDE_NOTIFY_SIGNATURE_BYTES],
        both[TIDE_NOTIFY_SIGNATURE_BYTES], want[2 * TIDE_NOTIFY_SIGNATURE_BYTES];
    (void)state;
    assert_true(tide_notify_sign(now, &settings, &message));
    message.previous = true;
    assert_true(tide_notify_sign(both, &settings, &message));
    message.previous = false;
    message.revision = 1;
    assert_true(tide_notify_sign(before, &settings, &message));
    snprintf(want, sizeof want, "%s %s", now, before);
    assert_string_equal(both, want);
}

int test_kyc_notify(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_blocks_end_where_the_registry_says),
        cmocka_unit_test(urls_of_private_hosts_are_refused),
        cmocka_unit_test(a_secret_is_of_its_webhook_and_revision),
        cmocka_unit_test(one_part_of_an_id_is_keyed),
        cmocka_unit_test(both_secrets_sign_during_the_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
