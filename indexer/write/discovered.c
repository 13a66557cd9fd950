/* Ledgers read again for contracts that were discovered. Their rows join those that are there:
 *
 *   a row that exists is the same one, since a row depends on its ledger alone: it stays
 *   state takes a version only if no newer one exists
 *   the ledger's own row and the totals take the new counts
 *
 * So a transaction may be repeated: its answer to COMMIT need not be settled by chain.cursor.moves,
 * and readers that follow the cursor are not told that something changed behind it, but by
 * chain.contract_coverage once all of it is there. Rollups of tokens' rows are folded again; calls
 * are folded as they are added. */
#include "indexer/write/writer_impl.h"
#include "tidemark/strkey.h"

static enum tide_role role_of(const char *known_as)
{
    int role = 0;
    while (role < (int)TIDE_ROLE_COUNT &&
           strcmp(known_as, tide_role_name((enum tide_role)role)) != 0)
        role++;
    return (enum tide_role)role;
}

static bool add_contract(struct tide_gap *gap, tide_slice address, const char *known_as)
{
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    if (tide_strkey_decode(&kind, payload, &len, address) != TIDE_OK ||
        kind != TIDE_STRKEY_CONTRACT)
        return false;
    for (uint32_t i = 0; i < gap->contract_count; i++)
        if (memcmp(gap->ids[i], payload, TIDE_HASH_BYTES) == 0)
            return true;
    if (gap->contract_count == TIDE_COUNT(gap->ids))
        return true; /* the next gap has it */
    gap->roles[gap->contract_count] = role_of(known_as);
    memcpy(gap->ids[gap->contract_count++], payload, TIDE_HASH_BYTES);
    return true;
}

/* Rows come by next_ledger, those of markets first: those of one kind that touch make one range. */
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

static tide_status read_gap(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    struct tide_gap *gap = *(struct tide_gap *const *)arg;
    struct tide_pg_rows rows;
    writer_sql(w,
               "SELECT c.contract, c.next_ledger, c.to_ledger, c.known_as, EXISTS (SELECT FROM"
               " chain.contract_seen AS s WHERE s.deployment = c.deployment AND s.contract ="
               " c.contract AND s.what = 'market') AS market FROM chain.contract_coverage AS c"
               " WHERE c.deployment = %u AND c.next_ledger <= c.to_ledger"
               " ORDER BY market DESC, c.next_ledger, c.contract",
               w->deployment);
    tide_status status = writer_query_sql(w, &rows, err);
    if (status == TIDE_OK)
        status = read_rows(gap, &rows, err);
    tide_pg_rows_release(&rows);
    return status;
}

tide_status tide_writer_gap(struct tide_writer *w, struct tide_gap *gap, struct tide_err *err)
{
    *gap = (struct tide_gap){ .contract_count = 0 };
    return writer_has_contracts(w) ? writer_retry(w, read_gap, &gap, false, err) : TIDE_OK;
}

/* The condition of rows that are read as the gap says: one text a contract, which the server looks
 * up in a hash table. */
static void sql_contracts(struct tide_writer *w, const struct tide_gap *gap)
{
    writer_sql_more(w, "contract || ' ' || coalesce(known_as, '') IN ");
    for (uint32_t i = 0; i < gap->contract_count; i++) {
        bool known = gap->roles[i] != TIDE_ROLE_COUNT;
        char text[TIDE_STRKEY_TEXT_MAX];
        size_t len = tide_strkey_encode(text, TIDE_STRKEY_CONTRACT,
                                        tide_slice_of(gap->ids[i], TIDE_HASH_BYTES));
        writer_sql_more(w, "%s'%.*s %s'", i ? ", " : "(", (int)len, text,
                        known ? tide_role_name(gap->roles[i]) : "");
    }
    writer_sql_more(w, ")");
}

struct trouble {
    const struct tide_gap *gap;
    const char *text;
};

