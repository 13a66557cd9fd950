/* The hot cache: reading and writing, one feeder, generations, and reliability scenarios L1 to L4
 * with real LMDB files and killed children. */
#include "tests/unit/schema/hot/hot_world.h"

static void test_reads_what_was_written(void **state)
{
    struct world *w = *state;
    const struct tide_hot_meta *meta;
    open_cache(w, 0, 0);
    assert_int_equal(tide_hot_refresh(w->hot, &w->err), TIDE_E_MISSING);
    assert_int_equal(tide_hot_begin(w->reader, &meta, &w->err), TIDE_E_MISSING);
    build_cache(w);
    expect_people(w, &population);
    struct people changed = { 10, 5, 3, 8 };
    OK(tide_hot_update(w->hot, put_people, &changed, &w->err));
    expect_people(w, &changed);
    struct people rest = { 15, 2985, 2, 8 };
    expect_people(w, &rest);
    close_cache(w);
    open_cache(w, 0, 0); /* and from disk, after the check */
    OK(tide_hot_refresh(w->hot, &w->err));
    expect_people(w, &changed);
}

static void test_snapshot_stands_still(void **state)
{
    struct world *w = *state;
    const struct tide_hot_meta *meta;
    struct tide_hot_address a = address_of(0);
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_PERSON, &a);
    open_cache(w, 0, 0);
    build_cache(w);
    OK(tide_hot_begin(w->reader, &meta, &w->err));
    const struct tide_hot_person *person = tide_hot_get(w->reader, &key);
    struct people changed = { 0, 100, 4, 9 };
    OK(tide_hot_update(w->hot, put_people, &changed, &w->err));
    assert_int_equal(meta->ledger, 7);
    assert_int_equal(person->status, 2);
    OK(tide_hot_end(w->reader));
    expect_people(w, &changed);
}

struct seen {
    uint32_t count;
    uint8_t last[TIDE_HOT_KEY_MAX];
};

static bool see_record(void *self, tide_slice key, const void *record)
{
    struct seen *seen = self;
    assert_non_null(record);
    assert_true(memcmp(seen->last, key.ptr, key.len) < 0);
    memcpy(seen->last, key.ptr, key.len);
    seen->count++;
    return true;
}

static tide_status put_ticks(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    tide_status status = put_people(self, sink, err);
    struct tide_hot_symbol pools[2];
    (void)tide_hot_symbol_of(&pools[0], TIDE_SLICE("A"));
    (void)tide_hot_symbol_of(&pools[1], TIDE_SLICE("AB"));
    for (uint64_t t = 10; t <= 50 && status == TIDE_OK; t += 10) {
        for (int i = 0; i < 2 && status == TIDE_OK; i++) {
            struct tide_hot_key key = tide_hot_key_tick(&pools[i], t);
            struct tide_hot_tick tick = { .time = t };
            status = sink->put(sink->self, &key, &tick, err);
        }
    }
    return status;
}

static tide_status drop_ticks(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    struct tide_hot_symbol pool;
    (void)self;
    (void)tide_hot_symbol_of(&pool, TIDE_SLICE("A"));
    struct tide_hot_key prefix = tide_hot_key_symbol(TIDE_HOT_TICK, &pool);
    struct tide_hot_key end = tide_hot_key_tick(&pool, 30);
    return tide_hot_drop_below(sink, &prefix, &end, err);
}

static uint64_t floor_at(struct world *w, const struct tide_hot_symbol *pool, uint64_t t)
{
    struct tide_hot_key key = tide_hot_key_tick(pool, t);
    const struct tide_hot_tick *tick = tide_hot_floor(w->reader, &key, 33);
    return tick ? tick->time : 0;
}

