/* Exported arguments of an attestation: the person's country is always left out. */
#include "indexer/export/export.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define A "\"GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ\""

/* clang-format off */
static const struct {
    enum tide_role role;
    const char *fn, *args, *want; /* want NULL: nothing is private */
} rows[] = {
    { TIDE_ROLE_compliance_registry, "attest", "[" A "," A ",756,\"1781867755\",\"ab\"]", "[" A "," A ",null,\"1781867755\",\"ab\"]" },
    { TIDE_ROLE_compliance_registry, "submit_attestation", "[" A "," A ",36,\"0\"]", "[" A "," A ",null,\"0\"]" },
    { TIDE_ROLE_compliance_registry, "revoke", "[" A "," A "]", NULL },
    { TIDE_ROLE_compliance_registry, "block_jurisdiction", "[" A ",756]", NULL },
    { TIDE_ROLE_liquidity_pool, "attest", "[" A "," A ",756]", NULL },
    /* malformed: the country could be in any argument */
    { TIDE_ROLE_compliance_registry, "attest", "[" A ",756,\"0\"]", "[" A ",null,null]" },
    { TIDE_ROLE_compliance_registry, "attest", "[756," A "," A ",\"0\"]", "[null," A ",null,null]" },
    { TIDE_ROLE_compliance_registry, "attest", "[" A "," A ",{\"jurisdiction\":756},\"756\"]", "[" A "," A ",null,null]" },
    { TIDE_ROLE_compliance_registry, "attest", "[" A "," A ",1,756,[756,\"x\"],\"y\"]", "[" A "," A ",null,null,null,\"y\"]" },
    { TIDE_ROLE_compliance_registry, "attest", "[\"a, ] \\\" 756\"," A ",756]", "[null," A ",null]" },
    { TIDE_ROLE_compliance_registry, "attest", "[]", "[]" },
    { TIDE_ROLE_compliance_registry, "attest", "[756]", "[null]" },
};
/* clang-format on */

static void jurisdictions_are_hidden(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        struct tide_buf json;
        tide_buf_init(&json, 4096);
        bool hidden = tide_export_args(&json, rows[i].role, tide_slice_str(rows[i].fn),
                                       tide_slice_str(rows[i].args));
        tide_buf_u8(&json, 0);
        assert_false(json.failed);
        assert_int_equal(hidden, rows[i].want != NULL);
        assert_string_equal((const char *)json.ptr, rows[i].want ? rows[i].want : "");
        tide_buf_release(&json);
    }
}

int test_export_args(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(jurisdictions_are_hidden) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
