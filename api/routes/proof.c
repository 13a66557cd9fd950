/* GET /api/proof/{hash}: all that proves a transaction to others. A statement puts it together
 * (chain/proof.sql); here are the reasons why there is none. */
#include "api/routes/handlers.h"
#include "api/sql/sql_answer.h"
#include "api/sql/sql_problem.h"

#include <stdio.h>

enum { ITEM, BYTES, NOT_PROVEN, COLUMNS }; /* columns of the statement */
enum { NOT_PROVEN_RETRY_S = 60 };

static const char *statement_text(void)
{
    return tide_query_file_text("proof");
}

static void put_proof(struct tide_reply *reply, tide_slice item)
{
    struct tide_json j = { .buf = &reply->body };
    assert(item.len > 2 && item.ptr[0] == '{');
    tide_json_open(&j, '{');
    tide_json_u64(&j, "ledger", reply->at.ledger);
    tide_json_time_ms(&j, "closedAt", reply->at.closed_ms);
    reply->content_from = reply->body.len;
    tide_json_raw(&j, tide_slice_of(item.ptr + 1, item.len - 2));
    tide_json_close(&j, '}');
}

/* Says why there is no proof of a transaction that is indexed. */
static void refuse_proof(struct tide_reply *reply, const struct tide_pg_rows *rows)
{
    if (!tide_pg_is_null(rows, 0, BYTES)) {
        tide_reply_problem(reply, 503, "too_large",
                           "The proof has %" PRIu64 " bytes, more than one answer may have.",
                           tide_pg_u64(rows, 0, BYTES));
    } else if (reply->at.proven && tide_pg_bool(rows, 0, NOT_PROVEN)) {
        tide_reply_problem(reply, 503, "not_proven",
                           "No signatures prove the ledger of this transaction yet: signatures "
                           "prove all ledgers up to %u.",
                           reply->at.proven);
        reply->retry_after_s = NOT_PROVEN_RETRY_S;
    } else {
        tide_reply_problem(reply, 404, "no_proof",
                           "This server does not keep the proof of this transaction, or has not "
                           "collected its parts yet.");
    }
}

void tide_route_proof(struct tide_handler_context *context, const struct tide_request *request,
                      struct tide_reply *reply)
{
    char id[8];
    struct tide_err err;
    struct tide_pg_rows rows = { 0 };
    const struct tide_sql_task *task = tide_sql_task(context);
    const struct tide_param_value *hash = tide_request_param(request, TIDE_PARAM_hash);
    snprintf(id, sizeof id, "%u", task->deployment);
    const char *const values[] = { id, (const char *)hash->text.ptr };
    tide_status status =
        tide_pg_query(task->pg, &rows, statement_text(), values, TIDE_COUNT(values), &err);
    if (status == TIDE_OK && rows.columns != COLUMNS)
        status = tide_fail(&err, TIDE_E_DB_FATAL, "proof.sql: %u columns", rows.columns);
    if (status != TIDE_OK)
        tide_sql_problem(reply, task->pg, &err);
    else if (rows.count == 0 && task->archived[0])
        tide_sql_reject_archived(reply, task->archived);
    else if (rows.count == 0)
        tide_reply_problem(reply, 404, "not_found",
                           "At ledger %u no transaction of that hash touched the protocol.",
                           reply->at.ledger);
    else if (tide_pg_is_null(&rows, 0, ITEM))
        refuse_proof(reply, &rows);
    else
        put_proof(reply, tide_pg_slice(&rows, 0, ITEM));
    tide_pg_rows_release(&rows);
}
