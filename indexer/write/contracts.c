/* Discovered tokens, read from chain.contract_seen after a restart, so that indexing continues as
 * if it had not stopped. */
#include "indexer/write/writer_impl.h"
#include "tidemark/log.h"
#include "tidemark/strkey.h"

#include <stdio.h>
#include <string.h>

static bool read_contract(struct tide_contract *out, const struct tide_pg_rows *rows, uint32_t at)
{
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    const char *role = tide_pg_text(rows, at, 1);
    *out = (struct tide_contract){ .role = tide_role_named(tide_slice_str(role)),
                                   .discovered = true,
                                   .market_ledger = (uint32_t)tide_pg_u64(rows, at, 4),
                                   .unsettled = !tide_pg_bool(rows, at, 3),
                                   .named_ledger = (uint32_t)tide_pg_u64(rows, at, 5),
                                   .shown_ledger = (uint32_t)tide_pg_u64(rows, at, 6) };
    out->listed = !out->market_ledger || out->named_ledger < out->market_ledger;
    if (out->role == TIDE_ROLE_COUNT ||
        tide_strkey_decode(&kind, payload, &len, tide_pg_slice(rows, at, 0)) != TIDE_OK ||
        kind != TIDE_STRKEY_CONTRACT)
        return false;
    assert(len == TIDE_HASH_BYTES); /* the decoder checks the length of each kind */
    memcpy(out->id, payload, TIDE_HASH_BYTES);
    snprintf(out->name, sizeof out->name, "%s", tide_pg_text(rows, at, 2));
    return true;
}

/* Adds a new contract, or updates one that was settled or named by a market since. */
static void adopt_contract(struct tide_deployment *deployment, const struct tide_contract *contract)
{
    const struct tide_contract *known = tide_deployment_find(deployment, contract->id);
    assert(!known || (size_t)(known - deployment->contracts) < deployment->contract_count);
    if (known && known->discovered) {
        struct tide_contract *own = &deployment->contracts[known - deployment->contracts];
        own->market_ledger = contract->market_ledger;
        own->listed = contract->listed;
        own->named_ledger = contract->named_ledger;
        own->shown_ledger = contract->shown_ledger;
    }
    if (known && known->unsettled && !contract->unsettled)
        tide_deployment_settle(deployment, (uint32_t)(known - deployment->contracts),
                               contract->role);
    else if (!known && tide_deployment_add(deployment, contract) != TIDE_OK)
        tide_log(TIDE_WARN, "contract.ignored", "contract=%s", contract->name);
}

tide_status writer_adopt_contracts(struct tide_writer *w, struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    write_sql(s,
              "SELECT contract, min(role), min(name), bool_or(what IN ('asset', 'token')),"
              " coalesce(min(ledger) FILTER (WHERE what = 'market'), 0), min(ledger) FILTER (WHERE"
              " what = 'discovered'),"
              " coalesce(min(ledger) FILTER (WHERE what IN ('asset', 'token')), 0) FROM"
              " chain.contract_seen WHERE deployment = %u"
              " AND what IN ('discovered', 'market', 'asset', 'token') GROUP BY contract"
              " HAVING bool_or(what = 'discovered')"
              " ORDER BY min(ledger), min(tx), contract LIMIT %u",
              s->plan->deployment, TIDE_CONTRACTS_MAX);
    tide_status status = write_query_sql(s, err);
    for (uint32_t i = 0; status == TIDE_OK && i < s->rows.count; i++) {
        struct tide_contract contract;
        if (!read_contract(&contract, &s->rows, i))
            status = tide_fail(err, TIDE_E_SCHEMA, "chain.contract_seen: contract \"%.60s\"",
                               tide_pg_text(&s->rows, i, 0));
        else
            adopt_contract(w->options.deployment, &contract);
    }
    return status;
}

/* ---- places for the tokens that catalogs name ---- */

/* Appends the query p with one row (first, last): the ledgers from the first one on that are
 * indexed or loading without a gap. last is NULL if the first one is missing. In an index
 * that began with a checkpoint's state, the first one is the checkpoint: the state has the tokens
 * that earlier ledgers named. */
static void sql_lead(struct tide_writer *w)
{
    struct write_session *s = &w->main.session;
    write_sql_more(
        s,
        "WITH r AS (SELECT from_ledger AS a, to_ledger AS z FROM chain.coverage WHERE deployment ="
        " %u UNION ALL SELECT first_loaded, last_loaded FROM chain.partition WHERE deployment = %u"
        " AND NOT attached AND last_loaded IS NOT NULL), b AS (SELECT coalesce((SELECT"
        " o.ledger FROM chain.start AS o WHERE o.deployment = %u), nullif(%u, 0), min(a)) AS"
        " first FROM r), p AS (SELECT first, (SELECT min(r.z) FROM r WHERE r.z >= first"
        " AND EXISTS (SELECT FROM r AS f WHERE first BETWEEN f.a AND f.z) AND NOT EXISTS (SELECT"
        " FROM r AS n WHERE n.a <= r.z + 1 AND n.z > r.z)) AS last FROM b)",
        s->plan->deployment, s->plan->deployment, s->plan->deployment, w->options.first_ledger);
}

/* Deletes surplus rows of tokens without a place: all but the first row of each, and all rows of
 * tokens behind TIDE_CONTRACTS_MAX others. Catalogs may name any number of tokens, and those could
 * never get a place. */
