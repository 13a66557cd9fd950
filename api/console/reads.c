/* Lists: each statement makes its items as JSON, and beside each item the position behind it.
 *
 * $1 the deployment, $2 one more than the items of a page, $3 the position (NULL: from the start),
 * $4 seconds. */
#include "api/console/console.h"
#include "tidemark/json.h"

#define UTC(time) "to_char(" time " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
/* What the index says of an address now; NULL: there is no record of it. */
#define CHAIN(address)                                                                         \
    "(SELECT jsonb_build_object('status', c.status, 'frozen', c.frozen, 'expired', c.expired," \
    " 'expiresAt', " UTC(                                                                      \
        "c.expires_at") ", 'ledger', c.ledger) FROM analyst.compliance AS c"                   \
                        " WHERE c.deployment = $1::smallint AND c.address = " address " LIMIT 1)"

const char console_review_sql[] =
    "SELECT jsonb_build_object('id', r.id::text, 'kind', r.kind, 'action', r.action, 'reason',"
    " r.reason, 'detail', r.detail, 'sessionId', r.session_id, 'address', r.address, 'provider',"
    " r.provider, 'sessionState', r.session_state, 'since', " UTC(
        "r.since") ", 'ledger',"
                   " r.confirmed_ledger, 'txHash', r.tx_hash, 'chain', " CHAIN(
                       "r.address") "), r.id"
                                    " FROM (SELECT * FROM kyc.console_review AS x WHERE "
                                    "x.deployment = $1::smallint"
                                    "  AND x.id > coalesce($3::bigint, 0) ORDER BY x.id LIMIT "
                                    "$2::integer) AS r ORDER BY r.id";

const char console_proposals_sql[] =
    "SELECT jsonb_build_object('id', p.id::text, 'action', p.action, 'target', p.target, 'reason',"
    " p.reason, 'state', CASE WHEN p.state = 'open' AND p.proposed_at < clock_timestamp() -"
    " interval '24 hours' THEN 'expired' ELSE p.state END, 'proposedBy', p.proposed_by,"
    " 'proposedAt', " UTC("p.proposed_at") ", 'decidedBy', p.decided_by, 'decidedAt', " UTC(
        "p.decided_at") "), p.id FROM kyc.proposal AS p WHERE p.deployment = $1::smallint"
                        " AND p.id < coalesce($3::bigint, 9223372036854775807) ORDER BY p.id DESC "
                        "LIMIT $2::integer";

const char console_expiring_sql[] =
    "SELECT jsonb_build_object('sessionId', s.id, 'address', s.address, 'provider', s.provider,"
    " 'attestedUntil', " UTC("s.attested_until") ", 'chain', " CHAIN(
        "s.address") "),"
                     " s.micros || '.' || s.id"
                     " FROM (SELECT x.*, (extract(epoch FROM x.attested_until) * 1000000)::bigint "
                     "AS micros"
                     "  FROM kyc.console_session AS x WHERE x.deployment = $1::smallint AND "
                     "x.state = 'approved'"
                     "  AND x.attested_until > clock_timestamp()"
                     "  AND x.attested_until <= clock_timestamp() + $4::bigint * interval '1 s'"
                     "  AND ($3::text IS NULL OR ((extract(epoch FROM x.attested_until) * "
                     "1000000)::bigint, x.id) >"
                     "   (split_part($3::text, '.', 1)::bigint, split_part($3::text, '.', 2)))"
                     "  ORDER BY micros, x.id LIMIT $2::integer) AS s ORDER BY s.micros, s.id";

/* Thirty days: days without a session have no item. */
const char console_sessions_sql[] =
    "SELECT jsonb_build_object('day', d.day, 'provider', d.provider, 'states', d.states), d.key"
    " FROM (SELECT n.day, n.provider, jsonb_object_agg(n.state, n.sessions) AS states,"
    "   n.day || '.' || n.provider AS key"
    "  FROM (SELECT to_char(x.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, x.provider,"
    "    x.state, count(*) AS sessions FROM kyc.console_session AS x"
    "   WHERE x.deployment = $1::smallint AND x.created_at > clock_timestamp() - interval '30 days'"
    "   GROUP BY 1, 2, 3) AS n GROUP BY n.day, n.provider) AS d"
    " WHERE d.key < coalesce($3::text, 'z') ORDER BY d.key DESC LIMIT $2::integer";

