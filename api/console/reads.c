/* Answers the lists: the person, the network and ledger, and a page of items. */
#include "api/console/console.h"
#include "tidemark/json.h"

static void put_text(struct tide_json *j, const char *name, const struct tide_pg_rows *rows,
                     uint32_t column)
{
    if (tide_pg_is_null(rows, 0, column))
        tide_json_null(j, name);
    else
        tide_json_text(j, name, tide_pg_slice(rows, 0, column));
}

/* Appends the person, the network, and the newest indexed ledger with its age. */
static tide_status put_head(struct console_session *session, const struct console_task *task,
                            struct tide_json *j, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(session->pg, &rows, console_head_sql,
                                       (const char *[]){ session->selected.text }, 1, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count != 1) {
        tide_pg_rows_release(&rows);
        return tide_fail(err, TIDE_E_DB_FATAL, "chain.deployment has no row for this deployment");
    }
    assert(rows.columns == 4);
    tide_json_name(j, "you");
    tide_json_open(j, '{');
    tide_json_word(j, "name", task->person->name);
    tide_json_word(j, "role", console_role_name(task->person->role));
    tide_json_close(j, '}');
    put_text(j, "network", &rows, 0);
    tide_json_number(j, "ledger", tide_pg_u64(&rows, 0, 1));
    put_text(j, "closedAt", &rows, 2);
    tide_json_number(j, "ageMs", tide_pg_u64(&rows, 0, 3));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Appends at most limit items. The statement returned one more row if a next page exists. */
static void put_items(struct tide_json *j, const struct tide_pg_rows *rows, uint32_t limit)
{
    assert(limit > 0 && rows->columns >= 2);
    uint32_t shown = rows->count < limit ? rows->count : limit;
    tide_json_name(j, "items");
    tide_json_open(j, '[');
    for (uint32_t i = 0; i < shown; i++)
        tide_json_raw(j, tide_pg_slice(rows, i, 0));
    tide_json_close(j, ']');
    if (rows->count > shown && shown > 0)
        tide_json_text(j, "next", tide_pg_slice(rows, shown - 1, 1));
    else
        tide_json_null(j, "next");
}

/* Returns the highest parameter number of a statement: PostgreSQL refuses parameters that a
 * statement does not use. */
static size_t params_of(const char *sql)
{
    size_t most = 0;
    for (const char *at = strchr(sql, '$'); at; at = strchr(at + 1, '$'))
        if (at[1] >= '1' && at[1] <= '4' && (size_t)(at[1] - '0') > most)
            most = (size_t)(at[1] - '0');
    return most;
}

/* Runs the route's statement with the request's parameters, and appends its items. */
static tide_status put_list(struct console_session *session, const struct tide_request *request,
                            struct tide_json *j, struct tide_err *err)
{
    assert(request->route->statement);
    const struct tide_param_value *limit = tide_request_param(request, TIDE_PARAM_limit);
    const struct tide_param_value *after = tide_request_param(request, TIDE_PARAM_after);
    const struct tide_param_value *within = tide_request_param(request, TIDE_PARAM_within);
    const struct tide_param_value *named = tide_request_param(request, TIDE_PARAM_address);
    if (!named)
        named = tide_request_param(request, TIDE_PARAM_webhookId);
    char count[24], about[64], position[CONSOLE_AFTER_BYTES];
    uint32_t most = limit ? (uint32_t)limit->number : 1;
    struct tide_pg_rows rows;
    assert(most > 0 && most < UINT32_MAX); /* the bounds in param.def */
    snprintf(count, sizeof count, "%" PRIu32, most + 1);
    assert(!named || named->text.len < sizeof about); /* 56 or 32 characters */
    if (named)
        snprintf(about, sizeof about, "%.*s", (int)named->text.len, (const char *)named->text.ptr);
    else
        snprintf(about, sizeof about, "%" PRIu64, within ? within->number : 0);
    bool given = after && after->given && after->text.len < sizeof position;
    if (given)
        snprintf(position, sizeof position, "%.*s", (int)after->text.len,
                 (const char *)after->text.ptr);
    const char *values[] = { session->selected.text, count, given ? position : NULL, about };
    const char *sql = request->route->statement;
    assert(params_of(sql) <= TIDE_COUNT(values));
    tide_status status = tide_pg_query(session->pg, &rows, sql, values, params_of(sql), err);
    if (status != TIDE_OK)
        return status;
    put_items(j, &rows, most);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* One read-only snapshot, so that the items match the ledger named in the answer. */
tide_status console_read(struct console_session *session, const struct console_task *task,
                         struct tide_job *job, struct tide_err *err)
{
    assert(!task->acts);
    bool check = job->request->route->statement == console_check_sql;
    struct tide_json j = { .buf = &job->reply->body };
    if (check && atomic_exchange(&session->console->checking, true)) {
        tide_reply_problem(job->reply, 429, "check_runs",
                           "A check of the audit is already running.");
        job->reply->retry_after_s = 5;
        return TIDE_OK;
    }
    tide_status status =
        tide_pg_run(session->pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "BEGIN", err);
    if (status == TIDE_OK && check)
        status = tide_pg_run(session->pg, "SET LOCAL statement_timeout = '60s'", "SET", err);
    tide_json_open(&j, '{');
    if (status == TIDE_OK)
        status = put_head(session, task, &j, err);
    if (status == TIDE_OK)
        status = put_list(session, job->request, &j, err);
    tide_json_close(&j, '}');
    if (status == TIDE_OK)
        status = tide_pg_run(session->pg, "COMMIT", "COMMIT", err);
    if (check)
        atomic_store(&session->console->checking, false);
    return status;
}
