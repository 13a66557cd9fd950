#include "indexer/write/writer_impl.h"

/* Counts crashes on one ledger. The next process counts them, because the one that crashed cannot
 * (chain.attempt). */

struct attempt {
    uint32_t ledger, limit;
    bool again;
    uint32_t crashes;
};

/* Counts the start. If `running` is still set, the last process crashed on the ledger that comes
 * next. */
static tide_status count_crash(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    struct attempt *a = *(struct attempt *const *)arg;
    struct tide_pg_rows rows;
    write_sql(s,
              "INSERT INTO chain.attempt AS a (deployment, running, ledger) VALUES (%u, true, %u)"
              " ON CONFLICT (deployment) DO UPDATE SET running = true, began_at ="
              " clock_timestamp(), ledger = excluded.ledger, attempts ="
              " CASE WHEN a.ledger = excluded.ledger THEN a.attempts ELSE 0 END +"
              " (a.running AND NOT %s)::int RETURNING attempts",
              s->plan->deployment, a->ledger, a->again ? "true" : "false");
    tide_status status = write_query_sql(s, &rows, err);
    if (status == TIDE_OK)
        a->crashes = (uint32_t)tide_pg_u64(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    return status;
}

static tide_status clear_running(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    (void)arg;
    write_sql(s, "UPDATE chain.attempt SET running = false WHERE deployment = %u",
              s->plan->deployment);
    return write_run_sql(s, "UPDATE", err);
}

tide_status tide_writer_attempt(struct tide_writer *w, uint32_t ledger, uint32_t limit, bool again,
                                struct tide_err *err)
{
    struct attempt attempt = { .ledger = ledger, .limit = limit, .again = again };
    struct attempt *arg = &attempt;
    tide_status status = write_retry(&w->main, count_crash, &arg, false, err);
    if (status != TIDE_OK || limit == 0 || attempt.crashes < limit)
        return status;
    return tide_fail(err, TIDE_E_POISON,
                     "ledger %u: this program crashed on it %u times in a row, and starts no more"
                     " work on it: update the program, or report the ledger and the crash; to try"
                     " again all the same, start with crash_limit=0",
                     ledger, attempt.crashes);
}

/* Clears `running` with a single attempt. If that fails, one crash too many is counted, which the
 * next ledger resets. */
void tide_writer_ended(struct tide_writer *w)
{
    struct write_session *s = &w->main.session;
    struct tide_err ignored;
    if (tide_pg_alive(write_pg(s)) && !tide_pg_in_transaction(write_pg(s)))
        (void)!clear_running(&w->main, NULL, &ignored);
}
