/* Fills the past below the state with which an index began. The loader keeps the ledgers below
 * invisible (write_plan_holds). The checkpoint's own ledger comes last. One transaction then
 *
 *   attaches  all partitions below, and adds the rows of the checkpoint's ledger
 *   compares  the state that these ledgers leave with the stored one, entry by entry
 *   replaces  the rows of the stored state, which have transaction 0
 *   makes     the rollups anew, because sums below and above the checkpoint meet
 *   deletes   chain.start, so that readers know of no boundary any more
 *
 * After a kill at any point nothing of this is visible, or all. */
#include "indexer/write/load/attach.h"
#include "indexer/write/rows/cover.h"
#include "indexer/write/rows/keys.h"
#include "indexer/write/rows/rollup.h"
#include "indexer/write/rows/statements.h"
#include "indexer/write/writer_impl.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

/* ---- the held partitions ---- */

/* Reads the first held partition that begins at `from` or above; an inactive range: none does. */
static tide_status next_held(struct write_session *s, uint32_t from, struct load_range *l,
                             struct tide_err *err)
{
    write_sql(s,
              "SELECT " LOAD_RANGE_COLUMNS
              " FROM chain.partition WHERE deployment = %u AND NOT attached AND from_ledger >= %u"
              " AND first_loaded < %u ORDER BY from_ledger LIMIT 1",
              s->plan->deployment, from, s->plan->held_before);
    tide_status status = write_query_sql(s, err);
    *l = (struct load_range){ .active = false };
    if (status == TIDE_OK && s->rows.count)
        load_range_read(l, &s->rows, 0);
    return status;
}

struct held_question {
    uint32_t from;
    struct load_range *range;
};

static tide_status ask_held(struct write_main *m, const void *arg, struct tide_err *err)
{
    const struct held_question *q = arg;
    return next_held(&m->session, q->from, q->range, err);
}

/* Reads how far the past is loaded, and continues the partition that is not full. */
static tide_status read_progress(struct tide_writer *w, struct tide_fill *fill,
                                 struct tide_err *err)
{
    struct load_range l;
    uint32_t from = 0;
    tide_status status;
    do {
        const struct held_question question = { from, &l };
        status = write_retry(&w->main, ask_held, &question, false, err);
        if (status != TIDE_OK || !l.active)
            return status;
        fill->first = fill->first ? fill->first : l.first;
        fill->next = l.last + 1;
        from = l.end;
    } while (load_range_is_full(&l));
    w->load.loading = l;
    return TIDE_OK;
}

static tide_status refuse_published(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct load_publications found;
    (void)arg;
    tide_status status = load_publication_find(&m->session, &found, err);
    return status == TIDE_OK && found.any
               ? tide_fail(err, TIDE_E_CONFLICT,
                           "backfill: subscribers of the publication %s would never get ledgers"
                           " below the checkpoint: drop it, and make it again afterwards",
                           found.names)
               : status;
}

tide_status tide_writer_fill(struct tide_writer *w, bool anew, struct tide_fill *fill,
                             struct tide_err *err)
{
    *fill = (struct tide_fill){ .start = w->plan.held_before };
    if (!fill->start)
        return TIDE_OK;
    tide_status status = write_load_finish(&w->load, err);
    if (status == TIDE_OK)
        status = write_retry(&w->main, refuse_published, NULL, false, err);
    if (status == TIDE_OK && anew)
        status = write_load_drop(&w->load, fill->start, err);
    return status == TIDE_OK ? read_progress(w, fill, err) : status;
}

/* ---- the transaction: rows ---- */

struct filling {
    struct tide_writer *writer;
    const struct tide_batch *batch; /* the checkpoint's ledger */
    uint32_t partition;             /* first ledger of that ledger's partition */
    struct load_range lowest;       /* the first held partition */
};

