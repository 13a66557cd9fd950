/* The hot cache against what can happen to its files: reliability scenarios L1 to L8 with real
 * LMDB files, killed children, truncated and garbled pages. */
#include "schema/store/hot_env.h"
#include "tidemark/hot.h"
#include "tidemark/log.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
    char dir[64];
    struct tide_hot *hot;
    struct tide_hot_reader *reader;
    struct tide_err err;
};

struct people {
    uint32_t from, count;
    uint32_t status; /* that they get */
    uint32_t ledger;
};

static struct tide_hot_address address_of(uint32_t i)
{
    struct tide_hot_address a = { .kind = 48 };
    for (uint32_t k = 0; k < 32; k++)
        a.key[k] = (uint8_t)((i * 2654435761u) >> (k % 4 * 8)) ^ (uint8_t)k;
    memcpy(a.key + 20, &i, sizeof i);
    return a;
}

static tide_status put_people(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    const struct people *p = self;
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    struct tide_hot_meta meta;
    bool found;
    tide_status status = sink->get(sink->self, &key, &meta, &found, err);
    meta.ledger = p->ledger;
    if (status == TIDE_OK)
        status = sink->put(sink->self, &key, &meta, err);
    for (uint32_t i = p->from; i < p->from + p->count && status == TIDE_OK; i++) {
        struct tide_hot_address a = address_of(i);
        struct tide_hot_person person = { .recorded = 1, .status = p->status, .ledger = i };
        key = tide_hot_key_address(TIDE_HOT_PERSON, &a);
        status = sink->put(sink->self, &key, &person, err);
    }
    return status;
}

static const struct people crowd = { 0, 3000, 2, 7 };

#define OK(call) assert_int_equal((call), TIDE_OK)

static void start(struct world *w, size_t map_first, size_t map_max)
{
    struct tide_hot_options options = { .dir = w->dir, .map_first = map_first, .map_max = map_max };
    OK(tide_hot_open(&w->hot, &options, &w->err));
    OK(tide_hot_reader_open(&w->reader, w->hot, &w->err));
}

static void stop(struct world *w)
{
    tide_hot_reader_close(w->reader);
    tide_hot_close(w->hot);
    w->reader = NULL;
    w->hot = NULL;
}

static void be_feeder(struct world *w)
{
    bool mine;
    OK(tide_hot_lock(w->hot, &mine, &w->err));
    assert_true(mine);
}

static void build(struct world *w)
{
    struct people p = crowd;
    be_feeder(w);
    OK(tide_hot_rebuild(w->hot, put_people, &p, &w->err));
}

/* Every person of the range has that status. */
static void expect_people(struct world *w, const struct people *p)
{
    const struct tide_hot_meta *meta;
    OK(tide_hot_begin(w->reader, &meta, &w->err));
    assert_int_equal(meta->ledger, p->ledger);
    for (uint32_t i = p->from; i < p->from + p->count; i++) {
        struct tide_hot_address a = address_of(i);
        struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_PERSON, &a);
        const struct tide_hot_person *person = tide_hot_get(w->reader, &key);
        assert_non_null(person);
        assert_int_equal(person->status, p->status);
        assert_int_equal(person->ledger, i);
    }
    OK(tide_hot_end(w->reader));
}

static void sleep_ms(long ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&t, NULL);
}

static void file_of(char out[256], const struct world *w, const char *name)
{
    char link[128], generation[64];
    snprintf(link, sizeof link, "%s/current", w->dir);
    ssize_t len = readlink(link, generation, sizeof generation - 1);
    assert_true(len > 0);
    generation[len] = 0;
    snprintf(out, 256, "%s/%s/%s", w->dir, generation, name);
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    snprintf(w->dir, sizeof w->dir, "/tmp/tide-hot-XXXXXX");
    if (!mkdtemp(w->dir))
        return -1;
    tide_log_level_set(TIDE_ERROR);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    char command[128];
    if (w->hot)
        stop(w);
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", w->dir, w->dir);
    int rc = system(command);
    free(w);
    return rc;
}

/* --- the ordinary --------------------------------------------------------------------------- */

static void test_reads_what_was_written(void **state)
{
    struct world *w = *state;
    const struct tide_hot_meta *meta;
    start(w, 0, 0);
    assert_int_equal(tide_hot_refresh(w->hot, &w->err), TIDE_E_MISSING);
    assert_int_equal(tide_hot_begin(w->reader, &meta, &w->err), TIDE_E_MISSING);
    build(w);
    expect_people(w, &crowd);
    struct people changed = { 10, 5, 3, 8 };
    OK(tide_hot_update(w->hot, put_people, &changed, &w->err));
    expect_people(w, &changed);
    struct people rest = { 15, 2985, 2, 8 };
    expect_people(w, &rest);
    stop(w);
    start(w, 0, 0); /* and from disk, after the check */
    OK(tide_hot_refresh(w->hot, &w->err));
    expect_people(w, &changed);
}

