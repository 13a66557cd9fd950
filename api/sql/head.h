/* The head: the statement that each transaction of an answer runs first. It reads as of which
 * ledger the answer is true, and what the index holds. */
#ifndef API_SQL_HEAD_H
#define API_SQL_HEAD_H

#include "tidemark/pg.h"

#define TIDE_SQL_HEAD "head" /* name of the prepared statement */
/* Values: deployment; ?ledger=; the requested token; ?from= and ?to= in unix seconds. All but
 * the first may be NULL. */
#define TIDE_SQL_HEAD_VALUES 5u

/* Columns of its row. There is no row if nothing is indexed. */
enum {
    TIDE_SQL_HEAD_LEDGER,
    TIDE_SQL_HEAD_CLOSED,
    TIDE_SQL_HEAD_AT_CLOSED,
    TIDE_SQL_HEAD_COVERED,
    TIDE_SQL_HEAD_ARCHIVED,
    TIDE_SQL_HEAD_UNREAD,
    TIDE_SQL_HEAD_PROVEN,  /* NULL: none is proven, or no range covers ?ledger= and the newest */
    TIDE_SQL_HEAD_FORKED,  /* NULL: there is no fork */
    TIDE_SQL_HEAD_HISTORY, /* NULL: the index did not begin with a state (chain.start) */
    TIDE_SQL_HEAD_SINCE,
    TIDE_SQL_HEAD_PARTS, /* as the statement TIDE_SQL_PARTS tells it */
    TIDE_SQL_HEAD_SIGN   /* the first of TIDE_AGE_COLUMNS */
};

/* Partitions do not follow the snapshot of a transaction. After the transaction
 * this statement (value: deployment; column: how often they changed) says whether it read across a
 * change: another value than the head's. Then rows may be missing, or be of ledgers behind the
 * answer's, and everything is read again. */
#define TIDE_SQL_PARTS "parts"

/* Prepares both statements on a new connection. */
tide_status tide_sql_head_prepare(struct tide_pg *pg, struct tide_err *err) TIDE_MUST_USE;

#endif
