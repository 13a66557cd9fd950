/* Damaged cache files: reliability scenarios L5 to L8. Each damage is found before the file is
 * mapped; the files are then moved aside and the cache is rebuilt. */
#include "tests/unit/schema/hot/hot_world.h"

/* Opens the cache again after the damage. The open must fail with `wanted`, the feeder must move
 * the files aside and rebuild the cache, and this process must survive. */
static void expect_rebuilt(struct world *w, tide_status wanted)
{
    struct tide_hot_stats stats;
    const struct tide_hot_meta *meta;
    open_cache(w, 0, 0);
    tide_status got = tide_hot_refresh(w->hot, &w->err);
    assert_int_equal(got, wanted);
    print_message("   %s\n", w->err.text);
    assert_int_equal(tide_hot_begin(w->reader, &meta, &w->err), TIDE_E_MISSING);
    be_feeder(w);
    OK(tide_hot_discard(w->hot, "test", &w->err));
    build_cache(w);
    expect_people(w, &population);
    tide_hot_stats(w->hot, &stats);
    assert_int_equal(stats.moved_aside, 1);
    close_cache(w);
}

static void test_l5_truncated(void **state)
{
    struct world *w = *state;
    char path[256];
    struct stat found;
    static const int eighths[] = { 7, 4, 1 };
    open_cache(w, 0, 0);
    build_cache(w);
    close_cache(w);
    for (size_t i = 0; i < TIDE_COUNT(eighths); i++) {
        file_of(path, w, "data.mdb");
        assert_int_equal(stat(path, &found), 0);
        assert_int_equal(truncate(path, found.st_size * eighths[i] / 8 / 4096 * 4096), 0);
        expect_rebuilt(w, TIDE_E_DECODE);
    }
    file_of(path, w, "data.mdb");
    assert_int_equal(truncate(path, 0), 0);
    expect_rebuilt(w, TIDE_E_DECODE);
    print_message("ok L5 truncated: found in a child, moved aside, rebuilt\n");
}

static void garble(const char *path, off_t from, size_t len, uint32_t seed)
{
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    uint8_t *bytes = malloc(len);
    if (!bytes)
        abort();
    for (size_t i = 0; i < len; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(seed >> 24);
    }
    assert_int_equal(pwrite(fd, bytes, len, from), (ssize_t)len);
    free(bytes);
    close(fd);
}

static void test_l6_garbage_pages(void **state)
{
    struct world *w = *state;
    char path[256];
    struct stat found;
    open_cache(w, 0, 0);
    build_cache(w);
    close_cache(w);
    for (uint32_t seed = 1; seed <= 8; seed++) {
        file_of(path, w, "data.mdb");
        assert_int_equal(stat(path, &found), 0);
        /* first all pages after the meta pages, then every seventh */
        for (off_t page = 2 + (off_t)seed; page < found.st_size / 4096; page += seed == 1 ? 1 : 7)
            garble(path, page * 4096, 4096, seed + (uint32_t)page);
        expect_rebuilt(w, TIDE_E_DECODE);
    }
    print_message("ok L6 garbage pages: found in a child, moved aside, rebuilt\n");
}

/* One bit of a record is changed: the page's structure is valid, and only the checksum reveals the
 * change. */
static void test_l6_one_bit(void **state)
{
    struct world *w = *state;
    char path[256];
    struct stat found;
    uint32_t tried = 0;
    open_cache(w, 0, 0);
    build_cache(w);
    close_cache(w);
    file_of(path, w, "data.mdb");
    assert_int_equal(stat(path, &found), 0);
    int fd = open(path, O_RDWR);
    uint8_t *all = malloc((size_t)found.st_size);
    assert_int_equal(read(fd, all, (size_t)found.st_size), found.st_size);
    struct tide_hot_address a = address_of(1234);
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_PERSON, &a);
    for (size_t at = 2 * 4096; at + key.len + 40 < (size_t)found.st_size; at++) {
        if (memcmp(all + at, key.bytes, key.len) != 0)
            continue;
        uint8_t flipped = all[at + key.len + 24] ^ 1;
        assert_int_equal(pwrite(fd, &flipped, 1, (off_t)(at + key.len + 24)), 1);
        tried++;
    }
    close(fd);
    free(all);
    assert_true(tried > 0);
    expect_rebuilt(w, TIDE_E_DECODE);
    print_message("ok L6 one flipped bit: the record's checksum says it\n");
}

static void test_l7_garbage_meta(void **state)
{
    struct world *w = *state;
    char path[256];
    open_cache(w, 0, 0);
    build_cache(w);
    close_cache(w);
    file_of(path, w, "data.mdb");
    garble(path, 0, 2 * 4096, 5);
    expect_rebuilt(w, TIDE_E_DECODE);
    print_message("ok L7 garbage meta: refused, moved aside, rebuilt\n");
}

static void set_version(const char *path, uint32_t version)
{
    enum { PAGE_HEADER = 16, MAGIC = 4 };
    int fd = open(path, O_RDWR);
    for (int page = 0; page < 2; page++)
        assert_int_equal(pwrite(fd, &version, 4, page * 4096 + PAGE_HEADER + MAGIC), 4);
    close(fd);
}

static void test_l8_foreign(void **state)
{
    struct world *w = *state;
    char path[256];
    open_cache(w, 0, 0);
    build_cache(w);
    close_cache(w);
    file_of(path, w, "data.mdb");
    set_version(path, 999);
    expect_rebuilt(w, TIDE_E_SCHEMA);
    file_of(path, w, "data.mdb");
    assert_int_equal(unlink(path), 0);
    expect_rebuilt(w, TIDE_E_MISSING);
    file_of(path, w, "lock.mdb");
    assert_int_equal(unlink(path), 0);
    open_cache(w, 0, 0);
    OK(tide_hot_refresh(w->hot, &w->err)); /* a missing lock file is made anew */
    expect_people(w, &population);
    close_cache(w);
    file_of(path, w, "lock.mdb");
    garble(path, 0, 4096, 3);
    open_cache(w, 0, 0);
    OK(tide_hot_refresh(w->hot, &w->err)); /* a stale lock file is made anew, too */
    expect_people(w, &population);
    print_message("ok L8 foreign: another version and a missing file are rebuilt, a lock file is "
                  "made anew\n");
}

/* Root may write everywhere, so the test runs as another user. */
static void test_l8_not_ours(void **state)
{
    struct world *w = *state;
    int how;
    open_cache(w, 0, 0);
    build_cache(w);
    close_cache(w);
    if (getuid() != 0) {
        assert_int_equal(chmod(w->dir, 0500), 0);
    }
    pid_t child = fork();
    if (child == 0) {
        struct tide_hot *hot;
        struct tide_hot_options options = { .dir = w->dir };
        if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        tide_status status = tide_hot_open(&hot, &options, &w->err);
        bool said = strstr(w->err.text, "must belong to the user of the API") != NULL;
        _exit(status == TIDE_E_IO && said ? 0 : 1);
    }
    waitpid(child, &how, 0);
    assert_int_equal(how, 0);
    print_message("ok L8 not ours: refused with what to do\n");
}

int test_hot_damage(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_l5_truncated),    TEST(test_l6_garbage_pages), TEST(test_l6_one_bit),
        TEST(test_l7_garbage_meta), TEST(test_l8_foreign),       TEST(test_l8_not_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
