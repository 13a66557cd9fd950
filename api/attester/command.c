/* The commands for operators: status, requeue, attended. */
#include "api/attester/attester.h"
#include "tidemark/text.h"

#include <unistd.h>

/* Rows and the age of the oldest one by state, in the order in which an intent passes through
 * them. */
static const char counts_sql[] =
    "SELECT state, count(*), coalesce(extract(epoch FROM clock_timestamp() - min(created_at))"
    "::bigint, 0) FROM kyc.outbox GROUP BY state ORDER BY array_position(ARRAY['queued', 'signed',"
    " 'submitted', 'confirmed', 'superseded', 'parked'], state)";
static const char parked_sql[] =
    "SELECT id, action, reason, coalesce(last_status, ''), coalesce(encode(tx_hash, 'hex'), "
    "'none'),"
    " to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    " FROM kyc.outbox WHERE state = 'parked' ORDER BY id LIMIT 1000";

static const char attention_sql[] =
    "SELECT id, action, attention, confirmed_ledger, coalesce(encode(tx_hash, 'hex'), 'none'),"
    " subject, to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    " FROM kyc.outbox WHERE attention IS NOT NULL AND attended_at IS NULL ORDER BY id LIMIT 1000";

/* A chain of hashes does not reveal that its newest rows were removed. An operator detects that
 * by archiving the head elsewhere. */
static const char audit_sql[] =
    "SELECT count(*), kyc.audit_broken(), coalesce((SELECT encode(hash, 'hex') FROM kyc.audit"
    " ORDER BY id DESC LIMIT 1), 'none') FROM kyc.audit";

static tide_status print_counts(struct tide_pg *pg, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(pg, &rows, counts_sql, NULL, 0, err);
    assert(status != TIDE_OK || rows.columns == 3);
    for (uint32_t i = 0; i < rows.count; i++) {
        const char *state = tide_pg_text(&rows, i, 0);
        printf("%-11s %s", state, tide_pg_text(&rows, i, 1));
        if (strcmp(state, "queued") == 0 || strcmp(state, "signed") == 0 ||
            strcmp(state, "submitted") == 0)
            printf(", the oldest for %s s", tide_pg_text(&rows, i, 2));
        printf("\n");
    }
    if (status == TIDE_OK && rows.count == 0)
        printf("the outbox is empty\n");
    tide_pg_rows_release(&rows);
    return status;
}

static tide_status print_parked(struct tide_pg *pg, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(pg, &rows, parked_sql, NULL, 0, err);
    assert(status != TIDE_OK || rows.columns == 6);
    for (uint32_t i = 0; i < rows.count; i++)
        printf("parked %s %s: reason=%s detail=%s hash=%s since %s\n", tide_pg_text(&rows, i, 0),
               tide_pg_text(&rows, i, 1), tide_pg_text(&rows, i, 2), tide_pg_text(&rows, i, 3),
               tide_pg_text(&rows, i, 4), tide_pg_text(&rows, i, 5));
    tide_pg_rows_release(&rows);
    return status;
}

static tide_status print_attention(struct tide_pg *pg, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(pg, &rows, attention_sql, NULL, 0, err);
    assert(status != TIDE_OK || rows.columns == 7);
    for (uint32_t i = 0; i < rows.count; i++)
        printf("attention %s %s: overwrote=%s ledger=%s hash=%s subject=%s since %s\n",
               tide_pg_text(&rows, i, 0), tide_pg_text(&rows, i, 1), tide_pg_text(&rows, i, 2),
               tide_pg_text(&rows, i, 3), tide_pg_text(&rows, i, 4), tide_pg_text(&rows, i, 5),
               tide_pg_text(&rows, i, 6));
    tide_pg_rows_release(&rows);
    return status;
}

/* Confirmed revocations whose attestation the index still has. */
static const char standing_sql[] =
    "SELECT o.id, o.confirmed_ledger, k.ledger, o.subject" ATT_STANDING " ORDER BY o.id LIMIT 1000";