static tide_status note_trouble(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    const struct trouble *t = arg;
    writer_sql(w,
               "UPDATE chain.contract_coverage SET trouble = $1, trouble_at = clock_timestamp()"
               " WHERE deployment = %u AND next_ledger <= to_ledger AND ",
               w->deployment);
    sql_contracts(w, t->gap);
    tide_status status = writer_sql_sealed(w, err);
    return status == TIDE_OK ? tide_pg_query(w->pg, NULL, (const char *)w->sql.ptr,
                                             (const char *[]){ t->text }, 1, err)
                             : status;
}

tide_status tide_writer_gap_trouble(struct tide_writer *w, const struct tide_gap *gap,
                                    const char *text, struct tide_err *err)
{
    char copy[TIDE_ERR_TEXT_MAX];
    struct trouble trouble = { gap, copy };
    snprintf(copy, sizeof copy, "%s", text); /* text may be err's own */
    return gap->contract_count ? writer_retry(w, note_trouble, &trouble, false, err) : TIDE_OK;
}

/* ---- statements of a table ---- */

/* The columns of chain.ledger that count what is ours; chain.cursor has their totals under the
 * same names but one. */
static uint32_t counts_of(const struct tide_table *ledger, const struct tide_column *out[])
{
    uint32_t count = 0;
    bool counts = false; /* from our_txs on */
    for (uint32_t i = 0; i < ledger->column_count; i++) {
        counts |= strcmp(ledger->columns[i].name, "our_txs") == 0;
        if (counts && ledger->columns[i].type == TIDE_PG_INT4)
            out[count++] = &ledger->columns[i];
    }
    assert(count > 0);
    return count;
}

static const char *total_of(const struct tide_column *count)
{
    return strcmp(count->name, "our_txs") == 0 ? "transactions" : count->name;
}

/* The new counts of ledgers that are stored, on their rows and on the totals. */
static void sql_add_ledgers(struct tide_writer *w)
{
    const struct tide_column *counts[TIDE_COLUMNS_MAX];
    uint32_t count = counts_of(&w->options.tables[TIDE_TABLE_LEDGER], counts);
    writer_sql(w, "WITH n AS (SELECT * FROM unnest($1::chain.ledger[])), o AS (SELECT l.* FROM"
                  " chain.ledger AS l JOIN n ON n.deployment = l.deployment AND n.ledger ="
                  " l.ledger), u AS (UPDATE chain.ledger AS l SET ");
    for (uint32_t i = 0; i < count; i++)
        writer_sql_more(w, "%s%s = n.%s", i ? ", " : "", counts[i]->name, counts[i]->name);
    writer_sql_more(w, " FROM n WHERE l.deployment = n.deployment AND l.ledger = n.ledger AND"
                       " l.hash = n.hash RETURNING l.ledger), c AS (UPDATE chain.cursor AS c SET ");
    for (uint32_t i = 0; i < count; i++)
        writer_sql_more(w, "%s%s = c.%s + s.%s", i ? ", " : "", total_of(counts[i]),
                        total_of(counts[i]), counts[i]->name);
    writer_sql_more(w, " FROM (SELECT ");
    for (uint32_t i = 0; i < count; i++)
        writer_sql_more(w, "%scoalesce(sum(n.%s - o.%s), 0) AS %s", i ? ", " : "", counts[i]->name,
                        counts[i]->name, counts[i]->name);
    writer_sql_more(w,
                    " FROM n JOIN o USING (ledger)) AS s WHERE c.deployment = %u)"
                    " SELECT ledger FROM u",
                    w->deployment);
}

void writer_sql_add(struct tide_writer *w, uint32_t index)
{
    const struct tide_table *table = tide_table_stored(&w->options.tables[index]);
    if (index == TIDE_TABLE_LEDGER) {
        sql_add_ledgers(w);
        return;
    }
    writer_sql(w, "%sINSERT INTO %s.\"%s\" (", index == TIDE_TABLE_CALL ? "WITH added AS (" : "",
               table->schema, table->name);
    writer_sql_columns(w, table, "");
    writer_sql_more(w, ") SELECT ");
    writer_sql_columns(w, table, "n.");
    writer_sql_more(w, " FROM unnest($1::%s.\"%s\"[]) n ON CONFLICT DO NOTHING", table->schema,
                    table->name);
    if (index != TIDE_TABLE_CALL)
        return;
    writer_sql_more(w, " RETURNING *)");
    writer_sql_fold_added(w, index);
    writer_sql_more(w,
                    " UPDATE chain.cursor SET calls = calls + (SELECT count(*) FROM added) WHERE"
                    " deployment = %u",
                    w->deployment);
}

