/* The attester's report of its own state, for /metrics and for the command status. */
#include "api/attester/outbox/outbox_impl.h"

/* Counts are added to the stored ones, so they survive a restart. The last error and the last
 * times stay until newer ones replace them. */
static const char heartbeat_sql[] =
    "INSERT INTO kyc.attester AS a (deployment, verifier, state, ledger, balance, sent, confirmed,"
    " parked, failures, confirmed_at, failed_at, error, standing) VALUES ($1::int, $2, $3, "
    "$4::bigint,"
    " $5::bigint, $6::bigint, $7::bigint, $8::bigint, $9::bigint,"
    " CASE WHEN $7::bigint > 0 THEN clock_timestamp() END,"
    " CASE WHEN $9::bigint > 0 THEN clock_timestamp() END, $10, $11::bigint)"
    " ON CONFLICT (deployment, verifier) DO UPDATE SET heartbeat_at = clock_timestamp(),"
    " state = excluded.state, ledger = excluded.ledger, balance = excluded.balance,"
    " sent = a.sent + excluded.sent, confirmed = a.confirmed + excluded.confirmed,"
    " parked = a.parked + excluded.parked, failures = a.failures + excluded.failures,"
    " confirmed_at = coalesce(excluded.confirmed_at, a.confirmed_at),"
    " failed_at = coalesce(excluded.failed_at, a.failed_at), standing = excluded.standing,"
    " error = coalesce(excluded.error, a.error)";

tide_status att_outbox_heartbeat(struct att_outbox *outbox, const struct att_heartbeat *heartbeat,
                                 struct tide_err *err)
{
    enum { NUMBERS = 8, NUMBER_BYTES = 24 };
    const struct att_tally *t = &heartbeat->tally;
    const uint64_t numbers[NUMBERS] = {
        outbox->deployment, heartbeat->ledger, (uint64_t)heartbeat->balance, t->sent, t->confirmed,
        t->parked,          t->failures,       heartbeat->standing
    };
    static_assert(NUMBER_BYTES > 20, "any 64 bits");
    assert(outbox->deployment > 0); /* att_outbox_ready succeeded */
    char text[NUMBERS][NUMBER_BYTES];
    for (size_t i = 0; i < NUMBERS; i++)
        snprintf(text[i], NUMBER_BYTES, "%" PRIu64, numbers[i]);
    /* The order of the columns, not of numbers. */
    const char *values[] = { text[0],
                             heartbeat->verifier,
                             heartbeat->state,
                             text[1],
                             heartbeat->balance < 0 ? NULL : text[2],
                             text[3],
                             text[4],
                             text[5],
                             text[6],
                             heartbeat->error,
                             text[7] };
    return tide_pg_query(outbox->pg, NULL, heartbeat_sql, values, TIDE_COUNT(values), err);
}

tide_status att_outbox_standing(struct att_outbox *outbox, uint64_t *count, struct tide_err *err)
{
    struct tide_pg_rows rows;
    char deployment[16];
    snprintf(deployment, sizeof deployment, "%u", outbox->deployment);
    tide_status status = tide_pg_query(
        outbox->pg, &rows, "SELECT count(*) FROM (SELECT o.id" ATT_STANDING " LIMIT 1000) AS s",
        (const char *[]){ deployment, outbox->options.contract }, 2, err);
    if (status == TIDE_OK)
        *count = tide_pg_u64(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    return status;
}
