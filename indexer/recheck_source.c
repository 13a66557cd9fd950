#include "indexer/command.h"
#include "indexer/digest.h"
#include "indexer/only.h"
#include "indexer/query.h"
#include "indexer/recheck.h"
#include "tidemark/delta.h"
#include "tidemark/source.h"
#include "tidemark/table.h"
#include "tidemark/text.h"

#include <stdlib.h>

enum { CHUNK_LEDGERS = 256, NO_LEDGER = -1 };

/* Rows of a chunk by table and ledger, as derived and as stored. */
struct cell {
    struct tide_digest derived, stored;
};

struct again {
    struct tide_recheck *check;
    const struct tide_table *tables;
    uint32_t table_count;
    struct tide_deployment *deployment;
    struct tide_only only;
    struct tide_source source;
    struct tide_delta *delta;
    struct tide_batch *batch;
    struct tide_range chunk;
    struct cell *cells; /* [table][ledger - chunk.from] */
    uint64_t ledgers, rows;
    uint32_t table; /* under the tuple sink */
};

static struct cell *cell_of(struct again *a, uint32_t table, uint32_t ledger)
{
    return &a->cells[(size_t)table * CHUNK_LEDGERS + (ledger - a->chunk.from)];
}

static int ledger_column(const struct tide_table *table)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, "ledger") == 0)
            return (int)i;
    return NO_LEDGER;
}

/* State follows from history; what --only leaves out is not stored. */
static bool is_compared(const struct again *a, uint32_t table)
{
    return a->tables[table].kind != TIDE_TABLE_STATE &&
           (a->only.all || a->only.wanted[table] || table == TIDE_TABLE_LEDGER);
}

/* The tuples of one table in a batch: each is a count of columns, then lengths and values. */
static tide_status add_tuples(struct again *a, uint32_t table, struct tide_err *err)
{
    tide_slice rest = tide_buf_view(&a->batch->rows[table].copy);
    struct cell *cell = cell_of(a, table, a->batch->from);
    while (rest.len) {
        size_t len = tide_tuple_length(rest);
        if (len == 0 || tide_digest_tuple(&cell->derived, &a->tables[table],
                                          tide_slice_of(rest.ptr, len)) != TIDE_OK)
            return tide_fail(err, TIDE_E_SCHEMA,
                             "%s.%s: a row of the delta is not one of the table",
                             a->tables[table].schema, a->tables[table].name);
        rest.ptr += len;
        rest.len -= len;
        a->rows++;
    }
    return TIDE_OK;
}

static tide_status derive_ledger(struct again *a, uint32_t ledger, struct tide_err *err)
{
    tide_slice lcm;
    uint32_t sequence;
    tide_status status = a->source.ops->next(a->source.self, &lcm, &sequence, err);
    if (status == TIDE_E_EOF)
        return tide_fail(err, TIDE_E_MISSING, "the source ends before ledger %u", ledger);
    if (status == TIDE_OK)
        status = tide_delta_ledger(a->delta, a->batch, lcm, err);
    for (uint32_t i = 0; i < a->table_count && status == TIDE_OK; i++)
        if (is_compared(a, i))
            status = add_tuples(a, i, err);
    tide_delta_batch_end(a->delta, a->batch);
    tide_batch_reset(a->batch);
    a->ledgers++;
    return status;
}

static tide_status stored_tuple(void *self, tide_slice tuple, struct tide_err *err)
{
    struct again *a = self;
    const struct tide_table *table = &a->tables[a->table];
    tide_slice field;
    bool null = false;
    if (tide_tuple_field(tuple, (uint32_t)ledger_column(table), &field, &null) != TIDE_OK || null ||
        field.len != 4)
        return tide_fail(err, TIDE_E_SCHEMA, "%s.%s: a row without ledger", table->schema,
                         table->name);
    uint32_t ledger = (uint32_t)field.ptr[0] << 24 | (uint32_t)field.ptr[1] << 16 |
                      (uint32_t)field.ptr[2] << 8 | field.ptr[3];
    if (ledger < a->chunk.from || ledger > a->chunk.to ||
        tide_digest_tuple(&cell_of(a, a->table, ledger)->stored, table, tuple) != TIDE_OK)
        return tide_fail(err, TIDE_E_SCHEMA, "%s.%s: a row has not the columns of this build",
                         table->schema, table->name);
    return TIDE_OK;
}

static tide_status read_stored(struct again *a, struct tide_err *err)
{
    char where[96], sql[8192];
    struct tide_pg_tuples sink = { .tuple = stored_tuple, .self = a };
    tide_status status = TIDE_OK;
    snprintf(where, sizeof where, "deployment = %u AND ledger BETWEEN %u AND %u",
             a->check->deployment, a->chunk.from, a->chunk.to);
    for (a->table = 0; a->table < a->table_count && status == TIDE_OK; a->table++) {
        if (!is_compared(a, a->table) || ledger_column(&a->tables[a->table]) == NO_LEDGER)
            continue;
        if (!tide_digest_copy_sql(sql, sizeof sql, &a->tables[a->table], where))
            return tide_fail(err, TIDE_E_LIMIT, "%s: too many columns", a->tables[a->table].name);
        status = tide_pg_copy_out(a->check->pg, &sink, sql, err);
    }
    return status;
}

