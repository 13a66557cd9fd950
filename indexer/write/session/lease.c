#include "indexer/write/session/lease.h"
#include "tidemark/log.h"
#include "tidemark/pg.h"
#include "tidemark/text.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { SILENCE_MS = 5000, STATE_MAX = 16, NUMBER_MAX = 32 };

/* The report to write: the newest one, copied. */
struct word {
    char state[STATE_MAX], source[STATE_MAX];
    struct tide_heartbeat heartbeat; /* its texts are those around it */
    uint64_t retries;
    char trouble[TIDE_ERR_TEXT_MAX], error[TIDE_ERR_TEXT_MAX];
    bool troubled, erred; /* erred: error is not written yet */
};

struct tide_lease {
    struct tide_lease_options options;
    char instance[TIDE_LEASE_INSTANCE_MAX];
    struct tide_pg *pg; /* of the thread */
    bool failing;       /* of the thread: said already */
    pthread_t thread;
    bool started;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;
    bool closing, lost, hurried;
    struct word word;
};

static const char session_sql[] =
    "SET lock_timeout = '2s'; SET statement_timeout = '4s'; SET synchronous_commit = off;"
    "SET idle_session_timeout = '90s'; SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = "
    "1;"
    "SET tcp_keepalives_count = 3; SET tcp_user_timeout = '8s'";

static const char introduce_sql[] =
    "UPDATE chain.lease SET lease_pid = pg_backend_pid(), lease_name ="
    " current_setting('application_name'), lease_started = (SELECT backend_start FROM"
    " pg_stat_activity WHERE pid = pg_backend_pid()) WHERE deployment = $1::int AND fence ="
    " $2::bigint";

/* The lease first: who has lost it says nothing. */
static const char renew_sql[] =
    "WITH l AS (UPDATE chain.lease SET renewed_at = clock_timestamp() WHERE deployment = $1::int"
    " AND fence = $2::bigint RETURNING 1), b AS (INSERT INTO chain.heartbeat AS h (deployment,"
    " state, instance, tip, ledger, rate, error, error_at, retries, ledgers, events, event_rate,"
    " source, trouble, trouble_ms) SELECT $1::int, $3, $4, nullif($5::int, 0), nullif($6::int, 0),"
    " $7::float8, $8::text, CASE WHEN $8::text IS NOT NULL THEN clock_timestamp() END, $9::bigint,"
    " $10::bigint, $11::bigint, $12::float8, $13::text, $14::text, $15::bigint FROM l"
    " WHERE $3 <> '' ON CONFLICT (deployment) DO UPDATE SET state = excluded.state,"
    " instance = excluded.instance, tip = coalesce(excluded.tip, h.tip),"
    " ledger = coalesce(excluded.ledger, h.ledger), rate = excluded.rate,"
    " error = coalesce(excluded.error, h.error), error_at = coalesce(excluded.error_at,"
    " h.error_at), retries = excluded.retries, ledgers = excluded.ledgers,"
    " events = excluded.events, event_rate = excluded.event_rate, source = excluded.source,"
    " trouble = excluded.trouble, trouble_ms = excluded.trouble_ms, heartbeat_at = "
    "clock_timestamp())"
    " SELECT count(*) FROM l";

void tide_lease_instance(char out[TIDE_LEASE_INSTANCE_MAX])
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    snprintf(out, TIDE_LEASE_INSTANCE_MAX, "%s:%ld", host, (long)getpid());
}

static bool is_closing(void *self)
{
    struct tide_lease *k = self;
    pthread_mutex_lock(&k->lock);
    bool closing = k->closing;
    pthread_mutex_unlock(&k->lock);
    return closing;
}

