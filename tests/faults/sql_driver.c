/* Calls SQL routes without HTTP: sql_driver [THREADS [QUEUE]]
 *
 * Reads targets from standard input, "GET /api/ledgers?limit=2" a line, asks them one after the
 * other through the pool and prints "STATUS LEDGER MICROSECONDS BODY" a line ("-" for no ledger).
 * A line "flood N TARGET" asks the same N times at once and prints "flood STATUS=COUNT …".
 * A line "stats" prints the pool's counts. The database is TIDEMARK_API_DATABASE_URL, else
 * TIDEMARK_DATABASE_URL; TIDE_DEADLINE_MS is how long a request may wait. No data is too old. */
#include "api/hot/api.h"
#include "api/routes/route_table.h"
#include "api/sql/sql_pool.h"
#include "tidemark/clock.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_MAX_BYTES = 16 << 10, FLOOD_MAX = 10000 };

struct ask {
    struct tide_job job;
    struct tide_request request;
    struct tide_reply reply;
    char scratch[TIDE_ROUTE_SCRATCH];
    sem_t done;
};

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void on_done(struct tide_job *job)
{
    struct ask *ask = (struct ask *)((char *)job - offsetof(struct ask, job));
    sem_post(&ask->done);
}

static bool match_target(struct ask *ask, char *line)
{
    char *blank = strchr(line, ' ');
    char *target = blank ? blank + 1 : line + strlen(line);
    char *mark = strchr(target, '?');
    size_t path = mark ? (size_t)(mark - target) : strlen(target);
    struct tide_target to = { .method = tide_slice_of(line, blank ? (size_t)(blank - line) : 0),
                              .path = tide_slice_of(target, path),
                              .query = tide_slice_str(mark ? mark + 1 : "") };
    return tide_route_match(&ask->request, &ask->reply, &tide_route_table, &to, ask->scratch);
}

/* Returns true if the pool accepted the request. Each request names another client, so that only
 * the pool's limits apply, not those of one client. */
static bool submit_request(struct tide_worker_pool *pool, struct ask *ask)
{
    const char *deadline = getenv("TIDE_DEADLINE_MS");
    static uint32_t client;
    static const struct tide_config config = { .stale_after_ms = UINT32_MAX };
    static struct tide_api api = { .config = &config };
    ask->job = (struct tide_job){ .request = &ask->request, .reply = &ask->reply, .done = on_done };
    ask->job.context.api = &api;
    client++;
    memcpy(ask->job.client.ip, &client, sizeof client);
    if (deadline)
        ask->job.context.deadline_ms = now_us() / 1000 + strtol(deadline, NULL, 10);
    if (tide_worker_pool_submit(pool, &ask->job) == TIDE_JOB_QUEUED)
        return true;
    tide_reply_problem(&ask->reply, 503, "busy", "The queue is full.");
    return false;
}

static void print_reply(const struct ask *ask, int64_t took_us)
{
    char ledger[16] = "-";
    if (ask->reply.at.known)
        snprintf(ledger, sizeof ledger, "%u", ask->reply.at.ledger);
    printf("%u %s %lld %.*s\n", ask->reply.status, ledger, (long long)took_us,
           (int)ask->reply.body.len, (const char *)ask->reply.body.ptr);
    fflush(stdout);
}

static void ask_one(struct tide_worker_pool *pool, struct ask *ask, char *line)
{
    int64_t began = now_us();
    tide_reply_reset(&ask->reply);
    if (match_target(ask, line) && submit_request(pool, ask))
        sem_wait(&ask->done);
    print_reply(ask, now_us() - began);
}

static void flood(struct tide_worker_pool *pool, char *line)
{
    static const unsigned statuses[] = { 200, 400, 404, 500, 503 };
    char *target;
    unsigned counts[5] = { 0 };
    size_t count = strtoul(line, &target, 10);
    if (count == 0 || count > FLOOD_MAX || *target != ' ')
        return;
    struct ask *asks = calloc(count, sizeof *asks);
    bool *waits = calloc(count, sizeof *waits);
    for (size_t i = 0; asks && waits && i < count; i++) {
        sem_init(&asks[i].done, 0, 0);
        tide_reply_init(&asks[i].reply);
        waits[i] = match_target(&asks[i], target + 1) && submit_request(pool, &asks[i]);
    }
    for (size_t i = 0; asks && waits && i < count; i++) {
        if (waits[i])
            sem_wait(&asks[i].done);
        for (size_t s = 0; s < TIDE_COUNT(statuses); s++)
            counts[s] += asks[i].reply.status == statuses[s];
        tide_reply_release(&asks[i].reply);
    }
    printf("flood");
    for (size_t s = 0; s < TIDE_COUNT(statuses); s++)
        printf(" %u=%u", statuses[s], counts[s]);
    printf("\n");
    fflush(stdout);
    free(asks);
    free(waits);
}

static void print_stats(struct tide_worker_pool *pool)
{
    struct tide_worker_pool_stats s;
    tide_worker_pool_stats(pool, &s);
    printf("stats threads=%u connected=%u busy=%u waiting=%u jobs=%llu full=%llu late=%llu"
           " failed=%llu connects=%llu\n",
           s.threads, s.connected, s.busy, s.waiting, (unsigned long long)s.jobs,
           (unsigned long long)s.full, (unsigned long long)s.late, (unsigned long long)s.failed,
           (unsigned long long)s.connects);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static struct ask ask;
    static char line[LINE_MAX_BYTES];
    struct tide_err err;
    struct tide_worker_pool *pool;
    const char *url = getenv("TIDEMARK_API_DATABASE_URL");
    struct tide_sql_pool_options options = {
        .conninfo = url ? url : getenv("TIDEMARK_DATABASE_URL"),
        .routes = &tide_route_table,
        .threads = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1,
        .queue = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 64,
    };
    if (tide_sql_pool_open(&pool, &options, &err) != TIDE_OK) {
        fprintf(stderr, "%s\n", err.text);
        return tide_status_exit(err.code);
    }
    sem_init(&ask.done, 0, 0);
    tide_reply_init(&ask.reply);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "flood ", 6) == 0)
            flood(pool, line + 6);
        else if (strcmp(line, "stats") == 0)
            print_stats(pool);
        else
            ask_one(pool, &ask, line);
    }
    tide_worker_pool_close(pool);
    tide_reply_release(&ask.reply);
    return 0;
}
