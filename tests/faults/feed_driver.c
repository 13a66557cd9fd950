/* Drives the feeder: feed_driver COMMAND DIR [ARGUMENT]
 *
 *   step DIR [UNTIL]     brings the cache in DIR up to the cursor, or to UNTIL, and prints one
 *                        line: ledger, records and a digest of what the records say
 *   single DIR UNTIL     the same ledger by ledger
 *   run DIR              feeds until SIGTERM; prints "fed N" for each ledger that it sees in DIR
 *   latency DIR COUNT    feeds from TIDEMARK_FEED_URL while COUNT commits are made in
 *                        TIDEMARK_DATABASE_URL; prints how long each took to be seen
 *
 *   windows DIR SECONDS  the last day of trade at that time after the newest close, by pool
 *
 * The database is TIDEMARK_FEED_URL, else TIDEMARK_DATABASE_URL. */
#include "api/hot/feed.h"
#include "schema/hot/hot_impl.h"
#include "tidemark/hash.h"
#include "tidemark/lookup.h"
#include "tidemark/text.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct driver {
    struct tide_hot *hot;
    struct tide_hot_reader *reader;
    struct tide_feed *feed;
    uint64_t now;
    const struct tide_hot_meta *meta; /* the snapshot whose windows are printed */
    struct tide_err err;
};

static volatile sig_atomic_t stop;

static void on_term(int number)
{
    (void)number;
    stop = 1;
}

static bool stopped(void *self)
{
    (void)self;
    return stop != 0;
}

static const char *feed_url(void)
{
    const char *url = getenv("TIDEMARK_FEED_URL");
    return url ? url : getenv("TIDEMARK_DATABASE_URL");
}

static tide_status open_driver(struct driver *d, const char *dir)
{
    struct tide_hot_options hot = { .dir = dir };
    tide_status status = tide_hot_open(&d->hot, &hot, &d->err);
    if (status == TIDE_OK)
        status = tide_hot_reader_open(&d->reader, d->hot, &d->err);
    if (status != TIDE_OK)
        return status;
    (void)!tide_hot_refresh(d->hot, &d->err); /* the folder may be missing */
    struct tide_feed_options options = { .conninfo = feed_url(),
                                         .hot = d->hot,
                                         .stopped = stopped };
    return tide_feed_open(&d->feed, &options, &d->err);
}

static void close_driver(struct driver *d)
{
    tide_feed_close(d->feed);
    tide_hot_reader_close(d->reader);
    tide_hot_close(d->hot);
}

/* --- step ------------------------------------------------------------------------------------- */

struct digest {
    uint64_t sum[2];
    uint64_t count, ticks;
};

/* Adds a record to the digest without the fields that depend on the time when the cache was built:
 * stamps, and sums that run on from that time. */
static bool add_record(void *self, tide_slice key, const void *record)
{
    struct digest *d = self;
    union {
        struct tide_hot_meta meta;
        struct tide_hot_person person;
        uint8_t bytes[sizeof(struct tide_hot_meta)];
    } copy;
    size_t size = tide_hot_record_size((enum tide_hot_kind)key.ptr[0]);
    uint8_t hash[TIDE_HASH_BYTES];
    struct tide_sha256 sha;
    if (key.ptr[0] == TIDE_HOT_TICK || key.ptr[0] == TIDE_HOT_TRADE ||
        key.ptr[0] == TIDE_HOT_CHANGED) {
        d->ticks += key.ptr[0] == TIDE_HOT_TICK;
        return true;
    }
    memcpy(copy.bytes, record, size);
    if (key.ptr[0] == TIDE_HOT_META) {
        copy.meta.generation = copy.meta.retired = 0;
        copy.meta.fed_ms = copy.meta.changed_ms = copy.meta.renewed_ms = 0;
        copy.meta.aged_ms = copy.meta.closed_age_ms = 0;
        copy.meta.moves = copy.meta.records = 0;
        copy.meta.contracts_seen = 0;
        copy.meta.raw_states = 0;
        copy.meta.changes_from = copy.meta.blocked_at = 0;
    } else if (key.ptr[0] == TIDE_HOT_PERSON) {
        copy.person.changed = 0;
    }
    tide_sha256_init(&sha);
    tide_sha256_update(&sha, key);
    tide_sha256_update(&sha, tide_slice_of(copy.bytes, size));
    tide_sha256_final(&sha, hash);
    for (int i = 0; i < 2; i++) {
        uint64_t word;
        memcpy(&word, hash + (size_t)8 * i, 8);
        d->sum[i] += word;
    }
    d->count++;
    if (getenv("TIDE_DUMP")) {
        char hex[2 * TIDE_HOT_KEY_MAX + 1] = "";
        tide_hex(hex, key);
        printf("%u %s %02x%02x%02x%02x\n", key.ptr[0], hex, hash[0], hash[1], hash[2], hash[3]);
    }
    return true;
}

