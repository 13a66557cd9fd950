/* verify against a source: decodes the ledgers again and compares the rows of each table by
 * digests. */
#include "indexer/source/source.h"
#include "indexer/database/query.h"
#include "indexer/decode/decode.h"
#include "indexer/verify/digest.h"
#include "indexer/verify/verify.h"
#include "tidemark/stop.h"
#include "tidemark/table.h"
#include "tidemark/text.h"

#include <stdlib.h>

/* A range is compared in at most SLICES slices of equal length. A slice that differs is compared
 * again in the same way, until slices are single ledgers. Each pass reads the tables of its range
 * once, since history has no index by ledger. LOOKS_MAX differing slices of a pass are followed. */
enum { SLICES = 256, LOOKS_MAX = 3, NO_LEDGER = -1 };

/* Digests of one table's rows in one slice: from the source, and as stored. */
struct cell {
    struct tide_digest derived, stored;
};

/* One pass over a range. */
struct pass {
    struct tide_verify *check;
    const struct tide_table *tables;
    uint32_t table_count;
    struct tide_deployment *deployment;
    struct tide_source source;
    struct tide_decode *decode;
    struct tide_batch *batch;
    struct tide_range range;
    uint32_t step;      /* ledgers in a slice */
    struct cell *cells; /* [table][slice] */
    uint64_t ledgers, rows;
    uint32_t table; /* the table that read_stored reads */
};

static struct cell *cell_of(struct pass *a, uint32_t table, uint32_t ledger)
{
    assert(table < a->table_count && ledger >= a->range.from);
    assert((ledger - a->range.from) / a->step < SLICES);
    return &a->cells[(size_t)table * SLICES + (ledger - a->range.from) / a->step];
}

/* Returns the index of the column ledger, or NO_LEDGER. */
static int ledger_column(const struct tide_table *table)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, "ledger") == 0)
            return (int)i;
    return NO_LEDGER;
}

/* Returns whether the table is compared. State follows from history. */
static bool is_compared(const struct pass *a, uint32_t table)
{
    return a->tables[table].kind != TIDE_TABLE_STATE && table != TIDE_TABLE_PREIMAGE;
}

/* Adds a batch's tuples of one table to the digest of its slice. */
static tide_status add_tuples(struct pass *a, uint32_t table, struct tide_err *err)
{
    tide_slice rest = tide_buf_view(&a->batch->rows[table].copy);
    struct cell *cell = cell_of(a, table, a->batch->from);
    while (rest.len) {
        size_t len = tide_digest_tuple_length(rest);
        if (len == 0 || tide_digest_tuple(&cell->derived, &a->tables[table],
                                          tide_slice_of(rest.ptr, len)) != TIDE_OK)
            return tide_fail(err, TIDE_E_SCHEMA,
                             "%s.%s: a row of the decoder does not have the table's columns",
                             a->tables[table].schema, a->tables[table].name);
        rest.ptr += len;
        rest.len -= len;
        a->rows++;
    }
    return TIDE_OK;
}

/* Decodes one ledger, from a fresh copy if the first one is damaged, and adds its rows. */
static tide_status derive_ledger(struct pass *a, uint32_t ledger, struct tide_err *err)
{
    tide_slice lcm;
    uint32_t sequence;
    tide_status status;
    bool again;
    do {
        again = false;
        status = a->source.ops->next(a->source.self, &lcm, &sequence, err);
        if (status == TIDE_E_EOF)
            return tide_fail(err, TIDE_E_MISSING, "the source ends before ledger %u", ledger);
        if (status == TIDE_OK) {
            status = tide_decode_ledger(a->decode, a->batch, lcm, err);
            again = status != TIDE_OK && tide_source_refetch(&a->source, sequence, err);
        }
    } while (again);
    for (uint32_t i = 0; i < a->table_count && status == TIDE_OK; i++)
        if (is_compared(a, i))
            status = add_tuples(a, i, err);
    tide_decode_batch_end(a->decode, a->batch);
    tide_batch_reset(a->batch);
    a->ledgers++;
    return status;
}

