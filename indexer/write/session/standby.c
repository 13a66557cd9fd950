#include "indexer/write/session/main_session.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

/* Waiting as a standby: tries the lock, and ends the sessions of a holder that does not renew its
 * lease. */

enum { SEEN_MS = 1000 };

/* The lease l has not been renewed for the time %d ms, given twice. A renewal in the future is one
 * from before the database's clock was set back: a holder that lives would have renewed since. */
#define EXPIRED                                                         \
    "l.renewed_at NOT BETWEEN clock_timestamp() - interval '%d ms' AND" \
    " clock_timestamp() + interval '%d ms'"

static tide_status look_at_lock(struct write_main *m, bool *locked, bool *expired,
                                struct tide_err *err)
{
    struct write_session *s = &m->session;
    write_sql(s,
              "SELECT pg_try_advisory_lock(x'74696465'::int, %u), EXISTS (SELECT 1 FROM"
              " chain.lease AS l WHERE l.deployment = %u AND " EXPIRED ")",
              s->plan->deployment, s->plan->deployment, TIDE_LEASE_MS, TIDE_LEASE_MS);
    tide_status status = write_query_sql(s, err);
    *locked = status == TIDE_OK && tide_pg_bool(&s->rows, 0, 0);
    *expired = status == TIDE_OK && tide_pg_bool(&s->rows, 0, 1);
    return status;
}

/* Ends the sessions of the holder. They are identified by process id, start time and name: the
 * process id alone may belong to another session by now. */
static tide_status put_out(struct write_main *m, struct tide_err *err)
{
    struct write_session *s = &m->session;
    char quoted[TIDE_LEASE_INSTANCE_MAX + 64];
    write_sql(s,
              "SELECT l.instance, round(extract(epoch FROM clock_timestamp() - l.renewed_at) *"
              " 1000), count(pg_terminate_backend(a.pid)) FROM chain.lease l, LATERAL (VALUES"
              " (l.writer_pid, l.writer_started, l.writer_name), (l.lease_pid, l.lease_started,"
              " l.lease_name)) s(pid, started, name) JOIN pg_stat_activity a ON a.pid = s.pid AND"
              " a.backend_start = s.started AND a.application_name = s.name AND a.usename ="
              " current_user WHERE l.deployment = %u AND " EXPIRED " GROUP BY 1, 2",
              s->plan->deployment, TIDE_LEASE_MS, TIDE_LEASE_MS);
    tide_status status = write_query_sql(s, err);
    if (status == TIDE_OK && s->rows.count)
        tide_log(TIDE_WARN, "lease.expired", "deployment=%u holder=%s silent_ms=%s ended=%s",
                 s->plan->deployment,
                 tide_log_quote(quoted, sizeof quoted, tide_pg_text(&s->rows, 0, 0)),
                 tide_pg_text(&s->rows, 0, 1), tide_pg_text(&s->rows, 0, 2));
    return status;
}

static tide_status be_seen(struct write_main *m, struct tide_err *err)
{
    struct write_session *s = &m->session;
    char instance[TIDE_LEASE_INSTANCE_MAX];
    tide_lease_instance(instance);
    return tide_pg_query(write_pg(s), NULL,
                         "WITH gone AS (DELETE FROM chain.standby WHERE seen_at <"
                         " clock_timestamp() - interval '1 minute') INSERT INTO chain.standby"
                         " (deployment, instance) VALUES ($1::int, $2) ON CONFLICT (deployment,"
                         " instance) DO UPDATE SET seen_at = clock_timestamp()",
                         (const char *[]){ s->plan->deployment_text, instance }, 2, err);
}

static tide_status be_gone(struct write_main *m, struct tide_err *err)
{
    struct write_session *s = &m->session;
    char instance[TIDE_LEASE_INSTANCE_MAX];
    tide_lease_instance(instance);
    return tide_pg_query(write_pg(s), NULL,
                         "DELETE FROM chain.standby WHERE deployment = $1::int AND instance = $2",
                         (const char *[]){ s->plan->deployment_text, instance }, 2, err);
}

