/* Commits ledgers that are read again for discovered contracts. Their rows join the stored ones:
 *
 *   an existing row stays: a row depends on its ledger alone, so the new one is equal
 *   state takes a version only if no newer one exists
 *   the ledger's own row and the totals take the new counts
 *
 * Such a transaction may be repeated, so a lost answer to COMMIT need not be settled by
 * chain.cursor.moves. Readers that follow the cursor are not notified; chain.contract_coverage
 * tells them when all rows are there. Rollups of tokens' rows are folded again. Calls are folded
 * when they are added. */
#include "indexer/write/rows/cover.h"
#include "indexer/write/writer_impl.h"
#include "tidemark/strkey.h"

static bool add_contract(struct tide_gap *gap, tide_slice address, const char *known_as)
{
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    static_assert(TIDE_COUNT(gap->ids) == TIDE_COUNT(gap->roles), "each contract has a role");
    if (tide_strkey_decode(&kind, payload, &len, address) != TIDE_OK ||
        kind != TIDE_STRKEY_CONTRACT)
        return false;
    assert(len == TIDE_HASH_BYTES);
    for (uint32_t i = 0; i < gap->contract_count; i++)
        if (memcmp(gap->ids[i], payload, TIDE_HASH_BYTES) == 0)
            return true;
    if (gap->contract_count == TIDE_COUNT(gap->ids))
        return true; /* no room: the next gap contains it */
    gap->roles[gap->contract_count] = tide_role_named(tide_slice_str(known_as));
    memcpy(gap->ids[gap->contract_count++], payload, TIDE_HASH_BYTES);
    return true;
}

/* Reads the gap from its rows. Rows are sorted by next_ledger, those of markets first. Adjacent
 * rows of one kind form one range. */
static tide_status read_rows(struct tide_gap *gap, const struct tide_pg_rows *rows,
                             struct tide_err *err)
{
    *gap = (struct tide_gap){ .contract_count = 0 };
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t from = (uint32_t)tide_pg_u64(rows, i, 1), to = (uint32_t)tide_pg_u64(rows, i, 2);
        bool market = tide_pg_bool(rows, i, 4);
        if (i == 0) {
            gap->range = (struct tide_range){ from, to };
            gap->market = market;
        }
        if (from > gap->range.to + 1 || market != gap->market)
            break;
        if (to > gap->range.to)
            gap->range.to = to;
        if (!add_contract(gap, tide_pg_slice(rows, i, 0), tide_pg_text(rows, i, 3)))
            return tide_fail(err, TIDE_E_SCHEMA, "chain.contract_coverage: contract \"%.60s\"",
                             tide_pg_text(rows, i, 0));
    }
    return TIDE_OK;
}

static tide_status read_gap(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    struct tide_gap *gap = *(struct tide_gap *const *)arg;
    write_sql(s,
              "SELECT c.contract, c.next_ledger, c.to_ledger, c.known_as, EXISTS (SELECT FROM"
              " chain.contract_seen AS s WHERE s.deployment = c.deployment AND s.contract ="
              " c.contract AND s.what = 'market') AS market FROM chain.contract_coverage AS c"
              " WHERE c.deployment = %u AND c.next_ledger <= c.to_ledger AND NOT EXISTS (SELECT"
              " FROM chain.start AS o WHERE o.deployment = c.deployment AND o.ledger >="
              " c.to_ledger) ORDER BY market DESC, c.next_ledger, c.contract",
              s->plan->deployment);
    tide_status status = write_query_sql(s, err);
    if (status == TIDE_OK)
        status = read_rows(gap, &s->rows, err);
    return status;
}

tide_status tide_writer_gap(struct tide_writer *w, struct tide_gap *gap, struct tide_err *err)
{
    struct write_session *s = &w->main.session;
    *gap = (struct tide_gap){ .contract_count = 0 };
    return write_plan_has_contracts(s->plan) ? write_retry(&w->main, read_gap, &gap, false, err)
                                             : TIDE_OK;
}

