/* Recorded lakes of the real network with the names that its tools give, from TIDE_SHARED or
 * ../shared. Skipped where they are absent. */
#include "indexer/source/lake_layout.h"
#include "tests/unit/indexer/source/lake_fixture.h"

#include <unistd.h>

static char fixtures[400];

static void find_fixtures(void)
{
    const char *shared = getenv("TIDE_SHARED");
    if (shared)
        snprintf(fixtures, sizeof fixtures, "%s/fixtures/datalake", shared);
    else
        snprintf(fixtures, sizeof fixtures, "%s/../shared/fixtures/datalake", TIDE_SOURCE_DIR);
}

static void every_recorded_name_is_ours(void **state)
{
    (void)state;
    char path[512], key[128];
    snprintf(path, sizeof path, "%s/key-vectors.json", fixtures);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    uint32_t ledger, count = 0;
    struct lake_layout layout;
    char open[4];
    assert_int_equal(fscanf(file, " %3[[]", open), 1);
    while (fscanf(file,
                  " { \"ledger\": %u , \"ledgersPerBatch\": %u , \"batchesPerPartition\": %u ,"
                  " \"key\": \"%127[^\"]\" } ,",
                  &ledger, &layout.batch, &layout.partition, key) == 4) {
        char ours[TIDE_OBJECT_KEY_MAX];
        lake_layout_key(ours, &layout, ledger, 0);
        assert_string_equal(ours, key);
        count++;
    }
    fclose(file);
    assert_true(count > 20);
}

struct reading {
    struct tide_config config;
    struct tide_source source;
    struct tide_err err;
};

static void open_recorded(struct reading *r, const char *name, uint32_t first)
{
    tide_config_defaults(&r->config);
    snprintf(r->config.lake, sizeof r->config.lake, "%s/%s", fixtures, name);
    struct tide_source_options options = { .config = &r->config };
    if (tide_source_open(&r->source, &options, &r->err) ||
        r->source.ops->seek(r->source.self, first, 0, &r->err))
        fail_msg("%s: %s", name, r->err.text);
}

/* The first object of core-batch8 is named from ledger 0 and holds the ledgers from 2 on. */
static void a_core_lake_is_read_from_its_first_edge(void **state)
{
    (void)state;
    static struct reading r;
    open_recorded(&r, "core-batch8", 0);
    uint32_t first = 0, last = 0, count = 0;
    assert_int_equal(r.source.ops->range(r.source.self, &first, &last, &r.err), TIDE_OK);
    assert_int_equal(first, 2);
    assert_int_equal(last, 15);
    if (drain(&r.source, &count, &last, &r.err) != TIDE_E_EOF)
        fail_msg("%s", r.err.text);
    assert_int_equal(count, 14);
    assert_int_equal(last, 15);
    r.source.ops->close(r.source.self);
}

static void pubnet_objects_are_read_and_holes_named(void **state)
{
    (void)state;
    static const struct {
        uint32_t ledger;
        tide_status then;
    } rows[] = {
        { 51000294, TIDE_E_MISSING }, { 57500008, TIDE_E_MISSING }, { 63092988, TIDE_E_MISSING },
        { 63092990, TIDE_E_MISSING }, { 63092996, TIDE_E_EOF },
    };
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        static struct reading r;
        uint32_t count = 0, last = 0;
        open_recorded(&r, "pubnet-mini", rows[i].ledger);
        r.config.stop_at_end = true;
        tide_status status = drain(&r.source, &count, &last, &r.err);
        if (status != rows[i].then || count != 1 || last != rows[i].ledger)
            fail_msg("%u: %u ledgers, %s", rows[i].ledger, count, r.err.text);
        r.source.ops->close(r.source.self);
    }
}

static void an_old_object_without_folders_is_read(void **state)
{
    (void)state;
    static struct reading r;
    uint32_t count = 0, last = 0;
    open_recorded(&r, "original", 53312000);
    if (drain(&r.source, &count, &last, &r.err) != TIDE_E_EOF)
        fail_msg("%s", r.err.text);
    assert_int_equal(count, 1);
    assert_int_equal(last, 53312000);
    r.source.ops->close(r.source.self);
}

int test_lake_recorded(void)
{
    find_fixtures();
    if (access(fixtures, R_OK) != 0) {
        printf("%s is not there: skipped\n", fixtures);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recorded_name_is_ours),
        cmocka_unit_test(a_core_lake_is_read_from_its_first_edge),
        cmocka_unit_test(pubnet_objects_are_read_and_holes_named),
        cmocka_unit_test(an_old_object_without_folders_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