static void test_ranges(void **state)
{
    struct world *w = *state;
    const struct tide_hot_meta *meta;
    struct people p = population;
    struct tide_hot_symbol a, ab;
    (void)tide_hot_symbol_of(&a, TIDE_SLICE("A"));
    (void)tide_hot_symbol_of(&ab, TIDE_SLICE("AB"));
    open_cache(w, 0, 0);
    be_feeder(w);
    OK(tide_hot_rebuild(w->hot, put_ticks, &p, &w->err));
    OK(tide_hot_begin(w->reader, &meta, &w->err));
    assert_int_equal(meta->records, 3011);
    struct seen seen = { 0 };
    struct tide_hot_key prefix = tide_hot_key(TIDE_HOT_PERSON);
    tide_hot_scan(w->reader, &prefix, NULL, see_record, &seen);
    assert_int_equal(seen.count, 3000);
    struct tide_hot_key of = tide_hot_key_symbol(TIDE_HOT_TICK, &a);
    struct tide_hot_key from = tide_hot_key_tick(&a, 25);
    seen = (struct seen){ 0 };
    tide_hot_scan(w->reader, &of, &from, see_record, &seen);
    assert_int_equal(seen.count, 3);
    assert_int_equal(floor_at(w, &a, 9), 0);
    assert_int_equal(floor_at(w, &a, 10), 10);
    assert_int_equal(floor_at(w, &a, 39), 30);
    assert_int_equal(floor_at(w, &a, 1000), 50);
    assert_int_equal(floor_at(w, &ab, 9), 0);
    assert_int_equal(floor_at(w, &ab, 1000), 50);
    OK(tide_hot_end(w->reader));
    OK(tide_hot_update(w->hot, drop_ticks, NULL, &w->err));
    OK(tide_hot_begin(w->reader, &meta, &w->err));
    assert_int_equal(floor_at(w, &a, 29), 0);
    assert_int_equal(floor_at(w, &a, 30), 30);
    assert_int_equal(floor_at(w, &ab, 29), 20);
    OK(tide_hot_end(w->reader));
}

static tide_status put_short_key(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_PERSON);
    struct tide_hot_person person = { .ledger = 7 };
    (void)self;
    tide_hot_key_put(&key, "x", 1);
    return sink->put(sink->self, &key, &person, err);
}

/* A stored key that is shorter than keys of its kind is damage: readers of a scan take parts of the
 * key without looking at its length. */
static void test_a_key_of_another_length(void **state)
{
    struct world *w = *state;
    const struct tide_hot_meta *meta;
    struct seen seen = { 0 };
    struct tide_hot_key prefix = tide_hot_key(TIDE_HOT_PERSON);
    open_cache(w, 0, 0);
    build_cache(w);
    OK(tide_hot_update(w->hot, put_short_key, NULL, &w->err));
    OK(tide_hot_begin(w->reader, &meta, &w->err));
    tide_hot_scan(w->reader, &prefix, NULL, see_record, &seen);
    assert_int_equal(tide_hot_end(w->reader), TIDE_E_DECODE);
}

static void test_one_feeder(void **state)
{
    struct world *w = *state;
    bool mine;
    struct tide_hot *other;
    struct tide_hot_options options = { .dir = w->dir };
    open_cache(w, 0, 0);
    be_feeder(w);
    OK(tide_hot_open(&other, &options, &w->err));
    OK(tide_hot_lock(other, &mine, &w->err));
    assert_false(mine);
    close_cache(w);
    OK(tide_hot_lock(other, &mine, &w->err));
    assert_true(mine);
    tide_hot_close(other);
}

/* Another process switches the generation. This one reads the old generation until its next
 * refresh. */
static void test_generations_are_followed(void **state)
{
    struct world *w = *state;
    const struct tide_hot_meta *meta;
    open_cache(w, 0, 0);
    build_cache(w);
    close_cache(w);
    open_cache(w, 0, 0);
    OK(tide_hot_refresh(w->hot, &w->err));
    expect_people(w, &population);
    pid_t child = fork();
    if (child == 0) {
        struct world other = { 0 };
        struct people p = { 0, 500, 3, 70 };
        snprintf(other.dir, sizeof other.dir, "%s", w->dir);
        open_cache(&other, 0, 0);
        be_feeder(&other);
        OK(tide_hot_refresh(other.hot, &other.err));
        OK(tide_hot_rebuild(other.hot, put_people, &p, &other.err));
        _exit(0);
    }
    int how;
    waitpid(child, &how, 0);
    assert_int_equal(how, 0);
    OK(tide_hot_begin(w->reader, &meta, &w->err));
    assert_true(meta->retired);
    assert_int_equal(meta->ledger, 7);
    OK(tide_hot_end(w->reader));
    OK(tide_hot_refresh(w->hot, &w->err));
    expect_people(w, &(struct people){ 0, 500, 3, 70 });
}

