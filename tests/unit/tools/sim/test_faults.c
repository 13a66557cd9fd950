/* Faults that the simulator makes on purpose: their text, when they apply, how often. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tools/sim/rpc/faults.h"

static struct sim_faults *with(const char *text)
{
    struct tide_err err;
    struct sim_faults *faults;
    assert_int_equal(sim_faults_open(&faults, &err), TIDE_OK);
    assert_int_equal(sim_faults_add(faults, tide_slice_str(text), &err), TIDE_OK);
    return faults;
}

static bool strikes(struct sim_faults *faults, const char *method, enum sim_fault_kind kind)
{
    struct sim_fault_hit hit;
    sim_faults_match(faults, method, &hit);
    return sim_fault_on(&hit, kind);
}

static void from_and_count(void **state)
{
    (void)state;
    static const bool want[] = { false, false, true, true, false, false };
    struct sim_faults *faults = with("getLedgers=status:503@3x2");
    for (size_t i = 0; i < TIDE_COUNT(want); i++) {
        assert_false(strikes(faults, "getHealth", SIM_FAULT_STATUS));
        assert_int_equal(strikes(faults, "getLedgers", SIM_FAULT_STATUS), want[i]);
    }
    sim_faults_close(faults);
}

static void star_is_rpc(void **state)
{
    (void)state;
    struct sim_faults *faults = with("*=hang");
    assert_true(strikes(faults, "getLedgers", SIM_FAULT_HANG));
    assert_true(strikes(faults, "getFeeStats", SIM_FAULT_HANG));
    sim_faults_clear(faults);
    assert_false(strikes(faults, "getLedgers", SIM_FAULT_HANG));
    sim_faults_close(faults);
}

static void arguments(void **state)
{
    (void)state;
    struct sim_fault_hit hit;
    struct sim_faults *faults = with("sendTransaction=rpc-error:-32603 at 5x x2");
    sim_faults_match(faults, "sendTransaction", &hit);
    assert_string_equal(hit.text, "-32603 at 5x ");
    sim_faults_close(faults);
    faults = with("getLedgers=gap:1050x1");
    sim_faults_match(faults, "getLedgers", &hit);
    assert_int_equal(hit.number[SIM_FAULT_GAP], 1050);
    /* the fault is offered until a request has its ledger */
    sim_faults_match(faults, "getLedgers", &hit);
    assert_true(sim_faults_strike(faults, &hit, SIM_FAULT_GAP));
    assert_false(sim_faults_strike(faults, &hit, SIM_FAULT_GAP));
    assert_false(strikes(faults, "getLedgers", SIM_FAULT_GAP));
    sim_faults_close(faults);
}

static void several_at_once(void **state)
{
    (void)state;
    struct tide_err err;
    struct sim_fault_hit hit;
    struct sim_faults *faults = with("getLedgers=delay:5x1");
    assert_int_equal(sim_faults_add(faults, TIDE_SLICE("*=delay:7"), &err), TIDE_OK);
    assert_int_equal(sim_faults_add(faults, TIDE_SLICE("getLedgers=lag:2"), &err), TIDE_OK);
    sim_faults_match(faults, "getLedgers", &hit);
    assert_int_equal(hit.number[SIM_FAULT_DELAY], 5); /* the first of a kind */
    assert_int_equal(hit.number[SIM_FAULT_LAG], 2);
    sim_faults_match(faults, "getLedgers", &hit);
    assert_int_equal(hit.number[SIM_FAULT_DELAY], 7);
    sim_faults_close(faults);
}

static void refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "getLedgers",
        "getLedgers=",
        "=hang",
        "x=hang",
        "getLedgers=x",
        "getLedgers=hang:",
        "getLedgers=delay",
        "getHealth=gap",
        "getEvents=reverse",
        "getLedgers=delay:-1",
        "*=close:x",
        "*=status:600",
        "*=rpc-error:-1",
        "*=rpc-error:text",
        "*=delay:",
        "getLedgers=gap:",
        "getHealth=delay:1x",
        "getNetwork=lag:1",
    };
    struct tide_err err;
    struct tide_buf json;
    struct sim_faults *faults;
    assert_int_equal(sim_faults_open(&faults, &err), TIDE_OK);
    for (size_t i = 0; i < TIDE_COUNT(wrong); i++) {
        err.text[0] = 0;
        assert_int_equal(sim_faults_add(faults, tide_slice_str(wrong[i]), &err), TIDE_E_USAGE);
        assert_int_not_equal(err.text[0], 0);
    }
    tide_buf_init(&json, 4096);
    sim_faults_list(faults, &json);
    assert_true(tide_slice_eq_str(tide_buf_view(&json), "[]\n"));
    tide_buf_release(&json);
    for (int i = 0; i < 64; i++)
        assert_int_equal(sim_faults_add(faults, TIDE_SLICE("*=hang"), &err), TIDE_OK);
    assert_int_equal(sim_faults_add(faults, TIDE_SLICE("*=hang"), &err), TIDE_E_LIMIT);
    sim_faults_close(faults);
}

int test_faults(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_and_count), cmocka_unit_test(star_is_rpc),
        cmocka_unit_test(arguments),      cmocka_unit_test(several_at_once),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
