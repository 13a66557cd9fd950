/* The commands for operators: status, requeue, attended. */
#include "api/attester/attester.h"
#include "tidemark/text.h"

#include <unistd.h>

#define SINCE(column) "to_char(" column " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"

/* Prints a line for each row of each statement: rows and the age of the oldest one by state, in the
 * order in which an intent passes through them; parked intents; those that need attention;
 * confirmed revocations whose attestation the index still has; the newest heartbeats, of which more
 * than one stays if the verifier's key was replaced. */
static const struct {
    const char *sql;
    size_t count;     /* parameters: $1 the deployment, $2 the registry */
    const char *none; /* printed if there is no row; NULL: nothing */
} reports[] = {
    { "SELECT format('%-11s %s', state, count(*)) || CASE WHEN state IN ('queued', 'signed',"
      " 'submitted') THEN format(', the oldest for %s s', coalesce(extract(epoch FROM"
      " clock_timestamp() - min(created_at))::bigint, 0)) ELSE '' END FROM kyc.outbox GROUP BY"
      " state ORDER BY array_position(ARRAY['queued', 'signed', 'submitted', 'confirmed',"
      " 'superseded', 'parked'], state)",
      0, "the outbox is empty" },
    { "SELECT format('parked %s %s: reason=%s detail=%s hash=%s since %s', id, action, reason,"
      " last_status, coalesce(encode(tx_hash, 'hex'), 'none'), " SINCE(
          "updated_at") ")"
                        " FROM kyc.outbox WHERE state = 'parked' ORDER BY id LIMIT 1000",
      0, NULL },
    { "SELECT format('attention %s %s: overwrote=%s ledger=%s hash=%s subject=%s since %s', id,"
      " action, attention, confirmed_ledger, coalesce(encode(tx_hash, 'hex'), 'none'), subject,"
      " " SINCE("updated_at") ") FROM kyc.outbox WHERE attention IS NOT NULL AND attended_at IS"
                              " NULL ORDER BY id LIMIT 1000",
      0, NULL },
    { "SELECT format('standing %s revoke: confirmed in ledger %s, and the attestation of ledger %s"
      " is still there: subject=%s', o.id, o.confirmed_ledger, k.ledger, o.subject)" ATT_STANDING
      " ORDER BY o.id LIMIT 1000",
      2, NULL },
    { "SELECT format('attester    %s %s, %s s ago; ledger %s, balance %s XLM; confirmed %s (last"
      " %s), parked %s, failures %s (last %s: %s)', verifier, state, extract(epoch FROM"
      " clock_timestamp() - heartbeat_at)::bigint, ledger, coalesce((balance / 1e7)::numeric(20,"
      " 7)::text, 'unknown'), confirmed, coalesce(" SINCE(
          "confirmed_at") ", 'never'), parked,"
                          " failures, coalesce(" SINCE(
                              "failed_at") ", 'never'), coalesce(error, 'none'))"
                                           " FROM kyc.attester ORDER BY heartbeat_at DESC LIMIT 8",
      0, NULL },
};

static tide_status print_reports(struct att_program *program, struct tide_err *err)
{
    const char *values[] = { TIDE_PG_NUMBER(att_outbox_deployment(program->outbox)),
                             program->contract->address };
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < TIDE_COUNT(reports) && status == TIDE_OK; i++) {
        struct tide_pg_rows rows;
        status = tide_pg_query(att_outbox_pg(program->outbox), &rows, reports[i].sql, values,
                               reports[i].count, err);
        for (uint32_t row = 0; row < rows.count; row++)
            printf("%s\n", tide_pg_text(&rows, row, 0));
        if (status == TIDE_OK && !rows.count && reports[i].none)
            printf("%s\n", reports[i].none);
        tide_pg_rows_release(&rows);
    }
    return status;
}

static tide_status print_budget(struct att_program *program, struct tide_err *err)
{
    enum { STROOPS_PER_XLM = 10000000 };
    uint64_t spent;
    tide_status status = att_outbox_spent(program->outbox, &spent, err);
    if (status == TIDE_OK)
        printf("budget      %" PRIu64 ".%07" PRIu64 " of %u XLM used in 24 hours\n",
               spent / STROOPS_PER_XLM, spent % STROOPS_PER_XLM,
               program->config->attester_budget_xlm);
    return status;
}

/* Removes the time limits of the session. Checking the audit reads every row, so its time grows
 * with the table; an operator waits for the result. */
static tide_status remove_time_limits(struct tide_pg *pg, struct tide_err *err)
{
    tide_pg_patience(pg, 0);
    return tide_pg_query(pg, NULL, "SET statement_timeout = 0", NULL, 0, err);
}

/* A chain of hashes does not reveal that its newest rows were removed. An operator detects that
 * by archiving the head elsewhere. */
static const char audit_sql[] =
    "SELECT count(*), kyc.audit_broken(), coalesce((SELECT encode(hash, 'hex') FROM kyc.audit"
    " ORDER BY id DESC LIMIT 1), 'none') FROM kyc.audit";

static tide_status print_audit(struct tide_pg *pg, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(pg, &rows, audit_sql, NULL, 0, err);
    assert(status != TIDE_OK || (rows.count == 1 && rows.columns == 3)); /* an aggregate */
    if (status == TIDE_OK && tide_pg_is_null(&rows, 0, 1))
        printf("audit       %s rows, intact, head %s\n", tide_pg_text(&rows, 0, 0),
               tide_pg_text(&rows, 0, 2));
    else if (status == TIDE_OK)
        status = tide_fail(
            err, TIDE_E_CONFLICT,
            "kyc.audit was altered: the hash of row %s does not follow from the row before",
            tide_pg_text(&rows, 0, 1));
    tide_pg_rows_release(&rows);
    return status;
}

tide_status att_status(struct att_program *program, struct tide_err *err)
{
    assert(program->outbox);
    tide_status status = att_outbox_ready(program->outbox, err);
    struct tide_pg *pg = att_outbox_pg(program->outbox);
    if (status == TIDE_OK)
        status = print_reports(program, err);
    if (status == TIDE_OK)
        status = print_budget(program, err);
    if (status == TIDE_OK)
        status = remove_time_limits(pg, err);
    return status == TIDE_OK ? print_audit(pg, err) : status;
}

/* The audit gets the uid of the operating system: the process knows no better name. */
tide_status att_review(struct att_program *program, const char *id, bool attended,
                       struct tide_err *err)
{
    assert(program->outbox);
    uint64_t number;
    char who[32];
    bool found;
    if (tide_parse_u64(&number, tide_slice_str(id), INT64_MAX) != TIDE_OK)
        return tide_fail(
            err, TIDE_E_USAGE,
            "\"%.32s\" is not an id: expected the number of a row, as status prints it", id);
    snprintf(who, sizeof who, "uid %u", (unsigned)getuid());
    tide_status status = att_outbox_ready(program->outbox, err);
    if (status == TIDE_OK)
        status = att_outbox_review(program->outbox, number, who, attended, &found, err);
    if (status != TIDE_OK)
        return status;
    if (found)
        printf("%s is %s\n", id, attended ? "recorded as attended" : "queued again");
    else if (attended)
        status = tide_fail(
            err, TIDE_E_MISSING,
            "intent %s needs no attention: it overwrote nothing, or was attended before", id);
    else
        status = tide_fail(
            err, TIDE_E_MISSING,
            "intent %s stays: it is not parked, or another row of the same decision stands", id);
    return status;
}