static tide_status print_standing(struct att_program *program, struct tide_err *err)
{
    assert(program->outbox && program->contract);
    struct tide_pg_rows rows;
    char deployment[16];
    snprintf(deployment, sizeof deployment, "%u", att_outbox_deployment(program->outbox));
    tide_status status =
        tide_pg_query(att_outbox_pg(program->outbox), &rows, standing_sql,
                      (const char *[]){ deployment, program->contract->address }, 2, err);
    if (status != TIDE_OK)
        return status;
    for (uint32_t i = 0; i < rows.count; i++)
        printf(
            "standing %s revoke: confirmed in ledger %s, and the attestation of ledger %s is still"
            " there: subject=%s\n",
            tide_pg_text(&rows, i, 0), tide_pg_text(&rows, i, 1), tide_pg_text(&rows, i, 2),
            tide_pg_text(&rows, i, 3));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* The newest heartbeats. More than one row stays if the verifier's key was replaced. */
static const char attesters_sql[] =
    "SELECT verifier, state, extract(epoch FROM clock_timestamp() - heartbeat_at)::bigint, ledger,"
    " coalesce((balance / 1e7)::numeric(20, 7)::text, 'unknown'), confirmed, parked, failures,"
    " coalesce(to_char(confirmed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), "
    "'never'),"
    " coalesce(to_char(failed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), 'never'),"
    " coalesce(error, 'none') FROM kyc.attester ORDER BY heartbeat_at DESC LIMIT 8";

static tide_status print_attesters(struct tide_pg *pg, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(pg, &rows, attesters_sql, NULL, 0, err);
    assert(status != TIDE_OK || rows.columns == 11);
    for (uint32_t i = 0; i < rows.count; i++)
        printf("attester    %s %s, %s s ago; ledger %s, balance %s XLM; confirmed %s (last %s),"
               " parked %s, failures %s (last %s: %s)\n",
               tide_pg_text(&rows, i, 0), tide_pg_text(&rows, i, 1), tide_pg_text(&rows, i, 2),
               tide_pg_text(&rows, i, 3), tide_pg_text(&rows, i, 4), tide_pg_text(&rows, i, 5),
               tide_pg_text(&rows, i, 8), tide_pg_text(&rows, i, 6), tide_pg_text(&rows, i, 7),
               tide_pg_text(&rows, i, 9), tide_pg_text(&rows, i, 10));
    tide_pg_rows_release(&rows);
    return status;
}

static tide_status print_budget(struct att_program *program, struct tide_err *err)
{
    enum { STROOPS_PER_XLM = 10000000 };
    int64_t spent;
    tide_status status = att_outbox_spent(program->outbox, &spent, err);
    if (status == TIDE_OK)
        printf("budget      %" PRId64 ".%07" PRId64 " of %u XLM used in 24 hours\n",
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
        status = print_counts(pg, err);
    if (status == TIDE_OK)
        status = print_parked(pg, err);
    if (status == TIDE_OK)
        status = print_attention(pg, err);
    if (status == TIDE_OK)
        status = print_standing(program, err);
    if (status == TIDE_OK)
        status = print_attesters(pg, err);
    if (status == TIDE_OK)
        status = print_budget(program, err);
    if (status == TIDE_OK)
        status = remove_time_limits(pg, err);
    return status == TIDE_OK ? print_audit(pg, err) : status;
}

/* Records a decision that a person made about row id; who is the name for kyc.audit. */
typedef tide_status review_fn(struct att_outbox *outbox, uint64_t id, const char *who, bool *found,
                              struct tide_err *err);

/* Calls review for the row that the argument id names. Fails with TIDE_E_USAGE if id is not a
 * number. The audit gets the uid of the operating system: the process knows no better name. */
static tide_status record_review(struct att_program *program, review_fn *review, const char *id,
                                 bool *found, struct tide_err *err)
{
    assert(program->outbox && review);
    uint64_t number;
    char who[32];
    *found = false;
    if (tide_parse_u64(&number, tide_slice_str(id), INT64_MAX) != TIDE_OK)
        return tide_fail(
            err, TIDE_E_USAGE,
            "\"%.32s\" is not an id: expected the number of a row, as status prints it", id);
    snprintf(who, sizeof who, "uid %u", (unsigned)getuid());
    tide_status status = att_outbox_ready(program->outbox, err);
    return status == TIDE_OK ? review(program->outbox, number, who, found, err) : status;
}

tide_status att_requeue(struct att_program *program, const char *id, struct tide_err *err)
{
    bool found;
    tide_status status = record_review(program, att_outbox_release_parked, id, &found, err);
    if (status == TIDE_OK && !found)
        status = tide_fail(
            err, TIDE_E_MISSING,
            "intent %s stays: it is not parked, or another row of the same decision stands", id);
    if (status == TIDE_OK)
        printf("%s is queued again\n", id);
    return status;
}

tide_status att_attended(struct att_program *program, const char *id, struct tide_err *err)
{
    bool found;
    tide_status status = record_review(program, att_outbox_attended, id, &found, err);
    if (status == TIDE_OK && !found)
        status = tide_fail(
            err, TIDE_E_MISSING,
            "intent %s needs no attention: it overwrote nothing, or was attended before", id);
    if (status == TIDE_OK)
        printf("%s is recorded as attended\n", id);
    return status;
}
