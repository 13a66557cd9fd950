/* GET /api/earnings/claimable/{address}: the amount that a claim at the earnings distributor
 * would credit. A portfolio contains the same. */
#include "api/routes/handlers.h"
#include "api/sql/sql_answer.h"
#include "api/sql/sql_problem.h"
#include "tidemark/history_lookup.h"

#include <stdio.h>

enum { EPOCH_ID, EPOCH_REVENUE, EPOCH_SNAPSHOT, EPOCH_FINALIZED, EPOCH_CLAIMED };

static const char decimals_sql[] =
    "SELECT d.decimals FROM chain.quote_decimals($1::smallint, $2::integer) AS d";

struct claim {
    struct tide_history history;
    struct tide_pg_rows epochs;
    const struct tide_param_value *address;
    tide_raw_i128 deposit;
    enum tide_refusal why; /* why the deposit cannot be computed */
    uint64_t limit;
    uint32_t decimals; /* USDC's: the contract's sums are told in it */
};

/* Loads the address's deposit in the stability pool, compounded as the contract does it. */
static tide_status load_deposit(struct claim *claim, struct tide_err *err)
{
    struct tide_stability state;
    struct tide_saving saving;
    bool started = false, saved = false;
    tide_status status = tide_history_stability(&claim->history, &state, &started, err);
    if (status == TIDE_OK)
        status =
            tide_history_saving(&claim->history, &saving, &saved, &claim->address->address, err);
    if (status == TIDE_OK)
        claim->why =
            tide_rule_compounded(&claim->deposit, started ? &state : NULL, saved ? &saving : NULL);
    return status;
}

