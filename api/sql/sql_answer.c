/* Answers to SQL routes: the head, envelopes of one item or a list, and handlers inside a
 * transaction. */
#include "api/sql/sql_answer.h"
#include "api/http/param.h"
#include "api/sql/cursor.h"
#include "api/sql/sql_problem.h"
#include "api/sql/token_symbol.h"
#include "tidemark/clock.h"
#include "tidemark/text.h"

static const char newest[] = "2147483647"; /* the largest ledger: all that is indexed */

enum {
    INCOMPLETE_RETRY_S = 30,
    ENVELOPE_BYTES = 128 + TIDE_CURSOR_MAX, /* room that a list's items leave in the body */
};
/* Partitions change once in hours, and while a new index loads once in seconds. */
enum { ATTEMPTS = 4 };

/* The state of one request. */
enum { TIME_TEXT = sizeof "4294967295.999" }; /* unix seconds as text */

struct run {
    struct tide_session *session;
    const struct tide_request *request;
    struct tide_reply *reply;
    const struct tide_statement *statement;
    struct tide_cursor_scope scope;
    const struct tide_param_value *ledger; /* ?ledger=N, or NULL */
    char after[TIDE_CURSOR_KEY_MAX + 1];   /* empty: the first page */
    uint32_t limit;
    char at[16], limit_text[16];
    /* Address of the token that the request names by symbol; empty: by address, or no token. */
    char token[TIDE_STRKEY_TEXT_MAX];
    char numbers[TIDE_PG_PARAMS_MAX][TIME_TEXT]; /* times as unix seconds */
    char from[TIME_TEXT], to[TIME_TEXT];         /* unix seconds, for the head */
    /* Ledgers whose events the statement reads and that are archived; empty: none */
    char archived[32];
    uint64_t parts; /* as the head told it */
    bool refused;   /* the reply is a problem */
    bool again;     /* the statement ran with another limit of the past than the head says */
    bool moved;     /* partitions changed while the transaction read */
    bool nothing;   /* the list's first page is empty */
    /* The statement runs only to see whether the list's parent exists (check_parent) */
    bool probing;
};

/* --- the transaction's head ------------------------------------------------------------- */

static void reject_ledger(struct run *run, uint32_t tip, const char *ranges)
{
    uint64_t wanted = run->ledger->number;
    run->refused = true;
    if (wanted > tip)
        tide_reply_problem(run->reply, 404, "ledger_not_reached",
                           "Ledger %" PRIu64 " has not been reached: the newest is %u.", wanted,
                           tip);
    else
        tide_reply_problem(run->reply, 404, "ledger_not_indexed",
                           "Ledger %" PRIu64 " is not indexed. Indexed: %s.", wanted, ranges);
}

/* Refuses sums over a past that the index does not have. */
static bool is_past_known(struct run *run)
{
    uint32_t from = run->reply->at.history_from;
    if (!from || !run->statement || !run->statement->whole)
        return true;
    tide_reply_problem(run->reply, 503, "incomplete",
                       "This index began with the state of a checkpoint and knows the past from"
                       " ledger %u on. This answer adds up all ledgers before it, too.",
                       from);
    run->reply->retry_after_s = INCOMPLETE_RETRY_S;
    return false;
}

/* Stores the time from which on the past is known: lists begin there. */
static void note_history(struct run *run, const struct tide_pg_rows *rows)
{
    uint64_t since = tide_pg_u64(rows, 0, TIDE_SQL_HEAD_SINCE);
    run->again = since != run->session->history_since;
    run->session->history_since = since;
}

/* Returns the age. SQL routes report it but never reject by it: their answers name the ledger. */
static uint64_t age_of(struct run *run, const struct tide_pg_rows *rows)
{
    const struct tide_clock *clock = tide_clock_system();
    struct tide_age_sign sign = tide_age_read(rows, 0, TIDE_SQL_HEAD_SIGN);
    return tide_age_of(&run->session->age, &sign, clock->wall_ms(clock->self),
                       clock->now_ms(clock->self));
}