/* Appends the condition for rows of the gap's contracts in the roles of the gap: one text for each
 * contract, which the server looks up in a hash table. */
static void sql_contracts(struct write_session *s, const struct tide_gap *gap)
{
    assert(gap->contract_count > 0 && gap->contract_count <= TIDE_CONTRACTS_MAX);
    write_sql_more(s, "contract || ' ' || coalesce(known_as, '') IN ");
    for (uint32_t i = 0; i < gap->contract_count; i++) {
        bool known = gap->roles[i] != TIDE_ROLE_COUNT;
        char text[TIDE_STRKEY_TEXT_MAX];
        size_t len = tide_strkey_encode(text, TIDE_STRKEY_CONTRACT,
                                        tide_slice_of(gap->ids[i], TIDE_HASH_BYTES));
        write_sql_more(s, "%s'%.*s %s'", i ? ", " : "(", (int)len, text,
                       known ? tide_role_name(gap->roles[i]) : "");
    }
    write_sql_more(s, ")");
}

struct trouble {
    const struct tide_gap *gap;
    const char *text;
};

static tide_status note_trouble(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    const struct trouble *t = arg;
    write_sql(s,
              "UPDATE chain.contract_coverage SET trouble = $1, trouble_at = clock_timestamp()"
              " WHERE deployment = %u AND next_ledger <= to_ledger AND ",
              s->plan->deployment);
    sql_contracts(s, t->gap);
    tide_status status = write_sql_sealed(s, err);
    return status == TIDE_OK ? tide_pg_query(write_pg(s), NULL, (const char *)s->sql.ptr,
                                             (const char *[]){ t->text }, 1, err)
                             : status;
}

tide_status tide_writer_gap_trouble(struct tide_writer *w, const struct tide_gap *gap,
                                    const char *text, struct tide_err *err)
{
    char copy[TIDE_ERR_TEXT_MAX];
    struct trouble trouble = { gap, copy };
    snprintf(copy, sizeof copy, "%s", text); /* text may be err->text */
    return gap->contract_count ? write_retry(&w->main, note_trouble, &trouble, false, err)
                               : TIDE_OK;
}

/* ---- one transaction ---- */

struct step {
    struct write_statements *statements;
    const struct tide_gap *gap;
    const struct tide_batch *batch;
    bool *moved;
};

/* The expected answers, by their index in the pipeline. */
struct answers {
    const struct write_main *main;
    const struct step *step;
    bool begun; /* the transaction is open already, because there were new words */
    uint32_t count, fence, ledgers, last; /* UINT32_MAX: the statement was not sent */
};

static tide_status other_chain(const struct answers *a, struct tide_err *err)
{
    const struct tide_batch *batch = a->step->batch;
    return tide_fail(err, TIDE_E_CHAIN,
                     "ledgers %u to %u of the source are not the ones that are indexed",
                     batch->from, batch->to);
}

static tide_status on_answer(void *self, uint32_t index, const struct tide_pg_rows *rows,
                             struct tide_err *err)
{
    const struct answers *a = self;
    assert(index < a->count);
    if (index == a->fence && rows->count != 1)
        return write_fenced(a->main->session.plan, err);
    if (index == a->ledgers && rows->count != a->step->batch->rows[TIDE_TABLE_LEDGER].count)
        return other_chain(a, err);
    if (index == a->last && rows->count != 1)
        return other_chain(a, err);
    if (index == a->last)
        *a->step->moved = tide_pg_u64(rows, 0, 0) > 0;
    return TIDE_OK;
}

static tide_status send_sql(struct write_statements *st, struct answers *a, struct tide_err *err)
{
    struct write_session *s = st->session;
    tide_status status = write_sql_sealed(s, err);
    a->count++;
    return status == TIDE_OK ? tide_pg_pipe_run(write_pg(s), (const char *)s->sql.ptr, err)
                             : status;
}