/* Adds a stored row to the digest of its ledger's slice. */
static tide_status add_stored_tuple(void *self, tide_slice tuple, struct tide_err *err)
{
    struct pass *a = self;
    const struct tide_table *table = &a->tables[a->table];
    assert(ledger_column(table) != NO_LEDGER);
    tide_slice field;
    bool null = false;
    if (tide_digest_field(tuple, (uint32_t)ledger_column(table), &field, &null) != TIDE_OK ||
        null || field.len != 4)
        return tide_fail(err, TIDE_E_SCHEMA, "%s.%s: a row has no ledger", table->schema,
                         table->name);
    uint32_t ledger = (uint32_t)field.ptr[0] << 24 | (uint32_t)field.ptr[1] << 16 |
                      (uint32_t)field.ptr[2] << 8 | field.ptr[3];
    if (ledger < a->range.from || ledger > a->range.to ||
        tide_digest_tuple(&cell_of(a, a->table, ledger)->stored, table, tuple) != TIDE_OK)
        return tide_fail(err, TIDE_E_SCHEMA,
                         "%s.%s: a row does not have the columns that this build knows",
                         table->schema, table->name);
    return TIDE_OK;
}

static tide_status read_stored(struct pass *a, struct tide_err *err)
{
    char where[96], sql[8192];
    struct tide_pg_tuples sink = { .tuple = add_stored_tuple, .self = a };
    tide_status status = TIDE_OK;
    snprintf(where, sizeof where, "deployment = %u AND ledger BETWEEN %u AND %u",
             a->check->deployment, a->range.from, a->range.to);
    for (a->table = 0; a->table < a->table_count && status == TIDE_OK; a->table++) {
        if (!is_compared(a, a->table) || ledger_column(&a->tables[a->table]) == NO_LEDGER)
            continue;
        if (!tide_digest_copy_sql(sql, sizeof sql, &a->tables[a->table], where))
            return tide_fail(err, TIDE_E_LIMIT, "%s: too many columns", a->tables[a->table].name);
        status = tide_pg_copy_out(a->check->pg, &sink, sql, err);
    }
    return status;
}

static struct tide_range slice_of(const struct pass *a, uint32_t slice)
{
    assert(slice < SLICES && slice * (uint64_t)a->step <= a->range.to - a->range.from);
    uint32_t from = a->range.from + slice * a->step;
    uint32_t left = a->range.to - from;
    return (struct tide_range){ from, left < a->step ? a->range.to : from + a->step - 1 };
}

static uint32_t slices_of(const struct pass *a)
{
    uint32_t slices = (a->range.to - a->range.from) / a->step + 1;
    assert(slices <= SLICES);
    return slices;
}

/* Reports one table's difference in a slice. */
static void report_cell(struct pass *a, uint32_t table, uint32_t slice)
{
    assert(table < a->table_count && slice < SLICES);
    const struct cell *cell = &a->cells[(size_t)table * SLICES + slice];
    struct tide_range r = slice_of(a, slice);
    char last[24] = "";
    if (r.to > r.from)
        snprintf(last, sizeof last, " to %u", r.to);
    tide_verify_report(
        a->check, "%s.%s: ledger %u%s: %" PRIu64 " rows, the source gives %" PRIu64 "%s",
        a->tables[table].schema, a->tables[table].name, r.from, last, cell->stored.rows,
        cell->derived.rows, cell->stored.rows == cell->derived.rows ? ": altered" : "");
}

/* Returns whether the slice differs; with `say`, also reports each table that does. */
static bool slice_differs(struct pass *a, uint32_t slice, bool say)
{
    bool any = false;
    for (uint32_t i = 0; i < a->table_count; i++) {
        const struct cell *cell = &a->cells[(size_t)i * SLICES + slice];
        if (tide_digest_eq(&cell->derived, &cell->stored))
            continue;
        any = true;
        if (say)
            report_cell(a, i, slice);
    }
    return any;
}

static tide_status derive_all(struct pass *a, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t l = a->range.from; l <= a->range.to && status == TIDE_OK; l++) {
        if (tide_stop_asked(NULL))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        status = derive_ledger(a, l, err);
    }
    return status;
}