static tide_status connect_session(struct tide_lease *k, const char *const ids[2],
                                   struct tide_err *err)
{
    const struct tide_pg_options to = { .conninfo = k->options.conninfo,
                                        .application = "tidemark-lease",
                                        .server = TIDE_PG_WRITABLE,
                                        .silence_ms = SILENCE_MS,
                                        .stopped = is_closing,
                                        .stopped_self = k };
    if (k->pg && tide_pg_alive(k->pg))
        return TIDE_OK;
    tide_status status = tide_pg_connect(&k->pg, &to, err);
    if (status == TIDE_OK)
        status = tide_pg_run(k->pg, session_sql, "SET", err);
    if (status == TIDE_OK)
        status = tide_pg_query(k->pg, NULL, introduce_sql, ids, 2, err);
    if (status == TIDE_OK)
        status = tide_pg_prepare(k->pg, "renew", renew_sql, err);
    return status;
}

static tide_status renew_row(struct tide_lease *k, const struct word *word,
                             const char *const ids[2], bool *held, struct tide_err *err)
{
    const struct tide_heartbeat *heartbeat = &word->heartbeat;
    char numbers[8][NUMBER_MAX];
    struct tide_pg_rows rows = { 0 };
    snprintf(numbers[0], NUMBER_MAX, "%u", heartbeat->tip);
    snprintf(numbers[1], NUMBER_MAX, "%u", heartbeat->ledger);
    snprintf(numbers[2], NUMBER_MAX, "%.3f", heartbeat->rate);
    snprintf(numbers[3], NUMBER_MAX, "%" PRIu64, word->retries);
    snprintf(numbers[4], NUMBER_MAX, "%" PRIu64, heartbeat->ledgers);
    snprintf(numbers[5], NUMBER_MAX, "%" PRIu64, heartbeat->events);
    snprintf(numbers[6], NUMBER_MAX, "%.3f", heartbeat->event_rate);
    snprintf(numbers[7], NUMBER_MAX, "%" PRId64, heartbeat->trouble_ms);
    const char *values[] = { ids[0],
                             ids[1],
                             word->state,
                             k->instance,
                             numbers[0],
                             numbers[1],
                             numbers[2],
                             word->erred ? word->error : NULL,
                             numbers[3],
                             numbers[4],
                             numbers[5],
                             numbers[6],
                             word->source[0] ? word->source : NULL,
                             word->troubled ? word->trouble : NULL,
                             word->troubled ? numbers[7] : NULL };
    tide_status status = tide_pg_execute(k->pg, &rows, "renew", values, TIDE_COUNT(values), err);
    *held = status == TIDE_OK && tide_pg_u64(&rows, 0, 0) == 1;
    tide_pg_rows_release(&rows);
    return status;
}

/* Told once, until it is well again. */
static void note_failure(struct tide_lease *k, tide_status status, const struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    if (status != TIDE_OK && !k->failing)
        tide_log(TIDE_WARN, "lease.retry", "reason=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
    k->failing = status != TIDE_OK;
}

static void run_tick(struct tide_lease *k, struct word *word)
{
    char deployment[12], fence[NUMBER_MAX];
    const char *const ids[2] = { deployment, fence };
    struct tide_err err;
    bool held = false;
    snprintf(deployment, sizeof deployment, "%u", k->options.deployment);
    snprintf(fence, sizeof fence, "%" PRIu64, k->options.fence);
    pthread_mutex_lock(&k->lock);
    *word = k->word;
    k->word.erred = k->hurried = false;
    pthread_mutex_unlock(&k->lock);
    tide_status status = connect_session(k, ids, &err);
    if (status == TIDE_OK)
        status = renew_row(k, word, ids, &held, &err);
    note_failure(k, status, &err);
    if (status == TIDE_OK && !held)
        tide_log(TIDE_WARN, "lease.lost", "deployment=%u fence=%" PRIu64, k->options.deployment,
                 k->options.fence);
    pthread_mutex_lock(&k->lock);
    k->lost = status == TIDE_OK && !held;
    if (status != TIDE_OK && word->erred && !k->word.erred) {
        memcpy(k->word.error, word->error, sizeof word->error);
        k->word.erred = true;
    }
    pthread_mutex_unlock(&k->lock);
}

static void give_back(struct tide_lease *k)
{
    char sql[128];
    struct tide_err ignored;
    snprintf(sql, sizeof sql, "DELETE FROM chain.lease WHERE deployment = %u AND fence = %" PRIu64,
             k->options.deployment, k->options.fence);
    if (k->pg && tide_pg_alive(k->pg))
        (void)!tide_pg_run(k->pg, sql, "DELETE", &ignored);
}

/* Locked. */
static void wait_a_turn(struct tide_lease *k)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TIDE_LEASE_RENEW_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int waited = 0;
    while (!k->closing && (!k->hurried || k->lost) && waited == 0)
        waited = pthread_cond_timedwait(&k->wake, &k->lock, &until);
}