static tide_status print_digest(struct driver *d)
{
    const struct tide_hot_meta *meta;
    struct digest digest = { .count = 0 };
    struct tide_hot_key all = { 0 };
    struct tide_hot_key first = { .len = 1 };
    tide_status status = tide_hot_begin(d->reader, &meta, &d->err);
    if (status != TIDE_OK)
        return status;
    uint32_t ledger = meta->ledger;
    bool complete = meta->complete && meta->compliance_complete;
    tide_hot_scan(d->reader, &all, &first, add_record, &digest);
    status = tide_hot_end(d->reader);
    if (status != TIDE_OK)
        return tide_fail(&d->err, status, "the cache cannot be read");
    fprintf(stderr, "ticks %" PRIu64 "\n", digest.ticks);
    printf("ledger %u %s records %" PRIu64 " digest %016" PRIx64 "%016" PRIx64 "\n", ledger,
           complete ? "complete" : "incomplete", digest.count, digest.sum[0], digest.sum[1]);
    return TIDE_OK;
}

static tide_status step_to(struct driver *d, uint32_t until)
{
    bool more = true;
    tide_status status = TIDE_OK;
    while (more && status == TIDE_OK && !stop)
        status = tide_feed_step(d->feed, until, &more, &d->err);
    return status;
}

/* The first step builds the cache, so all later steps are increments. */
static tide_status single_steps(struct driver *d, uint32_t until)
{
    const struct tide_hot_meta *meta;
    uint32_t at = 0;
    tide_status status = TIDE_OK;
    while (at < until && status == TIDE_OK && !stop) {
        status = tide_hot_begin(d->reader, &meta, &d->err);
        if (status != TIDE_OK)
            return status;
        at = meta->ledger;
        status = tide_hot_end(d->reader);
        if (status == TIDE_OK && at < until)
            status = step_to(d, at + 1);
    }
    return status;
}

/* --- windows ------------------------------------------------------------------------------- */

static bool print_window(void *self, tide_slice key, const void *record)
{
    struct driver *d = self;
    const struct tide_hot_pool *pool = record;
    char a[TIDE_I128_TEXT_MAX + 1] = "", b[TIDE_I128_TEXT_MAX + 1] = "",
                                fee[TIDE_I128_TEXT_MAX + 1] = "";
    struct tide_window w;
    struct tide_reader view = tide_reader_of(d->reader, d->meta, d->now);
    (void)key;
    if (!tide_lookup_window(&view, &pool->id, &w))
        return false;
    tide_i128_text(a, (tide_i128){ w.traded_a });
    tide_i128_text(b, (tide_i128){ w.traded_b });
    tide_i128_text(fee, (tide_i128){ w.fees_b });
    printf("%.32s|%" PRIu64 "|%s|%s|%s\n", pool->id.text, w.swaps, a, b, fee);
    return true;
}

static tide_status print_windows(struct driver *d, uint64_t later)
{
    const struct tide_hot_meta *meta;
    struct tide_hot_key pools = tide_hot_key(TIDE_HOT_POOL);
    tide_status status = tide_hot_begin(d->reader, &meta, &d->err);
    if (status != TIDE_OK)
        return status;
    d->meta = meta;
    d->now = meta->close_time + later;
    tide_hot_scan(d->reader, &pools, NULL, print_window, d);
    return tide_hot_end(d->reader);
}

/* --- run and latency ----------------------------------------------------------------------- */

static void *run_feed(void *self)
{
    struct driver *d = self;
    tide_feed_run(d->feed);
    return NULL;
}

static double ms_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void nap_us(long us)
{
    struct timespec t = { .tv_nsec = us * 1000 };
    nanosleep(&t, NULL);
}

