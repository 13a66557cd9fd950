/* Cost of writing beyond the rows themselves.
 *
 * dump    decodes a lake once and keeps each batch's encoded rows in a file
 * replay  commits those batches exactly as the indexer does: same COPY, same merge, same order of
 *         index building, same commit sizes. Only fetching, walking, proving and encoding are
 *         left out.
 * raw     COPYs the same rows into unlogged tables without key or index: the server's own limit */
#include "perf.h"
#include "ratio.h"

#include "indexer/follow/pipeline.h"
#include "indexer/write/writer.h"

#include "tidemark/config.h"
#include "tidemark/pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Head of a batch in the file. A struct part and the rows' bytes follow for each table with rows.
 * The file is read on the machine that wrote it: structs are stored as they lie in memory. */
struct head {
    uint32_t from, to;
    uint8_t previous_hash[TIDE_HASH_BYTES];
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t closed_ms;
    struct tide_batch_counts counts;
    uint32_t tables;
};

/* Rows of one table in the file; len bytes of COPY data follow. */
struct part {
    uint64_t table, count, len;
};

/* Appends the batch to the file. fclose reports write errors. */
static void save_batch(FILE *out, const struct tide_batch *batch)
{
    struct head head = {
        .from = batch->from, .to = batch->to, .closed_ms = batch->closed_ms, .counts = batch->counts
    };
    memcpy(head.previous_hash, batch->previous_hash, TIDE_HASH_BYTES);
    memcpy(head.hash, batch->hash, TIDE_HASH_BYTES);
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++)
        head.tables += batch->rows[i].count > 0;
    fwrite(&head, sizeof head, 1, out);
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++) {
        const struct tide_rows *rows = &batch->rows[i];
        struct part part = { i, rows->count, rows->copy.len };
        if (rows->count == 0)
            continue;
        assert(part.table < TIDE_TABLES_MAX && part.count > 0);
        fwrite(&part, sizeof part, 1, out);
        fwrite(rows->copy.ptr, 1, rows->copy.len, out);
    }
}

/* Reads the next batch. Returns false at the end of the file, or where the file is damaged. */
static bool load_batch(FILE *in, struct tide_batch *batch)
{
    struct head head;
    tide_batch_reset(batch);
    if (fread(&head, sizeof head, 1, in) != 1)
        return false;
    batch->from = head.from;
    batch->to = head.to;
    batch->closed_ms = head.closed_ms;
    batch->counts = head.counts;
    memcpy(batch->previous_hash, head.previous_hash, TIDE_HASH_BYTES);
    memcpy(batch->hash, head.hash, TIDE_HASH_BYTES);
    for (uint32_t i = 0; i < head.tables; i++) {
        struct part part;
        if (fread(&part, sizeof part, 1, in) != 1 || part.table >= TIDE_TABLES_MAX)
            return false;
        struct tide_rows *rows = &batch->rows[part.table];
        uint8_t *to = tide_buf_room(&rows->copy, part.len);
        if (!to || fread(to, 1, part.len, in) != part.len)
            return false;
        rows->copy.len = part.len;
        rows->count = part.count;
        batch->bytes += part.len;
    }
    return true;
}

/* Callback of sources and writers: never asks them to stop. */
static bool never(void *self)
{
    (void)self;
    return false;
}

static struct tide_deployment *read_deployment(const char *path)
{
    struct tide_deployment *deployment = NULL;
    struct tide_err err;
    if (tide_deployment_read(&deployment, path, &err) != TIDE_OK)
        perf_die("deployment", &err);
    deployment->id = 1; /* the identifier that an empty database assigns */
    return deployment;
}

/* Saves all batches of the pipeline. Ends the program if one fails or none comes for a minute. */
static void dump_items(struct tide_pipeline *pipeline, FILE *out)
{
    for (;;) {
        struct tide_item *item = tide_pipeline_take(pipeline, 60000);
        struct tide_err err;
        if (!item) {
            tide_fail(&err, TIDE_E_IO, "the decoder produced no batch for a minute");
            perf_die("dump", &err);
        }
        if (item->batch.from)
            save_batch(out, &item->batch);
        bool last = item->last;
        if (last && item->status != TIDE_OK)
            perf_die("dump", &item->err);
        tide_pipeline_give(pipeline, item);
        if (last)
            return;
    }
}

int perf_dump(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: tidemark-perf dump LAKE DEPLOYMENT OUT\n", stderr);
        return 64;
    }
    static struct tide_config config;
    struct tide_err err;
    struct tide_deployment *deployment = read_deployment(argv[1]);
    tide_config_defaults(&config);
    snprintf(config.lake, sizeof config.lake, "%s", argv[0]);
    struct tide_source source;
    const struct tide_source_options from = { .config = &config,
                                              .passphrase = deployment->passphrase,
                                              .stopping = never };
    if (tide_source_open(&source, &from, &err) != TIDE_OK ||
        source.ops->seek(source.self, deployment->first_ledger, 0, &err) != TIDE_OK)
        perf_die("lake", &err);
    const struct tide_pipeline_options options = { .source = source,
                                                   .decode = { .deployment = deployment,
                                                               .proof = TIDE_PROOF_EVENTS,
                                                               .discovered_max =
                                                                   config.discovered_tokens },
                                                   .from = deployment->first_ledger,
                                                   .stop_at_end = true,
                                                   .poll_ms = 1000,
                                                   .partition_ledgers = config.partition_ledgers,
                                                   .batch_ledgers = config.batch_ledgers,
                                                   .batch_ms = 600000,
                                                   .decode_threads = config.decode_threads,
                                                   .queue_batches = 2,
                                                   .batch_bytes = (size_t)config.batch_mib << 20,
                                                   .stopped = never };
    FILE *out = perf_open_file(argv[2], "wb");
    struct tide_pipeline *pipeline = NULL;
    if (tide_pipeline_open(&pipeline, &options, &err) != TIDE_OK)
        perf_die("dump", &err);
    dump_items(pipeline, out);
    tide_pipeline_close(pipeline);
    source.ops->close(source.self);
    free(deployment);
    return fclose(out) == 0 ? 0 : 1;
}

