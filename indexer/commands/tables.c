/* The tables as the catalogue has them: for people who look for a column, for the test that
 * compares them with a migrated database, and as the SQL that a migration begins from. */
#include "indexer/commands/command.h"
#include "tidemark/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* text as an SQL literal. */
static void print_literal(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'')
            putchar('\'');
        putchar(*text);
    }
    putchar('\'');
}

static void print_columns(const struct tide_table *t)
{
    for (uint32_t i = 0; i < t->column_count; i++)
        printf("    \"%s\" %s%s,\n", t->columns[i].name, tide_pg_type_name(t->columns[i].type),
               t->columns[i].nullable ? "" : " NOT NULL");
}

static void print_comments(const struct tide_table *t)
{
    printf("COMMENT ON TABLE %s.\"%s\" IS ", t->schema, t->name);
    print_literal(t->comment);
    printf(";\n");
    for (uint32_t i = 0; i < t->column_count; i++) {
        printf("COMMENT ON COLUMN %s.\"%s\".\"%s\" IS ", t->schema, t->name, t->columns[i].name);
        print_literal(t->columns[i].comment);
        printf(";\n");
    }
}

static void print_sql(const struct tide_table *t)
{
    printf("\nCREATE TABLE %s.\"%s\" (\n", t->schema, t->name);
    print_columns(t);
    printf("    PRIMARY KEY (%s)\n)%s;\n", t->primary_key,
           t->partitioned ? " PARTITION BY RANGE (deployment, ledger)" : "");
    for (uint32_t i = 0; i < TIDE_INDEXES_MAX && t->indexes[i]; i++)
        printf("CREATE INDEX ON %s.\"%s\" %s;\n", t->schema, t->name, t->indexes[i]);
    print_comments(t);
}

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
    bool sql = tide_option_given(options, "sql");
    for (uint32_t i = 0; i < count; i++)
        (sql ? print_sql : print_lines)(&tables[i]);
    tide_status status = TIDE_OK;
    if (fflush(stdout) != 0)
        status = tide_fail(&err, TIDE_E_IO, "cannot write: %s", strerror(errno));
    return tide_command_end("tables", status, &err);
}
