/* perf snapshot ROUNDS COUNT: a question to the C reader of snapshots, from the text of an address
 * on, against the stated limit of a microsecond. COUNT made-up records, asked in random order;
 * every second question is about an address that has none. */
#include "perf.h"
#include "ratio.h"

#include "api/clients/c/tidemark_snapshot.h"
#include "tidemark/strkey.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { QUESTIONS = 1 << 20, TEXT = 57 };

static uint64_t seed = 7;

static uint64_t next(void)
{
    uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int by_address(const void *a, const void *b)
{
    return memcmp(a, b, TIDEMARK_ADDRESS_BYTES);
}

static void put_u64(unsigned char *at, uint64_t v)
{
    memcpy(at, &v, sizeof v);
}

static void make(unsigned char *file, uint64_t count)
{
    unsigned char *records = file + TIDEMARK_SNAPSHOT_RECORDS;
    memcpy(file, "TIDESNP1", 8);
    put_u64(file + 8, (uint64_t)TIDEMARK_SNAPSHOT_RECORD << 32 | TIDEMARK_SNAPSHOT_HEADER);
    put_u64(file + 16, count);
    file[124] = 1;
    for (uint64_t i = 0; i < count; i++) {
        unsigned char *record = records + i * TIDEMARK_SNAPSHOT_RECORD;
        record[0] = TIDE_STRKEY_ACCOUNT;
        for (int k = 0; k < 4; k++)
            put_u64(record + 1 + 8 * k, next());
        record[33] = 1;
        record[34] = 2;
    }
    qsort(records, count, TIDEMARK_SNAPSHOT_RECORD, by_address);
}

static void choose(char (*texts)[TEXT], const unsigned char *file, uint64_t count)
{
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        unsigned char address[TIDEMARK_ADDRESS_BYTES];
        memcpy(address,
               file + TIDEMARK_SNAPSHOT_RECORDS + next() % count * TIDEMARK_SNAPSHOT_RECORD,
               sizeof address);
        if (i % 2)
            put_u64(address + 8, next());
        size_t len = tide_strkey_encode(texts[i], TIDE_STRKEY_ACCOUNT,
                                        tide_slice_of(address + 1, sizeof address - 1));
        texts[i][len] = 0;
    }
}

/* Seconds of CPU of this thread: the limit is of them. */
static double cpu_now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static uint64_t ask_all(const struct tidemark_view *view, char (*texts)[TEXT])
{
    uint64_t yes = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++)
        yes += tidemark_compliant(view, texts[i], 1000) == TIDEMARK_YES;
    return yes;
}

int perf_snapshot(int argc, char **argv)
{
    uint32_t rounds = argc > 0 ? (uint32_t)strtoul(argv[0], NULL, 10) : 5;
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    size_t size = TIDEMARK_SNAPSHOT_RECORDS + count * TIDEMARK_SNAPSHOT_RECORD;
    unsigned char *file = calloc(1, size);
    char(*texts)[TEXT] = calloc(QUESTIONS, TEXT);
    struct tidemark_snapshot base;
    struct ratio ratio = { 0 };
    char detail[128];
    if (!file || !texts || count == 0 || rounds > ROUNDS_MAX)
        return 64;
    make(file, count);
    choose(texts, file, count);
    if (tidemark_snapshot_open(&base, file, size, NULL, NULL) != TIDEMARK_OK)
        return 1;
    struct tidemark_view view = { &base, NULL, UINT64_MAX, 0 };
    for (uint32_t i = 0; i < rounds; i++) {
        double began = cpu_now();
        if (ask_all(&view, texts) != QUESTIONS / 2)
            return 1;
        ratio_add(&ratio, cpu_now() - began, QUESTIONS * 1e-6);
    }
    snprintf(detail, sizeof detail,
             "%" PRIu64 " records, %.0f ns of CPU a question, its text included", count,
             median(ratio.ours, ratio.rounds) * 1e9 / QUESTIONS);
    ratio_print(&ratio, "one microsecond / a question to a snapshot", detail);
    free(texts);
    free(file);
    return 0;
}