static void test_snapshot_stands_still(void **state)
{
    struct world *w = *state;
    const struct tide_hot_meta *meta;
    struct tide_hot_address a = address_of(0);
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_PERSON, &a);
    start(w, 0, 0);
    build(w);
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

static bool see(void *self, tide_slice key, const void *record)
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
    struct people p = crowd;
    struct tide_hot_symbol a, ab;
    (void)tide_hot_symbol_of(&a, TIDE_SLICE("A"));
    (void)tide_hot_symbol_of(&ab, TIDE_SLICE("AB"));
    start(w, 0, 0);
    be_feeder(w);
    OK(tide_hot_rebuild(w->hot, put_ticks, &p, &w->err));
    OK(tide_hot_begin(w->reader, &meta, &w->err));
    assert_int_equal(meta->records, 3011);
    struct seen seen = { 0 };
    struct tide_hot_key prefix = tide_hot_key(TIDE_HOT_PERSON);
    tide_hot_scan(w->reader, &prefix, NULL, see, &seen);
    assert_int_equal(seen.count, 3000);
    struct tide_hot_key of = tide_hot_key_symbol(TIDE_HOT_TICK, &a);
    struct tide_hot_key from = tide_hot_key_tick(&a, 25);
    seen = (struct seen){ 0 };
    tide_hot_scan(w->reader, &of, &from, see, &seen);
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

static void test_one_feeder(void **state)
{
    struct world *w = *state;
    bool mine;
    struct tide_hot *other;
    struct tide_hot_options options = { .dir = w->dir };
    start(w, 0, 0);
    be_feeder(w);
    OK(tide_hot_open(&other, &options, &w->err));
    OK(tide_hot_lock(other, &mine, &w->err));
    assert_false(mine);
    stop(w);
    OK(tide_hot_lock(other, &mine, &w->err));
    assert_true(mine);
    tide_hot_close(other);
}

