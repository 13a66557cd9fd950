/* Rollups: statements that fold the rows of a range of ledgers into sums over time.
 *
 * Text      indexer/rollup/NAME.sql, embedded. $1 is the deployment, $2 the first and $3 the last
 *           ledger. The caller, which knows the partition of the rows, replaces names in braces:
 *             {!event.x}  a table that must have rows in the range, or there is nothing to fold
 *             {history.x} another table that is read. Tables of state are not allowed: their
 *                         content depends on where the batch ends
 *             {=candle}   a table of the schema rollup that the statement writes
 * Meaning   a statement adds the range's rows to the sums. Each range is folded once, in the
 *           transaction that makes its rows visible, in any order of ranges. Values that depend on
 *           rows of other ranges come from rollup tables ({=…}), never from history: when all
 *           rollups are made anew, history contains ranges that are not folded yet.
 * Tokens    rows of a discovered token are added to ledgers that were folded before. A statement
 *           that reads tables of tokens runs again over these ledgers, so it must keep the newest
 *           value and must not add up. Calls that are stored later are folded alone, by the
 *           statement that stores them, so statements may sum calls.
 * Version   TIDE_ROLLUP_VERSION grows when a statement's meaning changes. Rollups of another
 *           version are made anew. */
#ifndef INDEXER_ROLLUP_ROLLUP_H
#define INDEXER_ROLLUP_ROLLUP_H

#include "tidemark/buf.h"
#include "tidemark/pg.h"

#define TIDE_ROLLUP_VERSION 11

/* Most ledgers that one statement folds when there are many: limits the rows that it sorts. */
#define TIDE_ROLLUP_LEDGERS 50000u

struct tide_rollup {
    const char *name; /* file name without .sql */
    tide_slice sql;   /* a NUL follows behind len */
};

/* The build generates this list from indexer/rollup/. */
extern const struct tide_rollup tide_rollups[];
extern const size_t tide_rollup_count;

/* BESIDE is {x}, NEEDS is {!x}, INTO is {=x}. */
enum tide_rollup_mark { TIDE_ROLLUP_BESIDE, TIDE_ROLLUP_NEEDS, TIDE_ROLLUP_INTO };

struct tide_rollup_name {
    enum tide_rollup_mark mark;
    tide_slice schema, table; /* schema is empty for INTO */
};

/* Moves *rest behind the next name in braces; *before is the text in front of it. Returns false if
 * there is none: *before is then all of *rest. */
bool tide_rollup_next(tide_slice *rest, tide_slice *before, struct tide_rollup_name *name);

/* Most rollups. */
#define TIDE_ROLLUPS_MAX 16u

/* Lists the tables that rollups write, each once, and returns their number. */
#define TIDE_ROLLUP_TABLES_MAX 24u
uint32_t tide_rollup_tables(tide_slice out[TIDE_ROLLUP_TABLES_MAX]);

/* Writes the statement as NUL-terminated text. put writes the table that is read in place of a
 * name, or a query in parentheses. into is the schema of the written tables. values replace $1, $2
 * and $3, if the statement becomes part of another one; NULL keeps them. */
struct tide_rollup_writer {
    void (*put)(void *self, struct tide_buf *out, const struct tide_rollup_name *name);
    void *self;
    const char *into;
    const char *const *values;
};
void tide_rollup_write(struct tide_buf *out, const struct tide_rollup *rollup,
                       const struct tide_rollup_writer *writer);

/* Settings for folding many ledgers, until the end of the transaction: plans for the actual values,
 * no nested loops over large tables, no JIT for statements of a few milliseconds, and more memory
 * for sorts. The statement returns one row. */
#define TIDE_ROLLUP_BULK_SQL                                                              \
    "SELECT set_config('plan_cache_mode', 'force_custom_plan', true),"                    \
    " set_config('enable_nestloop', 'off', true), set_config('jit', 'off', true),"        \
    " set_config('work_mem', greatest(pg_size_bytes(current_setting('work_mem')) / 1024," \
    " 65536)::text, true)"

#endif
