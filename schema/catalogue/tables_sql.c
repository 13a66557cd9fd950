#include "schema/catalogue/catalogue_impl.h"

static void write_literal(FILE *out, const char *text)
{
    putc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', out);
        putc(*text, out);
    }
    putc('\'', out);
}

static void write_comments(FILE *out, const struct tide_table *t)
{
    fprintf(out, "COMMENT ON TABLE %s.\"%s\" IS ", t->schema, t->name);
    write_literal(out, t->comment);
    fprintf(out, ";\n");
    for (uint32_t i = 0; i < t->column_count; i++) {
        fprintf(out, "COMMENT ON COLUMN %s.\"%s\".\"%s\" IS ", t->schema, t->name,
                t->columns[i].name);
        write_literal(out, t->columns[i].comment);
        fprintf(out, ";\n");
    }
}

static void write_table(FILE *out, const struct tide_table *t)
{
    fprintf(out, "\nCREATE TABLE %s.\"%s\" (\n", t->schema, t->name);
    for (uint32_t i = 0; i < t->column_count; i++)
        fprintf(out, "    \"%s\" %s%s,\n", t->columns[i].name,
                tide_pg_type_name(t->columns[i].type), t->columns[i].nullable ? "" : " NOT NULL");
    if (t->check)
        fprintf(out, "    %s,\n", t->check);
    fprintf(out, "    PRIMARY KEY (%s)\n)%s;\n", t->primary_key,
            t->partitioned ? " PARTITION BY RANGE (deployment, ledger)" : "");
    for (uint32_t i = 0; i < TIDE_INDEXES_MAX && t->indexes[i]; i++)
        fprintf(out, "CREATE INDEX ON %s.\"%s\" %s;\n", t->schema, t->name, t->indexes[i]);
    write_comments(out, t);
}

void tide_tables_write_sql(FILE *out)
{
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    fprintf(
        out,
        "-- 0002_tables: the tables of ledger rows, and the function that shows events of any "
        "kind.\n"
        "--\n"
        "-- Generated from the catalogue (schema/catalogue). The indexer makes the partitions of\n"
        "-- partitioned tables, with these keys and indexes.\n");
    for (uint32_t i = 0; i < count; i++)
        write_table(out, &tables[i]);
    tide_event_fields_write_sql(out);
}
