/* perf snapshot ROUNDS COUNT: measures a look-up with the C reader of snapshots, the decoding of
 * the address text included, against the stated limit of one microsecond. The snapshot holds COUNT
 * made-up records. The look-ups come in random order; every second one asks for an address without
 * a record. */
#include "perf.h"
#include "ratio.h"

#include "api/clients/c/tidemark_snapshot.h"
#include "tidemark/strkey.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { QUESTIONS = 1 << 20, TEXT = 57 }; /* look-ups a round; room for a strkey and its NUL */
static_assert(TIDEMARK_ADDRESS_BYTES == 33, "a kind and a key, as make_snapshot writes them");
static_assert(TIDEMARK_SNAPSHOT_RECORD > 34, "make_snapshot writes the first 35 bytes");

/* State of next_random. A fixed seed: every run asks for the same addresses. */
static uint64_t seed = 7;

/* Returns the next pseudo-random number (splitmix64). */
static uint64_t next_random(void)
{
    uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Orders records by address for qsort; the address begins a record. */
static int by_address(const void *a, const void *b)
{
    return memcmp(a, b, TIDEMARK_ADDRESS_BYTES);
}

static void put_u64(unsigned char *at, uint64_t v)
{
    memcpy(at, &v, sizeof v);
}

/* Fills file with a snapshot of count random accounts, all compliant. Offsets are those of the
 * snapshot's format. */
static void make_snapshot(unsigned char *file, uint64_t count)
{
    unsigned char *records = file + TIDEMARK_SNAPSHOT_RECORDS;
    memcpy(file, "TIDESNP1", 8);
    put_u64(file + 8, (uint64_t)TIDEMARK_SNAPSHOT_RECORD << 32 | TIDEMARK_SNAPSHOT_HEADER);
    put_u64(file + 16, count);
    file[124] = 1; /* bit 0: the registry is indexed whole */
    for (uint64_t i = 0; i < count; i++) {
        unsigned char *record = records + i * TIDEMARK_SNAPSHOT_RECORD;
        record[0] = TIDE_STRKEY_ACCOUNT;
        for (int k = 0; k < 4; k++)
            put_u64(record + 1 + (ptrdiff_t)8 * k, next_random());
        record[33] = 1; /* bit 0: the account has a record */
        record[34] = 2; /* status: verified */
    }
    qsort(records, count, TIDEMARK_SNAPSHOT_RECORD, by_address);
}

/* Writes the text of QUESTIONS addresses: every even one is in the snapshot. An odd one differs in
 * eight bytes, so it is in the snapshot only by a chance of 2^-64. */
static void choose_addresses(char (*texts)[TEXT], const unsigned char *file, uint64_t count)
{
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        unsigned char address[TIDEMARK_ADDRESS_BYTES];
        memcpy(address,
               file + TIDEMARK_SNAPSHOT_RECORDS + next_random() % count * TIDEMARK_SNAPSHOT_RECORD,
               sizeof address);
        if (i % 2)
            put_u64(address + 8, next_random());
        size_t len = tide_strkey_encode(texts[i], TIDE_STRKEY_ACCOUNT,
                                        tide_slice_of(address + 1, sizeof address - 1));
        assert(len < TEXT);
        texts[i][len] = 0;
    }
}

/* Returns seconds of this thread's CPU: the limit is stated in CPU time, not in wall-clock time. */
static double cpu_now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

/* Looks all addresses up. Returns how many are compliant. */
static uint64_t look_up_all(const struct tidemark_view *view, char (*texts)[TEXT])
{
    uint64_t yes = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++)
        yes += tidemark_compliant(view, texts[i], 1000) == TIDEMARK_YES;
    return yes;
}

/* Measures the questions against a snapshot that it makes in file. Returns the exit code. */
static int measure_questions(unsigned char *file, size_t size, char (*texts)[TEXT], uint64_t count,
                             uint32_t rounds)
{
    struct tidemark_snapshot base;
    struct ratio ratio = { 0 };
    char detail[128];
    make_snapshot(file, count);
    choose_addresses(texts, file, count);
    if (tidemark_snapshot_open(&base, file, size, NULL, NULL) != TIDEMARK_OK)
        return 1;
    struct tidemark_view view = { &base, NULL, UINT64_MAX, 0 };
    for (uint32_t i = 0; i < rounds; i++) {
        double began = cpu_now();
        if (look_up_all(&view, texts) != QUESTIONS / 2)
            return 1;
        ratio_add(&ratio, cpu_now() - began, (int)QUESTIONS * 1e-6);
    }
    snprintf(detail, sizeof detail,
             "%" PRIu64 " records, %.0f ns of CPU a question, its text included", count,
             median(ratio.ours, ratio.rounds) * 1e9 / (int)QUESTIONS);
    ratio_print(&ratio, "one microsecond / a question to a snapshot", detail);
    return 0;
}

int perf_snapshot(int argc, char **argv)
{
    uint32_t rounds = argc > 0 ? (uint32_t)strtoul(argv[0], NULL, 10) : 5;
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    size_t size = TIDEMARK_SNAPSHOT_RECORDS + count * TIDEMARK_SNAPSHOT_RECORD;
    unsigned char *file = calloc(1, size);
    char(*texts)[TEXT] = calloc(QUESTIONS, TEXT);
    bool usable = file && texts && count > 0 && rounds <= ROUNDS_MAX;
    int code = usable ? measure_questions(file, size, texts, count, rounds) : 64;
    free(texts);
    free(file);
    return code;
}
