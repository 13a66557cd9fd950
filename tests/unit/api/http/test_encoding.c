/* Content codings: the coding chosen for any Accept-Encoding, the encoded bytes, and the routes
 * that may use one. */
#include "api/http/encoding.h"
#include "api/routes/route_table.h"
#include "tidemark/zstd.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define NONE TIDE_ENCODING_NONE
#define GZIP TIDE_ENCODING_GZIP
#define ZSTD TIDE_ENCODING_ZSTD

enum { BOTH = 1 << GZIP | 1 << ZSTD };

static const struct {
    const char *accept;
    enum tide_encoding both, gzip; /* choice when both are offered; when gzip alone is */
} cases[] = {
    { "", NONE, NONE },
    { "gzip", GZIP, GZIP },
    { "zstd", ZSTD, NONE },
    { "gzip, deflate, br, zstd", ZSTD, GZIP },
    { "GZIP", GZIP, GZIP },
    { "x-gzip", GZIP, GZIP },
    { " \t gzip \t", GZIP, GZIP },
    { "zstd;q=0.5, gzip", GZIP, GZIP },
    { "zstd;q=0.5,gzip;q=0.5", ZSTD, GZIP },
    { "zstd;q=0, gzip;q=0.001", GZIP, GZIP },
    { "gzip ; q=1.000 , zstd ; Q=0.999", GZIP, GZIP },
    { "gzip;q=0", NONE, NONE },
    { "*", ZSTD, GZIP },
    { "*;q=0", NONE, NONE },
    { "*;q=0, gzip", GZIP, GZIP },
    { "zstd;q=0, *", GZIP, GZIP },
    { "identity", NONE, NONE },
    { "identity;q=0", NONE, NONE },
    { "identity;q=0.5, gzip;q=0.4", NONE, NONE },
    { "identity;q=0.4, gzip;q=0.5", GZIP, GZIP },
    { "identity, gzip", GZIP, GZIP },
    /* a malformed header counts as absent */
    { ",", NONE, NONE },
    { ",,,gzip,,", GZIP, GZIP },
    { ";", NONE, NONE },
    { ";q=1", NONE, NONE },
    { "gzip;", GZIP, GZIP },
    { "gzip;q", NONE, NONE },
    { "gzip;q=", NONE, NONE },
    { "gzip;q=2", NONE, NONE },
    { "gzip;q=1.1", NONE, NONE },
    { "gzip;q=1.001", NONE, NONE },
    { "gzip;q=-1", NONE, NONE },
    { "gzip;q=0.5555", NONE, NONE },
    { "gzip;q=.5", NONE, NONE },
    { "gzip;q=1e0", NONE, NONE },
    { "gzip;q=0x1", NONE, NONE },
    { "gzip;q=nan", NONE, NONE },
    { "gzip;q=0.5;q=1", NONE, NONE },
    { "gzip;level=9", NONE, NONE },
    { "gzip zstd", NONE, NONE },
    { "gzipp, zstdd, zst, gzi", NONE, NONE },
    { "g\xc3\xa4zip, \xff", NONE, NONE },
};

static void test_which(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        tide_slice accept = tide_slice_str(cases[i].accept);
        enum tide_encoding both = tide_encoding_choose(accept, BOTH);
        enum tide_encoding gzip = tide_encoding_choose(accept, 1u << GZIP);
        if (both != cases[i].both || gzip != cases[i].gzip)
            fail_msg("\"%s\": %s of both, %s of gzip", cases[i].accept, tide_encoding_name(both),
                     tide_encoding_name(gzip));
        assert_int_equal(tide_encoding_choose(accept, 0), NONE);
    }
    assert_int_equal(tide_encoding_choose((tide_slice){ 0 }, BOTH), NONE);
}

