#include "indexer/write/writer_impl.h"
#include "tidemark/log.h"
#include "tidemark/strkey.h"

#include <stdio.h>
#include <string.h>

/* Discovered tokens are read from chain.contract_seen after a restart, so that indexing continues
 * as if it had not stopped. */

static bool read_contract(struct tide_contract *out, const struct tide_pg_rows *rows, uint32_t at)
{
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    const char *role = tide_pg_text(rows, at, 1);
    *out = (struct tide_contract){ .role = tide_role_named(tide_slice_str(role)),
                                   .discovered = true,
                                   .market_ledger = (uint32_t)tide_pg_u64(rows, at, 4),
                                   .listed = tide_pg_u64(rows, at, 4) == 0,
                                   .unsettled = !tide_pg_bool(rows, at, 3),
                                   .named_ledger = (uint32_t)tide_pg_u64(rows, at, 5),
                                   .shown_ledger = (uint32_t)tide_pg_u64(rows, at, 6) };
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
        own->listed &= contract->market_ledger == 0;
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
    struct tide_pg_rows rows;
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
    tide_status status = write_query_sql(s, &rows, err);
    for (uint32_t i = 0; status == TIDE_OK && i < rows.count; i++) {
        struct tide_contract contract;
        if (!read_contract(&contract, &rows, i))
            status = tide_fail(err, TIDE_E_SCHEMA, "chain.contract_seen: contract \"%.60s\"",
                               tide_pg_text(&rows, i, 0));
        else
            adopt_contract(w->options.deployment, &contract);
    }
    tide_pg_rows_release(&rows);
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

/* Deletes surplus rows of waiting tokens: all but the first row of each, and all rows of tokens
 * behind TIDE_CONTRACTS_MAX others. Catalogs may name any number of tokens, and those could never
 * get a place. */
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

/* Appends the query `known` with a row for each token that the chain names: n is its rank by the
 * time of naming, found the ledger from which it is followed, market the ledger in which a market
 * names it first. */
static void sql_known(struct tide_writer *w)
{
    struct write_session *s = &w->main.session;
    write_sql_more(s,
                   ", known AS (SELECT contract, min(ARRAY[ledger, tx]) FILTER (WHERE what ="
                   " 'discovered') AS found, min(ARRAY[ledger, tx]) AS named, min(ARRAY[ledger,"
                   " tx]) FILTER (WHERE what = 'market') AS market, row_number() OVER (ORDER BY"
                   " min(ARRAY[ledger, tx]), contract COLLATE \"C\") AS n FROM"
                   " chain.contract_seen WHERE deployment = %u AND what IN ('discovered',"
                   " 'ignored', 'market') GROUP BY contract)",
                   s->plan->deployment);
}

/* Appends the query `early`: the followed tokens that a ledger names before the ledger from which
 * they are followed, and as many of the waiting tokens as places are free. Only ledgers of p
 * (sql_lead) count: no ledger that is read later can name a token before them. */
static void sql_early(struct tide_writer *w)
{
    struct write_session *s = &w->main.session;
    write_sql_more(s,
                   ", e AS (SELECT k.*, s.role, s.name, row_number() OVER (PARTITION BY k.found IS"
                   " NULL ORDER BY k.n) AS waiting FROM known AS k JOIN p ON k.named[1] BETWEEN"
                   " p.first AND p.last JOIN chain.contract_seen AS s ON s.deployment = %u AND"
                   " s.contract = k.contract AND s.ledger = k.named[1] AND s.tx = k.named[2] AND"
                   " s.what = 'ignored' WHERE k.found IS NULL OR k.found > k.named), early AS"
                   " (SELECT * FROM e WHERE found IS NOT NULL OR waiting <= %u - (SELECT count(*)"
                   " FROM known WHERE found IS NOT NULL AND market IS NULL))",
                   s->plan->deployment, w->options.discovered_max);
}

/* Gives places to tokens. Which tokens are followed, and from when, must not depend on the order in
 * which ledgers were read. Therefore
 * - places go to the tokens that were named first (ledger, transaction, address) in ledgers before
 *   which none is missing. The decoder does the same as long as no token waits and no later ledger
 *   was read;
 * - a token has its place from the ledger in which markets took over enough of the tokens before
 *   it, so that answers as of earlier ledgers stay the same;
 * - a token that is already followed, because a market named it in a later ledger that was read
 *   first, also gets the earlier ledger.
 * The same transaction notes that the past of these tokens must be read. */
static tide_status take_places(struct tide_writer *w, bool *any, struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    struct tide_pg_rows rows;
    sql_forget_late(w);
    sql_lead(w);
    sql_known(w);
    sql_early(w);
    write_sql_more(
        s,
        " INSERT INTO chain.contract_seen (deployment, contract, ledger, tx, what, role, name)"
        " SELECT %u, f.contract, since[1], since[2], 'discovered', f.role, f.name FROM (SELECT l.*,"
        " greatest(l.named, t.freed) AS since FROM early AS l CROSS JOIN LATERAL (SELECT (SELECT"
        " b.market FROM known AS b WHERE b.n < l.n AND l.n > %u AND b.market IS NOT NULL ORDER BY"
        " b.market OFFSET greatest(0, l.n - 1 - %u) LIMIT 1) AS freed) AS t WHERE l.found IS NULL"
        " OR l.n <= %u OR t.freed IS NOT NULL) AS f WHERE f.found IS NULL OR f.since < f.found"
        " RETURNING contract",
        s->plan->deployment, w->options.discovered_max, w->options.discovered_max,
        w->options.discovered_max);
    tide_status status = write_query_sql(s, &rows, err);
    *any = status == TIDE_OK && rows.count > 0;
    write_sql(s, "SELECT chain.note_discovered(%u::smallint, ARRAY[", s->plan->deployment);
    for (uint32_t i = 0; *any && i < rows.count; i++)
        write_sql_more(s, "%s'%s'", i ? ", " : "", tide_pg_text(&rows, i, 0));
    write_sql_more(s, "])");
    tide_pg_rows_release(&rows);
    return status == TIDE_OK && *any ? write_run_sql(s, "SELECT", err) : status;
}

static tide_status give_places(struct tide_writer *w, struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    bool any = false;
    tide_status status = write_begin(&w->main, err);
    if (status == TIDE_OK)
        status = take_places(w, &any, err);
    if (status == TIDE_OK && any)
        status = write_point(TIDE_FAILPOINT("places.given"), err);
    if (status == TIDE_OK)
        status = write_commit(s, err);
    return status == TIDE_OK && any ? write_point(TIDE_FAILPOINT("places.after"), err) : status;
}

static tide_status adopt_contracts(struct write_main *m, const void *arg, struct tide_err *err)
{
    (void)m;
    return writer_adopt_contracts(*(struct tide_writer *const *)arg, err);
}

tide_status tide_writer_adopt(struct tide_writer *w, struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    return write_plan_has_contracts(s->plan)
               ? write_retry(&w->main, adopt_contracts, &w, false, err)
               : TIDE_OK;
}

/* Sets *waits if a token is not followed. With `earlier`, also if it is followed only from a later
 * ledger than the first that names it. */
static tide_status read_waits(struct tide_writer *w, bool earlier, bool *waits,
                              struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    struct tide_pg_rows rows;
    write_sql(s,
              "SELECT FROM chain.contract_seen AS s WHERE deployment = %u AND what = 'ignored' AND"
              " NOT EXISTS (SELECT FROM chain.contract_seen AS f WHERE f.deployment ="
              " s.deployment AND f.contract = s.contract AND f.what = 'discovered'%s) LIMIT 1",
              s->plan->deployment, earlier ? " AND f.ledger <= s.ledger" : "");
    tide_status status = write_query_sql(s, &rows, err);
    *waits = status == TIDE_OK && rows.count > 0;
    tide_pg_rows_release(&rows);
    return status;
}

struct promotion {
    struct tide_writer *writer;
    bool *waits;
};

static tide_status promote_tokens(struct write_main *m, const void *arg, struct tide_err *err)
{
    const struct promotion *p = arg;
    bool *waits = p->waits;
    (void)m;
    tide_status status = read_waits(p->writer, true, waits, err);
    if (status == TIDE_OK && *waits)
        status = give_places(p->writer, err);
    if (status == TIDE_OK && *waits)
        status = read_waits(p->writer, false, waits, err);
    return status == TIDE_OK ? writer_adopt_contracts(p->writer, err) : status;
}

tide_status tide_writer_promote(struct tide_writer *w, bool *waits, struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    const struct promotion promotion = { w, waits };
    *waits = false;
    return write_plan_has_contracts(s->plan)
               ? write_retry(&w->main, promote_tokens, &promotion, false, err)
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
    struct tide_pg_rows rows;
    write_sql(s, "%s", "");
    sql_lead(q->writer);
    write_sql_more(
        s,
        " SELECT (coalesce(last + 1, first, %u) = greatest(1, %u) OR %u = 0) AND NOT EXISTS"
        " (SELECT FROM r WHERE r.z > %u) FROM p",
        q->ledger, q->ledger, q->ledger, q->ledger);
    tide_status status = write_query_sql(s, &rows, err);
    *q->leads = status == TIDE_OK && rows.count && tide_pg_bool(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    return status;
}

tide_status tide_writer_leads(struct tide_writer *w, uint32_t ledger, bool *leads,
                              struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    const struct lead_question question = { w, ledger, leads };
    *leads = true;
    return write_plan_has_contracts(s->plan)
               ? write_retry(&w->main, read_lead, &question, false, err)
               : TIDE_OK;
}
