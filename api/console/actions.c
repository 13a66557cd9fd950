/* The actions of people. For each action one SQL function does it and writes the audit
 * (migrations/0006_kyc_console.sql). */
#include "api/console/console.h"
#include "tidemark/json.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

static const char attend_sql[] =
    "SELECT kyc.console_attend($1::smallint, $2::bigint, $5, $3, $4::bytea[])::text";
static const char propose_sql[] =
    "SELECT kyc.propose($1::smallint, $5, $2, $6, $3, $4::bytea[], $7::jsonb, $8::bytea)::text";
static const char replay_sql[] =
    "SELECT kyc.console_replay($1::smallint, $2::bigint, $5, $3, $4::bytea[])";
static const char end_sql[] = "SELECT kyc.console_end($5, $2, $6, $3, $4::bytea[])::text"
                              " WHERE $1::smallint IS NOT NULL";
/* Finds no row unless the person's role may propose the action too. */
static const char confirm_sql[] =
    "SELECT kyc.confirm($1::smallint, p.id, $3, $4::bytea[])::text FROM kyc.proposal AS p"
    " WHERE p.id = $2::bigint AND p.deployment = $1::smallint"
    " AND (p.action IN ('requeue', 'revoke') OR $5::text = 'operator')";
static const char withdraw_sql[] =
    "SELECT kyc.withdraw($1::smallint, $2::bigint, $3, $4::bytea[])::text";

/* Refusals of the SQL functions, by SQLSTATE. */
static const struct {
    const char *state;
    uint16_t status;
    const char *code, *detail;
} refusals[] = {
    { "TK001", 404, "nothing_there",
      "This applies to nothing now. Another person may have done it already: reload the list." },
    { "TK002", 403, "same_person",
      "You proposed this, so you cannot confirm it. Another person must." },
    { "TK003", 409, "proposal_expired", "The proposal is older than 24 hours: propose it again." },
    { "TK004", 409, "target_changed",
      "The target has changed since this was proposed. Withdraw the proposal and check again." },
    { "TK005", 409, "proposed_already",
      "This was proposed already: another person may confirm it." },
    { "TK007", 429, "too_many",
      "A limit of the manual is reached: open proposals, proposals of a day, or revocations of "
      "an hour." },
    { "TK008", 409, "webhook_disabled",
      "The webhook is disabled. Only its integrator can enable it." },
    { "55006", 409, "not_now",
      "An approval stands, or an intent is on its way to the chain. Revoke first, then wait." },
    { "P0002", 404, "nothing_there",
      "There is no such active key, or nothing is stored about this address." },
    { "54000", 409, "too_many",
      "A limit of the manual is reached: integrators, keys, or notifications to a webhook." },
};
static const char invalid[] =
    "The target is not an id, or a member of detail is not as the manual says: scopes of kyc, "
    "snapshot, webhooks and receipts; rate and burst together; networks as 192.0.2.0/24; origins "
    "as https://app.example.";

/* Writes the problem for a refusal of the SQL function. Returns false if the failure is no
 * refusal. */
static bool write_refusal(struct console_session *session, const struct console_task *task,
                          struct tide_reply *reply)
{
    const char *state = tide_pg_sqlstate(session->pg);
    for (size_t i = 0; i < TIDE_COUNT(refusals); i++)
        if (strcmp(refusals[i].state, state) == 0) {
            tide_reply_problem(reply, refusals[i].status, refusals[i].code, "%s",
                               refusals[i].detail);
            atomic_fetch_add(&session->console->actions_refused, 1);
            tide_log(TIDE_WARN, "console.action_refused", "person=%s action=%s why=%s",
                     task->person->name, task->order.action, refusals[i].code);
            return true;
        }
    /* Classes 22 and 23: a value is malformed, or a constraint refuses it. */
    if (strncmp(state, "22", 2) != 0 && strncmp(state, "23", 2) != 0)
        return false;
    tide_reply_problem(reply, 400, "invalid_body", "%s", invalid);
    return true;
}

