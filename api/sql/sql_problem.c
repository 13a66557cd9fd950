/* Failures of the database: problems, rollback, repetition. */
#include "api/sql/sql_problem.h"
#include "tidemark/log.h"

void tide_sql_roll_back(struct tide_pg *pg, bool *ready)
{
    struct tide_err err;
    if (pg && tide_pg_alive(pg) && tide_pg_in_transaction(pg) &&
        tide_pg_run(pg, "ROLLBACK", "ROLLBACK", &err) != TIDE_OK)
        *ready = false;
}

bool tide_sql_may_retry(const struct tide_pg *pg, tide_status status)
{
    return status == TIDE_E_DB && strcmp(tide_pg_sqlstate(pg), "57014") != 0;
}

void tide_sql_narrow(struct tide_reply *reply, const struct tide_request *request)
{
    char names[128] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < request->param_count; i++) {
        const struct tide_param_value *value = &request->params[i];
        bool page = value->id == TIDE_PARAM_limit || value->id == TIDE_PARAM_cursor ||
                    value->id == TIDE_PARAM_ledger;
        if (page || value->given || len + 40 > sizeof names)
            continue;
        int put = snprintf(names + len, sizeof names - len, "%s%s", len ? ", " : "",
                           tide_param_of(value->id)->name);
        assert(put > 0 && (size_t)put < sizeof names - len);
        len += (size_t)put;
    }
    tide_reply_problem(reply, 503, "query_too_long",
                       "The query took longer than two seconds: ask for less%s%s.",
                       len ? ", narrowed by " : " at once", names);
    reply->retry_after_s = 1;
}

/* The answer is about no ledger: which one the failed statement saw is unknown. */
void tide_sql_problem(struct tide_reply *reply, const struct tide_pg *pg,
                      const struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX];
    const char *state = pg ? tide_pg_sqlstate(pg) : "";
    bool lost = !pg || !tide_pg_alive(pg) || tide_pg_remedy(pg) == TIDE_PG_RECONNECT;
    reply->at = (struct tide_answer_at){ .known = false };
    if (strcmp(state, "57014") == 0) {
        tide_reply_problem(reply, 503, "query_too_long",
                           "The query took longer than two seconds: ask for less at once.");
        reply->retry_after_s = 1;
    } else if (lost || err->code == TIDE_E_DB) {
        tide_reply_problem(reply, 503, "database_unavailable",
                           "The database does not answer. Retry in a few seconds.");
        reply->retry_after_s = 2;
    } else {
        tide_log(TIDE_ERROR, "sql.failed", "state=%s text=%s", state,
                 tide_log_quote(quoted, sizeof quoted, err->text));
        tide_reply_problem(reply, 500, "internal",
                           "An internal error occurred. The server has logged it.");
    }
}