/* Another process switches; this one follows at its next tick, and sees the old one till then. */
static void test_generations_are_followed(void **state)
{
    struct world *w = *state;
    const struct tide_hot_meta *meta;
    start(w, 0, 0);
    build(w);
    stop(w);
    start(w, 0, 0);
    OK(tide_hot_refresh(w->hot, &w->err));
    expect_people(w, &crowd);
    pid_t child = fork();
    if (child == 0) {
        struct world other = { 0 };
        struct people p = { 0, 500, 3, 70 };
        snprintf(other.dir, sizeof other.dir, "%s", w->dir);
        start(&other, 0, 0);
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
    OK(tide_hot_tick(w->hot, &w->err));
    expect_people(w, &(struct people){ 0, 500, 3, 70 });
}

/* --- L1 to L4 ---------------------------------------------------------------------------------- */

static void test_l1_map_full(void **state)
{
    struct world *w = *state;
    struct tide_hot_stats stats;
    start(w, 2u << 20, 16u << 20);
    build(w);
    struct people many = { 3000, 20000, 5, 8 };
    OK(tide_hot_update(w->hot, put_people, &many, &w->err));
    expect_people(w, &many);
    tide_hot_stats(w->hot, &stats);
    assert_true(stats.grown > 0);
    struct people too_many = { 30000, 200000, 1, 9 };
    assert_int_equal(tide_hot_update(w->hot, put_people, &too_many, &w->err), TIDE_E_LIMIT);
    expect_people(w, &many); /* what was there is still there */
    print_message("ok L1 map full: doubled %u times to %zu MiB, then refused, all readable\n",
                  (unsigned)stats.grown, (size_t)stats.map_bytes >> 20);
}

/* A reader of another process meets a map that has grown. */
static void test_l1_map_resized(void **state)
{
    struct world *w = *state;
    int go[2], done[2], how;
    char byte;
    start(w, 2u << 20, 64u << 20);
    build(w);
    stop(w);
    assert_int_equal(pipe(go) | pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
        struct world other = { 0 };
        snprintf(other.dir, sizeof other.dir, "%s", w->dir);
        start(&other, 2u << 20, 64u << 20);
        OK(tide_hot_refresh(other.hot, &other.err));
        expect_people(&other, &crowd);
        assert_int_equal(write(done[1], "r", 1), 1);
        assert_int_equal(read(go[0], &byte, 1), 1);
        expect_people(&other, &(struct people){ 3000, 20000, 5, 8 });
        stop(&other);
        _exit(0);
    }
    assert_int_equal(read(done[0], &byte, 1), 1);
    start(w, 2u << 20, 64u << 20);
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
    start(w, 0, 0);
    build(w);
    for (int i = 0; i < READERS; i++) {
        int ready[2], how;
        char byte;
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        if (child == 0) {
            struct world other = { 0 };
            const struct tide_hot_meta *meta;
            snprintf(other.dir, sizeof other.dir, "%s", w->dir);
            start(&other, 0, 0);
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
        OK(tide_hot_tick(w->hot, &w->err));
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
    start(w, 0, 0);
    build(w);
    stop(w);
    pid_t child = fork();
    if (child == 0) {
        struct world other = { 0 };
        struct people p = { 0, 1000, 4, 99 };
        snprintf(other.dir, sizeof other.dir, "%s", w->dir);
        start(&other, 0, 0);
        be_feeder(&other);
        OK(tide_hot_refresh(other.hot, &other.err));
        (void)!tide_hot_update(other.hot, die_inside, &p, &other.err);
        _exit(1);
    }
    waitpid(child, &how, 0);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    start(w, 0, 0);
    OK(tide_hot_refresh(w->hot, &w->err));
    expect_people(w, &crowd);
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
    start(w, 2u << 20, 4u << 20);
    build(w);
    OK(tide_hot_reader_open(&slow, w->hot, &w->err));
    OK(tide_hot_begin(slow, &meta, &w->err));
    OK(tide_hot_tick(w->hot, &w->err));
    assert_non_null(tide_hot_get(slow, &key));
    OK(tide_hot_tick(w->hot, &w->err)); /* the second one: longer than a second */
    assert_null(tide_hot_get(slow, &key));
    assert_int_equal(tide_hot_end(slow), TIDE_E_LIMIT);
    OK(tide_hot_begin(slow, &meta, &w->err)); /* the next one is as good as any */
    assert_non_null(tide_hot_get(slow, &key));
    OK(tide_hot_end(slow));
    tide_hot_reader_close(slow);
    tide_hot_stats(w->hot, &stats);
    assert_int_equal(stats.expired, 1);

    /* One that never ends (a stopped process) pins pages; the ceiling bounds the file, and a new
     * generation goes on without it. */
    int ready[2], how;
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct world other = { 0 };
        snprintf(other.dir, sizeof other.dir, "%s", w->dir);
        start(&other, 0, 0);
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

/* --- L5 to L8 ---------------------------------------------------------------------------------- */

/* Opened anew after what was done to the files: refused with that status, moved aside and
 * rebuilt by the feeder, and this process lives. */
static void expect_rebuilt(struct world *w, tide_status wanted)
{
    struct tide_hot_stats stats;
    const struct tide_hot_meta *meta;
    start(w, 0, 0);
    tide_status got = tide_hot_refresh(w->hot, &w->err);
    assert_int_equal(got, wanted);
    print_message("   %s\n", w->err.text);
    assert_int_equal(tide_hot_begin(w->reader, &meta, &w->err), TIDE_E_MISSING);
    be_feeder(w);
    OK(tide_hot_discard(w->hot, "test", &w->err));
    build(w);
    expect_people(w, &crowd);
    tide_hot_stats(w->hot, &stats);
    assert_int_equal(stats.moved_aside, 1);
    stop(w);
}

static void test_l5_truncated(void **state)
{
    struct world *w = *state;
    char path[256];
    struct stat found;
    static const int eighths[] = { 7, 4, 1 };
    start(w, 0, 0);
    build(w);
    stop(w);
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
    start(w, 0, 0);
    build(w);
    stop(w);
    for (uint32_t seed = 1; seed <= 8; seed++) {
        file_of(path, w, "data.mdb");
        assert_int_equal(stat(path, &found), 0);
        /* at first all pages behind the meta pages, then every seventh */
        for (off_t page = 2 + (off_t)seed; page < found.st_size / 4096; page += seed == 1 ? 1 : 7)
            garble(path, page * 4096, 4096, seed + (uint32_t)page);
        expect_rebuilt(w, TIDE_E_DECODE);
    }
    print_message("ok L6 garbage pages: found in a child, moved aside, rebuilt\n");
}

/* One bit of one record: no page is damaged, the checksum says it. */
static void test_l6_one_bit(void **state)
{
    struct world *w = *state;
    char path[256];
    struct stat found;
    uint32_t tried = 0;
    start(w, 0, 0);
    build(w);
    stop(w);
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
    start(w, 0, 0);
    build(w);
    stop(w);
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
    start(w, 0, 0);
    build(w);
    stop(w);
    file_of(path, w, "data.mdb");
    set_version(path, 999);
    expect_rebuilt(w, TIDE_E_SCHEMA);
    file_of(path, w, "data.mdb");
    assert_int_equal(unlink(path), 0);
    expect_rebuilt(w, TIDE_E_MISSING);
    file_of(path, w, "lock.mdb");
    assert_int_equal(unlink(path), 0);
    start(w, 0, 0);
    OK(tide_hot_refresh(w->hot, &w->err)); /* a missing lock file is made anew */
    expect_people(w, &crowd);
    stop(w);
    file_of(path, w, "lock.mdb");
    garble(path, 0, 4096, 3);
    start(w, 0, 0);
    OK(tide_hot_refresh(w->hot, &w->err)); /* and so is a stale one */
    expect_people(w, &crowd);
    print_message("ok L8 foreign: another version and a missing file are rebuilt, a lock file is "
                  "made anew\n");
}

/* Root may write anywhere, so somebody else tries. */
static void test_l8_not_ours(void **state)
{
    struct world *w = *state;
    int how;
    start(w, 0, 0);
    build(w);
    stop(w);
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

/* --- readers beside a writer: label: threads --------------------------------------------------- */

struct racer {
    struct world *w;
    _Atomic bool stop;
    uint64_t reads, torn;
};

static void *race(void *self)
{
    struct racer *r = self;
    struct tide_hot_reader *reader;
    struct tide_err err;
    const struct tide_hot_meta *meta;
    OK(tide_hot_reader_open(&reader, r->w->hot, &err));
    while (!atomic_load(&r->stop)) {
        if (tide_hot_begin(reader, &meta, &err) != TIDE_OK)
            continue;
        for (uint32_t i = 0; i < 50; i++) {
            struct tide_hot_address a = address_of(i);
            struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_PERSON, &a);
            const struct tide_hot_person *person = tide_hot_get(reader, &key);
            if (!person || person->status != meta->ledger % 6)
                r->torn++;
        }
        if (tide_hot_end(reader) == TIDE_OK)
            r->reads++;
    }
    tide_hot_reader_close(reader);
    return NULL;
}

/* All of a ledger or nothing of it, while the map grows and generations change. */
static void test_readers_beside_writer(void **state)
{
    struct world *w = *state;
    enum { THREADS = 6 }; /* more than cores: some are put to sleep in the middle of a begin */
    struct racer racers[THREADS];
    pthread_t threads[THREADS];
    struct people p = { 0, 60, 0, 0 };
    start(w, 1u << 20, 256u << 20);
    be_feeder(w);
    OK(tide_hot_rebuild(w->hot, put_people, &p, &w->err));
    for (int i = 0; i < THREADS; i++) {
        racers[i] = (struct racer){ .w = w };
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (uint32_t ledger = 1; ledger <= 300; ledger++) {
        p = (struct people){ 0, 60, ledger % 6, ledger };
        if (ledger % 100 == 0)
            OK(tide_hot_rebuild(w->hot, put_people, &p, &w->err));
        else
            OK(tide_hot_update(w->hot, put_people, &p, &w->err));
        if (ledger % 50 == 25) {
            struct people more = { 1000, 8000 * (ledger / 50 + 1), 1, ledger };
            OK(tide_hot_update(w->hot, put_people, &more, &w->err));
        }
        if (ledger % 10 == 0)
            sleep_ms(1);
    }
    uint64_t reads = 0, torn = 0;
    for (int i = 0; i < THREADS; i++) {
        atomic_store(&racers[i].stop, true);
        pthread_join(threads[i], NULL);
        torn += racers[i].torn;
        reads += racers[i].reads;
    }
    assert_int_equal(torn, 0);
    assert_true(reads > 100);
}

int test_hot(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_reads_what_was_written),
        TEST(test_snapshot_stands_still),
        TEST(test_ranges),
        TEST(test_one_feeder),
        TEST(test_generations_are_followed),
        TEST(test_l1_map_full),
        TEST(test_l1_map_resized),
        TEST(test_l2_dead_readers),
        TEST(test_l3_writer_killed),
        TEST(test_l4_long_reader),
        TEST(test_l5_truncated),
        TEST(test_l6_garbage_pages),
        TEST(test_l6_one_bit),
        TEST(test_l7_garbage_meta),
        TEST(test_l8_foreign),
        TEST(test_l8_not_ours),
        TEST(test_readers_beside_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
