/* Statements by which a worker takes work from the database, and postpones it. */
#include "api/kyc/worker/worker_impl.h"
#include "tidemark/text.h"

#include <stdio.h>

void worker_copy_text(char *to, size_t size, const struct tide_pg_rows *rows, uint32_t column)
{
    assert(size > 0 && column < rows->columns);
    snprintf(to, size, "%s", tide_pg_text(rows, 0, column));
}

/* --- taking ---------------------------------------------------------------------------------- */

/* The statement moves next_try ahead, so that another process takes the row if this one dies. SKIP
 * LOCKED lets processes take different rows. */
tide_status worker_take_event(struct worker *w, struct worker_event *out, bool *found,
                              struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        w->context.pg, &rows,
        "UPDATE kyc.inbox SET attempts = least(attempts, 999999) + 1,"
        "  next_try = clock_timestamp() + interval '1 s' * least(900, 5 * 2 ^ least(attempts, 8))"
        " WHERE (deployment, provider, event_key) = (SELECT deployment, provider, event_key"
        "   FROM kyc.inbox WHERE deployment = $2::smallint AND provider = $1 AND state = 'new'"
        "   AND next_try <= statement_timestamp()"
        "   ORDER BY next_try LIMIT 1 FOR UPDATE SKIP LOCKED)"
        " RETURNING event_key, provider_id, ref, attempts",
        (const char *[]){ w->provider->key, w->context.deployment_text }, 2, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.columns == 4);
    *found = rows.count == 1;
    if (*found) {
        worker_copy_text(out->key, sizeof out->key, &rows, 0);
        worker_copy_text(out->provider_id, sizeof out->provider_id, &rows, 1);
        worker_copy_text(out->ref, sizeof out->ref, &rows, 2);
        out->attempts = (uint32_t)tide_pg_u64(&rows, 0, 3);
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Reads the columns id, provider_id, clock_timestamp(), attempts, address, provider. */
static void read_session(struct worker_session *out, const struct tide_pg_rows *rows)
{
    assert(rows->count == 1 && rows->columns >= 6);
    worker_copy_text(out->id, sizeof out->id, rows, 0);
    worker_copy_text(out->provider_id, sizeof out->provider_id, rows, 1);
    worker_copy_text(out->taken_at, sizeof out->taken_at, rows, 2);
    out->attempts = (uint32_t)tide_pg_u64(rows, 0, 3);
    worker_copy_text(out->address, sizeof out->address, rows, 4);
    worker_copy_text(out->provider, sizeof out->provider, rows, 5);
}

/* Runs a statement that returns those columns of at most one session. */
static tide_status query_session(struct worker *w, const char *sql, const char *const *values,
                                 size_t count, struct worker_session *out, bool *found,
                                 struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(w->context.pg, &rows, sql, values, count, err);
    if (status != TIDE_OK)
        return status;
    *found = rows.count == 1;
    if (*found)
        read_session(out, &rows);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* The row is taken for 15 s, longer than one call to a provider may last. */
tide_status worker_take_session(struct worker *w, struct worker_session *out, bool *found,
                                struct tide_err *err)
{
    return query_session(
        w,
        "UPDATE kyc.session SET attempts = least(attempts, 999999) + 1, next_check "
        "= clock_timestamp() + interval '15 s'"
        " WHERE id = (SELECT id FROM kyc.session WHERE deployment = $2::smallint"
        "   AND provider = $1 AND next_check <= statement_timestamp()"
        "   ORDER BY next_check LIMIT 1 FOR UPDATE SKIP LOCKED)"
        " RETURNING id, provider_id, clock_timestamp(), attempts, address, provider",
        (const char *[]){ w->provider->key, w->context.deployment_text }, 2, out, found, err);
}

/* Random order: an order that always fails must not hold back the others. */
tide_status worker_take_order(struct worker *w, struct worker_session *out, bool *found,
                              struct tide_err *err)
{
    return query_session(
        w,
        "SELECT s.id, s.provider_id, clock_timestamp(), 0, s.address, s.provider"
        " FROM kyc.revocation AS r JOIN kyc.session AS s ON s.id = r.session_id"
        " WHERE r.deployment = $1::smallint AND r.done_at IS NULL ORDER BY random() LIMIT 1",
        (const char *[]){ w->context.deployment_text }, 1, out, found, err);
}

/* The ORDER BY expresses the preferences in worker_impl.h. */
tide_status worker_find_session(struct worker *w, const struct worker_event *event,
                                struct worker_session *out, bool *found, struct tide_err *err)
{
    return query_session(
        w,
        "SELECT id, coalesce(provider_id, $2), clock_timestamp(), attempts, address, provider"
        " FROM kyc.session"
        " WHERE deployment = $4::smallint AND provider = $1 AND (provider_id = $2 OR ref = $3)"
        " ORDER BY coalesce(provider_id = $2, false) DESC,"
        "   state IN ('created', 'pending', 'review', 'action_required') DESC,"
        "   (provider_id IS NULL) = ($2 IS NOT NULL) DESC, created_at DESC LIMIT 1",
        (const char *[]){ w->provider->key, event->provider_id[0] ? event->provider_id : NULL,
                          event->ref[0] ? event->ref : NULL, w->context.deployment_text },
        4, out, found, err);
}

tide_status worker_lock(struct worker *w, const struct worker_session *session, bool *held,
                        struct tide_err *err)
{
    assert(session->id[0]);
    struct tide_pg_rows rows;
    tide_status status =
        tide_pg_query(w->context.pg, &rows, "SELECT pg_try_advisory_lock(7022, hashtext($1))",
                      (const char *[]){ session->id }, 1, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.count == 1 && rows.columns == 1);
    *held = tide_pg_bool(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

tide_status worker_unlock(struct worker *w, const struct worker_session *session,
                          struct tide_err *err)
{
    assert(session->id[0]);
    return tide_pg_query(w->context.pg, NULL, "SELECT pg_advisory_unlock(7022, hashtext($1))",
                         (const char *[]){ session->id }, 1, err);
}

/* --- putting off ------------------------------------------------------------------------------ */

tide_status worker_postpone(struct worker *w, const struct worker_session *session,
                            const struct worker_event *event, const struct worker_pause *pause,
                            struct tide_err *err)
{
    assert(event ? event->key[0] : session->id[0]);
    const char *const values[] = {
        event ? event->key : session->id, TIDE_PG_NUMBER(pause->ms), pause->why,
        TIDE_PG_NUMBER(pause->uncounted), w->provider->key,          w->context.deployment_text,
        TIDE_PG_BOOL(pause->given_up)
    };
    if (!event)
        return tide_pg_query(w->context.pg, NULL,
                             "UPDATE kyc.session SET last_error = $3,"
                             "  attempts = greatest(0, attempts - $4::integer),"
                             "  next_check = clock_timestamp() + interval '1 ms' * $2::integer"
                             " WHERE id = $1",
                             values, 4, err);
    return tide_pg_query(
        w->context.pg, NULL,
        "UPDATE kyc.inbox SET state = CASE WHEN $7::boolean THEN 'failed' ELSE state END,"
        "  last_error = $3, attempts = greatest(0, attempts - $4::integer),"
        "  next_try = clock_timestamp() + interval '1 ms' * $2::integer"
        " WHERE deployment = $6::smallint AND provider = $5 AND event_key = $1 AND state = 'new'",
        values, TIDE_COUNT(values), err);
}

tide_status worker_ignore(struct worker *w, const struct worker_event *event, struct tide_err *err)
{
    assert(event->key[0]);
    return tide_pg_query(
        w->context.pg, NULL,
        "WITH ended AS (UPDATE kyc.inbox SET state = 'ignored', last_error = 'no_session'"
        " WHERE deployment = $3::smallint AND provider = $1 AND event_key = $2)"
        " SELECT kyc.note('worker', 'webhook.ignored', $1,"
        "                jsonb_build_object('event', $2::text, 'why', 'no_session'))",
        (const char *[]){ w->provider->key, event->key, w->context.deployment_text }, 3, err);
}