const char console_providers_sql[] =
    "SELECT jsonb_build_object('provider', p.provider, 'sessions', coalesce(a.sessions, 0),"
    " 'failing', coalesce(a.failing, 0), 'attempts', coalesce(a.attempts, 0), "
    "'nextCheck', " UTC("a.next_check") ", 'decisionAt', " UTC(
        "a.decision_at") ", 'webhooksWaiting',"
                         " coalesce(n.webhooks, 0), 'oldestWaiting', " UTC(
                             "n.oldest") ", 'webhooksFailed',"
                                         " coalesce(f.webhooks, 0)), p.provider"
                                         " FROM (SELECT x.provider FROM kyc.console_asked AS x "
                                         "WHERE x.deployment = $1::smallint UNION"
                                         "  SELECT x.provider FROM kyc.console_provider AS x "
                                         "WHERE x.deployment = $1::smallint) AS p"
                                         " LEFT JOIN kyc.console_asked AS a ON a.deployment = "
                                         "$1::smallint AND a.provider = p.provider"
                                         " LEFT JOIN kyc.console_provider AS n ON n.deployment "
                                         "= $1::smallint AND n.provider = p.provider"
                                         "  AND n.state = 'new'"
                                         " LEFT JOIN kyc.console_provider AS f ON f.deployment "
                                         "= $1::smallint AND f.provider = p.provider"
                                         "  AND f.state = 'failed'"
                                         " WHERE p.provider > coalesce($3::text, '') ORDER BY "
                                         "p.provider LIMIT $2::integer";

const char console_attesters_sql[] =
    "SELECT jsonb_build_object('verifier', a.verifier, 'state', a.state, 'heartbeatAt', " UTC(
        "a.heartbeat_at") ", 'ledger', a.ledger, 'balance', a.balance::text, 'confirmed',"
                          " a.confirmed, 'parked', a.parked, 'failures', a.failures, "
                          "'confirmedAt', " UTC("a.confirmed_at") ", 'failedAt', " UTC(
                              "a.failed_at") ", 'standing', a.standing),"
                                             " a.verifier FROM kyc.console_attester AS a WHERE "
                                             "a.deployment = $1::smallint"
                                             " AND a.verifier > coalesce($3::text, '') ORDER BY "
                                             "a.verifier LIMIT $2::integer";

const char console_audit_sql[] = "SELECT jsonb_build_object('id', a.id::text, 'at', " UTC(
    "a.at") ", 'actor', a.actor, 'what',"
            " a.what, 'about', a.about, 'detail', a.detail), a.id FROM kyc.audit AS a"
            " WHERE $1::smallint IS NOT NULL AND a.id < coalesce($3::bigint, 9223372036854775807)"
            " ORDER BY a.id DESC LIMIT $2::integer";

/* A minute: it reads the audit from its first row. */
const char console_check_sql[] =
    "SELECT jsonb_build_object('rows', (SELECT count(*) FROM kyc.audit), 'broken', b.id::text,"
    " 'intact', b.id IS NULL, 'head', (SELECT encode(a.hash, 'hex') FROM kyc.audit AS a"
    " ORDER BY a.id DESC LIMIT 1)), 0 FROM (SELECT kyc.audit_broken() AS id) AS b";

static const char head_sql[] = "SELECT d.passphrase, c.ledger, " UTC(
    "c.closed_at") ", greatest(0,"
                   " round(extract(epoch FROM clock_timestamp() - c.closed_at) * 1000))::bigint"
                   " FROM chain.deployment AS d LEFT JOIN chain.cursor AS c ON c.deployment = d.id"
                   " WHERE d.id = $1::smallint";