static void sql_forget_late(struct tide_writer *w)
{
    struct write_session *s = &w->main.session;
    write_sql(s,
              "DELETE FROM chain.contract_seen AS s USING (SELECT contract, min(ARRAY[ledger, tx])"
              " AS first, row_number() OVER (ORDER BY min(ARRAY[ledger, tx]), contract COLLATE"
              " \"C\") AS n FROM chain.contract_seen WHERE deployment = %u AND what = 'ignored'"
              " GROUP BY contract) AS k WHERE s.deployment = %u AND s.what = 'ignored' AND"
              " s.contract = k.contract AND (k.n > %u OR ARRAY[s.ledger, s.tx] > k.first); ",
              s->plan->deployment, s->plan->deployment, TIDE_CONTRACTS_MAX);
}

/* Gives the places to the tokens that catalogs named first (ledger, transaction, address), and
 * before any market did. Only ledgers of p count (sql_lead): no ledger that is read later can name
 * a token before them. The decoder does the same while it reads these ledgers in their order. */
static void sql_take_places(struct tide_writer *w)
{
    struct write_session *s = &w->main.session;
    sql_lead(w);
    write_sql_more(
        s,
        ", k AS (SELECT contract, min(ARRAY[ledger, tx]) FILTER (WHERE what <> 'market') AS named,"
        " min(ledger) FILTER (WHERE what = 'market') AS market, min(ledger) FILTER (WHERE what ="
        " 'discovered') AS found FROM chain.contract_seen WHERE deployment = %u AND what IN"
        " ('discovered', 'ignored', 'market') GROUP BY contract), n AS (SELECT *, row_number() OVER"
        " (ORDER BY named, contract COLLATE \"C\") AS n FROM k WHERE market IS NULL OR named[1] <"
        " market) INSERT INTO chain.contract_seen (deployment, contract, ledger, tx, what, role,"
        " name) SELECT %u, contract, named[1], named[2], 'discovered', 'synth_token', 'token_' ||"
        " contract FROM n JOIN p ON named[1] BETWEEN first AND last WHERE n <= %u AND (found IS"
        " NULL OR found > named[1]) RETURNING contract",
        s->plan->deployment, s->plan->deployment, w->options.discovered_max);
}

/* The same transaction notes that the past of these tokens must be read. */
static tide_status take_places(struct tide_writer *w, bool *any, struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    sql_forget_late(w);
    sql_take_places(w);
    tide_status status = write_query_sql(s, err);
    *any = status == TIDE_OK && s->rows.count > 0;
    write_sql(s, "SELECT chain.note_discovered(%u::smallint, ARRAY[", s->plan->deployment);
    for (uint32_t i = 0; *any && i < s->rows.count; i++)
        write_sql_more(s, "%s'%s'", i ? ", " : "", tide_pg_text(&s->rows, i, 0));
    write_sql_more(s, "])");
    return status == TIDE_OK && *any ? write_run_sql(s, "SELECT", err) : status;
}

static tide_status give_places(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct tide_writer *w = *(struct tide_writer *const *)arg;
    bool any = false;
    tide_status status = write_begin(m, err);
    if (status == TIDE_OK)
        status = take_places(w, &any, err);
    if (status == TIDE_OK && any)
        status = write_point(TIDE_FAILPOINT("places.given"), err);
    if (status == TIDE_OK)
        status = write_commit(&m->session, err);
    if (status == TIDE_OK && any)
        status = write_point(TIDE_FAILPOINT("places.after"), err);
    return status == TIDE_OK ? writer_adopt_contracts(w, err) : status;
}

static tide_status adopt_contracts(struct write_main *m, const void *arg, struct tide_err *err)
{
    (void)m;
    return writer_adopt_contracts(*(struct tide_writer *const *)arg, err);
}

tide_status tide_writer_adopt(struct tide_writer *w, struct tide_err *err)
{
    return write_plan_has_contracts(&w->plan)
               ? write_retry(&w->main, adopt_contracts, &w, false, err)
               : TIDE_OK;
}

tide_status tide_writer_promote(struct tide_writer *w, struct tide_err *err)
{
    return write_plan_has_contracts(&w->plan) ? write_retry(&w->main, give_places, &w, false, err)
                                              : TIDE_OK;
}

struct lead_question {
    struct tide_writer *writer;
    uint32_t ledger;
    bool *leads;
};

static tide_status read_lead(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    const struct lead_question *q = arg;
    write_sql(s, "%s", "");
    sql_lead(q->writer);
    write_sql_more(
        s,
        " SELECT (coalesce(last + 1, first, %u) = greatest(1, %u) OR %u = 0) AND NOT EXISTS"
        " (SELECT FROM r WHERE r.z > %u) FROM p",
        q->ledger, q->ledger, q->ledger, q->ledger);
    tide_status status = write_query_sql(s, err);
    *q->leads = status == TIDE_OK && s->rows.count && tide_pg_bool(&s->rows, 0, 0);
    return status;
}

tide_status tide_writer_leads(struct tide_writer *w, uint32_t ledger, bool *leads,
                              struct tide_err *err)
{
    const struct lead_question question = { w, ledger, leads };
    *leads = true;
    return write_plan_has_contracts(&w->plan)
               ? write_retry(&w->main, read_lead, &question, false, err)
               : TIDE_OK;
}