/* ---- one transaction ---- */

struct step {
    const struct tide_gap *gap;
    const struct tide_batch *batch;
    bool *moved;
};

/* The expected answers, by their place in the pipeline. */
struct answers {
    struct tide_writer *w;
    const struct step *step;
    bool begun;                           /* the transaction is open: there were new words */
    uint32_t count, fence, ledgers, last; /* UINT32_MAX: not sent */
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
    if (index == a->fence && rows->count != 1)
        return writer_fenced(a->w, err);
    if (index == a->ledgers && rows->count != a->step->batch->rows[TIDE_TABLE_LEDGER].count)
        return other_chain(a, err);
    if (index == a->last && rows->count != 1)
        return other_chain(a, err);
    if (index == a->last)
        *a->step->moved = tide_pg_u64(rows, 0, 0) > 0;
    return TIDE_OK;
}

static tide_status send_sql(struct tide_writer *w, struct answers *a, struct tide_err *err)
{
    tide_status status = writer_sql_sealed(w, err);
    a->count++;
    return status == TIDE_OK ? tide_pg_pipe_run(w->pg, (const char *)w->sql.ptr, err) : status;
}

static tide_status send_rows(struct tide_writer *w, struct answers *a, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < w->options.table_count && status == TIDE_OK; i++) {
        const struct tide_rows *rows = &a->step->batch->rows[i];
        bool is_state = w->options.tables[i].kind == TIDE_TABLE_STATE;
        if (rows->count == 0)
            continue;
        if (i == TIDE_TABLE_LEDGER)
            a->ledgers = a->count;
        a->count++;
        status = writer_send_rows(w, is_state ? WRITER_MERGE_BEHIND : WRITER_ADD, i, rows, err);
    }
    return status;
}

/* How far the contracts are covered. All ledgers of the batch are linked by their hashes, so its
 * last one speaks for those that hold none of the contracts. */
static void sql_progress(struct tide_writer *w, const struct step *s)
{
    writer_sql(w,
               "WITH p AS (UPDATE chain.contract_coverage SET next_ledger = least(to_ledger, %u) +"
               " 1, trouble = NULL, trouble_at = NULL WHERE deployment = %u AND next_ledger BETWEEN"
               " %u AND least(to_ledger, %u) AND ",
               s->batch->to, w->deployment, s->batch->from, s->batch->to);
    sql_contracts(w, s->gap);
    /* A contract whose nature these ledgers show is read again from its first ledger on, also when
     * this transaction is repeated. */
    if (s->batch->settled)
        writer_sql_more(w,
                        " AND contract NOT IN (SELECT n.contract FROM chain.contract_seen AS n"
                        " WHERE n.deployment = %u AND n.what IN ('asset', 'token')"
                        " AND n.ledger BETWEEN %u AND %u)",
                        w->deployment, s->batch->from, s->batch->to);
    writer_sql_more(w,
                    " RETURNING 1) SELECT (SELECT count(*) FROM p) FROM chain.ledger WHERE "
                    "deployment = %u AND ledger = %u AND hash = ",
                    w->deployment, s->batch->to);
    writer_sql_hash(w, s->batch->hash);
}

static tide_status send_fence(struct tide_writer *w, struct answers *a, struct tide_err *err)
{
    writer_sql(w, "BEGIN");
    tide_status status = send_sql(w, a, err);
    a->fence = a->count;
    writer_sql(w, "%s", "");
    writer_sql_fence(w);
    return status == TIDE_OK ? send_sql(w, a, err) : status;
}

/* Notes the past of the contracts that these ledgers discover, or whose kind they show. */
static void sql_note_discovered(struct tide_writer *w, const struct tide_batch *batch)
{
    writer_sql(w,
               "SELECT chain.note_discovered(%u::smallint, ARRAY(SELECT DISTINCT n.contract FROM"
               " chain.contract_seen AS n WHERE n.deployment = %u AND n.ledger BETWEEN %u AND %u"
               " AND n.what IN ('discovered', 'asset', 'token')))",
               w->deployment, w->deployment, batch->from, batch->to);
}

