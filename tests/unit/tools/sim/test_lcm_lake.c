/* Names and contents of lake objects, and resuming a lake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <unistd.h>

#include "tidemark/xdr.h"
#include "tools/sim/ledger/lake_write.h"

/* clang-format off */
static const struct {
    uint32_t batch;
    uint32_t partition;
    uint32_t ledger;
    const char *key;
    const char *why;
} keys[] = {
    { 1, 64000, 63092996, "FC3E15FF--63040000-63103999/FC3D46FB--63092996.xdr.zst", "public lake" },
    { 64, 1000, 3009984,  "FFD219FF--3008000-3071999/FFD2123F--3009984-3010047.xdr.zst", "batches" },
    { 64, 1000, 3010047,  "FFD219FF--3008000-3071999/FFD2123F--3009984-3010047.xdr.zst", "last of it" },
    { 8, 1, 2,            "FFFFFFFF--0-7.xdr.zst", "no partitions, the first object" },
    { 1, 1, 3,            "FFFFFFFC--3.xdr.zst", "nothing but ledgers" },
};
/* clang-format on */

static void a_ledger_has_one_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(keys); i++) {
        struct lake_options options = { .ledgers_per_object = keys[i].batch,
                                        .objects_per_partition = keys[i].partition };
        struct tide_buf path;
        tide_buf_init(&path, 256);
        lake_key(&path, &options, keys[i].ledger);
        tide_buf_u8(&path, 0);
        assert_string_equal((char *)path.ptr, keys[i].key);
        tide_buf_release(&path);
    }
}

static char folder[] = "/tmp/tide-lake-XXXXXX";

static struct lake_options options_of(const char *dir)
{
    return (struct lake_options){ .dir = dir,
                                  .passphrase = "Test",
                                  .ledgers_per_object = 4,
                                  .objects_per_partition = 2,
                                  .level = 1 };
}

static void put_run(struct lake_write *lake, uint32_t from, uint32_t to, char mark,
                    tide_status want)
{
    struct tide_err err;
    tide_status status = TIDE_OK;
    for (uint32_t i = from; i <= to && status == TIDE_OK; i++) {
        char bytes[4] = { mark, (char)i, 0, 0 };
        status = lake_put(lake, i, tide_slice_of(bytes, sizeof bytes), &err);
    }
    assert_int_equal(status, want);
}

static void a_lake_goes_on_where_it_ended(void **state)
{
    (void)state;
    struct lake_write lake;
    struct tide_err err;
    uint32_t last = 0;
    assert_non_null(mkdtemp(folder));
    struct lake_options options = options_of(folder);
    assert_int_equal(lake_open(&lake, &options, &err), TIDE_OK);
    put_run(&lake, 5, 17, 'x', TIDE_OK);
    assert_false(lake_whole(&lake));
    assert_int_equal(lake_close(&lake, &err), TIDE_OK);

    assert_int_equal(lake_open(&lake, &options, &err), TIDE_OK);
    assert_int_equal(lake_last(&lake, &last, &err), TIDE_OK);
    assert_int_equal(last, 15);
    lake.skip_to = last;
    put_run(&lake, 5, 19, 'x', TIDE_OK);
    assert_true(lake_whole(&lake));
    assert_int_equal(lake_last(&lake, &last, &err), TIDE_OK);
    assert_int_equal(last, 19);
    assert_int_equal(lake_close(&lake, &err), TIDE_OK);

    assert_int_equal(lake_open(&lake, &options, &err), TIDE_OK);
    lake.skip_to = last;
    put_run(&lake, 5, 23, 'y', TIDE_E_CONFLICT);
    assert_int_equal(lake_close(&lake, &err), TIDE_OK);
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command); /* NOLINT(cert-env33-c): our own temporary folder */
}

int test_lcm_lake(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ledger_has_one_key),
        cmocka_unit_test_teardown(a_lake_goes_on_where_it_ended, remove_folder),
    };
    return cmocka_run_group_tests_name("lcm_lake", tests, NULL, NULL);
}
