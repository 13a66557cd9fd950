/* The commands verify, audit and digest: they check what is stored, and change nothing. */
#include "indexer/audit/audit.h"
#include "indexer/commands/command.h"
#include "indexer/database/query.h"
#include "indexer/rollup/rollup.h"
#include "indexer/verify/digest.h"
#include "indexer/verify/verify.h"

#include <errno.h>
#include <stdio.h>

/* ---- verify: the tables, a receipt, or a proof ---- */

/* Reads the range from the options; by default all that is covered. Fails if a part of it is not
 * indexed or archived. */
static tide_status read_range(struct tide_verify *check, const struct tide_option *options,
                              struct tide_err *err)
{
    struct tide_range asked = { 0, 0 };
    tide_status status =
        tide_option_u32(tide_option_find(options, "from"), 1, INT32_MAX, &asked.from, err);
    if (status == TIDE_OK)
        status = tide_option_u32(tide_option_find(options, "to"), 1, INT32_MAX, &asked.to, err);
    if (status == TIDE_OK)
        status = tide_query_covered(check->pg, check->deployment, asked, &check->range, err);
    if (status != TIDE_OK)
        return status;
    check->part = asked.from || asked.to;
    return tide_query_whole(check->pg, check->deployment, check->range.from, check->range.to, err);
}

/* Runs all checks that the configuration allows. Differences do not end a check; they are counted
 * and make the command fail. */
static tide_status verify_tables(struct tide_verify *check, const struct tide_config *config,
                                 struct tide_err *err)
{
    tide_status status = tide_verify_stored(check, err);
    if (status == TIDE_OK && !check->part)
        status = tide_verify_rollups(check, config, err);
    if (status == TIDE_OK && (*config->lake || *config->stream || *config->rpc))
        status = tide_verify_source(check, config, err);
    else if (status == TIDE_OK)
        printf("source  none configured (--lake, --rpc, --stream): rows were not derived again\n");
    if (status == TIDE_OK && *config->rpc)
        status = tide_verify_events(check, config, err);
    if (status == TIDE_OK && *config->archive)
        status = tide_verify_signatures(check, config, err);
    if (status == TIDE_OK && check->wrong)
        status = tide_fail(err, TIDE_E_CONFLICT, "%" PRIu64 " differences", check->wrong);
    return status;
}

static tide_status verify_receipt(const struct tide_verify *check,
                                  const struct tide_option *options, struct tide_err *err)
{
    const struct tide_option *jwks = tide_option_find(options, "jwks");
    struct tide_verify_receipt of = { .pg = check->pg,
                                      .deployment = check->deployment,
                                      .path = tide_option_find(options, "receipt")->value,
                                      .jwks = jwks ? jwks->value : NULL };
    return tide_verify_receipt(&of, err);
}

static tide_status verify_rows(struct tide_verify *check, const struct tide_config *config,
                               const struct tide_option *options, struct tide_err *err)
{
    tide_status status = read_range(check, options, err);
    return status == TIDE_OK ? verify_tables(check, config, err) : status;
}

/* Checks a proof, which needs no database. */
static int verify_offline(const char *proof, const struct tide_config *config)
{
    struct tide_err err;
    tide_status status = tide_verify_proof(proof, config, &err);
    fflush(stdout);
    return tide_command_end("verify", status, &err);
}

int tide_verify_main(const struct tide_config *config, const struct tide_option *options, int argc,
                     char **argv)
{
    struct tide_err err;
    struct tide_verify check = { 0 };
    (void)argc, (void)argv;
    const char *proof = tide_option_find(options, "proof")->value;
    if (proof)
        return verify_offline(proof, config);
    tide_status status = tide_query_open(&check.pg, config, "tidemark-verify", &err);
    if (status == TIDE_OK)
        status = tide_query_deployment(check.pg, config, &check.deployment, &err);
    if (status == TIDE_OK)
        status = tide_option_find(options, "receipt")->value
                     ? verify_receipt(&check, options, &err)
                     : verify_rows(&check, config, options, &err);
    fflush(stdout);
    tide_pg_rows_release(&check.rows);
    tide_pg_close(check.pg);
    return tide_command_end("verify", status, &err);
}

/* ---- audit: the state against a history archive's buckets ---- */

int tide_audit_main(const struct tide_config *config, const struct tide_option *options, int argc,
                    char **argv)
{
    struct tide_err err;
    struct tide_audit_options audit = { .config = config };
    (void)argc, (void)argv;
    tide_status status = tide_option_u32(tide_option_find(options, "checkpoint"), 1, INT32_MAX,
                                         &audit.checkpoint, &err);
    if (status == TIDE_OK && !*config->archive)
        status = tide_fail(&err, TIDE_E_CONFIG, "archive: no history archive is set");
    if (status == TIDE_OK)
        status = tide_audit(&audit, &err);
    fflush(stdout);
    return tide_command_end("audit", status, &err);
}

/* ---- digest: rows and a digest for each table, and one digest of all ---- */

/* Prints the line of a table, as text or JSON. */
static void print_line(bool json, const char *schema, const char *name,
                       const struct tide_digest *digest)
{
    char text[TIDE_DIGEST_TEXT_BYTES + 1];
    tide_digest_text(text, digest);
    if (json)
        printf("{\"table\":\"%s%s%s\",\"rows\":%" PRIu64 ",\"digest\":\"%s\"}\n", schema,
               *name ? "." : "", name, digest->rows, text);
    else
        printf("%s%s%s %" PRIu64 " %s\n", schema, *name ? "." : "", name, digest->rows, text);
}