static void read_head(struct run *run, const struct tide_pg_rows *rows)
{
    struct tide_answer_at *at = &run->reply->at;
    if (rows->count == 0) {
        run->refused = true;
        tide_reply_problem(run->reply, 503, "not_ready", "Nothing is indexed yet.");
        run->reply->retry_after_s = 5;
        return;
    }
    assert(rows->columns == TIDE_SQL_HEAD_SIGN + TIDE_AGE_COLUMN_COUNT);
    run->parts = tide_pg_u64(rows, 0, TIDE_SQL_HEAD_PARTS);
    *at = (struct tide_answer_at){ .known = true,
                                   .ledger = (uint32_t)tide_pg_u64(rows, 0, TIDE_SQL_HEAD_LEDGER),
                                   .closed_ms = tide_pg_u64(rows, 0, TIDE_SQL_HEAD_CLOSED),
                                   .age_ms = age_of(run, rows),
                                   .proven = (uint32_t)tide_pg_u64(rows, 0, TIDE_SQL_HEAD_PROVEN),
                                   .history_from =
                                       (uint32_t)tide_pg_u64(rows, 0, TIDE_SQL_HEAD_HISTORY) };
    note_history(run, rows);
    if (!tide_pg_is_null(rows, 0, TIDE_SQL_HEAD_FORKED)) {
        run->refused = true;
        tide_fork_refuse(run->reply, (uint32_t)tide_pg_u64(rows, 0, TIDE_SQL_HEAD_FORKED));
        return;
    }
    if (tide_pg_bool(rows, 0, TIDE_SQL_HEAD_UNREAD)) {
        run->refused = true;
        tide_reply_problem(run->reply, 503, "incomplete",
                           "This token was discovered on the ledger, and its earlier history is not"
                           " indexed yet.");
        run->reply->retry_after_s = INCOMPLETE_RETRY_S;
        return;
    }
    if (run->statement && run->statement->events)
        snprintf(run->archived, sizeof run->archived, "%s",
                 tide_pg_text(rows, 0, TIDE_SQL_HEAD_ARCHIVED));
    if (run->ledger &&
        (run->ledger->number > at->ledger || tide_pg_is_null(rows, 0, TIDE_SQL_HEAD_AT_CLOSED))) {
        reject_ledger(run, at->ledger, tide_pg_text(rows, 0, TIDE_SQL_HEAD_COVERED));
        return;
    }
    if (run->ledger) {
        at->ledger = (uint32_t)run->ledger->number;
        at->closed_ms = tide_pg_u64(rows, 0, TIDE_SQL_HEAD_AT_CLOSED);
        at->age_ms = 0;
    }
    run->refused |= !is_past_known(run);
}

static void open_run(struct run *run, struct tide_session *session,
                     const struct tide_request *request, struct tide_reply *reply)
{
    *run = (struct run){ .session = session, .request = request, .reply = reply };
    const struct tide_param_value *ledger = tide_request_param(request, TIDE_PARAM_ledger);
    if (ledger && ledger->given)
        run->ledger = ledger;
    uint64_t at = run->ledger && ledger->number < INT32_MAX ? ledger->number : INT32_MAX;
    snprintf(run->at, sizeof run->at, "%" PRIu64, at);
}

/* Returns a parameter's text for the statement, or NULL if it is empty. Times have two
 * spellings, so they become unix seconds. */
static const char *value_text(const struct tide_param_value *param, char number[TIME_TEXT])
{
    if (param->text.len == 0)
        return NULL;
    if (tide_param_of(param->id)->type != TIDE_PARAM_TIME)
        return (const char *)param->text.ptr;
    assert(param->number <= UINT32_MAX); /* the maximum of each TIME in param.def */
    uint32_t ms = (uint32_t)(param->time_ms % 1000);
    int len = snprintf(number, TIME_TEXT, "%" PRIu32, (uint32_t)(param->time_ms / 1000));
    if (ms)
        snprintf(number + len, TIME_TEXT - (size_t)len, ".%03" PRIu32, ms);
    return number;
}

/* Returns a time parameter's text, or NULL if the route has none or it was not given. */
static const char *time_text(const struct run *run, enum tide_param_id id, char number[TIME_TEXT])
{
    const struct tide_param_value *param = tide_request_param(run->request, id);
    return param && param->given ? value_text(param, number) : NULL;
}

