#include "indexer/write/session/lease.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"
#include "tidemark/pg.h"
#include "tidemark/text.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { SILENCE_MS = 5000, STATE_MAX = 16, NUMBER_MAX = 32 };
static_assert((int)SILENCE_MS <= (int)TIDE_LEASE_MS,
              "a silent session is given up while the lease holds");

/* The newest report. The lease keeps it for its thread, which renews from a copy. */
struct report {
    char state[STATE_MAX], source[STATE_MAX];
    struct tide_heartbeat heartbeat; /* its texts point to the members around it */
    int64_t made_ms;                 /* when it was made */
    uint64_t retries, moves;
    char trouble[TIDE_ERR_TEXT_MAX], error[TIDE_ERR_TEXT_MAX];
    bool troubled, error_pending; /* error_pending: error has not been written yet */
};

struct tide_lease {
    struct tide_lease_options options;
    char writer[TIDE_WRITER_TEXT];
    char instance[TIDE_LEASE_INSTANCE_MAX];
    struct tide_pg *pg; /* session of the thread */
    bool failing;       /* the failure was logged; used by the thread only */
    uint64_t renewed;   /* moves at the last renewal; used by the thread only */
    pthread_t thread;
    bool started;

    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t wake;
    bool closing, lost, hurried;
    struct report report;
};

static const char session_sql[] =
    "SET lock_timeout = '2s'; SET statement_timeout = '4s'; SET synchronous_commit = off;"
    "SET idle_session_timeout = '90s'; SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = "
    "1;"
    "SET tcp_keepalives_count = 3; SET tcp_user_timeout = '8s'";

static const char introduce_sql[] =
    "UPDATE chain.lease SET lease_pid = pg_backend_pid(), lease_name ="
    " current_setting('application_name'), lease_started = (SELECT backend_start FROM"
    " pg_stat_activity WHERE pid = pg_backend_pid()) WHERE deployment = $1::int AND writer ="
    " $2::uuid";

/* Renews the lease, and writes the heartbeat only if the lease is still held. The session may be at
 * another server than the writer's: a former primary that still runs. There the cursor
 * lacks the writer's commits. */
static const char renew_sql[] =
    "WITH l AS (UPDATE chain.lease SET renewed_at = clock_timestamp() WHERE deployment = $1::int"
    " AND writer = $2::uuid RETURNING 1), b AS (INSERT INTO chain.heartbeat AS h (deployment,"
    " state, instance, tip, ledger, rate, error, error_at, retries, ledgers, events, event_rate,"
    " source, trouble, trouble_ms, current_at) SELECT $1::int, $3, $4, nullif($5::int, 0), "
    "nullif($6::int, 0),"
    " $7::float8, $8::text, CASE WHEN $8::text IS NOT NULL THEN clock_timestamp() END, $9::bigint,"
    " $10::bigint, $11::bigint, $12::float8, $13::text, $14::text, $15::bigint,"
    " CASE WHEN $16::boolean AND EXISTS (SELECT FROM chain.cursor AS c WHERE c.deployment = $1::int"
    " AND c.writer = $2::uuid AND c.moves >= $17::bigint) THEN clock_timestamp() END FROM l"
    " WHERE $3 <> '' ON CONFLICT (deployment) DO UPDATE SET state = excluded.state,"
    " instance = excluded.instance, tip = coalesce(excluded.tip, h.tip),"
    " ledger = coalesce(excluded.ledger, h.ledger), rate = excluded.rate,"
    " error = coalesce(excluded.error, h.error), error_at = coalesce(excluded.error_at,"
    " h.error_at), retries = excluded.retries, ledgers = excluded.ledgers,"
    " events = excluded.events, event_rate = excluded.event_rate, source = excluded.source,"
    " trouble = excluded.trouble, trouble_ms = excluded.trouble_ms, current_at ="
    " coalesce(excluded.current_at, h.current_at), heartbeat_at = clock_timestamp())"
    " SELECT count(*) FROM l";

void tide_lease_instance(char out[TIDE_LEASE_INSTANCE_MAX])
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    int len = snprintf(out, TIDE_LEASE_INSTANCE_MAX, "%s:%ld", host, (long)getpid());
    assert(len > 0 && len < (int)TIDE_LEASE_INSTANCE_MAX); /* two processes differ in its end */
    (void)len;
}

static bool is_closing(void *self)
{
    struct tide_lease *lease = self;
    pthread_mutex_lock(&lease->lock);
    bool closing = lease->closing;
    pthread_mutex_unlock(&lease->lock);
    return closing;
}