/* Adds a table's line to the total. Lines contain the table's name, so that two tables with
 * exchanged contents change the total. */
static void add_table(struct tide_digest *total, const struct tide_table *table,
                      const struct tide_digest *digest)
{
    char text[TIDE_DIGEST_TEXT_BYTES + 1], line[512];
    tide_digest_text(text, digest);
    int len = snprintf(line, sizeof line, "%s.%s %" PRIu64 " %s", table->schema, table->name,
                       digest->rows, text);
    assert(len > 0 && (size_t)len < sizeof line);
    tide_digest_bytes(total, tide_slice_of(line, (size_t)len));
    assert(total->rows > 0);
    total->rows += digest->rows - 1; /* tide_digest_bytes counted the line as one row */
}

/* Reads the columns of a rollup table from the database, since the catalogue does not have them.
 * The column deployment is left out, as in all digests: its number is no content. Keys of
 * chain.word are no content either. A table with keys has a view NAME_words with the words: `name`
 * becomes the view's. */
static tide_status read_columns(struct tide_pg *pg, struct tide_table *table, char name[64],
                                struct tide_pg_rows *columns, struct tide_err *err)
{
    tide_status status =
        tide_pg_query(pg, columns,
                      "SELECT a.attname, c.relname FROM pg_attribute AS a JOIN pg_class AS c ON"
                      " c.oid = a.attrelid WHERE c.oid = coalesce(to_regclass(format("
                      "'rollup.%I', $1::text || '_words')), to_regclass(format('rollup.%I', $1)))"
                      " AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'deployment'"
                      " ORDER BY a.attnum",
                      (const char *[]){ name }, 1, err);
    if (status == TIDE_OK && (columns->count == 0 || columns->count > TIDE_COLUMNS_MAX))
        return tide_fail(err, TIDE_E_SCHEMA, "rollup.%s: %u columns", name, columns->count);
    for (uint32_t i = 0; status == TIDE_OK && i < columns->count; i++)
        table->columns[i].name = tide_pg_text(columns, i, 0);
    table->column_count = status == TIDE_OK ? columns->count : 0;
    if (status == TIDE_OK)
        snprintf(name, 64, "%s", tide_pg_text(columns, 0, 1));
    return status;
}

static tide_status print_rollup(struct tide_pg *pg, const char *name, const char *where, bool json,
                                struct tide_digest *total, struct tide_err *err)
{
    char text[64];
    struct tide_table table = { .schema = "rollup", .name = text };
    struct tide_digest digest = { 0 };
    struct tide_pg_rows columns = { 0 };
    assert(strlen(name) < sizeof text);
    snprintf(text, sizeof text, "%s", name);
    tide_status status = read_columns(pg, &table, text, &columns, err);
    if (status == TIDE_OK)
        status = tide_digest_table(pg, &table, where, &digest, err);
    if (status == TIDE_OK) {
        print_line(json, table.schema, table.name, &digest);
        add_table(total, &table, &digest);
    }
    tide_pg_rows_release(&columns);
    return status;
}

/* Prints every table of the catalogue, then the rollup tables, then the total, all in one
 * snapshot. */
static tide_status print_digests(struct tide_pg *pg, uint16_t deployment, bool json,
                                 struct tide_err *err)
{
    struct tide_digest total = { 0 };
    uint32_t count;
    char where[32];
    const struct tide_table *tables = tide_tables(&count);
    tide_status status = TIDE_OK;
    int len = snprintf(where, sizeof where, "deployment = %u", deployment);
    assert(len > 0 && (size_t)len < sizeof where); /* a cut number is another one */
    (void)len;
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++) {
        struct tide_digest digest = { 0 };
        status = tide_digest_table(pg, &tables[i], where, &digest, err);
        if (status != TIDE_OK)
            break;
        print_line(json, tables[i].schema, tables[i].name, &digest);
        add_table(&total, &tables[i], &digest);
    }
    for (size_t i = 0; i < tide_rollup_table_count && status == TIDE_OK; i++)
        status = print_rollup(pg, tide_rollup_tables[i], where, json, &total, err);
    if (status == TIDE_OK)
        print_line(json, "total", "", &total);
    if (status == TIDE_OK && fflush(stdout) != 0)
        status = tide_fail(err, TIDE_E_IO, "cannot write: %s", strerror(errno));
    return status;
}

int tide_digest_main(const struct tide_config *config, const struct tide_option *options, int argc,
                     char **argv)
{
    struct tide_err err;
    struct tide_pg *pg = NULL;
    uint16_t deployment = 0;
    (void)argc, (void)argv;
    tide_status status = tide_query_open(&pg, config, "tidemark-digest", &err);
    if (status == TIDE_OK)
        status = tide_query_deployment(pg, config, &deployment, &err);
    if (status == TIDE_OK)
        status = tide_query_whole(pg, deployment, 0, UINT32_MAX, &err);
    if (status == TIDE_OK)
        status = print_digests(pg, deployment, tide_option_given(options, "json"), &err);
    tide_pg_close(pg);
    return tide_command_end("digest", status, &err);
}