/* Fails unless the batch is the ledger of the stored state. */
static tide_status check_ledger(struct filling *f, struct tide_err *err)
{
    struct write_session *s = &f->writer->main.session;
    write_sql(s, "SELECT FROM chain.start WHERE deployment = %u AND ledger = %u AND hash = ",
              s->plan->deployment, f->batch->to);
    write_sql_hash(s, f->batch->hash);
    tide_status status = write_query_sql(s, err);
    if (status == TIDE_OK && s->rows.count == 0)
        status =
            tide_fail(err, TIDE_E_CHAIN, "backfill: the source's ledger %u is not the checkpoint's",
                      f->batch->to);
    return status;
}

/* The server keeps a lock for each table and index until COMMIT. Fails with a remedy instead of
 * being refused after hours, again and again: `left` partitions are still to be attached. */
static tide_status check_locks(struct write_session *s, uint32_t left, struct tide_err *err)
{
    write_sql(s,
              "SELECT needed, room, needed > room, ceil(needed * 1.2 / (room / each)) FROM (SELECT"
              " (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid()) * (%u + 1) AS needed,"
              " each * (current_setting('max_connections')::bigint +"
              " current_setting('max_prepared_transactions')::bigint) AS room, each FROM (SELECT"
              " current_setting('max_locks_per_transaction')::numeric AS each) AS e) AS l",
              left);
    tide_status status = write_query_sql(s, err);
    if (status == TIDE_OK && tide_pg_bool(&s->rows, 0, 2))
        status = tide_fail(err, TIDE_E_CONFIG,
                           "backfill: to attach all partitions below the checkpoint at once takes"
                           " %s locks of the server: set max_locks_per_transaction to %s or more,"
                           " restart the server, and run this again; nothing is loaded again",
                           tide_pg_text(&s->rows, 0, 0), tide_pg_text(&s->rows, 0, 3));
    return status;
}

static tide_status count_held(struct write_session *s, uint32_t *count, struct tide_err *err)
{
    write_sql(s,
              "SELECT count(*) FROM chain.partition WHERE deployment = %u AND NOT attached AND"
              " first_loaded < %u",
              s->plan->deployment, s->plan->held_before);
    tide_status status = write_query_sql(s, err);
    *count = status == TIDE_OK ? (uint32_t)tide_pg_u64(&s->rows, 0, 0) : 0;
    return status;
}

static tide_status attach_held(struct filling *f, struct tide_err *err)
{
    struct write_session *s = &f->writer->main.session;
    struct load_range l;
    uint32_t left = 0;
    tide_status status = count_held(s, &left, err);
    for (uint32_t from = 0; status == TIDE_OK && left; from = l.end, left--) {
        status = next_held(s, from, &l, err);
        if (status == TIDE_OK && l.active)
            status = load_attach_show(s, &l, err);
        if (status != TIDE_OK)
            break;
        if (!f->lowest.active) {
            f->lowest = l;
            status = check_locks(s, left - 1, err);
        }
    }
    return status == TIDE_OK ? write_point(TIDE_FAILPOINT("fill.attached"), err) : status;
}

/* Puts the rows of the checkpoint's ledger in the place of the row that stands for it. */
static tide_status put_ledger(struct filling *f, struct tide_err *err)
{
    struct write_session *s = &f->writer->main.session;
    struct write_keys *keys = &f->writer->keys;
    bool ask = false;
    write_sql(s, "WITH l AS (DELETE FROM ");
    write_sql_leaf(s, &s->plan->tables[TIDE_TABLE_LEDGER], f->partition);
    write_sql_more(s,
                   " WHERE deployment = %u AND ledger = %u RETURNING changes, raw_states) UPDATE"
                   " chain.cursor AS c SET ledgers = c.ledgers - 1, changes = c.changes -"
                   " l.changes, raw_states = c.raw_states - l.raw_states FROM l WHERE c.deployment"
                   " = %u",
                   s->plan->deployment, f->batch->to, s->plan->deployment);
    tide_status status = write_run_sql(s, "UPDATE 1", err);
    if (status == TIDE_OK)
        status = write_keys_read(keys, f->batch, &ask, err);
    if (status == TIDE_OK && ask)
        status = write_keys_ask(keys, s, err);
    if (status == TIDE_OK)
        status = write_copy_rows(s, keys, f->batch, err);
    return status == TIDE_OK ? write_count(s, &f->batch->counts, err) : status;
}