static void *run_lease(void *self)
{
    struct tide_lease *k = self;
    struct word word;
    pthread_mutex_lock(&k->lock);
    while (!k->closing) {
        bool lost = k->lost;
        pthread_mutex_unlock(&k->lock);
        if (!lost)
            run_tick(k, &word);
        pthread_mutex_lock(&k->lock);
        wait_a_turn(k);
    }
    bool lost = k->lost;
    pthread_mutex_unlock(&k->lock);
    if (!lost && !k->failing) {
        run_tick(k, &word);
        give_back(k);
    }
    tide_pg_close(k->pg);
    return NULL;
}

static bool init_locks(struct tide_lease *k)
{
    pthread_condattr_t attr;
    if (pthread_mutex_init(&k->lock, NULL) != 0)
        return false;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    bool made = pthread_cond_init(&k->wake, &attr) == 0;
    pthread_condattr_destroy(&attr);
    if (!made)
        pthread_mutex_destroy(&k->lock);
    return made;
}

tide_status tide_lease_open(struct tide_lease **out, const struct tide_lease_options *options,
                            struct tide_err *err)
{
    struct tide_lease *k = calloc(1, sizeof *k);
    if (!k || !init_locks(k)) {
        free(k);
        return tide_fail(err, TIDE_E_MEMORY, "lease");
    }
    k->options = *options;
    tide_lease_instance(k->instance);
    k->started = pthread_create(&k->thread, NULL, run_lease, k) == 0;
    if (!k->started) {
        tide_lease_close(k);
        return tide_fail(err, TIDE_E_MEMORY, "lease: no thread");
    }
    *out = k;
    return TIDE_OK;
}

void tide_lease_close(struct tide_lease *k)
{
    if (!k)
        return;
    pthread_mutex_lock(&k->lock);
    k->closing = true;
    pthread_cond_broadcast(&k->wake);
    pthread_mutex_unlock(&k->lock);
    if (k->started)
        pthread_join(k->thread, NULL);
    pthread_cond_destroy(&k->wake);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

void tide_lease_report(struct tide_lease *k, const struct tide_heartbeat *heartbeat,
                       uint64_t retries)
{
    pthread_mutex_lock(&k->lock);
    struct word *w = &k->word;
    bool changed = strcmp(w->state, heartbeat->state) != 0 || heartbeat->error;
    snprintf(w->state, sizeof w->state, "%s", heartbeat->state);
    if (heartbeat->source)
        snprintf(w->source, sizeof w->source, "%s", heartbeat->source);
    if (heartbeat->error) {
        snprintf(w->error, sizeof w->error, "%s", heartbeat->error);
        w->erred = true;
    }
    w->troubled = heartbeat->trouble != NULL;
    snprintf(w->trouble, sizeof w->trouble, "%s", heartbeat->trouble ? heartbeat->trouble : "");
    w->heartbeat = *heartbeat;
    w->retries = retries;
    k->hurried = k->hurried || changed;
    if (changed)
        pthread_cond_broadcast(&k->wake);
    pthread_mutex_unlock(&k->lock);
}

bool tide_lease_lost(struct tide_lease *k)
{
    pthread_mutex_lock(&k->lock);
    bool lost = k->lost;
    pthread_mutex_unlock(&k->lock);
    return lost;
}