static const char *const *head_values(struct run *run, const char *values[TIDE_SQL_HEAD_VALUES])
{
    const struct tide_param_value *token = tide_request_param(run->request, TIDE_PARAM_token);
    bool given = token && token->given;
    values[0] = run->session->selected.text;
    values[1] = run->ledger ? run->at : NULL;
    values[2] = !given ? NULL : run->token[0] ? run->token : (const char *)token->text.ptr;
    values[3] = time_text(run, TIDE_PARAM_from, run->from);
    values[4] = time_text(run, TIDE_PARAM_to, run->to);
    return values;
}

/* --- envelopes -------------------------------------------------------------------------- */

static void put_envelope(struct tide_reply *reply)
{
    char time[TIDE_RFC3339_BYTES];
    tide_time_rfc3339_ms(time, (int64_t)reply->at.closed_ms);
    tide_buf_putf(&reply->body, "{\"ledger\":\"%u\",\"closedAt\":\"%s\"", reply->at.ledger, time);
    reply->content_from = reply->body.len;
}

void tide_sql_reject_archived(struct tide_reply *reply, const char *ledgers)
{
    tide_reply_problem(
        reply, 410, "archived",
        "Events of the ledgers %s are archived. Ask the operator of this service for them.",
        ledgers);
}

static void reject_missing(struct run *run)
{
    assert(!run->statement->list);
    if (run->archived[0]) {
        tide_sql_reject_archived(run->reply, run->archived);
        return;
    }
    tide_reply_problem(run->reply, 404, run->statement->code, "At ledger %u %s.",
                       run->reply->at.ledger, run->statement->none);
}

static tide_status put_one(struct run *run, const struct tide_pg_rows *rows, struct tide_err *err)
{
    struct tide_buf *body = &run->reply->body;
    if (rows->count == 0) {
        reject_missing(run);
        return TIDE_OK;
    }
    tide_slice item = tide_pg_slice(rows, 0, 0);
    if (rows->count != 1 || item.len < 3 || item.ptr[0] != '{')
        return tide_fail(err, TIDE_E_DB_FATAL, "%s.sql: not one object", run->statement->name);
    put_envelope(run->reply);
    tide_buf_u8(body, ',');
    tide_buf_put(body, item.ptr + 1, item.len - 1);
    return TIDE_OK;
}

static tide_status put_next(struct run *run, tide_slice key, struct tide_err *err)
{
    char cursor[TIDE_CURSOR_MAX];
    struct tide_buf *body = &run->reply->body;
    size_t len = tide_cursor_write(cursor, &run->scope, key);
    if (len == 0)
        return tide_fail(err, TIDE_E_DB_FATAL, "%s.sql: a key of %zu bytes", run->statement->name,
                         key.len);
    tide_buf_u8(body, '"');
    tide_buf_put(body, cursor, len);
    tide_buf_u8(body, '"');
    return TIDE_OK;
}

/* Returns whether the list starts with the oldest rows, some of which are archived. */
static bool lacks_oldest(const struct run *run)
{
    const struct tide_param_value *order = tide_request_param(run->request, TIDE_PARAM_order);
    return run->archived[0] && order && tide_slice_eq_str(order->text, "asc");
}

/* Returns whether the row has no item: the statement stopped at its limit of work, and the next
 * page begins after the row's key. No row follows it. */
static bool is_continuation(const struct tide_pg_rows *rows, uint32_t row)
{
    return tide_pg_is_null(rows, row, 0);
}

/* Returns how many items the page shows: at most `limit`, those before a continuation, and those
 * that the body has room for. A first item without room is shown, so that the body fails. */
static uint32_t count_shown(const struct run *run, const struct tide_pg_rows *rows)
{
    uint32_t shown = 0;
    size_t size = run->reply->body.len + ENVELOPE_BYTES;
    while (shown < rows->count && shown < run->limit && !is_continuation(rows, shown)) {
        size += tide_pg_slice(rows, shown, 0).len + 1;
        if (shown && size > TIDE_REPLY_BODY_MAX)
            break;
        shown++;
    }
    return shown;
}