/* Loads the decimals of USDC. values: deployment and ledger. */
static tide_status load_decimals(struct claim *claim, struct tide_pg *pg, const char *const *values,
                                 struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(pg, &rows, decimals_sql, values, 2, err);
    if (status != TIDE_OK)
        return status;
    claim->decimals = rows.count == 1 && !tide_pg_is_null(&rows, 0, 0)
                          ? (uint32_t)tide_pg_u64(&rows, 0, 0)
                          : TIDE_JSON_UNKNOWN;
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Loads deposit and epochs. newest: the epoch to begin with; NULL: the newest. */
static tide_status load_claim(struct claim *claim, const struct tide_handler_context *context,
                              const char *newest, uint32_t ledger, struct tide_err *err)
{
    char id[8], at[16], rows[24];
    const struct tide_sql_task *task = tide_sql_task(context);
    assert(claim->limit < INT32_MAX); /* $5::integer */
    snprintf(id, sizeof id, "%u", task->deployment);
    snprintf(at, sizeof at, "%" PRIu32, ledger);
    snprintf(rows, sizeof rows, "%" PRIu64, claim->limit + 1);
    tide_status status =
        tide_history_open(&claim->history, task->pg, task->deployment, ledger, err);
    if (status == TIDE_OK)
        status = load_deposit(claim, err);
    if (status != TIDE_OK)
        return status;
    const char *const values[] = { id, at, newest, (const char *)claim->address->text.ptr, rows };
    status = load_decimals(claim, task->pg, values, err);
    if (status != TIDE_OK)
        return status;
    return tide_pg_query(task->pg, &claim->epochs, tide_query_file_text("claimable_epochs"), values,
                         TIDE_COUNT(values), err);
}

/* Writes one epoch. Returns false if the contract's arithmetic would overflow. */
static bool put_epoch(struct tide_json *j, struct project_row *row, const struct claim *claim,
                      tide_raw_i128 *total)
{
    struct tide_epoch epoch = { .id = project_u64(row, EPOCH_ID),
                                .protocol_revenue =
                                    tide_hot_i128(project_amount(row, EPOCH_REVENUE)),
                                .staker_snapshot =
                                    tide_hot_i128(project_amount(row, EPOCH_SNAPSHOT)),
                                .finalized = project_bool(row, EPOCH_FINALIZED) };
    bool claimed = project_bool(row, EPOCH_CLAIMED);
    tide_raw_i128 share;
    if (tide_rule_epoch_share(&share, &epoch, claim->deposit, claimed) != TIDE_REFUSED_NOTHING ||
        __builtin_add_overflow(*total, share, total))
        return false;
    tide_json_open(j, '{');
    tide_json_u64(j, "epoch", epoch.id);
    tide_json_amount(j, "protocolRevenue", epoch.protocol_revenue, claim->decimals);
    tide_json_amount(j, "stakerSnapshot", epoch.staker_snapshot, claim->decimals);
    tide_json_bool(j, "claimed", claimed);
    tide_json_amount(j, "share", share, claim->decimals);
    tide_json_close(j, '}');
    return true;
}

/* Writes the epochs and their total. *bad: a stored value is out of range. */
static enum tide_refusal put_epochs(struct tide_json *j, const struct claim *claim, bool *bad)
{
    tide_raw_i128 total = 0;
    struct project_row row = { .rows = &claim->epochs };
    tide_json_name(j, "epochs");
    tide_json_open(j, '[');
    assert(claim->epochs.columns == EPOCH_CLAIMED + 1);
    assert(claim->limit > 0 && claim->epochs.count <= claim->limit + 1); /* the SQL's LIMIT */
    for (row.at = 0; row.at < claim->epochs.count && row.at < claim->limit; row.at++)
        if (!put_epoch(j, &row, claim, &total))
            return TIDE_REFUSED_OVERFLOW;
    tide_json_close(j, ']');
    tide_json_amount(j, "total", total, claim->decimals);
    if (claim->epochs.count > claim->limit)
        tide_json_u64(j, "nextEpoch",
                      tide_pg_u64(&claim->epochs, (uint32_t)claim->limit, EPOCH_ID));
    else
        tide_json_null(j, "nextEpoch");
    *bad = row.bad;
    return TIDE_REFUSED_NOTHING;
}

static enum tide_refusal put_claim(struct tide_json *j, const struct claim *claim, bool *bad)
{
    tide_json_amount(j, "deposit", claim->deposit, claim->decimals);
    if (claim->deposit > 0)
        tide_json_null(j, "refused");
    else
        tide_json_word(j, "refused", "no_deposit");
    return put_epochs(j, claim, bad);
}

static void write_answer(struct tide_reply *reply, const struct claim *claim)
{
    char time[TIDE_RFC3339_BYTES];
    bool bad = false;
    struct tide_json j = { .buf = &reply->body };
    assert(reply->at.known); /* tide_sql_handle read the head */
    tide_time_rfc3339_ms(time, (int64_t)reply->at.closed_ms);
    tide_json_open(&j, '{');
    tide_json_u64(&j, "ledger", reply->at.ledger);
    tide_json_word(&j, "closedAt", time);
    reply->content_from = reply->body.len;
    tide_record_json_address(&j, "address", &claim->address->address);
    enum tide_refusal why = put_claim(&j, claim, &bad);
    tide_json_close(&j, '}');
    if (why != TIDE_REFUSED_NOTHING)
        tide_tell_refusal(reply, why);
    else if (bad)
        tide_reply_problem(
            reply, 500, "internal",
            "A stored value is out of range. The operator of this service must check it.");
}

/* Writes the claim as an object of its own. Returns false if it is not usable: an overflow, or a
 * stored value out of range. */
static bool put_claim_object(struct tide_json *j, const struct claim *claim)
{
    bool bad = false;
    tide_json_open(j, '{');
    bool whole = put_claim(j, claim, &bad) == TIDE_REFUSED_NOTHING && !bad;
    tide_json_close(j, '}');
    return whole;
}

/* Writes into a buffer of its own first, so that a refusal of the contract leaves no
 * half-written member. */
tide_status tide_put_claimable(struct tide_json *j, const char *name,
                               const struct tide_handler_context *context,
                               const struct tide_param_value *address, uint32_t ledger,
                               uint64_t limit, struct tide_err *err)
{
    struct claim claim = { .address = address, .limit = limit };
    struct tide_buf own;
    struct tide_json object = { .buf = &own };
    tide_status status = load_claim(&claim, context, NULL, ledger, err);
    tide_buf_init(&own, TIDE_REPLY_BODY_MAX);
    if (status == TIDE_OK && claim.why == TIDE_REFUSED_NOTHING &&
        put_claim_object(&object, &claim)) {
        tide_json_name(j, name);
        tide_json_raw(j, tide_buf_view(&own));
    } else {
        tide_json_null(j, name);
    }
    tide_buf_release(&own);
    tide_pg_rows_release(&claim.epochs);
    return status;
}

void tide_route_claimable(struct tide_handler_context *context, const struct tide_request *request,
                          struct tide_reply *reply)
{
    struct tide_err err;
    const struct tide_param_value *newest = tide_request_param(request, TIDE_PARAM_epoch);
    struct claim claim = { .address = tide_request_param(request, TIDE_PARAM_address),
                           .limit = tide_request_param(request, TIDE_PARAM_limit)->number };
    if (load_claim(&claim, context, newest->given ? (const char *)newest->text.ptr : NULL,
                   reply->at.ledger, &err) != TIDE_OK)
        tide_sql_problem(reply, tide_sql_task(context)->pg, &err);
    else if (claim.why != TIDE_REFUSED_NOTHING)
        tide_tell_refusal(reply, claim.why);
    else
        write_answer(reply, &claim);
    tide_pg_rows_release(&claim.epochs);
}
