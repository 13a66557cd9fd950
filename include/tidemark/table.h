/* The tables that store ledger rows, as data: the COPY encoder writes them, the migrations create
 * them and the exports read them. Chain tables are fixed. Event, state and history tables follow
 * from the catalogue.
 *
 * Common columns
 *   event.*    deployment int2, ledger int4, tx int4, op int2, event int4, closed_at timestamptz,
 *              contract text, then topics and data fields. key (deployment, ledger, tx, op, event)
 *   history.*  deployment, key_hash bytea, ledger, tx, seq int4, closed_at, contract, removed bool,
 *              then key arguments and value fields (NULL when removed).
 *              key (deployment, key_hash, ledger, tx, seq): one probe answers "as of ledger N"
 *   asof.*     the same without versions that a later one of their ledger stands for
 *              (tide_table_versions)
 *   state.*    the same columns without removed: the newest version. key (deployment, key_hash)
 *   TTL        state.ttl and history.ttl have live_until by key_hash for every entry, except
 *              instances of Stellar assets. They are views: the transaction that writes a version
 *              mostly sets its lifetime too, which is stored with the version (tide_life).
 *              history_rows.ttl has the other rows.
 * tx is the application index (1-based). Changes outside a transaction (eviction, upgrades) have tx
 * 1048575. seq counts the changes of contract data within the transaction.
 *
 * Addresses, contracts, kinds and other symbols are long, and few different ones occur. The tables
 * that grow with each ledger (event, history, chain.tx, chain.call) store keys of chain.word in
 * their place: the columns marked keyed. Such a table of the catalogue is a view with the words.
 * The view's rows are stored in a table of another schema (event_rows …; the member stored). Views
 * may share one: a call is stored in the row of its transaction, and event_rows.log has the events
 * of all kinds, whose columns have slots there.
 * Readers use the view; only the writer uses the stored table. Beside each keyed column c of text
 * the view has c_key, the key itself. PostgreSQL can answer the condition
 * c_key = chain.word_key(word) in the order of an index. */
#ifndef TIDEMARK_TABLE_H
#define TIDEMARK_TABLE_H

#include "tidemark/buf.h"

#include <stdio.h>

/* Raised by each change after which equal ledgers give other rows in the same tables: the migration
 * that makes the tables names it, so an index of before is recognised (migrations/README.md).
 *   2  callers, constructors' arguments, forms of tokens' events; milliseconds and addresses of
 *      protocol 30 */
#define TIDE_DECODER_VERSION 2

enum tide_pg_type {
    TIDE_PG_BOOL,
    TIDE_PG_INT2,
    TIDE_PG_INT4,
    TIDE_PG_INT8,
    TIDE_PG_NUMERIC20, /* u64 */
    TIDE_PG_NUMERIC39, /* i128 */
    TIDE_PG_TEXT,
    TIDE_PG_BYTEA,
    TIDE_PG_TIMESTAMPTZ,
    TIDE_PG_JSON, /* json, not jsonb: strings on the ledger may contain NUL, which jsonb refuses */
    TIDE_PG_TEXT_ARRAY,
    TIDE_PG_INT8_ARRAY,
    TIDE_PG_NUMERIC_ARRAY,
    TIDE_PG_INT4_ARRAY,
    TIDE_PG_BOOL_ARRAY,
};

struct tide_column {
    const char *name;
    enum tide_pg_type type;
    bool nullable;
    bool is_private; /* a person's jurisdiction: in no view, answer, log or plain export */
    bool no_digest;  /* no fact of the ledgers (wall clock, coverage, names): left out of digests */
    bool keyed;      /* TEXT, TEXT_ARRAY: stored as keys of chain.word */
    bool of_key;     /* an argument of the entry's key */
    uint8_t split; /* keyed TEXT_ARRAY: number of columns c_1, c_2 … that store it; 0: one array */
    uint8_t slot;  /* place of its first column in the stored table; set with `stored` below */
    uint8_t also;  /* a further place of its value there, or the first free one behind; 0: none */
    const char *as;    /* its name in the stored table; NULL: the same, or a slot of its type */
    const char *words; /* keyed: the table of its keys; NULL: chain.word */
    const char *comment;
};

enum tide_table_kind { TIDE_TABLE_CHAIN, TIDE_TABLE_EVENT, TIDE_TABLE_STATE, TIDE_TABLE_HISTORY };

/* Whether the stored rows of a history table have the column life, behind all others, and which
 * durability their entries have: one for all of the table, or the row's own, in the column
 * durability. history.ttl alone has no such column. */
enum tide_life { TIDE_LIFE_NONE, TIDE_LIFE_TEMPORARY, TIDE_LIFE_PERSISTENT, TIDE_LIFE_COLUMN };

#define TIDE_COLUMNS_MAX 48u
#define TIDE_TABLES_MAX  320u
#define TIDE_INDEXES_MAX 14u
#define TIDE_EARLIER     "earlier_" /* names of columns, see tide_table_versions */

