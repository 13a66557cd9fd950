/* The commands dump and tables, which need no database. */
#include "indexer/commands/command.h"
#include "indexer/dump/dump.h"
#include "tidemark/table.h"
#include "tidemark/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- dump: ledger files, or ScVals from standard input, as JSON lines ---- */

/* Reads a comma list of kinds; without a list, all kinds are wanted. */
static tide_status parse_kinds(const char *list, unsigned *kinds, struct tide_err *err)
{
    static const char *const names[] = { "ledger", "tx", "event", "contract_data" };
    *kinds = list ? 0 : TIDE_DUMP_ALL;
    while (list && *list) {
        size_t len = strcspn(list, ",");
        size_t i = 0;
        while (i < TIDE_COUNT(names) &&
               (strlen(names[i]) != len || memcmp(list, names[i], len) != 0))
            i++;
        if (i == TIDE_COUNT(names))
            return tide_fail(err, TIDE_E_USAGE,
                             "--kinds %.*s: one of ledger, tx, event, contract_data", (int)len,
                             list);
        *kinds |= 1u << i;
        list += len + (list[len] == ',');
    }
    return TIDE_OK;
}

/* Prints all files before it fails because of ledgers whose checks fail: those are shown in their
 * lines. */
static tide_status dump_files(const struct tide_dump_options *options, int argc, char **argv,
                              struct tide_err *err)
{
    uint64_t ledgers = 0;
    uint64_t failed = 0;
    for (int i = 1; i < argc; i++) {
        struct tide_dump_totals totals;
        tide_status status = tide_dump_file(argv[i], stdout, options, &totals, err);
        if (status != TIDE_OK)
            return status;
        ledgers += totals.ledgers;
        failed += totals.failed;
    }
    if (failed)
        return tide_fail(err, TIDE_E_CHAIN, "%" PRIu64 " of %" PRIu64 " ledgers fail a check",
                         failed, ledgers);
    return TIDE_OK;
}

int tide_dump_main(const struct tide_config *config, const struct tide_option *given, int argc,
                   char **argv)
{
    (void)config;
    struct tide_err err = { 0 };
    const char *passphrase = tide_option_find(given, "passphrase")->value;
    struct tide_dump_options options = {
        .passphrase = passphrase ? tide_slice_str(passphrase) : (tide_slice){ 0 },
        .values = tide_option_given(given, "values"),
    };
    tide_status status = parse_kinds(tide_option_find(given, "kinds")->value, &options.kinds, &err);
    if (status == TIDE_OK && tide_option_given(given, "scval") && argc > 1)
        status = tide_fail(&err, TIDE_E_USAGE, "--scval reads standard input: give no file");
    else if (status == TIDE_OK && tide_option_given(given, "scval"))
        status = tide_dump_values(stdin, stdout, &err);
    else if (status == TIDE_OK && argc < 2)
        status = tide_fail(&err, TIDE_E_USAGE, "expected a file; \"-\" is standard input");
    else if (status == TIDE_OK)
        status = dump_files(&options, argc, argv, &err);
    return tide_command_end("dump", status, &err);
}

/* ---- tables ---- */

/* Prints where the rows of a view are stored: the table, and the column or columns of each one. */
static void print_stored(const struct tide_table *t, const struct tide_column *column)
{
    const struct tide_table *stored = t->stored;
    if (stored && !column)
        printf("%s.%s%s%s", stored->schema, stored->name, t->where ? " AS t WHERE " : "",
               t->where ? t->where : "");
    for (uint32_t i = 0; stored && column && i < (column->split ? column->split : 1u); i++)
        printf("%s%s", i ? ", " : "", stored->columns[column->slot + i].name);
    if (stored && column && column->also)
        printf(", %s", stored->columns[column->also].name);
    putchar('\n');
}

static void print_lines(const struct tide_table *t)
{
    printf("%s.%s\t\t%s\t%s\t%s\t", t->schema, t->name,
           t->is_view       ? "view"
           : t->partitioned ? "partitioned"
                            : "plain",
           t->primary_key, t->comment);
    print_stored(t, NULL);
    for (uint32_t i = 0; i < t->column_count; i++) {
        printf("%s.%s\t%s\t%s\t%s\t%s\t", t->schema, t->name, t->columns[i].name,
               tide_pg_type_name(t->columns[i].type), t->columns[i].nullable ? "null" : "not null",
               t->columns[i].comment);
        print_stored(t, &t->columns[i]);
    }
}

int tide_tables_main(const struct tide_config *config, const struct tide_option *options, int argc,
                     char **argv)
{
    (void)config;
    struct tide_err err;
    if (argc > 1)
        return tide_command_end(
            "tables", tide_fail(&err, TIDE_E_USAGE, "unexpected operand \"%s\"", argv[1]), &err);
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    if (tide_option_given(options, "sql"))
        tide_tables_write_sql(stdout);
    else
        for (uint32_t i = 0; i < count; i++)
            print_lines(&tables[i]);
    tide_status status = TIDE_OK;
    if (fflush(stdout) != 0)
        status = tide_fail(&err, TIDE_E_IO, "cannot write: %s", strerror(errno));
    return tide_command_end("tables", status, &err);
}