static void put_text(struct tide_json *j, const char *name, const struct tide_pg_rows *rows,
                     uint32_t column)
{
    if (tide_pg_is_null(rows, 0, column))
        tide_json_null(j, name);
    else
        tide_json_text(j, name, tide_pg_slice(rows, 0, column));
}

/* Who asks, of which network, and as of which ledger. */
static tide_status put_head(struct console_session *session, const struct console_ask *ask,
                            struct tide_json *j, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(session->pg, &rows, head_sql,
                                       (const char *[]){ session->selected.text }, 1, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count != 1) {
        tide_pg_rows_release(&rows);
        return tide_fail(err, TIDE_E_DB_FATAL, "chain.deployment names no network");
    }
    tide_json_name(j, "you");
    tide_json_open(j, '{');
    tide_json_word(j, "name", ask->person->name);
    tide_json_word(j, "role", console_role_name(ask->person->role));
    tide_json_close(j, '}');
    put_text(j, "network", &rows, 0);
    tide_json_number(j, "ledger", tide_pg_u64(&rows, 0, 1));
    put_text(j, "closedAt", &rows, 2);
    tide_json_number(j, "ageMs", tide_pg_u64(&rows, 0, 3));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static void put_items(struct tide_json *j, const struct tide_pg_rows *rows, uint32_t limit)
{
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

/* The number of the last parameter that a statement names. */
static size_t params_of(const char *sql)
{
    size_t most = 0;
    for (const char *at = strchr(sql, '$'); at; at = strchr(at + 1, '$'))
        if (at[1] >= '1' && at[1] <= '4' && (size_t)(at[1] - '0') > most)
            most = (size_t)(at[1] - '0');
    return most;
}

static tide_status put_list(struct console_session *session, const struct tide_request *request,
                            struct tide_json *j, struct tide_err *err)
{
    const struct tide_param_value *limit = tide_request_param(request, TIDE_PARAM_limit);
    const struct tide_param_value *after = tide_request_param(request, TIDE_PARAM_after);
    const struct tide_param_value *within = tide_request_param(request, TIDE_PARAM_within);
    char count[24], seconds[24], position[CONSOLE_AFTER_BYTES];
    uint32_t most = limit ? (uint32_t)limit->number : 1;
    struct tide_pg_rows rows;
    snprintf(count, sizeof count, "%" PRIu32, most + 1);
    snprintf(seconds, sizeof seconds, "%" PRIu64, within ? within->number : 0);
    bool given = after && after->given && after->text.len < sizeof position;
    if (given)
        snprintf(position, sizeof position, "%.*s", (int)after->text.len,
                 (const char *)after->text.ptr);
    const char *values[] = { session->selected.text, count, given ? position : NULL, seconds };
    const char *sql = request->route->statement;
    tide_status status = tide_pg_query(session->pg, &rows, sql, values, params_of(sql), err);
    if (status != TIDE_OK)
        return status;
    put_items(j, &rows, most);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

tide_status console_read(struct console_session *session, const struct console_ask *ask,
                         struct tide_job *job, struct tide_err *err)
{
    bool check = job->request->route->statement == console_check_sql;
    struct tide_json j = { .buf = &job->reply->body };
    if (check && atomic_exchange(&session->console->checking, true)) {
        tide_reply_problem(job->reply, 429, "check_runs", "Another check of the audit runs.");
        job->reply->retry_after_s = 5;
        return TIDE_OK;
    }
    tide_status status =
        tide_pg_run(session->pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "BEGIN", err);
    if (status == TIDE_OK && check)
        status = tide_pg_run(session->pg, "SET LOCAL statement_timeout = '60s'", "SET", err);
    tide_json_open(&j, '{');
    if (status == TIDE_OK)
        status = put_head(session, ask, &j, err);
    if (status == TIDE_OK)
        status = put_list(session, job->request, &j, err);
    tide_json_close(&j, '}');
    if (status == TIDE_OK)
        status = tide_pg_run(session->pg, "COMMIT", "COMMIT", err);
    if (check)
        atomic_store(&session->console->checking, false);
    return status;
}