static tide_status send_step(struct tide_writer *w, struct answers *a, struct tide_err *err)
{
    tide_status status = a->begun ? TIDE_OK : send_fence(w, a, err);
    if (status == TIDE_OK)
        status = send_rows(w, a, err);
    if (status == TIDE_OK)
        status = writer_point(TIDE_FAILPOINT("gap.rows"), err);
    a->last = a->count;
    sql_progress(w, a->step);
    if (status == TIDE_OK)
        status = send_sql(w, a, err);
    if (status != TIDE_OK || !a->step->batch->settled)
        return status;
    sql_note_discovered(w, a->step->batch);
    return send_sql(w, a, err);
}

static tide_status commit_step(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    struct answers answers = {
        .w = w, .step = arg, .fence = UINT32_MAX, .ledgers = UINT32_MAX, .last = UINT32_MAX
    };
    const struct tide_pg_answers sink = { on_answer, &answers };
    struct tide_err ignored;
    tide_status status = writer_prepare_gap(w, answers.step->batch, err);
    if (status == TIDE_OK)
        status = writer_read_words(w, answers.step->batch, &answers.begun, err);
    if (status == TIDE_OK && answers.begun)
        status = writer_begin(w, err);
    if (status == TIDE_OK && answers.begun)
        status = writer_ask_words(w, err);
    if (status == TIDE_OK)
        status = tide_pg_pipe(w->pg, err);
    if (status != TIDE_OK)
        return status;
    status = send_step(w, &answers, err);
    tide_status ended = tide_pg_pipe_end(w->pg, &sink, status == TIDE_OK ? err : &ignored);
    if (status == TIDE_OK)
        status = ended;
    if (status == TIDE_OK)
        status = writer_rollup_again(w, answers.step->batch, err);
    if (status == TIDE_OK)
        status = writer_commit(w, err);
    return status == TIDE_OK ? writer_point(TIDE_FAILPOINT("gap.after"), err) : status;
}

struct archived {
    struct tide_range range;
    char text[96]; /* empty: none of it */
};

static tide_status find_archived(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    struct archived *a = *(struct archived *const *)arg;
    struct tide_pg_rows rows;
    writer_sql(w,
               "SELECT min(from_ledger), max(end_ledger) - 1 FROM chain.archive WHERE deployment ="
               " %u AND from_ledger <= %u AND end_ledger > %u",
               w->deployment, a->range.to, a->range.from);
    tide_status status = writer_query_sql(w, &rows, err);
    if (status == TIDE_OK && !tide_pg_is_null(&rows, 0, 0))
        snprintf(a->text, sizeof a->text, "%s to %s", tide_pg_text(&rows, 0, 0),
                 tide_pg_text(&rows, 0, 1));
    tide_pg_rows_release(&rows);
    return status;
}

tide_status tide_writer_commit_gap(struct tide_writer *w, const struct tide_gap *gap,
                                   const struct tide_batch *batch, bool *moved,
                                   struct tide_err *err)
{
    const struct step step = { gap, batch, moved };
    struct archived archived = { .range = { batch->from, batch->to } }, *arg = &archived;
    assert(!tide_writer_is_loading(w) && batch->to);
    tide_status status = TIDE_OK;
    if (batch->rows[TIDE_TABLE_LEDGER].count)
        status = writer_retry(w, find_archived, &arg, false, err);
    if (status == TIDE_OK && archived.text[0])
        status = tide_fail(err, TIDE_E_MISSING,
                           "partitions of ledgers %s are archived: take them back"
                           " (chain.attach_partition), for as long as this takes",
                           archived.text);
    return status == TIDE_OK ? writer_retry(w, commit_step, &step, false, err) : status;
}

tide_status writer_note_discovered(struct tide_writer *w, const struct tide_batch *batch,
                                   struct tide_err *err)
{
    if (!writer_has_contracts(w) || !(batch->settled || tide_batch_saw(batch, "discovered")))
        return TIDE_OK;
    sql_note_discovered(w, batch);
    return writer_run_sql(w, "SELECT", err);
}