/* Returns the ledger of the cache, or 0 if there is none. */
static uint32_t seen(struct driver *d)
{
    const struct tide_hot_meta *meta;
    if (tide_hot_begin(d->reader, &meta, &d->err) != TIDE_OK)
        return 0;
    uint32_t ledger = meta->ledger;
    return tide_hot_end(d->reader) == TIDE_OK ? ledger : 0;
}

static tide_status watch_ledgers(struct driver *d)
{
    uint32_t last = 0;
    for (uint32_t ticks = 0; !stop; ticks++) {
        uint32_t ledger = seen(d);
        if (ledger != last)
            printf("fed %u\n", ledger);
        fflush(stdout);
        last = ledger;
        if (ticks % 100 == 0) {
            tide_hot_tick(d->hot);
            if (tide_hot_refresh(d->hot, &d->err) != TIDE_OK)
                fprintf(stderr, "refresh: %s\n", d->err.text);
        }
        nap_us(10000);
    }
    return TIDE_OK;
}

/* Commits a ledger as the writer does: a row of history, the ledger, the cursor, a notification. */
static tide_status commit_ledger(struct tide_pg *pg, struct tide_err *err)
{
    static const char sql[] =
        "BEGIN; UPDATE chain.cursor SET ledger = ledger + 1, moves = moves + 1, closed_at ="
        " closed_at + interval '5 s';"
        "UPDATE chain.coverage AS v SET to_ledger = to_ledger + 1 FROM chain.cursor AS c"
        " WHERE v.to_ledger = c.ledger - 1;"
        "INSERT INTO chain.ledger SELECT l.* FROM chain.cursor AS c, LATERAL (SELECT deployment,"
        " c.ledger, hash, previous_hash, c.closed_at, protocol, tx_count, our_txs, events, changes,"
        " raw_events, raw_states, proof, calls_verified, calls_rewritten, calls_unverified, "
        "raw_calls"
        " FROM chain.ledger WHERE deployment = c.deployment AND ledger = c.ledger - 1) AS l;"
        "INSERT INTO history_rows.compliance_registry_frozen (deployment, key_hash, ledger, tx, "
        "seq,"
        " closed_at, contract, removed, life, address, value) SELECT c.deployment, sha256("
        "c.ledger::text::bytea), c.ledger, 1, 0, c.closed_at, (SELECT max(w.id) FROM chain.word"
        " AS w), false, 0, chain.word_key(p.address), true FROM chain.cursor AS c,"
        " LATERAL (SELECT address FROM state.compliance_registry_compliance_rec OFFSET c.ledger % 8"
        " LIMIT 1) AS p;"
        "INSERT INTO state.compliance_registry_frozen SELECT h.deployment, h.key_hash, h.ledger,"
        " h.tx, h.seq, h.closed_at, h.contract, h.address, h.value FROM chain.cursor AS c JOIN"
        " history.compliance_registry_frozen AS h ON h.deployment = c.deployment AND h.ledger ="
        " c.ledger;"
        "SELECT pg_notify('tidemark', '1 1'); COMMIT";
    return tide_pg_run(pg, sql, "COMMIT", err);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tide_status one_commit(struct driver *d, struct tide_pg *pg, double *took)
{
    enum { PATIENCE_MS = 10000 };
    uint32_t before = seen(d);
    tide_status status = commit_ledger(pg, &d->err);
    double start = ms_now();
    while (status == TIDE_OK && seen(d) == before) {
        if (ms_now() - start > (int)PATIENCE_MS)
            return tide_fail(&d->err, TIDE_E_DB, "a commit was not seen within 10 s");
        nap_us(50);
    }
    *took = ms_now() - start;
    return status;
}

/* Returns the limit in milliseconds that a variable names, or a day if the variable is not set. */
static double wanted_ms(const char *name)
{
    uint64_t ms = 86400000;
    const char *text = getenv(name);
    if (text)
        (void)!tide_parse_u64(&ms, tide_slice_str(text), UINT32_MAX);
    return (double)ms;
}

/* Times of each commit: the whole, and the two halves of the feeder's work in it. The rest is the
 * time until the feeder hears of the commit: by a notification, or at a standby by replay and the
 * pause between two reads. */
enum { PART_ALL, PART_ASK, PART_APPLY, PART_REST, PART_COUNT };

static void take_parts(struct driver *d, struct tide_feed_stats *before, double took,
                       double *const parts[PART_COUNT], uint32_t i)
{
    struct tide_feed_stats now;
    tide_feed_stats(d->feed, &now);
    parts[PART_ALL][i] = took;
    parts[PART_ASK][i] = (double)(now.asked_us - before->asked_us) / 1e3;
    parts[PART_APPLY][i] = (double)(now.applied_us - before->applied_us) / 1e3;
    parts[PART_REST][i] = took - parts[PART_ASK][i] - parts[PART_APPLY][i];
    *before = now;
}

static void print_parts(double *const parts[PART_COUNT], uint32_t count)
{
    static const char *const names[] = { "commit to look-up", "of it: the database's answer",
                                         "of it: writing the cache", "of it: hearing of it" };
    for (int part = 0; part < (int)PART_COUNT; part++) {
        double *took = parts[part];
        qsort(took, count, sizeof *took, by_size);
        printf("%s: %u commits, p50 %.1f ms, p99 %.1f ms, longest %.1f ms\n", names[part], count,
               took[count / 2], took[count * 99 / 100], took[count - 1]);
    }
}

static tide_status measure_latency(struct driver *d, uint32_t count)
{
    struct tide_pg *pg = NULL;
    struct tide_pg_options to = { .conninfo = getenv("TIDEMARK_DATABASE_URL"),
                                  .server = TIDE_PG_WRITABLE };
    struct tide_feed_stats before = { .steps = 0 };
    double *all = count ? calloc(PART_COUNT * (size_t)count, sizeof *all) : NULL, took = 0;
    if (!all)
        return tide_fail(&d->err, TIDE_E_MEMORY, "times of commits");
    double *const parts[] = { all, all + count, all + 2 * (size_t)count, all + 3 * (size_t)count };
    tide_status status = tide_pg_open(&pg, &to, &d->err);
    for (int i = 0; i < 500 && seen(d) == 0; i++)
        nap_us(20000);
    tide_feed_stats(d->feed, &before);
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++) {
        status = one_commit(d, pg, &took);
        nap_us(5000 + (long)(i * 7919 % 20000)); /* the feeder counts a step after its end */
        take_parts(d, &before, took, parts, i);
    }
    if (status == TIDE_OK) {
        print_parts(parts, count);
        if (all[count / 2] > wanted_ms("TIDE_P50_MS") ||
            all[count * 99 / 100] > wanted_ms("TIDE_P99_MS"))
            status = tide_fail(&d->err, TIDE_E_RANGE, "commits are seen too late");
    }
    tide_pg_close(pg);
    free(all);
    return status;
}

