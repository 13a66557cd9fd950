/* Rows that are added to indexed ledgers, for tokens that were discovered later. */
#include "indexer/write/rows/add.h"

/* Returns the columns of chain.ledger that count rows of the deployment. chain.cursor has their
 * totals under the same names, except for our_txs. */
static uint32_t counts_of(const struct tide_table *ledger, const struct tide_column *out[])
{
    assert(ledger->column_count <= TIDE_COLUMNS_MAX);
    uint32_t count = 0;
    bool counts = false; /* the counts begin with our_txs */
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

/* Replaces the counts of stored ledgers by the new ones, and adds the differences to the totals. */
static void sql_add_ledgers(struct write_session *s)
{
    const struct tide_column *counts[TIDE_COLUMNS_MAX];
    uint32_t count = counts_of(&s->plan->tables[TIDE_TABLE_LEDGER], counts);
    write_sql(s, "WITH n AS (SELECT * FROM unnest($1::chain.ledger[])), o AS (SELECT l.* FROM"
                 " chain.ledger AS l JOIN n ON n.deployment = l.deployment AND n.ledger ="
                 " l.ledger), u AS (UPDATE chain.ledger AS l SET ");
    for (uint32_t i = 0; i < count; i++)
        write_sql_more(s, "%s%s = n.%s", i ? ", " : "", counts[i]->name, counts[i]->name);
    write_sql_more(s, " FROM n WHERE l.deployment = n.deployment AND l.ledger = n.ledger AND"
                      " l.hash = n.hash RETURNING l.ledger), c AS (UPDATE chain.cursor AS c SET ");
    for (uint32_t i = 0; i < count; i++)
        write_sql_more(s, "%s%s = c.%s + s.%s", i ? ", " : "", total_of(counts[i]),
                       total_of(counts[i]), counts[i]->name);
    write_sql_more(s, " FROM (SELECT ");
    for (uint32_t i = 0; i < count; i++)
        write_sql_more(s, "%scoalesce(sum(n.%s - o.%s), 0) AS %s", i ? ", " : "", counts[i]->name,
                       counts[i]->name, counts[i]->name);
    write_sql_more(s,
                   " FROM n JOIN o USING (ledger)) AS s WHERE c.deployment = %u)"
                   " SELECT ledger FROM u",
                   s->plan->deployment);
}

void write_sql_add(struct write_session *s, const struct write_rollups *rollups, uint32_t index)
{
    assert(index < s->plan->table_count);
    const struct tide_table *table = tide_table_stored(&s->plan->tables[index]);
    if (index == TIDE_TABLE_LEDGER) {
        sql_add_ledgers(s);
        return;
    }
    write_sql(s, "%sINSERT INTO %s.\"%s\" (", index == TIDE_TABLE_CALL ? "WITH added AS (" : "",
              table->schema, table->name);
    write_sql_columns(s, table, "");
    write_sql_more(s, ") SELECT ");
    write_sql_columns(s, table, "n.");
    write_sql_more(s, " FROM unnest($1::%s.\"%s\"[]) n ON CONFLICT DO NOTHING", table->schema,
                   table->name);
    if (index != TIDE_TABLE_CALL)
        return;
    write_sql_more(s, " RETURNING *)");
    write_sql_fold_added(s, rollups, index);
    write_sql_more(s,
                   " UPDATE chain.cursor SET calls = calls + (SELECT count(*) FROM added) WHERE"
                   " deployment = %u",
                   s->plan->deployment);
}