static tide_status put_list(struct run *run, const struct tide_pg_rows *rows, struct tide_err *err)
{
    struct tide_buf *body = &run->reply->body;
    tide_status status = TIDE_OK;
    assert(run->limit > 0); /* the minimum in param.def */
    run->nothing = rows->count == 0 && !run->after[0];
    if ((rows->count == 0 && run->archived[0]) || lacks_oldest(run)) {
        tide_sql_reject_archived(run->reply, run->archived);
        return TIDE_OK;
    }
    put_envelope(run->reply);
    uint32_t shown = count_shown(run, rows);
    tide_buf_str(body, ",\"items\":[");
    for (uint32_t i = 0; i < shown; i++) {
        if (i)
            tide_buf_u8(body, ',');
        tide_buf_slice(body, tide_pg_slice(rows, i, 0));
    }
    tide_buf_str(body, "],\"next\":");
    if (rows->count > shown || run->archived[0] /* the next page may be a 410 */) {
        uint32_t last = shown < rows->count && is_continuation(rows, shown) ? shown : shown - 1;
        assert(last < rows->count);
        status = put_next(run, tide_pg_slice(rows, last, 1), err);
    } else {
        tide_buf_str(body, "null");
    }
    tide_buf_u8(body, '}');
    return status;
}

static tide_status put_rows(struct run *run, const struct tide_pg_rows *rows, struct tide_err *err)
{
    tide_buf_reset(&run->reply->body);
    if (rows->columns != (run->statement->list ? 2 : 1))
        return tide_fail(err, TIDE_E_DB_FATAL, "%s.sql: %u columns", run->statement->name,
                         rows->columns);
    return run->statement->list ? put_list(run, rows, err) : put_one(run, rows, err);
}

/* --- a statement ------------------------------------------------------------------------ */

static void note_moved(struct run *run, const struct tide_pg_rows *rows)
{
    run->moved = rows->count == 1 && tide_pg_u64(rows, 0, 0) != run->parts;
}

/* Takes the result of each piped statement: BEGIN, SET LOCAL ROLE, head, statement, COMMIT,
 * parts. */
static tide_status take_result(void *self, uint32_t index, const struct tide_pg_rows *rows,
                               struct tide_err *err)
{
    struct run *run = self;
    assert(index <= 5);
    if (index == 2)
        read_head(run, rows);
    else if (index == 5)
        note_moved(run, rows);
    else if (run->again)
        return TIDE_OK;
    else if (index == 3 && !run->refused && !run->probing)
        return put_rows(run, rows, err);
    else if (index == 3 && !run->refused && rows->count == 0)
        reject_missing(run);
    return TIDE_OK;
}

/* Returns the time from which on a list begins: the one that was given, or, if it is later, that
 * from which on the past is known. */
static const char *from_text(struct run *run, const struct tide_param_value *param,
                             char number[TIME_TEXT])
{
    uint64_t since = run->session->history_since;
    if (since > UINT32_MAX || (param->text.len && param->time_ms >= since * 1000) || !since)
        return value_text(param, number);
    snprintf(number, TIME_TEXT, "%" PRIu64, since);
    return number;
}

static void fill_values(struct run *run, const char *values[TIDE_PG_PARAMS_MAX])
{
    for (uint32_t i = 0; i < run->statement->bind_count; i++) {
        uint8_t bind = run->statement->binds[i];
        const struct tide_param_value *param;
        switch (bind) {
        case TIDE_BIND_DEPLOYMENT:
            values[i] = run->session->selected.text;
            break;
        case TIDE_BIND_AT:
            values[i] = run->ledger ? run->at : newest;
            break;
        case TIDE_BIND_AFTER:
            values[i] = run->after[0] ? run->after : NULL;
            break;
        case TIDE_BIND_LIMIT:
            values[i] = run->limit_text;
            break;
        default:
            assert(bind < TIDE_PARAM_COUNT);
            param = tide_request_param(run->request, (enum tide_param_id)bind);
            assert(param);
            if (bind == TIDE_PARAM_from)
                values[i] = from_text(run, param, run->numbers[i]);
            else
                values[i] = bind == TIDE_PARAM_token && run->token[0]
                                ? run->token
                                : value_text(param, run->numbers[i]);
        }
    }
}