/* ---- the transaction: the two states ---- */

static bool is_value(const char *name)
{
    static const char *const others[] = { "deployment", "key_hash",  "ledger", "tx",
                                          "seq",        "closed_at", "reason", "life" };
    for (size_t i = 0; i < TIDE_COUNT(others); i++)
        if (strcmp(name, others[i]) == 0)
            return false;
    return strncmp(name, TIDE_EARLIER, sizeof TIDE_EARLIER - 1) != 0;
}

static void sql_values(struct write_session *s, const struct tide_table *stored, char alias)
{
    const char *before = "ROW(";
    for (uint32_t i = 0; i < stored->column_count; i++) {
        if (!is_value(stored->columns[i].name))
            continue;
        /* json has no operator of equality */
        write_sql_more(s, "%s%c.\"%s\"%s", before, alias, stored->columns[i].name,
                       stored->columns[i].type == TIDE_PG_JSON ? "::text" : "");
        before = ", ";
    }
    write_sql_more(s, ")");
}

/* Appends the keys of the contracts whose state the index began with. Others were named by other
 * ledgers, and are read for themselves. */
static void sql_contracts(struct write_session *s)
{
    write_sql_more(s,
                   "SELECT w.id FROM chain.word AS w WHERE w.word IN (SELECT j.address FROM"
                   " chain.deployment AS d, jsonb_to_recordset(d.contracts) AS j (address text)"
                   " WHERE d.id = %u UNION ALL SELECT n.contract FROM chain.contract_seen AS n"
                   " WHERE n.deployment = %u AND n.ledger = %u AND n.tx = 0 AND n.what ="
                   " 'discovered')",
                   s->plan->deployment, s->plan->deployment, s->plan->held_before);
}

/* Appends a condition that is false for an extra entry of table `index` if another table has a
 * newer version of it: a value that cannot be decoded any more is in history.raw, and the last one
 * that could stays in its own table. */
static void sql_is_newest(struct write_session *s, uint32_t index)
{
    const struct write_plan *plan = s->plan;
    const char *before = " AND NOT (a.key_hash IS NULL AND EXISTS (";
    for (uint32_t i = 0; i < plan->table_count; i++) {
        const struct tide_table *other = &plan->tables[i];
        if (other->kind != TIDE_TABLE_HISTORY || i == TIDE_TABLE_HISTORY_TTL ||
            (i == TIDE_TABLE_HISTORY_RAW) == (index == TIDE_TABLE_HISTORY_RAW))
            continue;
        write_sql_more(s,
                       "%sSELECT FROM %s.\"%s\" AS n WHERE n.deployment = %u AND n.key_hash ="
                       " b.key_hash AND n.ledger <= %u AND n.tx > 0 AND (n.ledger, n.tx, n.seq) >"
                       " (b.ledger, b.tx, b.seq)",
                       before, tide_table_stored(other)->schema, tide_table_stored(other)->name,
                       plan->deployment, plan->held_before);
        before = " UNION ALL ";
    }
    write_sql_more(s, "))");
}

/* Writes the statement that lists entries in which the state left by the ledgers differs from the
 * stored one. Balances in Stellar assets, and their lives, are also kept of tokens that later
 * ledgers named: the stored state has none of these. */