/* --- L1 to L4 ----------------------------------------------------------------------------------
 * */

static void test_l1_map_full(void **state)
{
    struct world *w = *state;
    struct tide_hot_stats stats;
    open_cache(w, 2u << 20, 16u << 20);
    build_cache(w);
    struct people many = { 3000, 20000, 5, 8 };
    OK(tide_hot_update(w->hot, put_people, &many, &w->err));
    expect_people(w, &many);
    tide_hot_stats(w->hot, &stats);
    assert_true(stats.grown > 0);
    struct people too_many = { 30000, 200000, 1, 9 };
    assert_int_equal(tide_hot_update(w->hot, put_people, &too_many, &w->err), TIDE_E_LIMIT);
    expect_people(w, &many); /* the former records are still there */
    print_message("ok L1 map full: doubled %u times to %zu MiB, then refused, all readable\n",
                  (unsigned)stats.grown, (size_t)stats.map_bytes >> 20);
}

/* The map grows while a reader of another process uses it. */
static void test_l1_map_resized(void **state)
{
    struct world *w = *state;
    int go[2], done[2], how;
    char byte;
    open_cache(w, 2u << 20, 64u << 20);
    build_cache(w);
    close_cache(w);
    assert_int_equal(pipe(go) | pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
        struct world other = { 0 };
        snprintf(other.dir, sizeof other.dir, "%s", w->dir);
        open_cache(&other, 2u << 20, 64u << 20);
        OK(tide_hot_refresh(other.hot, &other.err));
        expect_people(&other, &population);
        assert_int_equal(write(done[1], "r", 1), 1);
        assert_int_equal(read(go[0], &byte, 1), 1);
        expect_people(&other, &(struct people){ 3000, 20000, 5, 8 });
        close_cache(&other);
        _exit(0);
    }
    assert_int_equal(read(done[0], &byte, 1), 1);
    open_cache(w, 2u << 20, 64u << 20);
    be_feeder(w);
    OK(tide_hot_refresh(w->hot, &w->err));
    struct people many = { 3000, 20000, 5, 8 };
    OK(tide_hot_update(w->hot, put_people, &many, &w->err));
    assert_int_equal(write(go[1], "g", 1), 1);
    waitpid(child, &how, 0);
    assert_int_equal(how, 0);
    print_message("ok L1 map resized: a reader of another process maps it anew\n");
}

static void test_l2_dead_readers(void **state)
{
    struct world *w = *state;
    struct tide_hot_stats stats;
    enum { READERS = 4 };
    open_cache(w, 0, 0);
    build_cache(w);
    for (int i = 0; i < READERS; i++) {
        int ready[2], how;
        char byte;
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        if (child == 0) {
            struct world other = { 0 };
            const struct tide_hot_meta *meta;
            snprintf(other.dir, sizeof other.dir, "%s", w->dir);
            open_cache(&other, 0, 0);
            OK(tide_hot_refresh(other.hot, &other.err));
            OK(tide_hot_begin(other.reader, &meta, &other.err));
            assert_int_equal(write(ready[1], "r", 1), 1);
            for (;;)
                pause();
        }
        assert_int_equal(read(ready[0], &byte, 1), 1);
        kill(child, SIGKILL);
        waitpid(child, &how, 0);
        close(ready[0]);
        close(ready[1]);
    }
    for (int i = 0; i < 60; i++)
        tide_hot_tick(w->hot);
    tide_hot_stats(w->hot, &stats);
    assert_int_equal(stats.cleared, READERS);
    print_message("ok L2 dead readers: %u of %d slots cleared within a minute\n",
                  (unsigned)stats.cleared, READERS);
}

