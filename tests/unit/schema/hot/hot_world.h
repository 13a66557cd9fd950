/* A hot cache of a few thousand addresses in real LMDB files, for tests. */
#ifndef TIDEMARK_TESTS_HOT_WORLD_H
#define TIDEMARK_TESTS_HOT_WORLD_H

#include "schema/hot/hot_impl.h"
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
    uint32_t status; /* status of each person */
    uint32_t ledger;
};

static inline struct tide_hot_address address_of(uint32_t i)
{
    struct tide_hot_address a = { .kind = 48 };
    for (uint32_t k = 0; k < 32; k++)
        a.key[k] = (uint8_t)((i * 2654435761u) >> (k % 4 * 8)) ^ (uint8_t)k;
    memcpy(a.key + 20, &i, sizeof i);
    return a;
}

static inline tide_status put_people(void *self, struct tide_hot_sink *sink, struct tide_err *err)
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

static const struct people population = { 0, 3000, 2, 7 };

#define OK(call) assert_int_equal((call), TIDE_OK)

static inline void open_cache(struct world *w, size_t map_first, size_t map_max)
{
    struct tide_hot_options options = { .dir = w->dir, .map_first = map_first, .map_max = map_max };
    OK(tide_hot_open(&w->hot, &options, &w->err));
    OK(tide_hot_reader_open(&w->reader, w->hot, &w->err));
}

static inline void close_cache(struct world *w)
{
    tide_hot_reader_close(w->reader);
    tide_hot_close(w->hot);
    w->reader = NULL;
    w->hot = NULL;
}

static inline void be_feeder(struct world *w)
{
    bool mine;
    OK(tide_hot_lock(w->hot, &mine, &w->err));
    assert_true(mine);
}

static inline void build_cache(struct world *w)
{
    struct people p = population;
    be_feeder(w);
    OK(tide_hot_rebuild(w->hot, put_people, &p, &w->err));
}

/* Expects that status for every person of the range. */
static inline void expect_people(struct world *w, const struct people *p)
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

static inline void file_of(char out[256], const struct world *w, const char *name)
{
    char link[128], generation[64];
    snprintf(link, sizeof link, "%s/current", w->dir);
    ssize_t len = readlink(link, generation, sizeof generation - 1);
    assert_true(len > 0);
    generation[len] = 0;
    snprintf(out, 256, "%s/%s/%s", w->dir, generation, name);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static inline int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    snprintf(w->dir, sizeof w->dir, "/tmp/tide-hot-XXXXXX");
    if (!mkdtemp(w->dir))
        return -1;
    tide_log_level_set(TIDE_ERROR);
    *state = w;
    return 0;
}

static inline int teardown(void **state)
{
    struct world *w = *state;
    char command[128];
    if (w->hot)
        close_cache(w);
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", w->dir, w->dir);
    int rc = system(command);
    free(w);
    return rc;
}

#endif