static void nap(struct write_main *m, uint32_t poll_ms)
{
    struct write_session *s = &m->session;
    for (uint32_t ms = poll_ms; ms && !write_plan_stopped(s->plan);) {
        uint32_t slice = ms < 100 ? ms : 100;
        tide_sleep_ms(slice);
        ms -= slice;
    }
}

/* Tries the lock once, and handles a holder whose lease expired. */
static tide_status stand_by(struct write_main *m, bool standby, bool *locked, int64_t *seen_ms,
                            struct tide_err *err)
{
    struct write_session *s = &m->session;
    bool expired = false;
    tide_status status = look_at_lock(m, locked, &expired, err);
    if (status != TIDE_OK || *locked)
        return status;
    if (!standby)
        return tide_fail(err, TIDE_E_CONFLICT,
                         "writer: another process writes deployment %u (standby is off)",
                         s->plan->deployment);
    if (expired)
        status = put_out(m, err);
    if (*seen_ms < 0)
        tide_log(TIDE_INFO, "writer.standby", "deployment=%u", s->plan->deployment);
    int64_t now = tide_now_ms();
    if (status == TIDE_OK && (*seen_ms < 0 || now - *seen_ms >= SEEN_MS)) {
        status = be_seen(m, err);
        *seen_ms = now;
    }
    return status;
}

tide_status write_wait_lock(struct write_main *m, bool standby, uint32_t poll_ms,
                            struct tide_err *err)
{
    struct write_session *s = &m->session;
    bool locked = false;
    int64_t seen_ms = -1;
    for (;;) {
        tide_status status = stand_by(m, standby, &locked, &seen_ms, err);
        if (status == TIDE_OK && !locked && write_plan_stopped(s->plan)) {
            struct tide_err ignored;
            (void)!be_gone(m, &ignored);
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        }
        if (status == TIDE_OK && locked && seen_ms >= 0)
            status = be_gone(m, err);
        if (status != TIDE_OK || locked)
            return status;
        nap(m, poll_ms);
    }
}

#define THIS_SESSION                                                            \
    "pg_backend_pid(), (SELECT backend_start FROM pg_stat_activity WHERE pid =" \
    " pg_backend_pid()), current_setting('application_name')"

tide_status write_take_lease(struct write_main *m, bool hold, struct tide_err *err)
{
    struct write_session *s = &m->session;
    char instance[TIDE_LEASE_INSTANCE_MAX];
    assert(!m->lease); /* the lease's thread starts only after the row exists */
    tide_lease_instance(instance);
    if (!hold)
        return tide_pg_query(write_pg(s), NULL,
                             "DELETE FROM chain.lease WHERE deployment = $1::int",
                             (const char *[]){ s->plan->deployment_text }, 1, err);
    return tide_pg_query(write_pg(s), NULL,
                         "INSERT INTO chain.lease (deployment, writer, instance, writer_pid,"
                         " writer_started, writer_name) SELECT $1::int, $2::uuid, $3,"
                         " " THIS_SESSION " ON CONFLICT (deployment) DO UPDATE SET writer ="
                         " excluded.writer, instance = excluded.instance, writer_pid ="
                         " excluded.writer_pid, writer_started = excluded.writer_started,"
                         " writer_name = excluded.writer_name, lease_pid = NULL, lease_started ="
                         " NULL, lease_name = NULL, taken_at = clock_timestamp(), renewed_at ="
                         " clock_timestamp()",
                         (const char *[]){ s->plan->deployment_text, m->cursor.writer, instance },
                         3, err);
}

tide_status write_keep_lease(struct write_main *m, struct tide_err *err)
{
    struct write_session *s = &m->session;
    if (!m->lease)
        return TIDE_OK;
    return tide_pg_query(write_pg(s), NULL,
                         "UPDATE chain.lease SET (writer_pid, writer_started, writer_name) ="
                         " (SELECT " THIS_SESSION ") WHERE deployment = $1::int AND writer ="
                         " $2::uuid",
                         (const char *[]){ s->plan->deployment_text, m->cursor.writer }, 2, err);
}
