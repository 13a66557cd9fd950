/* Readers of the hot cache beside a writer. label: threads */
#include "tests/unit/schema/hot/hot_world.h"

static void sleep_ms(long ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&t, NULL);
}

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

/* A reader sees all changes of a ledger or none, while the map grows and generations change. */
static void test_readers_beside_writer(void **state)
{
    struct world *w = *state;
    enum {
        THREADS = 6
    }; /* more readers than cores: the system suspends some in the middle of tide_hot_begin() */
    struct racer racers[THREADS];
    pthread_t threads[THREADS];
    struct people p = { 0, 60, 0, 0 };
    open_cache(w, 1u << 20, 256u << 20);
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

int test_hot_threads(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_readers_beside_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
