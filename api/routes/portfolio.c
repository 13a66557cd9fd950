/* GET /api/addresses/{address}/portfolio: everything that an address holds, in one answer. A
 * statement makes most of it (addresses/portfolio.sql). Compliance and claimable earnings come
 * from the same rules as their own routes. */
#include "api/routes/handlers.h"
#include "api/sql/sql_answer.h"
#include "api/sql/sql_problem.h"

#include <stdio.h>

enum { ITEM, NOW_MS, COLUMNS }; /* columns of the statement */

#define CLAIMABLE_EPOCHS 100u

struct portfolio {
    struct tide_handler_context *context;
    struct tide_reply *reply;
    const struct tide_param_value *address;
    struct tide_pg_rows rows;
    bool past;       /* ?ledger=N */
    uint64_t now_ms; /* time of evaluation, unix ms */
};

static const char *statement_text(void)
{
    return tide_query_file_text("portfolio");
}

static tide_status load_rows(struct portfolio *p, struct tide_err *err)
{
    char id[8], at[16];
    const struct tide_sql_task *task = tide_sql_task(p->context);
    snprintf(id, sizeof id, "%u", task->deployment);
    snprintf(at, sizeof at, "%" PRIu32, p->past ? p->reply->at.ledger : (uint32_t)INT32_MAX);
    const char *const values[] = { id, at, (const char *)p->address->text.ptr };
    tide_status status =
        tide_pg_query(task->pg, &p->rows, statement_text(), values, TIDE_COUNT(values), err);
    if (status == TIDE_OK && (p->rows.count != 1 || p->rows.columns != COLUMNS))
        status = tide_fail(err, TIDE_E_DB_FATAL, "portfolio.sql: not one object");
    return status;
}

/* Sets the time of evaluation: the latest of the host's clock, the database's and the newest
 * close time; for a past ledger its close time. */
static void set_now(struct portfolio *p)
{
    assert(p->rows.count == 1 && p->rows.columns == COLUMNS); /* load_rows checked it */
    uint64_t closed_ms = p->reply->at.closed_ms;
    uint64_t database_ms = tide_pg_u64(&p->rows, 0, NOW_MS);
    p->now_ms = closed_ms;
    if (!p->past && p->context->now_ms > p->now_ms)
        p->now_ms = p->context->now_ms;
    if (!p->past && database_ms > p->now_ms)
        p->now_ms = database_ms;
}

/* --- compliance ------------------------------------------------------------------------------ */

/* Returns why the compliance must not be reported, or NULL. The conditions are those of
 * tide_reader_trusted. */
static const char *why_unknown(const struct portfolio *p, const struct tide_reader *reader)
{
    const struct tide_config *config = p->context->api->config;
    assert(p->now_ms >= p->reply->at.closed_ms); /* set_now begins with it */
    uint64_t closed_age_ms = p->now_ms - p->reply->at.closed_ms;
    if (!reader->meta->compliance_complete)
        return "incomplete";
    if (p->past)
        return NULL;
    bool late = p->reply->at.age_ms > config->stale_after_ms ||
                (config->compliance_age_s && closed_age_ms / 1000 > config->compliance_age_s);
    return late ? "stale" : NULL;
}

static void put_unknown(struct tide_json *j, const char *why)
{
    static const char *const absent[] = { "compliant", "status",    "reasonCode",
                                          "provider",  "expiresAt", "whitelisted" };
    for (size_t i = 0; i < TIDE_COUNT(absent); i++)
        tide_json_null(j, absent[i]);
    tide_json_word(j, "unknownBecause", why);
}

/* Writes the address's standing, but never its jurisdiction. */
static void put_standing(struct tide_json *j, struct tide_reader *reader,
                         const struct tide_hot_address *who)
{
    struct tide_standing s;
    const struct tide_hot_person *person;
    tide_lookup_standing(reader, who, &s, &person);
    bool recorded = person && person->recorded;
    tide_json_bool(j, "compliant", s.compliant);
    tide_json_word(j, "status", tide_standing_status_name(s.status));
    tide_json_word(j, "reasonCode", tide_standing_reason_code(s.reason));
    if (recorded)
        tide_record_json_address(j, "provider", &person->provider);
    else
        tide_json_null(j, "provider");
    tide_json_stored_time(j, "expiresAt", recorded ? person->expires_at : 0);
    tide_json_bool(j, "whitelisted", person && person->whitelisted);
    tide_json_null(j, "unknownBecause");
}

/* Gives the transaction the login's rights, as look-ups of the past have: the compliance rule
 * needs jurisdictions, which the role of SQL routes cannot read. */
static tide_status lift_role(const struct portfolio *p, struct tide_err *err)
{
    return tide_pg_run(tide_sql_task(p->context)->pg, "SET LOCAL ROLE NONE", "SET", err);
}

/* Writes the member compliance. Returns false with a problem in the reply. */
static bool put_compliance(struct tide_json *j, const struct portfolio *p)
{
    assert(p->reply->at.known && p->now_ms > 0);
    struct tide_reader reader;
    if (!tide_reader_open_task(&reader, p->context, p->now_ms / 1000, p->reply))
        return false;
    const char *why = why_unknown(p, &reader);
    tide_json_name(j, "compliance");
    tide_json_open(j, '{');
    if (why)
        put_unknown(j, why);
    else
        put_standing(j, &reader, &p->address->address);
    tide_json_close(j, '}');
    tide_reader_close(&reader, p->reply);
    return p->reply->status == 200;
}

/* --- the answer ------------------------------------------------------------------------------ */

/* Writes the members of a JSON object, without its braces. */
static void put_members(struct tide_json *j, tide_slice item)
{
    assert(item.len > 2 && item.ptr[0] == '{');
    tide_json_raw(j, tide_slice_of(item.ptr + 1, item.len - 2));
}

/* Writes the answer. The role is lifted right before the member compliance, so that all statements
 * before it run with the rights of SQL routes. */
static tide_status put_all(const struct portfolio *p, struct tide_err *err)
{
    struct tide_json j = { .buf = &p->reply->body };
    tide_json_open(&j, '{');
    tide_json_u64(&j, "ledger", p->reply->at.ledger);
    tide_json_time_ms(&j, "closedAt", p->reply->at.closed_ms);
    p->reply->content_from = p->reply->body.len;
    tide_record_json_address(&j, "address", &p->address->address);
    put_members(&j, tide_pg_slice(&p->rows, 0, ITEM));
    tide_status status = tide_put_claimable(&j, "claimable", p->context, p->address,
                                            p->reply->at.ledger, CLAIMABLE_EPOCHS, err);
    if (status == TIDE_OK)
        status = lift_role(p, err);
    if (status == TIDE_OK && put_compliance(&j, p))
        tide_json_close(&j, '}');
    return status;
}

void tide_route_portfolio(struct tide_handler_context *context, const struct tide_request *request,
                          struct tide_reply *reply)
{
    struct tide_err err;
    const struct tide_param_value *ledger = tide_request_param(request, TIDE_PARAM_ledger);
    struct portfolio p = { .context = context,
                           .reply = reply,
                           .address = tide_request_param(request, TIDE_PARAM_address),
                           .past = ledger->given };
    tide_status status = load_rows(&p, &err);
    if (status == TIDE_OK) {
        set_now(&p);
        status = put_all(&p, &err);
    }
    if (status != TIDE_OK)
        tide_sql_problem(reply, tide_sql_task(context)->pg, &err);
    tide_pg_rows_release(&p.rows);
}