/* The parser reads each byte of a header once, whatever its length and form. */
static void test_long_lines(void **state)
{
    static char line[6000];
    (void)state;
    memset(line, ',', sizeof line);
    assert_int_equal(tide_encoding_choose(tide_slice_of(line, sizeof line), BOTH), NONE);
    for (size_t i = 0; i + 5 <= sizeof line; i += 5)
        memcpy(line + i, "gzip,", 5);
    assert_int_equal(tide_encoding_choose(tide_slice_of(line, sizeof line), BOTH), GZIP);
    uint64_t seed = 7;
    for (int round = 0; round < 2000; round++) {
        static const char letters[] = "gzipstd;,=q 0.1*\t";
        for (size_t i = 0; i < 64; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            line[i] = letters[(seed >> 33) % (sizeof letters - 1)];
        }
        assert_true(tide_encoding_choose(tide_slice_of(line, 64), BOTH) < TIDE_ENCODING_COUNT);
    }
}

static void fill_text(struct tide_buf *text, size_t len)
{
    tide_buf_init(text, len + 64);
    for (unsigned i = 0; text->len < len; i++)
        tide_buf_putf(text, "{\"id\":\"%u\"},", i * 2654435761u);
    text->len = len;
}

static void test_zstd_bytes(void **state)
{
    static uint8_t back[300000];
    (void)state;
    for (size_t len = 1; len <= sizeof back; len *= 7) {
        struct tide_buf text, out;
        struct tide_unzstd *z;
        const char *what;
        size_t made, all = 0;
        fill_text(&text, len);
        tide_buf_init(&out, tide_encoding_room(len));
        assert_int_equal(tide_encoding_make(&out, tide_buf_view(&text), TIDE_ENCODING_ZSTD),
                         TIDE_OK);
        tide_slice in = tide_buf_view(&out);
        assert_int_equal(tide_unzstd_open(&z), TIDE_OK);
        do {
            assert_int_equal(tide_unzstd_read(z, &in, back + all, sizeof back - all, &made, &what),
                             TIDE_OK);
            all += made;
        } while (made || in.len);
        assert_true(tide_unzstd_complete(z));
        assert_int_equal(all, len);
        assert_memory_equal(back, text.ptr, len);
        tide_unzstd_close(z);
        tide_buf_release(&text);
        tide_buf_release(&out);
    }
}

/* A gzip file (RFC 1952) ends with the size of the content. Tests over HTTP unpack such files. */
static void test_gzip_bytes(void **state)
{
    static const uint8_t magic[] = { 0x1f, 0x8b, 8 };
    struct tide_buf text, out;
    (void)state;
    for (size_t len = 1; len < 3000000; len *= 11) {
        fill_text(&text, len);
        tide_buf_init(&out, tide_encoding_room(len));
        assert_int_equal(tide_encoding_make(&out, tide_buf_view(&text), TIDE_ENCODING_GZIP),
                         TIDE_OK);
        const uint8_t *end = out.ptr + out.len - 4;
        assert_memory_equal(out.ptr, magic, sizeof magic);
        assert_int_equal(end[0] | end[1] << 8 | end[2] << 16 | (size_t)end[3] << 24, len);
        tide_buf_release(&text);
        tide_buf_release(&out);
    }
    fill_text(&text, 4096);
    tide_buf_init(&out, 16);
    assert_int_equal(tide_encoding_make(&out, tide_buf_view(&text), TIDE_ENCODING_GZIP),
                     TIDE_E_LIMIT);
    tide_buf_release(&text);
    tide_buf_release(&out);
}

/* The length of a compressed body reveals whether a secret in it repeats a text of the client. So
 * only routes whose content any page may read are compressed. */
static void test_which_routes(void **state)
{
    size_t encoded = 0;
    (void)state;
    for (size_t i = 0; i < tide_route_table.count; i++) {
        const struct tide_route *route = &tide_route_table.routes[i];
        const struct tide_route_class *class = route->class;
        bool private = class->origins != TIDE_ORIGINS_ANY || class->page || class->any_bytes ||
                       strncmp(route->path, "/kyc", 4) == 0;
        if (class->encodes && (private || class->stream))
            fail_msg("%s may be compressed", route->path);
        encoded += class->encodes;
    }
    assert_true(encoded > 50);
}

int test_encoding(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which),        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_zstd_bytes),   cmocka_unit_test(test_gzip_bytes),
        cmocka_unit_test(test_which_routes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