/* Sends the whole transaction in one round trip. */
static tide_status send_statement(struct run *run, struct tide_err *err)
{
    assert(run->statement->bind_count <= TIDE_PG_PARAMS_MAX);
    const char *values[TIDE_PG_PARAMS_MAX] = { NULL }, *head[TIDE_SQL_HEAD_VALUES];
    struct tide_pg *pg = run->session->pg;
    struct tide_err later;
    fill_values(run, values);
    tide_status status = tide_pg_pipe(pg, err);
    if (status != TIDE_OK)
        return status;
    status = tide_pg_pipe_run(pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);
    if (status == TIDE_OK)
        status = tide_pg_pipe_run(pg, "SET LOCAL ROLE " TIDE_SQL_ROLE, err);
    if (status == TIDE_OK)
        status = tide_pg_pipe_execute(pg, TIDE_SQL_HEAD, head_values(run, head),
                                      TIDE_SQL_HEAD_VALUES, err);
    if (status == TIDE_OK)
        status =
            tide_pg_pipe_execute(pg, run->statement->name, values, run->statement->bind_count, err);
    if (status == TIDE_OK)
        status = tide_pg_pipe_run(pg, "COMMIT", err);
    if (status == TIDE_OK)
        status = tide_pg_pipe_execute(pg, TIDE_SQL_PARTS, head, 1, err);
    struct tide_pg_answers sink = { .answer = take_result, .self = run };
    tide_status end = tide_pg_pipe_end(pg, &sink, status == TIDE_OK ? err : &later);
    return status == TIDE_OK ? end : status;
}

static tide_status fail_moved(struct tide_err *err)
{
    return tide_fail(err, TIDE_E_DB, "partitions change too fast to read across them");
}

/* The statement is sent before the head is read, with the limit of the past that the session knows.
 * If that has changed, which happens once or twice in the life of an index, it is sent again. So it
 * is if partitions changed while it ran. A list's parent has no rows in them. */
static tide_status run_statement(struct run *run, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    bool moved = false;
    for (uint32_t i = 0; i < ATTEMPTS; i++) {
        run->again = run->moved = false;
        status = send_statement(run, err);
        moved = run->moved && !run->probing;
        if (status != TIDE_OK || !(moved || (run->again && !run->refused)))
            break;
        if (run->probing)
            continue; /* the reply is the list's */
        tide_reply_reset(run->reply);
        run->refused = false;
        run->archived[0] = 0;
    }
    return status == TIDE_OK && moved ? fail_moved(err) : status;
}

/* Reads limit and cursor. Returns false if the cursor is not of this request. */
static bool read_page(struct run *run)
{
    const struct tide_param_value *limit = tide_request_param(run->request, TIDE_PARAM_limit);
    const struct tide_param_value *cursor = tide_request_param(run->request, TIDE_PARAM_cursor);
    if (!run->statement->list)
        return true;
    assert(limit->number < UINT32_MAX); /* the statement gets limit + 1 */
    run->limit = (uint32_t)limit->number;
    snprintf(run->limit_text, sizeof run->limit_text, "%u", run->limit + 1);
    tide_cursor_scope(&run->scope, run->session->selected.identity, run->request);
    return !cursor->given || tide_cursor_read(run->after, &run->scope, cursor->text);
}

/* Prepares the statement on this connection, once. */
static tide_status prepare_once(struct tide_session *session, size_t statement,
                                struct tide_err *err)
{
    assert(statement < session->statements->count);
    const struct tide_statement *of = &session->statements->all[statement];
    if (session->prepared[statement])
        return TIDE_OK;
    tide_status status = tide_pg_prepare(session->pg, of->name, of->sql, err);
    session->prepared[statement] = status == TIDE_OK;
    return status;
}

/* Checks, for an empty first page, that the list's parent exists; otherwise the answer becomes
 * the parent's 404. */
static tide_status check_parent(struct run *run, struct tide_err *err)
{
    const struct tide_statements *all = run->session->statements;
    size_t parent = run->statement->parent;
    struct tide_answer_at listed = run->reply->at;
    if (!run->nothing || parent == TIDE_STATEMENT_NO_PARENT)
        return TIDE_OK;
    assert(parent < all->count && !all->all[parent].list);
    run->statement = &all->all[parent];
    run->probing = true;
    run->archived[0] = 0; /* the archive concerns the list's rows, not the parent */
    tide_status status = prepare_once(run->session, parent, err);
    if (status == TIDE_OK)
        status = run_statement(run, err);
    if (run->reply->status != 404)
        run->reply->at = listed;
    return status;
}