enum { CERTIFICATES_BYTES = 3 + CONSOLE_CERTIFICATES_MAX * (2 * TIDE_HASH_BYTES + 6) };

/* Writes all certificates of the person as an array literal. */
static void put_certificates(char out[CERTIFICATES_BYTES], const struct console_person *person)
{
    assert(person->certificate_count <= CONSOLE_CERTIFICATES_MAX);
    size_t len = 0;
    out[len++] = '{';
    for (uint32_t i = 0; i < person->certificate_count; i++) {
        static const char before[] = ",\"\\\\x";
        size_t skip = i == 0; /* the comma is left out */
        memcpy(out + len, before + skip, sizeof before - 1 - skip);
        len += sizeof before - 1 - skip;
        tide_hex(out + len, tide_slice_of(person->certificates[i], TIDE_HASH_BYTES));
        len += (size_t)2 * TIDE_HASH_BYTES;
        out[len++] = '"';
    }
    assert(len + 2 <= CERTIFICATES_BYTES);
    memcpy(out + len, "}", 2);
}

/* Calls the action's function. The statements share their first four parameters. */
static tide_status call_function(struct console_session *session, const struct console_task *task,
                                 struct tide_pg_rows *rows, struct tide_err *err)
{
    const char *action = task->order.action;
    assert(*action && task->person); /* console_order_read filled in both */
    char certificates[CERTIFICATES_BYTES];
    put_certificates(certificates, task->person);
    const struct console_order *order = &task->order;
    const char *values[] = { session->selected.text,
                             order->target,
                             task->person->name,
                             certificates,
                             action,
                             order->reason,
                             *order->detail ? order->detail : NULL,
                             *order->key.hash ? order->key.hash : NULL };
    if (strcmp(action, "attended") == 0) {
        values[4] = order->reason;
        return tide_pg_query(session->pg, rows, attend_sql, values, 5, err);
    }
    if (strcmp(action, "replay") == 0) {
        values[4] = order->reason;
        return tide_pg_query(session->pg, rows, replay_sql, values, 5, err);
    }
    if (strcmp(action, "withdraw") == 0)
        return tide_pg_query(session->pg, rows, withdraw_sql, values, 4, err);
    if (strcmp(action, "confirm") == 0) {
        values[4] = console_role_name(task->person->role);
        return tide_pg_query(session->pg, rows, confirm_sql, values, 5, err);
    }
    if (strcmp(action, "key_end") == 0 || strcmp(action, "suspend") == 0)
        return tide_pg_query(session->pg, rows, end_sql, values, 6, err);
    return tide_pg_query(session->pg, rows, propose_sql, values, TIDE_COUNT(values), err);
}

/* A new key is shown in this answer only: the database has its hash. */
tide_status console_act(struct console_session *session, const struct console_task *task,
                        struct tide_job *job, struct tide_err *err)
{
    assert(task->acts);
    struct tide_pg_rows rows;
    tide_status status = call_function(session, task, &rows, err);
    if (status != TIDE_OK)
        return write_refusal(session, task, job->reply) ? TIDE_OK : status;
    assert(rows.columns == 1); /* each statement calls one function */
    if (rows.count == 0)
        tide_reply_problem(job->reply, 403, "role",
                           "There is no such proposal, or your role may not confirm it.");
    else {
        struct tide_json j = { .buf = &job->reply->body };
        tide_json_open(&j, '{');
        tide_json_word(&j, "action", task->order.action);
        tide_json_text(&j, "result", tide_pg_slice(&rows, 0, 0));
        if (*task->order.key.text)
            tide_json_word(&j, "key", task->order.key.text);
        tide_json_close(&j, '}');
        atomic_fetch_add(&session->console->actions, 1);
        tide_log(TIDE_INFO, "console.action", "person=%s action=%s target=%s", task->person->name,
                 task->order.action, task->order.target);
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}