static void sql_compare(struct write_session *s, uint32_t index)
{
    const struct tide_table *history = &s->plan->tables[index];
    const struct tide_table *stored = tide_table_stored(history);
    const char *rows = index == TIDE_TABLE_HISTORY_TTL ? "life" : stored->name;
    bool others =
        strcmp(history->name, "stellar_asset_balance") == 0 || strcmp(history->name, "ttl") == 0;
    uint32_t ledger = s->plan->held_before;
    write_sql(s,
              "WITH a AS (SELECT * FROM %s.\"%s\" WHERE deployment = %u AND ledger = %u AND tx ="
              " 0), b AS (SELECT DISTINCT ON (key_hash) * FROM %s.\"%s\" WHERE deployment = %u AND"
              " ledger <= %u AND tx > 0 AND contract IN (",
              stored->schema, rows, s->plan->deployment, ledger, stored->schema, rows,
              s->plan->deployment, ledger);
    sql_contracts(s);
    write_sql_more(s,
                   ") ORDER BY key_hash, ledger DESC, tx DESC, seq DESC), b1 AS (SELECT * FROM b"
                   " WHERE NOT removed) SELECT CASE WHEN a.key_hash IS NULL THEN 'extra' WHEN"
                   " b.key_hash IS NULL THEN 'missing' ELSE 'different' END, (SELECT w.word FROM"
                   " chain.word AS w WHERE w.id = coalesce(a.contract, b.contract)),"
                   " encode(key_hash, 'hex'), coalesce(b.ledger, 0), count(*) OVER () FROM a FULL"
                   " JOIN b1 AS b USING (key_hash) WHERE ");
    sql_values(s, stored, 'a');
    write_sql_more(s, " IS DISTINCT FROM ");
    sql_values(s, stored, 'b');
    if (index != TIDE_TABLE_HISTORY_TTL)
        sql_is_newest(s, index);
    if (others)
        write_sql_more(s,
                       " AND NOT (a.key_hash IS NULL AND EXISTS (SELECT FROM chain.contract_seen"
                       " AS n WHERE n.deployment = %u AND n.ledger > %u AND n.what ="
                       " 'discovered'))",
                       s->plan->deployment, ledger);
    write_sql_more(s, " ORDER BY 2, 3 LIMIT 10");
}

static tide_status compare_table(struct write_session *s, uint32_t index, uint64_t *differences,
                                 struct tide_err *err)
{
    sql_compare(s, index);
    tide_status status = write_query_sql(s, err);
    for (uint32_t i = 0; status == TIDE_OK && i < s->rows.count; i++)
        tide_log(TIDE_ERROR, "fill.differs", "what=%s table=%s contract=%s key=%s ledger=%s",
                 tide_pg_text(&s->rows, i, 0), s->plan->tables[index].name,
                 tide_pg_text(&s->rows, i, 1), tide_pg_text(&s->rows, i, 2),
                 tide_pg_text(&s->rows, i, 3));
    if (status == TIDE_OK && s->rows.count)
        *differences += tide_pg_u64(&s->rows, 0, 4);
    return status;
}

static tide_status compare_states(struct filling *f, struct tide_err *err)
{
    struct write_session *s = &f->writer->main.session;
    uint64_t differences = 0;
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < s->plan->table_count && status == TIDE_OK; i++)
        if (s->plan->tables[i].kind == TIDE_TABLE_HISTORY)
            status = compare_table(s, i, &differences, err);
    if (status == TIDE_OK && differences)
        status = tide_fail(err, TIDE_E_CONFLICT,
                           "backfill: %" PRIu64 " entries of the state that the source's ledgers"
                           " up to %u leave are not the checkpoint's (fill.differs): the source"
                           " changed or left out entries; use another one, with --anew",
                           differences, f->batch->to);
    return status == TIDE_OK ? write_point(TIDE_FAILPOINT("fill.compared"), err) : status;
}

/* Deletes the rows of the stored state. */
static tide_status delete_state(struct filling *f, struct tide_err *err)
{
    struct write_session *s = &f->writer->main.session;
    write_sql(s, "%s", "");
    for (uint32_t i = 0; i < s->plan->table_count; i++) {
        const struct tide_table *table = &s->plan->tables[i];
        if ((table->kind != TIDE_TABLE_STATE && table->kind != TIDE_TABLE_HISTORY) ||
            table->is_view)
            continue;
        write_sql_more(s, "DELETE FROM ");
        if (table->kind == TIDE_TABLE_STATE)
            write_sql_more(s, "state.\"%s\"", table->name);
        else
            write_sql_leaf(s, table, f->partition);
        write_sql_more(s, " WHERE deployment = %u AND ledger = %u AND tx = 0;", s->plan->deployment,
                       f->batch->to);
    }
    return write_run_sql(s, "DELETE", err);
}

