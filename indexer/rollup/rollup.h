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

/* A piece of a statement: text, the $1 to $3 in it, or a name in braces. BESIDE is {x}, NEEDS {!x},
 * INTO {=x}. */
struct tide_rollup_piece {
    enum {
        TIDE_ROLLUP_TEXT,
        TIDE_ROLLUP_VALUE,
        TIDE_ROLLUP_BESIDE,
        TIDE_ROLLUP_NEEDS,
        TIDE_ROLLUP_INTO
    } kind;
    const char *text;
    unsigned value;             /* 0 for $1 */
    const char *schema, *table; /* a name's; schema is NULL for INTO */
};

struct tide_rollup {
    const char *name; /* file name without .sql */
    const struct tide_rollup_piece *pieces;
    size_t count;
};

#define TIDE_ROLLUPS_MAX 16u /* most of them */

/* schema/statements.py makes these lists of indexer/rollup/: the statements, whose pieces have the
 * conditions on the deployment file's contracts, and the tables that they write, each once. */
extern const struct tide_rollup tide_rollups[];
extern const size_t tide_rollup_count;
extern const char *const tide_rollup_tables[];
extern const size_t tide_rollup_table_count;

/* Writes the statement as NUL-terminated text. put writes the table that is read in place of a
 * name, or a query in parentheses. into is the schema of the written tables. values replace $1, $2
 * and $3, if the statement becomes part of another one; NULL keeps them. */
struct tide_rollup_writer {
    void (*put)(void *self, struct tide_buf *out, const struct tide_rollup_piece *name);
    void *self;
    const char *into;
    const char *const *values;
};
void tide_rollup_write(struct tide_buf *out, const struct tide_rollup *rollup,
                       const struct tide_rollup_writer *writer);

/* Settings for folds, until the end of the transaction: no nested loops, no scans of whole tables,
 * because a kept plan serves any number of rows, no JIT for statements of a few milliseconds, and
 * more memory for sorts. BULK is for folding many ledgers: plans for the actual values and tables.
 * A statement returns one row. */
#define TIDE_ROLLUP_SET_SQL_(scans, plans)                                                \
    "SELECT set_config('enable_nestloop', 'off', true), set_config('jit', 'off', true),"  \
    " set_config('work_mem', greatest(pg_size_bytes(current_setting('work_mem')) / 1024," \
    " 65536)::text, true), set_config('enable_seqscan', '" scans "', true),"              \
    " set_config('plan_cache_mode', '" plans "', true)"
#define TIDE_ROLLUP_SETTINGS_SQL TIDE_ROLLUP_SET_SQL_("off", "force_generic_plan")
#define TIDE_ROLLUP_BULK_SQL     TIDE_ROLLUP_SET_SQL_("on", "force_custom_plan")

#endif