/* Adds the contracts that the chain had named before the range. */
static tide_status add_discovered(struct pass *a, struct tide_err *err)
{
    struct tide_deployment *before = NULL;
    tide_status status =
        tide_query_contracts(a->check->pg, a->check->deployment, a->range.from, &before, err);
    for (uint32_t i = 0; status == TIDE_OK && i < before->contract_count; i++)
        if (!tide_deployment_find(a->deployment, before->contracts[i].id) &&
            tide_deployment_add(a->deployment, &before->contracts[i]) != TIDE_OK)
            status = tide_fail(err, TIDE_E_LIMIT, "too many contracts");
    free(before);
    return status;
}

static const char begin_sql[] =
    "SELECT coalesce(l.proof, 2), encode(l.previous_hash, 'hex') FROM chain.deployment AS d"
    " LEFT JOIN chain.ledger AS l ON l.deployment = d.id AND l.ledger = $2 WHERE d.id = $1";

/* Opens the decoder with the level of proof that the ledgers were stored with, behind the range's
 * previous hash. */
static tide_status open_decode(struct pass *a, struct tide_err *err)
{
    assert(a->deployment && !a->decode);
    struct tide_pg_rows rows;
    char id[8], from[16];
    uint8_t previous[TIDE_HASH_BYTES];
    snprintf(id, sizeof id, "%u", a->check->deployment);
    snprintf(from, sizeof from, "%u", a->range.from);
    tide_status status =
        tide_pg_query(a->check->pg, &rows, begin_sql, (const char *[]){ id, from }, 2, err);
    if (status != TIDE_OK)
        return status;
    bool known = tide_hex_decode(previous, sizeof previous, tide_pg_slice(&rows, 0, 1)) == TIDE_OK;
    struct tide_decode_options options = { .deployment = a->deployment,
                                           .proof = (enum tide_proof)tide_pg_u64(&rows, 0, 0),
                                           .with_log = true,
                                           .known_only = true }; /* see check_waiting */
    status = tide_decode_open(&a->decode, &options, err);
    tide_pg_rows_release(&rows);
    if (status == TIDE_OK)
        tide_decode_expect(a->decode, a->range.from, known ? previous : NULL);
    return status;
}

static tide_status open_all(struct pass *a, const struct tide_config *config, struct tide_err *err)
{
    a->tables = tide_tables(&a->table_count);
    a->cells = calloc((size_t)a->table_count * SLICES, sizeof *a->cells);
    a->batch = malloc(sizeof *a->batch);
    if (a->batch)
        tide_batch_init(a->batch);
    if (!a->cells || !a->batch)
        return tide_fail(err, TIDE_E_MEMORY, "verify");
    if (!*config->deployment)
        return tide_fail(err, TIDE_E_CONFIG,
                         "deployment: the JSON file that names network and "
                         "contracts is not set");
    tide_status status = tide_deployment_read(&a->deployment, config->deployment, err);
    if (status == TIDE_OK) {
        a->deployment->id = a->check->deployment;
        status = add_discovered(a, err);
    }
    if (status == TIDE_OK)
        status = open_decode(a, err);
    if (status != TIDE_OK)
        return status;
    const struct tide_source_options options = { .config = config,
                                                 .passphrase = a->deployment->passphrase,
                                                 .stopping = tide_stop_asked };
    status = tide_source_open(&a->source, &options, err);
    if (status == TIDE_OK)
        status = a->source.ops->seek(a->source.self, a->range.from, a->range.to, err);
    return status;
}

static void close_all(struct pass *a)
{
    if (a->source.ops)
        a->source.ops->close(a->source.self);
    tide_decode_close(a->decode);
    if (a->batch)
        tide_batch_release(a->batch);
    free(a->batch);
    free(a->cells);
    free(a->deployment);
}

/* Makes one pass over a range. The slices that differ are put into found, at most LOOKS_MAX. The
 * pass over the whole range prints how much it compared. */
