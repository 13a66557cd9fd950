/* Failures of the database: problems, rollback, repetition. */
#include "api/sql/sql_problem.h"
#include "tidemark/log.h"

enum { FORKED_RETRY_S = 60 };

void tide_sql_roll_back(struct tide_pg *pg, bool *ready)
{
    struct tide_err err;
    if (pg && tide_pg_alive(pg) && tide_pg_in_transaction(pg) &&
        tide_pg_run(pg, "ROLLBACK", "ROLLBACK", &err) != TIDE_OK)
        *ready = false;
}

enum tide_worker_verdict tide_sql_judge(const struct tide_pg *pg, bool *ready, tide_status status)
{
    const char *state = tide_pg_sqlstate(pg);
    *ready = *ready && tide_pg_remedy(pg) != TIDE_PG_RECONNECT && strcmp(state, "0A000") != 0 &&
             strcmp(state, "26000") != 0;
    if (!*ready)
        return TIDE_WORKER_LOST;
    return status == TIDE_E_DB && strcmp(state, "57014") != 0 ? TIDE_WORKER_AGAIN
                                                              : TIDE_WORKER_FAILED;
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

void tide_fork_refuse(struct tide_reply *reply, uint32_t ledger)
{
    reply->at = (struct tide_answer_at){ .known = false };
    tide_reply_problem(
        reply, 503, "forked",
        "Validators of the network signed another ledger %u than the indexed one, so "
        "nothing that is indexed is relied on until the operator of this service has "
        "resolved it.",
        ledger);
    reply->retry_after_s = FORKED_RETRY_S;
}