static tide_status connect_session(struct tide_lease *lease, const char *const ids[2],
                                   struct tide_err *err)
{
    const struct tide_pg_options to = { .conninfo = lease->options.conninfo,
                                        .application = "tidemark-lease",
                                        .server = TIDE_PG_WRITABLE,
                                        .silence_ms = SILENCE_MS,
                                        .stopped = is_closing,
                                        .stopped_self = lease };
    if (lease->pg && tide_pg_alive(lease->pg))
        return TIDE_OK;
    tide_status status = tide_pg_connect(&lease->pg, &to, err);
    if (status == TIDE_OK)
        status = tide_pg_run(lease->pg, session_sql, "SET", err);
    if (status == TIDE_OK)
        status = tide_pg_query(lease->pg, NULL, introduce_sql, ids, 2, err);
    if (status == TIDE_OK)
        status = tide_pg_prepare(lease->pg, "renew", renew_sql, err);
    return status;
}

/* Returns whether the writer committed since the last renewal, or is at the tip. A report that is
 * old says nothing: the writer's thread may wait for something since. */
static bool is_current(const struct tide_lease *lease, const struct report *report)
{
    return report->moves != lease->renewed ||
           (report->heartbeat.current && tide_now_ms() - report->made_ms < TIDE_LEASE_MS);
}

static tide_status renew_row(struct tide_lease *lease, const struct report *report,
                             const char *const ids[2], bool *held, struct tide_err *err)
{
    const struct tide_heartbeat *heartbeat = &report->heartbeat;
    char numbers[9][NUMBER_MAX];
    struct tide_pg_rows rows = { 0 };
    snprintf(numbers[0], NUMBER_MAX, "%u", heartbeat->tip);
    snprintf(numbers[1], NUMBER_MAX, "%u", heartbeat->ledger);
    snprintf(numbers[2], NUMBER_MAX, "%.3f", heartbeat->rate);
    snprintf(numbers[3], NUMBER_MAX, "%" PRIu64, report->retries);
    snprintf(numbers[4], NUMBER_MAX, "%" PRIu64, heartbeat->ledgers);
    snprintf(numbers[5], NUMBER_MAX, "%" PRIu64, heartbeat->events);
    snprintf(numbers[6], NUMBER_MAX, "%.3f", heartbeat->event_rate);
    snprintf(numbers[7], NUMBER_MAX, "%" PRId64, heartbeat->trouble_ms);
    snprintf(numbers[8], NUMBER_MAX, "%" PRIu64, report->moves);
    const char *values[] = { ids[0],
                             ids[1],
                             report->state,
                             lease->instance,
                             numbers[0],
                             numbers[1],
                             numbers[2],
                             report->error_pending ? report->error : NULL,
                             numbers[3],
                             numbers[4],
                             numbers[5],
                             numbers[6],
                             report->source[0] ? report->source : NULL,
                             report->troubled ? report->trouble : NULL,
                             report->troubled ? numbers[7] : NULL,
                             is_current(lease, report) ? "t" : "f",
                             numbers[8] };
    static_assert(TIDE_COUNT(values) == 17, "the parameters of renew_sql");
    tide_status status =
        tide_pg_execute(lease->pg, &rows, "renew", values, TIDE_COUNT(values), err);
    *held = status == TIDE_OK && tide_pg_u64(&rows, 0, 0) == 1;
    if (*held)
        lease->renewed = report->moves;
    tide_pg_rows_release(&rows);
    return status;
}

/* Logs the first failure; logs again only after a success. */
static void note_failure(struct tide_lease *lease, tide_status status, const struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    if (status != TIDE_OK && !lease->failing)
        tide_log(TIDE_WARN, "lease.retry", "reason=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
    lease->failing = status != TIDE_OK;
}

static void run_tick(struct tide_lease *lease, struct report *report)
{
    char deployment[12];
    const char *const ids[2] = { deployment, lease->writer };
    struct tide_err err;
    bool held = false;
    snprintf(deployment, sizeof deployment, "%u", lease->options.deployment);
    pthread_mutex_lock(&lease->lock);
    *report = lease->report;
    lease->report.error_pending = lease->hurried = false;
    pthread_mutex_unlock(&lease->lock);
    tide_status status = connect_session(lease, ids, &err);
    if (status == TIDE_OK)
        status = renew_row(lease, report, ids, &held, &err);
    note_failure(lease, status, &err);
    if (status == TIDE_OK && !held)
        tide_log(TIDE_WARN, "lease.lost", "deployment=%u writer=%s", lease->options.deployment,
                 lease->writer);
    pthread_mutex_lock(&lease->lock);
    lease->lost = status == TIDE_OK && !held;
    if (status != TIDE_OK && report->error_pending && !lease->report.error_pending) {
        memcpy(lease->report.error, report->error, sizeof report->error);
        lease->report.error_pending = true;
    }
    pthread_mutex_unlock(&lease->lock);
}

static void give_back(struct tide_lease *lease)
{
    char sql[160];
    struct tide_err ignored;
    int len =
        snprintf(sql, sizeof sql, "DELETE FROM chain.lease WHERE deployment = %u AND writer = '%s'",
                 lease->options.deployment, lease->writer);
    assert(len > 0 && (size_t)len < sizeof sql); /* cut, it deletes another writer's lease */
    (void)len;
    if (lease->pg && tide_pg_alive(lease->pg))
        (void)!tide_pg_run(lease->pg, sql, "DELETE", &ignored);
}

/* Waits until the next renewal is due. Call with the lock. */
static void wait_a_turn(struct tide_lease *lease)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TIDE_LEASE_RENEW_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int waited = 0;
    while (!lease->closing && (!lease->hurried || lease->lost) && waited == 0)
        waited = pthread_cond_timedwait(&lease->wake, &lease->lock, &until);
}