/* Deletes the versions that the checkpoint's state gave, and merges the history below: each entry's
 * state then names the ledger that wrote it. */
static tide_status merge_past(struct filling *f, struct tide_err *err)
{
    struct write_session *s = &f->writer->main.session;
    uint32_t from = f->lowest.from;
    tide_status status = delete_state(f, err);
    while (status == TIDE_OK && from < f->batch->to) {
        status = write_merge_partition(s, from, 0, true, err);
        from = write_plan_end(s->plan, from);
    }
    if (status == TIDE_OK)
        status = write_merge_partition(s, f->partition, f->batch->to, true, err);
    return status == TIDE_OK ? write_point(TIDE_FAILPOINT("fill.merged"), err) : status;
}

/* ---- the transaction: contracts, coverage ---- */

/* Adds what the ledgers below showed of contracts. Deletes the rows of the checkpoint's state that
 * an index without it lacks: all with what = 'created', and each that a row of a ledger repeats.
 * Tokens that the state named were followed in all ledgers below: they need no further reading,
 * unless their kind is not known. */
static tide_status move_contracts(struct filling *f, struct tide_err *err)
{
    struct write_session *s = &f->writer->main.session;
    uint32_t id = s->plan->deployment, ledger = f->batch->to;
    if (!write_plan_has_contracts(s->plan))
        return TIDE_OK;
    write_sql(s,
              "DELETE FROM chain.contract_coverage WHERE deployment = %u AND to_ledger = %u AND"
              " from_ledger = %u; INSERT INTO chain.contract_coverage (deployment, contract,"
              " from_ledger, to_ledger, next_ledger, known_as) SELECT %u, n.contract, %u, %u, %u,"
              " min(n.role) FILTER (WHERE n.what <> 'discovered') FROM chain.contract_seen AS n"
              " WHERE n.deployment = %u AND n.ledger = %u AND n.tx = 0 AND n.what IN"
              " ('discovered', 'asset', 'token') GROUP BY n.contract HAVING count(DISTINCT n.what)"
              " > 1 ON CONFLICT DO NOTHING; ",
              id, ledger, ledger, id, f->lowest.first, ledger, ledger + 1, id, ledger);
    write_sql_more(
        s,
        "INSERT INTO chain.contract_seen SELECT * FROM chain.contract_held WHERE"
        " deployment = %u ON CONFLICT DO NOTHING; DELETE FROM chain.contract_seen AS n"
        " WHERE n.deployment = %u AND n.ledger = %u AND n.tx = 0 AND (n.what = 'created' OR"
        " EXISTS (SELECT FROM chain.contract_seen AS o WHERE o.deployment ="
        " n.deployment AND o.contract = n.contract AND o.what = n.what AND (o.ledger <"
        " n.ledger OR o.ledger = n.ledger AND o.tx > 0))); ",
        id, id, ledger);
    return write_run_sql(s, "DELETE", err);
}

