/* The tip chooses between arrays and COPY, and keeps its statements for one server session. */
#include "indexer/write/tip/tip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct write_plan plan = { .partition_ledgers = 100 };

static void many_rows_go_by_copy(void **state)
{
    static struct tide_batch batch;
    const struct write_tip tip = { .array_bytes = 30 };
    (void)state;
    tide_batch_init(&batch);
    assert_false(write_tip_copies(&tip, &batch));
    tide_buf_put(&batch.rows[0].copy, "0123456789", 10);
    tide_buf_put(&batch.rows[TIDE_TABLES_MAX - 1].copy, "01234567890123456789", 20);
    assert_false(write_tip_copies(&tip, &batch)); /* 30 bytes of all tables fit */
    tide_buf_put(&batch.rows[1].copy, "0", 1);
    assert_true(write_tip_copies(&tip, &batch));
    tide_batch_release(&batch);
}

static void new_server_session_has_no_statements(void **state)
{
    static struct write_statements st;
    struct write_session s;
    struct tide_err err;
    (void)state;
    write_session_init(&s, &plan, WRITE_OWNER_WRITER);
    write_statements_init(&st, &s, NULL, NULL);
    s.number = 1;
    assert_int_equal(write_statements_begin(&st, 0, &err), TIDE_OK);
    st.known.batches =
        2; /* no power of two follows: plans are not discarded, which needs a server */
    st.known.prepared[WRITE_PUT][3] = st.known.covers[1] = st.known.folds[2] = true;
    st.known.shapes[3].oid = 16385;
    assert_int_equal(write_statements_begin(&st, WRITE_NO_PUTS, &err), TIDE_OK);
    assert_true(st.known.prepared[WRITE_PUT][3]); /* the same session: nothing is forgotten */
    s.number = 2;
    st.known.unsure = true;
    assert_int_equal(write_statements_begin(&st, WRITE_NO_PUTS, &err), TIDE_OK);
    assert_false(st.known.prepared[WRITE_PUT][3] || st.known.covers[1] || st.known.folds[2]);
    assert_false(st.known.unsure);
    assert_int_equal(st.known.shapes[3].oid, 0);
    assert_int_equal(st.number, 2);
    write_statements_release(&st);
    write_session_close(&s);
}

int test_write_tip(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_rows_go_by_copy),
        cmocka_unit_test(new_server_session_has_no_statements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
