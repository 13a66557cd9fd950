/* strkey: the strings of SEP-23 encoded and decoded, and its invalid cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "literal.h"
#include "tidemark/strkey.h"

#define KEY "3f0c34bf93ad0d9971d04ccc90f705511c838aad9734a4a2fb0d7a03fc7fe89a"

static const struct {
    enum tide_strkey kind;
    const char *payload;
    const char *text;
} valid[] = {
    { TIDE_STRKEY_ACCOUNT, KEY, "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ" },
    { TIDE_STRKEY_CONTRACT, KEY, "CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA" },
    { TIDE_STRKEY_MUXED, KEY "0000000000000000",
      "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ" },
    { TIDE_STRKEY_MUXED, KEY "8000000000000000",
      "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK" },
    { TIDE_STRKEY_MUXED_CONTRACT, KEY "8000000000000000",
      "WA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAACWJY" },
    { TIDE_STRKEY_LIQUIDITY_POOL, KEY, "LA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUPJN" },
    { TIDE_STRKEY_CLAIMABLE_BALANCE, "00" KEY,
      "BAAD6DBUX6J22DMZOHIEZTEQ64CVCHEDRKWZONFEUL5Q26QD7R76RGR4TU" },
    { TIDE_STRKEY_PRE_AUTH_TX, KEY, "TA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUPUI" },
    { TIDE_STRKEY_HASH_X, KEY, "XA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVLRR" },
    { TIDE_STRKEY_SEED, KEY, "SA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWVG" },
    { TIDE_STRKEY_SIGNED_PAYLOAD,
      KEY "00000020"
          "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
      "PA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAQACAQDAQCQMBYIBEFAWDANBYHRAEISCMKB"
      "KFQXD"
      "AMRUGY4DUPB6IBZGM" },
};

static const char *const invalid[] = {
    "",
    "G",
    "GAAAAAAAACGC6",                                             /* short                       */
    "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZA", /* 57: 1 mod 8                 */
    "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSG",   /* 55                          */
    "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGA",  /* checksum                    */
    "ga7qynf7sowq3glr2bgmzehxavirza4kvwltjjfc7mgxua74p7ujvsgz",  /* lower case                  */
    "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSG=",  /* padding                     */
    "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSG1",  /* alphabet                    */
    "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUR", /* spare bits       */
    "G47QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVP2I",   /* algorithm bits              */
    "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUACUSI", /* payload too long          */
    "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLKA",
    "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAAV75I",
    "M47QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ",
    "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUK===",
    "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUO",
    "BAAD6DBUX6J22DMZOHIEZTEQ64CVCHEDRKWZONFEUL5Q26QD7R76RGR4TV",
    "BAAT6DBUX6J22DMZOHIEZTEQ64CVCHEDRKWZONFEUL5Q26QD7R76RGXACA", /* balance type 1            */
};

static void valid_strings_go_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(valid); i++) {
        struct literal payload;
        char text[TIDE_STRKEY_TEXT_MAX];
        uint8_t back[TIDE_STRKEY_PAYLOAD_MAX];
        enum tide_strkey kind;
        size_t len;
        literal_open(&payload, valid[i].payload);
        size_t wrote = tide_strkey_encode(text, valid[i].kind, tide_buf_view(&payload.buf));
        assert_int_equal(wrote, strlen(valid[i].text));
        assert_memory_equal(text, valid[i].text, wrote);
        assert_int_equal(tide_strkey_decode(&kind, back, &len, tide_slice_of(text, wrote)),
                         TIDE_OK);
        assert_int_equal(kind, valid[i].kind);
        assert_int_equal(len, payload.buf.len);
        assert_memory_equal(back, payload.buf.ptr, len);
        literal_close(&payload);
    }
}

static void no_other_text_of_any_kind_passes(void **state)
{
    (void)state;
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    for (size_t i = 0; i < TIDE_COUNT(invalid); i++)
        assert_int_equal(tide_strkey_decode(&kind, payload, &len, tide_slice_str(invalid[i])),
                         TIDE_E_DECODE);
    /* each character of each valid text is replaced by each other character */
    static const char other[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567189=a\xff";
    for (size_t i = 0; i < TIDE_COUNT(valid); i++) {
        char text[TIDE_STRKEY_TEXT_MAX];
        size_t size = strlen(valid[i].text);
        for (size_t at = 0; at < size; at++)
            for (size_t c = 0; c + 1 < sizeof other; c++) {
                if (other[c] == valid[i].text[at])
                    continue;
                memcpy(text, valid[i].text, size);
                text[at] = other[c];
                assert_int_equal(
                    tide_strkey_decode(&kind, payload, &len, tide_slice_of(text, size)),
                    TIDE_E_DECODE);
            }
    }
}

static void addresses_go_both_ways(void **state)
{
    (void)state;
    static const struct {
        const char *xdr;
        const char *text;
    } cases[] = {
        { "00000000 00000000 " KEY, "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ" },
        { "00000001 " KEY, "CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA" },
        { "00000002 8000000000000000 " KEY,
          "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK" },
        { "00000003 00000000 " KEY, "BAAD6DBUX6J22DMZOHIEZTEQ64CVCHEDRKWZONFEUL5Q26QD7R76RGR4TU" },
        { "00000004 " KEY, "LA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUPJN" },
        { "00000005 8000000000000000 " KEY,
          "WA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAACWJY" },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct literal l;
        char text[TIDE_STRKEY_ADDRESS_MAX];
        uint8_t xdr[44];
        literal_open(&l, cases[i].xdr);
        size_t len = tide_strkey_from_address(text, tide_buf_view(&l.buf));
        assert_int_equal(len, strlen(cases[i].text));
        assert_memory_equal(text, cases[i].text, len);
        assert_int_equal(tide_strkey_to_address(xdr, tide_slice_of(text, len)), l.buf.len);
        assert_memory_equal(xdr, l.buf.ptr, l.buf.len);
        for (size_t cut = 0; cut < l.buf.len; cut++)
            assert_int_equal(tide_strkey_from_address(text, tide_slice_of(l.buf.ptr, cut)), 0);
        literal_close(&l);
    }
    uint8_t xdr[44];
    assert_int_equal(tide_strkey_to_address(xdr, tide_slice_str(valid[10].text)), 0); /* P */
    assert_int_equal(tide_strkey_to_address(xdr, tide_slice_str("G")), 0);
}

int test_strkey(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_strings_go_both_ways),
        cmocka_unit_test(no_other_text_of_any_kind_passes),
        cmocka_unit_test(addresses_go_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