static tide_status die_inside(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    tide_status status = put_people(self, sink, err);
    if (status == TIDE_OK)
        raise(SIGKILL);
    return status;
}

static void test_l3_writer_killed(void **state)
{
    struct world *w = *state;
    int how;
    open_cache(w, 0, 0);
    build_cache(w);
    close_cache(w);
    pid_t child = fork();
    if (child == 0) {
        struct world other = { 0 };
        struct people p = { 0, 1000, 4, 99 };
        snprintf(other.dir, sizeof other.dir, "%s", w->dir);
        open_cache(&other, 0, 0);
        be_feeder(&other);
        OK(tide_hot_refresh(other.hot, &other.err));
        (void)!tide_hot_update(other.hot, die_inside, &p, &other.err);
        _exit(1);
    }
    waitpid(child, &how, 0);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    open_cache(w, 0, 0);
    OK(tide_hot_refresh(w->hot, &w->err));
    expect_people(w, &population);
    be_feeder(w);
    struct people next = { 0, 10, 3, 8 };
    OK(tide_hot_update(w->hot, put_people, &next, &w->err));
    expect_people(w, &next);
    print_message(
        "ok L3 writer killed in a transaction: the last commit is read, the next writes\n");
}

static void test_l4_long_reader(void **state)
{
    struct world *w = *state;
    const struct tide_hot_meta *meta;
    struct tide_hot_reader *slow;
    struct tide_hot_stats stats;
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    struct people p = { 0, 3000, 0, 0 };
    open_cache(w, 2u << 20, 4u << 20);
    build_cache(w);
    OK(tide_hot_reader_open(&slow, w->hot, &w->err));
    OK(tide_hot_begin(slow, &meta, &w->err));
    tide_hot_tick(w->hot);
    assert_non_null(tide_hot_get(slow, &key));
    tide_hot_tick(w->hot); /* the second tick: the snapshot is older than a second */
    assert_null(tide_hot_get(slow, &key));
    assert_int_equal(tide_hot_end(slow), TIDE_E_LIMIT);
    OK(tide_hot_begin(slow, &meta, &w->err)); /* the next snapshot of this reader works */
    assert_non_null(tide_hot_get(slow, &key));
    OK(tide_hot_end(slow));
    tide_hot_reader_close(slow);
    tide_hot_stats(w->hot, &stats);
    assert_int_equal(stats.expired, 1);

    /* A reader that never ends (a stopped process) keeps old pages in use. The limit bounds the
     * file, and the feeder continues in a new generation. */
    int ready[2], how;
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct world other = { 0 };
        snprintf(other.dir, sizeof other.dir, "%s", w->dir);
        open_cache(&other, 0, 0);
        OK(tide_hot_refresh(other.hot, &other.err));
        OK(tide_hot_begin(other.reader, &meta, &other.err));
        assert_int_equal(write(ready[1], "r", 1), 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < 100 && status == TIDE_OK; i++) {
        p.status = i % 6;
        p.ledger = 100 + i;
        status = tide_hot_update(w->hot, put_people, &p, &w->err);
    }
    assert_int_equal(status, TIDE_E_LIMIT);
    OK(tide_hot_rebuild(w->hot, put_people, &p, &w->err));
    for (uint32_t i = 0; i < 100; i++) {
        p.ledger = 300 + i;
        OK(tide_hot_update(w->hot, put_people, &p, &w->err));
    }
    expect_people(w, &p);
    kill(child, SIGKILL);
    waitpid(child, &how, 0);
    print_message("ok L4 long reader: stopped after a second; one that never ends fills the map to "
                  "its ceiling, a new generation goes on\n");
}

int test_hot(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reads_what_was_written),
        TEST(test_snapshot_stands_still),
        TEST(test_ranges),
        TEST(test_a_key_of_another_length),
        TEST(test_one_feeder),
        TEST(test_generations_are_followed),
        TEST(test_l1_map_full),
        TEST(test_l1_map_resized),
        TEST(test_l2_dead_readers),
        TEST(test_l3_writer_killed),
        TEST(test_l4_long_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
