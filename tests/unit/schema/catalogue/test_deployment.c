/* Deployment files: roles by name, look-up by contract id, refusals that name the key. */
#include "tidemark/deployment.h"
#include "tidemark/hash.h"
#include "tidemark/strkey.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static tide_status read_text(struct tide_deployment **out, const char *text, struct tide_err *err)
{
    snprintf(path, sizeof path, "/tmp/tide-deployment-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    tide_status status = tide_deployment_read(out, path, err);
    unlink(path);
    return status;
}

#define C1   "CB27SOOCKSVEOKSLJJQAH7OOH7KUOUCD3KNKPRKDHCZXBU4WI3JJYQ37"
#define C2   "CBOXUULEO3WA6UWSOBOAIWBS45BNIMZ5IDIGH57EUU5YXQGI26L4PFNJ"
#define C3   "CA5OWIYDAJWXTIRQL6WFTO3P4ZVOIJE7HZ5OFMVRVZNOT7FYIQJRS22W"
#define G1   "GCBMQOXKKEE4JHEBKOGUDCX32JM4MRX5A2IUNDHMTYNCEXUXTEA2P6UZ"
#define HEAD "{\"network\":\"net\",\"contracts\":"

static void roles_follow_from_names(void **state)
{
    (void)state;
    struct tide_deployment *d = NULL;
    struct tide_err err = { 0 };
    if (read_text(&d,
                  "{\"network\":\"net\",\"first_ledger\":5,\"last_ledger\":9,\"contracts\":{"
                  "\"oracle\":\"" C1 "\",\"token_sGOLD\":\"" C2 "\",\"xlm\":\"" C3
                  "\"},\"accounts\":{\"admin\":\"" G1
                  "\"},\"usdc\":{\"code\":\"USDC\",\"issuer\":\"" G1 "\"}}",
                  &err))
        fail_msg("%s", err.text);
    uint8_t id[TIDE_HASH_BYTES];
    tide_network_id(id, TIDE_SLICE("net"));
    assert_memory_equal(d->network_id, id, sizeof id);
    assert_int_equal(d->first_ledger, 5);
    assert_int_equal(d->last_ledger, 9);
    assert_int_equal(d->contract_count, 3);
    assert_int_equal(d->account_count, 1);
    assert_string_equal(d->accounts[0].name, "admin");
    static const struct {
        const char *name, *role_name, *address;
        enum tide_role role;
    } want[] = {
        { "oracle", "oracle", C1, TIDE_ROLE_oracle },
        { "token_sGOLD", "synth_token", C2, TIDE_ROLE_synth_token },
        { "xlm", "xlm", C3, TIDE_ROLE_stellar_asset },
    };
    for (size_t i = 0; i < TIDE_COUNT(want); i++) {
        const struct tide_contract *c = &d->contracts[i];
        assert_string_equal(c->name, want[i].name);
        assert_string_equal(c->role_name, want[i].role_name);
        assert_string_equal(c->address, want[i].address);
        assert_int_equal(c->role, want[i].role);
        assert_ptr_equal(tide_deployment_find(d, c->id), c);
    }
    memset(id, 7, sizeof id);
    assert_null(tide_deployment_find(d, id));
    free(d);
}

/* clang-format off */
static const struct {
    const char *text, *message;
} refused[] = {
    { HEAD "{\"pool\":\"" C1 "\"}}",                               "contracts.pool: unknown name"     },
    { HEAD "{\"token_\":\"" C1 "\"}}",                             "contracts.token_: unknown name"   },
    { HEAD "{\"oracle\":\"" G1 "\"}}",                             "oracle: expected a contract's C"  },
    { HEAD "{\"oracle\":7}}",                                      "oracle: expected a contract's C"  },
    { HEAD "{\"oracle\":\"" C1 "\",\"usdc\":\"" C1 "\"}}",         "contracts.usdc: the same contract as oracle" },
    { HEAD "{\"oracle\":\"" C1 "\",\"oracle\":\"" C2 "\"}}",       "duplicate"                        },
    { HEAD "{}}",                                                  "contracts: expected"              },
    { "{\"network\":\"net\"}",                                     "contracts: expected"              },
    { "{\"contracts\":{\"oracle\":\"" C1 "\"}}",                   "network: expected"                },
    { HEAD "{\"oracle\":\"" C1 "\"},\"first_ledger\":0}",          "first_ledger: expected"           },
    { HEAD "{\"oracle\":\"" C1 "\"},\"first_ledger\":\"7\"}",      "first_ledger: expected"           },
    { HEAD "{\"oracle\":\"" C1 "\"},\"first_ledger\":7,\"last_ledger\":6}", "last_ledger 6 is before" },
    { HEAD "{\"oracle\":\"" C1 "\"},\"accounts\":{\"a\":\"" C1 "\"}}", "a: expected an account's G"   },
    { HEAD "{\"oracle\":\"" C1 "\"},\"usdc\":{\"code\":\"USDC\"}}", "usdc.issuer"                     },
    { HEAD "{\"oracle\":\"" C1 "\"},\"ledger\":7}",                "unknown key ledger"               },
    { "[]",                                                        "expected a JSON object"           },
    { "{\"network\":",                                             ":1: "                             },
};
/* clang-format on */

static void refusals_name_file_and_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(refused); i++) {
        struct tide_deployment *d = NULL;
        struct tide_err err = { 0 };
        tide_status status = read_text(&d, refused[i].text, &err);
        if (status != TIDE_E_CONFIG || d || !strstr(err.text, refused[i].message) ||
            !strstr(err.text, path))
            fail_msg("%s: %s", refused[i].text, err.text);
    }
    struct tide_deployment *d = NULL;
    struct tide_err err = { 0 };
    assert_int_equal(tide_deployment_read(&d, "/nowhere", &err), TIDE_E_CONFIG);
}

static void a_full_table_finds_all_and_refuses_more(void **state)
{
    (void)state;
    struct tide_deployment *d = calloc(1, sizeof *d);
    struct tide_contract c = { .role = TIDE_ROLE_synth_token };
    for (uint32_t i = 0; i < TIDE_CONTRACTS_MAX; i++) {
        c.id[0] = (uint8_t)(i / 4 >> 8); /* four of a slot, so that they collide */
        c.id[1] = (uint8_t)(i / 4);
        c.id[5] = (uint8_t)i;
        assert_int_equal(tide_deployment_add(d, &c), TIDE_OK);
        assert_int_equal(tide_deployment_add(d, &c), TIDE_E_CONFLICT);
    }
    for (uint32_t i = 0; i < TIDE_CONTRACTS_MAX; i++) {
        c.id[0] = (uint8_t)(i / 4 >> 8);
        c.id[1] = (uint8_t)(i / 4);
        c.id[5] = (uint8_t)i;
        assert_ptr_equal(tide_deployment_find(d, c.id), &d->contracts[i]);
    }
    c.id[6] = 1;
    assert_null(tide_deployment_find(d, c.id));
    assert_int_equal(tide_deployment_add(d, &c), TIDE_E_LIMIT);
    free(d);
}

int test_deployment(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_follow_from_names),
        cmocka_unit_test(refusals_name_file_and_key),
        cmocka_unit_test(a_full_table_finds_all_and_refuses_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
