/* Projection: turns rows of the tables into records of the hot cache.
 *
 * A row is a version of an entry (or its removal), or a swap. Rows applied in ledger order bring
 * records from one ledger to a later one. A whole state table applied to no records gives the
 * present records. Each table changes fields of its own, so tables may be applied in any order,
 * except that pools come before their swaps. */
#ifndef TIDEMARK_PROJECT_H
#define TIDEMARK_PROJECT_H

#include "tidemark/buf.h"
#include "tidemark/hot_sink.h"
#include "tidemark/pg.h"

enum project_source_id {
#define TIDE_SOURCE(id, apply, schema, table, columns) PROJECT_##id,
#include "tidemark/project_source.def"
    PROJECT_SOURCE_COUNT
};
static_assert(PROJECT_SOURCE_COUNT <= 32, "each source has a bit in a word");

/* A row that is being applied. Its values are in the columns from `first` on. */
struct project_row {
    struct tide_hot_sink *sink;
    const struct tide_pg_rows *rows;
    uint32_t at;    /* row */
    uint32_t first; /* column */
    uint32_t ledger;
    uint64_t close_time;
    tide_slice contract;
    bool removed;
    bool bad; /* a value does not fit */
};

struct project_source {
    const char *name; /* name of the table */
    tide_status (*apply)(struct project_row *row, struct tide_err *err);
};

extern const struct project_source project_sources[PROJECT_SOURCE_COUNT];

/* --- statements over the tables ------------------------------------------------ */

/* The statements over the tables of one source: schema/project/forms/ says what each reads. $1 is
 * the deployment. Rows of the parts have the same columns for all sources, so that one statement
 * may read several, and project_apply_row applies them. */
struct project_forms {
    const char *since, *newest, *as_of, *probes, *page; /* parts of a statement */
    const char *entries, *count;                        /* whole ones */
};

/* Made by schema/statements.py. A form that a source does not need is NULL. project_bound begins a
 * statement of parts. */
extern const struct project_forms project_forms[PROJECT_SOURCE_COUNT];
extern const char project_bound[];

/* The columns before the values in each row of a part. */
enum {
    PROJECT_ROW_SOURCE,
    PROJECT_ROW_REMOVED,
    PROJECT_ROW_LEDGER,
    PROJECT_ROW_TIME,
    PROJECT_ROW_CONTRACT,
    PROJECT_ROW_TX,
    PROJECT_ROW_SEQ,
    PROJECT_ROW_VALUES
};

/* Begins a statement of parts: with what binds them to the deployment file's contracts. */
void project_sql_begin(struct tide_buf *sql);
/* Ends the statement. Returns its text, or NULL if it is too long. */
const char *project_sql_text(struct tide_buf *sql, struct tide_err *err);

/* Applies one row of a statement of parts. */
tide_status project_apply_row(struct tide_hot_sink *sink, const struct tide_pg_rows *rows,
                              uint32_t at, struct tide_err *err) TIDE_MUST_USE;
/* Applies the row. If a value does not fit, TIDE_E_SCHEMA names table and column. */
tide_status project_apply(enum project_source_id source, struct project_row *row,
                          struct tide_err *err) TIDE_MUST_USE;

/* Puts the names, roles and completeness of the deployment's contracts as of the end of a ledger
 * into the sink, and the fields of META that follow from them. */
tide_status project_contracts(struct tide_pg *pg, uint16_t deployment, uint32_t ledger,
                              struct tide_hot_sink *sink, struct tide_err *err);

/* --- values of a row; column is counted from row->first ----------------------- */

bool project_null(const struct project_row *row, uint32_t column);
tide_slice project_text(const struct project_row *row, uint32_t column);
uint64_t project_u64(struct project_row *row, uint32_t column);
bool project_bool(struct project_row *row, uint32_t column);
struct tide_hot_amount project_amount(struct project_row *row, uint32_t column);
/* Returns the address; kind 0 for NULL and for text that is neither an account nor a contract. */
struct tide_hot_address project_address(struct project_row *row, uint32_t column);
struct tide_hot_symbol project_symbol(struct project_row *row, uint32_t column);
/* The column is a bytea. */
struct tide_hot_name project_name(struct project_row *row, uint32_t column);

/* --- records; a row that has none of that key gets zeros ------------------------- */

tide_status project_get(struct project_row *row, const struct tide_hot_key *key, void *record,
                        struct tide_err *err);
tide_status project_put(struct project_row *row, const struct tide_hot_key *key, const void *record,
                        struct tide_err *err);
tide_status project_drop(struct project_row *row, const struct tide_hot_key *key,
                         struct tide_err *err);

#endif
