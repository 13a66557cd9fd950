/* Signed texts and their keys: the vectors of RFC 8037, the PEM keys of RFC 8410, and refused
 * keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tidemark/jws.h"
#include "tidemark/text.h"

/* RFC 8037, appendix A. */
static const char seed_text[] = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
static const char public_text[] = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
static const char thumbprint[] = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
static const char rfc_token[] =
    "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
    "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

/* RFC 8410, section 10.3 and 10.1. */
static const char private_pem[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
    "-----END PRIVATE KEY-----\n";
static const char public_pem[] = "-----BEGIN PUBLIC KEY-----\n"
                                 "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
                                 "-----END PUBLIC KEY-----\n";
static const char x25519_pem[] = "-----BEGIN PUBLIC KEY-----\n"
                                 "MCowBQYDK2VuAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
                                 "-----END PUBLIC KEY-----\n";

static void from_url(uint8_t out[32], const char *text)
{
    struct tide_buf bytes;
    tide_buf_init(&bytes, 64);
    assert_int_equal(tide_buf_base64url_decode(&bytes, tide_slice_str(text)), TIDE_OK);
    assert_int_equal(bytes.len, 32);
    memcpy(out, bytes.ptr, 32);
    tide_buf_release(&bytes);
}

static void the_rfcs_text_is_signed_the_same(void **state)
{
    uint8_t seed[32], public[32];
    char kid[TIDE_JWS_KID + 1];
    struct tide_sign *key;
    struct tide_buf out;
    (void)state;
    from_url(seed, seed_text);
    from_url(public, public_text);
    assert_int_equal(tide_sign_open(&key, seed), TIDE_OK);
    assert_memory_equal(tide_sign_public(key), public, 32);
    tide_jws_kid(kid, public);
    assert_string_equal(kid, thumbprint);
    tide_buf_init(&out, 1024);
    for (int twice = 0; twice < 2; twice++) {
        tide_buf_reset(&out);
        tide_jws_sign(&out, key, TIDE_SLICE("eyJhbGciOiJFZERTQSJ9"),
                      TIDE_SLICE("Example of Ed25519 signing"));
        assert_true(tide_slice_eq(tide_buf_view(&out), tide_slice_str(rfc_token)));
    }
    tide_buf_release(&out);
    tide_sign_close(key);
}

static void a_changed_text_does_not_hold(void **state)
{
    uint8_t public[32];
    (void)state;
    from_url(public, public_text);
    for (size_t at = 0; at < sizeof rfc_token - 1; at++) {
        char text[sizeof rfc_token];
        struct tide_buf bytes;
        struct tide_jws jws;
        struct tide_err err;
        memcpy(text, rfc_token, sizeof text);
        if (text[at] != '.' && at != sizeof rfc_token - 2) /* the last digit has spare bits */
            text[at] = text[at] == 'A' ? 'B' : 'A';
        bool same = memcmp(text, rfc_token, sizeof text) == 0;
        tide_buf_init(&bytes, 1024);
        bool opened = tide_jws_open(&jws, &bytes, tide_slice_str(text), &err) == TIDE_OK;
        assert_int_equal(opened && tide_jws_holds(&jws, public), same);
        tide_buf_release(&bytes);
    }
}

static void other_texts_are_no_receipts(void **state)
{
    static const char *const texts[] = { "",     ".",       "..",        "a.b", "a.b.c",
                                         "a.b.", "a.b.c.d", "aa.bb.cc+", "...", "%.%.%" };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(texts); i++) {
        struct tide_buf bytes;
        struct tide_jws jws;
        struct tide_err err;
        tide_buf_init(&bytes, 1024);
        assert_int_equal(tide_jws_open(&jws, &bytes, tide_slice_str(texts[i]), &err),
                         TIDE_E_DECODE);
        tide_buf_release(&bytes);
    }
}

static void the_url_alphabet_is_strict(void **state)
{
    static const struct {
        const char *text, *bytes;
    } cases[] = { { "", "" },      { "_-8", "\xff\xef" }, { "/-8", NULL },
                  { "_+8", NULL }, { "_-8=", NULL },      { "_", NULL },
                  { "_-9", NULL }, { "Zm9v", "foo" },     { "Zm9 v", NULL } };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct tide_buf out, back;
        tide_buf_init(&out, 64);
        tide_buf_init(&back, 64);
        bool read = tide_buf_base64url_decode(&out, tide_slice_str(cases[i].text)) == TIDE_OK;
        assert_int_equal(read, cases[i].bytes != NULL);
        if (read && cases[i].bytes) {
            tide_buf_base64url(&back, tide_buf_view(&out));
            assert_int_equal(out.len, strlen(cases[i].bytes));
            assert_int_equal(back.len, strlen(cases[i].text));
            if (out.ptr && back.ptr) {
                assert_memory_equal(out.ptr, cases[i].bytes, out.len);
                assert_memory_equal(back.ptr, cases[i].text, back.len);
            }
        }
        tide_buf_release(&out);
        tide_buf_release(&back);
    }
}

static void keys_are_read_from_pem(void **state)
{
    char text[1024];
    uint8_t public[32], want[32];
    struct tide_sign *pair;
    (void)state;
    from_url(want, "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE");
    snprintf(text, sizeof text, "a note\n%s%s", private_pem, public_pem);
    tide_slice pem = tide_slice_str(text);
    assert_int_equal(tide_sign_pem(&pair, public, &pem), TIDE_OK);
    assert_non_null(pair);
    assert_memory_equal(public, want, 32);
    assert_memory_equal(tide_sign_public(pair), want, 32);
    tide_sign_close(pair);
    assert_int_equal(tide_sign_pem(&pair, public, &pem), TIDE_OK);
    assert_null(pair);
    assert_memory_equal(public, want, 32);
    assert_int_equal(tide_sign_pem(&pair, public, &pem), TIDE_E_EOF);
    pem = tide_slice_str(x25519_pem);
    assert_int_equal(tide_sign_pem(&pair, public, &pem), TIDE_E_CONFIG);
    pem = TIDE_SLICE("-----BEGIN PRIVATE KEY-----\nMC4CAQAw\n-----END PRIVATE KEY-----\n");
    assert_int_equal(tide_sign_pem(&pair, public, &pem), TIDE_E_CONFIG);
    pem = TIDE_SLICE("-----BEGIN CERTIFICATE-----\nMC4CAQAw\n-----END CERTIFICATE-----\n");
    assert_int_equal(tide_sign_pem(&pair, public, &pem), TIDE_E_CONFIG);
}

int test_jws(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rfcs_text_is_signed_the_same),
        cmocka_unit_test(a_changed_text_does_not_hold),
        cmocka_unit_test(other_texts_are_no_receipts),
        cmocka_unit_test(the_url_alphabet_is_strict),
        cmocka_unit_test(keys_are_read_from_pem),
    };
    return cmocka_run_group_tests_name("jws", tests, NULL, NULL);
}
