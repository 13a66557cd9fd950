/* SQL statements into which the deployment's contracts are inserted as a condition on each
 * table. */
#include "tidemark/bound.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROLES                                                                                     \
    "bound_roles AS MATERIALIZED (SELECT max(j.address) FILTER (WHERE j.role = 'liquidity_pool')" \
    " AS liquidity_pool"

static char *bound_text(const char *sql)
{
    struct tide_buf out;
    tide_buf_init(&out, 1 << 16);
    tide_bound_write(&out, sql);
    assert_false(out.failed);
    char *text = strdup((const char *)out.ptr);
    if (!text)
        abort();
    tide_buf_release(&out);
    return text;
}

static void has(const char *sql, const char *part)
{
    char *text = bound_text(sql);
    if (!strstr(text, part))
        fail_msg("%s: no \"%s\" in %s", sql, part, text);
    free(text);
}

static void is(const char *sql, const char *want)
{
    char *text = bound_text(sql);
    assert_string_equal(text, want);
    free(text);
}

static void a_role_s_table_has_its_contract(void **state)
{
    (void)state;
    has("SELECT 1 FROM state.oracle_feed AS f WHERE f.deployment = $1", "WITH " ROLES);
    has("SELECT 1 FROM state.oracle_feed AS f WHERE f.deployment = $1",
        " SELECT 1 FROM (state.oracle_feed AS f JOIN (SELECT) AS f_bound ON f.contract ="
        " (SELECT r.oracle FROM bound_roles AS r)) WHERE f.deployment = $1");
    has("SELECT 1 FROM history.oracle_feed WHERE deployment = $1",
        "(history.oracle_feed AS oracle_feed JOIN (SELECT) AS oracle_feed_bound ON"
        " oracle_feed.contract_key = (SELECT chain.word_key(r.oracle) FROM bound_roles AS r))");
    has("SELECT 1 FROM e,\n event.liquidity_pool_swap AS y",
        "FROM e,\n (event.liquidity_pool_swap AS y JOIN (SELECT) AS y_bound ON y.contract_key =");
    has("SELECT 1 FROM e LEFT JOIN state.dao_governance_proposal AS p ON true",
        "LEFT JOIN (state.dao_governance_proposal AS p JOIN (SELECT) AS p_bound ON p.contract ="
        " (SELECT r.dao_governance FROM bound_roles AS r)) ON true");
}

static void others_have_those_that_are_followed(void **state)
{
    (void)state;
    has("SELECT 1 FROM event.log AS l",
        "l.contract_key = ANY ((SELECT f.keys FROM bound_followed AS"
        " f)::integer[])");
    has("SELECT 1 FROM chain.call AS c",
        "(chain.call AS c JOIN (SELECT) AS c_bound ON c.contract_key");
    has("SELECT 1 FROM state.synth_token_balance AS b", "b.contract = ANY (");
    has("SELECT 1 FROM event.raw AS r", "r.contract_key = ANY (");
}

static void the_rest_stays_as_it_is(void **state)
{
    (void)state;
    is("SELECT ledger FROM chain.ledger AS l", "SELECT ledger FROM chain.ledger AS l");
    is("SELECT chain.call_count(1) FROM chain.calls AS c",
       "SELECT chain.call_count(1) FROM chain.calls AS c");
    is("WITH a AS (SELECT 1) SELECT 'state.oracle_feed' FROM a",
       "WITH a AS (SELECT 1) SELECT 'state.oracle_feed' FROM a");
    is("-- list: deployment\n-- over state.oracle_feed\nSELECT 1",
       "-- list: deployment\n-- over state.oracle_feed\nSELECT 1");
}

static void what_a_statement_had_before_comes_after(void **state)
{
    (void)state;
    char *text =
        bound_text("-- one: deployment\n-- none: x\nWITH a AS (SELECT 1 FROM event.log AS l,"
                   " state.oracle_feed AS f) SELECT 1");
    static const char head[] = "-- one: deployment\n-- none: x\nWITH bound_roles";
    assert_int_equal(strncmp(text, head, sizeof head - 1), 0);
    assert_non_null(strstr(text, "), bound_followed AS MATERIALIZED ("));
    assert_non_null(strstr(text, " AS contracts) AS f), a AS (SELECT 1 FROM (event.log AS l JOIN"));
    free(text);
}

int test_bound(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_role_s_table_has_its_contract),
        cmocka_unit_test(others_have_those_that_are_followed),
        cmocka_unit_test(the_rest_stays_as_it_is),
        cmocka_unit_test(what_a_statement_had_before_comes_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
