/* Names of a lake's objects, made and parsed; .config.json. */
#include "indexer/source/lake_layout.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* clang-format off */
static const struct {
    uint32_t batch, partition, ledger;
    const char *key;
} keys[] = {
    { 1,  64000, 63092996,    "FC3E15FF--63040000-63103999/FC3D46FB--63092996.xdr.zst" },
    { 1,  64000, 2,           "FFFFFFFF--0-63999/FFFFFFFD--2.xdr.zst"                  },
    { 1,  1,     2,           "FFFFFFFD--2.xdr.zst"                                    },
    { 2,  8,     2,           "FFFFFFFF--0-15/FFFFFFFD--2-3.xdr.zst"                   },
    { 2,  8,     16,          "FFFFFFEF--16-31/FFFFFFEF--16-17.xdr.zst"                },
    { 64, 10,    63,          "FFFFFFFF--0-639/FFFFFFFF--0-63.xdr.zst"                 },
    { 10, 1,     9,           "FFFFFFFF--0-9.xdr.zst"                                  },
    { 8,  2,     15,          "FFFFFFFF--0-15/FFFFFFF7--8-15.xdr.zst"                  },
    { 64, 1000,  3010687,     "FFD219FF--3008000-3071999/FFD20FBF--3010624-3010687.xdr.zst" },
};
static const struct {
    const char *name;
    bool good;
    const char *why;
} names[] = {
    { "FFFFFFF7--8-15.xdr.zst",   true,  "file"                    },
    { "FFFFFFF7--8-15.xdr.zstd",  true,  "older extension"         },
    { "FFFFFFF7--8.xdr.zst",      true,  "one ledger"              },
    { "FFFFFFFF--0-15",           true,  "folder"                  },
    { "FFFFFFFF--0",              false, "folder without an end"   },
    { "FFFFFFF6--8-15.xdr.zst",   false, "prefix of another start" },
    { "FFFFFFF7--8-7.xdr.zst",    false, "ends before it begins"   },
    { "FFFFFFF7--8-15.xdr",       false, "not compressed"          },
    { "FFFFFFF7--8-15.xdr.zst.x", false, "temporary file"          },
    { "FFFFFFF7-8-15.xdr.zst",    false, "one dash"                },
    { ".config.json",             false, "something else"          },
};
static const struct {
    const char *json;
    tide_status want;
    const char *message;
} configs[] = {
    { "{\"networkPassphrase\":\"p\",\"version\":\"1.0\",\"compression\":\"zstd\",\"ledgersPerBatch\":8,\"batchesPerPartition\":2}", TIDE_OK, NULL },
    { "{\"networkPassphrase\":\"p\",\"ledgersPerBatch\":8,\"batchesPerPartition\":2,\"more\":[]}", TIDE_OK, NULL },
    { "{\"networkPassphrase\":\"p\",\"compression\":\"gzip\",\"ledgersPerBatch\":8,\"batchesPerPartition\":2}", TIDE_E_CONFIG, "gzip" },
    { "{\"networkPassphrase\":\"p\",\"ledgersPerBatch\":0,\"batchesPerPartition\":2}", TIDE_E_CONFIG, "ledgersPerBatch" },
    { "{\"networkPassphrase\":\"p\",\"ledgersPerBatch\":8}", TIDE_E_CONFIG, "batchesPerPartition" },
    { "{\"ledgersPerBatch\":8,\"batchesPerPartition\":2}",   TIDE_E_CONFIG, "networkPassphrase" },
    { "[]",                                                  TIDE_E_CONFIG, "object" },
    { "{\"ledgersPerBatch\":8",                              TIDE_E_CONFIG, "line 1" },
    { "",                                                    TIDE_E_CONFIG, "line" },
};
static const struct {
    const char *folder, *file;
    uint32_t batch, partition;
} lakes[] = {
    { NULL,               "FFFFFFF7--8-15.xdr.zst",         8, 1 },
    { "FFFFFFFF--0-15",   "FFFFFFF7--8-15.xdr.zst",         8, 2 },
    { "FFFFFFFF--0-9",    "FFFFFFFF--0-99.xdr.zst",         0, 0 }, /* an object larger than its folder */
    { "FFFFFFFF--0-15",   "FFFFFFFF--0-9.xdr.zst",          0, 0 }, /* a part of an object */
    { "FFFFFFFF--0-15",   "FFFFFFFF--0-4294967295.xdr.zst", 0, 0 }, /* more ledgers than 32 bits count */
    { NULL,               "FFFFFFFF--0-4294967295.xdr.zst", 0, 0 },
};
/* clang-format on */

static void keys_are_named_as_the_lake_names_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(keys); i++) {
        struct lake_layout layout = { keys[i].batch, keys[i].partition };
        char key[TIDE_OBJECT_KEY_MAX];
        lake_layout_key(key, &layout, keys[i].ledger, 0);
        assert_string_equal(key, keys[i].key);
        lake_layout_key(key, &layout, keys[i].ledger, 1);
        assert_memory_equal(key, keys[i].key, strlen(keys[i].key));
        assert_string_equal(key + strlen(keys[i].key), "d");
        const char *file = strrchr(keys[i].key, '/');
        struct lake_name name;
        assert_true(lake_layout_parse(&name, file ? file + 1 : keys[i].key));
        assert_int_equal(name.first, lake_layout_start(&layout, keys[i].ledger));
        assert_false(name.folder);
    }
}

static void names_that_disagree_with_themselves_are_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(names); i++) {
        struct lake_name name;
        if (lake_layout_parse(&name, names[i].name) != names[i].good)
            fail_msg("%s: %s", names[i].name, names[i].why);
    }
}

static void config_is_read_or_refused_by_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(configs); i++) {
        struct lake_layout layout = { 0 };
        char passphrase[256];
        struct tide_err err = { 0 };
        tide_status status =
            lake_config_parse(&layout, passphrase, tide_slice_str(configs[i].json), &err);
        if (status != configs[i].want || (status && !strstr(err.text, configs[i].message)))
            fail_msg("%s: %s", configs[i].json, err.text);
        if (status)
            continue;
        assert_int_equal(layout.batch, 8);
        assert_int_equal(layout.partition, 2);
        assert_string_equal(passphrase, "p");
    }
}

/* Lists one object, in a folder or at the root. self is the index in lakes. */
static tide_status list_lake(void *self, const char *folder, object_name each, void *each_self,
                             struct tide_err *err)
{
    size_t i = *(const size_t *)self;
    (void)err;
    if (lakes[i].folder && !*folder)
        (void)each(each_self, lakes[i].folder);
    else
        (void)each(each_self, lakes[i].file);
    return TIDE_OK;
}

static void a_layout_follows_from_names_that_fit_together(void **state)
{
    static const struct object_store_ops ops = { .list = list_lake };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(lakes); i++) {
        const struct object_store store = { &ops, &i, "lake" };
        struct lake_listing listing;
        struct tide_err err;
        assert_int_equal(lake_layout_list(&listing, &store, &err), TIDE_OK);
        assert_int_equal(listing.layout.batch, lakes[i].batch);
        assert_int_equal(listing.layout.partition, lakes[i].partition);
        assert_int_equal(listing.last, lakes[i].batch ? 15 : 0);
    }
}

int test_lake_layout(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_named_as_the_lake_names_them),
        cmocka_unit_test(names_that_disagree_with_themselves_are_none),
        cmocka_unit_test(config_is_read_or_refused_by_key),
        cmocka_unit_test(a_layout_follows_from_names_that_fit_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