static void *run_lease(void *self)
{
    struct tide_lease *lease = self;
    struct report report;
    pthread_mutex_lock(&lease->lock);
    while (!lease->closing) {
        bool lost = lease->lost;
        pthread_mutex_unlock(&lease->lock);
        if (!lost)
            run_tick(lease, &report);
        pthread_mutex_lock(&lease->lock);
        wait_a_turn(lease);
    }
    bool lost = lease->lost;
    pthread_mutex_unlock(&lease->lock);
    if (!lost && !lease->failing) {
        run_tick(lease, &report);
        give_back(lease);
    }
    tide_pg_close(lease->pg);
    return NULL;
}

static bool init_locks(struct tide_lease *lease)
{
    pthread_condattr_t attr;
    if (pthread_mutex_init(&lease->lock, NULL) != 0)
        return false;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    bool made = pthread_cond_init(&lease->wake, &attr) == 0;
    pthread_condattr_destroy(&attr);
    if (!made)
        pthread_mutex_destroy(&lease->lock);
    return made;
}

tide_status tide_lease_open(struct tide_lease **out, const struct tide_lease_options *options,
                            struct tide_err *err)
{
    struct tide_lease *lease = calloc(1, sizeof *lease);
    if (!lease || !init_locks(lease)) {
        free(lease);
        return tide_fail(err, TIDE_E_MEMORY, "lease");
    }
    lease->options = *options;
    snprintf(lease->writer, sizeof lease->writer, "%s", options->writer);
    lease->report.moves = lease->renewed = options->moves;
    tide_lease_instance(lease->instance);
    lease->started = pthread_create(&lease->thread, NULL, run_lease, lease) == 0;
    if (!lease->started) {
        tide_lease_close(lease);
        return tide_fail(err, TIDE_E_MEMORY, "lease: no thread");
    }
    *out = lease;
    return TIDE_OK;
}

void tide_lease_close(struct tide_lease *lease)
{
    if (!lease)
        return;
    pthread_mutex_lock(&lease->lock);
    lease->closing = true;
    pthread_cond_broadcast(&lease->wake);
    pthread_mutex_unlock(&lease->lock);
    if (lease->started)
        pthread_join(lease->thread, NULL);
    pthread_cond_destroy(&lease->wake);
    pthread_mutex_destroy(&lease->lock);
    free(lease);
}

void tide_lease_report(struct tide_lease *lease, const struct tide_heartbeat *heartbeat,
                       uint64_t retries)
{
    pthread_mutex_lock(&lease->lock);
    struct report *report = &lease->report;
    assert(strlen(heartbeat->state) < sizeof report->state);
    assert(!heartbeat->source || strlen(heartbeat->source) < sizeof report->source);
    bool changed = strcmp(report->state, heartbeat->state) != 0 || heartbeat->error;
    snprintf(report->state, sizeof report->state, "%s", heartbeat->state);
    if (heartbeat->source)
        snprintf(report->source, sizeof report->source, "%s", heartbeat->source);
    if (heartbeat->error) {
        snprintf(report->error, sizeof report->error, "%s", heartbeat->error);
        tide_text_make_ascii(report->error);
        report->error_pending = true;
    }
    report->troubled = heartbeat->trouble != NULL;
    snprintf(report->trouble, sizeof report->trouble, "%s",
             heartbeat->trouble ? heartbeat->trouble : "");
    tide_text_make_ascii(report->trouble);
    report->heartbeat = *heartbeat;
    report->made_ms = tide_now_ms();
    report->retries = retries;
    lease->hurried = lease->hurried || changed;
    if (changed)
        pthread_cond_broadcast(&lease->wake);
    pthread_mutex_unlock(&lease->lock);
}

void tide_lease_committed(struct tide_lease *lease, uint64_t moves)
{
    pthread_mutex_lock(&lease->lock);
    assert(moves > lease->report.moves);
    lease->report.moves = moves;
    pthread_mutex_unlock(&lease->lock);
}

bool tide_lease_lost(struct tide_lease *lease)
{
    pthread_mutex_lock(&lease->lock);
    bool lost = lease->lost;
    pthread_mutex_unlock(&lease->lock);
    return lost;
}
