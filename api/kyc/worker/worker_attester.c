/* Reads the attester's heartbeat row, and the number of intents that need a person, for
 * /metrics. */
#include "api/kyc/worker/worker_impl.h"

#include <stdio.h>

/* Reads the row with the newest heartbeat: a replaced key leaves its row behind. */
static const char attester_sql[] =
    "SELECT o.attention, a.state, (1000 * greatest(0, extract(epoch FROM clock_timestamp()"
    " - a.heartbeat_at)))::bigint, a.ledger, a.balance, a.sent, a.confirmed, a.parked, a.failures,"
    " coalesce(extract(epoch FROM a.confirmed_at)::bigint, 0),"
    " coalesce(extract(epoch FROM a.failed_at)::bigint, 0), a.standing"
    " FROM (SELECT count(*) AS attention FROM kyc.outbox WHERE deployment = $1::smallint AND"
    "   attention IS NOT NULL AND attended_at IS NULL) AS o LEFT JOIN LATERAL (SELECT *"
    "   FROM kyc.attester WHERE deployment = $1::smallint ORDER BY heartbeat_at DESC LIMIT 1) AS a"
    " ON true";

enum {
    ATTENTION,
    STATE,
    HEARTBEAT_AGE,
    LEDGER,
    BALANCE,
    SENT,
    CONFIRMED,
    PARKED,
    FAILURES,
    CONFIRMED_AT,
    FAILED_AT,
    STANDING
};

tide_status worker_read_attester(struct worker *w, struct tide_kyc_attester *out,
                                 struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(w->context.pg, &rows, attester_sql,
                                       (const char *[]){ w->context.deployment_text }, 1, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.count == 1 && rows.columns == STANDING + 1);
    *out = (struct tide_kyc_attester){
        .attention = tide_pg_u64(&rows, 0, ATTENTION),
        .known = !tide_pg_is_null(&rows, 0, STATE),
        .heartbeat_age_s = (double)tide_pg_u64(&rows, 0, HEARTBEAT_AGE) / 1000,
        .ledger = tide_pg_u64(&rows, 0, LEDGER),
        .funded = !tide_pg_is_null(&rows, 0, BALANCE),
        .balance = tide_pg_u64(&rows, 0, BALANCE),
        .sent = tide_pg_u64(&rows, 0, SENT),
        .confirmed = tide_pg_u64(&rows, 0, CONFIRMED),
        .parked = tide_pg_u64(&rows, 0, PARKED),
        .failures = tide_pg_u64(&rows, 0, FAILURES),
        .confirmed_at = tide_pg_u64(&rows, 0, CONFIRMED_AT),
        .failed_at = tide_pg_u64(&rows, 0, FAILED_AT),
        .standing = tide_pg_u64(&rows, 0, STANDING),
    };
    snprintf(out->state, sizeof out->state, "%s", tide_pg_text(&rows, 0, STATE));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}
