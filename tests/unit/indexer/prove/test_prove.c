/* The prover: the checkpoint that is tried next, the order in which parts of proofs are collected,
 * and what it refuses to begin with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "indexer/prove/prover_impl.h"

#include <stdlib.h>

static void test_next_checkpoint(void **state)
{
    static const struct {
        uint32_t from, proven, used, next;
        const char *reason;
    } cases[] = {
        { 3, 0, 0, 63, "the first checkpoint proves an index from the network's first ledgers" },
        { 62, 0, 0, 63, "ledger 63 votes for 62" },
        { 63, 0, 0, 127, "no ledger of this checkpoint votes for an indexed one" },
        { 64, 0, 0, 127, "the first ledger of a checkpoint" },
        { 3, 62, 63, 127, "the newest ledger that a checkpoint can prove" },
        { 3, 40, 63, 127, "an older ledger of a checkpoint, which was used" },
        { 3, 63, 127, 191, "the vote for a checkpoint's last ledger is in the next one" },
        { 63, 63, 0, 127, "the index began with this checkpoint: its proof may prove more" },
        { 3, 40, 0, 63, "after a restart the same votes are read once more" },
    };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        const struct proving p = { .from = cases[i].from,
                                   .proven = cases[i].proven,
                                   .used = cases[i].used };
        if (prove_next(&p) != cases[i].next)
            fail_msg("%s: %u", cases[i].reason, prove_next(&p));
    }
}

static void test_due(void **state)
{
    static const struct {
        struct proving p;
        uint32_t indexed;
        bool due;
        const char *reason;
    } cases[] = {
        { { .from = 3, .to = 60 }, 62, false, "the checkpoint is not indexed" },
        { { .from = 3, .to = 60 }, 63, true, "the checkpoint is indexed" },
        { { .from = 3, .to = 63, .proven = 62, .used = 63 }, 126, false, "the next is not" },
        { { .from = 3, .to = 63, .proven = 62, .used = 63 }, 127, true, "the next is" },
        { { .from = 3, .to = 60 }, 59, true, "the server lost ledgers" },
        { { .from = 0 }, 0, false, "nothing is indexed" },
        { { .from = 0 }, 3, true, "the first ledger is indexed" },
        { { .from = 3, .to = 64, .asked = true }, 64, true, "an archive lacks the checkpoint" },
        { { .from = 3, .to = 64, .proven = 62, .used = 63, .asked = true }, 64, false, "proven" },
        { { .from = 3, .to = 60, .failing = true }, 60, true, "the database failed" },
        { { .from = 3, .to = 60, .parts = { .at = 9 } }, 60, true, "parts are to be collected" },
    };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++)
        if (prove_due(&cases[i].p, cases[i].indexed) != cases[i].due)
            fail_msg("%s", cases[i].reason);
}

static void test_kept_ledgers(void **state)
{
    static const struct {
        uint32_t from, to, ledgers, oldest;
    } cases[] = {
        { 3, 100, UINT32_MAX, 3 }, { 3, 100, 98, 3 }, { 3, 100, 97, 4 }, { 3, 100, 1, 100 }
    };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct proving p = { .from = cases[i].from, .to = cases[i].to };
        p.config.proof_ledgers = cases[i].ledgers;
        assert_int_equal(prove_oldest_kept(&p), cases[i].oldest);
    }
}

/* Sweeps as if every window had a ledger without parts. Returns how many statements that takes. */
static uint32_t sweep_windows(struct proof_parts *parts)
{
    uint32_t count = 0, lowest = UINT32_MAX;
    for (; parts->at; count++) {
        assert_true(parts->at < lowest); /* downwards, and never around the end of the numbers */
        assert_true(parts->floor <= sweep_from(parts) && sweep_from(parts) <= parts->at);
        lowest = parts->at;
        sweep_on(parts, sweep_window_first(checkpoint_of(parts->at + 1)));
    }
    return count;
}

static void test_sweep_of_first_checkpoint(void **state)
{
    (void)state;
    struct proof_parts parts = { 0 };
    sweep_begin(&parts, 126, 1);
    assert_int_equal(sweep_windows(&parts), 2); /* ledgers 63 to 126, 1 to 62 */
    assert_int_equal(sweep_window_first(63), 0);
    assert_int_equal(sweep_window_first(127), 63);
}

static void test_sweep_goes_on(void **state)
{
    (void)state;
    struct proof_parts parts = { 0 };
    sweep_begin(&parts, 1000, 3);
    assert_int_equal(parts.floor, 3);
    sweep_windows(&parts);
    sweep_begin(&parts, 1064, 3);
    assert_int_equal(parts.floor, 1001); /* the next sweep begins after the last one */
    assert_int_equal(sweep_windows(&parts), 2);
    parts.missing = true;
    sweep_begin(&parts, 1128, 900);
    assert_int_equal(parts.floor, 900);
    assert_false(parts.missing);
    sweep_windows(&parts);
    sweep_begin(&parts, 1000, 900); /* the server lost newer proofs */
    assert_int_equal(parts.floor, 900);
    sweep_windows(&parts);
    sweep_begin(&parts, 1064, 1100); /* nothing that is proven is young enough to be kept */
    assert_int_equal(parts.at, 0);
}

static void test_sweep_without_transactions(void **state)
{
    enum { NEWEST = 5000000 };
    uint32_t statements = 0;
    (void)state;
    struct proof_parts parts = { 0 };
    sweep_begin(&parts, NEWEST, 2);
    for (; parts.at; statements++)
        sweep_on(&parts, sweep_from(&parts));
    assert_in_range(statements, NEWEST / 16384, NEWEST / 16384 + 1);
}

static void test_refused(void **state)
{
    (void)state;
    struct tide_err err;
    struct tide_prover *prover;
    struct tide_config *config = calloc(1, sizeof *config);
    struct tide_deployment *deployment = calloc(1, sizeof *deployment);
    assert_non_null(config);
    assert_non_null(deployment);
    deployment->id = 1;
    snprintf(config->archive, sizeof config->archive, "/nowhere");
    assert_int_equal(tide_prover_open(&prover, config, deployment, &err), TIDE_E_CONFIG);
    assert_non_null(strstr(err.text, "`validators` is missing"));
    assert_null(prover);
    deployment->quorum = (struct tide_quorum){ .count = 1, .set_count = 1 };
    snprintf(config->archive, sizeof config->archive, "ftp://example.org/a");
    assert_int_equal(tide_prover_open(&prover, config, deployment, &err), TIDE_E_CONFIG);
    assert_null(prover);
    free(config);
    free(deployment);
}

/* Without `archive` there is no prover. */
static void test_no_prover(void **state)
{
    (void)state;
    struct tide_err err;
    assert_int_equal(tide_prover_check(NULL, 1, &err), TIDE_OK);
    assert_int_equal(tide_prover_finish(NULL, &err), TIDE_OK);
    tide_prover_close(NULL);
}

int test_prove(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next_checkpoint), cmocka_unit_test(test_due),
        cmocka_unit_test(test_kept_ledgers),    cmocka_unit_test(test_sweep_of_first_checkpoint),
        cmocka_unit_test(test_sweep_goes_on),   cmocka_unit_test(test_sweep_without_transactions),
        cmocka_unit_test(test_refused),         cmocka_unit_test(test_no_prover),
    };
    return cmocka_run_group_tests_name("prove", tests, NULL, NULL);
}