struct tide_table {
    const char *schema; /* "chain", "event", "state", "history" */
    const char *name;
    enum tide_table_kind kind;
    uint32_t column_count;
    struct tide_column columns[TIDE_COLUMNS_MAX];
    const char *primary_key;               /* comma-separated column list */
    const char *check;                     /* "CONSTRAINT name CHECK (…)", or NULL */
    const char *indexes[TIDE_INDEXES_MAX]; /* "(owner, ledger)" or "USING hash (…)"; NULL ends */
    const char *together; /* columns that depend on each other, for the planner; or NULL */
    /* state: index of its history table; history: of its state table; else own index */
    uint16_t pair;
    bool partitioned; /* PARTITION BY RANGE (deployment, ledger); partitions by the indexer */
    /* Digests cover only the rows that have this value in this text column; NULL: all rows. */
    const char *digest_column, *digest_value;
    const char *comment;
    /* The table that stores the rows if this one has keyed columns and is a view; NULL: this
     * table itself. */
    const struct tide_table *stored;
    /* The condition of the rows that the view shows, of all stored rows t; NULL: it shows all. */
    const char *where;
    /* The view's rows complete those of the stored table's owner that have the same first three
     * columns: both are one stored row. */
    bool completes;
    uint16_t number; /* event.<kind>: what the stored column `kind` has, see chain.kind; else 0 */
    uint16_t owner;  /* stored: index of the first view; the others share it */
    bool is_shared;  /* stored: of several views */
    enum tide_life life;
    /* The stored table of a history whose versions share rows: number of its columns in front of
     * those with the prefix earlier_ (see tide_table_versions). 0: each version has its own row. */
    uint32_t own_columns;
    bool packed;  /* history: versions of one key in a ledger share a stored row */
    bool is_view; /* follows from other tables: the writer writes no rows of it */
};

/* Indexes of the tables that belong to no kind of the catalogue. A kind has its own
 * (tide_kind.table). */
enum tide_fixed_table {
    TIDE_TABLE_LEDGER,        /* chain.ledger        */
    TIDE_TABLE_TX,            /* chain.tx            */
    TIDE_TABLE_CALL,          /* chain.call          */
    TIDE_TABLE_CONTRACT_SEEN, /* chain.contract_seen */
    TIDE_TABLE_KEPT_FOR,      /* chain.kept_for      */
    TIDE_TABLE_PREIMAGE,      /* chain.preimage      */
    TIDE_TABLE_EVENT_LOG,     /* event.log           */
    TIDE_TABLE_EVENT_RAW,     /* event.raw           */
    TIDE_TABLE_HISTORY_RAW,
    TIDE_TABLE_STATE_RAW,
    TIDE_TABLE_HISTORY_TTL,
    TIDE_TABLE_STATE_TTL,
    TIDE_TABLE_FIXED_COUNT
};
static_assert(TIDE_TABLE_HISTORY_RAW + 1 == TIDE_TABLE_STATE_RAW &&
                  TIDE_TABLE_HISTORY_TTL + 1 == TIDE_TABLE_STATE_TTL,
              "a pair of tables adjoins");
static_assert(TIDE_TABLES_MAX <= UINT16_MAX, "tide_table.pair holds each index");

/* Returns all tables in a fixed order. They are built once from the catalogue, then constant. */
const struct tide_table *tide_tables(uint32_t *count);
/* Returns the index of schema.name, or -1. */
int tide_table_find(const char *schema, const char *name);
TIDE_INLINE const struct tide_table *tide_table_stored(const struct tide_table *table)
{
    return table->stored ? table->stored : table;
}
/* Returns whether the table at this index stores rows for itself, or is the first of the views that
 * share a stored table: who handles stored tables takes each once. */
TIDE_INLINE bool tide_table_owns(const struct tide_table *tables, uint32_t index)
{
    return !tables[index].stored || tables[index].stored->owner == index;
}
/* Appends a SELECT of table's columns from its stored form, with words in place of keys. from is a
 * table or a query in parentheses. keys: adds c_key beside each keyed text column c. */
void tide_table_select(struct tide_buf *out, const struct tide_table *table, const char *from,
                       bool keys);
/* Returns the number of columns of a stored row that is one version. */
TIDE_INLINE uint32_t tide_table_own_columns(const struct tide_table *stored)
{
    return stored->own_columns ? stored->own_columns : stored->column_count;
}
/* Returns the stored column earlier_NAME of a column of a packed table, or NULL: versions of which
 * that column differs do not share a row. */
const struct tide_column *tide_table_earlier(const struct tide_table *stored, const char *name);
/* Appends what to read in FROM for all versions in a stored table, or in a partition of it: the
 * table itself, or a query in parentheses. The stored row of a packed table is the newest version
 * of its key in its ledger. earlier_tx, earlier_seq and the other arrays have the versions before
 * it, oldest first; an array is null if all have the row's own value. */
void tide_table_versions(struct tide_buf *out, const struct tide_table *table, const char *from);
/* The column life: 0 if the transaction that wrote the version did not set its lifetime. Else the
 * row of history.ttl that follows from it has the number `seq`, and live_until, which is 0 for an
 * entry that was removed or archived. */
TIDE_INLINE int64_t tide_life(uint32_t live_until, uint32_t seq)
{
    return (int64_t)((uint64_t)live_until << 32 | seq);
}
/* Appends a SELECT of the rows of history_rows.ttl that follow from the versions in a history
 * table. */
void tide_table_select_lives(struct tide_buf *out, const struct tide_table *history);
/* Returns the SQL name of a type: "numeric(39,0)". */
const char *tide_pg_type_name(enum tide_pg_type type);
/* Writes the SQL that creates all tables, their views, and chain.event_fields. The caller checks
 * ferror. */
void tide_tables_write_sql(FILE *out);

#endif