/* Extends the coverage, and notes that the index has no boundary any more. */
static tide_status join_coverage(struct filling *f, struct tide_err *err)
{
    struct write_session *s = &f->writer->main.session;
    uint32_t id = s->plan->deployment, ledger = f->batch->to;
    write_sql(
        s,
        "UPDATE chain.deployment SET filled_start = %u WHERE id = %u; DELETE FROM chain.start"
        " WHERE deployment = %u; UPDATE chain.coverage SET from_ledger = %u, previous_hash = ",
        ledger, id, id, f->lowest.first);
    write_sql_hash(s, f->lowest.previous_hash);
    write_sql_more(s, " WHERE deployment = %u AND from_ledger = %u", id, ledger);
    tide_status status = write_run_sql(s, "UPDATE 1", err);
    if (status != TIDE_OK || !write_plan_has_contracts(s->plan))
        return status;
    write_sql(s,
              "SELECT chain.note_discovered(%u::smallint, ARRAY(SELECT DISTINCT h.contract FROM"
              " chain.contract_held AS h WHERE h.deployment = %u AND h.what IN ('discovered', "
              "'asset', 'token'))); "
              "DELETE FROM chain.contract_held WHERE deployment = %u",
              id, id, id);
    return write_run_sql(s, "DELETE", err);
}

/* ---- the transaction ---- */

static tide_status send_fill(struct filling *f, struct tide_err *err)
{
    struct tide_writer *w = f->writer;
    struct write_session *s = &w->main.session;
    f->lowest.active = false;
    tide_status status = write_begin_long(&w->main, err);
    if (status == TIDE_OK)
        status = check_ledger(f, err);
    if (status == TIDE_OK)
        status = attach_held(f, err);
    if (status == TIDE_OK)
        status = put_ledger(f, err);
    if (status == TIDE_OK)
        status = compare_states(f, err);
    if (status == TIDE_OK)
        status = merge_past(f, err);
    if (status == TIDE_OK)
        status = write_rollup_anew(s, &w->rollups, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("fill.rollups"), err);
    if (status == TIDE_OK)
        status = move_contracts(f, err);
    if (status == TIDE_OK)
        status = join_coverage(f, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("fill.coverage"), err);
    return status == TIDE_OK ? write_commit(s, err) : status;
}

static tide_status fill_index(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct filling *f = *(struct filling *const *)arg;
    tide_status status = send_fill(f, err);
    write_end_long(m);
    return status;
}

/* Makes the indexes that a process which was killed left out. */
static tide_status build_held(struct tide_writer *w, struct tide_err *err)
{
    struct load_range l = { .active = false };
    tide_status status;
    do {
        const struct held_question question = { l.active ? l.end : 0, &l };
        status = write_retry(&w->main, ask_held, &question, false, err);
        if (status == TIDE_OK && l.active)
            status = load_build_run(&w->main, &w->load.build, &l, err);
    } while (status == TIDE_OK && l.active);
    return status == TIDE_OK ? write_retry(&w->main, load_attach_words, NULL, false, err) : status;
}

tide_status writer_fill(struct tide_writer *w, const struct tide_batch *batch, struct tide_err *err)
{
    struct filling filling = { .writer = w,
                               .batch = batch,
                               .partition = write_plan_partition(&w->plan, batch->to) };
    struct filling *arg = &filling;
    assert(batch->from == w->plan.held_before && batch->to == batch->from);
    tide_status status = build_held(w, err);
    if (status == TIDE_OK)
        status = write_retry(&w->main, fill_index, &arg, true, err);
    if (status != TIDE_OK)
        return status;
    w->plan.held_before = 0;
    w->load.unanalysed = true;
    tide_log(TIDE_INFO, "fill.done", "deployment=%u from=%u checkpoint=%u", w->plan.deployment,
             filling.lowest.first, batch->to);
    return tide_writer_adopt(w, err);
}

tide_status writer_fill_check(struct tide_writer *w, const struct tide_batch *batch,
                              struct tide_err *err)
{
    uint8_t hash[TIDE_HASH_BYTES];
    bool known;
    if (batch->to + 1 != w->plan.held_before)
        return TIDE_OK;
    tide_status status = tide_writer_hash(w, batch->to, &known, hash, err);
    return status == TIDE_OK && (!known || memcmp(hash, batch->hash, sizeof hash) != 0)
               ? tide_fail(err, TIDE_E_CHAIN,
                           "backfill: the source's ledgers up to %u do not lead to the"
                           " checkpoint's ledger %u: use another source, with --anew",
                           batch->to, w->plan.held_before)
               : status;
}