static tide_status send_rows(struct write_statements *st, struct answers *a, struct tide_err *err)
{
    struct write_session *s = st->session;
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < s->plan->table_count && status == TIDE_OK; i++) {
        bool is_state = s->plan->tables[i].kind == TIDE_TABLE_STATE;
        if (write_keys_count(st->keys, a->step->batch, i) == 0)
            continue;
        assert(i != TIDE_TABLE_LEDGER || a->ledgers == UINT32_MAX);
        if (i == TIDE_TABLE_LEDGER)
            a->ledgers = a->count;
        a->count++;
        uint64_t count;
        status = write_send_rows(st, is_state ? WRITE_MERGE_BEHIND : WRITE_ADD, i, a->step->batch,
                                 &count, err);
    }
    return status;
}

/* Sets how far the contracts are covered. A contract that was created behind the state with which
 * the index began lacks nothing of that state. The hashes link all ledgers of the batch, so its
 * last one vouches for the ledgers without any of the contracts. */
static void sql_progress(struct write_session *s, const struct step *step)
{
    assert(step->batch->from > 0 && step->batch->from <= step->batch->to);
    write_sql(s,
              "WITH b AS (DELETE FROM chain.contract_coverage AS c USING chain.start AS o WHERE"
              " c.deployment = %u AND o.deployment = c.deployment AND c.to_ledger = o.ledger AND"
              " EXISTS (SELECT FROM chain.contract_seen AS n WHERE n.deployment = c.deployment AND"
              " n.contract = c.contract AND n.what = 'created' AND n.ledger > o.ledger)), ",
              s->plan->deployment);
    write_sql_more(
        s,
        "p AS (UPDATE chain.contract_coverage SET next_ledger = least(to_ledger, %u) +"
        " 1, trouble = NULL, trouble_at = NULL WHERE deployment = %u AND next_ledger BETWEEN"
        " %u AND least(to_ledger, %u) AND ",
        step->batch->to, s->plan->deployment, step->batch->from, step->batch->to);
    sql_contracts(s, step->gap);
    /* A contract whose kind these ledgers show is read again from its first ledger on, also if this
     * transaction is repeated. */
    if (step->batch->settled)
        write_sql_more(s,
                       " AND contract NOT IN (SELECT n.contract FROM chain.contract_seen AS n"
                       " WHERE n.deployment = %u AND n.what IN ('asset', 'token')"
                       " AND n.ledger BETWEEN %u AND %u)",
                       s->plan->deployment, step->batch->from, step->batch->to);
    write_sql_more(s,
                   " RETURNING 1) SELECT (SELECT count(*) FROM p) FROM chain.ledger WHERE "
                   "deployment = %u AND ledger = %u AND hash = ",
                   s->plan->deployment, step->batch->to);
    write_sql_hash(s, step->batch->hash);
}

static tide_status send_fence(struct write_statements *st, struct answers *a, struct tide_err *err)
{
    struct write_session *s = st->session;
    assert(!a->begun && a->count == 0);
    write_sql(s, "BEGIN");
    tide_status status = send_sql(st, a, err);
    a->fence = a->count;
    write_sql(s, "%s", "");
    write_sql_fence(s, &a->main->cursor);
    return status == TIDE_OK ? send_sql(st, a, err) : status;
}

static tide_status send_step(struct write_statements *st, struct answers *a, struct tide_err *err)
{
    struct write_session *s = st->session;
    tide_status status = a->begun ? TIDE_OK : send_fence(st, a, err);
    if (status == TIDE_OK)
        status = send_rows(st, a, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("gap.rows"), err);
    assert(a->last == UINT32_MAX);
    a->last = a->count;
    sql_progress(s, a->step);
    if (status == TIDE_OK)
        status = send_sql(st, a, err);
    if (status != TIDE_OK || !a->step->batch->settled)
        return status;
    write_sql_note_discovered(s, a->step->batch);
    return send_sql(st, a, err);
}

