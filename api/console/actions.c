/* What people do: a body is read strictly, then one function of the database does it and writes the
 * audit (migrations/0006_kyc_console.sql). */
#include "api/console/console.h"
#include "api/kyc/base/settings_read.h"
#include "tidemark/json.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

struct body {
    char action[16], target[CONSOLE_TARGET_BYTES], reason[33], ticket[20];
    uint32_t proposal;
};

static const struct tide_member propose_members[] = {
    { .name = "action",
      .read = tide_read_word,
      .offset = offsetof(struct body, action),
      .high = 16 },
    { .name = "target",
      .read = tide_read_word,
      .offset = offsetof(struct body, target),
      .high = CONSOLE_TARGET_BYTES },
    { .name = "reason",
      .read = tide_read_word,
      .offset = offsetof(struct body, reason),
      .high = 33 },
    { .name = "ticket",
      .read = tide_read_token,
      .offset = offsetof(struct body, ticket),
      .high = 20,
      .optional = true },
};
static const struct tide_member decide_members[] = {
    { .name = "proposal",
      .read = tide_read_u32,
      .offset = offsetof(struct body, proposal),
      .low = 1,
      .high = UINT32_MAX },
};

/* What each action asks for. attended alone needs no second person: it moves nothing on the
 * chain. */
static const struct {
    const char *name;
    enum console_role role;
} actions[] = {
    { "attended", CONSOLE_REVIEWER },
    { "requeue", CONSOLE_REVIEWER },
    { "revoke", CONSOLE_REVIEWER },
    { "erase", CONSOLE_OPERATOR },
};

/* Words instead of a free text, which may name a person: the audit keeps it for ever. */
static const char *const reasons[] = { "reviewed",      "provider_confirmed", "person_request",
                                       "legal_request", "key_corrected",      "mistake",
                                       "fraud" };

static bool is_reason(const char *word)
{
    for (size_t i = 0; i < TIDE_COUNT(reasons); i++)
        if (strcmp(reasons[i], word) == 0)
            return true;
    return false;
}

static bool is_ticket(const char *text)
{
    size_t letters = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (!*text)
        return true;
    if (letters < 1 || letters > 8 || text[letters] != '-')
        return false;
    size_t digits = strspn(text + letters + 1, "0123456789");
    return digits >= 1 && digits <= 10 && !text[letters + 1 + digits];
}

static bool refuse_field(struct tide_reply *reply, const char *where, const char *expected)
{
    tide_reply_problem(reply, 400, "invalid_body", "The body is not as this route takes it.");
    tide_reply_problem_field(reply, where, expected);
    return false;
}

static bool forbid(struct tide_reply *reply)
{
    tide_reply_problem(reply, 403, "role", "Your role does not allow this.");
    return false;
}

/* Of a proposal, or of attended. */
static bool read_action(struct console_ask *ask, const struct body *body, struct tide_reply *reply)
{
    size_t i = 0;
    while (i < TIDE_COUNT(actions) && strcmp(actions[i].name, body->action) != 0)
        i++;
    if (i == TIDE_COUNT(actions))
        return refuse_field(reply, "/action", "expected attended, requeue, revoke or erase");
    if (!is_reason(body->reason))
        return refuse_field(reply, "/reason", "expected one of the words in the manual");
    if (!is_ticket(body->ticket))
        return refuse_field(reply, "/ticket", "expected capital letters, - and digits: KYC-123");
    if (ask->person->role < actions[i].role)
        return forbid(reply);
    snprintf(ask->order.action, sizeof ask->order.action, "%s", body->action);
    snprintf(ask->order.target, sizeof ask->order.target, "%s", body->target);
    snprintf(ask->order.reason, sizeof ask->order.reason, "%s%s%s", body->reason,
             *body->ticket ? " " : "", body->ticket);
    return true;
}

bool console_order_read(struct console_ask *ask, const struct tide_request *request,
                        struct tide_reply *reply)
{
    bool proposes = strcmp(request->route->id, "act") == 0;
    struct body body = { 0 };
    struct tide_err err = { 0 };
    struct tide_reader r = { .err = &err };
    json_error_t error;
    json_t *root = tide_json_load(request->body, JSON_REJECT_DUPLICATES, &error);
    tide_status status = TIDE_E_CONFIG;
    if (root)
        status = tide_read_object(
            &r, proposes ? propose_members : decide_members,
            proposes ? TIDE_COUNT(propose_members) : TIDE_COUNT(decide_members), &body, root);
    json_decref(root);
    ask->acts = true;
    if (status != TIDE_OK)
        return refuse_field(reply, root ? r.path : "", root ? "not as expected" : "not JSON");
    if (proposes)
        return read_action(ask, &body, reply);
    snprintf(ask->order.action, sizeof ask->order.action, "%s", request->route->id);
    snprintf(ask->order.target, sizeof ask->order.target, "%" PRIu32, body.proposal);
    return ask->person->role >= CONSOLE_REVIEWER || forbid(reply);
}

/* --- in the database -------------------------------------------------------------------------- */

static const char attend_sql[] =
    "SELECT kyc.console_attend($1::smallint, $2::bigint, $5, $3, $4::bytea[])::text";