static tide_status with_thread(struct driver *d, const char *command, uint32_t count)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_feed, d) != 0)
        return tide_fail(&d->err, TIDE_E_MEMORY, "thread");
    tide_status status = strcmp(command, "run") == 0 ? watch_ledgers(d) : measure_latency(d, count);
    stop = 1;
    pthread_join(thread, NULL);
    return status;
}

int main(int argc, char **argv)
{
    struct driver d = { 0 };
    uint64_t number = 0;
    struct sigaction action = { .sa_handler = on_term };
    if (argc < 3)
        return 64;
    sigaction(SIGTERM, &action, NULL);
    if (argc > 3)
        (void)!tide_parse_u64(&number, tide_slice_str(argv[3]), UINT32_MAX);
    tide_status status = open_driver(&d, argv[2]);
    if (status == TIDE_OK && strcmp(argv[1], "step") == 0)
        status = step_to(&d, (uint32_t)number);
    else if (status == TIDE_OK && strcmp(argv[1], "single") == 0)
        status = single_steps(&d, (uint32_t)number);
    else if (status == TIDE_OK && strcmp(argv[1], "windows") == 0)
        status = print_windows(&d, number);
    else if (status == TIDE_OK)
        status = with_thread(&d, argv[1], (uint32_t)number);
    if (status == TIDE_OK && argv[1][0] == 's')
        status = print_digest(&d);
    if (status != TIDE_OK)
        fprintf(stderr, "feed_driver: %s\n", d.err.text);
    close_driver(&d);
    return tide_status_exit(status);
}