tide_status tide_sql_answer(struct tide_session *session, const struct tide_request *request,
                            struct tide_reply *reply, struct tide_err *err)
{
    assert(request->route->statement);
    struct run run;
    open_run(&run, session, request, reply);
    const struct tide_statements *all = session->statements;
    size_t index = tide_statements_find(all, request->route, run.ledger != NULL);
    run.statement = &all->all[index];
    if (!read_page(&run)) {
        tide_cursor_refuse(reply);
        return TIDE_OK;
    }
    tide_status status = prepare_once(session, index, err);
    if (status == TIDE_OK)
        status = tide_token_symbol(run.token, &run.refused, session, run.at, request, reply, err);
    if (status != TIDE_OK || run.refused)
        return status;
    status = run_statement(&run, err);
    return status == TIDE_OK ? check_parent(&run, err) : status;
}

/* --- a handler -------------------------------------------------------------------------- */

/* Begins the transaction and reads the head. *rows is the caller's to release. */
static tide_status begin_transaction(struct run *run, struct tide_pg_rows *rows,
                                     struct tide_err *err)
{
    const char *head[TIDE_SQL_HEAD_VALUES];
    struct tide_pg *pg = run->session->pg;
    tide_status status =
        tide_pg_run(pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "BEGIN", err);
    if (status == TIDE_OK && !run->request->route->class->lookup)
        status = tide_pg_run(pg, "SET LOCAL ROLE " TIDE_SQL_ROLE, "SET", err);
    if (status == TIDE_OK)
        status = tide_pg_execute(pg, rows, TIDE_SQL_HEAD, head_values(run, head),
                                 TIDE_SQL_HEAD_VALUES, err);
    if (status == TIDE_OK)
        read_head(run, rows);
    return status;
}

static tide_status take_parts(void *self, uint32_t index, const struct tide_pg_rows *rows,
                              struct tide_err *err)
{
    (void)err;
    if (index == 1)
        note_moved(self, rows);
    return TIDE_OK;
}

/* Ends the transaction, with nothing to commit, and finds out whether partitions changed, in one
 * round trip. */
static tide_status end_transaction(struct run *run, struct tide_err *err)
{
    struct tide_pg *pg = run->session->pg;
    struct tide_err later;
    tide_status status = tide_pg_pipe(pg, err);
    if (status != TIDE_OK)
        return status;
    status = tide_pg_pipe_run(pg, "ROLLBACK", err);
    if (status == TIDE_OK)
        status = tide_pg_pipe_execute(pg, TIDE_SQL_PARTS,
                                      (const char *[]){ run->session->selected.text }, 1, err);
    struct tide_pg_answers sink = { .answer = take_parts, .self = run };
    tide_status end = tide_pg_pipe_end(pg, &sink, status == TIDE_OK ? err : &later);
    return status == TIDE_OK ? end : status;
}

static tide_status handle_once(struct run *run, struct tide_handler_context *context,
                               struct tide_err *err)
{
    struct tide_session *session = run->session;
    struct tide_pg_rows head = { 0 };
    tide_status status = begin_transaction(run, &head, err);
    if (status == TIDE_OK && !run->refused) {
        struct tide_sql_task task = { .pg = session->pg,
                                      .deployment = session->selected.id,
                                      .archived = tide_pg_text(&head, 0, TIDE_SQL_HEAD_ARCHIVED) };
        context->task = &task;
        run->request->route->handle(context, run->request, run->reply);
        context->task = NULL;
        /* The handler has written a problem already. The pool decides whether to repeat the job,
         * for example after a recovery conflict on a standby. */
        if (!tide_pg_alive(session->pg) || tide_pg_remedy(session->pg) != TIDE_PG_NONE)
            status =
                tide_fail(err, TIDE_E_DB, "route %s: the database failed", run->request->route->id);
    }
    tide_pg_rows_release(&head);
    return status == TIDE_OK ? end_transaction(run, err) : status;
}

tide_status tide_sql_handle(struct tide_session *session, struct tide_handler_context *context,
                            const struct tide_request *request, struct tide_reply *reply,
                            struct tide_err *err)
{
    assert(request->route->handle && !context->task);
    for (uint32_t i = 0; i < ATTEMPTS; i++) {
        struct run run;
        open_run(&run, session, request, reply);
        tide_status status = handle_once(&run, context, err);
        if (status != TIDE_OK || !run.moved)
            return status;
        tide_reply_reset(reply);
    }
    return fail_moved(err);
}