static const char propose_sql[] =
    "SELECT kyc.propose($1::smallint, $5, $2, $6, $3, $4::bytea[])::text";
/* A reviewer confirms what a reviewer may propose. */
static const char confirm_sql[] =
    "SELECT kyc.confirm($1::smallint, p.id, $3, $4::bytea[])::text FROM kyc.proposal AS p"
    " WHERE p.id = $2::bigint AND p.deployment = $1::smallint"
    " AND (p.action IN ('requeue', 'revoke') OR $5::text = 'operator')";
static const char withdraw_sql[] =
    "SELECT kyc.withdraw($1::smallint, $2::bigint, $3, $4::bytea[])::text";

/* What the functions refuse, by SQLSTATE. */
static const struct {
    const char *state;
    uint16_t status;
    const char *code, *detail;
} refusals[] = {
    { "TK001", 404, "nothing_there",
      "This does not apply to anything now: another person may have done it. Look at the list "
      "again." },
    { "TK002", 403, "same_person", "Who proposed it cannot confirm it: another person must." },
    { "TK003", 409, "proposal_expired", "The proposal is older than 24 hours: propose it again." },
    { "TK004", 409, "target_changed",
      "The target is not what it was when this was proposed. Withdraw it, and look again." },
    { "TK005", 409, "proposed_already",
      "This was proposed already: another person may confirm it." },
    { "TK007", 429, "too_many",
      "A limit of the manual is reached: of open proposals, of those of a day, or of revocations "
      "of "
      "an hour." },
    { "55006", 409, "not_now",
      "An approval stands, or an intent is on its way to the chain: revoke first, and wait." },
    { "P0002", 404, "nothing_there", "Nothing is kept of this address." },
    { "22P02", 400, "invalid_body", "The target is no id." },
    { "22003", 400, "invalid_body", "The target is no id." },
};

static bool was_refused(const struct console_session *session, const struct console_ask *ask,
                        struct tide_reply *reply)
{
    const char *state = tide_pg_sqlstate(session->pg);
    for (size_t i = 0; i < TIDE_COUNT(refusals); i++)
        if (strcmp(refusals[i].state, state) == 0) {
            tide_reply_problem(reply, refusals[i].status, refusals[i].code, "%s",
                               refusals[i].detail);
            tide_log(TIDE_WARN, "console.action_refused", "person=%s action=%s why=%s",
                     ask->person->name, ask->order.action, refusals[i].code);
            return true;
        }
    return false;
}

enum { CERTIFICATES_BYTES = 3 + CONSOLE_CERTIFICATES_MAX * (2 * TIDE_HASH_BYTES + 6) };

/* All certificates of the person, as PostgreSQL reads an array. */
static void put_certificates(char out[CERTIFICATES_BYTES], const struct console_person *person)
{
    size_t len = 0;
    out[len++] = '{';
    for (uint32_t i = 0; i < person->certificate_count; i++) {
        static const char before[] = ",\"\\\\x";
        size_t skip = i == 0; /* the comma */
        memcpy(out + len, before + skip, sizeof before - 1 - skip);
        len += sizeof before - 1 - skip;
        tide_hex(out + len, tide_slice_of(person->certificates[i], TIDE_HASH_BYTES));
        len += (size_t)2 * TIDE_HASH_BYTES;
        out[len++] = '"';
    }
    memcpy(out + len, "}", 2);
}

static tide_status call(struct console_session *session, const struct console_ask *ask,
                        struct tide_pg_rows *rows, struct tide_err *err)
{
    const char *action = ask->order.action;
    char certificates[CERTIFICATES_BYTES];
    put_certificates(certificates, ask->person);
    const char *values[] = {
        session->selected.text, ask->order.target, ask->person->name, certificates, NULL, NULL
    };
    if (strcmp(action, "attended") == 0) {
        values[4] = ask->order.reason;
        return tide_pg_query(session->pg, rows, attend_sql, values, 5, err);
    }
    if (strcmp(action, "withdraw") == 0)
        return tide_pg_query(session->pg, rows, withdraw_sql, values, 4, err);
    if (strcmp(action, "confirm") == 0) {
        values[4] = console_role_name(ask->person->role);
        return tide_pg_query(session->pg, rows, confirm_sql, values, 5, err);
    }
    values[4] = action;
    values[5] = ask->order.reason;
    return tide_pg_query(session->pg, rows, propose_sql, values, 6, err);
}

tide_status console_act(struct console_session *session, const struct console_ask *ask,
                        struct tide_job *job, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = call(session, ask, &rows, err);
    if (status != TIDE_OK)
        return was_refused(session, ask, job->reply) ? TIDE_OK : status;
    if (rows.count == 0)
        tide_reply_problem(job->reply, 403, "role", "There is no such proposal for your role.");
    else {
        struct tide_json j = { .buf = &job->reply->body };
        tide_json_open(&j, '{');
        tide_json_word(&j, "action", ask->order.action);
        tide_json_text(&j, "result", tide_pg_slice(&rows, 0, 0));
        tide_json_close(&j, '}');
        tide_log(TIDE_INFO, "console.action", "person=%s action=%s target=%s", ask->person->name,
                 ask->order.action, ask->order.target);
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}