/* Prepares the statements of a batch, outside of a transaction. */
static tide_status prepare_step(struct write_statements *st, const struct tide_batch *batch,
                                struct tide_err *err)
{
    const struct write_plan *plan = st->session->plan;
    tide_status status = write_statements_begin(st, WRITE_NO_PUTS, err);
    for (uint32_t i = 0; i < plan->table_count && status == TIDE_OK; i++) {
        bool is_state = plan->tables[i].kind == TIDE_TABLE_STATE;
        if (write_keys_count(st->keys, batch, i))
            status =
                write_statements_prepare(st, is_state ? WRITE_MERGE_BEHIND : WRITE_ADD, i, err);
    }
    st->known.unsure |= status != TIDE_OK;
    return status;
}

static tide_status pipe_step(struct write_statements *st, struct answers *a, struct tide_err *err)
{
    const struct tide_pg_answers sink = { on_answer, a };
    struct tide_err ignored;
    tide_status status = tide_pg_pipe(write_pg(st->session), err);
    if (status != TIDE_OK)
        return status;
    status = send_step(st, a, err);
    tide_status ended =
        tide_pg_pipe_end(write_pg(st->session), &sink, status == TIDE_OK ? err : &ignored);
    return status == TIDE_OK ? ended : status;
}

static tide_status commit_step(struct write_main *m, const void *arg, struct tide_err *err)
{
    const struct step *step = arg;
    struct write_statements *st = step->statements;
    struct answers answers = {
        .main = m, .step = step, .fence = UINT32_MAX, .ledgers = UINT32_MAX, .last = UINT32_MAX
    };
    tide_status status = write_keys_read(st->keys, step->batch, &answers.begun, err);
    if (status == TIDE_OK)
        status = prepare_step(st, step->batch, err);
    if (status == TIDE_OK && answers.begun)
        status = write_begin(m, err);
    if (status == TIDE_OK && answers.begun)
        status = write_keys_ask(st->keys, &m->session, err);
    if (status == TIDE_OK)
        status = pipe_step(st, &answers, err);
    if (status == TIDE_OK)
        status = write_rollup_again(&m->session, st->rollups, step->batch, err);
    if (status == TIDE_OK)
        status = write_commit(&m->session, err);
    return status == TIDE_OK ? write_point(TIDE_FAILPOINT("gap.after"), err) : status;
}

struct archived {
    struct tide_range range;
    char text[96]; /* empty: no hash */
};

static tide_status find_archived(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    struct archived *a = *(struct archived *const *)arg;
    write_sql(s,
              "SELECT min(from_ledger), max(end_ledger) - 1 FROM chain.archive WHERE deployment ="
              " %u AND from_ledger <= %u AND end_ledger > %u",
              s->plan->deployment, a->range.to, a->range.from);
    tide_status status = write_query_sql(s, err);
    if (status == TIDE_OK && !tide_pg_is_null(&s->rows, 0, 0))
        snprintf(a->text, sizeof a->text, "%s to %s", tide_pg_text(&s->rows, 0, 0),
                 tide_pg_text(&s->rows, 0, 1));
    return status;
}

tide_status tide_writer_commit_gap(struct tide_writer *w, const struct tide_gap *gap,
                                   const struct tide_batch *batch, bool *moved,
                                   struct tide_err *err)
{
    const struct step step = { &w->statements, gap, batch, moved };
    struct archived archived = { .range = { batch->from, batch->to } }, *arg = &archived;
    assert(!tide_writer_is_loading(w) && batch->to);
    tide_status status = TIDE_OK;
    if (batch->rows[TIDE_TABLE_LEDGER].count)
        status = write_retry(&w->main, find_archived, &arg, false, err);
    if (status == TIDE_OK && archived.text[0])
        status = tide_fail(err, TIDE_E_MISSING,
                           "partitions of ledgers %s are archived: take them back"
                           " (chain.attach_partition), for as long as this takes",
                           archived.text);
    return status == TIDE_OK ? write_retry(&w->main, commit_step, &step, false, err) : status;
}