static tide_status compare_range(struct tide_verify *check, const struct tide_config *config,
                                 struct tide_range range, bool whole,
                                 struct tide_range found[LOOKS_MAX], struct tide_err *err)
{
    assert(range.from > 0 && range.from <= range.to);
    struct pass a = { .check = check, .range = range };
    uint32_t count = 0;
    a.step = (range.to - range.from) / SLICES + 1;
    bool last = a.step == 1 || strcmp(config->stream, "-") == 0;
    tide_status status = open_all(&a, config, err);
    if (status == TIDE_OK)
        status = derive_all(&a, err);
    if (status == TIDE_OK)
        status = read_stored(&a, err);
    for (uint32_t i = 0; status == TIDE_OK && i < slices_of(&a); i++)
        if (slice_differs(&a, i, last) && !last && count < LOOKS_MAX)
            found[count++] = slice_of(&a, i);
    if (status == TIDE_OK && whole)
        printf("source  %" PRIu64 " ledgers derived again, %" PRIu64 " rows compared\n", a.ledgers,
               a.rows);
    close_all(&a);
    return status;
}

static const char waiting_sql[] =
    "SELECT count(DISTINCT contract), min(next_ledger), max(to_ledger) FROM chain.contract_coverage"
    " WHERE deployment = $1 AND next_ledger <= to_ledger AND next_ledger <= $3 AND to_ledger >= $2";

/* Fails while the past of discovered tokens is being read: the rows are then neither those of an
 * index with the tokens nor those of one without. Afterwards the index knows all tokens that it
 * discovered. The decoder here discovers none (known_only), since the limits on discovering were
 * the indexer's at the time. */
static tide_status check_waiting(struct tide_verify *check, struct tide_err *err)
{
    tide_status status = tide_verify_ask(check, waiting_sql, err);
    if (status == TIDE_OK && tide_pg_u64(&check->rows, 0, 0))
        status = tide_fail(err, TIDE_E_MISSING,
                           "ledgers %s to %s are still to be read for %s discovered tokens: verify"
                           " them against a source when `status` (discovered) shows none waiting",
                           tide_pg_text(&check->rows, 0, 1), tide_pg_text(&check->rows, 0, 2),
                           tide_pg_text(&check->rows, 0, 0));
    return status;
}

/* Leaves out the ledger of the checkpoint that the index began with: its rows are the state of that
 * checkpoint, which no source has. `audit` compares them. */
static tide_status skip_start(struct tide_verify *check, struct tide_range *range,
                              struct tide_err *err)
{
    tide_status status = tide_verify_ask(
        check,
        "SELECT FROM chain.start WHERE deployment = $1 AND ledger = $2 AND $3::integer >= $2", err);
    if (status != TIDE_OK)
        return status;
    if (check->rows.count) {
        printf("source  ledger %u is left out: the index began with its state, see `audit`\n",
               range->from);
        range->from++;
    }
    return TIDE_OK;
}

/* Follows differing slices depth first, at most four passes deep: 256^4 ledgers are more than there
 * can be. */
tide_status tide_verify_source(struct tide_verify *check, const struct tide_config *config,
                               struct tide_err *err)
{
    enum { DEPTH = 4 };
    static_assert(SLICES == 256 && DEPTH == sizeof(uint32_t),
                  "a pass settles a byte of the ledger");
    struct tide_range stack[DEPTH * LOOKS_MAX + 1] = { check->range };
    uint32_t count = 1;
    uint64_t before = check->wrong;
    struct tide_range differing = { 0, 0 };
    bool whole = true;
    tide_status status = check_waiting(check, err);
    if (status == TIDE_OK)
        status = skip_start(check, &stack[0], err);
    if (stack[0].from > stack[0].to)
        return status;
    while (count && status == TIDE_OK) {
        struct tide_range found[LOOKS_MAX] = { { 0, 0 } };
        status = compare_range(check, config, stack[--count], whole, found, err);
        whole = false;
        for (uint32_t i = 0; i < LOOKS_MAX && found[i].from; i++) {
            assert(count < TIDE_COUNT(stack));
            stack[count++] = differing = found[i];
        }
    }
    if (status == TIDE_OK && differing.from && check->wrong == before)
        tide_verify_report(check,
                           "ledgers %u to %u differ, but not one by one: contracts that the "
                           "chain names are known from another ledger on",
                           differing.from, differing.to);
    return status;
}
