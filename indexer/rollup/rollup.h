/* Rollups: statements that fold the rows of a range of ledgers into sums over time.
 *
 * Text      indexer/rollup/NAME.sql, embedded: $1 deployment, $2 first and $3 last ledger. Names
 *           in braces are filled in by the caller, which knows the partition of the rows:
 *             {!event.x}  a table without whose rows there is nothing to fold
 *             {history.x} a table that is read beside. No table of state: what it holds depends on
 *                         where the batch ends
 *             {=candle}   a table of the schema rollup that is folded into
 * Meaning   adds what the range has, so each range is folded once, in the transaction that makes
 *           its rows visible; the order of ranges does not matter. What depends on rows of other
 *           ranges is taken from what was folded ({=…}), never from tables: with everything made
 *           anew, ranges that are not folded yet stand in these.
 * Tokens    Rows of a discovered token join ledgers that were folded before. A statement that reads
 *           tables of tokens is run again over these ledgers. So it keeps the newest, and adds up
 *           nothing. Calls that join are folded alone, in the statement that adds them, so
 *           calls may be added up.
 * Version   counts changes of what the statements mean. Rows made by another are made anew. */
#ifndef INDEXER_ROLLUP_ROLLUP_H
#define INDEXER_ROLLUP_ROLLUP_H

#include "tidemark/buf.h"
#include "tidemark/pg.h"

#define TIDE_ROLLUP_VERSION 8

/* Ledgers folded at a time where there are many: bounds what one statement sorts. */
#define TIDE_ROLLUP_LEDGERS 50000u

struct tide_rollup {
    const char *name; /* file name without .sql */
    tide_slice sql;   /* NUL-terminated after len */
};

/* Generated from indexer/rollup/. */
extern const struct tide_rollup tide_rollups[];
extern const size_t tide_rollup_count;

enum tide_rollup_mark { TIDE_ROLLUP_BESIDE, TIDE_ROLLUP_NEEDS, TIDE_ROLLUP_INTO };

struct tide_rollup_name {
    enum tide_rollup_mark mark;
    tide_slice schema, table; /* schema is empty for INTO */
};

/* Steps to the next name in braces: *before is the text up to it, the whole rest when there is
 * none any more (false). */
bool tide_rollup_next(tide_slice *rest, tide_slice *before, struct tide_rollup_name *name);

/* Of the tables it reads and folds into: is there one of that mark and name? */
bool tide_rollup_names(const struct tide_rollup *rollup, enum tide_rollup_mark mark,
                       tide_slice table);
/* Which rollups are kept: by their index. */
#define TIDE_ROLLUPS_MAX 16u
/* Chooses beside those that are chosen all that share a table with them: one alone would leave a
 * part of its rows' columns unfilled. */
void tide_rollup_together(bool chosen[TIDE_ROLLUPS_MAX]);

/* Tables that some rollup folds into, each once; at most TIDE_ROLLUP_TABLES_MAX. */
#define TIDE_ROLLUP_TABLES_MAX 16u
uint32_t tide_rollup_tables(tide_slice out[TIDE_ROLLUP_TABLES_MAX]);

/* Writes the statement as text, NUL-terminated. put writes a name that is read, or a query in
 * parentheses; into is the schema of those that are written. values stand in the place of $1, $2
 * and $3, as part of another statement; NULL: they stay. */
struct tide_rollup_writer {
    void (*put)(void *self, struct tide_buf *out, const struct tide_rollup_name *name);
    void *self;
    const char *into;
    const char *const *values;
};
void tide_rollup_write(struct tide_buf *out, const struct tide_rollup *rollup,
                       const struct tide_rollup_writer *writer);

/* Settings for folding many ledgers, until the end of the transaction: plans made for their
 * numbers, joins that do not compare each with each, nothing compiled for a few milliseconds' work.
 * One statement that answers with a row. */
#define TIDE_ROLLUP_BULK_SQL                                                              \
    "SELECT set_config('plan_cache_mode', 'force_custom_plan', true),"                    \
    " set_config('enable_nestloop', 'off', true), set_config('jit', 'off', true),"        \
    " set_config('work_mem', greatest(pg_size_bytes(current_setting('work_mem')) / 1024," \
    " 65536)::text, true)"

#endif