static void compare(struct again *a)
{
    for (uint32_t ledger = a->chunk.from; ledger <= a->chunk.to; ledger++)
        for (uint32_t i = 0; i < a->table_count; i++) {
            const struct cell *cell = cell_of(a, i, ledger);
            if (!tide_digest_eq(&cell->derived, &cell->stored))
                tide_recheck_say(
                    a->check, "%s.%s: ledger %u: %" PRIu64 " rows, by the source %" PRIu64 "%s",
                    a->tables[i].schema, a->tables[i].name, ledger, cell->stored.rows,
                    cell->derived.rows, cell->stored.rows == cell->derived.rows ? ": altered" : "");
        }
}

static tide_status check_chunk(struct again *a, struct tide_err *err)
{
    memset(a->cells, 0, (size_t)a->table_count * CHUNK_LEDGERS * sizeof *a->cells);
    tide_status status = TIDE_OK;
    for (uint32_t l = a->chunk.from; l <= a->chunk.to && status == TIDE_OK; l++) {
        if (tide_stop_asked(NULL))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        status = derive_ledger(a, l, err);
    }
    if (status == TIDE_OK)
        status = read_stored(a, err);
    if (status == TIDE_OK)
        compare(a);
    return status;
}

/* The contracts that the chain had named before the range begins. */
static tide_status add_discovered(struct again *a, struct tide_err *err)
{
    struct tide_deployment *before = NULL;
    tide_status status = tide_query_contracts(a->check->pg, a->check->deployment,
                                              a->check->range.from, &before, err);
    for (uint32_t i = 0; status == TIDE_OK && i < before->contract_count; i++)
        if (!tide_deployment_find(a->deployment, before->contracts[i].id) &&
            tide_deployment_add(a->deployment, &before->contracts[i]) != TIDE_OK)
            status = tide_fail(err, TIDE_E_LIMIT, "too many contracts");
    free(before);
    return status;
}

static const char begin_sql[] =
    "SELECT d.scope, l.proof, encode(l.previous_hash, 'hex') FROM chain.deployment AS d"
    " JOIN chain.ledger AS l ON l.deployment = d.id AND l.ledger = $2 WHERE d.id = $1";

/* Delta as the indexer had it: scope and proof as stored, and what the range must follow. */
static tide_status open_delta(struct again *a, struct tide_err *err)
{
    struct tide_pg_rows rows;
    char id[8], from[16];
    uint8_t previous[TIDE_HASH_BYTES];
    snprintf(id, sizeof id, "%u", a->check->deployment);
    snprintf(from, sizeof from, "%u", a->check->range.from);
    tide_status status =
        tide_pg_query(a->check->pg, &rows, begin_sql, (const char *[]){ id, from }, 2, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count != 1 ||
        tide_hex_decode(previous, sizeof previous, tide_pg_slice(&rows, 0, 2)) != TIDE_OK)
        status = tide_fail(err, TIDE_E_MISSING, "chain.ledger has no ledger %s", from);
    bool all = status == TIDE_OK && strcmp(tide_pg_text(&rows, 0, 0), "*") == 0;
    if (status == TIDE_OK)
        status = tide_only_parse(&a->only, a->tables, a->table_count,
                                 all ? "" : tide_pg_text(&rows, 0, 0), err);
    if (status == TIDE_OK) {
        struct tide_delta_options options = { .deployment = a->deployment,
                                              .proof = (enum tide_proof)tide_pg_u64(&rows, 0, 1),
                                              .tables = a->only.all ? NULL : a->only.wanted };
        status = tide_delta_open(&a->delta, &options, err);
    }
    tide_pg_rows_release(&rows);
    if (status == TIDE_OK)
        tide_delta_expect(a->delta, a->check->range.from, previous);
    return status;
}

static tide_status open_all(struct again *a, const struct tide_config *config, struct tide_err *err)
{
    a->tables = tide_tables(&a->table_count);
    a->cells = calloc((size_t)a->table_count * CHUNK_LEDGERS, sizeof *a->cells);
    a->batch = malloc(sizeof *a->batch);
    if (!a->cells || !a->batch)
        return tide_fail(err, TIDE_E_MEMORY, "verify");
    tide_batch_init(a->batch);
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
        status = open_delta(a, err);
    if (status != TIDE_OK)
        return status;
    const struct tide_source_options options = { .config = config,
                                                 .passphrase = a->deployment->passphrase,
                                                 .stopping = tide_stop_asked };
    status = tide_source_open(&a->source, &options, err);
    if (status == TIDE_OK)
        status = a->source.ops->seek(a->source.self, a->check->range.from, a->check->range.to, err);
    return status;
}

static void close_all(struct again *a)
{
    if (a->source.ops)
        a->source.ops->close(a->source.self);
    tide_delta_close(a->delta);
    if (a->batch)
        tide_batch_release(a->batch);
    free(a->batch);
    free(a->cells);
    free(a->deployment);
}

tide_status tide_recheck_source(struct tide_recheck *check, const struct tide_config *config,
                                struct tide_err *err)
{
    struct again a = { .check = check };
    tide_status status = open_all(&a, config, err);
    for (uint32_t at = check->range.from; status == TIDE_OK && at <= check->range.to;
         at += CHUNK_LEDGERS) {
        uint32_t left = check->range.to - at;
        a.chunk = (struct tide_range){ at, left < CHUNK_LEDGERS ? check->range.to
                                                                : at + CHUNK_LEDGERS - 1 };
        status = check_chunk(&a, err);
    }
    if (status == TIDE_OK)
        printf("source  %" PRIu64 " ledgers derived again, %" PRIu64 " rows compared\n", a.ledgers,
               a.rows);
    close_all(&a);
    return status;
}
