/* The command tables: prints the tables of ledger rows as the catalogue defines them, one line per
 * column, or the SQL that creates them. */
#include "indexer/commands/command.h"
#include "tidemark/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void print_lines(const struct tide_table *t)
{
    printf("%s.%s\t\t%s\t%s\t%s\n", t->schema, t->name, t->partitioned ? "partitioned" : "plain",
           t->primary_key, t->comment);
    for (uint32_t i = 0; i < t->column_count; i++)
        printf("%s.%s\t%s\t%s\t%s\t%s\n", t->schema, t->name, t->columns[i].name,
               tide_pg_type_name(t->columns[i].type), t->columns[i].nullable ? "null" : "not null",
               t->columns[i].comment);
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