int perf_replay(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: tidemark-perf replay FILE DEPLOYMENT CONNINFO\n", stderr);
        return 64;
    }
    static struct tide_batch batch;
    struct tide_err err;
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    struct tide_deployment *deployment = read_deployment(argv[1]);
    const struct tide_writer_options options = { .conninfo = argv[2],
                                                 .tables = tables,
                                                 .table_count = count,
                                                 .deployment = deployment,
                                                 .partition_ledgers = 1000000,
                                                 /* one session builds the indexes, one after
                                                  * another */
                                                 .index_connections = 1,
                                                 .standby_poll_ms = 1000,
                                                 .retry_ms_max = 1000,
                                                 .stopped = never };
    FILE *in = perf_open_file(argv[0], "rb");
    double start = perf_now();
    struct tide_writer *writer = NULL;
    if (tide_writer_open(&writer, &options, &err) != TIDE_OK)
        perf_die("replay", &err);
    tide_batch_init(&batch);
    uint64_t rows = 0;
    uint64_t events = 0;
    while (load_batch(in, &batch)) {
        if (tide_writer_commit(writer, &batch, &err) != TIDE_OK)
            perf_die("commit", &err);
        for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++)
            rows += batch.rows[i].count;
        events += batch.counts.events;
    }
    if (tide_writer_finish(writer, &err) != TIDE_OK)
        perf_die("finish", &err);
    tide_writer_close(writer);
    printf("{\"seconds\":%.3f,\"rows\":%" PRIu64 ",\"events\":%" PRIu64 "}\n", perf_now() - start,
           rows, events);
    fclose(in);
    tide_batch_release(&batch);
    free(deployment);
    return 0;
}

/* ---- raw tables ---- */

/* Creates an unlogged table for each table. A state table gets the shape of its history, because
 * its rows carry the column `removed` too. */
static void create_raw(struct tide_pg *pg, const struct tide_table *tables, uint32_t count)
{
    struct tide_err err;
    if (tide_pg_run(pg, "DROP SCHEMA IF EXISTS perf CASCADE; CREATE SCHEMA perf", NULL, &err) !=
        TIDE_OK)
        perf_die("raw", &err);
    for (uint32_t i = 0; i < count; i++) {
        const struct tide_table *shape =
            tables[i].kind == TIDE_TABLE_STATE ? &tables[tables[i].pair] : &tables[i];
        assert(shape->kind != TIDE_TABLE_STATE && "a state table's pair is its history");
        struct tide_buf sql;
        tide_buf_init(&sql, 1u << 16);
        tide_buf_putf(&sql, "CREATE UNLOGGED TABLE perf.t%u (", i);
        for (uint32_t c = 0; c < shape->column_count; c++)
            tide_buf_putf(&sql, "%s\"%s\" %s", c ? ", " : "", shape->columns[c].name,
                          tide_pg_type_name(shape->columns[c].type));
        tide_buf_put(&sql, ")", sizeof ")");
        if (tide_pg_run(pg, (const char *)sql.ptr, NULL, &err) != TIDE_OK)
            perf_die("raw", &err);
        tide_buf_release(&sql);
    }
}

int perf_raw(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: tidemark-perf raw FILE CONNINFO\n", stderr);
        return 64;
    }
    static struct tide_batch batch;
    struct tide_err err;
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    struct tide_pg *pg = NULL;
    const struct tide_pg_options options = { .conninfo = argv[1], .application = "tidemark-perf" };
    FILE *in = perf_open_file(argv[0], "rb");
    if (tide_pg_open(&pg, &options, &err) != TIDE_OK)
        perf_die("raw", &err);
    create_raw(pg, tables, count);
    tide_batch_init(&batch);
    uint64_t rows = 0;
    double start = perf_now();
    while (load_batch(in, &batch)) {
        tide_status status = tide_pg_run(pg, "BEGIN", "BEGIN", &err);
        for (uint32_t i = 0; i < count && status == TIDE_OK; i++) {
            char sql[96];
            snprintf(sql, sizeof sql, "COPY perf.t%u FROM STDIN (FORMAT binary)", i);
            if (batch.rows[i].count)
                status = tide_pg_copy(pg, sql, tide_buf_view(&batch.rows[i].copy),
                                      batch.rows[i].count, &err);
            rows += batch.rows[i].count;
        }
        if (status != TIDE_OK || tide_pg_run(pg, "COMMIT", "COMMIT", &err) != TIDE_OK)
            perf_die("raw", &err);
    }
    printf("{\"seconds\":%.3f,\"rows\":%" PRIu64 "}\n", perf_now() - start, rows);
    tide_pg_close(pg);
    fclose(in);
    tide_batch_release(&batch);
    return 0;
}
